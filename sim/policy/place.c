/* place.c - see place.h. */
#include "policy/place.h"

#include "base/assert.h"
#include "policy/place_scored.h"

/* Whether the node's cores and memory are enough for so many GPUs of the demand. */
static bool host_ok(const struct cluster *cluster, const struct demand *demand, uint32_t node,
                    uint32_t gpus)
{
    if (!demand->hosted || !cluster->cores_milli_free) return true;
    return (uint64_t)gpus * demand->cores_milli_per_gpu <= cluster->cores_milli_free[node] &&
           gpus * demand->memory_bytes_per_gpu <= cluster->memory_free[node];
}

/* The first node with exactly `free_gpus` free whose host can take `gpus`, or BITSET_NONE. */
static uint32_t node_with(const struct cluster *cluster, const struct demand *demand,
                          uint32_t free_gpus, uint32_t gpus)
{
    const struct bitset *set = &cluster->index.by_free[free_gpus];
    uint32_t node = bitset_next(set, 0);
    while (node != BITSET_NONE && !host_ok(cluster, demand, node, gpus))
        node = bitset_next(set, node + 1);
    return node;
}

static uint32_t place_one(const struct cluster *cluster, const struct demand *demand,
                          enum placement placement, struct part *parts)
{
    const uint32_t g = cluster->gpus_per_node, need = demand->per_node;
    for (uint32_t i = 0; i <= g - need; i++) {
        const uint32_t free_gpus = placement == PLACE_PACK ? need + i : g - i;
        if (!cluster->index.with_free[free_gpus]) continue;
        const uint32_t node = node_with(cluster, demand, free_gpus, need);
        if (node == BITSET_NONE) continue;
        parts[0] = (struct part){ .node = node, .gpus = need };
        return 1;
    }
    return 0;
}

/* Adds up to `wanted` wholly free nodes of a leaf; returns how many. */
static uint32_t take_leaf(const struct cluster *cluster, const struct demand *demand, uint32_t leaf,
                          uint32_t wanted, struct part *parts)
{
    const struct bitset *whole = &cluster->index.by_free[cluster->gpus_per_node];
    const uint64_t end = ((uint64_t)leaf + 1) * cluster->nodes_per_leaf;
    uint32_t taken = 0;
    for (uint32_t node = bitset_next(whole, leaf * cluster->nodes_per_leaf);
         node < end && taken < wanted; node = bitset_next(whole, node + 1)) {
        if (!host_ok(cluster, demand, node, demand->per_node)) continue;
        parts[taken++] = (struct part){ .node = node, .gpus = demand->per_node };
    }
    return taken;
}

/* The tightest leaf that holds all of `nodes`, or 0 taken. */
static uint32_t place_in_leaf(const struct cluster *cluster, const struct demand *demand,
                              struct part *parts)
{
    const struct free_index *index = &cluster->index;
    for (uint32_t whole = bitset_next(&index->whole_counts, demand->nodes); whole != BITSET_NONE;
         whole = bitset_next(&index->whole_counts, whole + 1)) {
        const struct bitset *leaves = &index->leaves_by_whole[whole];
        for (uint32_t leaf = bitset_next(leaves, 0); leaf != BITSET_NONE;
             leaf = bitset_next(leaves, leaf + 1))
            if (take_leaf(cluster, demand, leaf, demand->nodes, parts) == demand->nodes)
                return demand->nodes;
    }
    return 0;
}

/* Whole servers of one leaf if some leaf has enough, else of as few leaves as can be. */
static uint32_t place_whole(const struct cluster *cluster, const struct demand *demand,
                            enum placement placement, struct part *parts)
{
    const struct free_index *index = &cluster->index;
    uint32_t taken = placement == PLACE_PACK ? place_in_leaf(cluster, demand, parts) : 0;
    if (taken) return taken;
    for (uint32_t whole = bitset_previous(&index->whole_counts, index->nodes_per_leaf);
         whole != BITSET_NONE && whole > 0 && taken < demand->nodes;
         whole = bitset_previous(&index->whole_counts, whole - 1)) {
        const struct bitset *leaves = &index->leaves_by_whole[whole];
        for (uint32_t leaf = bitset_next(leaves, 0); leaf != BITSET_NONE && taken < demand->nodes;
             leaf = bitset_next(leaves, leaf + 1)) {
            const uint32_t left = demand->nodes - taken;
            if (placement == PLACE_PACK && left < whole) { /* the rest: a leaf of best fit */
                const uint32_t tight = bitset_next(&index->whole_counts, left);
                const uint32_t fit =
                    tight < whole ? bitset_next(&index->leaves_by_whole[tight], 0) : leaf;
                if (take_leaf(cluster, demand, fit, left, parts + taken) == left)
                    return demand->nodes;
            }
            taken += take_leaf(cluster, demand, leaf, left, parts + taken);
        }
    }
    return taken == demand->nodes ? taken : 0;
}

/* Several nodes that need not be whole: recorded shapes, and slack. `gpus` GPUs, at most
 * `per_node` on each of at most `nodes` nodes; the emptiest first, the last part best fit. An even
 * demand takes all `nodes`, and no two of its parts differ by more than one GPU: that is how its
 * duration was measured (MODELS 3.10). */
static uint32_t place_parts(const struct cluster *cluster, const struct demand *demand,
                            uint32_t nodes, uint32_t per_node, struct part *parts)
{
    const uint32_t g = cluster->gpus_per_node;
    uint32_t left = demand->gpus, taken = 0;
    for (uint32_t f = g; f > 0 && left > 0 && taken < nodes; f--) {
        const struct bitset *set = &cluster->index.by_free[f];
        for (uint32_t node = bitset_next(set, 0); node != BITSET_NONE && left > 0 && taken < nodes;
             node = bitset_next(set, node + 1)) {
            const uint32_t share =
                demand->even ? (left + nodes - taken - 1) / (nodes - taken) : per_node;
            if (demand->even && f < share) return 0; /* emptier ones have no host */
            const uint32_t most = f < share ? f : share;
            if (left <= most) { /* the last part: the fullest node that still has room */
                for (uint32_t tight = left; tight < f; tight++) {
                    const uint32_t fit = node_with(cluster, demand, tight, left);
                    if (fit == BITSET_NONE) continue;
                    parts[taken++] = (struct part){ .node = fit, .gpus = left };
                    return taken;
                }
            }
            const uint32_t gpus = left < most ? left : most;
            if (!host_ok(cluster, demand, node, gpus)) continue;
            parts[taken++] = (struct part){ .node = node, .gpus = gpus };
            left -= gpus;
        }
    }
    return left == 0 ? taken : 0;
}

uint32_t place_find(const struct cluster *cluster, const struct demand *demand,
                    enum placement placement, struct part *parts)
{
    const uint32_t g = cluster->gpus_per_node;
    uint32_t count = 0;
    if (!demand->ever) return 0;
    if (demand->nodes == 1)
        count = place_one(cluster, demand, placement, parts);
    else if (demand->per_node == g && demand->held == demand->nodes * g) {
        if (cluster->index.with_free[g] >= demand->nodes)
            count = place_whole(cluster, demand, placement, parts);
    } else
        count = place_parts(cluster, demand, demand->nodes, demand->per_node, parts);
    if (count || demand->nodes_max == demand->nodes) return count;
    return place_parts(cluster, demand, demand->nodes_max, g, parts);
}

static bool is_scored(const struct policy_view *view, const struct demand *demand)
{
    return demand->by_part || scorer_wanted(view->placement, NULL, 0);
}

/* Scores know no leaves: several whole servers of a rule that does not care which go together. */
static uint32_t place_scored(const struct policy_view *view, const struct demand *demand,
                             struct part *parts)
{
    const struct cluster *cluster = view->cluster;
    const bool whole = demand->nodes > 1 && demand->per_node == cluster->gpus_per_node &&
                       demand->held == demand->nodes * demand->per_node;
    if (!demand->ever) return 0;
    uint32_t count = 0;
    if (whole && !demand->by_part && view->placement != PLACE_RANDOM)
        count = place_whole(cluster, demand, PLACE_PACK, parts);
    else
        count = scorer_place(view->scorer, cluster, demand, parts);
    if (count || demand->by_part || demand->nodes_max == demand->nodes) return count;
    return place_parts(cluster, demand, demand->nodes_max, cluster->gpus_per_node, parts);
}

uint32_t place_class(const struct policy_view *view, uint32_t request_class, struct part *parts)
{
    const struct demand *demand = &view->demands[request_class];
    const struct cluster *cluster = view->cluster;
    if (!demand_fits(demand, cluster->index.with_free, cluster->gpus_per_node)) return 0;
    if (view->blocked_at[request_class] == cluster->releases + 1) return 0;
    const uint32_t count = view->scorer && is_scored(view, demand)
                               ? place_scored(view, demand, parts)
                               : place_find(cluster, demand, view->placement, parts);
    if (count == 0) view->blocked_at[request_class] = cluster->releases + 1;
    return count;
}
