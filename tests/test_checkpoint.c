/* test_checkpoint.c - models/checkpoint: the best interval is best, and a Monte-Carlo run meets the expected wall time. */
#include "models/checkpoint.h"

#include "base/exactmath.h"
#include "tests/near.h"

static double wall_s(double interval_s, double write_s, double mtbf_s)
{
    const struct checkpoint_plan plan = { interval_s, write_s, 120, 0, mtbf_s };
    return checkpoint_wall_s(1e5, &plan);
}

/* No interval beats the optimum; Daly's is within 1 % of it, Young's within 10 %, while C is below M/10. */
static void optimum_is_optimal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const double mtbf = any_scale(seed, 0, 1e3, 1e7),
                     write = mtbf * any_scale(seed, 1, 1e-6, 0.1);
        const double best = wall_s(optimal_interval_s(write, mtbf), write, mtbf);
        for (uint64_t i = 2; i < 10; i++) {
            const double other = optimal_interval_s(write, mtbf) * any_scale(seed, i, 0.3, 3);
            CHECK(wall_s(other, write, mtbf) >= best * (1 - 1e-12), "seed %lu: %g s is better",
                  seed, other);
        }
        CHECK(wall_s(daly_interval_s(write, mtbf), write, mtbf) <= best * 1.01, "seed %lu", seed);
        CHECK(wall_s(young_interval_s(write, mtbf), write, mtbf) <= best * 1.10, "seed %lu", seed);
    }
}

/* With C = 1 s and M = 32 years Daly's first terms are good to 1e-9; 1 + W0(x) would keep 7 digits. */
static void tiny_writes_keep_their_digits(void **state)
{
    (void)state;
    CHECK_NEAR(optimal_interval_s(1, 1e9), sqrt(2e9) - 1 + sqrt(2e9) * sqrt(0.5e-9) / 3, 1e-9);
    assert_true(optimal_interval_s(0, 1e9) == 0);
}

/* One attempt after another: work and writes until an exponential failure, restarts that can fail as well. */
static double one_run_s(uint64_t seed, double work_s, const struct checkpoint_plan *plan)
{
    uint64_t draw = 0;
    double clock_s = 0, done_s = 0, restart_s = 0;
    double next_failure_s = inv_exponential(stream_uniform(99, seed, draw++), plan->mtbf_s);
    while (done_s < work_s - 1e-6) {
        const double step_s = restart_s + plan->interval_s + plan->write_s;
        if (clock_s + step_s <= next_failure_s) {
            clock_s += step_s;
            done_s += plan->interval_s;
            restart_s = 0;
            continue;
        }
        clock_s = next_failure_s + plan->down_s; /* nothing fails while down */
        restart_s = plan->restart_s;
        next_failure_s = clock_s + inv_exponential(stream_uniform(99, seed, draw++), plan->mtbf_s);
    }
    return clock_s;
}

static void monte_carlo_meets_the_formula(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    const struct checkpoint_plan plan = { 600, 60, 300, 600, 7200 };
    double sum = 0, squares = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        const double wall = one_run_s(run, 86400, &plan);
        sum += wall;
        squares += wall * wall;
    }
    const double mean = sum / RUNS, error = sqrt((squares / RUNS - mean * mean) / RUNS);
    const double want = checkpoint_wall_s(86400, &plan);
    CHECK(fabs(mean - want) < 4 * error, "mean %g, want %g, standard error %g", mean, want, error);
}

/* The two forms of lost_mean_s meet where one takes over; small intervals lose half, large ones M. */
static void lost_work(void **state)
{
    (void)state;
    CHECK_NEAR(lost_mean_s(0.00999999999 * 1e6, 1e6), lost_mean_s(0.01000000001 * 1e6, 1e6), 1e-8);
    CHECK_NEAR(lost_mean_s(1, 1e9), 0.5, 1e-8);
    CHECK_NEAR(lost_mean_s(1e6, 1e3), 1e3, 1e-9);
    CHECK_NEAR(lost_quantile_s(1860, 36000, 1), 1860, 1e-12);
    assert_true(lost_quantile_s(1860, 36000, 0) == 0);
    assert_true(lost_mean_s(0, 36000) == 0);
}

static void write_time_takes_the_slower_side(void **state)
{
    (void)state;
    CHECK_NEAR(checkpoint_write_s(80e9, 2, 4e9, 40e9), 10, 1e-15); /* servers: 8 GB/s */
    CHECK_NEAR(checkpoint_write_s(80e9, 32, 4e9, 40e9), 2, 1e-15); /* store: 40 GB/s  */
    assert_true(daly_interval_s(300, 100) == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum_is_optimal),
        cmocka_unit_test(tiny_writes_keep_their_digits),
        cmocka_unit_test(monte_carlo_meets_the_formula),
        cmocka_unit_test(lost_work),
        cmocka_unit_test(write_time_takes_the_slower_side),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
