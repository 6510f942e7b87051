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
        assert_true(straggler_sample(31, step, UNITS, sigma) == largest);
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

/* The table against the integral, at every small n and then 3 % apart. */
static void table_meets_the_integral(void **state)
{
    (void)state;
    static const struct {
        double sigma, within;
    } rows[] = { { 0.04, 5e-7 }, { 0.1, 5e-7 }, { 0.6, 2e-6 }, { 1.0, 2e-6 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct straggler_table table;
        straggler_table_init(&table, rows[i].sigma);
        double last = 0;
        for (double n = 1; n <= 1e7; n = n < 64 ? n + 1 : floor(n * 1.03)) {
            const double factor = straggler_table_at(&table, n);
            CHECK_NEAR(factor, straggler_factor(n, rows[i].sigma), rows[i].within);
            CHECK(factor > last, "n = %g: fewer wait longer", n);
            last = factor;
        }
    }
}

static void slowest_is_the_largest(void **state)
{
    (void)state;
    const double factor[] = { 1.0, 1.07, 1.31, 1.02 };
    assert_true(slowest_factor(factor, 1) == 1.0);
    assert_true(slowest_factor(factor, 4) == 1.31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stragglers_match_samples),
        cmocka_unit_test(stragglers_grow),
        cmocka_unit_test(table_meets_the_integral),
        cmocka_unit_test(slowest_is_the_largest),
    };
    return cmocka_run_group_tests_name("straggler", tests, NULL, NULL);
}
