/* test_contention.c - models/contention: the mean lies in its band, collisions match thrown balls. */
#include "models/contention.h"

#include "tests/near.h"

static void mean_lies_between(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const uint32_t count = any_count(seed, 0, 1, 6);
        struct link_job jobs[6];
        for (uint32_t i = 0; i < count; i++)
            jobs[i] = (struct link_job){ any_scale(seed, 10 + i, 0.01, 10), 0,
                                         any_scale(seed, 20 + i, 1e7, 1e11),
                                         any_count(seed, 40 + i, 1, 4) };
        double lower[6], mean[6], upper[6];
        contended_steps(CONTENTION_LOWER, 50e9, jobs, count, lower);
        contended_steps(CONTENTION_MEAN, 50e9, jobs, count, mean);
        contended_steps(CONTENTION_UPPER, 50e9, jobs, count, upper);
        double carried = 0;
        for (uint32_t i = 0; i < count; i++) {
            CHECK(mean[i] <= upper[i] * (1 + 1e-12), "seed %lu: above the band", seed);
            const double alone = jobs[i].compute_s + jobs[i].step_bytes / 50e9;
            CHECK(mean[i] >= alone * (1 - 1e-12) && lower[i] >= alone * (1 - 1e-12),
                  "seed %lu: faster than alone", seed);
            if (count == 1) CHECK_NEAR(mean[i], alone, 1e-12);
            carried += jobs[i].step_bytes / lower[i];
        }
        CHECK(carried <= 50e9 * (1 + 1e-12), "seed %lu: more than the link carries", seed);
    }
}

static void collisions_match_thrown_balls(void **state)
{
    (void)state;
    enum { THROWS = 50000, FLOWS = 24, TRUNKS = 8 };
    double fullest = 0, used = 0;
    for (uint64_t throw = 0; throw < THROWS; throw ++) {
        uint32_t load[TRUNKS] = { 0 }, most = 0, busy = 0;
        for (uint64_t flow = 0; flow < FLOWS; flow++)
            load[(uint32_t)(stream_uniform(77, flow, throw) * TRUNKS)]++;
        for (int i = 0; i < TRUNKS; i++) {
            if (load[i] > most) most = load[i];
            busy += load[i] > 0;
        }
        fullest += most;
        used += busy;
    }
    CHECK_NEAR(ecmp_max_load(FLOWS, TRUNKS), fullest / THROWS, 0.005);
    CHECK_NEAR(ecmp_trunks_used(FLOWS, TRUNKS), used / THROWS, 0.005);
}

static void edges(void **state)
{
    (void)state;
    assert_true(ecmp_no_collision(1, 1) == 1 && ecmp_no_collision(9, 8) == 0);
    assert_true(ecmp_trunks_used(5, 1) == 1 && ecmp_max_load(5, 1) == 5);
    assert_true(ecmp_efficiency(7, 1) == 1);
    CHECK_NEAR(ecmp_max_load(1, 100), 1, 1e-12);
    /* Many flows even out: the fullest of 1024 on 2 is 512 + 0.8 * 16 */
    CHECK_NEAR(ecmp_max_load(1024, 2), 512 + 16 * sqrt(2 / 3.14159265358979), 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_lies_between),
        cmocka_unit_test(collisions_match_thrown_balls),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests_name("contention", tests, NULL, NULL);
}
