/* test_coverage.c - intervals hold the truth as often as they say.
 *
 * Four hundred experiments of ten replicas each by the real engine, against closed forms: a 95 % interval
 * must hold the truth in 93 to 97 % of them (its own spread is 1.1 %). And brackets of several layouts and
 * metrics jointly. Replicas that start empty are biased by less than a tenth of their interval. */
#include "failure_runs.h"
#include "queue_runs.h"

#include "models/queueing.h"
#include "report/statistics.h"
#include "tests/near.h"
#include "tests/rows.h"

/* With the sanitizers, ten times slower, only few: that the runs are clean. */
#ifdef __SANITIZE_ADDRESS__
enum { EXPERIMENTS = 20, EXACT = 0 };
#else
enum { EXPERIMENTS = 400, EXACT = 1 };
#endif
enum { REPLICAS = 10, QUANTITIES = 2 };

struct cover {
    unsigned held[QUANTITIES];
};

static void count_cover(struct cover *cover, double x[QUANTITIES][REPLICAS], const double *truth)
{
    for (int q = 0; q < QUANTITIES; q++) {
        const struct interval interval = t_ci(x[q], REPLICAS, 0.95);
        cover->held[q] += fabs(interval.mean - truth[q]) <= interval.half;
    }
}

static void judge(const struct cover *cover, const char *const *names)
{
    for (int q = 0; q < QUANTITIES; q++) {
        const double share = (double)cover->held[q] / EXPERIMENTS;
        printf("%s: %.2f %% of %d intervals at 95 %%\n", names[q], 100 * share, EXPERIMENTS);
        CHECK(!EXACT || (share >= 0.93 && share <= 0.97), "%s: %.4f", names[q], share);
    }
}

/* M/M/4 at 60 %: it forgets its start in some 5 services; 100 are warm-up, 600 are counted. */
static void queue_is_covered(void **state)
{
    (void)state;
    const struct queue queue = { .servers = 4,
                                 .gpus_per_server = 1,
                                 .unit_s = 3600,
                                 .warmup_h = 100,
                                 .horizon_h = 700,
                                 .service = { 1, 1 },
                                 .loads = { { 1, 2.4 } },
                                 .load_count = 1 };
    const double truth[QUANTITIES] = { queue_mmc(2.4, 1, 4).wait_s, 2.4 };
    static const char *const names[] = { "M/M/4 mean wait", "M/M/4 busy servers" };
    struct cover cover = { { 0 } };
    for (uint64_t e = 0; e < EXPERIMENTS; e++) {
        double x[QUANTITIES][REPLICAS];
        for (uint64_t r = 0; r < REPLICAS; r++) {
            const struct outcome outcome = run_queue(&queue, e * REPLICAS + r);
            x[0][r] = outcome.wait;
            x[1][r] = outcome.busy;
        }
        count_cover(&cover, x, truth);
    }
    judge(&cover, names);
}

/* Half a year of fifty servers of four. A part fails at a rate while it is up, so it starts a fault every 1/rate + repair. */
static void failures_are_covered(void **state)
{
    (void)state;
    const struct down_layout layout = { 50, 4, 1e-3, 2e-3, 5, 10, 4000 };
    const double gpu_faults = 200 * layout.hours / (1 / layout.gpu_rate + layout.gpu_repair_h),
                 server_faults =
                     50 * layout.hours / (1 / layout.server_rate + layout.server_repair_h);
    const double truth[QUANTITIES] = { 200 * down_share(&layout), gpu_faults + server_faults };
    static const char *const names[] = { "GPUs out", "faults in 4000 hours" };
    struct cover cover = { { 0 } };
    for (uint64_t e = 0; e < EXPERIMENTS; e++) {
        double x[QUANTITIES][REPLICAS];
        for (uint64_t r = 0; r < REPLICAS; r++) {
            const struct down_outcome outcome = run_down(&layout, e * REPLICAS + r + 1);
            x[0][r] = outcome.mean;
            x[1][r] = outcome.faults;
        }
        count_cover(&cover, x, truth);
    }
    judge(&cover, names);
}

/* Three layouts and two metrics: four differences to the baseline, each bracket at 1 - 0.05/4. Layouts share a part of
 * their luck, metrics of a layout too; the true differences are known. */
static void brackets_hold_jointly(void **state)
{
    (void)state;
    enum { SEEDS = 2000, LAYOUTS = 3, METRICS = 2, PAIRS = 20 };
    const uint32_t statements = (LAYOUTS - 1) * METRICS;
    const double conf = joint_confidence(0.95, statements);
    CHECK_NEAR(conf, 0.9875, 1e-15);
    unsigned all_hold = 0, all_hold_unadjusted = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const uint64_t key = stream_key(seed, 0, "test.coverage");
        double x[LAYOUTS][METRICS][PAIRS];
        for (uint64_t r = 0; r < PAIRS; r++) {
            const double shared = exact_normal_quantile(stream_uniform(key, r, 0));
            for (int l = 0; l < LAYOUTS; l++) {
                const double own = exact_normal_quantile(stream_uniform(key, r, 1 + (uint64_t)l));
                for (int m = 0; m < METRICS; m++) {
                    const uint64_t draw = 10 + (uint64_t)(l * METRICS + m);
                    x[l][m][r] = l + 10 * m + shared + 0.5 * own +
                                 0.5 * exact_normal_quantile(stream_uniform(key, r, draw));
                }
            }
        }
        bool hold = true, hold_unadjusted = true;
        for (int l = 1; l < LAYOUTS; l++)
            for (int m = 0; m < METRICS; m++) {
                const struct interval wide = paired_ci(x[l][m], x[0][m], PAIRS, conf).difference;
                const struct interval plain = paired_ci(x[l][m], x[0][m], PAIRS, 0.95).difference;
                hold &= fabs(wide.mean - l) <= wide.half;
                hold_unadjusted &= fabs(plain.mean - l) <= plain.half;
            }
        all_hold += hold;
        all_hold_unadjusted += hold_unadjusted;
    }
    const double joint = (double)all_hold / SEEDS, plain = (double)all_hold_unadjusted / SEEDS;
    printf("3 layouts x 2 metrics: all four hold in %.2f %%, without adjustment in %.2f %%\n",
           100 * joint, 100 * plain);
    CHECK(joint >= 0.93, "joint coverage %.4f", joint);
    CHECK(plain < 0.93, "it needs no adjustment: %.4f", plain);
}

/* The ranks that bound a quantile of pooled values: at least as sure as they say, and not much surer. */
static void quantiles_are_covered(void **state)
{
    const bool tail = rows_number(state) == 95;
    const double q = tail ? 0.95 : 0.5, truth = -log1p(-q);
    enum { SEEDS = 4000, VALUES = 150 };
    const struct rank_interval ranks = quantile_ranks(VALUES, q, 0.95);
    assert_true(ranks.low >= 1 && ranks.high <= VALUES);
    unsigned held = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const uint64_t key = stream_key(seed, 1, "test.coverage");
        uint32_t below =
            0; /* values below the truth: x_(low) <= truth <= x_(high) by their ranks */
        for (uint64_t i = 0; i < VALUES; i++)
            below += inv_exponential(stream_uniform(key, i, 0), 1) < truth;
        held += below >= ranks.low && below < ranks.high;
    }
    const double share = (double)held / SEEDS;
    printf("quantile %g of %d values between ranks %u and %u: %.2f %%\n", q, VALUES, ranks.low,
           ranks.high, 100 * share);
    CHECK(share >= 0.945 && share <= 0.98, "%.4f", share);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, queue_is_covered, NULL, "a queue: mean wait and busy servers");
    rows_add(&rows, failures_are_covered, NULL, "failures: GPUs out and faults");
    rows_add(&rows, brackets_hold_jointly, NULL, "differences of 3 layouts and 2 metrics, jointly");
    rows_add(&rows, quantiles_are_covered, (void *)(uintptr_t)50,
             "order statistics around a median");
    rows_add(&rows, quantiles_are_covered, (void *)(uintptr_t)95, "order statistics around a p95");
    return rows_run("coverage", &rows);
}
