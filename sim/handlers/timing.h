/* timing.h - how fast an attempt works, how long it starts, what the scheduler believes. Reads only. */
#ifndef GPUPLAN_HANDLERS_TIMING_H
#define GPUPLAN_HANDLERS_TIMING_H

#include "handlers/run.h"

static inline const struct demand *demand_of_live(const struct run *run, uint32_t live)
{
    return &run->demands[run->live.jobs[live].request_class];
}

/* What `speed` is asked about a job on a placement of this layout, with this part of its allocation (2^30 or 0 =
 * all). */
struct speed_query timing_query(const struct run *run, const struct live_job *job,
                                struct speed_place place, uint32_t left_q30);

/* Start-up that the recorded duration of a job holds. */
int64_t timing_contained_startup_ns(const struct run *run, const struct live_job *job);

/* Start-up of the next attempt: the first one's, a restart's, or what a policy said when it stopped the job. */
int64_t timing_startup_ns(const struct run *run, uint32_t live);

/* What the scheduler believes the next attempt takes: the requested time, or the recorded one
 * times a stated factor, less what is done, at the speed of this layout: people ask for the time
 * that their job takes where they run it. */
int64_t timing_estimate_ns(const struct run *run, uint32_t live, uint32_t rate_q30);

/* Rate of a job in the plain shape, without the use of slack. */
uint32_t timing_plain_rate_q30(struct run *run, uint32_t live);

/* Wall time of the last durable point of a working attempt, and the work of live_job.work_ns that was done
 * by then. */
int64_t timing_last_durable_ns(const struct run *run, uint32_t live);
int64_t timing_durable_ns(const struct run *run, uint32_t live, int64_t *work_ns);

/* Whole ns of live_job.work_ns that the attempt has done by until_ns, not before its oldest kept tempo; and when
 * all of it is done at the tempo of now. */
int64_t timing_done_ns(const struct run *run, uint32_t live, int64_t until_ns);
int64_t timing_end_ns(const struct run *run, uint32_t live);

#endif
