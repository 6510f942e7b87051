/* flows_text.h - a small network and its transfers as text, one statement a line:
 *
 *     # a comment
 *     link NAME BANDWIDTH LATENCY               bytes a second or 12.5 GB/s... without a blank; seconds or 10us; one direction
 *     flow NAME START BYTES LINK[,LINK...] [FLOW[,FLOW...]]    begins at START, or when the last of the FLOWs named has
 *                                                              finished, whichever is later
 *
 * Words stand between blanks or tabs. Names are 1 to 63 bytes of UTF-8 without blanks, commas and what cannot be shown; a link and a
 * flow may share one. Statements may come in any order. Refused, each at its place: unknown words, names given twice or
 * unknown, a link or flow named twice in one list, numbers outside their range, flows that wait for themselves.
 * Tests: tests/test_flows_text.c */
#ifndef GPUPLAN_IO_FLOWS_TEXT_H
#define GPUPLAN_IO_FLOWS_TEXT_H

#include "io/input.h"

struct flows_link {
    const char *name;   /* in the text, not ended by NUL */
    uint32_t name_bytes;
    double bytes_per_s; /* 0 to 1e18; at 0 it carries nothing */
    double latency_s;   /* 0, or 1e-12 to 1e9 */
};

struct flows_flow {
    const char *name;
    uint32_t name_bytes;
    double start_s;    /* 0 to 1e12 */
    double size_bytes; /* 0 to 1e24 */
    uint32_t first_link, link_count;   /* in path  */
    uint32_t first_after, after_count; /* in after */
};

struct flows_text {
    struct input input; /* owns the names */
    struct flows_link *links;
    struct flows_flow *flows;
    uint32_t link_count, flow_count;
    uint32_t *path;  /* links of the flows */
    uint32_t *after; /* flows that must have finished */
};

/* Reads the file ("-" is standard input). Fills `text` in any case: give it back with flows_text_clear. */
enum status flows_text_read(const char *path, struct flows_text *text, struct diag *diag);
void flows_text_clear(struct flows_text *text);

#endif
