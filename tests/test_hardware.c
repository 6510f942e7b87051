/* test_hardware.c - models/hardware: what any fabric must satisfy. */
#include "models/hardware.h"

#include "tests/near.h"

/* Every host port and every trunk has a place; what the leaves send up the spines can take. */
static void two_tiers_hold_their_ports(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const uint32_t radix = any_count(seed, 0, 4, 128);
        const uint64_t ports = any_count(seed, 1, 1, 20000);
        const double wanted = any_between(seed, 2, 0.5, radix / 2.0);
        const struct two_tier tree = two_tier(ports, radix, wanted);
        CHECK(tree.leaves * tree.down >= ports, "seed %lu: ports without a leaf", seed);
        CHECK(tree.switches == tree.leaves + tree.spines, "seed %lu: switches", seed);
        if (ports <= radix) {
            CHECK(tree.switches == 1 && tree.trunks == 0, "seed %lu: one switch does", seed);
            continue;
        }
        CHECK(tree.down + tree.up == radix, "seed %lu: radix", seed);
        CHECK(tree.trunks <= tree.spines * radix, "seed %lu: trunks without a spine", seed);
        CHECK(tree.oversubscription >= wanted * (1 - 1e-12), "seed %lu: more up than asked", seed);
    }
}

static void full_trees(void **state)
{
    (void)state;
    const struct two_tier two = two_tier(40 * 40 / 2, 40, 1); /* R^2/2: the largest of two tiers */
    assert_true(two.feasible && two.leaves == 40 && two.spines == 20);
    assert_false(two_tier(40 * 40 / 2 + 1, 40, 1).feasible);
    const struct three_tier three = three_tier(40 * 40 * 40 / 4, 40);
    assert_true(three.feasible && three.switches == 5 * 40 * 40 / 4); /* 5 R^2/4 switches */
    assert_false(three_tier(40 * 40 * 40 / 4 + 1, 40).feasible);
    const struct rail_fabric rails = rail_fabric(40, 8, 40);
    assert_true(rails.switches == 8 && rails.trunks == 0);
}

/* A job alone gets its NICs; GPUs that share them get equal parts; GPUDirect never hurts. */
static void nic_bandwidth_is_shared(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct nic_share share = {
            .gpus_active = any_count(seed, 0, 1, 8),
            .nics = any_count(seed, 1, 1, 8),
            .nic_bytes_per_s = any_scale(seed, 2, 1e8, 1e11),
            .slot_bytes_per_s = any_scale(seed, 3, 1e9, 1e11),
            .gpu_pcie_bytes_per_s = any_scale(seed, 4, 1e9, 1e11),
            .host_memory_bytes_per_s = any_scale(seed, 5, 1e10, 1e12),
        };
        const double staged = gpu_net_bytes_per_s(&share);
        share.gpudirect = true;
        const double direct = gpu_net_bytes_per_s(&share);
        CHECK(staged <= direct, "seed %lu: GPUDirect slows", seed);
        CHECK(direct * share.gpus_active <= share.nics * share.nic_bytes_per_s * (1 + 1e-12),
              "seed %lu: more than the NICs carry", seed);
        CHECK(direct <= share.gpu_pcie_bytes_per_s, "seed %lu: more than PCIe", seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tiers_hold_their_ports),
        cmocka_unit_test(full_trees),
        cmocka_unit_test(nic_bandwidth_is_shared),
    };
    return cmocka_run_group_tests_name("hardware", tests, NULL, NULL);
}
