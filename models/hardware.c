/* hardware.c - closed forms of MODELS 1. */
#include "models/hardware.h"

#include "base/assert.h"

#include <math.h>

static const double cable_s_per_m = 5e-9; /* light in glass or copper: about two thirds of c */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

double gpu_net_bytes_per_s(const struct nic_share *share)
{
    ASSERT(share->gpus_active >= 1 && share->nics >= 1);
    const double active = share->gpus_active;
    double bandwidth =
        share->nics * smaller(share->nic_bytes_per_s, share->slot_bytes_per_s) / active;
    bandwidth = smaller(bandwidth, share->gpu_pcie_bytes_per_s);
    if (!share->gpudirect)
        bandwidth = smaller(bandwidth, share->host_memory_bytes_per_s / (2.0 * active));
    return bandwidth;
}

double pair_bytes_per_s(const struct gpu_pair *pair)
{
    if (pair->path == PATH_NVL)
        return smaller(pair->nvlink_bytes_per_s[0], pair->nvlink_bytes_per_s[1]);
    double bandwidth = smaller(pair->pcie_bytes_per_s[0], pair->pcie_bytes_per_s[1]);
    if (!pair->peer_access) {
        bandwidth = smaller(bandwidth, pair->uplink_bytes_per_s);
        bandwidth = smaller(bandwidth, pair->memory_bytes_per_s / 2.0);
        if (pair->path == PATH_SYS) bandwidth = smaller(bandwidth, pair->socket_link_bytes_per_s);
        return pair->staging_efficiency * bandwidth;
    }
    if (pair->path >= PATH_PXB) bandwidth = smaller(bandwidth, pair->uplink_bytes_per_s);
    if (pair->path >= PATH_PHB) bandwidth /= pair->root_overhead;
    if (pair->path == PATH_SYS) bandwidth = smaller(bandwidth, pair->socket_link_bytes_per_s);
    return bandwidth;
}

struct two_tier two_tier(uint64_t ports, uint32_t radix, double oversubscription)
{
    ASSERT(ports >= 1 && radix >= 2);
    ASSERT(oversubscription > 0);
    if (ports <= radix)
        return (struct two_tier){
            .down = ports, .leaves = 1, .switches = 1, .feasible = true, .oversubscription = 1.0
        };

    struct two_tier tree = { .up = (uint64_t)floor(radix / (1.0 + oversubscription)) };
    ASSERT(tree.up >= 1 && tree.up < radix);
    tree.down = radix - tree.up;
    tree.leaves = divide_up(ports, tree.down);
    tree.trunks = tree.leaves * tree.up;
    tree.spines = divide_up(tree.trunks, radix);
    tree.switches = tree.leaves + tree.spines;
    tree.feasible = tree.leaves <= radix && tree.spines <= tree.up;
    tree.oversubscription = (double)tree.down / (double)tree.up;
    return tree;
}

struct three_tier three_tier(uint64_t ports, uint32_t radix)
{
    ASSERT(ports >= 1 && radix >= 2 && radix % 2 == 0);
    struct three_tier tree = { 0 };
    tree.leaves = divide_up(ports, radix / 2);
    tree.aggregations = tree.leaves;
    tree.cores = divide_up(tree.aggregations, 2);
    tree.switches = tree.leaves + tree.aggregations + tree.cores;
    tree.trunks = (tree.leaves + tree.aggregations) * (radix / 2);
    tree.feasible = ports <= (uint64_t)radix * radix * radix / 4;
    return tree;
}

struct rail_fabric rail_fabric(uint64_t servers, uint32_t rails, uint32_t radix)
{
    ASSERT(rails >= 1);
    const struct two_tier rail = two_tier(servers, radix, 1.0);
    return (struct rail_fabric){
        .switches_per_rail = rail.switches,
        .switches = rails * rail.switches,
        .trunks = rails * rail.trunks,
        .feasible = rail.feasible,
    };
}

uint32_t hop_count(enum topology topology, uint32_t leaf_a, uint32_t leaf_b, uint32_t group)
{
    if (leaf_a == leaf_b) return 1;
    if (topology == TOPOLOGY_TWO_TIER) return 3;
    ASSERT(group >= 1);
    if (leaf_a / group == leaf_b / group) return 3;
    return topology == TOPOLOGY_THREE_TIER ? 5 : 4; /* leaf, spine, spine, leaf */
}

struct rail_hops rail_hops(uint32_t rail_a, uint32_t rail_b, uint32_t unit_a, uint32_t unit_b,
                           bool pxn)
{
    const bool forwarded = pxn && rail_a != rail_b;
    const bool same_leaf = unit_a == unit_b && (rail_a == rail_b || forwarded);
    return (struct rail_hops){ .switches = same_leaf ? 1 : 3, .nvlink_hops = forwarded };
}

double path_latency_s(uint32_t switches, double switch_s, double nic_s, double cable_m)
{
    return 2.0 * nic_s + switches * switch_s + cable_s_per_m * cable_m;
}

double leaf_share_bytes_per_s(double nic_bytes_per_s, double flows, double uplinks,
                              double uplink_bytes_per_s)
{
    ASSERT(flows >= 1);
    return smaller(nic_bytes_per_s, uplinks * uplink_bytes_per_s / flows);
}
