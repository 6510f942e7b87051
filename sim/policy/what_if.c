/* what_if.c - see what_if.h. */
#include "policy/what_if.h"

bool what_if_init(struct what_if *what_if, const struct cluster *cluster, struct arena *arena)
{
    what_if->cluster = *cluster;
    what_if->free_gpus = ARENA_ARRAY(arena, uint8_t, cluster->nodes);
    what_if->cluster.free_mask = ARENA_ARRAY(arena, uint32_t, cluster->nodes);
    if (!what_if->free_gpus || !what_if->cluster.free_mask ||
        !free_index_init(&what_if->cluster.index, arena, cluster->nodes, cluster->gpus_per_node,
                         cluster->nodes_per_leaf))
        return false;
    for (uint32_t node = 0; node < cluster->nodes; node++)
        free_index_change(&what_if->cluster.index, node, FREE_OUT, 0);
    return true;
}

void what_if_refresh(struct what_if *what_if, const struct cluster *cluster)
{
    const struct free_index index = what_if->cluster.index;
    uint32_t *free_mask = what_if->cluster.free_mask;
    what_if->cluster = *cluster;
    what_if->cluster.index = index;
    what_if->cluster.free_mask = free_mask;
}

void what_if_set(struct what_if *what_if, uint32_t node, uint32_t gpus, uint32_t mask)
{
    uint32_t lowest = 0;
    for (uint32_t i = 0; i < gpus; i++, mask &= mask - 1) lowest |= mask & (~mask + 1);
    what_if->cluster.free_mask[node] = lowest;
    if (what_if->free_gpus[node] == gpus) return;
    free_index_change(&what_if->cluster.index, node, what_if->free_gpus[node], (int)gpus);
    what_if->free_gpus[node] = (uint8_t)gpus;
}
