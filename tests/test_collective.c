/* test_collective.c - models/collective: values by hand, and what must hold for any placement. */
#include "models/collective.h"

#include "tests/near.h"

static void by_hand(void **state)
{
    (void)state;
    /* 8 GPUs, 800 MB at 100 GB/s: 14 steps that move 100 MB each, 1 ms and 5 us a step. */
    CHECK_NEAR(ring_allreduce_s(8, 8e8, 5e-6, 1e11), 14 * (1e-3 + 5e-6), 1e-14);
    CHECK_NEAR(ring_allgather_s(8, 8e8, 5e-6, 1e11), 7 * (1e-3 + 5e-6), 1e-14);
    CHECK_NEAR(chain_broadcast_s(3, 1e9, 1e-6, 1e10), 0.1 + 2e-6, 1e-14);
    CHECK_NEAR(point_to_point_s(1e9, 1e-6, 1e10), 0.1 + 1e-6, 1e-14);
    assert_true(ring_allreduce_s(1, 8e8, 5e-6, 1e11) == 0);
    assert_true(chain_broadcast_s(1, 8e8, 5e-6, 1e11) == 0);
    assert_true(tree_allreduce_s(1, 8e8, 5e-6, 1e11) == 0);
    /* 5 servers: 3 levels up and 3 down; 2 S leave a server. */
    CHECK_NEAR(tree_allreduce_s(5, 1e9, 1e-5, 1e10), 6e-5 + 0.2, 1e-14);
    CHECK_NEAR(bus_bytes_per_s(COLLECTIVE_ALLREDUCE, 4, 1e9, 0.1), 1.5e10, 1e-14);
}

static struct collective_place any_place(uint64_t seed)
{
    const uint32_t servers = any_count(seed, 0, 1, 70), g = any_count(seed, 1, 1, 8);
    const uint32_t extra = seed % 3 ? 0 : any_count(seed, 2, 0, servers - 1);
    return (struct collective_place){
        .servers = servers,
        .gpus = servers * g + extra,
        .gpus_per_server = g,
        .intra_bytes_per_s = any_scale(seed, 3, 5e9, 1e12),
        .network_bytes_per_s = any_scale(seed, 4, 1e8, 5e11),
        .intra_hop_s = any_scale(seed, 5, 1e-7, 1e-5),
        .network_hop_s = any_scale(seed, 6, 1e-6, 1e-4),
        .chunks = any_between(seed, 7, 1, 16),
    };
}

/* The choice is never slower than what it chose from; its inside part lies within it. */
static void best_is_best(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const struct collective_place place = any_place(seed);
        const double size = any_scale(seed, 8, 1, 1e11);
        const struct collective_choice best = allreduce_best(&place, size);
        CHECK(best.total_s <= flat_allreduce_s(&place, size), "seed %lu: flat is faster", seed);
        CHECK(best.intra_s >= 0 && best.intra_s <= best.total_s, "seed %lu: inside part", seed);
        if (place.servers == 1) assert_true(best.intra_s == best.total_s);
        if (place.gpus == place.servers && place.servers > 1) assert_true(best.intra_s == 0);
        if (place.servers * place.gpus_per_server != place.gpus) {
            assert_int_equal(best.algorithm, ALLREDUCE_FLAT_RING);
            continue;
        }
        for (int inter = INTER_RING; inter <= INTER_TREE; inter++)
            CHECK(best.total_s <= hierarchical_allreduce(&place, size, inter).total_s,
                  "seed %lu: a hierarchical form is faster", seed);
    }
}

static void more_bytes_take_longer(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct collective_place place = any_place(seed);
        if (place.gpus == 1) continue;
        const double size = any_scale(seed, 8, 1, 1e11);
        CHECK(allreduce_best(&place, size).total_s <= allreduce_best(&place, size * 1.5).total_s,
              "seed %lu", seed);
    }
}

/* More bandwidth or shorter hops never slow a collective, and never shrink the share of the other side. */
static void faster_hardware_never_hurts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct collective_place place = any_place(seed);
        const double size = any_scale(seed, 8, 1, 1e11);
        const struct collective_choice before = allreduce_best(&place, size);
        struct collective_place faster = place;
        faster.network_bytes_per_s *= 2;
        faster.network_hop_s /= 2;
        const struct collective_choice network = allreduce_best(&faster, size);
        CHECK(network.total_s <= before.total_s, "seed %lu: faster network", seed);
        CHECK(place.servers == 1 || network.intra_s <= before.intra_s * (1 + 1e-12),
              "seed %lu: inside part moved with the network", seed);
        faster = place;
        faster.intra_bytes_per_s *= 2;
        faster.intra_hop_s /= 2;
        CHECK(allreduce_best(&faster, size).total_s <= before.total_s, "seed %lu: NVLink", seed);
    }
}

/* The same eight GPUs with a NIC each, from one server to eight: the more the network carries, the longer it takes. */
static void spreading_costs(void **state)
{
    (void)state;
    double last = 0;
    for (uint32_t servers = 1; servers <= 8; servers *= 2) {
        const struct collective_place place = {
            .servers = servers,
            .gpus = 8,
            .gpus_per_server = 8 / servers,
            .intra_bytes_per_s = 370.8e9,
            .network_bytes_per_s = 8.0 / servers * 48.5e9,
            .intra_hop_s = 3.4e-6,
            .network_hop_s = 14e-6,
            .chunks = COLLECTIVE_CHUNKS,
        };
        const double time_s = allreduce_best(&place, 1e9).total_s;
        assert_true(time_s > last);
        last = time_s;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(best_is_best),
        cmocka_unit_test(more_bytes_take_longer),
        cmocka_unit_test(faster_hardware_never_hurts),
        cmocka_unit_test(spreading_costs),
    };
    return cmocka_run_group_tests_name("collective", tests, NULL, NULL);
}
