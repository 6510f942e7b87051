/* test_straggler.c - models/straggler: the integral against samples, and its limits. */
#include "models/straggler.h"

#include "base/exactmath.h"
#include "tests/near.h"

/* Mean of the largest of n sampled step times, against the integral. */
static void stragglers_match_samples(void **state)
{
    (void)state;
    enum { STEPS = 20000, UNITS = 16 };
    const double sigma = 0.2;
    double sum = 0, squares = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        double largest = 0;
        for (uint64_t unit = 0; unit < UNITS; unit++) {
            const double x =
                inv_lognormal(stream_uniform(31, unit, step), -sigma * sigma / 2, sigma);
            if (x > largest) largest = x;
        }
        sum += largest;
        squares += largest * largest;
    }
    const double mean = sum / STEPS, error = sqrt((squares / STEPS - mean * mean) / STEPS);
    CHECK(fabs(mean - straggler_factor(UNITS, sigma)) < 4 * error, "mean %g", mean);
}

static void stragglers_grow(void **state)
{
    (void)state;
    CHECK_NEAR(straggler_factor(1, 0.3), 1, 1e-9);
    CHECK_NEAR(straggler_factor(1000, 0), 1, 1e-9);
    double last = 1;
    for (double n = 2; n <= 1e7; n *= 10) {
        const double factor = straggler_factor(n, 0.04);
        assert_true(factor > last);
        CHECK_NEAR(straggler_factor_blom(n, 0.04), factor, 0.006);
        last = factor;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stragglers_match_samples),
        cmocka_unit_test(stragglers_grow),
    };
    return cmocka_run_group_tests_name("straggler", tests, NULL, NULL);
}
