/* collective_time.h - time of any collective on servers as they were measured (MODELS 2.10; FIGURES 1 "Collectives").
 *
 * The closed forms of collective.h, fed with what is known of a server type and a link: where a fit of measured times
 * exists it is used, else the two constants of each form. In one server the time is the lower envelope of straight
 * lines, one per protocol of NCCL; between servers it is the smallest of the algorithms that are allowed and that the
 * hardware has.
 *
 *   one server    t = min over the lines of  latency(g) + f S/B(g)          f of nccl-tests: bus bandwidth (2.1)
 *   ring          t = 2 (n - N) a_i + 2 (N - 1) a_e + f S/min(B(g), W)      W: the NICs in use of a server (2.4);
 *                 but for all-reduce at least as long as in one of the servers by itself
 *   tree          t = l(g) + 2 ceil(log2 N) a_tree + f S/min(B(g), W)       double binary trees, NVLSTree; l(g): the
 *                 latency of the line in one server. A line of LL carries at most W/2, of LL128 120/128 W (2.9); that of two
 *                 whole servers at most what c(2) S through the NICs allows: S/W (2.3)
 *   hierarchical  as 2.5, with 8 chunks
 *   sharp         t = l(g) + 2 a_tree + max(f S/B(g), S/W)                  sums in the fabric
 *   all-to-all    t = max(what stays in a server as there, a_e + (N - 1) g o + (N - 1) g/n S/(e(N) W/g))     (2.7)
 *
 * Of NVLink domains over several servers (1.8) N counts domains and g their GPUs, and W is that of the domain with the
 * fewest servers. What was measured between domains bounds W whatever the NICs: an eighth of what they carry, cause unknown.
 * In use are the NICs of the group's GPUs (1.4, spec/nic_map): u(g) of k, so that W = min(u(g) nic, g pcie), of the server
 * that holds fewest. The k nic of 2.4 with g = 1 and the k nic/g of 1.4 are those of jobs that hold all GPUs of their
 * servers; there u = k.
 * Uplinks that carry more than a ring's bytes (leaf_load of the group) leave W so much less; what all-to-all loses on NICs, e(N), it
 * does not lose on uplinks that are slower anyhow.
 *
 * Without GPUDirect every GPU stages its own traffic, so that W is the share of one GPU (end of 2.10); where it was
 * measured what one GPU alone gets, W is what models/staging leaves of that, all-to-all as a ring (assumed). W never
 * exceeds the line rate of the NICs. Time is 0 for one GPU, never falls with size and never rises with a bandwidth.
 *
 * Pure functions of SI quantities: no state, no clock, no allocation, basic arithmetic only. Arguments outside the
 * ranges are caller bugs (asserted). Leaves out: other jobs on the same links, the cost of the additions.
 * Tests: tests/test_collective_time.c; measured rows: make validate. */
#ifndef GPUPLAN_MODELS_COLLECTIVE_TIME_H
#define GPUPLAN_MODELS_COLLECTIVE_TIME_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Sizes S are those of nccl-tests: the buffer of each rank for all-reduce, broadcast, reduce and send/receive, the
 * whole array for all-gather and reduce-scatter, what each rank holds to send for all-to-all (2.1). */
enum collective_op {
    OP_ALL_REDUCE,
    OP_ALL_GATHER,
    OP_REDUCE_SCATTER,
    OP_ALL_TO_ALL,
    OP_BROADCAST,
    OP_REDUCE,
    OP_SEND_RECV,
    COLLECTIVE_OPS
};

enum collective_algorithm {
    ALGORITHM_RING,
    ALGORITHM_TREE,
    ALGORITHM_HIER_RING,
    ALGORITHM_HIER_TREE,
    ALGORITHM_NVLS,
    ALGORITHM_SHARP,
    ALGORITHM_DIRECT, /* all-to-all, send/receive: messages between pairs                          */
    COLLECTIVE_ALGORITHMS
};

/* Sets of algorithms: a bit each. What the hardware or the operation lacks is passed over. */
#define ALLOW(algorithm) (1u << (algorithm))
/* What NCCL chooses from by itself: no hierarchical form, and a fabric that sums must be asked for. */
#define ALLOW_AUTO                                                                                 \
    (ALLOW(ALGORITHM_RING) | ALLOW(ALGORITHM_TREE) | ALLOW(ALGORITHM_NVLS) | ALLOW(ALGORITHM_DIRECT))
#define ALLOW_ALL ((1u << COLLECTIVE_ALGORITHMS) - 1)

enum collective_protocol { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, COLLECTIVE_PROTOCOLS };

/* What more of would shorten the collective most. */
enum collective_bottleneck {
    BOTTLENECK_LATENCY,
    BOTTLENECK_NVLINK,
    BOTTLENECK_PCIE,
    BOTTLENECK_NIC,
    BOTTLENECK_HOST_MEMORY,
    BOTTLENECK_LEAF,   /* uplinks of a leaf                                       */
    BOTTLENECK_DOMAIN, /* what rings and trees were measured to pass between domains */
    COLLECTIVE_BOTTLENECKS
};

/* "all_reduce", ...; "ring", ...; "ll", ...; "latency", ... */
extern const char *const collective_op_names[COLLECTIVE_OPS];
extern const char *const collective_algorithm_names[COLLECTIVE_ALGORITHMS];
extern const char *const collective_protocol_names[COLLECTIVE_PROTOCOLS];
extern const char *const collective_bottleneck_names[COLLECTIVE_BOTTLENECKS];

/* t = latency + f S/B, f S: the bytes that the bus bandwidth counts. */
struct collective_line {
    double latency_s;   /* >= 0            */
    double bytes_per_s; /* B > 0; 0 = none */
};

enum { COLLECTIVE_LINES = 3 };

/* Fits of one operation on a whole server (or NVLink domain), slowest protocol first; all 0 = not measured. */
struct collective_lines {
    struct collective_line line[COLLECTIVE_LINES];
};

/* What one server type and one link generation can do. */
struct collective_hardware {
    /* inside a server */
    uint32_t gpus;                /* of one server, 1 .. LIMIT_GPUS_PER_SERVER                            */
    double scaleup_bytes_per_s;   /* B_i: bus bandwidth of a ring through all of them, > 0               */
    double scaleup_hop_s;         /* a_i                                                                  */
    double ring_bytes_per_s[LIMIT_GPUS_PER_SERVER + 1]; /* [g]: of a ring through g GPUs (meshes, bridged pairs);
                                                           0 = B_i                                        */
    uint32_t lines_gpus;          /* group that the lines below were measured on; unread without them     */
    struct collective_lines all_reduce, all_gather, all_to_all;
    struct collective_lines nvls; /* sums in the NVSwitch; all 0 = it has none                            */
    uint32_t domain_servers;      /* servers that share one NVLink domain; 1 = each its own               */
    double domain_bytes_per_s;    /* rings and trees between domains, measured; 0 = what the NICs carry   */

    /* between servers */
    uint32_t nics;                  /* k: of one server, >= 1                                             */
    uint32_t nics_used[LIMIT_GPUS_PER_SERVER + 1]; /* [g]: u, in use by a group's g GPUs on a server; 0 = k   */
    double nic_bytes_per_s;         /* effective, one direction, never above the line rate                */
    double gpu_pcie_bytes_per_s;    /* what one GPU can send                                              */
    double host_memory_bytes_per_s; /* crossed twice by traffic without GPUDirect                         */
    bool gpudirect;
    double staged_bytes_per_s;      /* without: what a GPU alone on its server gets; 0 = not measured     */
    double network_hop_s;           /* a_e: of one step of a ring                                         */
    double tree_hop_s;              /* of one level of a tree; 0 = no trees between servers               */
    struct collective_line tree_small; /* its line for small messages, latency per level                  */
    enum collective_protocol tree_small_protocol; /* of that line                                         */
    bool sharp;                     /* the switches sum                                                   */
    struct collective_line two_servers; /* measured on two servers where a tree is faster than the NICs allow a ring;
                                           all 0 = no gain                                                */
    double uplinks_bytes_per_s;     /* by which the ring of a group leaves a leaf; INFINITY = they never limit */
    double pair_bytes_per_s;        /* between two groups of a dragonfly that it spans; 0 = it does not      */
};

/* Where the members of one collective sit. */
struct collective_group {
    uint32_t servers;  /* N >= 1                                                     */
    uint32_t gpus;     /* n >= N                                                     */
    uint32_t gpus_min; /* g: on the server that holds fewest, 1 <= g, g N <= n       */
    bool spans_leaves; /* its servers hang on more than one leaf                     */
    /* Where servers share NVLink domains; 0: as few domains as hold them, all but the last one full */
    uint32_t domains;        /* that hold it                                         */
    uint32_t domain_servers; /* >= 1, on the domain that holds fewest                */
    uint32_t domain_gpus;    /* >= 1, on the domain that holds fewest of these       */
    uint32_t leaf_servers, pair_servers; /* most of its servers on one leaf, and in one group of a dragonfly; 0: unknown */
    /* Bytes over the uplinks of the fullest leaf, and from one group of a dragonfly to another, over those that a ring of
     * servers (or domains) puts there (models/traffic); 0: it is a ring, or unknown */
    double leaf_load, pair_load;
};

struct collective_result {
    double total_s;
    double intra_s; /* on an infinitely fast network; the rest is lost to the network. 0 <= intra_s <= total_s */
    double network_bytes; /* that leave each server, and enter it, over all its NICs together (2.11); 0 on one */
    double wire_s;        /* the larger of the bandwidth terms; the rest of total_s is latency and, of a hierarchical
                             form, what its phases do not overlap */
    enum collective_algorithm algorithm;
    enum collective_protocol protocol;
    enum collective_bottleneck bottleneck;
};

/* The fastest of the allowed algorithms that the hardware has; ties go to the first. Where none of them can do the
 * operation on this group, the ring or, for all-to-all and send/receive, messages between pairs. size_bytes >= 0. */
struct collective_result collective_time(const struct collective_hardware *hardware,
                                         enum collective_op op, const struct collective_group *group,
                                         double size_bytes, uint32_t allowed);

/* Whether the hardware can run the operation with this algorithm on this group. */
bool collective_can(const struct collective_hardware *hardware, enum collective_op op,
                    const struct collective_group *group, enum collective_algorithm algorithm);

/* f of nccl-tests: bus bandwidth = f S/t (2.1). */
double collective_bus_factor(enum collective_op op, uint32_t gpus);

#endif
