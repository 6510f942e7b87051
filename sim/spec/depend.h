/* depend.h - the words of --dependency, one term at a time.
 *
 *     LIST = TERM { "," TERM }  all of them      TERM = TYPE ":" ID[+MINUTES] { ":" ID[+MINUTES] }  or  "singleton"
 *     LIST = TERM { "?" TERM }  any of them      TYPE = after afterok afternotok afterany aftercorr afterburstbuffer
 *
 * A bare ID means afterany, as in old scripts. ID is the id of a job, of an array (all its tasks), ARRAY_INDEX, or
 * ARRAY_* . Types are read in any case, ids as they are. Minutes go with `after` only.
 * Source: sbatch(1), SCHEDULING.md 2.9. Tests: tests/test_depend.c */
#ifndef GPUPLAN_SPEC_DEPEND_H
#define GPUPLAN_SPEC_DEPEND_H

#include <stdbool.h>
#include <stdint.h>

enum depend_type {
    DEPEND_AFTER,     /* has started, or was cancelled                                            */
    DEPEND_AFTER_OK,  /* has ended with exit code 0                                               */
    DEPEND_AFTER_NOT_OK,
    DEPEND_AFTER_ANY, /* has ended                                                                */
    DEPEND_AFTER_CORR,/* the task of the same index has ended with exit code 0                     */
    DEPEND_SINGLETON, /* no other job of its name and user runs or was submitted before it          */
};

struct depend_term {
    enum depend_type type;
    const char *id; /* borrowed from the text; of id_bytes bytes; 0 bytes for a singleton            */
    uint32_t id_bytes;
    int64_t delay_ns;
};

/* Reads the next pair of a type and an id; start with a zeroed reader whose text is set. */
struct depend_reader {
    const char *text; /* what is left                                                           */
    const char *wrong; /* why reading stopped before the end, as a constant text; NULL = nothing wrong */
    enum depend_type type;
    char separator; /* between terms, once known                                               */
    bool inside;    /* of a term: another id may follow                                          */
};

/* False at the end or where the text is wrong. */
bool depend_next(struct depend_reader *reader, struct depend_term *term);

/* Whether a list is one of "?", which is known from its first separator. */
bool depend_is_any(const char *text);

#endif
