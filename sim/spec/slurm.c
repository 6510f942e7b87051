/* slurm.c - see slurm.h. */
#include "spec/slurm.h"

#include "base/clock.h"

#include <stdlib.h>

void slurm_defaults(struct slurm_spec *slurm)
{
    *slurm = (struct slurm_spec){
        .compat = COMPAT_26_05,
        .backfill = true,
        .bf_interval_ns = 30 * NS_PER_S,
        .bf_resolution_ns = 60 * NS_PER_S,
        .bf_window_ns = NS_PER_DAY,
        .sched_interval_ns = 60 * NS_PER_S,
        .max_switch_wait_ns = 300 * NS_PER_S,
        .bf_max_job_test = 500,
        .default_queue_depth = 100,
        .preempt_reorder_count = 1,
        .max_age_ns = 7 * NS_PER_DAY,
        .decay_half_life_ns = 7 * NS_PER_DAY,
        .calc_period_ns = 300 * NS_PER_S,
        .billing_cpu = 1,
        .preempt_mode = PREEMPT_OFF,
        .job_requeue = true,
        .requeue_delay_ns = 121 * NS_PER_S,
        .slurmd_timeout_ns = 300 * NS_PER_S,
        .suspend_time_ns = TIME_NEVER,
        .resume_timeout_ns = 60 * NS_PER_S,
        .kill_wait_ns = 4 * NS_PER_S,
    };
}

void slurm_clear(struct slurm_spec *slurm)
{
    free(slurm->switches);
    free(slurm->partitions);
    free(slurm->qos);
    free(slurm->associations);
    free(slurm->reservations);
    *slurm = (struct slurm_spec){ 0 };
}
