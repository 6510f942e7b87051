/* arrivals.h - the stream of submissions of a replica: days of the trace, played one after another.
 *
 * Each simulated day plays one whole day of the trace: the same day (none), wrapping at its end,
 * or one drawn with replacement (days), by stream "trace.days", so all layouts of a replica see
 * the same arrivals. Nothing is copied: a cursor walks the shared rows.
 *
 * Or (fill) the jobs of the trace in a random order of stream "trace.fill", one a second: each once, then others drawn with
 * replacement until together they ask for so much of the layout's GPUs; of a trace that asks for more, as many as that. */
#ifndef GPUPLAN_HANDLERS_ARRIVALS_H
#define GPUPLAN_HANDLERS_ARRIVALS_H

#include "base/arena.h"
#include "spec/jobs.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* First row of each day of a trace. */
struct day_table {
    uint32_t days;
    uint32_t *first_row; /* [days + 1] */
};

bool day_table_build(struct day_table *table, const struct jobs *jobs, struct arena *arena);

struct arrivals {
    const struct jobs *jobs;
    const struct day_table *days;
    enum resample resample;
    bool once; /* HORIZON_ALL, or a list in the scenario: played once, not day after day */
    uint64_t key;
    int64_t until_ns;    /* no arrival behind it                  */
    int64_t day, source; /* simulated day, and the day it plays   */
    uint32_t row, row_end;
    uint32_t *order; /* [row_end] fill: trace row of each arrival, in the arena; NULL otherwise */
    int64_t at_ns; /* of the next arrival; TIME_NEVER = none */
};

struct arrivals_options {
    enum resample resample;
    uint64_t seed;
    uint32_t replica;
    int64_t until_ns;
    bool once;
};

void arrivals_init(struct arrivals *arrivals, const struct jobs *jobs, const struct day_table *days,
                   struct arrivals_options options);

/* Fill: jobs that ask for at most target_milli thousandths of a GPU together. False: memory is out. */
bool arrivals_fill(struct arrivals *arrivals, const struct jobs *jobs, uint64_t target_milli,
                   struct arrivals_options options, struct arena *arena);

/* The trace row of the arrival at at_ns; moves on to the next. */
uint32_t arrivals_take(struct arrivals *arrivals);

#endif
