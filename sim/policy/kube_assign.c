/* kube_assign.c - see kube_assign.h. */
#include "policy/kube_assign.h"

#include <string.h>

static uint32_t level_size(const struct policy_view *view, uint32_t level)
{
    const uint32_t nodes = view->scenario->kube.level_nodes[level];
    const uint32_t size = nodes ? nodes : view->cluster->nodes_per_leaf;
    return size ? size : 1;
}

/* The levels of the scenario, and hosts below them when the last is not one node. */
bool kube_assign_init(struct kube_assign *assign, const struct policy_view *view,
                      struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    struct topology_tree *tree = &assign->tree;
    const uint32_t nodes = view->cluster->nodes;
    uint32_t size[TOPOLOGY_LEVELS + 1] = { 1 };
    for (uint32_t level = 0; level < spec->level_count && level + 1 < TOPOLOGY_LEVELS; level++)
        size[tree->level_count++] = level_size(view, level);
    if (tree->level_count == 0 || size[tree->level_count - 1] > 1) size[tree->level_count++] = 1;
    for (uint32_t level = 0; level < tree->level_count; level++) {
        const uint32_t domains = (nodes + size[level] - 1) / size[level];
        uint32_t *parent = ARENA_ARRAY(arena, uint32_t, domains);
        tree->free[level] = ARENA_ARRAY(arena, uint32_t, domains);
        if (!parent || !tree->free[level]) return false;
        for (uint32_t d = 0; level > 0 && d < domains; d++)
            parent[d] = (uint32_t)((uint64_t)d * size[level] / size[level - 1]);
        tree->domains[level] = domains;
        tree->parent[level] = parent;
    }
    tree->rows = ARENA_ARRAY(arena, uint32_t, nodes);
    tree->chosen = ARENA_ARRAY(arena, uint32_t, nodes);
    tree->spare = ARENA_ARRAY(arena, uint32_t, nodes);
    tree->key = ARENA_ARRAY(arena, uint64_t, nodes);
    assign->assigned = ARENA_ARRAY(arena, uint32_t, nodes);
    return tree->rows && tree->chosen && tree->spare && tree->key && assign->assigned;
}

static const struct ask *ask_of(const struct policy_view *view, uint32_t live)
{
    const struct request *request = &view->requests->classes[view->live->jobs[live].request_class];
    return request->ask != ASK_NONE && view->jobs->asks ? &view->jobs->asks[request->ask] : NULL;
}

struct kube_topology_wish kube_topology_wish(const struct policy_view *view, uint32_t live)
{
    const struct kube_spec *spec = &view->scenario->kube;
    const struct ask *ask = ask_of(view, live);
    struct kube_topology_wish wish = { .known = true, .mode = TOPOLOGY_UNCONSTRAINED };
    if (!ask) return wish;
    uint32_t name = TEXT_NONE;
    if (ask->topology_required != TEXT_NONE) {
        wish.mode = TOPOLOGY_REQUIRED;
        name = ask->topology_required;
    } else if (ask->topology_preferred != TEXT_NONE) {
        wish.mode = TOPOLOGY_PREFERRED;
        name = ask->topology_preferred;
    }
    wish.asked = name != TEXT_NONE || ask->topology_unconstrained;
    if (name == TEXT_NONE) return wish;
    wish.known = false;
    for (uint32_t l = 0; l < spec->level_count; l++) {
        if (strcmp(spec->levels[l], view->jobs->text + name) != 0) continue;
        wish.known = true;
        wish.level = l;
    }
    return wish;
}

/* Pods of this size that still fit a node of the class. */
static uint32_t places_in(const struct kubernetes *kube, const struct kube_node_class *class,
                          uint32_t request_class)
{
    const size_t cell = (size_t)request_class * kube->shapes.group_count + class->key.group;
    if (class->key.is_out || !kube->shapes.facts_fit[cell]) return 0;
    const struct kube_amounts *pod = &kube->shapes.pods[request_class].big;
    int64_t most = UINT32_MAX / 2;
    for (uint32_t r = 0; r < KUBE_FRACTION; r++) {
        if (pod->of[r] == 0) continue;
        const int64_t left = class->room.allocatable.of[r] - class->room.used.of[r];
        if (left / pod->of[r] < most) most = left > 0 ? left / pod->of[r] : 0;
    }
    if (pod->of[KUBE_FRACTION]) {
        const uint32_t parts = kube_open_places(&class->key.open, class->key.gpus_free,
                                                (uint32_t)pod->of[KUBE_FRACTION]);
        if (parts < most) most = parts;
    }
    return (uint32_t)most;
}

bool kube_assign_pods(struct kube_assign *assign, const struct kubernetes *kube,
                      const struct policy_view *view, uint32_t live, struct kube_topology_wish wish)
{
    struct topology_tree *tree = &assign->tree;
    const uint32_t request_class = view->live->jobs[live].request_class;
    uint32_t *places = tree->free[tree->level_count - 1];
    for (uint32_t node = 0; node < view->cluster->nodes; node++)
        places[node] =
            places_in(kube, &kube->nodes.classes[kube->nodes.class_of[node]], request_class);
    topology_sum(tree);
    return topology_assign(tree, kube_pods_of(kube, view, live)->count, wish.mode, wish.level,
                           assign->assigned);
}
