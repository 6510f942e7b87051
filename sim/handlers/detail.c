/* detail.c - see detail.h. */
#include "handlers/detail.h"

#include "base/assert.h"
#include "handlers/books.h"
#include "handlers/kept.h"
#include "handlers/timing.h"

static void append(struct run *run, struct log *log, const void *row)
{
    if (!log_append(log, row)) run->out_of_memory = true;
}

void detail_job(struct run *run, uint32_t live, enum job_end end, const char *reason)
{
    if (!run->keep_detail) return;
    const struct live_job *job = &run->live.jobs[live];
    const bool ended = end != END_RUNNING && end != END_QUEUED;
    const struct job_row row = { .serial = job->serial,
                                 .trace_row = job->row,
                                 .submit_ns = job->submit_ns,
                                 .first_start_ns = job->first_start_ns,
                                 .end_ns = ended ? run->now_ns : TIME_NEVER,
                                 .gpus = run->plan->jobs->gpus[job->row],
                                 .attempts = job->attempts,
                                 .end = (uint8_t)end,
                                 .in_cohort = job->in_cohort,
                                 .request = job->request_class,
                                 .reason = reason };
    append(run, &run->result->jobs, &row);
}

/* Several pods of a job may be on one node. */
static uint32_t nodes_of(struct run *run, uint32_t first_grant)
{
    const struct grant *grants = run->cluster.grants;
    uint16_t *const seen = run->node_gpus; /* NULL: one part a node */
    uint32_t nodes = 0;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = grants[row].next)
        nodes += !seen || seen[grants[row].node]++ == 0;
    for (uint32_t row = first_grant; seen && row != GRANT_NONE; row = grants[row].next)
        seen[grants[row].node] = 0;
    return nodes;
}

/* Name 1, 2, ... of a list; 0: none. */
static const char *named(uint8_t number, const char *const *names)
{
    return number > 0 ? names[number - 1] : NULL;
}

void detail_attempt(struct run *run, uint32_t live, enum attempt_end end, int64_t durable_ns,
                    int128 checkpoint_fix)
{
    if (!run->keep_detail) return;
    const struct live_job *job = &run->live.jobs[live];
    const struct attempt *attempt = &run->live.attempts[live];
    const uint32_t servers = nodes_of(run, attempt->first_grant);
    if (job->state == LIVE_RUNNING) /* of one that hangs it was done at the fault */
        kept_rest(run, live, end == ATTEMPT_CUT ? run->now_ns : durable_ns);
    if (checkpoint_fix != 0 && kept_any(run, live)) {
        kept_fix(run, live);
        checkpoint_fix = 0;
    }
    kept_tell(run, live);
    struct attempt_row row = {
        .serial = job->serial,
        .attempt = job->attempts - 1,
        .start_ns = attempt->start_ns,
        .fault_ns = run->live.cycles[live].fault_ns,
        .end_ns = run->now_ns,
        .durable_ns = durable_ns,
        .startup_ns = attempt->work_start_ns - attempt->start_ns,
        .gpus_held = attempt->held,
        .gpus_asked = books_asked_gpus(run, live),
        .servers = servers,
        .broken_gpus = attempt->broken,
        .checkpoint_fix_unit_ns = { (int64_t)(checkpoint_fix >> 64), (int64_t)checkpoint_fix },
        .end = (uint8_t)end,
        .class_ = job->size_class,
        .algorithm = named(run->live.cycles[live].algorithm, collective_algorithm_names),
        .bottleneck = named(run->live.cycles[live].bottleneck, collective_bottleneck_names)
    };
    int64_t levels[ACC_HELD_END];
    books_levels(run, live, levels);
    for (int account = 0; account < ACC_HELD_END; account++) row.units[account] = levels[account];
    append(run, &run->result->attempts, &row);
}

void detail_choice(struct run *run, uint32_t live, const struct speed_query *query)
{
    struct speed_choice choice;
    if (!run->keep_detail || !speed_choice(run->speed, query, &choice)) return;
    run->live.cycles[live].algorithm = (uint8_t)(1 + choice.algorithm);
    run->live.cycles[live].bottleneck = (uint8_t)(1 + choice.bottleneck);
}

void detail_refused(struct run *run, uint32_t live, uint32_t node)
{
    if (!run->keep_detail) return;
    const struct live_job *job = &run->live.jobs[live];
    const struct attempt_row row = { .serial = job->serial,
                                     .attempt = job->attempts - 1,
                                     .start_ns = run->now_ns,
                                     .fault_ns = TIME_NEVER,
                                     .end_ns = run->now_ns,
                                     .durable_ns = run->now_ns,
                                     .gpus_asked = demand_of_live(run, live)->gpus,
                                     .servers = 1,
                                     .end = ATTEMPT_REFUSED,
                                     .class_ = job->size_class };
    const struct allocation_row allocation = { .serial = row.serial,
                                               .attempt = row.attempt,
                                               .server = node };
    append(run, &run->result->attempts, &row);
    append(run, &run->result->allocations, &allocation);
}

void detail_allocation(struct run *run, uint32_t live)
{
    if (!run->keep_detail) return;
    const struct live_job *job = &run->live.jobs[live];
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = run->cluster.grants[row].next) {
        const struct grant *grant = &run->cluster.grants[row];
        const struct allocation_row allocation = { .serial = job->serial,
                                                   .attempt = job->attempts - 1,
                                                   .server = grant->node,
                                                   .gpu_mask = grant->mask };
        append(run, &run->result->allocations, &allocation);
    }
}
