/* collective.h - time of one collective operation on an otherwise idle fabric (MODELS 2).
 *
 * Pure functions of SI quantities: no state, no clock, no allocation. Sizes follow nccl-tests: S is
 * the buffer of each rank for all-reduce and broadcast, the whole array for all-gather, what each
 * rank holds to send for all-to-all. Arguments outside the ranges are caller bugs (asserted).
 * Leaves out: congestion by others (models/contention), the cost of the additions, protocols for
 * small sizes. Tests: tests/test_collective.c, tests/cases/models/collective.csv. */
#ifndef GPUPLAN_MODELS_COLLECTIVE_H
#define GPUPLAN_MODELS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Duration of a ring all-reduce, in seconds.
 *
 *     t = 2 (n - 1) a  +  2 (n - 1)/n  S/B
 *
 *   gpu_count              n   members of the ring                 >= 1
 *   size_bytes             S   buffer held by each member          >= 0
 *   hop_s                  a   start-up cost of one step           >= 0
 *   bandwidth_bytes_per_s  B   slowest link, one direction         >  0
 *
 * Returns 0 for one GPU. Source: Thakur, Rabenseifner, Gropp 2005 (2.2). */
double ring_allreduce_s(uint32_t gpu_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s);

/* Ring all-gather or reduce-scatter: t = (n - 1) a + (n - 1)/n S/B (2.2). Arguments as above. */
double ring_allgather_s(uint32_t gpu_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s);

/* Pipelined broadcast along a chain: t = (n - 1) a + S/B (2.2); 0 for one GPU. */
double chain_broadcast_s(uint32_t gpu_count, double size_bytes, double hop_s,
                         double bandwidth_bytes_per_s);

/* One message: t = a + S/B (2.2). */
double point_to_point_s(double size_bytes, double hop_s, double bandwidth_bytes_per_s);

/* Largest multiple of S that leaves one server in a double binary tree: 0, 1, 1.5, then 2 (2.3). */
double tree_coefficient(uint32_t server_count);

/* Double binary tree between servers: t = 2 ceil(log2 N) a + c(N) S/B (2.3); 0 for one server.
 * Source: Sanders, Speck, Traeff 2009. */
double tree_allreduce_s(uint32_t server_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s);

/* In-switch reduction inside an NVLink domain of g GPUs: t = a + (1 + 1/g) S/(eta B) (2.6).
 * efficiency eta in (0, 1]; 0.68 reproduces 475 GB/s of bus bandwidth on 8 GPUs. */
double nvls_allreduce_s(uint32_t gpu_count, double size_bytes, double hop_s,
                        double bandwidth_bytes_per_s, double efficiency);

/* Where the members of one collective sit. */
struct collective_place {
    uint32_t servers;           /* N >= 1                                                      */
    uint32_t gpus;              /* n >= N                                                      */
    uint32_t gpus_per_server;   /* g: on the server that holds fewest, 1 <= g, g N <= n        */
    double intra_bytes_per_s;   /* B_i > 0: inside a server, per GPU; unread when n = N        */
    double network_bytes_per_s; /* k nic > 0: of one server, all NICs together; the smallest; unread
                                   when N = 1 */
    double intra_hop_s;         /* a_i >= 0                                                    */
    double network_hop_s;       /* a_e >= 0                                                    */
    double chunks;              /* >= 1: pipelining of the hierarchical forms; 2.5 takes 8     */
};

#define COLLECTIVE_CHUNKS 8.0 /* [A] of MODELS 2.5 */

/* One ring through all GPUs that enters and leaves each server once (2.4):
 *     B = B_i if N = 1;  k nic if n = N;  else min(B_i, k nic)
 *     t = 2 (n - N) a_i + 2 (N - 1) a_e + 2 (n - 1)/n S/B
 * The split of n over the servers may be uneven. */
double flat_allreduce_s(const struct collective_place *place, double size_bytes);

enum inter_algorithm { INTER_RING, INTER_TREE, INTER_SHARP };

/* Times of the bandwidth terms, and the whole with latency and overlap. */
struct hierarchical_time {
    double total_s;
    double intra_s; /* t_in, without latency  */
    double inter_s; /* t_out, without latency */
};

/* Reduce-scatter inside the servers, all-reduce between them, all-gather inside (2.5):
 *     T = lat_in + lat_out + max(t_in, t_out) + min(t_in, t_out)/chunks
 * Needs an even split: gpus = servers * gpus_per_server (asserted). */
struct hierarchical_time hierarchical_allreduce(const struct collective_place *place,
                                                double size_bytes, enum inter_algorithm inter);

enum allreduce_algorithm {
    ALLREDUCE_FLAT_RING,
    ALLREDUCE_HIER_RING,
    ALLREDUCE_HIER_TREE,
    ALLREDUCE_ALGORITHMS
};
extern const char *const allreduce_names[ALLREDUCE_ALGORITHMS]; /* "flat_ring", "hier_ring", ... */

struct collective_choice {
    double total_s;
    double intra_s; /* what it would take on an infinitely fast network (k nic infinite, a_e = 0):
                     * the rest of total_s is time lost to the network. 0 <= intra_s <= total_s */
    enum allreduce_algorithm algorithm;
};

/* The fastest of the allowed algorithms (a bit 1 << algorithm for each); an uneven split, and a mask
 * of 0, leave the flat ring only. Ties go to the first. One GPU: 0 seconds. */
struct collective_choice allreduce_of(const struct collective_place *place, double size_bytes,
                                      uint32_t allowed);

/* The fastest of flat ring, hierarchical ring and hierarchical tree (2.10). */
struct collective_choice allreduce_best(const struct collective_place *place, double size_bytes);

/* All-to-all (2.7): o is the cost of one message (default 0.5 us).
 *     T_in = a_i + (g - 1) o + (g - 1)/n S/B_i;  T_out = a_e + (N - 1) g o + (N - 1) g/n S/b_e, b_e
 * = k nic/g Returns the larger. Needs an even split. */
double all_to_all_s(const struct collective_place *place, double size_bytes, double message_s);

enum collective_kind {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_ALLGATHER, /* reduce-scatter and all-to-all as well */
    COLLECTIVE_BROADCAST  /* reduce, send and receive as well      */
};

/* Bus bandwidth as nccl-tests prints it: S/t times 2 (n - 1)/n, (n - 1)/n or 1 (2.1). time_s > 0.
 */
double bus_bytes_per_s(enum collective_kind kind, uint32_t gpu_count, double size_bytes,
                       double time_s);

/* What a ring hop carries when GPUs exchange through host memory (2.8). */
struct host_ring {
    uint32_t gpus, gpus_per_uplink, sockets; /* all >= 1                          */
    double pcie_bytes_per_s, uplink_bytes_per_s;
    double socket_link_bytes_per_s; /* unread with one socket            */
    double memory_bytes_per_s;      /* crossed twice by each GPU's data  */
    double efficiency;              /* e_shm, default 0.8 [A]            */
};

/* B = e min(pcie, uplink/gpus_per_uplink, memory/(2 g), socket link if sockets > 1). */
double host_ring_bytes_per_s(const struct host_ring *ring);

/* Bytes that one all-reduce or all-to-all of N servers puts on the uplinks of a leaf that holds s
 * of them (2.11). */
enum leaf_pattern { LEAF_RING, LEAF_RING_RANDOM, LEAF_ALL_TO_ALL };
double leaf_uplink_bytes(enum leaf_pattern pattern, double size_bytes, uint32_t servers,
                         uint32_t servers_in_leaf, uint32_t gpus_per_server);

#endif
