/* test_jobs_told.c - cases C054, C056, C058 and C086 as their reporters would look at them: no job vanishes, and each says why it
 * stands where it stands. */
#include "stored_run.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>

static int64_t start_s(const struct stored_run *run, int64_t serial)
{
    return number_of(run, "SELECT first_start_ns FROM job WHERE layout_id = 0 AND serial = ?",
                     serial) /
           NS_PER_S;
}

/* C054: eight free GPUs are not eight free GPUs: one node of 8 takes a job of 8 on one node, two nodes of 4 never do. */
static void C054_one_by_eight_is_not_two_by_four(void **state)
{
    (void)state;
    struct stored_run run;
    fixture_init(&run.fixture, 2);
    run.fixture.scenario.shape = SHAPE_RECORDED;
    run.fixture.jobs.nodes = ARENA_ARRAY(run.fixture.jobs.arena, uint32_t, 2);
    fixture_layout(&run.fixture, "one8", 1, 8);
    fixture_layout(&run.fixture, "two4", 2, 4);
    fixture_job(&run.fixture, 0, 0, 10, 0, 8);
    fixture_job(&run.fixture, 1, 20, 10, 0, 8);
    run.fixture.jobs.nodes[0] = 1;
    run.fixture.jobs.nodes[1] = 2;
    name_jobs(&run.fixture);
    store_run(&run);
    char *text = say(&run, "job-0", (struct why_options){ .layout = "two4" }, STATUS_OK);
    holds(text, "It was rejected: more GPUs in one node than any has.\n");
    holds(text, "Elsewhere: 0s on one8.\n");
    free(text);
    text = say(&run, "job-1", (struct why_options){ .layout = "one8" }, STATUS_OK);
    holds(text, "It was rejected: more nodes than the layout has.\n");
    holds(text, "Elsewhere: 0s on two4.\n");
    free(text);
    forget_run(&run);
}

/* C056: eight GPUs are free, one on each of eight nodes: a job of a whole node waits for a whole node. */
static void C056_one_free_on_each_node_is_no_node(void **state)
{
    (void)state;
    struct stored_run run;
    fixture_init(&run.fixture, 9);
    run.fixture.scenario.placement = PLACE_SPREAD;
    fixture_layout(&run.fixture, "eight", 8, 8);
    for (uint32_t j = 0; j < 8; j++) fixture_job(&run.fixture, j, 0, 100 + j, 0, 7);
    fixture_job(&run.fixture, 8, 10, 5, 0, 8);
    name_jobs(&run.fixture);
    store_run(&run);
    assert_int_equal(start_s(&run, 8), 100);
    char *text = say(&run, "job-8", (struct why_options){ 0 }, STATUS_OK);
    holds(text, "fragmentation 1m30s");
    holds(text, "it needed 1 node with 8 GPUs free; 8\nof 64 GPUs were idle.");
    holds(text, "  job-0                                 7      1  0d 00:01:40\n");
    free(text);
    forget_run(&run);
}

/* C056: a gang of 100 nodes with 99 free holds none of them while it waits: jobs that end in time use them. */
static void C056_an_incomplete_gang_holds_nothing(void **state)
{
    (void)state;
    struct stored_run run;
    fixture_init(&run.fixture, 101);
    run.fixture.scenario.order = ORDER_EASY;
    fixture_layout(&run.fixture, "hundred", 100, 1);
    fixture_job(&run.fixture, 0, 0, 1000, 0, 1);
    fixture_job(&run.fixture, 1, 1, 50, 0, 100);
    for (uint32_t j = 2; j <= 100; j++) fixture_job(&run.fixture, j, 2, 900, 0, 1);
    name_jobs(&run.fixture);
    store_run(&run);
    assert_int_equal(start_s(&run, 1), 1000);
    for (int64_t j = 2; j <= 100; j++) assert_int_equal(start_s(&run, j), 2);
    assert_int_equal(number_of(&run,
                               "SELECT sum(gpu_s + gpu_rest) FROM ledger_run"
                               " WHERE account = 'held'",
                               -1),
                     0);
    char *text = say(&run, "job-1", (struct why_options){ 0 }, STATUS_OK);
    holds(text, "It waited 16m39s for its first start, in 1 span: resources 16m39s.\n");
    holds(text, "  job-0                                 1      1  0d 00:16:40\n");
    free(text);
    forget_run(&run);
}

/* C058: a job of 2 GPUs, one node has 4 free and one has 2: it takes the 2, so that a job of 4 still fits. */
static void C058_the_smaller_hole_is_taken(void **state)
{
    (void)state;
    struct stored_run run;
    fixture_init(&run.fixture, 3);
    fixture_layout(&run.fixture, "two4", 2, 4);
    for (uint32_t j = 0; j < 3; j++) fixture_job(&run.fixture, j, j, 100, 0, j < 2 ? 2 : 4);
    name_jobs(&run.fixture);
    store_run(&run);
    assert_int_equal(
        number_of(&run, "SELECT count(DISTINCT server) FROM allocation WHERE serial < 2", -1), 1);
    char *text = say(&run, "job-2", (struct why_options){ 0 }, STATUS_OK);
    holds(text, "It started at once and never waited.\n");
    free(text);
    forget_run(&run);
}

/* ---- C086: what was submitted is finished, killed, rejected, running or queued ---------------------- */

enum { MANY = 50 };

static void draw_many(struct stored_run *run, uint64_t seed)
{
    fixture_init(&run->fixture, MANY);
    struct scenario *scenario = &run->fixture.scenario;
    scenario->seed = seed;
    scenario->order = seed % 2 ? ORDER_EASY : ORDER_FCFS;
    scenario->kill_at_limit = true;
    scenario->horizon_ns = 2 * NS_PER_HOUR;
    scenario->curve_bin_ns = NS_PER_HOUR;
    fixture_layout(&run->fixture, "small", 4, 4);
    for (uint32_t j = 0; j < MANY; j++) {
        const double run_s = any_between(seed, 10 * j, 60, 3600);
        fixture_job(&run->fixture, j, any_between(seed, 10 * j + 1, 0, 4) + 100.0 * j, run_s,
                    any(seed, 10 * j + 2) < 0.3 ? run_s / 2 : 2 * run_s,
                    (uint32_t)any_count(seed, 10 * j + 3, 1, any(seed, 10 * j + 4) < 0.2 ? 24 : 6));
    }
    name_jobs(&run->fixture);
    store_run(run);
}

static const struct {
    const char *outcome, *says;
} outcomes[] = {
    { "finished", "It finished at " },
    { "killed", "It was killed at " },
    { "rejected", "It was rejected: more GPUs than the layout has." },
    { "running", "It is running when the run ends at " },
    { "queued", "It is queued when the run ends at " },
};

static int64_t seen[sizeof outcomes / sizeof *outcomes];

static void C086_no_job_vanishes(void **state)
{
    struct stored_run run;
    draw_many(&run, rows_number(state));
    const int64_t submitted =
        number_of(&run, "SELECT jobs_submitted FROM replica WHERE replica = 0", -1);
    assert_true(submitted > 0 && submitted <= MANY);
    assert_int_equal(number_of(&run,
                               "SELECT jobs_finished + jobs_killed + jobs_rejected +"
                               " jobs_running + jobs_queued FROM replica WHERE replica = 0",
                               -1),
                     submitted);
    assert_int_equal(number_of(&run, "SELECT count(DISTINCT serial) FROM job", -1), submitted);
    int64_t told = 0;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT jobs_%s FROM replica WHERE replica = 0",
                 outcomes[i].outcome);
        const int64_t count = number_of(&run, sql, -1);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM job WHERE outcome = '%s'",
                 outcomes[i].outcome);
        assert_int_equal(number_of(&run, sql, -1), count);
        told += count;
        seen[i] += count;
        if (count == 0) continue;
        snprintf(sql, sizeof sql, "SELECT min(serial) FROM job WHERE outcome = '%s'",
                 outcomes[i].outcome);
        char serial[24];
        snprintf(serial, sizeof serial, "%" PRId64, number_of(&run, sql, -1));
        char *text = say(&run, serial, (struct why_options){ .by_serial = true }, STATUS_OK);
        holds(text, outcomes[i].says);
        free(text);
    }
    assert_int_equal(told, submitted);
    forget_run(&run);
}

static void C086_all_ends_were_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) assert_true(seen[i] > 0);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, C054_one_by_eight_is_not_two_by_four, NULL,
             "C054 one by eight is not two by four");
    rows_add(&rows, C056_one_free_on_each_node_is_no_node, NULL,
             "C056 one free on each node is no node");
    rows_add(&rows, C056_an_incomplete_gang_holds_nothing, NULL,
             "C056 an incomplete gang holds nothing");
    rows_add(&rows, C058_the_smaller_hole_is_taken, NULL, "C058 the smaller hole is taken");
    for (uint64_t seed = 1; seed <= 10; seed++)
        rows_add(&rows, C086_no_job_vanishes, (const void *)(uintptr_t)seed,
                 "C086 no job vanishes, seed %d", (int)seed);
    rows_add(&rows, C086_all_ends_were_seen, NULL, "C086 all ends were seen");
    return rows_run("jobs told", &rows);
}
