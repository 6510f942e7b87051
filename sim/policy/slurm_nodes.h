/* slurm_nodes.h - what Slurm's selector knows of the nodes and never changes: kinds of nodes, names, partitions,
 * switches and blocks. Built once per run; read only.
 *
 * Sets of nodes are words of 64 bits, [words], bit = node row, as in slurm_slots.h. */
#ifndef GPUPLAN_POLICY_SLURM_NODES_H
#define GPUPLAN_POLICY_SLURM_NODES_H

#include "base/arena.h"
#include "base/bits.h"
#include "base/limits.h"
#include "spec/node_names.h"
#include "spec/plan.h"
#include "spec/scenario.h"
#include "spec/slurm.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SLURM_SOCKETS = 8, /* of one node; real ones have 1 to 8                                       */
    SLURM_GPUS = 64,   /* whole ones or MIG instances of one node: 8 cards cut into 7 are 56          */
};

/* Nodes that are alike. */
struct slurm_kind {
    uint32_t first_node, nodes, cores, sockets, shards_per_gpu, weight;
    uint32_t gpus;      /* that are given out whole, or MIG instances: cards * cut_count             */
    uint32_t cards, cut_count;   /* cut_count 0 = not cut                                           */
    const struct gpu_cut *cuts;  /* borrowed from the layout                                       */
    uint64_t gpu_mask;           /* a bit for each of gpus; instance c of card g is bit g * cut_count + c */
    uint64_t memory_mib;
    const char *gpu_type, *features; /* borrowed from the layout                                  */
    bool near_cores; /* Cores= was said: GPUs belong to sockets                                     */
    bool linked;     /* Links= was said                                                            */
    bool listed;     /* Slurm keeps a list of its GPUs (Cores=, a type, or shards), not only their number */
    uint32_t gpus_of_socket[SLURM_SOCKETS]; /* masks; with near_cores only                          */
    const int16_t (*link_score)[LIMIT_GPUS_PER_SERVER]; /* borrowed from the layout                 */
};

/* topology/tree: leaves have level 0; parent of a root is itself. */
struct slurm_switches {
    uint32_t count;
    uint32_t *parent, *level; /* [count]                                                           */
    uint64_t *below;          /* [count * words] nodes at or below the switch                        */
};

/* topology/block: blocks in order, each of size_nodes at most; aggregates of 2^level blocks. */
struct slurm_blocks {
    uint32_t count, size_nodes;
    uint32_t levels;    /* a bit for each allowed aggregate: bit k = 2^k blocks                       */
    uint64_t *of_block; /* [count * words]                                                         */
};

struct slurm_nodes {
    uint32_t nodes, words, gpus_most, sockets_most /* of nodes with near_cores; 0 = there are none */;
    bool scaled;     /* the layout was sized to a load: one kind, and lists of hosts name none of its nodes */
    bool one_weight; /* all kinds have the same weight                                              */
    bool sharded;
    struct slurm_kind *kinds; /* [kind_count]                                                       */
    uint32_t kind_count;
    uint8_t *kind_of;         /* [nodes]                                                           */
    uint64_t *partitions;     /* [partition_count * words]                                          */
    uint64_t *all;            /* [words]                                                           */
    enum slurm_topology topology;
    struct slurm_switches switches;
    struct slurm_blocks blocks;
    const struct layout *layout; /* borrowed                                                       */
    const struct slurm_spec *slurm;
};

/* The leaves of the variant's fabric are the switches, or blocks, when a topology is asked for and no lines are
 * written. False: memory is out. What the lists name was checked when the scenario was read. */
bool slurm_nodes_init(struct slurm_nodes *nodes, const struct scenario *scenario,
                      const struct variant *variant, struct arena *arena);

static inline const struct slurm_kind *slurm_kind_of(const struct slurm_nodes *nodes, uint32_t node)
{
    return &nodes->kinds[nodes->kind_of[node]];
}

static inline const uint64_t *slurm_partition_nodes(const struct slurm_nodes *nodes,
                                                    uint32_t partition)
{
    return nodes->partitions + (size_t)partition * nodes->words;
}

/* Adds the hosts of a list ("ALL", or a host list of known hosts) to a set. */
void slurm_set_add(const struct slurm_nodes *nodes, const char *list, uint64_t *set);

/* No node of the set is missing in `of`. */
static inline bool slurm_set_within(const uint64_t *set, const uint64_t *of, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (set[w] & ~of[w]) return false;
    return true;
}

static inline bool slurm_set_has(const uint64_t *set, uint32_t node)
{
    return set[node / 64] >> (node % 64) & 1;
}

static inline uint32_t slurm_set_count(const uint64_t *set, uint32_t words)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        count += (uint32_t)bits_count_64(set[w]);
    return count;
}

/* The number of nodes that are in both: sums of bytes of four words a turn, of 28 at most. */
static inline uint32_t slurm_set_common(const uint64_t *set, const uint64_t *other, uint32_t words)
{
    uint32_t count = 0, w = 0;
    while (w + 4 <= words) {
        uint64_t sum[4] = { 0 };
        for (uint32_t turn = 0; turn < 7 && w + 4 <= words; turn++, w += 4) {
            const uint64_t *a = set + w, *b = other + w;
            for (uint32_t i = 0; i < 4; i++) sum[i] += bits_of_bytes(a[i] & b[i]);
        }
        count += bits_sum_bytes(sum[0] + sum[1] + sum[2] + sum[3]);
    }
    for (; w < words; w++) count += (uint32_t)bits_count_64(set[w] & other[w]);
    return count;
}

#endif
