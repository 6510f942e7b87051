/* wait_spans.h - the waits of one job, cut where what holds it changes. Pure functions of rows. */
#ifndef GPUPLAN_REPORT_WAIT_SPANS_H
#define GPUPLAN_REPORT_WAIT_SPANS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* What holds from from_ns on, up to the next row: a cause of the request, or a word of the job, NULL = no
 * word any more. Rows are in order of time. */
struct told {
    int64_t from_ns;
    const char *text;
};

struct wait {
    int64_t from_ns, to_ns; /* from_ns < to_ns                                                */
    uint32_t behind;        /* attempts before it: 0 = the wait for the first start           */
};

struct wait_span {
    int64_t from_ns, to_ns;
    uint32_t behind;
    const char *cause; /* of the request when the span began; NULL where the word holds alone, or nothing is known */
    const char *word;  /* of the job; NULL = none                                         */
};

struct told_rows {
    const struct told *rows;
    uint64_t count;
};

/* Appends the spans of the waits to `spans` (struct wait_span): neighbours differ in kind or word, and
 * their lengths sum to the waits to the nanosecond. Texts are borrowed. False when memory is out. */
bool wait_spans_cut(const struct wait *waits, uint64_t wait_count, struct told_rows causes,
                    struct told_rows words, struct log *spans);

/* What the span comes to, in one vocabulary for all schedulers: "resources", "fragmentation", "cores",
 * "memory", "host" (both), "down nodes", "topology", "priority", "reservation", "limit", "dependency", "begin time", "hold", "restart",
 * "suspended", "policy", or "unknown". */
const char *wait_kind(const struct wait_span *span);

#endif
