/* test_collective_time.c - models/collective_time: the closed forms where nothing was measured, calculated again by hand
 * where a fit stands, and what must hold for any hardware. */
#include "models/collective_time.h"

#include "models/collective.h"
#include "tests/near.h"
#include "tests/rows.h"

static const double GIB = 1073741824, MIB = 1048576, US = 1e-6, GB = 1e9;

/* Eight H100 and eight NDR NICs by the constants of MODELS 12. */
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
                                         .network_hop_s = 14e-6,
                                         .uplinks_bytes_per_s = INFINITY };
}

/* The same with lines like those of an A100 and sums like those of an H100. */
static struct collective_hardware measured_hardware(void)
{
    struct collective_hardware hardware = plain_hardware();
    hardware.lines_gpus = 8;
    hardware.all_reduce =
        (struct collective_lines){ { { 35e-6, 38e9 }, { 65e-6, 151e9 }, { 105e-6, 232e9 } } };
    hardware.all_to_all = (struct collective_lines){ { { 86e-6, 320e9 } } };
    hardware.nvls = (struct collective_lines){ { { 13.7e-6, 134e9 }, { 97e-6, 480e9 } } };
    hardware.tree_hop_s = 35e-6;
    hardware.tree_small = (struct collective_line){ 27.7e-6, 36.2e9 };
    return hardware;
}

static struct collective_group group_of(uint32_t servers, uint32_t gpus_per_server)
{
    return (struct collective_group){ .servers = servers,
                                      .gpus = servers * gpus_per_server,
                                      .gpus_min = gpus_per_server };
}

static struct collective_result reduce(const struct collective_hardware *hardware, uint32_t servers,
                                       uint32_t gpus_per_server, double size, uint32_t allowed)
{
    const struct collective_group group = group_of(servers, gpus_per_server);
    return collective_time(hardware, OP_ALL_REDUCE, &group, size, allowed);
}

/* ---- without measurements: the rows of MODELS 2 ---- */

/* The same eight GPUs as 1x8, 2x4, 4x2, 8x1 (2.4). */
static void rings_are_those_of_the_model(void **state)
{
    (void)state;
    static const double busbw_gb[] = { 367.349, 192.632, 96.4464, 48.2559 };
    for (uint32_t i = 0; i < 4; i++) {
        struct collective_hardware hardware = plain_hardware();
        const uint32_t servers = 1u << i, g = 8 / servers;
        hardware.gpus = hardware.nics = g;
        const struct collective_result result =
            reduce(&hardware, servers, g, GIB, ALLOW(ALGORITHM_RING));
        CHECK_NEAR(1.75 * GIB / result.total_s / GB, busbw_gb[i], 1e-5);
        assert_int_equal(result.bottleneck, i ? BOTTLENECK_NIC : BOTTLENECK_NVLINK);
    }
}

/* CO-008: 32 GPUs gather over 3.4 us and 194 GB/s; here on one server of 32. Broadcast, send and receive by hand. */
static void other_operations_are_those_of_the_model(void **state)
{
    (void)state;
    struct collective_hardware hardware = plain_hardware();
    hardware.gpus = 32;
    hardware.scaleup_bytes_per_s = 194e9;
    const struct collective_group all = group_of(1, 32), four = group_of(4, 8);
    CHECK_NEAR(collective_time(&hardware, OP_ALL_GATHER, &all, 2 * GIB, ALLOW_AUTO).total_s,
               10829e-6, 1e-4);
    CHECK_NEAR(collective_time(&hardware, OP_BROADCAST, &all, GIB, ALLOW_AUTO).total_s,
               31 * 3.4e-6 + GIB / 194e9, 1e-12);
    hardware = plain_hardware();
    /* 28 steps inside, 3 between; NVLink is the narrowest. */
    CHECK_NEAR(collective_time(&hardware, OP_REDUCE_SCATTER, &four, GIB, ALLOW_AUTO).total_s,
               28 * 3.4e-6 + 3 * 14e-6 + 31 / 32.0 * GIB / 370.8e9, 1e-12);
    CHECK_NEAR(collective_time(&hardware, OP_SEND_RECV, &four, GIB, ALLOW_AUTO).total_s,
               14e-6 + GIB / 48.5e9, 1e-12);
}

/* CO-025..034: hierarchical forms on four servers of eight, 8 chunks (2.5). */
static void hierarchies_are_those_of_the_model(void **state)
{
    (void)state;
    const struct collective_hardware hardware = plain_hardware();
    const double in = 5067.55e-6, out = 4151.06e-6, tree = 5534.75e-6;
    CHECK_NEAR(reduce(&hardware, 4, 8, GIB, ALLOW(ALGORITHM_HIER_RING)).total_s,
               14 * 3.4e-6 + 6 * 14e-6 + in + out / 8, 1e-5);
    CHECK_NEAR(reduce(&hardware, 4, 8, GIB, ALLOW(ALGORITHM_HIER_TREE)).total_s,
               14 * 3.4e-6 + 4 * 14e-6 + tree + in / 8, 1e-5);
}

/* ---- 2.11: bytes on the network, and the bandwidth terms alone ---- */

static const struct {
    const char *name;
    uint32_t servers, gpus;
    enum collective_algorithm algorithm;
    double bytes; /* over S */
} wires[] = {
    { "ring, 4 x 8", 4, 8, ALGORITHM_RING, 2 * 31 / 32.0 },
    { "ring, 8 x 1", 8, 1, ALGORITHM_RING, 2 * 7 / 8.0 },
    { "hierarchical ring, 4 x 8", 4, 8, ALGORITHM_HIER_RING, 2 * 3 / 4.0 },
    { "hierarchical tree, 3 x 4", 3, 4, ALGORITHM_HIER_TREE, 1.5 },
    { "hierarchical tree, 16 x 2", 16, 2, ALGORITHM_HIER_TREE, 2 },
    { "tree, 2 x 8", 2, 8, ALGORITHM_TREE, 1 },
    { "sums in the fabric, 8 x 8", 8, 8, ALGORITHM_SHARP, 1 },
    { "one server", 1, 8, ALGORITHM_RING, 0 },
};

static void bytes_on_the_network(void **state)
{
    const uint64_t row = rows_number(state);
    struct collective_hardware hardware = plain_hardware();
    hardware.gpus = hardware.nics = wires[row].gpus;
    hardware.tree_hop_s = 1e-12;
    hardware.sharp = true;
    hardware.scaleup_hop_s = hardware.network_hop_s = 0;
    const struct collective_result result =
        reduce(&hardware, wires[row].servers, wires[row].gpus, 7.31e8, ALLOW(wires[row].algorithm));
    CHECK_NEAR(result.network_bytes, wires[row].bytes * 7.31e8, 1e-12);
    /* Without start-up nothing else is left of the time; of hierarchies an eighth of the shorter phase. */
    const bool is_hierarchy =
        wires[row].algorithm == ALGORITHM_HIER_RING || wires[row].algorithm == ALGORITHM_HIER_TREE;
    if (!is_hierarchy) CHECK_NEAR(result.wire_s, result.total_s, 1e-6);
    CHECK(result.wire_s <= result.total_s && result.wire_s >= result.total_s / 1.126, "%g of %g",
          result.wire_s, result.total_s);
}

/* ---- measured: lines inside ---- */

/* The lowest line counts: LL for 1 KiB, LL128 for 1 MiB (65 us + 1.75 MiB / 151 GB/s), Simple for 1 GiB. */
static void the_lowest_line_counts(void **state)
{
    (void)state;
    const struct collective_hardware hardware = measured_hardware();
    const uint32_t ring = ALLOW(ALGORITHM_RING);
    const struct collective_result small = reduce(&hardware, 1, 8, 1024, ring),
                                   middle = reduce(&hardware, 1, 8, MIB, ring),
                                   large = reduce(&hardware, 1, 8, GIB, ring);
    CHECK_NEAR(small.total_s, 35 * US + 1.75 * 1024 / (38 * GB), 1e-12);
    CHECK_NEAR(middle.total_s, 65 * US + 1.75 * MIB / (151 * GB), 1e-12);
    CHECK_NEAR(large.total_s, 105 * US + 1.75 * GIB / (232 * GB), 1e-12);
    assert_int_equal(small.protocol, PROTOCOL_LL);
    assert_int_equal(middle.protocol, PROTOCOL_LL128);
    assert_int_equal(large.protocol, PROTOCOL_SIMPLE);
    assert_int_equal(small.bottleneck, BOTTLENECK_LATENCY);
    assert_int_equal(large.bottleneck, BOTTLENECK_NVLINK);
    /* Four of the eight: half of the start-up is the launch, three of seven steps are left of the rest. */
    CHECK_NEAR(reduce(&hardware, 1, 4, 0, ring).total_s, 35 * US * (0.5 + 0.5 * 3 / 7), 1e-12);
}

/* FIGURES 1.5, measured on H200: sums in the switch lift the ring of 367 GB/s by 1.14, 1.20, 1.26, 1.30 on 5 to 8 GPUs
 * and by nothing on 4. The law (g - 1)/(g + 1) gives them within 2.5 % from the number of eight alone. */
static void sums_in_the_switch_gain_as_measured(void **state)
{
    (void)state;
    static const double gain[] = { [4] = 1.0, [5] = 1.14, [6] = 1.20, [7] = 1.26, [8] = 1.30 };
    const struct collective_hardware hardware = measured_hardware();
    for (uint32_t g = 4; g <= 8; g++) {
        const double size = 1e15; /* no start-up left */
        const double time_s = reduce(&hardware, 1, g, size, ALLOW(ALGORITHM_NVLS)).total_s;
        CHECK_NEAR(2.0 * (g - 1) / g * size / time_s, gain[g] * 367e9, 0.025);
    }
}

/* ---- measured: between servers ---- */

/* Two levels up and two down over four servers: 13.7 or 97 us inside, then 27.7 or 35 us a level. */
static void trees_grow_with_the_logarithm(void **state)
{
    (void)state;
    const struct collective_hardware hardware = measured_hardware();
    const uint32_t tree = ALLOW(ALGORITHM_TREE);
    CHECK_NEAR(reduce(&hardware, 4, 8, 0, tree).total_s, 13.7 * US + 4 * 27.7 * US, 1e-12);
    CHECK_NEAR(reduce(&hardware, 4, 8, GIB, tree).total_s,
               97 * US + 4 * 35 * US + 2 * 31 / 32.0 * GIB / 370.8e9, 1e-12);
    CHECK_NEAR(reduce(&hardware, 1000, 8, 0, tree).total_s, 13.7 * US + 20 * 27.7 * US, 1e-12);
    /* FIGURES 1.8: at 1,024 GPUs and 1 GiB the ring gives about 122 GB/s, the tree about 300. */
    const struct collective_result best = reduce(&hardware, 128, 8, GIB, ALLOW_AUTO);
    assert_int_equal(best.algorithm, ALGORITHM_TREE);
    CHECK_NEAR(2 * GIB / best.total_s, 330e9, 0.05);
    CHECK_NEAR(2 * GIB / reduce(&hardware, 128, 8, GIB, ALLOW(ALGORITHM_RING)).total_s, 139e9,
               0.01);
}

/* FIGURES 1.4: no gain of trees over two servers unless it was measured; never on three or on parts of servers. */
static void two_servers_gain_where_measured(void **state)
{
    (void)state;
    struct collective_hardware hardware = measured_hardware();
    const double size = 1e13;
    CHECK_NEAR(1.875 * size / reduce(&hardware, 2, 8, size, ALLOW_AUTO).total_s, 370.8e9, 1e-4);
    hardware.two_servers = (struct collective_line){ 340e-6, 478e9 };
    const struct collective_result two = reduce(&hardware, 2, 8, size, ALLOW_AUTO);
    CHECK_NEAR(1.875 * size / two.total_s, 478e9, 1e-4);
    CHECK_NEAR(two.network_bytes, size, 1e-12); /* half of a ring's: below what the NICs carry */
    CHECK(two.network_bytes / two.total_s <= 8 * 48.5e9, "above the NICs");
    CHECK_NEAR(2 * 23 / 24.0 * size / reduce(&hardware, 3, 8, size, ALLOW_AUTO).total_s, 370.8e9,
               1e-4);
    CHECK_NEAR(1.75 * size / reduce(&hardware, 2, 4, size, ALLOW_AUTO).total_s, 4 * 55e9, 1e-4);
}

/* B099: eight DGX H100 reach 480 GB/s where the fabric sums; B098: 370 where it does not. */
static void sums_in_the_fabric(void **state)
{
    (void)state;
    struct collective_hardware hardware = measured_hardware();
    const struct collective_group group = group_of(8, 8);
    assert_false(collective_can(&hardware, OP_ALL_REDUCE, &group, ALGORITHM_SHARP));
    hardware.sharp = true;
    assert_true(collective_can(&hardware, OP_ALL_REDUCE, &group, ALGORITHM_SHARP));
    const double factor = 2 * 63 / 64.0, size = 16 * GIB;
    CHECK_NEAR(factor * size / reduce(&hardware, 8, 8, size, ALLOW(ALGORITHM_SHARP)).total_s, 480e9,
               0.01);
    CHECK_NEAR(factor * size / reduce(&hardware, 8, 8, size, ALLOW_AUTO).total_s, 370e9, 0.02);
}

/* End of 2.10, Pollux: without GPUDirect two GPUs behind one NIC on each of two servers are slower than one behind each of
 * four. Two GPUs share 2 GB/s: 1.5 S/1 GB/s against 1.5 S/2 GB/s. With GPUDirect the ring leaves a server once. */
static void staging_is_per_rank(void **state)
{
    (void)state;
    struct collective_hardware hardware = plain_hardware();
    hardware.gpus = 4;
    hardware.nics = 1;
    hardware.nic_bytes_per_s = 2e9;
    hardware.scaleup_bytes_per_s = hardware.gpu_pcie_bytes_per_s = 12e9;
    hardware.gpudirect = false;
    const double size = 102e6;
    const double pairs_s = reduce(&hardware, 2, 2, size, ALLOW_AUTO).total_s;
    const double spread_s = reduce(&hardware, 4, 1, size, ALLOW_AUTO).total_s;
    CHECK_NEAR(pairs_s, 4 * 3.4e-6 + 2 * 14e-6 + 1.5 * size / 1e9, 1e-12);
    CHECK_NEAR(spread_s, 6 * 14e-6 + 1.5 * size / 2e9, 1e-12);
    hardware.gpudirect = true;
    CHECK_NEAR(reduce(&hardware, 2, 2, size, ALLOW_AUTO).total_s,
               4 * 3.4e-6 + 2 * 14e-6 + 1.5 * size / 2e9, 1e-12);
    hardware.host_memory_bytes_per_s = 1e9;
    hardware.gpudirect = false;
    assert_int_equal(reduce(&hardware, 2, 2, size, ALLOW_AUTO).bottleneck, BOTTLENECK_HOST_MEMORY);
}

/* Of 3 + 1 GPUs behind one NIC of 6 GB/s the three set the pace, 1.5 GB at a third of it; 2 + 2 take half, 1 + 1 + 1 + 1 all. */
static void staged_by_the_fullest_server(void **state)
{
    (void)state;
    struct collective_hardware hardware = plain_hardware();
    hardware.gpus = 4;
    hardware.nics = 1;
    hardware.nic_bytes_per_s = 6e9;
    hardware.gpudirect = false;
    hardware.scaleup_hop_s = hardware.network_hop_s = 0;
    static const struct {
        struct collective_group group;
        double share;
    } cases[] = { { { .servers = 2, .gpus = 4, .gpus_min = 1 }, 3 },
                  { { .servers = 2, .gpus = 4, .gpus_min = 2 }, 2 },
                  { { .servers = 4, .gpus = 4, .gpus_min = 1 }, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(
            collective_time(&hardware, OP_ALL_REDUCE, &cases[i].group, 1e9, ALLOW(ALGORITHM_RING))
                .total_s,
            1.5 * 1e9 / (6e9 / cases[i].share), 1e-12);
}

/* FIGURES 1.7: one NIC per GPU, 0.81, 0.95, 0.94, 0.90 of it on 2, 4, 8, 16 servers. The bus bandwidth counts all n - 1
 * parts, the network carries n - 8 of them. */
static void all_to_all_uses_the_nic_of_each_gpu(void **state)
{
    (void)state;
    static const double efficiency[][2] = { { 2, 0.81 }, { 4, 0.95 }, { 8, 0.94 }, { 16, 0.90 } };
    const struct collective_hardware hardware = measured_hardware();
    for (size_t i = 0; i < 4; i++) {
        const struct collective_group group = group_of((uint32_t)efficiency[i][0], 8);
        const double n = group.gpus, size = 1e13;
        const struct collective_result result =
            collective_time(&hardware, OP_ALL_TO_ALL, &group, size, ALLOW_AUTO);
        CHECK_NEAR((n - 1) / n * size / result.total_s,
                   (n - 1) / (n - 8) * 48.5e9 * efficiency[i][1], 1e-4);
        assert_int_equal(result.bottleneck, BOTTLENECK_NIC);
        assert_int_equal(result.algorithm, ALGORITHM_DIRECT);
        /* Small messages are launched as in one server: 86 us, of 1 kB 7/n leave by the line at 320 GB/s. */
        CHECK_NEAR(collective_time(&hardware, OP_ALL_TO_ALL, &group, 1e3, ALLOW_AUTO).total_s,
                   86e-6 + 7 / n * 1e3 / 320e9, 1e-9);
    }
}

/* ---- groups ---- */

/* C115: four GPUs of a mesh on one server and six on the other. The ring is as fast as the slower of the two: 81 GB/s
 * through four, 40.7 through six. */
static void c115_uneven_groups_of_unequal_inside(void **state)
{
    (void)state;
    struct collective_hardware hardware = plain_hardware();
    hardware.ring_bytes_per_s[4] = 81.3e9;
    hardware.ring_bytes_per_s[6] = 40.7e9;
    const struct collective_group group = { .servers = 2, .gpus = 10, .gpus_min = 4 };
    CHECK_NEAR(collective_time(&hardware, OP_ALL_REDUCE, &group, GIB, ALLOW_AUTO).total_s,
               16 * 3.4e-6 + 2 * 14e-6 + 1.8 * GIB / 40.7e9, 1e-12);
    assert_false(collective_can(&hardware, OP_ALL_REDUCE, &group, ALGORITHM_HIER_RING));
}

/* C112: 32 and 64 GPUs differ; C119: one GPU has nothing to exchange. */
static void c112_c119_the_size_of_the_group_counts(void **state)
{
    (void)state;
    const struct collective_hardware hardware = plain_hardware();
    for (int op = 0; op < COLLECTIVE_OPS; op++) {
        const struct collective_group one = group_of(1, 1), small = group_of(4, 8),
                                      large = group_of(8, 8);
        assert_true(collective_time(&hardware, op, &one, GIB, ALLOW_ALL).total_s == 0);
        if (op == OP_SEND_RECV) continue;
        CHECK(collective_time(&hardware, op, &small, MIB, ALLOW_ALL).total_s <
                  collective_time(&hardware, op, &large, MIB, ALLOW_ALL).total_s,
              "%s: 64 GPUs are as fast as 32", collective_op_names[op]);
    }
}

/* ---- any hardware ---- */

static struct collective_hardware any_hardware(uint64_t seed)
{
    struct collective_hardware hardware = seed % 2 ? measured_hardware() : plain_hardware();
    hardware.scaleup_bytes_per_s = any_scale(seed, 0, 5e9, 1e12);
    hardware.scaleup_hop_s = any_scale(seed, 1, 1e-7, 1e-5);
    hardware.nics = any_count(seed, 2, 1, 16);
    hardware.nic_bytes_per_s = any_scale(seed, 3, 1e8, 1e11);
    hardware.gpu_pcie_bytes_per_s = any_scale(seed, 4, 5e9, 1e11);
    hardware.host_memory_bytes_per_s = any_scale(seed, 5, 5e10, 1e12);
    hardware.gpudirect = seed % 3 != 0;
    if (seed % 2 == 0) hardware.staged_bytes_per_s = any_scale(seed, 12, 1e8, 1e11);
    hardware.network_hop_s = any_scale(seed, 6, 1e-6, 1e-4);
    hardware.sharp = seed % 5 == 0;
    if (seed % 7 == 0) hardware.uplinks_bytes_per_s = any_scale(seed, 7, 1e9, 1e12);
    return hardware;
}

static struct collective_group any_group(uint64_t seed)
{
    const uint32_t servers = any_count(seed, 8, 1, 70), g = any_count(seed, 9, 1, 8);
    const uint32_t extra = seed % 4 || g == 8 ? 0 : any_count(seed, 10, 0, servers - 1);
    return (struct collective_group){ .servers = servers,
                                      .gpus = servers * g + extra,
                                      .gpus_min = g,
                                      .spans_leaves = seed % 7 == 0 };
}

/* C110: a slower link of any kind never makes a collective faster, and a much slower one makes it slower. */
static void c110_monotone_in_every_bandwidth(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        const struct collective_hardware hardware = any_hardware(seed);
        const struct collective_group group = any_group(seed);
        const double size = any_scale(seed, 11, 1, 1e11);
        const enum collective_op op = seed % COLLECTIVE_OPS;
        const double before_s = collective_time(&hardware, op, &group, size, ALLOW_ALL).total_s;
        struct collective_hardware slow = hardware;
        double *const rates[] = { &slow.scaleup_bytes_per_s, &slow.nic_bytes_per_s,
                                  &slow.gpu_pcie_bytes_per_s, &slow.host_memory_bytes_per_s,
                                  &slow.uplinks_bytes_per_s };
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            *rates[i] /= 2;
            const double after_s = collective_time(&slow, op, &group, size, ALLOW_ALL).total_s;
            CHECK(after_s >= before_s * (1 - 1e-12), "seed %lu, rate %zu: %g s, before %g s", seed,
                  i, after_s, before_s);
            slow = hardware;
        }
        slow.nic_bytes_per_s /= 1e9;
        if (group.servers > 1 && size > 1e6)
            CHECK(collective_time(&slow, op, &group, size, ALLOW_ALL).total_s > 10 * before_s,
                  "seed %lu: the network does not count", seed);
    }
}

static void monotone_in_size(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        const struct collective_hardware hardware = any_hardware(seed);
        const struct collective_group group = any_group(seed);
        const enum collective_op op = seed % COLLECTIVE_OPS;
        double last_s = 0;
        for (double size = 1; size < 1e12; size *= 9.7) {
            const double time_s = collective_time(&hardware, op, &group, size, ALLOW_ALL).total_s;
            CHECK(time_s >= last_s, "seed %lu, %g B: %g s after %g s", seed, size, time_s, last_s);
            last_s = time_s;
        }
    }
}

/* No NIC above its rate; the part inside the servers lies within the whole; the choice is never beaten. */
static void limits_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        const struct collective_hardware hardware = any_hardware(seed);
        const struct collective_group group = any_group(seed);
        const double size = any_scale(seed, 11, 1, 1e12);
        const enum collective_op op = seed % COLLECTIVE_OPS;
        const struct collective_result result =
            collective_time(&hardware, op, &group, size, ALLOW_ALL);
        if (group.gpus == 1) continue;
        CHECK(result.network_bytes / result.total_s <=
                  hardware.nics * hardware.nic_bytes_per_s * (1 + 1e-9),
              "seed %lu: %s with %s above the NICs", seed, collective_op_names[op],
              collective_algorithm_names[result.algorithm]);
        CHECK(result.intra_s >= 0 && result.intra_s <= result.total_s, "seed %lu: inside", seed);
        CHECK(result.wire_s <= result.total_s, "seed %lu: wire", seed);
        if (group.servers == 1) assert_true(result.intra_s == result.total_s);
        if (op == OP_ALL_REDUCE && group.servers > 1 && group.gpus == group.servers)
            assert_true(result.intra_s == 0);
        for (int a = 0; a < COLLECTIVE_ALGORITHMS; a++)
            if (collective_can(&hardware, op, &group, a))
                CHECK(result.total_s <=
                          collective_time(&hardware, op, &group, size, ALLOW(a)).total_s,
                      "seed %lu: %s is faster", seed, collective_algorithm_names[a]);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    static const struct {
        void (*test)(void **state);
        const char *name;
    } tests[] = {
        { rings_are_those_of_the_model, "rings are those of the model" },
        { other_operations_are_those_of_the_model, "other operations are those of the model" },
        { hierarchies_are_those_of_the_model, "hierarchies are those of the model" },
        { the_lowest_line_counts, "the lowest line counts" },
        { sums_in_the_switch_gain_as_measured, "sums in the switch gain as measured" },
        { trees_grow_with_the_logarithm, "trees grow with the logarithm" },
        { two_servers_gain_where_measured, "two servers gain where measured" },
        { sums_in_the_fabric, "sums in the fabric" },
        { staging_is_per_rank, "staging is per rank" },
        { staged_by_the_fullest_server, "staged by the fullest server" },
        { all_to_all_uses_the_nic_of_each_gpu, "all-to-all uses the NIC of each GPU" },
        { c115_uneven_groups_of_unequal_inside, "C115: uneven groups of unequal inside" },
        { c112_c119_the_size_of_the_group_counts, "C112, C119: the size of the group counts" },
        { c110_monotone_in_every_bandwidth, "C110: monotone in every bandwidth" },
        { monotone_in_size, "monotone in size" },
        { limits_hold, "limits hold" },
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        rows_add(&rows, tests[i].test, NULL, "%s", tests[i].name);
    for (uintptr_t row = 0; row < sizeof wires / sizeof *wires; row++)
        rows_add(&rows, bytes_on_the_network, (void *)row, "bytes on the network, %s",
                 wires[row].name);
    return rows_run("collective_time", &rows);
}
