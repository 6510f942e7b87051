/* kube_cycle.c - see kube_cycle.h.
 *
 * Points are computed once for each class of equal nodes. The nodes themselves are walked only to find where a cycle
 * stops looking, when more are feasible than it wants, and to find the one that was drawn. */
#include "policy/kube_cycle.h"

#include "base/assert.h"
#include "base/philox.h"

#define WORST (-1e300) /* below any points */

bool kube_cycle_init(struct kube_cycle *cycle, const struct policy_view *view,
                     const struct kube_shapes *shapes, struct kube_nodes *nodes,
                     struct arena *arena)
{
    const uint32_t capacity = view->cluster->nodes + 1;
    *cycle = (struct kube_cycle){
        .shapes = shapes,
        .nodes = nodes,
        .scoring = kube_scoring_of(&view->scenario->kube.profile),
        .percentage = view->scenario->kube.profile.percentage_of_nodes_to_score,
        .key = view->key,
        .feasible = ARENA_ARRAY(arena, bool, capacity),
        .seen = ARENA_ARRAY(arena, uint32_t, capacity),
        .total = ARENA_ARRAY(arena, double, capacity),
    };
    const struct kube_spec *spec = &view->scenario->kube;
    if (spec->gang == GANG_VOLCANO) {
        cycle->binpack_weight = spec->binpack_weight;
        for (int r = 0; r < KUBE_RESOURCES; r++)
            cycle->binpack_resource[r] = spec->binpack_resource[r];
    }
    if (spec->gang == GANG_KAI) /* its node placement: the fullest by GPUs */
        cycle->scoring = (struct kube_scoring){ .fit = { .strategy = FIT_MOST_ALLOCATED,
                                                         .weight = { [KUBE_GPU] = 1 } },
                                                .weights = { .fit = 1 } };
    if (spec->gang == GANG_VOLCANO || spec->gang == GANG_KAI) cycle->percentage = 100;
    return cycle->feasible && cycle->seen && cycle->total;
}

/* 100 weight sum(w (used + requested)/allocatable) / sum(w), over what the pod requests and the node has. */
static double binpack_points(const struct kube_cycle *cycle, const struct kube_room *room,
                             const struct kube_amounts *pod)
{
    double sum = 0, weights = 0;
    for (int r = 0; r < KUBE_RESOURCES; r++) {
        const double weight = cycle->binpack_resource[r];
        if (pod->of[r] == 0 || weight == 0) continue;
        weights += weight;
        if (room->allocatable.of[r] > 0)
            sum +=
                weight * (double)(room->used.of[r] + pod->of[r]) / (double)room->allocatable.of[r];
    }
    return weights > 0 ? 100 * cycle->binpack_weight * (sum / weights) : 0;
}

/* Which GPUs the kept thousandths will come from is open: each part of them stands for a whole GPU, and parts of others do not
 * join them. */
static bool fits_beside_kept(const struct kube_node_class *class, const struct kube_amounts *pod)
{
    const int64_t kept_parts = class->kept.of[KUBE_FRACTION] ? class->kept.of[KUBE_PODS] : 0;
    struct kube_amounts used = class->room.used;
    for (uint32_t r = 0; r < KUBE_FRACTION; r++) used.of[r] += class->kept.of[r];
    used.of[KUBE_GPU] += kept_parts;
    if (kube_short_amounts(&class->room.allocatable, &used, pod)) return false;
    if (pod->of[KUBE_FRACTION] == 0) return true;
    return class->room.allocatable.of[KUBE_GPU] > used.of[KUBE_GPU] ||
           (kept_parts == 0 && kube_open_largest(&class->key.open, 0) >= pod->of[KUBE_FRACTION]);
}

bool kube_cycle_fits(const struct kube_cycle *cycle, const struct kube_node_class *class,
                     const struct kube_candidate *candidate)
{
    const size_t cell =
        (size_t)candidate->request_class * cycle->shapes->group_count + class->key.group;
    if (class->key.is_out || !cycle->shapes->facts_fit[cell]) return false;
    const struct kube_amounts *pod =
        kube_pod(&cycle->shapes->pods[candidate->request_class], candidate->index);
    const struct kube_amounts *used = &class->room.used;
    if (kube_short_amounts(&class->room.allocatable, used, pod)) return false;
    const bool kept = class->key.kept_for != LIVE_NONE && class->key.kept_for != candidate->live &&
                      class->key.kept_priority >= candidate->priority;
    return !kept || fits_beside_kept(class, pod);
}

/* Fills feasible[] of the classes that are present; returns the nodes in feasible ones. */
static uint32_t filter_classes(struct kube_cycle *cycle, const struct kube_candidate *candidate)
{
    const struct kube_nodes *nodes = cycle->nodes;
    uint32_t count = 0;
    for (uint32_t i = 0; i < nodes->present_count; i++) {
        const uint32_t c = nodes->present[i];
        cycle->feasible[c] = kube_cycle_fits(cycle, &nodes->classes[c], candidate);
        cycle->seen[c] = cycle->feasible[c] ? nodes->classes[c].nodes : 0;
        count += cycle->seen[c];
    }
    return count;
}

/* A walk over the nodes in their order. Nodes with too few whole GPUs free are skipped 64 at a time by the cluster's
 * index, where whole GPUs are what counts. */
struct walk {
    const struct free_index *index; /* NULL: each node is looked at                            */
    uint32_t least;                 /* GPUs free, at least                                      */
    uint32_t row;                   /* of the word at hand                                      */
    uint64_t word;                  /* nodes of the index with enough, of 64 * row and following */
};

static struct walk walk_of(const struct kube_cycle *cycle, const struct kube_candidate *candidate)
{
    const struct kube_amounts *pod =
        kube_pod(&cycle->shapes->pods[candidate->request_class], candidate->index);
    const bool whole = !cycle->shapes->some_cut && pod->of[KUBE_GPU] > 0;
    return (struct walk){ .index = whole ? &cycle->nodes->cluster->index : NULL,
                          .least = (uint32_t)pod->of[KUBE_GPU],
                          .row = UINT32_MAX };
}

/* The first node from `node` on that is worth a look, `end` when there is none before it. */
static uint32_t walk_next(struct walk *walk, uint32_t node, uint32_t end)
{
    while (walk->index && node < end) {
        if (node / 64 != walk->row) {
            walk->row = node / 64;
            walk->word = 0;
            for (uint32_t f = walk->least; f <= walk->index->gpus_per_node; f++)
                walk->word |= walk->index->by_free[f].level[0][walk->row];
        }
        const uint64_t rest = walk->word >> (node % 64);
        if (rest) {
            node += (uint32_t)__builtin_ctzll(rest);
            break;
        }
        node = (walk->row + 1) * 64;
    }
    return node < end ? node : end;
}

/* Walks on from the start until `wanted` feasible nodes are found and counts them by class; returns how many nodes
 * were looked at. */
static uint32_t count_seen(struct kube_cycle *cycle, struct walk walk, uint32_t wanted)
{
    const struct kube_nodes *nodes = cycle->nodes;
    const uint32_t all = nodes->cluster->nodes, start = cycle->start;
    for (uint32_t i = 0; i < nodes->present_count; i++) cycle->seen[nodes->present[i]] = 0;
    uint32_t found = 0;
    for (int half = 0; half < 2; half++) {
        const uint32_t end = half ? start : all;
        for (uint32_t node = walk_next(&walk, half ? 0 : start, end); node < end;
             node = walk_next(&walk, node + 1, end)) {
            const uint32_t c = nodes->class_of[node];
            if (!cycle->feasible[c]) continue;
            cycle->seen[c]++;
            if (++found == wanted) return (half ? all - start + node : node - start) + 1;
        }
    }
    return all;
}

/* KAI: a node where a GPU in parts has room for the part stands above all others. */
#define SHARED_GPU_POINTS 1000

/* A part counts as a GPU where fullness by GPUs is what counts. */
static struct kube_amounts scored_pod(const struct kube_amounts *pod)
{
    struct kube_amounts scored = *pod;
    if (pod->of[KUBE_FRACTION]) scored.of[KUBE_GPU] = 1;
    return scored;
}

/* Points of the classes seen; returns how many nodes have the most of them, *best. */
static uint32_t score_classes(struct kube_cycle *cycle, const struct kube_candidate *candidate,
                              double *best)
{
    const struct kube_nodes *nodes = cycle->nodes;
    const struct kube_shapes *shapes = cycle->shapes;
    const size_t cell = (size_t)candidate->request_class * shapes->group_count;
    const struct kube_pods *pods = &shapes->pods[candidate->request_class];
    const struct kube_amounts scored = scored_pod(kube_pod(pods, candidate->index)), *pod = &scored;
    struct kube_points most = { 0 };
    for (uint32_t i = 0; i < nodes->present_count; i++) {
        const uint32_t c = nodes->present[i], group = nodes->classes[c].key.group;
        if (cycle->seen[c] == 0) continue;
        if (shapes->raw_taints[cell + group] > most.taint)
            most.taint = shapes->raw_taints[cell + group];
        if (shapes->raw_affinity[cell + group] > most.affinity)
            most.affinity = shapes->raw_affinity[cell + group];
    }
    uint32_t count = 0;
    *best = WORST;
    for (uint32_t i = 0; i < nodes->present_count; i++) {
        const uint32_t c = nodes->present[i], group = nodes->classes[c].key.group;
        cycle->total[c] = WORST;
        if (cycle->seen[c] == 0) continue;
        const struct kube_room *room = &nodes->classes[c].room;
        const struct kube_points points = {
            .fit = kube_score_fit(&cycle->scoring.fit, room, pod),
            .balanced = kube_score_balanced(&cycle->scoring, room, pod),
            .taint = kube_scaled_taints(shapes->raw_taints[cell + group], most.taint),
            .affinity = kube_scaled_affinity(shapes->raw_affinity[cell + group], most.affinity),
        };
        cycle->total[c] = (double)kube_total(&cycle->scoring.weights, &points);
        if (pod->of[KUBE_FRACTION] &&
            kube_open_largest(&nodes->classes[c].key.open, 0) >= pod->of[KUBE_FRACTION])
            cycle->total[c] += SHARED_GPU_POINTS;
        if (cycle->binpack_weight > 0) cycle->total[c] += binpack_points(cycle, room, pod);
        if (cycle->total[c] > *best) {
            *best = cycle->total[c];
            count = 0;
        }
        if (cycle->total[c] == *best) count += cycle->seen[c];
    }
    return count;
}

/* The node at this place among those with the best total, in the order of the walk. */
static uint32_t find_best(const struct kube_cycle *cycle, struct walk walk, double best,
                          uint32_t place)
{
    const struct kube_nodes *nodes = cycle->nodes;
    for (int half = 0; half < 2; half++) {
        const uint32_t end = half ? cycle->start : nodes->cluster->nodes;
        for (uint32_t node = walk_next(&walk, half ? 0 : cycle->start, end); node < end;
             node = walk_next(&walk, node + 1, end)) {
            const uint32_t c = nodes->class_of[node];
            if (cycle->feasible[c] && cycle->total[c] == best && place-- == 0) return node;
        }
    }
    ASSERT(false);
    return KUBE_NO_PLACE;
}

uint32_t kube_cycle_node(struct kube_cycle *cycle, const struct kube_candidate *candidate)
{
    const uint32_t all = cycle->nodes->cluster->nodes;
    const uint32_t feasible = filter_classes(cycle, candidate);
    if (feasible == 0) return KUBE_NO_PLACE;
    const uint32_t wanted = kube_nodes_to_find(all, cycle->percentage);
    const struct walk walk = walk_of(cycle, candidate);
    const uint32_t looked = feasible >= wanted ? count_seen(cycle, walk, wanted) : all;
    double best;
    const uint32_t count = score_classes(cycle, candidate, &best);
    uint32_t place = 0;
    if (count > 1) {
        const double u = stream_uniform(cycle->key, candidate->serial, candidate->draw);
        place = (uint32_t)(u * count);
    }
    const uint32_t node = find_best(cycle, walk, best, place < count ? place : count - 1);
    cycle->start = (uint32_t)(((uint64_t)cycle->start + looked) % all);
    return node;
}
