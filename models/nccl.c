/* nccl.c - NCCL's own predictor for all-reduce, MODELS 2.9. */
#include "models/nccl.h"

#include "base/assert.h"

#include <math.h>
#include <stdbool.h>

const char *const nccl_algorithm_names[NCCL_ALGORITHMS] = { "tree", "ring" };
const char *const nccl_protocol_names[NCCL_PROTOCOLS] = { "ll", "ll128", "simple" };

#define US 1e-6
#define GB 1e9

/* Columns of the tables below: nodes 1, 2, more. */
enum { NODE_COLUMNS = 3, CORRECTED_SIZES = 23 };

/* --- NCCL's constants (tuning.cc), in its own units: us and GB/s per channel ---------------------- */

static const double base_us[NCCL_ALGORITHMS][NCCL_PROTOCOLS] = {
    [NCCL_TREE] = { 6.8, 14.0, 8.4 },
    [NCCL_RING] = { 6.6, 14.0, 8.4 },
};
static const double intra_us[NCCL_LINKS][NCCL_ALGORITHMS][NCCL_PROTOCOLS] = {
    [NCCL_NVLINK] = { [NCCL_TREE] = { 0.6, 1.25, 4.0 }, [NCCL_RING] = { 0.6, 1.9, 3.4 } },
    [NCCL_PCIE] = { [NCCL_TREE] = { 1.0, 1.9, 4.0 }, [NCCL_RING] = { 1.0, 2.5, 5.7 } },
};
static const double network_us[NCCL_ALGORITHMS][NCCL_PROTOCOLS] = {
    [NCCL_TREE] = { 5.0, 8.5, 14.0 },
    [NCCL_RING] = { 2.7, 4.0, 14.0 },
};
/* Least time of an inner step of a ring that leaves the node; three times that for Simple. */
static const double overhead_us[NCCL_CPUS] = { [NCCL_INTEL] = 1.0, [NCCL_AMD] = 2.0 };

static const double ring_ll128_gb[NCCL_ARCHS][NODE_COLUMNS] = {
    [NCCL_AMPERE] = { 20.0, 20.0, 20.0 },
    [NCCL_HOPPER] = { 36.7, 36.7, 36.7 },
};
static const double tree_ll128_gb[NCCL_ARCHS][NODE_COLUMNS] = {
    [NCCL_AMPERE] = { 20.0, 20.0, 20.0 },
    [NCCL_HOPPER] = { 36.7, 36.7, 29.0 },
};
static const double tree_gb[NCCL_ARCHS][NODE_COLUMNS] = {
    [NCCL_AMPERE] = { 24.0, 23.6, 17.8 },
    [NCCL_HOPPER] = { 38.7, 41.4, 36.0 },
};
/* Most that LL moves over all channels: by GPU inside a node, by CPU between nodes. */
static const double ll_max_node_gb[NCCL_ARCHS] = { [NCCL_AMPERE] = 87.7, [NCCL_HOPPER] = 141.0 };
static const double ll_max_gb[NCCL_CPUS][NODE_COLUMNS] = {
    [NCCL_INTEL] = { 39.0, 39.0, 20.4 },
    [NCCL_AMD] = { 87.7, 22.5, 19.0 },
};
/* Share of the tree's bandwidth that is reached at 64 * 2^column bytes. */
static const double tree_correction[NCCL_PROTOCOLS][CORRECTED_SIZES] = {
    [NCCL_LL] = { 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
                  0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0 },
    [NCCL_LL128] = { 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
                     0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0 },
    [NCCL_SIMPLE] = { 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
                      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9 },
};

static const double bus_limit = 0.92; /* of the channels: what LL128 and trees get at most        */
static const double tree_ll_slow = 3.8;
static const double ll128_one_node = 7.0 / 9.0, ll128_nodes = 120.0 / 128.0;
static const double late_ring = 1.4, late_ring_bytes = 64.0;

/* --- helpers ------------------------------------------------------------------------------------- */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* floor(log2 x), x >= 1. */
static uint32_t log2_floor(uint64_t x)
{
    uint32_t bits = 0;
    while (x >>= 1) bits++;
    return bits;
}

static uint32_t node_column(const struct nccl_group *group)
{
    return group->nodes < NODE_COLUMNS ? group->nodes - 1 : NODE_COLUMNS - 1;
}

static double ll_max_bytes_per_s(const struct nccl_group *group)
{
    return GB * (group->nodes == 1 ? ll_max_node_gb[group->arch]
                                   : ll_max_gb[group->cpu][node_column(group)]);
}

static double ring_bytes_per_s(const struct nccl_group *group, enum nccl_protocol protocol,
                               double channels_bytes_per_s)
{
    double bus = channels_bytes_per_s;
    if (protocol == NCCL_LL) bus = smaller(ll_max_bytes_per_s(group), bus / 2);
    if (protocol == NCCL_LL128)
        bus = smaller(bus_limit * bus,
                      group->channels * ring_ll128_gb[group->arch][node_column(group)] * GB);
    return bus * group->ranks / (2.0 * (group->ranks - 1.0));
}

static double tree_bytes_per_s(const struct nccl_group *group, enum nccl_protocol protocol,
                               double channels_bytes_per_s, double size_bytes)
{
    const uint32_t column = node_column(group);
    double bus = smaller(bus_limit * channels_bytes_per_s,
                         group->channels * tree_gb[group->arch][column] * GB);
    if (protocol == NCCL_LL) bus = smaller(bus / tree_ll_slow, ll_max_bytes_per_s(group));
    if (protocol == NCCL_LL128)
        bus = smaller(bus * (group->nodes == 1 ? ll128_one_node : ll128_nodes),
                      group->channels * tree_ll128_gb[group->arch][column] * GB);
    const uint64_t units = (uint64_t)size_bytes >> 6; /* of 64 bytes; none: not corrected */
    const uint32_t size = units ? log2_floor(units) : CORRECTED_SIZES;
    return bus / 2 * (size < CORRECTED_SIZES ? tree_correction[protocol][size] : 1.0);
}

static double latency_s(const struct nccl_group *group, enum nccl_algorithm algorithm,
                        enum nccl_protocol protocol, double size_bytes)
{
    const double ranks = group->ranks, nodes = group->nodes, ranks_per_node = ranks / nodes;
    const double base_s = base_us[algorithm][protocol] * US;
    double inner_s = intra_us[group->intra][algorithm][protocol] * US;
    /* With one GPU a node nothing hides the network, which is what the tree's row measures. */
    const enum nccl_algorithm row = ranks_per_node == 1 ? NCCL_TREE : algorithm;
    const double nic_s = group->nic_latency_s * (protocol == NCCL_SIMPLE ? 2.0 : 1.0);
    const double outer_s = network_us[row][protocol] * US + nic_s;
    if (algorithm == NCCL_TREE)
        return base_s +
               2.0 * ((ranks_per_node - 1.0) * inner_s + log2_floor(group->nodes) * outer_s);

    if (group->nodes > 1)
        inner_s =
            larger(inner_s, overhead_us[group->cpu] * US * (protocol == NCCL_SIMPLE ? 3.0 : 1.0));
    const double outer_steps = 2.0 * (nodes - 1.0);
    const double ring_s =
        base_s + (2.0 * (ranks - 1.0) - outer_steps) * inner_s + outer_steps * outer_s;
    const bool late = protocol == NCCL_SIMPLE && group->nodes > 1 &&
                      size_bytes / ((double)group->channels * ranks) >= late_ring_bytes;
    return late ? late_ring * ring_s : ring_s;
}

/* --- the predictor --------------------------------------------------------------------------------- */

struct nccl_time nccl_allreduce(const struct nccl_group *group, enum nccl_algorithm algorithm,
                                enum nccl_protocol protocol, double size_bytes)
{
    ASSERT(group->nodes >= 1 && group->ranks >= 2 && group->ranks % group->nodes == 0);
    ASSERT(group->channels >= 1 && group->nic_latency_s >= 0);
    ASSERT(size_bytes >= 0 && size_bytes < 0x1p63);
    const double channel =
        group->nodes <= 2 ? group->intra_bytes_per_s : group->network_bytes_per_s;
    ASSERT(channel > 0);
    const double channels = group->channels * channel;
    struct nccl_time time;
    time.latency_s = latency_s(group, algorithm, protocol, size_bytes);
    time.algorithm_bytes_per_s = algorithm == NCCL_RING
                                     ? ring_bytes_per_s(group, protocol, channels)
                                     : tree_bytes_per_s(group, protocol, channels, size_bytes);
    time.total_s = time.latency_s + size_bytes / time.algorithm_bytes_per_s;
    return time;
}

struct nccl_choice nccl_best(const struct nccl_group *group, double size_bytes)
{
    struct nccl_choice best = { NCCL_TREE, NCCL_LL, { INFINITY, 0, 0 } };
    for (int a = 0; a < NCCL_ALGORITHMS; a++)
        for (int p = 0; p < NCCL_PROTOCOLS; p++) {
            const enum nccl_algorithm algorithm = (enum nccl_algorithm)a;
            const enum nccl_protocol protocol = (enum nccl_protocol)p;
            const struct nccl_time time = nccl_allreduce(group, algorithm, protocol, size_bytes);
            if (time.total_s < best.time.total_s)
                best = (struct nccl_choice){ algorithm, protocol, time };
        }
    return best;
}
