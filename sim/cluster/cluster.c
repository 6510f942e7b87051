/* cluster.c - see cluster.h. Related columns change together, in the calls below and nowhere else. */
#include "cluster/cluster.h"

#include "base/assert.h"
#include "base/bits.h"

#include <stdlib.h>

bool cluster_init(struct cluster *cluster, struct arena *arena, struct cluster_size size)
{
    const uint64_t gpus = (uint64_t)size.nodes * size.gpus_per_node;
    *cluster = (struct cluster){
        .nodes = size.nodes,
        .gpus_per_node = size.gpus_per_node,
        .nodes_per_leaf = size.nodes_per_leaf,
        .full_mask = (uint32_t)((UINT64_C(1) << size.gpus_per_node) - 1),
        .free_mask = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .broken_mask = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .outs = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .downs = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .dead = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .holder = ARENA_ARRAY(arena, uint32_t, gpus),
        .grant_free = GRANT_NONE,
    };
    if (size.hosted) {
        cluster->cores_milli_free = ARENA_ARRAY(arena, uint32_t, size.nodes);
        cluster->memory_free = ARENA_ARRAY(arena, uint64_t, size.nodes);
        if (!cluster->cores_milli_free || !cluster->memory_free) return false;
    }
    if (!cluster->free_mask || !cluster->broken_mask || !cluster->outs || !cluster->downs ||
        !cluster->dead || !cluster->holder ||
        !free_index_init(&cluster->index, arena, size.nodes, size.gpus_per_node,
                         size.nodes_per_leaf))
        return false;
    cluster->leaves = cluster->index.leaves;
    for (uint64_t gpu = 0; gpu < gpus; gpu++) cluster->holder[gpu] = LIVE_NONE;
    for (uint32_t node = 0; node < size.nodes; node++) {
        cluster->free_mask[node] = cluster->full_mask;
        free_index_change(&cluster->index, node, FREE_OUT, (int)size.gpus_per_node);
        if (!size.hosted) continue;
        cluster->cores_milli_free[node] = size.cores_per_node * 1000;
        cluster->memory_free[node] = size.memory_bytes_per_node;
    }
    return true;
}

void cluster_clear(struct cluster *cluster)
{
    free(cluster->grants);
    *cluster = (struct cluster){ 0 };
}

int cluster_node_free(const struct cluster *cluster, uint32_t node)
{
    return cluster->outs[node] ? FREE_OUT : bits_count(cluster->free_mask[node]);
}

/* Grants live in a pool with a free list through `next`. */
static uint32_t grant_take(struct cluster *cluster)
{
    if (cluster->grant_free != GRANT_NONE) {
        const uint32_t row = cluster->grant_free;
        cluster->grant_free = cluster->grants[row].next;
        return row;
    }
    if (cluster->grant_count == cluster->grant_capacity) {
        const uint32_t capacity = cluster->grant_capacity ? 2 * cluster->grant_capacity : 1024;
        struct grant *grants = realloc(cluster->grants, (size_t)capacity * sizeof *grants);
        if (!grants) return GRANT_NONE;
        cluster->grants = grants;
        cluster->grant_capacity = capacity;
    }
    return cluster->grant_count++;
}

/* Changes the set of free GPUs of a node and tells the index. */
static void set_free_mask(struct cluster *cluster, uint32_t node, uint32_t mask)
{
    const int was = cluster_node_free(cluster, node);
    cluster->free_mask[node] = mask;
    free_index_change(&cluster->index, node, was, cluster_node_free(cluster, node));
}

/* The same for one of many nodes of a job. */
static void set_free_mask_many(struct cluster *cluster, uint32_t node, uint32_t mask,
                               struct leaf_sum *sum)
{
    const int was = cluster_node_free(cluster, node);
    cluster->free_mask[node] = mask;
    free_index_change_many(&cluster->index, node, was, cluster_node_free(cluster, node), sum);
}

static void host_change(struct cluster *cluster, uint32_t node, uint32_t gpus,
                        const struct demand *demand, bool take)
{
    if (!cluster->cores_milli_free || !demand->hosted) return;
    const uint32_t cores_milli = gpus * demand->cores_milli_per_gpu;
    const uint64_t memory_bytes = gpus * demand->memory_bytes_per_gpu;
    if (take) {
        ASSERT(cluster->cores_milli_free[node] >= cores_milli);
        ASSERT(cluster->memory_free[node] >= memory_bytes);
        cluster->cores_milli_free[node] -= cores_milli;
        cluster->memory_free[node] -= memory_bytes;
    } else {
        cluster->cores_milli_free[node] += cores_milli;
        cluster->memory_free[node] += memory_bytes;
    }
}

static uint32_t lowest_bits(uint32_t mask, uint32_t count)
{
    uint32_t bits = 0;
    for (; count > 0; count--) {
        const uint32_t bit = mask & (~mask + 1);
        bits |= bit;
        mask ^= bit;
    }
    return bits;
}

static void set_holder(struct cluster *cluster, uint32_t node, uint32_t mask, uint32_t live)
{
    uint32_t *holder = &cluster->holder[(uint64_t)node * cluster->gpus_per_node];
    for (; mask; mask &= mask - 1) holder[__builtin_ctz(mask)] = live;
}

uint32_t cluster_claim(struct cluster *cluster, uint32_t live, const struct part *parts,
                       uint32_t part_count, const struct demand *demand)
{
    uint32_t first = GRANT_NONE, last = GRANT_NONE;
    struct leaf_sum sum = { 0 };
    for (uint32_t p = 0; p < part_count; p++) {
        const uint32_t node = parts[p].node;
        ASSERT(cluster_node_free(cluster, node) >= (int)parts[p].gpus);
        const uint32_t row = grant_take(cluster);
        if (row == GRANT_NONE) return GRANT_NONE;
        const uint32_t mask = lowest_bits(cluster->free_mask[node], parts[p].gpus);
        cluster->grants[row] = (struct grant){ .node = node, .mask = mask, .next = GRANT_NONE };
        if (last == GRANT_NONE)
            first = row;
        else
            cluster->grants[last].next = row;
        last = row;
        set_holder(cluster, node, mask, live);
        set_free_mask_many(cluster, node, cluster->free_mask[node] & ~mask, &sum);
        host_change(cluster, node, parts[p].gpus, demand, true);
    }
    free_index_flush(&cluster->index, &sum);
    return first;
}

void cluster_release(struct cluster *cluster, uint32_t first_grant, const struct demand *demand)
{
    struct leaf_sum sum = { 0 };
    for (uint32_t row = first_grant; row != GRANT_NONE;) {
        struct grant *grant = &cluster->grants[row];
        const uint32_t node = grant->node, mask = grant->mask, next = grant->next;
        set_holder(cluster, node, mask, LIVE_NONE);
        set_free_mask_many(cluster, node,
                           cluster->free_mask[node] | (mask & ~cluster->broken_mask[node]), &sum);
        host_change(cluster, node, (uint32_t)bits_count(mask), demand, false);
        grant->next = cluster->grant_free;
        cluster->grant_free = row;
        row = next;
    }
    free_index_flush(&cluster->index, &sum);
    cluster->releases++;
}

/* GPUs of the node that somebody holds. */
static uint32_t held_mask(const struct cluster *cluster, uint32_t node)
{
    const uint32_t *holder = &cluster->holder[(uint64_t)node * cluster->gpus_per_node];
    uint32_t mask = 0;
    for (uint32_t bit = 0; bit < cluster->gpus_per_node; bit++)
        if (holder[bit] != LIVE_NONE) mask |= 1u << bit;
    return mask;
}

void cluster_gpu_broken(struct cluster *cluster, uint32_t node, uint32_t mask)
{
    cluster->broken_mask[node] |= mask;
    set_free_mask(cluster, node, cluster->free_mask[node] & ~mask);
}

void cluster_gpu_whole(struct cluster *cluster, uint32_t node, uint32_t mask)
{
    cluster->broken_mask[node] &= ~mask;
    set_free_mask(cluster, node, cluster->free_mask[node] | (mask & ~held_mask(cluster, node)));
    cluster->releases++;
}

void cluster_node_out(struct cluster *cluster, uint32_t node)
{
    const int was = cluster_node_free(cluster, node);
    cluster->outs[node]++;
    free_index_change(&cluster->index, node, was, FREE_OUT);
}

void cluster_node_back(struct cluster *cluster, uint32_t node)
{
    ASSERT(cluster->outs[node] > 0);
    cluster->outs[node]--;
    free_index_change(&cluster->index, node, FREE_OUT, cluster_node_free(cluster, node));
    cluster->releases++;
}

void cluster_node_dead(struct cluster *cluster, uint32_t node)
{
    cluster->dead[node]++;
    cluster_node_dark(cluster, node);
}

void cluster_node_alive(struct cluster *cluster, uint32_t node)
{
    ASSERT(cluster->dead[node] > 0);
    cluster->dead[node]--;
    cluster_node_lit(cluster, node);
}

void cluster_node_dark(struct cluster *cluster, uint32_t node)
{
    cluster_node_out(cluster, node);
    cluster->downs[node]++;
}

void cluster_node_lit(struct cluster *cluster, uint32_t node)
{
    ASSERT(cluster->downs[node] > 0);
    cluster->downs[node]--;
    cluster_node_back(cluster, node);
}

void cluster_node_down(struct cluster *cluster, uint32_t node)
{
    ASSERT(cluster->downs[node] < cluster->outs[node]);
    cluster->downs[node]++;
}

bool cluster_node_empty(const struct cluster *cluster, uint32_t node)
{
    return held_mask(cluster, node) == 0;
}

uint32_t cluster_broken_gpus(const struct cluster *cluster, uint32_t first_grant)
{
    uint32_t broken = 0;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        const uint32_t out =
            cluster->dead[grant->node] ? cluster->full_mask : cluster->broken_mask[grant->node];
        broken += (uint32_t)bits_count(grant->mask & out);
    }
    return broken;
}

struct idle cluster_node_idle(const struct cluster *cluster, uint32_t node)
{
    const uint32_t free_gpus = (uint32_t)bits_count(cluster->free_mask[node]);
    if (cluster->outs[node] == 0 && cluster->broken_mask[node] == 0)
        return (struct idle){ .free = free_gpus };
    const uint32_t held = held_mask(cluster, node);
    const uint32_t broken = (uint32_t)bits_count(cluster->broken_mask[node] & ~held);
    if (cluster->downs[node]) return (struct idle){ .down = free_gpus + broken };
    if (cluster->outs[node]) return (struct idle){ .draining = free_gpus, .down = broken };
    return (struct idle){ .free = free_gpus, .down = broken };
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
               cluster->full_mask);
        ASSERT(cluster->downs[node] <= cluster->outs[node]);
        const int is = cluster_node_free(cluster, node);
        for (uint32_t f = 0; f <= cluster->gpus_per_node; f++)
            ASSERT(bitset_has(&cluster->index.by_free[f], node) == (is == (int)f));
        if (is < 0) continue;
        free_gpus += (uint64_t)is;
        with_free[is]++;
    }
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
