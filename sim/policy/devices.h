/* devices.h - GPUs that are shared out: what a node offers under a name, and which GPU a part comes from.
 *
 *   shard       the node's count is split evenly over its GPUs; all shards of a job on a node come from one GPU
 *   time_slice  each GPU is offered so many times; a replica goes to the GPU with the fewest taken
 *   mps         the same with memory split evenly
 *   mig_single  each GPU is cut into as many instances of one profile as fit; the parts keep the name of a GPU
 *   mig_mixed   each GPU is cut as the layout says; each profile has a name of its own
 *
 * A GPU's parts are fixed by the layout: the device plugin offers what the GPU is cut into, and cutting it
 * anew needs a GPU without instances (SCHEDULING 4), which no policy does by itself. MIG parts come from the
 * first GPU that has one, so that GPUs stay whole as long as can be. Leaves out: what neighbours on one GPU cost each other. */
#ifndef GPUPLAN_POLICY_DEVICES_H
#define GPUPLAN_POLICY_DEVICES_H

#include "cluster/cluster.h"
#include "spec/hardware.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the group's GPUs are given out in parts. */
static inline bool devices_cut(const struct server_group *group)
{
    return group->sharing != SHARING_NONE && group->sharing != SHARING_SHARE;
}

/* Parts called `profile` that an empty GPU of the group has; "" = those that pass for GPUs (time_slice, mps,
 * mig_single) or shards. */
uint32_t devices_per_gpu(const struct server_group *group, const char *profile);

/* Units of one such part; 0 when there is none. */
uint32_t devices_units(const struct server_group *group, const char *profile);

/* Free ones on a node now. */
uint32_t devices_free(const struct cluster *cluster, uint32_t node,
                      const struct server_group *group, const char *profile);

/* Parts that are chosen and not yet claimed, on any node. */
struct devices_picked {
    const struct part *parts; /* [count] */
    uint32_t count;
};

/* Free ones of one GPU beside what is picked. */
uint32_t devices_free_of(const struct cluster *cluster, uint32_t node, const struct server_group *group,
                         const char *profile, uint32_t bit, struct devices_picked picked);

/* One more part on the node from the GPUs of the mask `allowed`, beside what is picked; false when none is left. Fills
 * node, mask, share_units and slices of *part, zeroes the rest. */
bool devices_pick(const struct cluster *cluster, uint32_t node, const struct server_group *group,
                  const char *profile, uint32_t allowed, struct devices_picked picked,
                  struct part *part);

#endif
