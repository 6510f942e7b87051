/* test_policy_order.c - what a better policy must not do: score worse (C127), forget a walltime (C121, C123).
 *
 * C127: on logs at a fixed load the mean wait under EASY, conservative and sjf is at most that under
 * FCFS, and the mean completion time under srtf and las too; a plain comparison that has caught wrong
 * policies in other simulators. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { JOBS = 2000, SEEDS = 6 };

/* Sizes, run times and estimates as in bench_jobs; load 0.85 on one-GPU or eight-GPU nodes. */
static double metric_under(enum order order, uint64_t seed, const char *metric)
{
    const uint32_t g = seed % 2 ? 1 : 8, nodes = 128 / g;
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    fixture.scenario.order = order;
    fixture.scenario.shape = g == 1 ? SHAPE_FREE : SHAPE_MODEL;
    fixture_layout(&fixture, "log", nodes, g);
    double gpu_s = 0, submit_s = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        const uint64_t draw = 10 * j;
        const uint32_t gpus = any(seed, draw) < 0.4 ? 1 : 1u << any_count(seed, draw + 1, 1, 6);
        const double run_s = any_scale(seed, draw + 2, 30, 40000);
        fixture_job(&fixture, j, 0, run_s, run_s * any_between(seed, draw + 3, 1, 4), gpus);
        gpu_s += gpus * run_s;
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        fixture.jobs.submit_ns[j] = ns_from_s(submit_s);
        submit_s += -log(any(seed, 10 * j + 4)) * gpu_s / JOBS / (0.85 * 128);
    }
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double value = fixture_metric(&result, metric, CLASS_NONE, -1);
    assert_true(value >= 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
    return value;
}

static void better_is_not_worse(void **state)
{
    const uint64_t seed = rows_number(state);
    const double wait = metric_under(ORDER_FCFS, seed, "wait_s_mean");
    static const enum order backfill[] = { ORDER_EASY, ORDER_EASY_EVENT, ORDER_CONSERVATIVE,
                                           ORDER_SJF };
    for (size_t i = 0; i < sizeof backfill / sizeof *backfill; i++) {
        const double is = metric_under(backfill[i], seed, "wait_s_mean");
        CHECK(is <= wait, "%s: mean wait %g s, fcfs %g s", order_names[backfill[i]], is, wait);
    }
    const double completion = metric_under(ORDER_FCFS, seed, "completion_s_mean");
    static const enum order preemptive[] = { ORDER_SRTF, ORDER_LAS };
    for (size_t i = 0; i < sizeof preemptive / sizeof *preemptive; i++) {
        const double is = metric_under(preemptive[i], seed, "completion_s_mean");
        CHECK(is <= completion, "%s: mean completion %g s, fcfs %g s", order_names[preemptive[i]],
              is, completion);
    }
}

/* Runs jobs of 10 s, all submitted at 0, on 4 one-GPU nodes; returns the last end in s. */
static double last_end_s(enum order order, const uint32_t *gpus, uint32_t count)
{
    struct fixture fixture;
    fixture_init(&fixture, count);
    fixture.scenario.order = order;
    fixture.scenario.shape = SHAPE_FREE;
    fixture_layout(&fixture, "waves", 4, 1);
    for (uint32_t j = 0; j < count; j++) fixture_job(&fixture, j, 0, 10, 10, gpus[j]);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    int64_t last_ns = 0;
    for (uint64_t i = 0; i < result.jobs.count; i++)
        if (rows[i].end_ns > last_ns) last_ns = rows[i].end_ns;
    replica_result_clear(&result);
    fixture_clear(&fixture);
    return s_from_ns(last_ns);
}

/* C121 in kind: 17 jobs with walltimes, 28 GPUs in sum, fill 4 GPUs in 7 waves under EASY:
 * 3+1, 3+1, 2+2, 2+2, 4, 1+1+1+1, 1+1+1+1. In strict order the two ones that pass stay behind: 8 waves. */
static void seventeen_jobs_in_seven_waves(void **state)
{
    (void)state;
    static const uint32_t gpus[17] = { 3, 3, 2, 2, 2, 2, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    assert_true(last_end_s(ORDER_EASY, gpus, 17) == 70);
    assert_true(last_end_s(ORDER_CONSERVATIVE, gpus, 17) == 70);
    assert_true(last_end_s(ORDER_FCFS, gpus, 17) == 80);
}

/* C123: a job without a walltime is not one of 0 s. 2 GPUs, estimates 1.5 times the run time: job 0
 * (1 GPU, 100 s, believed 150) runs, job 1 wants both, job 2 (1 GPU, 120 s, believed 180) would delay it,
 * job 3 (1 GPU, 90 s, believed 135) would not. Reservations for none, the head, all: fcfs, easy,
 * conservative. When job 0 ends at 100 job 3 has run from 0 to 90. */
static void no_walltime_is_not_zero(void **state)
{
    (void)state;
    static const struct {
        enum order order;
        double start_s[4];
    } want[] = {
        { ORDER_FCFS, { 0, 100, 110, 110 } },
        { ORDER_EASY, { 0, 100, 110, 0 } },
        { ORDER_CONSERVATIVE, { 0, 100, 110, 0 } },
    };
    for (size_t w = 0; w < sizeof want / sizeof *want; w++) {
        struct fixture fixture;
        fixture_init(&fixture, 4);
        fixture.scenario.order = want[w].order;
        fixture.scenario.shape = SHAPE_FREE;
        fixture.scenario.limit_factor = 1.5;
        fixture_layout(&fixture, "two", 2, 1);
        fixture_job(&fixture, 0, 0, 100, 0, 1);
        fixture_job(&fixture, 1, 0, 10, 0, 2);
        fixture_job(&fixture, 2, 0, 120, 0, 1);
        fixture_job(&fixture, 3, 0, 90, 0, 1);
        fixture_ready(&fixture);
        struct replica_result result;
        assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
        const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
        for (uint64_t i = 0; i < result.jobs.count; i++) {
            const double is_s = s_from_ns(rows[i].first_start_ns);
            CHECK(is_s == want[w].start_s[rows[i].trace_row], "%s, job %u: start %g s",
                  order_names[want[w].order], rows[i].trace_row, is_s);
        }
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
}

/* What an order does not know is refused with the order's name, not run in some other way. */
static void refused(void **state)
{
    (void)state;
    static const struct {
        enum order order;
        enum placement placement;
        bool loss;
        uint32_t gpus;
        bool refused;
    } cases[] = {
        { ORDER_CONSERVATIVE, PLACE_FGD, false, 1, true },
        { ORDER_SRTF, PLACE_BEST_FIT, false, 1, true },
        { ORDER_SJF, PLACE_FGD, false, 1, false },
        { ORDER_LAS, PLACE_PACK, true, 1, true },
        { ORDER_CONSERVATIVE, PLACE_PACK, true, 1, false },
        { ORDER_LAS, PLACE_SPREAD, false, 0, true }, /* cores alone */
        { ORDER_EASY, PLACE_SPREAD, false, 0, false },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fixture fixture;
        fixture_init(&fixture, 1);
        fixture.scenario.order = cases[c].order;
        fixture.scenario.placement = cases[c].placement;
        fixture.scenario.loss = cases[c].loss;
        fixture_layout(&fixture, "two", 2, 8);
        fixture_job(&fixture, 0, 0, 10, 0, cases[c].gpus);
        const enum status status = plan_build(&fixture.scenario, &fixture.jobs, &fixture.import,
                                              NULL, 0, 1, &fixture.plan, fixture.diag);
        CHECK((status != STATUS_OK) == cases[c].refused, "case %zu, %s: status %d", c,
              order_names[cases[c].order], (int)status);
        fixture_clear(&fixture);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, seventeen_jobs_in_seven_waves, NULL, "17 jobs in 7 waves (C121)");
    rows_add(&rows, no_walltime_is_not_zero, NULL, "no walltime is not a walltime of 0 (C123)");
    rows_add(&rows, refused, NULL, "what an order does not know is refused");
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, better_is_not_worse, (void *)seed, "better is not worse (C127), log %u",
                 (unsigned)seed);
    return rows_run("policy_order", &rows);
}
