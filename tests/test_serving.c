/* test_serving.c - models/serving: shares are shares, more of anything good never hurts. */
#include "models/serving.h"

#include "tests/near.h"

static void service_levels(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct slo_layout layout = {
            .servers = any_count(seed, 0, 1, 20),
            .gpus_per_server = any_count(seed, 1, 1, 8),
            .gpus_per_replica = any_count(seed, 2, 1, 2),
            .lambda = any_scale(seed, 3, 0.1, 100),
            .mu = any_scale(seed, 4, 0.1, 10),
            .limit_s = any_scale(seed, 5, 0.01, 100),
            .server_up = any(seed, 6),
            .load_max = any_between(seed, 7, 0.5, 0.99),
        };
        double last = 0;
        for (uint32_t up = 0; up <= layout.servers; up++) {
            const double share = slo_with_servers_up(&layout, up);
            CHECK(share >= last - 1e-12 && share <= 1, "seed %lu: %u up give %g", seed, up, share);
            last = share;
        }
        const double expected = slo_expected(&layout);
        CHECK(expected >= 0 && expected <= last + 1e-12, "seed %lu: expected %g", seed, expected);
        layout.server_up = 1;
        CHECK_NEAR(slo_expected(&layout), last, 1e-12);
    }
}

static void by_hand(void **state)
{
    (void)state;
    CHECK_NEAR(batch_within(0.012, 0.00025, 0.030).size_max, 72, 1e-15);
    assert_true(batch_within(0.012, 0.00025, 0.011).size_max == 0);
    const struct language_model model = {
        .parameters = 1e9,
        .weight_bytes = 2,
        .tensor_parallel = 2,
        .peak_flops_per_s = 1e14,
        .efficiency = 0.5,
        .hbm_bytes_per_s = 1e12,
        .memory_efficiency = 0.5,
        .kv_bytes_per_token = kv_bytes(10, 10, 50, 2),
    };
    CHECK_NEAR(model.kv_bytes_per_token, 20000, 1e-15);
    CHECK_NEAR(prefill_s(&model, 5000), 0.1, 1e-14);
    CHECK_NEAR(decode_s(&model, 1, 0, 0.001).total_s, 0.003, 1e-14);
    CHECK_NEAR(kv_tokens(&model, 2e9, 1), 1e5, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(service_levels),
        cmocka_unit_test(by_hand),
    };
    return cmocka_run_group_tests_name("serving", tests, NULL, NULL);
}
