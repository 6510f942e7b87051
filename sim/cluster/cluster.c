/* cluster.c - see cluster.h. Related columns change together, in the calls below and nowhere else. */
#include "cluster/cluster.h"

#include "base/assert.h"
#include "base/bits.h"

#include <stdlib.h>

enum { TOUCHED_LEAST = 1024 }; /* who looks at every start is never that far behind */

/* Notes that what is free on the node changes. */
static void touch(struct cluster *cluster, uint32_t node)
{
    if (cluster->touched) cluster->touched[cluster->touches++ % cluster->touched_capacity] = node;
}

/* The groups, in the arena; one of equal nodes when none are given. */
static bool init_groups(struct cluster *cluster, struct arena *arena,
                        const struct cluster_size *size)
{
    const struct cluster_group plain = { .nodes = size->nodes,
                                         .gpus = size->gpus_per_node,
                                         .cores_milli = size->cores_per_node * 1000,
                                         .memory_bytes = size->memory_bytes_per_node };
    cluster->group_count = size->groups ? size->group_count : 1;
    cluster->groups = ARENA_ARRAY(arena, struct cluster_group, cluster->group_count);
    cluster->group_of = ARENA_ARRAY(arena, uint8_t, size->nodes);
    cluster->full_mask = ARENA_ARRAY(arena, uint32_t, size->nodes);
    if (!cluster->groups || !cluster->group_of || !cluster->full_mask) return false;
    uint32_t node = 0;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        struct cluster_group *group = &cluster->groups[g];
        *group = size->groups ? size->groups[g] : plain;
        ASSERT(group->gpus <= size->gpus_per_node);
        group->first_node = node;
        cluster->gpus += (uint64_t)group->nodes * group->gpus;
        for (uint32_t i = 0; i < group->nodes; i++, node++) {
            cluster->group_of[node] = (uint8_t)g;
            cluster->full_mask[node] = (uint32_t)((UINT64_C(1) << group->gpus) - 1);
        }
    }
    ASSERT(node == size->nodes);
    return true;
}

static bool init_hosts(struct cluster *cluster, struct arena *arena)
{
    cluster->cores_milli_free = ARENA_ARRAY(arena, uint32_t, cluster->nodes);
    cluster->memory_free = ARENA_ARRAY(arena, uint64_t, cluster->nodes);
    cluster->first_on_node = ARENA_ARRAY(arena, uint32_t, cluster->nodes);
    if (!cluster->cores_milli_free || !cluster->memory_free || !cluster->first_on_node)
        return false;
    for (uint32_t node = 0; node < cluster->nodes; node++) {
        const struct cluster_group *group = &cluster->groups[cluster->group_of[node]];
        cluster->cores_milli_free[node] = group->cores_milli;
        cluster->memory_free[node] = group->memory_bytes;
        cluster->first_on_node[node] = GRANT_NONE;
    }
    return true;
}

bool cluster_init(struct cluster *cluster, struct arena *arena, struct cluster_size size)
{
    const uint64_t gpus = (uint64_t)size.nodes * size.gpus_per_node;
    *cluster = (struct cluster){
        .nodes = size.nodes,
        .gpus_per_node = size.gpus_per_node,
        .nodes_per_leaf = size.nodes_per_leaf,
        .free_mask = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .broken_mask = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .outs = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .downs = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .dead = ARENA_ARRAY(arena, uint32_t, size.nodes),
        .holder = ARENA_ARRAY(arena, uint32_t, gpus),
        .grant_free = GRANT_NONE,
    };
    if (!cluster->free_mask || !cluster->broken_mask || !cluster->outs || !cluster->downs ||
        !cluster->dead || !cluster->holder || !init_groups(cluster, arena, &size) ||
        !free_index_init(&cluster->index, arena, size.nodes, size.gpus_per_node,
                         size.nodes_per_leaf))
        return false;
    if ((size.hosted || size.shared) && !init_hosts(cluster, arena)) return false;
    if (size.shared) {
        cluster->share_free = ARENA_ARRAY(arena, uint32_t, gpus);
        cluster->slices_used = ARENA_ARRAY(arena, uint8_t, gpus);
        if (!cluster->share_free || !cluster->slices_used) return false;
    }
    if (size.watched) {
        cluster->touched_capacity = size.nodes < TOUCHED_LEAST ? TOUCHED_LEAST : size.nodes;
        cluster->touched = ARENA_ARRAY(arena, uint32_t, cluster->touched_capacity);
        if (!cluster->touched) return false;
    }
    cluster->leaves = cluster->index.leaves;
    for (uint64_t gpu = 0; gpu < gpus; gpu++) cluster->holder[gpu] = LIVE_NONE;
    for (uint32_t node = 0; node < size.nodes; node++) {
        cluster->free_mask[node] = cluster->full_mask[node];
        free_index_change(&cluster->index, node, FREE_OUT, cluster_node_free(cluster, node));
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
    touch(cluster, node);
    cluster->free_mask[node] = mask;
    free_index_change(&cluster->index, node, was, cluster_node_free(cluster, node));
}

/* The same for one of many nodes of a job. */
static void set_free_mask_many(struct cluster *cluster, uint32_t node, uint32_t mask,
                               struct leaf_sum *sum)
{
    const int was = cluster_node_free(cluster, node);
    touch(cluster, node);
    cluster->free_mask[node] = mask;
    free_index_change_many(&cluster->index, node, was, cluster_node_free(cluster, node), sum);
}

static void host_take(struct cluster *cluster, const struct grant *grant)
{
    ASSERT(cluster->cores_milli_free[grant->node] >= grant->cores_milli);
    ASSERT(cluster->memory_free[grant->node] >= grant->memory_bytes);
    touch(cluster, grant->node);
    cluster->cores_milli_free[grant->node] -= grant->cores_milli;
    cluster->memory_free[grant->node] -= grant->memory_bytes;
}

static void host_give(struct cluster *cluster, const struct grant *grant)
{
    touch(cluster, grant->node);
    cluster->cores_milli_free[grant->node] += grant->cores_milli;
    cluster->memory_free[grant->node] += grant->memory_bytes;
}

/* The grant joins the list of its node, or leaves it; lists are as short as jobs on a node are few. */
static void node_join(struct cluster *cluster, uint32_t row)
{
    struct grant *grant = &cluster->grants[row];
    grant->next_on_node = cluster->first_on_node[grant->node];
    cluster->first_on_node[grant->node] = row;
}

static void node_leave(struct cluster *cluster, uint32_t row)
{
    uint32_t *at = &cluster->first_on_node[cluster->grants[row].node];
    while (*at != row) at = &cluster->grants[*at].next_on_node;
    *at = cluster->grants[row].next_on_node;
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

/* ---- shares ---------------------------------------------------------------------------------- */

/* Whether new jobs can use the GPU: only then its free shares are counted. */
static bool share_in_service(const struct cluster *cluster, uint32_t node, uint32_t mask)
{
    return !cluster->outs[node] && !(cluster->broken_mask[node] & mask);
}

static uint64_t gpu_row(const struct cluster *cluster, uint32_t node, uint32_t mask)
{
    return (uint64_t)node * cluster->gpus_per_node + (uint32_t)__builtin_ctz(mask);
}

/* A share is taken: a free GPU is opened for shares first. */
static void share_take(struct cluster *cluster, const struct grant *grant, struct leaf_sum *sum)
{
    const uint32_t node = grant->node, mask = grant->mask;
    const uint64_t gpu = gpu_row(cluster, node, mask);
    if (cluster->holder[gpu] != LIVE_SHARED) {
        ASSERT(cluster->free_mask[node] & mask);
        set_free_mask_many(cluster, node, cluster->free_mask[node] & ~mask, sum);
        cluster->holder[gpu] = LIVE_SHARED;
        cluster->share_free[gpu] = (uint32_t)CLUSTER_UNITS;
        cluster->share_free_units += (uint64_t)CLUSTER_UNITS;
    }
    const uint8_t slices = (uint8_t)(((1u << grant->slice_count) - 1) << grant->slice_first);
    ASSERT(cluster->share_free[gpu] >= grant->share_units);
    ASSERT((cluster->slices_used[gpu] & slices) == 0);
    cluster->share_free[gpu] -= grant->share_units;
    cluster->share_free_units -= grant->share_units;
    cluster->slices_used[gpu] |= slices;
}

/* A share comes back; with the last one the GPU is whole again. */
static void share_give(struct cluster *cluster, const struct grant *grant, struct leaf_sum *sum)
{
    const uint32_t node = grant->node, mask = grant->mask;
    const uint64_t gpu = gpu_row(cluster, node, mask);
    const bool counted = share_in_service(cluster, node, mask);
    ASSERT(cluster->holder[gpu] == LIVE_SHARED);
    cluster->share_free[gpu] += grant->share_units;
    if (counted) cluster->share_free_units += grant->share_units;
    cluster->slices_used[gpu] &=
        (uint8_t) ~(((1u << grant->slice_count) - 1) << grant->slice_first);
    if (cluster->share_free[gpu] < CLUSTER_UNITS) return;
    cluster->share_free[gpu] = 0;
    if (counted) cluster->share_free_units -= (uint64_t)CLUSTER_UNITS;
    cluster->holder[gpu] = LIVE_NONE;
    set_free_mask_many(cluster, node,
                       cluster->free_mask[node] | (mask & ~cluster->broken_mask[node]), sum);
}

/* Free shares of the node: over the GPUs of `mask` that are given out in shares. */
static uint64_t shares_left(const struct cluster *cluster, uint32_t node, uint32_t mask)
{
    uint64_t units = 0;
    if (!cluster->share_free) return 0;
    for (mask &= cluster->full_mask[node]; mask; mask &= mask - 1)
        units += cluster->share_free[gpu_row(cluster, node, mask)];
    return units;
}

/* ---- claim and release ----------------------------------------------------------------------- */

static void grant_apply(struct cluster *cluster, uint32_t row, struct leaf_sum *sum)
{
    const struct grant *grant = &cluster->grants[row];
    if (grant->share_units)
        share_take(cluster, grant, sum);
    else if (grant->mask) {
        set_holder(cluster, grant->node, grant->mask, grant->live);
        set_free_mask_many(cluster, grant->node, cluster->free_mask[grant->node] & ~grant->mask,
                           sum);
    }
    if (!cluster->first_on_node) return;
    host_take(cluster, grant);
    node_join(cluster, row);
}

uint32_t cluster_claim(struct cluster *cluster, uint32_t live, const struct part *parts,
                       uint32_t part_count, const struct demand *demand)
{
    uint32_t first = GRANT_NONE, last = GRANT_NONE;
    struct leaf_sum sum = { 0 };
    for (uint32_t p = 0; p < part_count; p++) {
        const struct part *part = &parts[p];
        const uint32_t free_mask = cluster->free_mask[part->node];
        ASSERT(cluster_node_free(cluster, part->node) >= (int)part->gpus);
        const uint32_t row = grant_take(cluster);
        if (row == GRANT_NONE) return GRANT_NONE;
        cluster->grants[row] = (struct grant){
            .node = part->node,
            .mask = part->mask ? part->mask : lowest_bits(free_mask, part->gpus),
            .next = GRANT_NONE,
            .live = live,
            .share_units = part->share_units,
            .slice_first = part->slice_first,
            .slice_count = part->slice_count,
            .next_on_node = GRANT_NONE,
        };
        if (cluster->first_on_node) {
            struct grant *grant = &cluster->grants[row];
            const uint32_t gpus = demand->ruled ? 0 : part->gpus;
            grant->cores_milli = part->cores_milli + gpus * demand->cores_milli_per_gpu;
            grant->memory_bytes = part->memory_bytes + gpus * demand->memory_bytes_per_gpu;
        }
        ASSERT(part->share_units || (cluster->grants[row].mask & ~free_mask) == 0);
        if (last == GRANT_NONE)
            first = row;
        else
            cluster->grants[last].next = row;
        last = row;
        grant_apply(cluster, row, &sum);
    }
    free_index_flush(&cluster->index, &sum);
    return first;
}

void cluster_release(struct cluster *cluster, uint32_t first_grant)
{
    struct leaf_sum sum = { 0 };
    for (uint32_t row = first_grant; row != GRANT_NONE;) {
        struct grant *grant = &cluster->grants[row];
        const uint32_t node = grant->node, mask = grant->mask, next = grant->next;
        if (cluster->first_on_node) {
            host_give(cluster, grant);
            node_leave(cluster, row);
        }
        if (grant->share_units)
            share_give(cluster, grant, &sum);
        else if (mask) {
            set_holder(cluster, node, mask, LIVE_NONE);
            set_free_mask_many(cluster, node,
                               cluster->free_mask[node] | (mask & ~cluster->broken_mask[node]),
                               &sum);
        }
        grant->next = cluster->grant_free;
        cluster->grant_free = row;
        row = next;
    }
    free_index_flush(&cluster->index, &sum);
    cluster->releases++;
}

void cluster_suspend(struct cluster *cluster, uint32_t first_grant)
{
    if (!cluster->first_on_node) return;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next)
        host_give(cluster, &cluster->grants[row]);
    cluster->releases++;
}

void cluster_resume(struct cluster *cluster, uint32_t first_grant)
{
    if (!cluster->first_on_node) return;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next)
        host_take(cluster, &cluster->grants[row]);
}

void cluster_forget_hosts(struct cluster *cluster, uint32_t first_grant)
{
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        cluster->grants[row].cores_milli = 0;
        cluster->grants[row].memory_bytes = 0;
    }
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

/* What changes whether GPUs are in service: their free shares are counted anew. */
static void recount_shares(struct cluster *cluster, uint32_t node, bool before)
{
    if (!cluster->share_free || cluster->outs[node]) return;
    const uint64_t units = shares_left(cluster, node, ~cluster->broken_mask[node]);
    cluster->share_free_units += before ? -units : units;
}

void cluster_gpu_broken(struct cluster *cluster, uint32_t node, uint32_t mask)
{
    recount_shares(cluster, node, true);
    cluster->broken_mask[node] |= mask;
    recount_shares(cluster, node, false);
    set_free_mask(cluster, node, cluster->free_mask[node] & ~mask);
}

void cluster_gpu_whole(struct cluster *cluster, uint32_t node, uint32_t mask)
{
    recount_shares(cluster, node, true);
    cluster->broken_mask[node] &= ~mask;
    recount_shares(cluster, node, false);
    set_free_mask(cluster, node, cluster->free_mask[node] | (mask & ~held_mask(cluster, node)));
    cluster->releases++;
}

void cluster_node_out(struct cluster *cluster, uint32_t node)
{
    const int was = cluster_node_free(cluster, node);
    recount_shares(cluster, node, true);
    touch(cluster, node);
    cluster->outs[node]++;
    free_index_change(&cluster->index, node, was, FREE_OUT);
}

void cluster_node_back(struct cluster *cluster, uint32_t node)
{
    ASSERT(cluster->outs[node] > 0);
    touch(cluster, node);
    cluster->outs[node]--;
    recount_shares(cluster, node, false);
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
    if (cluster->first_on_node) return cluster->first_on_node[node] == GRANT_NONE;
    return held_mask(cluster, node) == 0;
}

struct holding cluster_held(const struct cluster *cluster, uint32_t first_grant)
{
    struct holding held = { 0 };
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        held.share_units += grant->share_units;
        if (!grant->share_units) held.gpus += (uint32_t)bits_count(grant->mask);
    }
    return held;
}

struct holding cluster_broken(const struct cluster *cluster, uint32_t first_grant)
{
    struct holding broken = { 0 };
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        const uint32_t out = cluster->dead[grant->node] ? cluster->full_mask[grant->node]
                                                        : cluster->broken_mask[grant->node];
        if (!(grant->mask & out)) continue;
        broken.share_units += grant->share_units;
        if (!grant->share_units) broken.gpus += (uint32_t)bits_count(grant->mask & out);
    }
    return broken;
}

struct idle cluster_node_idle(const struct cluster *cluster, uint32_t node)
{
    const uint32_t out = cluster->broken_mask[node];
    const int64_t free_units = bits_count(cluster->free_mask[node]) * CLUSTER_UNITS +
                               (int64_t)shares_left(cluster, node, ~out);
    if (cluster->outs[node] == 0 && out == 0) return (struct idle){ .free = free_units };
    const uint32_t held = held_mask(cluster, node);
    const int64_t broken_units =
        bits_count(out & ~held) * CLUSTER_UNITS + (int64_t)shares_left(cluster, node, out);
    if (cluster->downs[node]) return (struct idle){ .down = free_units + broken_units };
    if (cluster->outs[node]) return (struct idle){ .draining = free_units, .down = broken_units };
    return (struct idle){ .free = free_units, .down = broken_units };
}
