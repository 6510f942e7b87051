/* test_model_statistics.c - models/statistics: textbook values, GSL as judge, properties over seeds. */
#include "models/statistics.h"

#include "tests/near.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

enum { COUNT_MAX = 400 };

static size_t any_sorted(uint64_t seed, double *values)
{
    const size_t count = any_count(seed, 0, 1, COUNT_MAX);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = sum += any(seed, 1 + i) < 0.2 ? 0 : any(seed, 1000 + i);
    return count;
}

static void quantiles_match_gsl(void **state)
{
    (void)state;
    double values[COUNT_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const size_t count = any_sorted(seed, values);
        const double q = seed % 10 ? any(seed, 9999) : seed % 20 / 10.0;
        CHECK_NEAR(quantile7(values, count, q),
                   gsl_stats_quantile_from_sorted_data(values, 1, count, q), 1e-13);
    }
}

/* Freireich et al. 1963, remission of leukaemia under 6-MP: S is .857 .807 .753 .690 .627 .538 .448 at 6 7 10 13 16 22 23. */
static void leukaemia(void **state)
{
    (void)state;
    static const double weeks[] = { 6,  6,  6,  6,  7,  9,  10, 10, 11, 13, 16,
                                    17, 19, 20, 22, 23, 25, 32, 32, 34, 35 };
    static const bool censored[] = {
        0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1
    };
    static const struct {
        double survival, week;
    } known[] = { { .858, 6 },  { .856, 7 },  { .806, 10 }, { .752, 13 },
                  { .689, 16 }, { .626, 22 }, { .537, 23 }, { .449, 23 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(kaplan_meier_quantile(weeks, censored, 21, 1 - known[i].survival) ==
                    known[i].week);
    assert_true(kaplan_meier_quantile(weeks, censored, 21, 1 - .447) == INFINITY);
}

/* 1 2 3+ 4+ 5 6 7+ 8, + is censored: S = 7/8, 6/8, then 3/4 and 2/3 of that at 5 and 6, so 0.5625 and 0.375: the
 * median is 6. Of the five that were seen it is 5; taken as if they had ended, 4. Both are too short. */
static void censored_median_by_hand(void **state)
{
    (void)state;
    const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, seen[] = { 1, 2, 5, 6, 8 };
    const bool censored[] = { false, false, true, true, false, false, true, false };
    assert_true(kaplan_meier_quantile(values, censored, 8, 0.5) == 6);
    assert_true(kaplan_meier_quantile(seen, NULL, 5, 0.5) == 5);
    assert_true(kaplan_meier_quantile(values, NULL, 8, 0.5) == 4);
    assert_true(kaplan_meier_quantile(values, censored, 8, 0.25) == 2); /* before any is censored */
    assert_true(kaplan_meier_quantile(values, censored, 8, 0.9) == 8);
}

/* Nothing censored: the order statistic ceil(n q). Censoring never lowers a quantile. Weights count as repeats. */
static void kaplan_meier_properties(void **state)
{
    (void)state;
    double values[COUNT_MAX], repeated[3 * COUNT_MAX], weight[COUNT_MAX];
    bool censored[COUNT_MAX], censored_repeated[3 * COUNT_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const size_t count = any_sorted(seed, values);
        const double q = any(seed, 9999);
        size_t rank = (size_t)ceil((double)count * q - 1e-9);
        if (rank == 0) rank = 1;
        assert_true(kaplan_meier_quantile(values, NULL, count, q) == values[rank - 1]);

        size_t all = 0;
        for (size_t i = 0; i < count; i++) {
            censored[i] = any(seed, 20000 + i) < 0.4;
            weight[i] = any_count(seed, 30000 + i, 1, 3);
            for (uint32_t k = 0; k < weight[i]; k++, all++) {
                repeated[all] = values[i];
                censored_repeated[all] = censored[i];
            }
        }
        assert_true(kaplan_meier_quantile(values, censored, count, q) >= values[rank - 1]);
        assert_true(kaplan_meier_quantile_weighted(values, censored, weight, count, q) ==
                    kaplan_meier_quantile(repeated, censored_repeated, all, q));
    }
    assert_true(kaplan_meier_quantile(values, NULL, 0, 0.5) == INFINITY);
    /* The longest is censored: the maximum is not known. */
    assert_true(kaplan_meier_quantile((double[]){ 1, 2 }, (bool[]){ false, true }, 2, 1) ==
                INFINITY);
    assert_true(kaplan_meier_quantile((double[]){ 1, 2 }, (bool[]){ false, true }, 2, 0.5) == 1);
}

/* Coverage by the definition: P(Bin <= low - 1) <= a/2 and not one rank higher; likewise above. */
static void ranks_by_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        const uint32_t n = any_count(seed, 0, 1, 2000);
        const double q = any_between(seed, 1, 0.01, 0.99), conf = any_between(seed, 2, 0.5, 0.999);
        const double tail = (1 - conf) / 2;
        const struct rank_interval ranks = quantile_ranks(n, q, conf);
        CHECK(ranks.low == 0 || gsl_cdf_binomial_P(ranks.low - 1, q, n) <= tail * (1 + 1e-9),
              "seed %lu", seed);
        CHECK(gsl_cdf_binomial_P(ranks.low, q, n) > tail * (1 - 1e-9), "seed %lu: low", seed);
        CHECK(gsl_cdf_binomial_P(ranks.high - 1, q, n) >= (1 - tail) * (1 - 1e-12),
              "seed %lu: high", seed);
        CHECK(ranks.high < 2 || gsl_cdf_binomial_P(ranks.high - 2, q, n) < 1 - tail * (1 - 1e-9),
              "seed %lu", seed);
    }
}

static void step_functions(void **state)
{
    (void)state;
    /* 2 until 10, 5 until 14, 0 after: 2 * 7 + 5 * 4 = 34 over 3 .. 20 */
    const double at[] = { 0, 10, 14 }, value[] = { 2, 5, 0 };
    CHECK_NEAR(step_integral(at, value, 3, 3, 20), 34, 1e-15);
    CHECK_NEAR(time_mean(at, value, 3, 3, 20), 2, 1e-15);
    assert_true(step_integral(at, value, 3, 5, 5) == 0);
    /* Cutting the span anywhere changes nothing. */
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const double cut = any_between(seed, 0, 3, 20);
        CHECK_NEAR(step_integral(at, value, 3, 3, cut) + step_integral(at, value, 3, cut, 20), 34,
                   1e-14);
    }
}

static void warm_up_is_found(void **state)
{
    (void)state;
    /* Noise of 1 around 0 after 100 observations that fall from 20: 80 to 120 are dropped. */
    double x[1000];
    for (size_t i = 0; i < 1000; i++)
        x[i] = any(4, i) - 0.5 + (i < 100 ? 20.0 * (double)(100 - i) / 100 : 0);
    const size_t drop = mser5(x, 1000);
    CHECK(drop >= 80 && drop <= 120, "drops %zu", drop);
    assert_true(mser5(x, 9) == 0);
    for (size_t i = 0; i < 1000; i++) x[i] = 1;
    assert_true(mser5(x, 1000) == 0);
}

static void job_and_gpu_shares(void **state)
{
    (void)state;
    assert_true(bounded_slowdown(0, 0, 10) == 1);
    CHECK_NEAR(bounded_slowdown(95, 5, 10), 10, 1e-15);
    const struct gpu_shares shares = gpu_shares(&(struct gpu_states){ .capacity = 10, .idle = 10 });
    assert_true(shares.allocated == 0 && shares.job_efficiency == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_match_gsl),     cmocka_unit_test(leukaemia),
        cmocka_unit_test(censored_median_by_hand), cmocka_unit_test(kaplan_meier_properties),
        cmocka_unit_test(ranks_by_definition),     cmocka_unit_test(step_functions),
        cmocka_unit_test(warm_up_is_found),        cmocka_unit_test(job_and_gpu_shares),
    };
    return cmocka_run_group_tests_name("model statistics", tests, NULL, NULL);
}
