/* test_collective_uplinks.c - collectives whose servers hang on several leaves, by hand. */
#include "models/collective_time.h"
#include "tests/near.h"
#include "tests/rows.h"

static const double GIB = 1073741824.0;

/* Eight NICs of 48.5 GB/s, faster than the NVLinks. */
static struct collective_hardware plain_hardware(void)
{
    return (struct collective_hardware){ .gpus = 8,
                                         .scaleup_bytes_per_s = 370.8e9,
                                         .scaleup_hop_s = 3.4e-6,
                                         .domain_servers = 1,
                                         .nics = 8,
                                         .nic_bytes_per_s = 48.5e9,
                                         .gpu_pcie_bytes_per_s = 55e9,
                                         .host_memory_bytes_per_s = 300e9,
                                         .gpudirect = true,
                                         .network_hop_s = 14e-6 };
}

static struct collective_group group_of(uint32_t servers, uint32_t gpus)
{
    return (
        struct collective_group){ .servers = servers, .gpus = servers * gpus, .gpus_min = gpus };
}

/* A leaf's uplinks bound those who span leaves. */
static void uplinks_bound_who_spans_leaves(void **state)
{
    (void)state;
    struct collective_hardware hardware = plain_hardware();
    hardware.uplinks_bytes_per_s = 97e9;
    struct collective_group group = group_of(4, 8);
    CHECK_NEAR(collective_time(&hardware, OP_ALL_REDUCE, &group, GIB, ALLOW_AUTO).total_s,
               56 * 3.4e-6 + 6 * 14e-6 + 2 * 31 / 32.0 * GIB / 370.8e9, 1e-12);
    group.spans_leaves = true;
    const struct collective_result result =
        collective_time(&hardware, OP_ALL_REDUCE, &group, GIB, ALLOW_AUTO);
    CHECK_NEAR(result.total_s, 56 * 3.4e-6 + 6 * 14e-6 + 2 * 31 / 32.0 * GIB / 97e9, 1e-12);
    assert_int_equal(result.bottleneck, BOTTLENECK_LEAF);
}

/* Four servers, two on each of two leaves: 2 x 2/3 x 2 times a server's bytes leave a leaf. A server sends 8 x 24/32 S. Uplinks of 97
 * GB/s limit; with 950 a NIC does, 0.95 of it as measured between four servers; with 500, less than that leaves of them. */
static void all_to_all_fills_uplinks(void **state)
{
    (void)state;
    const double load = 4 / 3.0, bytes = 8 * 24 / 32.0 * GIB, start_s = 14e-6 + 24 * 0.5e-6;
    static const struct {
        double uplinks, want;
        enum collective_bottleneck bottleneck;
    } cases[] = {
        { 97e9, 97e9 * 3 / 4, BOTTLENECK_LEAF },
        { 950e9, 0.95 * 8 * 48.5e9, BOTTLENECK_NIC },
        { 485e9, 485e9 * 3 / 4, BOTTLENECK_LEAF },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collective_hardware hardware = plain_hardware();
        hardware.uplinks_bytes_per_s = cases[i].uplinks;
        struct collective_group group = group_of(4, 8);
        group.spans_leaves = true;
        group.leaf_load = load;
        const struct collective_result result =
            collective_time(&hardware, OP_ALL_TO_ALL, &group, GIB, ALLOW_AUTO);
        CHECK_NEAR(result.total_s, start_s + bytes / cases[i].want, 1e-12);
        assert_int_equal(result.bottleneck, cases[i].bottleneck);
        /* Between groups of a dragonfly: half of a leaf's bytes over a fifth of its cables. */
        hardware.pair_bytes_per_s = cases[i].uplinks / 5;
        group.pair_load = load / 2;
        const double pair = cases[i].uplinks / 5 / (load / 2);
        CHECK_NEAR(collective_time(&hardware, OP_ALL_TO_ALL, &group, GIB, ALLOW_AUTO).total_s,
                   start_s + bytes / pair, 1e-12);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, uplinks_bound_who_spans_leaves, NULL, "rings");
    rows_add(&rows, all_to_all_fills_uplinks, NULL, "all-to-all");
    return rows_run("collective_uplinks", &rows);
}
