/* cluster_check.c - every invariant of the cluster, stated again from the tables alone (cluster.h). */
#include "base/assert.h"
#include "cluster/cluster.h"

/* Hosts and shares, from the grants of each node. */
static void check_hosts(const struct cluster *cluster)
{
    uint64_t share_units = 0;
    for (uint32_t node = 0; node < cluster->nodes; node++) {
        uint32_t mask = 0, taken[LIMIT_GPUS_PER_SERVER] = { 0 };
        for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
             row = cluster->grants[row].next_on_node) {
            const struct grant *grant = &cluster->grants[row];
            ASSERT(grant->node == node);
            if (grant->share_units)
                taken[__builtin_ctz(grant->mask)] += grant->share_units;
            else
                ASSERT((mask & grant->mask) == 0);
            if (!grant->share_units) mask |= grant->mask;
        }
        const struct cluster_group *group = &cluster->groups[cluster->group_of[node]];
        ASSERT(cluster->cores_milli_free[node] <= group->cores_milli);
        ASSERT(cluster->memory_free[node] <= group->memory_bytes);
        for (uint32_t bit = 0; cluster->share_free && bit < group->gpus; bit++) {
            const uint64_t gpu = (uint64_t)node * cluster->gpus_per_node + bit;
            const bool shared = cluster->holder[gpu] == LIVE_SHARED;
            ASSERT(shared == (taken[bit] > 0));
            ASSERT(cluster->share_free[gpu] == (shared ? CLUSTER_UNITS - taken[bit] : 0));
            if (!cluster->outs[node] && !(cluster->broken_mask[node] >> bit & 1))
                share_units += cluster->share_free[gpu];
        }
    }
    ASSERT(share_units == cluster->share_free_units);
}

/* GPUs of the node that somebody holds. */
static uint32_t held_mask(const struct cluster *cluster, uint32_t node)
{
    uint32_t mask = 0;
    for (uint32_t bit = 0; bit < cluster->gpus_per_node; bit++)
        if (cluster->holder[(uint64_t)node * cluster->gpus_per_node + bit] != LIVE_NONE)
            mask |= 1u << bit;
    return mask;
}

void cluster_check(const struct cluster *cluster)
{
    uint64_t free_gpus = 0;
    uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1] = { 0 };
    for (uint32_t node = 0; node < cluster->nodes; node++) {
        const uint32_t held = held_mask(cluster, node);
        ASSERT((held & cluster->free_mask[node]) == 0);
        ASSERT((cluster->free_mask[node] & cluster->broken_mask[node]) == 0);
        ASSERT((held | cluster->free_mask[node] | cluster->broken_mask[node]) ==
               cluster->full_mask[node]);
        ASSERT(cluster->downs[node] <= cluster->outs[node]);
        const int is = cluster_node_free(cluster, node);
        for (uint32_t f = 0; f <= cluster->gpus_per_node; f++)
            ASSERT(bitset_has(&cluster->index.by_free[f], node) == (is == (int)f));
        if (is < 0) continue;
        free_gpus += (uint64_t)is;
        with_free[is]++;
    }
    if (cluster->first_on_node) check_hosts(cluster);
    ASSERT(free_gpus == cluster->index.free_gpus);
    for (uint32_t f = 0; f <= cluster->gpus_per_node; f++)
        ASSERT(with_free[f] == cluster->index.with_free[f]);
    for (uint32_t leaf = 0; leaf < cluster->leaves; leaf++) {
        uint32_t whole = 0;
        for (uint32_t i = 0; i < cluster->nodes_per_leaf; i++) {
            const uint64_t node = (uint64_t)leaf * cluster->nodes_per_leaf + i;
            if (node < cluster->nodes)
                whole += cluster_node_free(cluster, (uint32_t)node) == (int)cluster->gpus_per_node;
        }
        ASSERT(whole == cluster->index.whole_of_leaf[leaf]);
    }
}
