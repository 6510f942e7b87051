/* model_funcs_network.h - queries of the sections on hardware, collectives and links. */
#ifndef TESTS_MODEL_FUNCS_NETWORK_H
#define TESTS_MODEL_FUNCS_NETWORK_H

#include "models/collective.h"
#include "models/hardware.h"
#include "models/mig.h"
#include "models/nccl.h"
#include "tests/model_rows.h"

#define GB 1e9
#define US 1e-6

static inline void put_collective(struct query *q, enum collective_kind kind, uint32_t n,
                                  double size_bytes, double time_s)
{
    put(q, "T_us", time_s / US);
    if (!(time_s > 0)) return; /* one GPU: no bandwidth to speak of */
    put(q, "algbw_GBps", size_bytes / time_s / GB);
    put(q, "busbw_GBps", bus_bytes_per_s(kind, n, size_bytes, time_s) / GB);
}

static inline void q_ar_ring(struct query *q)
{
    const uint32_t n = in_u32(q, "n");
    const double size = in(q, "S_B"), hop = in(q, "alpha_us") * US, bw = in(q, "B_GBps") * GB;
    put_collective(q, COLLECTIVE_ALLREDUCE, n, size, ring_allreduce_s(n, size, hop, bw));
}

static inline void q_ag_ring(struct query *q)
{
    const uint32_t n = in_u32(q, "n");
    const double size = in(q, "S_B"), hop = in(q, "alpha_us") * US, bw = in(q, "B_GBps") * GB;
    put_collective(q, COLLECTIVE_ALLGATHER, n, size, ring_allgather_s(n, size, hop, bw));
}

static inline void q_bcast_ring(struct query *q)
{
    const uint32_t n = in_u32(q, "n");
    const double size = in(q, "S_B"), hop = in(q, "alpha_us") * US, bw = in(q, "B_GBps") * GB;
    put_collective(q, COLLECTIVE_BROADCAST, n, size, chain_broadcast_s(n, size, hop, bw));
}

static inline void q_p2p(struct query *q)
{
    const double size = in(q, "S_B"), hop = in(q, "alpha_us") * US, bw = in(q, "B_GBps") * GB;
    put_collective(q, COLLECTIVE_BROADCAST, 2, size, point_to_point_s(size, hop, bw));
}

static inline void q_tree_coeff(struct query *q)
{
    put(q, "c", tree_coefficient(in_u32(q, "N")));
}

static inline void q_ar_tree(struct query *q)
{
    const uint32_t n = in_u32(q, "N");
    const double size = in(q, "S_B"), hop = in(q, "alpha_us") * US, bw = in(q, "B_GBps") * GB;
    put_collective(q, COLLECTIVE_ALLREDUCE, n, size, tree_allreduce_s(n, size, hop, bw));
}

static inline struct collective_place in_place(struct query *q)
{
    const uint32_t servers = in_u32(q, "N"), g = in_u32(q, "g");
    return (struct collective_place){
        .servers = servers,
        .gpus = servers * g,
        .gpus_per_server = g,
        .intra_bytes_per_s = in(q, "Bi_GBps") * GB,
        .network_bytes_per_s = in(q, "k") * in(q, "nic_GBps") * GB,
        .intra_hop_s = in(q, "ai_us") * US,
        .network_hop_s = in(q, "ae_us") * US,
        .chunks = in_or(q, "chunks", COLLECTIVE_CHUNKS),
    };
}

static inline void q_ar_flat(struct query *q)
{
    const struct collective_place place = in_place(q);
    const double size = in(q, "S_B");
    put_collective(q, COLLECTIVE_ALLREDUCE, place.gpus, size, flat_allreduce_s(&place, size));
}

static inline void q_ar_hier(struct query *q)
{
    const struct collective_place place = in_place(q);
    const double size = in(q, "S_B");
    const enum inter_algorithm inter = in_is(q, "inter", "ring")   ? INTER_RING
                                       : in_is(q, "inter", "tree") ? INTER_TREE
                                                                   : INTER_SHARP;
    const struct hierarchical_time time = hierarchical_allreduce(&place, size, inter);
    put_collective(q, COLLECTIVE_ALLREDUCE, place.gpus, size, time.total_s);
    put(q, "t_intra_us", time.intra_s / US);
    put(q, "t_inter_us", time.inter_s / US);
}

/* Not in the shared rows: the choice of 2.10. */
static inline void q_ar_best(struct query *q)
{
    struct collective_place place = in_place(q);
    place.gpus = (uint32_t)in_or(q, "n", place.gpus);
    const struct collective_choice best = allreduce_best(&place, in(q, "S_B"));
    put(q, "T_us", best.total_s / US);
    put(q, "intra_us", best.intra_s / US);
    put_text(q, "choice", allreduce_names[best.algorithm]);
}

static inline void q_ar_nvls(struct query *q)
{
    const uint32_t g = in_u32(q, "g");
    const double size = in(q, "S_B");
    put_collective(
        q, COLLECTIVE_ALLREDUCE, g, size,
        nvls_allreduce_s(g, size, in(q, "alpha_us") * US, in(q, "B_GBps") * GB, in(q, "eta")));
}

static inline void q_a2a(struct query *q)
{
    const struct collective_place place = in_place(q);
    const double size = in(q, "S_B");
    put_collective(q, COLLECTIVE_ALLGATHER, place.gpus, size,
                   all_to_all_s(&place, size, in_or(q, "o_us", 0.5) * US));
}

static inline void q_ring_shm(struct query *q)
{
    const struct host_ring ring = {
        .gpus = in_u32(q, "g"),
        .gpus_per_uplink = in_u32(q, "gpus_per_uplink"),
        .sockets = in_u32(q, "sockets"),
        .pcie_bytes_per_s = in(q, "pcie_GBps") * GB,
        .uplink_bytes_per_s = in(q, "uplink_GBps") * GB,
        .socket_link_bytes_per_s = in_or(q, "upi_GBps", 0) * GB,
        .memory_bytes_per_s = in(q, "mem_GBps") * GB,
        .efficiency = in_or(q, "eff", STAGING_EFFICIENCY),
    };
    put(q, "B_GBps", host_ring_bytes_per_s(&ring) / GB);
}

/* --- NCCL's predictor -------------------------------------------------------------------------- */

static inline struct nccl_group in_nccl(struct query *q)
{
    return (struct nccl_group){
        .arch = in_is(q, "arch", "hopper") ? NCCL_HOPPER : NCCL_AMPERE,
        .cpu = in_is(q, "cpu", "intel") ? NCCL_INTEL : NCCL_AMD,
        .intra = in_is(q, "intra", "NVL") ? NCCL_NVLINK : NCCL_PCIE,
        .nodes = in_u32(q, "nodes"),
        .ranks = in_u32(q, "ranks"),
        .channels = in_u32(q, "nch"),
        .intra_bytes_per_s = in(q, "bw_intra") * GB,
        .network_bytes_per_s = in(q, "bw_inter") * GB,
        .nic_latency_s = in(q, "lat_inter") * US,
    };
}

static inline void q_nccl_ar(struct query *q)
{
    const struct nccl_group group = in_nccl(q);
    enum nccl_algorithm algorithm = NCCL_TREE;
    enum nccl_protocol protocol = NCCL_LL;
    for (int i = 0; i < NCCL_ALGORITHMS; i++)
        if (in_is(q, "algo", nccl_algorithm_names[i])) algorithm = (enum nccl_algorithm)i;
    for (int i = 0; i < NCCL_PROTOCOLS; i++)
        if (in_is(q, "proto", nccl_protocol_names[i])) protocol = (enum nccl_protocol)i;
    const struct nccl_time time = nccl_allreduce(&group, algorithm, protocol, in(q, "bytes"));
    put(q, "T_us", time.total_s / US);
    put(q, "lat_us", time.latency_s / US);
    put(q, "algbw_GBps", time.algorithm_bytes_per_s / GB);
}

static inline void q_nccl_best(struct query *q)
{
    const struct nccl_group group = in_nccl(q);
    const struct nccl_choice best = nccl_best(&group, in(q, "bytes"));
    char choice[32];
    snprintf(choice, sizeof choice, "%s/%s", nccl_algorithm_names[best.algorithm],
             nccl_protocol_names[best.protocol]);
    put_text(q, "choice", choice);
    put(q, "T_us", best.time.total_s / US);
}

static inline void q_leaf_bytes(struct query *q)
{
    const enum leaf_pattern pattern = in_is(q, "pattern", "ring")          ? LEAF_RING
                                      : in_is(q, "pattern", "ring_random") ? LEAF_RING_RANDOM
                                                                           : LEAF_ALL_TO_ALL;
    put(q, "bytes",
        leaf_uplink_bytes(pattern, in(q, "S_B"), in_u32(q, "N"), in_u32(q, "s"), in_u32(q, "g")));
}

static inline void q_gpu_net_bw(struct query *q)
{
    const struct nic_share share = {
        .gpus_active = in_u32(q, "g"),
        .nics = in_u32(q, "k"),
        .nic_bytes_per_s = in(q, "nic_GBps") * GB,
        .slot_bytes_per_s = in(q, "slot_GBps") * GB,
        .gpu_pcie_bytes_per_s = in(q, "gpu_pcie_GBps") * GB,
        .host_memory_bytes_per_s = in(q, "host_mem_GBps") * GB,
        .gpudirect = in(q, "gdr") != 0,
    };
    put(q, "bw_GBps", gpu_net_bytes_per_s(&share) / GB);
}

static inline void q_pair_bw(struct query *q)
{
    static const char *const classes[] = {"NVL", "PIX", "PXB", "PHB", "SYS"};
    struct gpu_pair pair = {
        .peer_access = in(q, "p2p") != 0,
        .nvlink_bytes_per_s = {in_or(q, "nvl_a", 0) * GB, in_or(q, "nvl_b", 0) * GB},
        .pcie_bytes_per_s = {in_or(q, "pcie_a", 0) * GB, in_or(q, "pcie_b", 0) * GB},
        .uplink_bytes_per_s = in_or(q, "uplink", INFINITY) * GB,
        .memory_bytes_per_s = in_or(q, "mem", INFINITY) * GB,
        .root_overhead = in_or(q, "h", ROOT_COMPLEX_OVERHEAD),
        .staging_efficiency = in_or(q, "e_shm", STAGING_EFFICIENCY),
    };
    /* Absent keys: an uplink that is not named does not limit, nor does a link between sockets. */
    pair.socket_link_bytes_per_s = in_or(q, "upi", INFINITY) * GB;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (in_is(q, "cls", classes[i])) pair.path = (enum path_class)i;
    put(q, "bw_GBps", pair_bytes_per_s(&pair) / GB);
}

static inline void q_two_tier(struct query *q)
{
    const struct two_tier tree =
        two_tier((uint64_t)in(q, "ports"), in_u32(q, "radix"), in(q, "oversub"));
    put(q, "down", (double)tree.down);
    put(q, "up", (double)tree.up);
    put(q, "leaves", (double)tree.leaves);
    put(q, "spines", (double)tree.spines);
    put(q, "switches", (double)tree.switches);
    put(q, "trunks", (double)tree.trunks);
    put(q, "feasible", tree.feasible);
    put(q, "real_oversub", tree.oversubscription);
}

static inline void q_three_tier(struct query *q)
{
    const struct three_tier tree = three_tier((uint64_t)in(q, "ports"), in_u32(q, "radix"));
    put(q, "leaves", (double)tree.leaves);
    put(q, "aggs", (double)tree.aggregations);
    put(q, "cores", (double)tree.cores);
    put(q, "switches", (double)tree.switches);
    put(q, "trunks", (double)tree.trunks);
    put(q, "feasible", tree.feasible);
}

static inline void q_rail_fabric(struct query *q)
{
    const struct rail_fabric fabric =
        rail_fabric((uint64_t)in(q, "servers"), in_u32(q, "rails"), in_u32(q, "radix"));
    put(q, "per_rail", (double)fabric.switches_per_rail);
    put(q, "switches", (double)fabric.switches);
    put(q, "trunks", (double)fabric.trunks);
    put(q, "feasible", fabric.feasible);
}

static inline void q_path_lat(struct query *q)
{
    put(q, "lat_us",
        path_latency_s(in_u32(q, "n_sw"), in(q, "t_sw_ns") * 1e-9, in(q, "t_nic_ns") * 1e-9,
                       in(q, "cable_m")) /
            US);
}

static inline void q_hop_count(struct query *q)
{
    const enum topology topology = in_is(q, "topo", "two_tier")     ? TOPOLOGY_TWO_TIER
                                   : in_is(q, "topo", "three_tier") ? TOPOLOGY_THREE_TIER
                                                                    : TOPOLOGY_DRAGONFLY_PLUS;
    put(q, "switches",
        hop_count(topology, in_u32(q, "leaf_a"), in_u32(q, "leaf_b"),
                  has(q, "group") ? in_u32(q, "group") : 1));
}

static inline void q_rail_hops(struct query *q)
{
    const struct rail_hops hops =
        rail_hops(in_u32(q, "rail_a"), in_u32(q, "rail_b"), in_u32(q, "unit_a"),
                  in_u32(q, "unit_b"), in(q, "pxn") != 0);
    put(q, "switches", hops.switches);
    put(q, "nvl_hops", hops.nvlink_hops);
}

static inline void q_leaf_share(struct query *q)
{
    put(q, "bw_GBps",
        leaf_share_bytes_per_s(in(q, "nic_GBps") * GB, in(q, "flows"), in(q, "uplinks"),
                               in(q, "uplink_GBps") * GB) /
            GB);
}

static inline void q_mig_fit(struct query *q)
{
    static const char sizes[MIG_PROFILES] = {'1', '2', '3', '4', '7'};
    uint32_t counts[MIG_PROFILES] = {0};
    for (const char *at = in_text(q, "profiles"); *at; at++)
        for (int i = 0; i < MIG_PROFILES; i++) counts[i] += *at == sizes[i];
    put(q, "feasible", mig_fit(counts));
}

#endif
