/* test_edges.c - what happens at limits: equal times, the end of a run, the largest numbers. Each
 * case is worked by hand; each was wrong once. */
#include "fixture.h"

#include "campaign/tornado.h"
#include "tests/near.h"
#include "tests/rows.h"

/* ---- a job that is dropped does not take others with it -------------------------------------------- */

/* Eight GPUs, one of them taken. At 10 s, in this order: 8 GPUs, which do not fit, 4 and 3, which
 * do, and 1, for which nothing is left. */
static void loss_at_one_instant(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 5);
    fixture.scenario.order = (enum order)rows_number(state);
    fixture.scenario.loss = true;
    fixture_layout(&fixture, "one", 1, 8);
    static const uint32_t gpus[] = { 1, 8, 4, 3, 1 };
    for (uint32_t row = 0; row < 5; row++)
        fixture_job(&fixture, row, row ? 10 : 0, 100, 0, gpus[row]);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    static const int64_t want_start_s[] = { 0, -1, 10, 10, -1 };
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        const int64_t want_s = want_start_s[jobs[i].trace_row];
        assert_int_equal(jobs[i].first_start_ns, want_s < 0 ? TIME_NEVER : want_s * NS_PER_S);
    }
    assert_int_equal(result.jobs_end[END_REJECTED], 2);
    assert_int_equal(result.jobs_end[END_FINISHED], 3);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- a trace that is played to its end ---------------------------------------------------------------- */

/* A curve of a million bins of a second ends after twelve days: a job submitted later must not be
 * left out in silence. */
static void late_job_under_fine_bins(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2);
    fixture.scenario.curve_bin_ns = NS_PER_S;
    fixture_layout(&fixture, "one", 1, 8);
    fixture_job(&fixture, 0, 0, 100, 0, 1);
    fixture_job(&fixture, 1, 20 * 86400.0, 100, 0, 1);
    assert_int_equal(plan_build(&fixture.scenario, &fixture.jobs, &fixture.import, NULL, 0, 1,
                                &fixture.plan, fixture.diag),
                     STATUS_INPUT);
    fixture_clear(&fixture);
}

/* ---- restarts ------------------------------------------------------------------------------------------- */

/* One GPU, one job whose software fails every few minutes, restarts of five minutes: GPU-time from
 * each kill to the next progress, or kill, or the end of the run. */
static void restart_that_fails_again(void **state)
{
    const uint64_t seed = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    struct scenario *scenario = &fixture.scenario;
    scenario->seed = seed;
    scenario->horizon_ns = 24 * NS_PER_HOUR;
    scenario->curve_bin_ns = NS_PER_HOUR;
    scenario->failures.requeue_delay_ns = 100 * NS_PER_S;
    scenario->failures.component[COMPONENT_JOB] =
        (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 400 };
    fixture_layout(&fixture, "one", 1, 4);
    fixture_job(&fixture, 0, 0, 86400, 0, 3);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
    const struct attempt_row *attempts = LOG_ITEMS(&result.attempts, struct attempt_row);
    assert_int_equal(result.attempts.count, result.incidents.count + 1); /* the last one is cut */
    uint64_t again = 0;
    for (uint64_t i = 0; i < result.incidents.count; i++) {
        const struct attempt_row *next = &attempts[i + 1];
        const int64_t worked_ns = next->start_ns + next->startup_ns;
        const int64_t until_ns = worked_ns < next->end_ns ? worked_ns : next->end_ns;
        if (until_ns < worked_ns) again++;
        assert_int_equal(incidents[i].at_ns, attempts[i].end_ns);
        assert_int_equal(incidents[i].restart_gpu_ns, 3 * (until_ns - attempts[i].end_ns));
    }
    assert_true(again > 10);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* 64 GPUs on one server each, the first fault of which stops the job for ever: nobody repairs
 * it within the run. What the wait costs until then is counted. */
static void restart_that_never_comes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    struct scenario *scenario = &fixture.scenario;
    scenario->horizon_ns = 48 * NS_PER_HOUR;
    scenario->curve_bin_ns = NS_PER_HOUR;
    scenario->failures.component[COMPONENT_SERVER] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 64 * 3 * 3600, .repair_median_s = 1e8, .repair_p95_s = 1e8
    };
    fixture_layout(&fixture, "sparse", 64, 1);
    fixture_job(&fixture, 0, 0, 40 * 86400, 0, 64);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
    assert_int_equal(incidents[0].jobs_hit, 1);
    const int64_t killed_ns = incidents[0].at_ns + scenario->failures.detection_ns;
    assert_int_equal(incidents[0].restart_gpu_ns, 64 * (48 * NS_PER_HOUR - killed_ns));
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- large numbers -------------------------------------------------------------------------------------- */

/* A job of 16,384 GPUs that never saves its state fails after ten days and more: 4 million
 * GPU-hours are gone, 448 GPU-years, more than 2^63 GPU-nanoseconds. */
static void months_of_a_large_job(void **state)
{
    (void)state;
    enum { GPUS = 16384 };
    struct fixture fixture;
    fixture_init(&fixture, 1);
    struct scenario *scenario = &fixture.scenario;
    scenario->horizon_ns = 60 * NS_PER_DAY;
    scenario->failures.component[COMPONENT_JOB] =
        (struct component_failures){ .law = LAW_WEIBULL, .shape = 50, .mean_s = 10 * 86400 };
    fixture_layout(&fixture, "large", GPUS / 8, 8);
    fixture_job(&fixture, 0, 0, 40 * 86400, 0, GPUS);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
    assert_true(result.incidents.count >= 4);
    double lost_h = 0;
    for (uint64_t i = 0; i < result.incidents.count; i++) {
        const int64_t from_ns = i ? incidents[i - 1].at_ns + scenario->failures.restart_ns : 0;
        const double want_s = GPUS * s_from_ns(incidents[i].at_ns - from_ns);
        CHECK_NEAR((double)incidents[i].lost_gpu_ns / 1e9, want_s, 1e-12);
        lost_h += want_s / 3600;
    }
    CHECK_NEAR(fixture_metric(&result, "lost_gpu_h", CLASS_NONE, -1), lost_h, 1e-12);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- the settings of the tornado ------------------------------------------------------------------------ */

static const struct world *world_of(const struct fixture *fixture, enum axis axis, double value)
{
    for (uint32_t row = 1; row < fixture->plan.setting_count; row++)
        if (fixture->plan.settings[row].axis == axis && fixture->plan.settings[row].value == value)
            return tornado_world(&fixture->shared, row, fixture->arena);
    fail_msg("no setting of axis %d with value %g", (int)axis, value);
    return NULL;
}

static void moved_scenario(struct fixture *fixture)
{
    fixture_init(fixture, 1);
    struct scenario *scenario = &fixture->scenario;
    scenario->horizon_ns = 10 * NS_PER_DAY;
    scenario->tornado = true;
    scenario->tornado_replicas = 1;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){
        .profile = { .kappa_one = 0.1, .kappa_many = 0.25, .hidden_frac = 0.3, .size_bytes = 1e9 },
        .weight = 1,
        .gpus_min = 1,
        .gpus_max = LIMIT_GPUS
    };
    fixture_layout(fixture, "dense", 16, 8)->fabric.link.switch_ports = 64;
    fixture_layout(fixture, "sparse", 128, 1)->fabric.link.switch_ports = 64;
    fixture_job(fixture, 0, 0, 36000, 0, 8);
    fixture_ready(fixture);
}

/* 16 servers of 8 NICs: 128 ports, 32 down a leaf, 4 servers below each of 4 leaves. Of 4 NICs: 64
 * ports are one switch. Servers of one NIC stay as they are: 128 ports, 4 leaves. */
static void half_of_the_nics(void **state)
{
    (void)state;
    struct fixture fixture;
    moved_scenario(&fixture);
    const struct variant *dense = &fixture.plan.variants[0];
    assert_int_equal(dense->fabric.servers_per_leaf, 4);
    assert_int_equal(dense->fabric.leaves, 4);
    const struct world *world = world_of(&fixture, AXIS_NICS, 0.5);
    assert_int_equal(world->plan.variants[0].fabric.servers_per_leaf, 16);
    assert_int_equal(world->plan.variants[0].fabric.leaves, 1);
    assert_int_equal(world->plan.variants[0].fabric.spines, 0);
    assert_int_equal(world->plan.variants[0].fabric.trunks, 0);
    assert_int_equal(world->plan.variants[1].fabric.servers_per_leaf, 32);
    assert_int_equal(world->plan.variants[1].fabric.leaves, 4);
    assert_int_equal(dense->fabric.leaves, 4);
    fixture_clear(&fixture);
}

/* Eight nodes cannot own four NICs in equal parts, which they must where NICs break; four nodes can. */
static void half_of_the_nics_of_nodes(void **state)
{
    static struct server_group parts = { .count = 16, .nodes_per_server = 8 };
    struct fixture fixture;
    (void)state;
    moved_scenario(&fixture);
    struct layout *layout = &fixture.scenario.layouts[0];
    layout->groups = &parts;
    layout->group_count = 1;
    assert_int_equal(world_of(&fixture, AXIS_NICS, 0.5)->plan.variants[0].fabric.leaves, 1);
    fixture.scenario.failures.component[COMPONENT_LINK].law = LAW_EXPONENTIAL;
    assert_int_equal(world_of(&fixture, AXIS_NICS, 0.5)->plan.variants[0].fabric.leaves, 4);
    parts.nodes_per_server = 4;
    assert_int_equal(world_of(&fixture, AXIS_NICS, 0.5)->plan.variants[0].fabric.leaves, 1);
    layout->groups = NULL;
    layout->group_count = 0;
    fixture_clear(&fixture);
}

/* Jobs a tenth longer ask for a tenth more, and the result says so. */
static void longer_jobs(void **state)
{
    (void)state;
    struct fixture fixture;
    moved_scenario(&fixture);
    const struct world *world = world_of(&fixture, AXIS_LOAD, 1.1);
    const struct run_request request = { .shared = &world->shared, .variant = 0, .replica = 0 };
    struct replica_result result;
    assert_int_equal(run_replica(&request, &result), STATUS_OK);
    const double want = 1.1 * 8 * 36000 / (128 * 86400.0);
    CHECK_NEAR(fixture_metric(&result, "offered_load", CLASS_NONE, -1), want, 1e-12);
    CHECK_NEAR(fixture.plan.variants[0].offered_load, want / 1.1, 1e-12);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- limits of time ------------------------------------------------------------------------------------- */

/* A limit below the start-up that the duration holds ends the job inside its start-up. */
static void limit_inside_startup(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2);
    fixture.scenario.kill_at_limit = true;
    fixture.scenario.startup_ns = 60 * NS_PER_S;
    fixture_layout(&fixture, "one", 1, 8);
    fixture_job(&fixture, 0, 0, 100, 30, 2);
    fixture_job(&fixture, 1, 0, 100, 70, 2);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, struct job_row);
    assert_int_equal(result.jobs.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(jobs[i].end, END_KILLED);
        assert_int_equal(jobs[i].end_ns, (jobs[i].trace_row ? 70 : 30) * NS_PER_S);
    }
    assert_true(result.ledger[ACC_STARTUP][CLASS_2_7] ==
                (int128)2 * UNITS_PER_GPU * (30 + 60) * NS_PER_S);
    assert_true(result.ledger[ACC_LOST][CLASS_2_7] == (int128)2 * UNITS_PER_GPU * 10 * NS_PER_S);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* The longest run there is, with a bin as long as its window, and a start-up of a century that begins
 * just before its end. */
static void longest_run(void **state)
{
    (void)state;
    static const int64_t CENTURY_NS = 100 * 365 * NS_PER_DAY;
    struct fixture fixture;
    fixture_init(&fixture, 2);
    struct scenario *scenario = &fixture.scenario;
    scenario->horizon_ns = scenario->curve_bin_ns = scenario->startup_ns = CENTURY_NS;
    scenario->follow_ns = CENTURY_NS / 2;
    scenario->contains_startup = false;
    fixture_layout(&fixture, "one", 1, 8);
    fixture_job(&fixture, 0, 0, 1, 0, 8);
    fixture_job(&fixture, 1, s_from_ns(CENTURY_NS / 2), 1, 0, 8);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.run_end_ns, CENTURY_NS + CENTURY_NS / 2);
    assert_true(result.ledger[ACC_STARTUP][CLASS_8_15] == (int128)8 * UNITS_PER_GPU * CENTURY_NS);
    replica_result_clear(&result);
    scenario
        ->follow_ns++; /* a nanosecond more is refused: the start-up would end behind all clocks */
    assert_int_equal(plan_build(scenario, &fixture.jobs, &fixture.import, NULL, 0, 1, &fixture.plan,
                                fixture.diag),
                     STATUS_INPUT);
    fixture_clear(&fixture);
}

/* ---- free GPUs whose hosts are full ---------------------------------------------------------------------- */

/* 128 cores, 120 of them taken with two GPUs until 1000 s. The head asks for all eight GPUs from 10 s
 * on; behind it, from 20 s on, a job of one GPU asks for 64 cores: the policy never looks at it, and
 * still its GPU is starved, not withheld. */
static void starved_behind_the_head(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 3);
    fixture.scenario.order = (enum order)rows_number(state);
    fixture.scenario.curve_bin_ns = 10 * NS_PER_S;
    fixture_layout(&fixture, "one", 1, 8);
    fixture.jobs.cores = ARENA_ARRAY(fixture.jobs.arena, uint32_t, 3);
    fixture_job(&fixture, 0, 0, 1000, 0, 2);
    fixture_job(&fixture, 1, 10, 1000, 0, 8);
    fixture_job(&fixture, 2, 20, 100, 0, 1);
    fixture.jobs.cores[0] = 120;
    fixture.jobs.cores[2] = 64;
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const int128 unit = (int128)UNITS_PER_GPU * NS_PER_S;
    assert_true(result.ledger[ACC_WITHHELD][CLASS_NONE] == 0);
    assert_true(result.ledger[ACC_STARVED][CLASS_NONE] == unit * 980);
    assert_true(result.ledger[ACC_SHORT][CLASS_NONE] == unit * (6 * 10 + 5 * 980));
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, loss_at_one_instant, (const void *)(uintptr_t)ORDER_FCFS,
             "loss at one instant, fcfs");
    rows_add(&rows, loss_at_one_instant, (const void *)(uintptr_t)ORDER_EASY,
             "loss at one instant, easy");
    rows_add(&rows, late_job_under_fine_bins, NULL, "a late job under fine bins");
    for (uintptr_t seed = 1; seed <= 5; seed++)
        rows_add(&rows, restart_that_fails_again, (const void *)seed,
                 "a restart that fails again, seed %d", (int)seed);
    rows_add(&rows, restart_that_never_comes, NULL, "a restart that never comes");
    rows_add(&rows, months_of_a_large_job, NULL, "months of a large job");
    rows_add(&rows, half_of_the_nics, NULL, "half of the NICs need fewer leaves");
    rows_add(&rows, half_of_the_nics_of_nodes, NULL,
             "half of the NICs of nodes that share a server");
    rows_add(&rows, longer_jobs, NULL, "longer jobs offer more");
    rows_add(&rows, limit_inside_startup, NULL, "a limit inside the start-up");
    rows_add(&rows, longest_run, NULL, "the longest run");
    rows_add(&rows, starved_behind_the_head, (const void *)(uintptr_t)ORDER_FCFS,
             "starved behind the head, fcfs");
    rows_add(&rows, starved_behind_the_head, (const void *)(uintptr_t)ORDER_EASY,
             "starved behind the head, easy");
    return rows_run("edges", &rows);
}
