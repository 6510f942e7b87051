/* run_over.c - see run_over.h. */
#include "handlers/run_over.h"

/* Whether no time and no repair lets a job start. Where one waits every part must be whole: then parts that break and are
 * repaired bring nothing that was not there when the policy looked. */
static bool waits_in_vain(const struct run *run)
{
    const struct faults *faults = &run->faults;
    for (uint32_t row = 0; run->waiting.jobs > 0 && row < faults->total; row++)
        if (faults->state[row] != PART_OK) return false;
    return run->policy->time_helps ? !run->policy->time_helps(run->policy_memory, &run->view)
                                   : run->wake_ns == TIME_NEVER;
}

bool run_is_stuck(const struct run *run)
{
    return run->arrivals.at_ns == TIME_NEVER && !agenda_first(&run->agenda) &&
           run->next_user_event >= run->scenario->event_count && waits_in_vain(run);
}

bool run_is_over(const struct run *run, int64_t next_ns)
{
    if (next_ns == TIME_NEVER || next_ns > run->end_ns || run->out_of_memory) return true;
    if (run->replica == REPLICA_BLAST) return false;
    if (run->plan->horizon_ns == HORIZON_ALL)
        return (run->arrivals.at_ns == TIME_NEVER && run->live.in_use == 0) || run_is_stuck(run);
    return run->cohort_open == 0 && next_ns >= run->result->window_end_ns;
}

void run_tell_stuck(struct run *run)
{
    struct replica_result *result = run->result;
    uint32_t first = LIVE_NONE;
    for (uint32_t live = 0; live < run->live.count; live++) {
        if (run->live.jobs[live].state == LIVE_FREE) continue;
        result->jobs_stuck++;
        if (first == LIVE_NONE || run->live.jobs[live].serial < run->live.jobs[first].serial)
            first = live;
    }
    if (first != LIVE_NONE) result->stuck_row = run->live.jobs[first].row;
}
