/* timing.c - see timing.h. */
#include "handlers/timing.h"

struct speed_answer timing_speed(struct run *run, const struct live_job *job,
                                 struct speed_place place)
{
    const struct scenario *scenario = run->scenario;
    const struct jobs *jobs = run->plan->jobs;
    struct speed_query query = {
        .gpus = jobs->gpus[job->row] ? jobs->gpus[job->row] : 1,
        .recorded_nodes = jobs->nodes ? jobs->nodes[job->row] : 0,
        .profile = job->profile,
        .kappa_luck = 1,
        .place = place,
    };
    if (run->shared->kappa && query.gpus > 1) {
        const int many = query.gpus > scenario->recorded_server.gpus;
        query.kappa_luck = run->shared->kappa[job->profile].ratio[many][job->kappa_row];
    }
    return speed_of(run->speed, &query);
}

int64_t timing_contained_startup_ns(const struct run *run, const struct live_job *job)
{
    const int64_t duration_ns = run->plan->jobs->duration_ns[job->row];
    const int64_t startup_ns = run->scenario->startup_ns;
    if (!run->scenario->contains_startup) return 0;
    return startup_ns < duration_ns ? startup_ns : duration_ns;
}

int64_t timing_startup_ns(const struct run *run, uint32_t live)
{
    const struct live_job *job = &run->live.jobs[live];
    const int64_t said_ns = run->live.cycles[live].next_startup_ns;
    if (said_ns != NEXT_STARTUP_USUAL) return said_ns;
    if (job->attempts > 0) return run->scenario->failures.restart_ns;
    return run->scenario->contains_startup ? timing_contained_startup_ns(run, job)
                                           : run->scenario->startup_ns;
}

int64_t timing_estimate_ns(const struct run *run, uint32_t live, uint32_t rate_q30)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct jobs *jobs = run->plan->jobs;
    const int64_t duration_ns = jobs->duration_ns[job->row];
    int64_t limit_ns = jobs->limit_ns[job->row];
    if (limit_ns == JOB_NO_LIMIT)
        limit_ns = ns_from_s(s_from_ns(duration_ns) * run->scenario->limit_factor);
    const int64_t contained_ns = timing_contained_startup_ns(run, job);
    const int64_t done_ns = duration_ns - contained_ns - job->work_ns;
    int64_t left_ns = limit_ns - contained_ns - done_ns;
    if (left_ns < 0 && job->attempts == 0) return limit_ns; /* it ends inside the start-up */
    if (left_ns < 0) left_ns = 0;
    return time_add(timing_startup_ns(run, live), muldiv_ceil(left_ns, RATE_ONE, rate_q30));
}

uint32_t timing_plain_rate_q30(struct run *run, uint32_t live)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct demand *demand = demand_of_live(run, live);
    /* Evenly, or all but the last one full. */
    const bool even = demand->even || demand->held > demand->gpus;
    const uint32_t least =
        even ? demand->gpus / demand->nodes : demand->gpus - (demand->nodes - 1) * demand->per_node;
    const struct speed_place place = { .servers = demand->nodes,
                                       .gpus_min = least ? least : 1,
                                       .spans_leaves =
                                           demand->nodes > run->cluster.nodes_per_leaf };
    return timing_speed(run, job, place).rate_q30;
}

int64_t timing_durable_ns(const struct run *run, uint32_t live, int64_t *work_ns)
{
    const struct attempt *attempt = &run->live.attempts[live];
    const int64_t cycle_ns = run->live.cycles[live].cycle_ns;
    const int64_t worked_ns = run->now_ns - attempt->work_start_ns;
    *work_ns = 0;
    if (worked_ns <= 0) return run->now_ns;
    if (cycle_ns == 0) return attempt->work_start_ns;
    const int64_t durable_ns = worked_ns / cycle_ns * cycle_ns;
    *work_ns = muldiv_floor(durable_ns, attempt->rate_q30, RATE_ONE);
    return attempt->work_start_ns + durable_ns;
}
