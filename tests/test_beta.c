/* test_beta.c - models/beta against the quantiles of GSL. */
#include "models/beta.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>

static const struct {
    double mean, spread;
} laws[] = { { 0.02, 0.3 }, { 0.10, 0.3 }, { 0.10, 0.9 }, { 0.25, 0.5 }, { 0.25, 0.05 },
             { 0.50, 0.3 }, { 0.50, 0.9 }, { 0.75, 0.2 }, { 0.90, 0.1 }, { 0.246, 0.3 } };

static void like_gsl(void **state)
{
    const uint64_t l = rows_number(state);
    const double mean = laws[l].mean, sd = laws[l].spread * mean;
    const double total = mean * (1 - mean) / (sd * sd) - 1;
    const double alpha = mean * total, beta = (1 - mean) * total;
    double ratio[BETA_ROWS], sum = 0, squares = 0;
    beta_ratio_table(mean, laws[l].spread, ratio);
    for (int i = 0; i < BETA_ROWS; i++) {
        const double p = (i + 0.5) / BETA_ROWS;
        if (i > 0) assert_true(ratio[i] >= ratio[i - 1]);
        assert_true(ratio[i] >= 0 && ratio[i] * mean <= 1.001);
        sum += ratio[i];
        squares += (ratio[i] - 1) * (ratio[i] - 1);
        if (p < 0.01 || p > 0.99) continue;
        /* Judged by the CDF, since GSL's quantile fails for narrow laws: at 0.5 % less and more the
         * probability must lie on either side. */
        const double x = ratio[i] * mean;
        if (alpha >= 1 && beta >= 1) {
            CHECK(gsl_cdf_beta_P(x * 0.995, alpha, beta) < p, "quantile %g: %g is too large", p, x);
            CHECK(gsl_cdf_beta_P(x * 1.005, alpha, beta) > p, "quantile %g: %g is too small", p, x);
        }
        CHECK(fabs(gsl_cdf_beta_P(x < 1 ? x : 1, alpha, beta) - p) < 5e-3, "P(%g) = %g, want %g", x,
              gsl_cdf_beta_P(x, alpha, beta), p);
    }
    CHECK_NEAR(sum / BETA_ROWS, 1, 1e-12);
    /* Midpoints of 512 shares leave out a little of the tails. */
    CHECK_NEAR(sqrt(squares / BETA_ROWS), laws[l].spread, 2e-2);
}

static void no_spread(void **state)
{
    (void)state;
    double ratio[BETA_ROWS];
    beta_ratio_table(0.3, 0, ratio);
    for (int i = 0; i < BETA_ROWS; i++) assert_true(ratio[i] == 1);
}

int main(void)
{
    gsl_set_error_handler_off();
    struct rows rows = { 0 };
    rows_add(&rows, no_spread, NULL, "no spread: all alike");
    for (uintptr_t l = 0; l < sizeof laws / sizeof *laws; l++)
        rows_add(&rows, like_gsl, (void *)l, "mean %g, spread %g", laws[l].mean, laws[l].spread);
    return rows_run("beta", &rows);
}
