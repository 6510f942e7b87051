/* test_locality.c - models/locality: limits, monotony, and that the shares of a step close. */
#include "models/locality.h"

#include "tests/near.h"

static void by_hand(void **state)
{
    (void)state;
    /* kappa 0.5, w 0.2: 0.3 exposed at the reference; four times the communication: 1.8 exposed. */
    CHECK_NEAR(exposed_frac(0.5, 4, 0.2), 1.8, 1e-15);
    CHECK_NEAR(locality_slowdown(0.5, 0.2, 4), 2.8 / 1.3, 1e-15);
    assert_true(locality_slowdown(0.5, 0.2, 1) == 1);
    assert_true(locality_slowdown(0, 0.3, 100) == 1);
    /* Of those 1.8 an infinitely fast network would leave 0.5 * 1 - 0.2. */
    const struct locality_split split = locality_split(0.5, 0.2, 4, 1);
    CHECK_NEAR(split.compute_frac, 1 / 2.8, 1e-15);
    CHECK_NEAR(split.intra_frac, 0.3 / 2.8, 1e-15);
    CHECK_NEAR(split.inter_frac, 1.5 / 2.8, 1e-15);
    CHECK_NEAR(rescale_s(3600, 1.5, 3), 7200, 1e-15);
}

static void shares_close_and_grow(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const double kappa = any_between(seed, 0, 0, 2), hidden = any_between(seed, 1, 0, 1);
        const double ratio = any_scale(seed, 2, 0.01, 100), intra = ratio * any(seed, 3);
        const struct locality_split split = locality_split(kappa, hidden, ratio, intra);
        const double sum = split.compute_frac + split.intra_frac + split.inter_frac;
        CHECK(fabs(sum - 1) < 1e-14, "seed %lu: shares add up to %.17g", seed, sum);
        CHECK(split.intra_frac >= 0 && split.inter_frac >= 0, "seed %lu: negative share", seed);
        CHECK(locality_split(kappa, hidden, ratio * 1.1, intra).slowdown >= split.slowdown,
              "seed %lu: more communication is faster", seed);
        CHECK_NEAR(split.slowdown, locality_slowdown(kappa, hidden, ratio), 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(shares_close_and_grow),
    };
    return cmocka_run_group_tests_name("locality", tests, NULL, NULL);
}
