/* why_print.h - stories of jobs, for people and for programs. */
#ifndef GPUPLAN_REPORT_WHY_PRINT_H
#define GPUPLAN_REPORT_WHY_PRINT_H

#include "report/why_story.h"

#include <stdio.h>

/* The same arrival on another layout. */
struct why_elsewhere {
    const struct stored_layout *layout;
    int64_t wait_ns; /* for the first start; -1: it was rejected                              */
    bool started;
};

enum { WHY_SPANS_MAX = 20, WHY_HOLDERS_MAX = 5, WHY_ELSEWHERE_MAX = 8 };

/* At most 100 columns, PROSE_COLUMNS; at most WHY_SPANS_MAX spans, the longest. */
void why_text(const struct why_story *story, const struct why_elsewhere *elsewhere, uint32_t count,
              FILE *out);

/* One object with every span; GPU-time in GPU-seconds, times in ns. */
enum status why_json(const struct why_story *story, const struct why_elsewhere *elsewhere,
                     uint32_t count, FILE *out, struct diag *diag);

/* Several jobs, one line or object each. */
void why_list_text(const struct why_story *stories, uint64_t count, FILE *out);
enum status why_list_json(const struct why_story *stories, uint64_t count, FILE *out,
                          struct diag *diag);

/* "3d 04:12:07" of a time, "4h50m" of a length (whole seconds from one second on). */
enum { WHY_TIME_BYTES = 64 };
char *why_time(int64_t at_ns, char out[WHY_TIME_BYTES]);
char *why_length(int64_t length_ns, char out[WHY_TIME_BYTES]);

#endif
