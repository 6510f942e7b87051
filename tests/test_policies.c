/* test_policies.c - every policy, 500 random clusters and traces each, with faults and hands that interfere: after
 * every instant the cluster's tables and the ledger's levels agree, and at the end each job is accounted for. */
#include "base/philox.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "books_probe.h"
#include "rows.h"

enum { SEEDS = 500, BLOCK = 50, JOBS = 30 };

static double any(uint64_t seed, uint64_t number)
{
    return stream_uniform(stream_key(seed, 0, "test.policies"), 0, number);
}

static uint32_t any_below(uint64_t seed, uint64_t number, uint32_t count)
{
    const uint32_t drawn = (uint32_t)(any(seed, number) * count);
    return drawn < count ? drawn : count - 1;
}

/* ---- policies -------------------------------------------------------------------------------- */

static void any_placement(struct scenario *scenario, uint64_t seed)
{
    scenario->placement = (enum placement)any_below(seed, 10, PLACE_FGD + 1);
}

static void fcfs(struct scenario *scenario, uint64_t seed)
{
    scenario->order = ORDER_FCFS;
    any_placement(scenario, seed);
}

static void easy(struct scenario *scenario, uint64_t seed)
{
    scenario->order = ORDER_EASY;
    any_placement(scenario, seed);
}

static void conservative(struct scenario *scenario, uint64_t seed)
{
    scenario->order = ORDER_CONSERVATIVE;
    scenario->placement =
        any_below(seed, 10, 2) ? PLACE_SPREAD : PLACE_PACK; /* no other is built */
}

static void easy_event(struct scenario *scenario, uint64_t seed)
{
    scenario->order = ORDER_EASY_EVENT;
    any_placement(scenario, seed);
}

static void sjf(struct scenario *scenario, uint64_t seed)
{
    scenario->order = ORDER_SJF;
    any_placement(scenario, seed);
}

/* These preempt, and put jobs by pack or spread. */
static void srtf(struct scenario *scenario, uint64_t seed)
{
    scenario->order = ORDER_SRTF;
    scenario->placement = any_below(seed, 10, 2) ? PLACE_PACK : PLACE_SPREAD;
}

static void las(struct scenario *scenario, uint64_t seed)
{
    srtf(scenario, seed);
    scenario->order = ORDER_LAS;
}

/* Rounds of moves around EASY, more often than jobs end. */
static void moves(struct scenario *scenario, uint64_t seed)
{
    easy(scenario, seed);
    scenario->moves =
        (struct job_moves){ .every_ns = (int64_t)(1 + any_below(seed, 11, 120)) * 60 * NS_PER_S,
                            .cost_ns = (int64_t)any_below(seed, 12, 300) * NS_PER_S };
}

/* Two teams, which own one and two parts of the servers; every third job is nobody's. */
static void owned(struct scenario *scenario, uint64_t seed)
{
    struct static_team *teams = calloc(2, sizeof *teams); /* scenario_clear's */
    scenario->kind = KIND_STATIC;
    scenario->order = any_below(seed, 13, 2) ? ORDER_EASY : ORDER_FCFS;
    snprintf(teams[0].name, sizeof teams[0].name, "t0");
    snprintf(teams[1].name, sizeof teams[1].name, "t1");
    teams[0].share = 1;
    teams[1].share = 2;
    scenario->teams = teams;
    scenario->team_count = 2;
}

/* Slurm with two partitions of different tiers, and preemption in half of the runs. */
static void slurm(struct scenario *scenario, uint64_t seed)
{
    static const enum preempt_mode modes[] = { PREEMPT_REQUEUE, PREEMPT_CANCEL, PREEMPT_SUSPEND };
    struct slurm_spec *spec = &scenario->slurm;
    struct slurm_partition *partitions = calloc(2, sizeof *partitions); /* scenario_clear's */
    scenario->kind = KIND_SLURM;
    slurm_defaults(spec);
    for (uint32_t p = 0; p < 2; p++)
        partitions[p] = (struct slurm_partition){ .name = "low",
                                                  .nodes = "ALL",
                                                  .max_time_ns = TIME_NEVER,
                                                  .priority_tier = 1 + p,
                                                  .priority_job_factor = 1,
                                                  .preempt_mode = PREEMPT_UNSET,
                                                  .is_default = p == 0,
                                                  .up = true };
    snprintf(partitions[1].name, sizeof partitions[1].name, "high");
    spec->partitions = partitions;
    spec->partition_count = 2;
    spec->compat = (enum slurm_compat)any_below(seed, 21, 3);
    spec->multifactor = any_below(seed, 22, 2);
    spec->weight_age = 1000;
    spec->preempt_type = any_below(seed, 23, 2) ? PREEMPT_PARTITION_PRIO : PREEMPT_NONE;
    spec->preempt_mode = modes[any_below(seed, 24, 3)];
    if (any_below(seed, 25, 3) == 0) spec->suspend_time_ns = 600 * NS_PER_S;
    spec->resume_ns = 60 * NS_PER_S;
}

static void kubernetes(struct scenario *scenario, uint64_t seed)
{
    scenario->kind = KIND_KUBERNETES;
    kube_defaults(&scenario->kube);
    scenario->kube.preemption = any(seed, 20) < 0.7;
    scenario->kube.profile.strategy = (enum fit_strategy)any_below(seed, 21, 2);
}

static void coscheduling(struct scenario *scenario, uint64_t seed)
{
    kubernetes(scenario, seed);
    scenario->kube.gang = GANG_COSCHEDULING;
}

static const struct {
    const char *name;
    void (*choose)(struct scenario *scenario, uint64_t seed);
} policies[] = {
    { "fcfs", fcfs },
    { "easy", easy },
    { "easy_event", easy_event },
    { "conservative", conservative },
    { "sjf", sjf },
    { "srtf", srtf },
    { "las", las },
    { "moves", moves },
    { "static", owned },
    { "kubernetes", kubernetes },
    { "slurm", slurm },
    { "coscheduling", coscheduling },
};

/* ---- scenarios ------------------------------------------------------------------------------- */

static struct component_failures law(double mean_h)
{
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = mean_h * 3600,
                                        .repair_median_s = 3600,
                                        .repair_p95_s = 5 * 3600 };
}

static void any_failures(struct scenario *scenario, uint64_t seed)
{
    struct failures *failures = &scenario->failures;
    failures->component[COMPONENT_GPU] = law(200);
    failures->component[COMPONENT_SERVER] = law(150);
    failures->component[COMPONENT_LINK] = law(400);
    failures->component[COMPONENT_JOB] = law(40);
    failures->drain = (enum drain)any_below(seed, 30, 3);
    failures->requeue_delay_ns = any(seed, 31) < 0.5 ? 0 : 120 * NS_PER_S;
}

static void any_events(struct scenario *scenario, uint64_t seed, uint32_t nodes)
{
    scenario->event_count = 12;
    scenario->events = calloc(scenario->event_count, sizeof *scenario->events);
    for (uint32_t i = 0; i < scenario->event_count; i++) {
        struct user_event *event = &scenario->events[i];
        event->at_ns = i * 3 * NS_PER_HOUR + any_below(seed, 40, 3600) * NS_PER_S;
        event->action = (enum user_action)any_below(seed, 50 + i, ACTIONS);
        const uint32_t node = any_below(seed, 70 + i, nodes);
        if (event->action <= ACTION_RESUME)
            snprintf(event->target, sizeof event->target, "random-%u", node);
        else if (event->action <= ACTION_GPU_REPAIR)
            snprintf(event->target, sizeof event->target, "random-%u:0", node);
        else
            snprintf(event->target, sizeof event->target, "j%u", any_below(seed, 90 + i, JOBS));
    }
}

static void any_jobs(struct fixture *fixture, uint64_t seed)
{
    struct jobs *jobs = &fixture->jobs;
    jobs->text = arena_take(jobs->arena, 1, 16 * JOBS + 64);
    static const char users[] = "t0\0t1\0nobody";
    const uint32_t first = (uint32_t)jobs->text_bytes;
    memcpy(jobs->text + first, users, sizeof users);
    jobs->text_bytes += sizeof users;
    jobs->user = ARENA_ARRAY(jobs->arena, uint32_t, JOBS);
    for (uint32_t row = 0; row < JOBS; row++) {
        jobs->user[row] = first + 3 * any_below(seed, 900 + row, 3);
        const double u = any(seed, 200 + 4 * row);
        const uint32_t gpus = u < 0.4 ? 1 : 1 + any_below(seed, 201 + 4 * row, u < 0.9 ? 8 : 20);
        const double hours = 0.05 + 8 * any(seed, 202 + 4 * row) * any(seed, 203 + 4 * row);
        fixture_job(fixture, row, row * 86400.0 / JOBS, hours * 3600,
                    any(seed, 203 + 4 * row) < 0.5 ? 0 : 2 * hours * 3600, gpus);
        jobs->id[row] = (uint32_t)jobs->text_bytes;
        jobs->text_bytes += 1 + (uint64_t)sprintf(jobs->text + jobs->text_bytes, "j%u", row);
    }
}

static void build(struct fixture *fixture, size_t policy, uint64_t seed)
{
    static const uint32_t sizes[] = { 1, 2, 4, 8 };
    fixture_init(fixture, JOBS);
    struct scenario *scenario = &fixture->scenario;
    scenario->seed = seed;
    scenario->horizon_ns = 2 * NS_PER_DAY;
    scenario->startup_ns = any(seed, 1) < 0.5 ? 0 : 60 * NS_PER_S;
    scenario->shape = any(seed, 2) < 0.7 ? SHAPE_MODEL : SHAPE_FREE;
    scenario->slack[0] = any(seed, 3) < 0.7 ? 0 : SLACK_ANY;
    const uint32_t g = sizes[any_below(seed, 4, 4)], nodes = 16 / g + any_below(seed, 5, 3);
    struct layout *layout = fixture_layout(fixture, "random", nodes, g);
    layout->fabric.link.switch_ports = 32;
    if (any(seed, 6) < 0.5) any_failures(scenario, seed);
    if (any(seed, 7) < 0.5) any_events(scenario, seed, nodes);
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = NS_PER_HOUR,
                                                .store_bytes_per_s = 1e9,
                                                .bytes_per_gpu = 1e10 };
    policies[policy].choose(scenario, seed);
    any_jobs(fixture, seed);
    fixture_ready(fixture);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void run_one(size_t policy, uint64_t seed)
{
    struct fixture fixture;
    build(&fixture, policy, seed);
    struct replica_result result;
    run_probe = books_probe;
    const enum status status = fixture_run(&fixture, 0, 0, &result);
    run_probe = NULL;
    if (status != STATUS_OK) fail_msg("%s, seed %u", policies[policy].name, (unsigned)seed);
    assert_true(result.closure_error == 0);
    uint64_t ended = 0;
    for (int end = 0; end < JOB_ENDS; end++) ended += result.jobs_end[end];
    assert_int_equal(ended, result.jobs_submitted);
    replica_result_clear(&result);
    scenario_clear(&fixture.scenario);
    fixture_clear(&fixture);
}

static void block_of_seeds(void **state)
{
    const uint64_t row = rows_number(state), blocks = SEEDS / BLOCK;
    for (uint64_t seed = 1; seed <= BLOCK; seed++)
        run_one((size_t)(row / blocks), row % blocks * BLOCK + seed);
}

int main(void)
{
    struct rows rows = { 0 };
    const uintptr_t blocks = SEEDS / BLOCK;
    for (uintptr_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (uintptr_t b = 0; b < blocks; b++)
            rows_add(&rows, block_of_seeds, (void *)(p * blocks + b), "%s, seeds %u to %u",
                     policies[p].name, (unsigned)(b * BLOCK + 1), (unsigned)((b + 1) * BLOCK));
    return rows_run("policies", &rows);
}
