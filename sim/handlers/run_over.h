/* run_over.h - when a run has nothing left to tell. Changes nothing but the results. */
#ifndef GPUPLAN_HANDLERS_RUN_OVER_H
#define GPUPLAN_HANDLERS_RUN_OVER_H

#include "handlers/run.h"

/* Whether nothing that is still to come, at next_ns at the earliest, matters: the cohort has ended and the window is over. */
bool run_is_over(const struct run *run, int64_t next_ns);

/* Whether all who are left are kept back for ever: no job runs, hangs or is to come, and no hand interferes. */
bool run_is_stuck(const struct run *run);

/* Jobs that are left when it is stuck, into the results; the first is the one submitted first. */
void run_tell_stuck(struct run *run);

#endif
