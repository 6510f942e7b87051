/* what_if.h - a cluster as it would be with fewer GPUs free, for place_find: the nodes that a plan leaves
 * free all through a job's time, or those that preemptions would free.
 *
 * Shares everything with the real cluster but the free masks and their index, which are its own; only
 * nodes whose number of free GPUs changed since the last load are touched. */
#ifndef GPUPLAN_POLICY_WHAT_IF_H
#define GPUPLAN_POLICY_WHAT_IF_H

#include "cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>

struct what_if {
    struct cluster cluster; /* read by place_find; its grants and holders are the real ones        */
    uint8_t *free_gpus;     /* [nodes] as loaded                                                   */
};

/* All nodes begin with nothing free. */
bool what_if_init(struct what_if *what_if, const struct cluster *cluster, struct arena *arena);

/* The rest of the real cluster may have changed: must be called before the nodes are set. */
void what_if_refresh(struct what_if *what_if, const struct cluster *cluster);

/* The node has so many GPUs free: the lowest of those that `mask` names. */
void what_if_set(struct what_if *what_if, uint32_t node, uint32_t gpus, uint32_t mask);

#endif
