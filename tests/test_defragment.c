/* test_defragment.c - scheduler.defragmentation: rounds of moves, worked by hand and over random logs. */
#include "policy/policy.h"

#include "fixture.h"
#include "ledger/accounts.h"
#include "tests/near.h"
#include "tests/rows.h"

#include "base/bits.h"

#include <inttypes.h>

static const struct job_row *row_of(const struct replica_result *result, uint32_t row)
{
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    for (uint64_t i = 0; i < result->jobs.count; i++)
        if (rows[i].trace_row == row) return &rows[i];
    fail_msg("job %u is not there", row);
    return NULL;
}

/* Two nodes of four. Job 0 holds 3 GPUs of node 0 for 100 s, job 1 two of node 1 and job 2 the last one of node 0 for 1000 s;
 * job 3 wants a whole node from 50 s on. From 100 s on 3 + 2 GPUs are free, in no shape. Without rounds it starts when one of
 * the long ones ends, at 1000 s; with a round every 200 s job 2 moves to node 1 at 200 s, and pays 10 s for it. */
static void four(struct fixture *fixture)
{
    fixture_init(fixture, 4);
    fixture_job(fixture, 0, 0, 100, 0, 3);
    fixture_job(fixture, 1, 0, 1000, 0, 2);
    fixture_job(fixture, 2, 0, 1000, 0, 1);
    fixture_job(fixture, 3, 50, 500, 0, 4);
    fixture_layout(fixture, "two", 2, 4);
}

static const struct {
    const char *name;
    struct job_moves moves;
    bool may_not_move;
    double third_start_s, moved_end_s; /* of job 3; of job 2 */
    uint64_t count;
} cases[] = {
    { "no rounds", { 0 }, false, 1000, 1000, 0 },
    { "a round every 200 s",
      { .every_ns = 200 * NS_PER_S, .cost_ns = 10 * NS_PER_S },
      false,
      200,
      1010,
      1 },
    { "a round every 600 s",
      { .every_ns = 600 * NS_PER_S, .cost_ns = 10 * NS_PER_S },
      false,
      600,
      1010,
      1 },
    { "for nothing", { .every_ns = 200 * NS_PER_S }, false, 200, 1000, 1 },
    { "the small one may not move, the other is moved",
      { .every_ns = 200 * NS_PER_S, .cost_ns = 10 * NS_PER_S },
      true,
      200,
      1000,
      1 },
    { "jobs of one GPU only, which may not",
      { .every_ns = 200 * NS_PER_S, .cost_ns = 10 * NS_PER_S, .gpus_most = 1 },
      true,
      1000,
      1000,
      0 },
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    struct fixture fixture;
    struct replica_result result;
    four(&fixture);
    fixture.jobs.words = ARENA_ARRAY(fixture.jobs.arena, struct job_words, 4);
    fixture.jobs.words[2].may_not_move = cases[c].may_not_move;
    fixture.scenario.moves = cases[c].moves;
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(row_of(&result, 3)->first_start_ns, ns_from_s(cases[c].third_start_s));
    assert_int_equal(row_of(&result, 2)->end_ns, ns_from_s(cases[c].moved_end_s));
    assert_int_equal(result.moves, cases[c].count);
    assert_true(result.closure_error == 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Nobody waits: a node is freed all the same, and then there is nothing left to do for the later rounds. */
static void whole_nodes_are_freed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, 4);
    for (uint32_t row = 0; row < 2;
         row++) { /* spread: one job of 1 GPU on each node, after the large ones end */
        fixture_job(&fixture, row, 0, 100, 0, 3);
        fixture_job(&fixture, 2 + row, 0, 1000, 0, 1);
    }
    fixture_layout(&fixture, "two", 2, 4);
    fixture.scenario.moves =
        (struct job_moves){ .every_ns = 150 * NS_PER_S, .cost_ns = 10 * NS_PER_S };
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.moves, 1);
    const int64_t ends = row_of(&result, 2)->end_ns + row_of(&result, 3)->end_ns;
    assert_int_equal(ends, 2010 * NS_PER_S);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two nodes: one is taken from 0 to 100 s, the other in part from 50 to 150 s, when the log ends: in 100 of 150 s one is whole. */
static void how_often_a_node_is_whole(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, 2);
    fixture_job(&fixture, 0, 0, 100, 0, 4);
    fixture_job(&fixture, 1, 50, 100, 0, 1);
    fixture_layout(&fixture, "two", 2, 4);
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    CHECK_NEAR(fixture_metric(&result, "whole_node_free_frac", CLASS_NONE, -1), 100.0 / 150, 1e-15);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Over random logs: every job still does all its work, one cost later for each of its moves; the books close; and rounds are
 * never told to do more than they may. */
static void work_is_kept(void **state)
{
    enum { JOBS = 300 };
    const uint64_t seed = rows_number(state);
    static const enum order orders[] = { ORDER_FCFS, ORDER_EASY, ORDER_EASY_EVENT,
                                         ORDER_CONSERVATIVE, ORDER_SJF };
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, JOBS);
    double at_s = 0;
    for (uint32_t row = 0; row < JOBS; row++) {
        const double duration_s = floor(any_scale(seed, 10 * row + 1, 10, 20000));
        at_s += floor(any_scale(seed, 10 * row, 1, 600));
        fixture_job(&fixture, row, at_s, duration_s,
                    duration_s * any_between(seed, 10 * row + 2, 1, 2),
                    any(seed, 10 * row + 3) < 0.8 ? any_count(seed, 10 * row + 4, 1, 4)
                                                  : any_count(seed, 10 * row + 4, 5, 24));
    }
    fixture_layout(&fixture, "eights", 6, 8);
    fixture.scenario.order = orders[seed % 5];
    fixture.scenario.moves = (struct job_moves){ .every_ns = 1800 * NS_PER_S,
                                                 .cost_ns = 37 * NS_PER_S,
                                                 .moves_most = 5 };
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_true(result.closure_error == 0);
    uint64_t moves = 0;
    const struct attempt_row *attempts = LOG_ITEMS(&result.attempts, struct attempt_row);
    for (uint32_t row = 0; row < JOBS; row++) {
        const struct job_row *const job = row_of(&result, row);
        if (job->end == END_REJECTED) continue;
        int64_t ran_ns = 0;
        for (uint64_t i = 0; i < result.attempts.count; i++)
            if (attempts[i].serial == job->serial)
                ran_ns += attempts[i].end_ns - attempts[i].start_ns;
        moves += job->attempts - 1;
        /* A job that is moved while it still pays for the last move pays for both in part. */
        const int64_t least_ns = fixture.jobs.duration_ns[row],
                      most_ns = least_ns + (job->attempts - 1) * 37 * NS_PER_S;
        assert_true(ran_ns >= least_ns && ran_ns <= most_ns);
        if (job->attempts == 1) assert_int_equal(ran_ns, least_ns);
        assert_int_equal(job->end_ns - job->first_start_ns, ran_ns); /* it never waits again */
    }
    assert_int_equal(result.moves, moves);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    static const struct CMUnitTest alone[] = { cmocka_unit_test(whole_nodes_are_freed),
                                               cmocka_unit_test(how_often_a_node_is_whole) };
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    for (uintptr_t seed = 1; seed <= 60; seed++)
        rows_add(&rows, work_is_kept, (void *)seed, "work is kept, seed %zu", (size_t)seed);
    return cmocka_run_group_tests_name("defragment", alone, NULL, NULL) +
           rows_run("defragment over cases and seeds", &rows);
}
