/* free_index.h - which nodes have how many GPUs free.
 *
 * For a pool of equal nodes: a set of nodes for each number of free GPUs (0 .. g), a count of each
 * set, and the leaves sorted by how many wholly free nodes they have. Updated by
 * free_index_change only; a node that takes no new jobs is in no set. */
#ifndef GPUPLAN_CLUSTER_FREE_INDEX_H
#define GPUPLAN_CLUSTER_FREE_INDEX_H

#include "base/arena.h"
#include "base/limits.h"
#include "cluster/bitset.h"

#include <stdbool.h>
#include <stdint.h>

#define FREE_OUT (-1) /* "free GPUs" of a node that takes no new jobs */

struct free_index {
    uint32_t nodes, gpus_per_node, nodes_per_leaf, leaves;
    struct bitset by_free[LIMIT_GPUS_PER_SERVER + 1]; /* nodes with exactly f GPUs free           */
    uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1];    /* their numbers                            */
    struct bitset *leaves_by_whole; /* [nodes_per_leaf + 1] leaves by wholly free nodes */
    struct bitset whole_counts;     /* counts that some leaf has                */
    uint32_t *whole_of_leaf;        /* [leaves]                                 */
    uint64_t free_gpus;             /* sum over the sets                        */
};

/* All nodes start outside (FREE_OUT). False: memory is out. */
bool free_index_init(struct free_index *index, struct arena *arena, uint32_t nodes,
                     uint32_t gpus_per_node, uint32_t nodes_per_leaf);

/* Moves a node from `was` to `is` free GPUs; FREE_OUT for outside. */
void free_index_change(struct free_index *index, uint32_t node, int was, int is);

/* The same for many nodes in a row: the leaf of the nodes is brought up to date once per run of
 * nodes of one leaf, and must be by free_index_flush before the index is read. */
struct leaf_sum {
    uint32_t leaf;
    int by; /* wholly free nodes more; 0 = nothing to do */
};
void free_index_change_many(struct free_index *index, uint32_t node, int was, int is,
                            struct leaf_sum *sum);
void free_index_flush(struct free_index *index, struct leaf_sum *sum);

#endif
