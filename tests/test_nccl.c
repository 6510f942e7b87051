/* test_nccl.c - models/nccl: a prediction worked out by hand, the choice, and how it moves. */
#include "models/nccl.h"

#include "tests/near.h"

static struct nccl_group any_group(uint64_t seed)
{
    const uint32_t nodes = any_count(seed, 0, 1, 64), per_node = any_count(seed, 1, 1, 8);
    return (struct nccl_group){
        .arch = any(seed, 2) < 0.5 ? NCCL_AMPERE : NCCL_HOPPER,
        .cpu = any(seed, 3) < 0.5 ? NCCL_INTEL : NCCL_AMD,
        .intra = any(seed, 4) < 0.5 ? NCCL_NVLINK : NCCL_PCIE,
        .nodes = nodes,
        .ranks = nodes * per_node < 2 ? 2 : nodes * per_node,
        .channels = any_count(seed, 5, 1, 32),
        .intra_bytes_per_s = any_between(seed, 6, 2e9, 50e9),
        .network_bytes_per_s = any_between(seed, 7, 2e9, 50e9),
        .nic_latency_s = any_between(seed, 8, 0, 3e-6),
    };
}

/* Two DGX H100 nodes under ring Simple, by hand. Channels 16 * 20 GB/s = 320 GB/s; algbw = 320 * 16/30 GB/s. 30 steps, 2 of
 * them between nodes: 28 * 3.4 + 2 * 14 + 8.4 = 131.6 us, times 1.4 = 184.24 us. 64 MiB: 67108864/(320e9 * 16/30) = 393.216 us. */
static void by_hand(void **state)
{
    (void)state;
    const struct nccl_group group = {
        NCCL_HOPPER, NCCL_INTEL, NCCL_NVLINK, 2, 16, 16, 20e9, 7e9, 0
    };
    const struct nccl_time time = nccl_allreduce(&group, NCCL_RING, NCCL_SIMPLE, 67108864);
    CHECK_NEAR(time.latency_s, 184.24e-6, 1e-14);
    CHECK_NEAR(time.total_s, (184.24 + 393.216) * 1e-6, 1e-14);
    /* No protocol of the ring reads the network's channel below three nodes. */
    struct nccl_group other = group;
    other.network_bytes_per_s = 1;
    CHECK_NEAR(nccl_allreduce(&other, NCCL_RING, NCCL_SIMPLE, 67108864).total_s, time.total_s, 0);
}

/* The choice is the smallest of the six; small messages never take Simple where LL is faster. */
static void best_is_smallest(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct nccl_group group = any_group(seed);
        const double size = floor(any_scale(seed, 9, 1, 1e11));
        const struct nccl_choice best = nccl_best(&group, size);
        for (int a = 0; a < NCCL_ALGORITHMS; a++)
            for (int p = 0; p < NCCL_PROTOCOLS; p++) {
                const struct nccl_time time =
                    nccl_allreduce(&group, (enum nccl_algorithm)a, (enum nccl_protocol)p, size);
                CHECK(best.time.total_s <= time.total_s, "seed %lu: %s %s is faster",
                      (unsigned long)seed, nccl_algorithm_names[a], nccl_protocol_names[p]);
                CHECK(time.latency_s > 0 && time.algorithm_bytes_per_s > 0, "seed %lu",
                      (unsigned long)seed);
                CHECK_NEAR(time.latency_s + size / time.algorithm_bytes_per_s, time.total_s, 1e-15);
            }
    }
}

/* More bandwidth of the channels never takes longer; a slower NIC never less. */
static void moves_the_right_way(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct nccl_group group = any_group(seed);
        struct nccl_group faster = group, later = group;
        faster.intra_bytes_per_s *= 1.7;
        faster.network_bytes_per_s *= 1.7;
        later.nic_latency_s += 5e-6;
        const double size = any_scale(seed, 9, 1, 1e11);
        const double time = nccl_best(&group, size).time.total_s;
        CHECK(nccl_best(&faster, size).time.total_s <= time, "seed %lu", (unsigned long)seed);
        CHECK(nccl_best(&later, size).time.total_s >= time, "seed %lu", (unsigned long)seed);
    }
}

/* A huge message leaves bandwidth alone: ring Simple, at the bus bandwidth of the channels. */
static void large_messages_run_at_the_channels(void **state)
{
    (void)state;
    const struct nccl_group group = { NCCL_AMPERE, NCCL_AMD, NCCL_NVLINK, 8, 64, 8, 20e9, 12e9, 0 };
    const struct nccl_choice best = nccl_best(&group, 0x1p50);
    assert_true(best.algorithm == NCCL_RING && best.protocol == NCCL_SIMPLE);
    CHECK_NEAR(0x1p50 / best.time.total_s * (2 * 63.0 / 64), 8 * 12e9, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(best_is_smallest),
        cmocka_unit_test(moves_the_right_way),
        cmocka_unit_test(large_messages_run_at_the_channels),
    };
    return cmocka_run_group_tests_name("nccl", tests, NULL, NULL);
}
