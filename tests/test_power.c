/* test_power.c - models/power and models/cost: caps are met exactly, loans are paid back. */
#include "models/power.h"

#include "models/cost.h"
#include "tests/near.h"

static void caps_are_met(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const double idle = any_between(seed, 0, 20, 100);
        const struct gpu_power gpu = { idle, idle + any_between(seed, 1, 50, 700), any(seed, 2) };
        const double cap = any_between(seed, 3, 10, 900), phi = capped_phi(&gpu, cap, 0.3);
        CHECK(phi >= 0.3 && phi <= 1, "seed %lu: phi %g", seed, phi);
        if (phi == 1) CHECK(gpu_power_w(&gpu, 1) <= cap, "seed %lu: over the cap", seed);
        if (phi > 0.3 && phi < 1) CHECK_NEAR(gpu_power_w(&gpu, phi), cap, 1e-12);
        if (phi == 0.3)
            CHECK(gpu_power_w(&gpu, phi) >= cap * (1 - 1e-12), "seed %lu: too slow", seed);
        /* At the thermal clock the steady temperature is the limit. */
        const double hot = thermal_phi(&gpu, 30, 0.08, 80, 0.3);
        if (hot > 0.3 && hot < 1) CHECK_NEAR(30 + 0.08 * gpu_power_w(&gpu, hot), 80, 1e-12);
    }
}

static void temperatures_cross_when_they_say(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        const struct thermal thermal = { any_between(seed, 0, 15, 40),
                                         any_between(seed, 1, 0.02, 0.2),
                                         any_between(seed, 2, 100, 1000),
                                         any_between(seed, 3, 10, 300) };
        const double start = any_between(seed, 4, 15, 60), limit = any_between(seed, 5, 60.1, 100);
        const double at = temperature_cross_s(&thermal, start, limit);
        if (at == INFINITY)
            CHECK(temperature_c(&thermal, start, 1e9) <= limit, "seed %lu", seed);
        else
            CHECK_NEAR(temperature_c(&thermal, start, at), limit, 1e-12);
    }
}

/* Paying the recovery factor each year leaves nothing after the last. */
static void loans_are_paid_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        const double interest = seed % 10 ? any_scale(seed, 0, 1e-6, 0.5) : 0;
        const uint32_t years = any_count(seed, 1, 1, 30);
        const double yearly = capital_recovery_frac(interest, years);
        double debt = 1;
        for (uint32_t year = 0; year < years; year++) debt = debt * (1 + interest) - yearly;
        CHECK(fabs(debt) < 1e-9, "seed %lu: %g is left", seed, debt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caps_are_met),
        cmocka_unit_test(temperatures_cross_when_they_say),
        cmocka_unit_test(loans_are_paid_back),
    };
    return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
