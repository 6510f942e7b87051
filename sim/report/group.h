/* group.h - the layouts of one slack, as sentences speak of them. */
#ifndef GPUPLAN_REPORT_GROUP_H
#define GPUPLAN_REPORT_GROUP_H

#include "report/compare.h"

#include <stdio.h>

enum { GROUP_NAMED = 5 }; /* layouts that a sentence names; the tables hold all                */

struct group {
    const struct comparison *c;
    FILE *out;
    int32_t slack;
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count; /* in the scenario's order             */
    uint32_t named[GROUP_NAMED], named_count; /* those of the highest yields, in the same order */
    uint32_t baseline, best; /* rows of the comparison, or LAYOUT_NONE                       */
};

struct group group_of(const struct comparison *c, int32_t slack, FILE *out);

/* Best layout of the slack by mean yield, the baseline first when means are equal; LAYOUT_NONE when no layout has a
 * yield. */
uint32_t group_best(const struct comparison *c, int32_t slack);

/* The layout's name, made safe for a terminal. */
const char *group_name(const struct group *group, uint32_t row, char out[LABEL_BYTES]);

/* "1 replica", or "1 of 3 replicas" when the others have no such number. */
enum { REPLICAS_BYTES = 40 };
const char *group_replicas(const struct group *group, uint32_t n, char out[REPLICAS_BYTES]);

/* Prints "a, b and c". */
void group_list(const struct group *group, const uint32_t *rows, uint32_t count);

#endif
