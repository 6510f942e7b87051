/* flows_text_parts.h - what the files of the reader of flows share. Not for others. */
#ifndef GPUPLAN_IO_FLOWS_TEXT_PARTS_H
#define GPUPLAN_IO_FLOWS_TEXT_PARTS_H

#include "io/flows_text.h"

#include <uthash.h>

/* A part of the text. */
struct word {
    const char *text;
    size_t bytes;
};

struct flows_name {
    uint32_t row;
    UT_hash_handle hh; /* by the name in the text */
};

/* A flow's lists as they are written, until all names are known. */
struct flows_lists {
    struct word links, after; /* after.bytes 0: none */
};

struct flows_reader {
    struct flows_text *out;
    struct flows_name *link_names, *flow_names; /* hashes */
    struct flows_lists *lists;                  /* [flow_room] */
    uint32_t link_room, flow_room, path_count, path_room, after_count, after_room;
    uint32_t *mark; /* [links or flows, whichever are more] scratch: the flow + 1 that named a row last */
    struct diag *diag;
};

struct place flows_place(const struct flows_reader *reader, struct word word);

/* Finds the links and flows of every list, and refuses flows that wait for themselves. */
enum status flows_resolve(struct flows_reader *reader);

#endif
