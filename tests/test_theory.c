/* test_theory.c - the engine against queues with known answers (MODELS 10).
 *
 * Each row: twenty independent replicates of a long run after a warm-up, streams of the test's own.
 * The standard error of their mean must be at most half of the row's tolerance, and the mean within
 * three standard errors of the closed form. Numbers of shared rows stand beside the formula. */
#include "queue_runs.h"

#include "models/queueing.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { REPLICATES = 20 };

/* ---- mean and its standard error ----------------------------------------------------------------- */

struct sample {
    double x[REPLICATES];
};

static void within(const struct sample *sample, double want, double rtol, const char *what)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < REPLICATES; i++) mean += sample->x[i] / REPLICATES;
    for (int i = 0; i < REPLICATES; i++) squares += (sample->x[i] - mean) * (sample->x[i] - mean);
    const double error = sqrt(squares / (REPLICATES - 1) / REPLICATES);
    printf("%s: %.6g +- %.2g, theory %.6g: %+.2f standard errors\n", what, mean, error, want,
           (mean - want) / error);
    CHECK(error <= rtol / 2 * want, "%s: standard error %g is more than half of %g of %g", what,
          error, rtol, want);
    CHECK(fabs(mean - want) <= 3 * error, "%s: %g differs from %g by more than 3 x %g", what, mean,
          want, error);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

#define REPLICATE(queue, sample, field)                                                            \
    for (int r_ = 0; r_ < REPLICATES; r_++) (sample)->x[r_] = run_queue((queue), (uint64_t)r_).field

static void mm1(void **state)
{
    (void)state;
    const struct queue queue = { .servers = 1,
                                 .gpus_per_server = 1,
                                 .unit_s = 60,
                                 .warmup_h = 48,
                                 .horizon_h = 24 * 30,
                                 .service = { 1, 1 },
                                 .loads = { { 1, 0.8 } },
                                 .load_count = 1 };
    struct sample response, system;
    for (int r = 0; r < REPLICATES; r++) {
        const struct outcome outcome = run_queue(&queue, (uint64_t)r);
        response.x[r] = outcome.response;
        system.x[r] = outcome.system;
    }
    const struct queue_means theory = queue_mm1(0.8, 1);
    CHECK_NEAR(theory.response_s, 5.0, 1e-12);
    CHECK_NEAR(theory.system_length, 4.0, 1e-12);
    within(&response, theory.response_s, 0.03, "M/M/1 W");
    within(&system, theory.system_length, 0.03, "M/M/1 L");
}

static void mmc(void **state)
{
    (void)state;
    const struct queue queue = { .servers = 192,
                                 .gpus_per_server = 1,
                                 .unit_s = 36,
                                 .warmup_h = 1,
                                 .horizon_h = 46,
                                 .service = { 1, 1 },
                                 .loads = { { 1, 180 } },
                                 .load_count = 1 };
    struct sample wait;
    REPLICATE(&queue, &wait, wait);
    const struct queue_means theory = queue_mmc(180, 1, 192);
    CHECK_NEAR(theory.wait_s, 0.023234702149695887, 1e-9);
    within(&wait, theory.wait_s, 0.05, "M/M/192 Wq");
}

static void mg1(void **state)
{
    (void)state;
    const struct queue queue = { .servers = 1,
                                 .gpus_per_server = 1,
                                 .unit_s = 60,
                                 .warmup_h = 48,
                                 .horizon_h = 24 * 40,
                                 .service = { 1, 3 },
                                 .loads = { { 1, 0.5 } },
                                 .load_count = 1 };
    struct sample response;
    REPLICATE(&queue, &response, response);
    const struct queue_means theory = queue_mg1(0.5, 1, 3);
    CHECK_NEAR(theory.response_s, 3.0, 1e-12);
    within(&response, theory.response_s, 0.05, "M/G/1 W, lognormal");
}

static void mginf(void **state)
{
    (void)state;
    const struct queue queue = { .servers = 128,
                                 .gpus_per_server = 4,
                                 .unit_s = 1,
                                 .warmup_h = 72,
                                 .horizon_h = 24 * 16,
                                 .service = { 3600, 1.5 },
                                 .loads = { { 4, 0.01 } },
                                 .load_count = 1 };
    struct sample busy;
    REPLICATE(&queue, &busy, busy);
    within(&busy, 0.01 * 3600 * 4, 0.02, "M/G/inf busy GPUs"); /* 144 of 512: nobody ever waits */
}

static void loss(void **state)
{
    (void)state;
    const struct queue queue = { .servers = 192,
                                 .gpus_per_server = 1,
                                 .unit_s = 36,
                                 .warmup_h = 1,
                                 .horizon_h = 9,
                                 .service = { 1, 1 },
                                 .loads = { { 1, 40 }, { 2, 20 }, { 4, 10 }, { 8, 8 } },
                                 .load_count = 4,
                                 .loss = true };
    struct sample refused_1, refused_8, busy;
    for (int r = 0; r < REPLICATES; r++) {
        const struct outcome outcome = run_queue(&queue, (uint64_t)r);
        refused_1.x[r] = outcome.refused[0];
        refused_8.x[r] = outcome.refused[3];
        busy.x[r] = outcome.busy;
    }
    const struct loss_class classes[] = { { 1, 40 }, { 2, 20 }, { 4, 10 }, { 8, 8 } };
    double occupancy[193], theory[4];
    const double theory_busy = kaufman_roberts(192, classes, 4, occupancy, theory);
    CHECK_NEAR(theory[0], 0.020871666566144333, 1e-9);
    CHECK_NEAR(theory[3], 0.17330613700912265, 1e-9);
    CHECK_NEAR(theory_busy, 166.99173998494288, 1e-9);
    within(&refused_1, theory[0], 0.05, "loss of 1-GPU jobs");
    within(&refused_8, theory[3], 0.05, "loss of 8-GPU jobs");
    within(&busy, theory_busy, 0.05, "busy GPUs with loss");
}

/* ---- Little's law, exactly ----------------------------------------------------------------------- */

static int128 waiting_ns;
static uint64_t last_waiting;

static void little_probe(const struct run *run)
{
    waiting_ns += (int128)last_waiting * (run->now_ns - last_ns);
    jobs_ns += (int128)last_jobs * (run->now_ns - last_ns);
    last_ns = run->now_ns;
    last_waiting = run->waiting.jobs;
    last_jobs = run->live.in_use;
}

/* A run that starts and ends empty: the integral of the queue is the sum of the waits, that of the
 * system the sum of the responses, that of the held GPUs the sum of GPUs times run. */
static void little(void **state)
{
    const uint64_t seed = rows_number(state);
    const uint32_t jobs = 3000;
    struct fixture fixture;
    fixture_init(&fixture, jobs);
    fixture.scenario.order = seed % 2 ? ORDER_EASY : ORDER_FCFS;
    fixture_layout(&fixture, "little", 12, 4);
    double at_s = 0;
    for (uint32_t row = 0; row < jobs; row++) {
        fixture_job(&fixture, row, at_s, inv_exponential(any(seed, 3 * row), 1000), 0,
                    any_count(seed, 3 * row + 1, 1, any(seed, row) < 0.8 ? 4 : 16));
        at_s += inv_exponential(any(seed, 3 * row + 2), 110);
    }
    fixture_ready(&fixture);
    struct replica_result result;
    last_ns = 0;
    last_jobs = last_waiting = 0;
    jobs_ns = waiting_ns = 0;
    run_probe = little_probe;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    run_probe = NULL;
    int128 waits = 0, responses = 0, held = 0, used = 0;
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        const uint32_t whole = rows[i].gpus > 4 ? (rows[i].gpus + 3) / 4 * 4 : rows[i].gpus;
        waits += rows[i].first_start_ns - rows[i].submit_ns;
        responses += rows[i].end_ns - rows[i].submit_ns;
        used += (int128)whole * (rows[i].end_ns - rows[i].first_start_ns);
    }
    for (int account = 0; account < ACC_HELD_END; account++)
        for (int class = 0; class < CLASSES; class ++) held += result.ledger_all[account][class];
    assert_int_equal(result.jobs.count, jobs);
    assert_true(waits > 0 && waiting_ns == waits);
    assert_true(jobs_ns == responses);
    assert_true(held == used * UNITS_PER_GPU);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, mm1, NULL, "M/M/1: W and L");
    rows_add(&rows, mmc, NULL, "M/M/192, 180 Erlang: Wq");
    rows_add(&rows, mg1, NULL, "M/G/1, lognormal service: W");
    rows_add(&rows, mginf, NULL, "M/G/inf: busy GPUs");
    rows_add(&rows, loss, NULL, "loss of four sizes on 192 GPUs: Kaufman and Roberts");
    for (uintptr_t seed = 1; seed <= 20; seed++)
        rows_add(&rows, little, (void *)seed, "Little's law to the nanosecond, seed %u",
                 (unsigned)seed);
    return rows_run("theory", &rows);
}
