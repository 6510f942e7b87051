/* test_failure.c - models/failure and models/binomial: laws against draws, tails against GSL, limits. */
#include "models/failure.h"

#include "base/exactmath.h"
#include "models/binomial.h"
#include "tests/near.h"

#include <gsl/gsl_cdf.h>

/* The mean of 200,000 inverse-CDF draws lies within 5 standard errors of the formula's. */
static void laws_match_their_draws(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    const struct lognormal law = lognormal_from_median_p95(4, 24);
    const double scale = weibull_scale_from_mean_s(0.7, 50);
    double weibull = 0, weibull_squares = 0, lognormal = 0, lognormal_squares = 0;
    uint32_t above_p95 = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double u = stream_uniform(8, 0, i);
        const double x = inv_weibull(u, 0.7, scale), y = inv_lognormal(u, law.mu, law.sigma);
        weibull += x;
        weibull_squares += x * x;
        lognormal += y;
        lognormal_squares += y * y;
        above_p95 += y > 24;
    }
    const double mean_x = weibull / DRAWS, mean_y = lognormal / DRAWS;
    const double variance_x = weibull_squares / DRAWS - mean_x * mean_x;
    CHECK(fabs(mean_x - 50) < 5 * sqrt(variance_x / DRAWS), "Weibull mean %g", mean_x);
    CHECK(fabs(variance_x / (50 * 50) / weibull_cv2(0.7) - 1) < 0.05, "Weibull cv2");
    CHECK(fabs(mean_y - lognormal_mean_s(law)) <
              5 * sqrt((lognormal_squares / DRAWS - mean_y * mean_y) / DRAWS),
          "lognormal mean %g, want %g", mean_y, lognormal_mean_s(law));
    CHECK(fabs(above_p95 / (0.05 * DRAWS) - 1) < 0.05, "share above p95");
}

static void laws_invert(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        const double shape = any_between(seed, 0, 0.4, 5), mean = any_scale(seed, 1, 1, 1e9);
        CHECK_NEAR(weibull_mean_s(shape, weibull_scale_from_mean_s(shape, mean)), mean, 1e-13);
        const double cv = any_scale(seed, 2, 0.01, 5);
        const struct lognormal law = lognormal_from_mean_cv(mean, cv);
        CHECK_NEAR(lognormal_mean_s(law), mean, 1e-12);
    }
    /* Half of the repairs take longer than the median, whatever p95 says. */
    CHECK_NEAR(inv_lognormal(0.5, lognormal_from_median_p95(8, 96).mu, 1), 8, 1e-14);
    const struct lognormal law = lognormal_from_median_p95(8, 96);
    CHECK_NEAR(inv_lognormal(0.95, law.mu, law.sigma), 96, 1e-13);
    CHECK_NEAR(weibull_min_scale_s(1, 100, 10), 10, 1e-14);
}

static void binomial_tails(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const uint32_t n = any_count(seed, 0, 1, 5000);
        const double p = seed % 5 ? any(seed, 1) : any_scale(seed, 1, 1e-6, 1);
        /* where the tail is not astronomically small */
        const double middle = n * p, spread = 6 * sqrt(n * p * (1 - p)) + 3;
        const double at = middle + any_between(seed, 2, -1, 1) * spread;
        const uint32_t m = at < 1 ? 1 : at > n ? n : (uint32_t)at;
        CHECK_NEAR(binomial_at_least(n, p, m), gsl_cdf_binomial_Q(m - 1, p, n), 1e-9);
        CHECK_NEAR(binomial_at_most(n, p, m), gsl_cdf_binomial_P(m, p, n), 1e-9);
        const double q = any(seed, 3);
        const uint32_t k = binomial_quantile(n, p, q);
        CHECK(binomial_at_most(n, p, k) >= q, "seed %lu: quantile too low", seed);
        CHECK(k == 0 || binomial_at_most(n, p, k - 1) < q, "seed %lu: quantile too high", seed);
    }
    assert_true(binomial_at_least(5, 0, 1) == 0 && binomial_at_least(5, 1, 5) == 1);
    assert_true(binomial_at_most(5, 0, 0) == 1 && binomial_at_most(5, 1, 4) == 0);
    assert_true(binomial_at_least(5, 0.5, 6) == 0 && binomial_at_least(5, 0.5, 0) == 1);
    /* A million units at 98 %: (1 - p)^n has long underflowed. */
    CHECK_NEAR(binomial_at_least(1000000, 0.98, 980000), 0.5015, 1e-3);
}

/* A job on more servers fails more often; with drain every GPU of its servers counts. */
static void jobs_by_hand(void **state)
{
    (void)state;
    struct job_hazard job = {
        .gpus = 12,
        .gpus_per_server = 8,
        .servers_per_leaf = 1,
        .gpu_rate_per_s = 1e-6,
        .server_rate_per_s = 1e-5,
        .leaf_rate_per_s = 1e-4,
    };
    CHECK_NEAR(job_failure_rate_per_s(&job), 12e-6 + 2e-5 + 2e-4, 1e-14);
    job.drain = true;
    CHECK_NEAR(job_failure_rate_per_s(&job), 16e-6 + 2e-5 + 2e-4, 1e-14);
    job.servers_per_leaf = 2;
    CHECK_NEAR(job_failure_rate_per_s(&job), 16e-6 + 2e-5 + 1e-4, 1e-14);
}

/* With a crew for each unit the machine-repair chain is binomial. */
static void many_crews_are_binomial(void **state)
{
    (void)state;
    const struct repairman chain = repairman(30, 30, 1000, 50, 27);
    const double up = 1000.0 / 1050.0;
    CHECK_NEAR(chain.down_mean, 30 * (1 - up), 1e-12);
    CHECK_NEAR(chain.up_at_least, binomial_at_least(30, up, 27), 1e-12);
    /* One crew and hopeless load: everything is down but what the crew just returned; nothing overflows. */
    CHECK(repairman(100000, 1, 1, 1e6, 1).down_mean > 99999, "one crew keeps up");
    CHECK_NEAR(availability((double[]){ 1e-3, 1e-3 }, (double[]){ 50, 50 }, 2), 1 / 1.1, 1e-14);
}

static void clocks(void **state)
{
    (void)state;
    const double since[] = { 0, 10, 20 }, speed[] = { 1, 0, 2 };
    CHECK_NEAR(hazard_time_s(since, speed, 3, 0.1, 0.5), 5, 1e-14);
    CHECK_NEAR(hazard_time_s(since, speed, 3, 0.1, 1.0), 10, 1e-14);
    CHECK_NEAR(hazard_time_s(since, speed, 3, 0.1, 1.2), 21, 1e-14); /* stood still from 10 to 20 */
    assert_true(hazard_time_s(since, speed, 3, 0, 1) == INFINITY);
    CHECK_NEAR(flap_up_frac(3, 1, 1), 0.125, 1e-14);
    CHECK_NEAR(infant_failures(0.1, 0, 5, 30), 3, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_match_their_draws),  cmocka_unit_test(laws_invert),
        cmocka_unit_test(binomial_tails),          cmocka_unit_test(jobs_by_hand),
        cmocka_unit_test(many_crews_are_binomial), cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests_name("failure", tests, NULL, NULL);
}
