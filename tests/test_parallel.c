/* test_parallel.c - models/parallel: a 175B plan by hand, and sums that must agree with collectives. */
#include "models/parallel.h"

#include "models/jobstep.h"
#include "tests/near.h"

/* 175e9 parameters, TP 8, PP 8, 16-bit gradients: 5.47 GB a GPU group; 96 layers are 12 a stage. */
static void large_plan_by_hand(void **state)
{
    (void)state;
    CHECK_NEAR(gradient_bytes(175e9, 2, 8, 8), 5468750000, 1e-15);
    const double activations = activation_bytes(1, 2048, 12288, 2); /* 50,331,648 B */
    CHECK_NEAR(activations, 50331648, 1e-15);
    const struct tensor_group group = { 8, 12, 24, activations, 0, 300e9 };
    /* 4 * 12 * 24 all-reduces of 7/4 * 50.331648 MB at 300 GB/s. */
    CHECK_NEAR(tensor_parallel_s(&group), 1152 * 1.75 * 50331648 / 300e9, 1e-14);
    CHECK_NEAR(boundary_bytes(activations, 24, 8, true), 24 * 6291456.0, 1e-15);
}

/* What each GPU sends is the bandwidth part of the collectives that move it. */
static void traffic_is_what_rings_send(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const uint32_t n = any_count(seed, 0, 1, 512);
        const double size = any_scale(seed, 1, 1e3, 1e12), rate = any_scale(seed, 2, 1e9, 1e12);
        const double reduce = ring_allreduce_s(n, size, 0, rate) * rate;
        const double gather = ring_allgather_s(n, size, 0, rate) * rate;
        for (uint32_t stage = 0; stage < 3; stage++)
            CHECK_NEAR(zero_traffic_bytes(size, n, stage), reduce, 1e-14);
        CHECK_NEAR(zero_traffic_bytes(size, n, 3), 3 * gather, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_plan_by_hand),
        cmocka_unit_test(traffic_is_what_rings_send),
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
