/* test_static.c - scheduler.kind static: teams that own their servers are clusters of their own, job by job. */
#include "policy/policy.h"

#include "fixture.h"
#include "ledger/accounts.h"
#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>

enum { JOBS = 400, TEAMS = 4, SERVERS = 24, GPUS = 4 };

static const uint32_t servers_of[TEAMS] = { 9, 1, 6, 8 };

/* A job of the log: its team is one of four, or one that nobody knows. */
struct job {
    double submit_s, duration_s, limit_s;
    uint32_t gpus, team;
};

static struct job any_job(uint64_t seed, uint32_t row)
{
    const uint64_t d = 10 * (uint64_t)row;
    struct job job = { .submit_s = floor(any_between(seed, 1, 0, 1)) };
    for (uint32_t i = 0; i <= row; i++)
        job.submit_s += floor(any_scale(seed, 100000 + i, 0.2, 200));
    job.duration_s = floor(any_scale(seed, d + 2, 1, 5000));
    job.limit_s = job.duration_s * any_between(seed, d + 3, 1, 3);
    job.gpus =
        any(seed, d + 4) < 0.7 ? any_count(seed, d + 5, 1, 4) : any_count(seed, d + 5, 5, 20);
    job.team = any_count(seed, d + 6, 0, 19) == 0 ? TEAMS : any_count(seed, d + 7, 0, TEAMS - 1);
    return job;
}

/* Starts of a run, by the job's submission order in the whole log; TIME_NEVER where it was refused. */
static void run_jobs(struct fixture *fixture, const uint32_t *rows, int64_t *starts)
{
    struct replica_result result;
    fixture->scenario.detail[0] = '\0';
    snprintf(fixture->scenario.detail, sizeof fixture->scenario.detail, "all");
    fixture_ready(fixture);
    assert_int_equal(fixture_run(fixture, 0, 0, &result), STATUS_OK);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++)
        starts[rows[jobs[i].trace_row]] = jobs[i].first_start_ns;
    replica_result_clear(&result);
}

static void fill(struct fixture *fixture, uint64_t seed, uint32_t team, enum order order,
                 uint32_t *rows)
{
    uint32_t count = 0;
    fixture_init(fixture, JOBS);
    fixture->scenario.order = order;
    struct jobs *const jobs = &fixture->jobs;
    jobs->user = ARENA_ARRAY(jobs->arena, uint32_t, JOBS);
    jobs->text = ARENA_ARRAY(jobs->arena, char, 64);
    memcpy(jobs->text, "\0t0\0t1\0t2\0t3\0nobody", 20);
    jobs->text_bytes = 20;
    for (uint32_t row = 0; row < JOBS; row++) {
        const struct job job = any_job(seed, row);
        if (team < TEAMS && job.team != team) continue;
        fixture_job(fixture, count, job.submit_s, job.duration_s, job.limit_s, job.gpus);
        jobs->user[count] = 1 + 3 * job.team;
        rows[count++] = row;
    }
    jobs->count = count;
    /* Times count from the first job of the log, here as in the whole one. */
}

/* One run of all teams, and one of each alone on a cluster of its size: the same starts. */
static void teams_are_clusters(void **state)
{
    const uint64_t seed = rows_number(state) / 2;
    const enum order order = rows_number(state) % 2 ? ORDER_EASY : ORDER_FCFS;
    static int64_t together[JOBS], alone[JOBS];
    static uint32_t rows[JOBS];
    struct fixture fixture;
    struct static_team teams[TEAMS];
    for (uint32_t i = 0; i < JOBS; i++) together[i] = alone[i] = TIME_NEVER;
    memset(teams, 0, sizeof teams);
    for (uint32_t t = 0; t < TEAMS; t++) {
        snprintf(teams[t].name, sizeof teams[t].name, "t%u", t);
        teams[t].servers = servers_of[t];
    }
    fill(&fixture, seed, TEAMS, order, rows);
    fixture.scenario.kind = KIND_STATIC;
    fixture.scenario.teams = teams;
    fixture.scenario.team_count = TEAMS;
    fixture_layout(&fixture, "all", SERVERS, GPUS);
    run_jobs(&fixture, rows, together);
    fixture_clear(&fixture);
    for (uint32_t t = 0; t < TEAMS; t++) {
        fill(&fixture, seed, t, order, rows);
        fixture_layout(&fixture, "own", servers_of[t], GPUS);
        run_jobs(&fixture, rows, alone);
        fixture_clear(&fixture);
    }
    uint32_t started = 0, refused = 0;
    for (uint32_t row = 0; row < JOBS; row++) {
        const struct job job = any_job(seed, row);
        CHECK(together[row] == alone[row],
              "job %u of team %u, %u GPUs: %" PRId64 " together, %" PRId64 " alone", row, job.team,
              job.gpus, together[row], alone[row]);
        started += together[row] != TIME_NEVER;
        refused += together[row] == TIME_NEVER;
        /* Team 1 has one server of four. */
        if (job.team == TEAMS || (job.team == 1 && job.gpus > GPUS))
            assert_true(together[row] == TIME_NEVER);
    }
    assert_true(started > JOBS / 2 && refused > 0);
}

/* Two teams with a server of four each. a: 4 GPUs for 100 s twice, b: 4 GPUs at 10 s, a: 8 GPUs, which it can never have.
 * a's second job waits for its first although b's server is free until 10 s: 10 s * 4 GPUs are withheld, then b ends at
 * 60 s and 40 s * 4 GPUs more. */
static void worked_by_hand(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    struct static_team teams[2] = { { .name = "t0", .share = 1 }, { .name = "t1", .share = 1 } };
    fixture_init(&fixture, 4);
    struct jobs *const jobs = &fixture.jobs;
    static char text[] = "\0t0\0t1";
    jobs->text = text;
    jobs->text_bytes = sizeof text;
    jobs->user = ARENA_ARRAY(jobs->arena, uint32_t, 4);
    static const uint32_t users[] = { 1, 1, 1, 4 };
    memcpy(jobs->user, users, sizeof users);
    fixture_job(&fixture, 0, 0, 100, 0, 4);
    fixture_job(&fixture, 1, 0, 100, 0, 4);
    fixture_job(&fixture, 2, 0, 100, 0, 8);
    fixture_job(&fixture, 3, 10, 50, 0, 4);
    fixture.scenario.kind = KIND_STATIC;
    fixture.scenario.teams = teams;
    fixture.scenario.team_count = 2;
    fixture_layout(&fixture, "two", 2, 4);
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    int64_t starts[4] = { -1, -1, -1, -1 };
    for (uint64_t i = 0; i < result.jobs.count; i++)
        starts[rows[i].trace_row] = rows[i].first_start_ns;
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[1], 100 * NS_PER_S);
    assert_true(starts[2] == TIME_NEVER);
    assert_int_equal(starts[3], 10 * NS_PER_S);
    assert_int_equal(result.jobs_end[END_REJECTED], 1);
    double withheld = 0;
    for (uint32_t c = 0; c < CLASSES; c++)
        withheld += (double)result.ledger_all[ACC_WITHHELD][c] / UNITS_PER_GPU / 1e9;
    CHECK_NEAR(withheld, 4 * 10.0 + 4 * 40.0, 1e-9);
    replica_result_clear(&result);
    jobs->text = NULL;
    fixture_clear(&fixture);
}

int main(void)
{
    static const struct CMUnitTest alone[] = { cmocka_unit_test(worked_by_hand) };
    struct rows rows = { 0 };
    for (uintptr_t i = 2; i < 62; i++)
        rows_add(&rows, teams_are_clusters, (void *)i, "%s, seed %zu", i % 2 ? "easy" : "fcfs",
                 (size_t)i / 2);
    return cmocka_run_group_tests_name("static", alone, NULL, NULL) +
           rows_run("static over seeds", &rows);
}
