/* timing.c - see timing.h. */
#include "handlers/timing.h"

#include "handlers/span.h"

struct speed_query timing_query(const struct run *run, const struct live_job *job,
                                struct speed_place place, uint32_t left_q30)
{
    const struct scenario *scenario = run->scenario;
    const struct jobs *jobs = run->plan->jobs;
    struct speed_query query = {
        .gpus = jobs->gpus[job->row] ? jobs->gpus[job->row] : 1,
        .recorded_nodes = jobs->nodes ? jobs->nodes[job->row] : 0,
        .profile = job->profile,
        .kappa_luck = 1,
        .left_q30 = left_q30,
        .place = place,
    };
    if (run->shared->kappa && query.gpus > 1) {
        const int many = query.gpus > scenario->recorded_server.gpus;
        query.kappa_luck = run->shared->kappa[job->profile].ratio[many][job->kappa_row];
    }
    return query;
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
    struct speed_place place = { .servers = demand->nodes, .gpus_min = least ? least : 1 };
    span_plain(run, demand->nodes, &place);
    const struct speed_query query = timing_query(run, job, place, 0);
    return speed_of(run->speed, &query).tempo.rate_q30;
}

/* Work of live_job.work_ns done by until_ns, in ns * 2^30. */
static int128 done_q30(const struct run *run, uint32_t live, int64_t until_ns)
{
    const struct cycle *cycle = &run->live.cycles[live];
    if (until_ns >= cycle->tempo_ns || cycle->first_past == PAST_NONE) {
        const int64_t more_ns = until_ns > cycle->tempo_ns ? until_ns - cycle->tempo_ns : 0;
        return live_done_q30(&run->live, live) +
               (int128)more_ns * run->live.attempts[live].tempo.rate_q30;
    }
    const struct past_tempo *past = &run->live.past[cycle->first_past];
    while (past->next != PAST_NONE && run->live.past[past->next].from_ns <= until_ns)
        past = &run->live.past[past->next];
    const int64_t more_ns = until_ns > past->from_ns ? until_ns - past->from_ns : 0;
    return past->done_q30 + (int128)more_ns * past->tempo.rate_q30;
}

int64_t timing_done_ns(const struct run *run, uint32_t live, int64_t until_ns)
{
    const int128 done_ns = done_q30(run, live, until_ns) / RATE_ONE;
    return done_ns > INT64_MAX ? INT64_MAX : (int64_t)done_ns;
}

int64_t timing_end_ns(const struct run *run, uint32_t live)
{
    const int64_t tempo_ns = run->live.cycles[live].tempo_ns;
    const uint32_t rate_q30 = run->live.attempts[live].tempo.rate_q30;
    const int128 left =
        (int128)run->live.jobs[live].work_ns * RATE_ONE - live_done_q30(&run->live, live);
    if (left <= 0) return tempo_ns;
    const int128 more_ns = (left + rate_q30 - 1) / rate_q30;
    return more_ns > INT64_MAX ? TIME_NEVER : time_add(tempo_ns, (int64_t)more_ns);
}

int64_t timing_last_durable_ns(const struct run *run, uint32_t live)
{
    const int64_t work_start_ns = run->live.attempts[live].work_start_ns;
    const int64_t cycle_ns = run->live.cycles[live].cycle_ns;
    const int64_t worked_ns = run->now_ns - work_start_ns;
    if (worked_ns <= 0) return run->now_ns;
    return cycle_ns == 0 ? work_start_ns : work_start_ns + worked_ns / cycle_ns * cycle_ns;
}

int64_t timing_durable_ns(const struct run *run, uint32_t live, int64_t *work_ns)
{
    const int64_t durable_ns = timing_last_durable_ns(run, live);
    *work_ns = timing_done_ns(run, live, durable_ns);
    return durable_ns;
}
