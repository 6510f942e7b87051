/* detail.h - rows of jobs, attempts and allocations for those who ask why; kept for the replicas
 * that the scenario names. Nothing reads them back during a run. */
#ifndef GPUPLAN_HANDLERS_DETAIL_H
#define GPUPLAN_HANDLERS_DETAIL_H

#include "handlers/run.h"

/* A job that is about to leave; `reason` of a rejection, a constant text, else NULL. */
void detail_job(struct run *run, uint32_t live, enum job_end end, const char *reason);

/* An attempt that ends now; called while it still holds its GPUs. */
void detail_attempt(struct run *run, uint32_t live, enum attempt_end end, int64_t durable_ns,
                    int128 checkpoint_fix);

/* What it starts with: the choice of its all-reduce; called before detail_attempt. */
void detail_choice(struct run *run, uint32_t live, const struct speed_query *query);

/* A node refused a part of a waiting job: an attempt of no length, on that node, which held nothing. */
void detail_refused(struct run *run, uint32_t live, uint32_t node);

/* Where an attempt has started. */
void detail_allocation(struct run *run, uint32_t live);

#endif
