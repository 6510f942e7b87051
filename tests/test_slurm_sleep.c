/* test_slurm_sleep.c - power saving in the real engine under the Slurm policy: starts by hand, what happens to a job that
 * waits for its nodes, and random lists of jobs against the rule. The books are checked after every instant. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

#include "books_probe.h"

#define S NS_PER_S

static struct slurm_partition batch = { .name = "batch",
                                        .nodes = "ALL",
                                        .max_time_ns = TIME_NEVER,
                                        .priority_tier = 1,
                                        .priority_job_factor = 1,
                                        .is_default = true,
                                        .up = true,
                                        .preempt_mode = PREEMPT_UNSET };

/* Idle for 600 s, 30 s down, 90 s up; both passes every second. Job i is called "ji". */
static void sleepy(struct fixture *fixture, uint32_t job_count, uint32_t nodes)
{
    fixture_init(fixture, job_count);
    snprintf(fixture->scenario.detail, sizeof fixture->scenario.detail, "all");
    fixture_layout(fixture, "lab", nodes, 8);
    fixture->scenario.kind = KIND_SLURM;
    fixture->scenario.failures.restart_ns = 0;
    struct slurm_spec *slurm = &fixture->scenario.slurm;
    slurm_defaults(slurm);
    slurm->suspend_time_ns = 600 * S;
    slurm->suspend_ns = 30 * S;
    slurm->resume_ns = 90 * S;
    slurm->bf_interval_ns = slurm->sched_interval_ns = S;
    slurm->batch_sched_delay_ns = 0;
    slurm->partitions = &batch;
    slurm->partition_count = 1;
    struct jobs *jobs = &fixture->jobs;
    jobs->text = ARENA_ARRAY(jobs->arena, char, 16 * (size_t)job_count + 1);
    for (uint32_t row = 0; row < job_count; row++) {
        jobs->id[row] = (uint32_t)jobs->text_bytes;
        jobs->text_bytes += 1 + (uint64_t)sprintf(jobs->text + jobs->text_bytes, "j%u", row);
    }
}

static void play(struct fixture *fixture, struct replica_result *result)
{
    fixture_ready(fixture);
    run_probe = books_probe;
    const enum status status = fixture_run(fixture, 0, 0, result);
    run_probe = NULL;
    assert_true(status == STATUS_OK);
    assert_true(result->closure_error == 0);
}

static double start_s(const struct replica_result *result, uint32_t row)
{
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    for (uint64_t i = 0; i < result->jobs.count; i++)
        if (rows[i].trace_row == row)
            return rows[i].first_start_ns == TIME_NEVER ? -1 : (double)rows[i].first_start_ns / 1e9;
    fail_msg("no row of job %u", row);
    return 0;
}

/* Four nodes. j0 works on one until 100 s; the others go down at 600 s, that one at 700 s. j1 wants two at 1000 s, j2 a
 * half one at 1010 s, j3 all four at 1300 s, when three are up. */
static void by_hand(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    sleepy(&fixture, 4, 4);
    fixture_job(&fixture, 0, 0, 100, 600, 8);
    fixture_job(&fixture, 1, 1000, 50, 600, 16);
    fixture_job(&fixture, 2, 1010, 50, 600, 4);
    fixture_job(&fixture, 3, 1300, 50, 600, 32);
    play(&fixture, &result);
    static const double want[] = { 0, 1090, 1100, 1390 };
    for (uint32_t row = 0; row < 4; row++) CHECK_NEAR(start_s(&result, row), want[row], 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* One node. A node on its way down cannot be had before it is down: asked for at 610 s it is down at 630, up at 720 s. */
static void on_its_way_down(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    sleepy(&fixture, 2, 1);
    fixture_job(&fixture, 0, 0, 0.5, 600, 1);
    fixture_job(&fixture, 1, 610, 50, 600, 8);
    play(&fixture, &result);
    CHECK_NEAR(start_s(&result, 1), 720 + 0.5, 1e-3); /* j0 ended at 0.5 s */
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two nodes sleep when j1 comes at 1000 s and wakes one until 1090 s. */
static const struct {
    const char *name;
    struct user_event event;
    double j1_s, j2_s; /* starts; j2 wants a node at 1060 s; -1 = never */
} events[] = {
    { "nothing happens", { 2000 * S, ACTION_DRAIN, 0, "lab-1" }, 1090, 1150 },
    /* Its node is up for j2, which waits for the same moment. */
    { "it is cancelled", { 1050 * S, ACTION_SCANCEL, 0, "j1" }, -1, 1090 },
    /* Its node breaks: the other one comes up, and j2 gets that one next. */
    { "its node breaks", { 1050 * S, ACTION_NODE_DOWN, 0, "lab-0" }, 1140, 1200 },
};

static void while_it_waits(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct fixture fixture;
    struct replica_result result;
    struct user_event event = events[row].event;
    sleepy(&fixture, 3, 2);
    fixture.scenario.events = &event;
    fixture.scenario.event_count = 1;
    fixture_job(&fixture, 0, 0, 1, 600, 1);
    fixture_job(&fixture, 1, 1000, 60, 600, 8);
    fixture_job(&fixture, 2, 1060, 60, 600, 8);
    play(&fixture, &result);
    CHECK_NEAR(start_s(&result, 1), events[row].j1_s, 2e-3);
    CHECK_NEAR(start_s(&result, 2), events[row].j2_s, 2e-3);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Random jobs: each starts, none before its submission; one that comes to an empty cluster where all have slept starts
 * 90 s later to the pass. */
static void random_jobs(void **state)
{
    const uint64_t seed = rows_number(state);
    enum { JOBS = 80 };
    struct fixture fixture;
    struct replica_result result;
    sleepy(&fixture, JOBS, 6);
    double at_s = 0, over_s[JOBS];
    for (uint32_t row = 0; row < JOBS; row++) {
        at_s += any_scale(seed, 4 * row, 1, 3000);
        const double run_s = any_count(seed, 4 * row + 1, 1, 600);
        const uint32_t gpus = any(seed, 4 * row + 2) < 0.5 ? any_count(seed, 4 * row + 3, 1, 8)
                                                           : 8 * any_count(seed, 4 * row + 3, 1, 6);
        fixture_job(&fixture, row, row == 0 ? 0 : floor(at_s), run_s, 0, gpus);
    }
    play(&fixture, &result);
    double last_over_s = 0;
    for (uint32_t row = 0; row < JOBS; row++) {
        const double submit_s = (double)fixture.jobs.submit_ns[row] / 1e9,
                     begun_s = start_s(&result, row);
        assert_true(begun_s >= submit_s);
        over_s[row] = begun_s + (double)fixture.jobs.duration_ns[row] / 1e9;
        if (row > 0 && submit_s > last_over_s + 632) assert_true(begun_s == submit_s + 90);
        if (over_s[row] > last_over_s) last_over_s = over_s[row];
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Many nodes that go down at one instant cost one decision each, not a look at all nodes each. */
static void many_nodes(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    sleepy(&fixture, 2, 20000);
    fixture_job(&fixture, 0, 0, 10, 600, 8);
    fixture_job(&fixture, 1, 5000, 10, 600, 8 * 15000);
    play(&fixture, &result);
    CHECK_NEAR(start_s(&result, 1), 5090, 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, by_hand, NULL, "by hand");
    rows_add(&rows, on_its_way_down, NULL, "a node on its way down");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        rows_add(&rows, while_it_waits, (void *)(uintptr_t)i, "%s", events[i].name);
    for (uint64_t seed = 1; seed <= 40; seed++)
        rows_add(&rows, random_jobs, (void *)(uintptr_t)seed, "jobs %u", (unsigned)seed);
    rows_add(&rows, many_nodes, NULL, "20,000 nodes");
    return rows_run("slurm_sleep", &rows);
}
