/* test_edges.c - what happens at limits: equal times, the end of a run, the largest numbers. Each
 * case is worked by hand; each was wrong once. */
#include "fixture.h"

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

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, loss_at_one_instant, (const void *)(uintptr_t)ORDER_FCFS,
             "loss at one instant, fcfs");
    rows_add(&rows, loss_at_one_instant, (const void *)(uintptr_t)ORDER_EASY,
             "loss at one instant, easy");
    rows_add(&rows, late_job_under_fine_bins, NULL, "a late job under fine bins");
    return rows_run("edges", &rows);
}
