/* collective.c - closed forms of MODELS 2. */
#include "models/collective.h"

#include "base/assert.h"
#include <math.h>
#include <stddef.h>

const char *const allreduce_names[ALLREDUCE_ALGORITHMS] = { "flat_ring", "hier_ring", "hier_tree" };

static double larger(double a, double b)
{
    return a > b ? a : b;
}
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* (n - 1)/n: the share of its buffer that a ring member passes on, once. */
static double ring_share(uint32_t members)
{
    return (members - 1.0) / members;
}

double ring_allreduce_s(uint32_t gpu_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s)
{
    return 2.0 * ring_allgather_s(gpu_count, size_bytes, hop_s, bandwidth_bytes_per_s);
}

double ring_allgather_s(uint32_t gpu_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s)
{
    ASSERT(gpu_count >= 1);
    ASSERT(size_bytes >= 0 && hop_s >= 0 && bandwidth_bytes_per_s > 0);
    return (gpu_count - 1.0) * hop_s + ring_share(gpu_count) * size_bytes / bandwidth_bytes_per_s;
}

double chain_broadcast_s(uint32_t gpu_count, double size_bytes, double hop_s,
                         double bandwidth_bytes_per_s)
{
    ASSERT(gpu_count >= 1);
    if (gpu_count == 1) return 0.0;
    return (gpu_count - 2.0) * hop_s + point_to_point_s(size_bytes, hop_s, bandwidth_bytes_per_s);
}

double point_to_point_s(double size_bytes, double hop_s, double bandwidth_bytes_per_s)
{
    ASSERT(size_bytes >= 0 && hop_s >= 0 && bandwidth_bytes_per_s > 0);
    return hop_s + size_bytes / bandwidth_bytes_per_s;
}

double tree_coefficient(uint32_t server_count)
{
    static const double few[] = { 0.0, 0.0, 1.0, 1.5 };
    return server_count < 4 ? few[server_count] : 2.0;
}

/* ceil(log2 N): levels below the root of a binary tree. */
static uint32_t tree_depth(uint32_t server_count)
{
    uint32_t depth = 0;
    while (((uint64_t)1 << depth) < server_count) depth++;
    return depth;
}

double tree_allreduce_s(uint32_t server_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s)
{
    ASSERT(server_count >= 1);
    ASSERT(size_bytes >= 0 && hop_s >= 0 && bandwidth_bytes_per_s > 0);
    return 2.0 * tree_depth(server_count) * hop_s +
           tree_coefficient(server_count) * size_bytes / bandwidth_bytes_per_s;
}

double nvls_allreduce_s(uint32_t gpu_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s, double efficiency)
{
    ASSERT(gpu_count >= 1 && efficiency > 0);
    if (gpu_count == 1) return 0.0;
    return hop_s + (1.0 + 1.0 / gpu_count) * size_bytes / (efficiency * bandwidth_bytes_per_s);
}

static void check_place(const struct collective_place *place)
{
    ASSERT(place->servers >= 1 && place->gpus_per_server >= 1);
    ASSERT((uint64_t)place->servers * place->gpus_per_server <= place->gpus);
}

static bool is_even(const struct collective_place *place)
{
    return (uint64_t)place->servers * place->gpus_per_server == place->gpus;
}

double flat_allreduce_s(const struct collective_place *place, double size_bytes)
{
    check_place(place);
    const uint32_t n = place->gpus, servers = place->servers;
    if (n == 1) return 0.0;
    double bandwidth = place->network_bytes_per_s;
    if (servers == 1)
        bandwidth = place->intra_bytes_per_s;
    else if (n > servers)
        bandwidth = smaller(bandwidth, place->intra_bytes_per_s);
    ASSERT(bandwidth > 0);
    return 2.0 * (n - servers) * place->intra_hop_s + 2.0 * (servers - 1.0) * place->network_hop_s +
           2.0 * ring_share(n) * size_bytes / bandwidth;
}

/* Bytes that leave one server, in S, and steps between the servers. */
static void inter_cost(enum inter_algorithm inter, uint32_t servers, double *coefficient,
                       double *steps)
{
    switch (inter) {
    case INTER_RING:
        *coefficient = 2.0 * ring_share(servers);
        *steps = 2.0 * (servers - 1.0);
        return;
    case INTER_TREE:
        *coefficient = tree_coefficient(servers);
        *steps = 2.0 * tree_depth(servers);
        return;
    case INTER_SHARP:
        *coefficient = servers > 1 ? 1.0 : 0.0;
        *steps = servers > 1 ? 2.0 : 0.0;
        return;
    }
}

struct hierarchical_time hierarchical_allreduce(const struct collective_place *place,
                                                double size_bytes, enum inter_algorithm inter)
{
    check_place(place);
    ASSERT(is_even(place) && place->chunks >= 1);
    const uint32_t g = place->gpus_per_server;
    double coefficient = 0, steps = 0;
    inter_cost(inter, place->servers, &coefficient, &steps);

    struct hierarchical_time time = { 0, 0, 0 };
    if (g > 1) time.intra_s = 2.0 * ring_share(g) * size_bytes / place->intra_bytes_per_s;
    if (place->servers > 1) time.inter_s = coefficient * size_bytes / place->network_bytes_per_s;
    time.total_s = 2.0 * (g - 1.0) * place->intra_hop_s + steps * place->network_hop_s +
                   larger(time.intra_s, time.inter_s) +
                   smaller(time.intra_s, time.inter_s) / place->chunks;
    return time;
}

static struct collective_choice fastest(const struct collective_place *place, double size_bytes,
                                        uint32_t allowed)
{
    struct collective_choice best = { INFINITY, 0.0, ALLREDUCE_FLAT_RING };
    if (!is_even(place) || allowed == 0) allowed = 1u << ALLREDUCE_FLAT_RING;
    if (allowed >> ALLREDUCE_FLAT_RING & 1) best.total_s = flat_allreduce_s(place, size_bytes);
    static const struct {
        enum allreduce_algorithm algorithm;
        enum inter_algorithm inter;
    } hierarchical[] = { { ALLREDUCE_HIER_RING, INTER_RING }, { ALLREDUCE_HIER_TREE, INTER_TREE } };
    for (size_t i = 0; i < sizeof hierarchical / sizeof *hierarchical; i++) {
        if (!(allowed >> hierarchical[i].algorithm & 1)) continue;
        const double total_s =
            hierarchical_allreduce(place, size_bytes, hierarchical[i].inter).total_s;
        if (total_s >= best.total_s) continue;
        best.total_s = total_s;
        best.algorithm = hierarchical[i].algorithm;
    }
    return best;
}

struct collective_choice allreduce_of(const struct collective_place *place, double size_bytes,
                                      uint32_t allowed)
{
    check_place(place);
    struct collective_choice best = fastest(place, size_bytes, allowed);
    if (place->servers == 1) {
        best.intra_s = best.total_s;
        return best;
    }
    struct collective_place free_network = *place;
    free_network.network_bytes_per_s = INFINITY;
    free_network.network_hop_s = 0.0;
    best.intra_s = smaller(fastest(&free_network, size_bytes, allowed).total_s, best.total_s);
    return best;
}

struct collective_choice allreduce_best(const struct collective_place *place, double size_bytes)
{
    return allreduce_of(place, size_bytes, (1u << ALLREDUCE_ALGORITHMS) - 1);
}

double all_to_all_s(const struct collective_place *place, double size_bytes, double message_s)
{
    check_place(place);
    ASSERT(is_even(place));
    const double n = place->gpus, g = place->gpus_per_server, servers = place->servers;
    double intra_s = 0, inter_s = 0;
    if (g > 1)
        intra_s = place->intra_hop_s + (g - 1) * message_s +
                  (g - 1) / n * size_bytes / place->intra_bytes_per_s;
    if (servers > 1)
        inter_s = place->network_hop_s + (servers - 1) * g * message_s +
                  (servers - 1) * g / n * size_bytes / (place->network_bytes_per_s / g);
    return larger(intra_s, inter_s);
}

double bus_bytes_per_s(enum collective_kind kind, uint32_t gpu_count, double size_bytes,
                       double time_s)
{
    ASSERT(gpu_count >= 1 && time_s > 0);
    const double per_gpu = size_bytes / time_s;
    switch (kind) {
    case COLLECTIVE_ALLREDUCE:
        return 2.0 * ring_share(gpu_count) * per_gpu;
    case COLLECTIVE_ALLGATHER:
        return ring_share(gpu_count) * per_gpu;
    case COLLECTIVE_BROADCAST:
        return per_gpu;
    }
    return per_gpu;
}

double host_ring_bytes_per_s(const struct host_ring *ring)
{
    ASSERT(ring->gpus >= 1 && ring->gpus_per_uplink >= 1);
    double hop = smaller(ring->pcie_bytes_per_s, ring->uplink_bytes_per_s / ring->gpus_per_uplink);
    hop = smaller(hop, ring->memory_bytes_per_s / (2.0 * ring->gpus));
    if (ring->sockets > 1) hop = smaller(hop, ring->socket_link_bytes_per_s);
    return ring->efficiency * hop;
}

double leaf_uplink_bytes(enum leaf_pattern pattern, double size_bytes, uint32_t servers,
                         uint32_t servers_in_leaf, uint32_t gpus_per_server)
{
    ASSERT(servers >= 1 && servers_in_leaf <= servers);
    const double all = servers, here = servers_in_leaf, n = all * gpus_per_server;
    if (servers_in_leaf == servers || servers_in_leaf == 0) return 0.0;
    const double ring = 2.0 * (n - 1) / n * size_bytes;
    switch (pattern) {
    case LEAF_RING:
        return ring;
    case LEAF_RING_RANDOM:
        return ring * here * (all - here) / (all - 1);
    case LEAF_ALL_TO_ALL:
        break;
    }
    const double gpus_here = here * gpus_per_server;
    return gpus_here * size_bytes * (n - gpus_here) / n;
}
