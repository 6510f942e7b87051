/* test_jobstep.c - models/jobstep: limits of overlap and pipelines. */
#include "models/jobstep.h"

#include "tests/near.h"

/* Never below the last bucket, never above all of them; more buckets of the same total hide more. */
static void overlap_is_bounded(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const double backward = any_scale(seed, 0, 1e-3, 10), all = any_scale(seed, 1, 1e-4, 100);
        double last = INFINITY;
        for (double buckets = 1; buckets <= 64; buckets *= 2) {
            const double exposed = exposed_reduce_s(backward, buckets, all / buckets);
            CHECK(exposed >= all / buckets * (1 - 1e-15) && exposed <= all * (1 + 1e-15),
                  "seed %lu", seed);
            CHECK(exposed <= last * (1 + 1e-12), "seed %lu: %g buckets hide less", seed, buckets);
            last = exposed;
        }
        CHECK(last >= all - backward - 1e-12 * all, "seed %lu: hides more than the backward pass",
              seed);
    }
}

static void pipelines_and_shards(void **state)
{
    (void)state;
    const struct pipeline one = { 8, 1, 1, 0.1, 0.2 };
    CHECK_NEAR(pipeline_s(&one), 2.4, 1e-14);
    assert_true(bubble_ratio(&one) == 0);
    /* Free communication leaves compute alone; free compute leaves communication alone. */
    const struct sharded_step compute = { 32, 0.1, 0.2, 0, 0 }, network = { 32, 0, 0, 0.1, 0.2 };
    CHECK_NEAR(sharded_step_s(&compute), 32 * 0.3, 1e-14);
    CHECK_NEAR(sharded_step_s(&network), 32 * 0.4, 1e-14); /* two gathers and a scatter a layer */
    CHECK_NEAR(overlapped_s(3, 4, 1), 7, 1e-14);
    CHECK_NEAR(input_bound_s(2, 10, 5, true), 2, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_is_bounded),
        cmocka_unit_test(pipelines_and_shards),
    };
    return cmocka_run_group_tests_name("jobstep", tests, NULL, NULL);
}
