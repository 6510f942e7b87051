/* kube_autoscaler.c - see kube_autoscaler.h. */
#include "policy/kube_autoscaler.h"

#include "base/assert.h"
#include "base/philox.h"

#include <string.h>

/* Source: cluster-autoscaler, initialNodeGroupBackoffDuration. */
#define GROUP_BACKOFF_NS (300 * NS_PER_S)
enum { EMPTY_AT_ONCE = 10 }; /* max-empty-bulk-delete */

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t server_group_named(const struct policy_view *view, const char *name)
{
    for (uint32_t g = 0; g < view->layout->group_count && view->layout->groups; g++)
        if (!strcmp(view->layout->groups[g].name, name)) return g;
    return LIVE_NONE;
}

static void tell(struct kube_autoscaler *autoscaler, uint32_t node, bool out)
{
    const struct node_move move = { node, out };
    log_append(&autoscaler->moves, &move);
}

/* The nodes of a group: `min` are there, those up to `max` are away, the others never come. */
static void init_group(struct kube_autoscaler *autoscaler, const struct policy_view *view,
                       uint32_t g)
{
    const struct kube_group *group = &view->scenario->kube.groups[g];
    const struct cluster_group *nodes = &view->cluster->groups[autoscaler->server_group[g]];
    const uint32_t most = group->max && group->max < nodes->nodes ? group->max : nodes->nodes;
    for (uint32_t i = 0; i < nodes->nodes; i++) {
        const bool there = i < group->min;
        autoscaler->nodes[nodes->first_node + i] = (struct scaled_node){
            .state = there      ? NODE_THERE
                     : i < most ? NODE_AWAY
                                : NODE_FIXED,
            .group = (uint8_t)g,
            .at_ns = TIME_NEVER,
        };
        if (!there) tell(autoscaler, nodes->first_node + i, true);
    }
}

bool kube_autoscaler_init(struct kube_autoscaler *autoscaler, const struct policy_view *view,
                          struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    const uint32_t classes = view->requests->class_count;
    autoscaler->nodes = ARENA_ARRAY(arena, struct scaled_node, view->cluster->nodes);
    autoscaler->server_group = ARENA_ARRAY(arena, uint32_t, spec->group_count);
    autoscaler->blocked_until_ns = ARENA_ARRAY(arena, int64_t, spec->group_count);
    autoscaler->pods = ARENA_ARRAY(arena, uint32_t, classes);
    autoscaler->left = ARENA_ARRAY(arena, uint32_t, classes);
    log_init(&autoscaler->moves, sizeof(struct node_move), 0);
    if (!autoscaler->nodes || !autoscaler->server_group || !autoscaler->blocked_until_ns ||
        !autoscaler->pods || !autoscaler->left)
        return false;
    autoscaler->last_add_ns = -spec->delay_after_add_ns;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        autoscaler->server_group[g] = server_group_named(view, spec->groups[g].group);
        if (autoscaler->server_group[g] != LIVE_NONE) init_group(autoscaler, view, g);
    }
    return true;
}

void kube_autoscaler_clear(struct kube_autoscaler *autoscaler)
{
    log_clear(&autoscaler->moves);
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Pods that wait for a node, by request class; returns how many. */
static uint64_t count_waiting(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    memset(autoscaler->pods, 0, view->requests->class_count * sizeof *autoscaler->pods);
    uint64_t count = 0;
    for (uint32_t live = 0; live < view->live->count && live < kube->job_capacity; live++) {
        if (view->live->jobs[live].state != LIVE_WAITING ||
            !kube_queue_has(kube_queue_of(kube, live), live))
            continue;
        const uint32_t pods = kube_pods_waiting(kube, view, live);
        autoscaler->pods[view->live->jobs[live].request_class] += pods;
        count += pods;
    }
    return count;
}

/* Takes from pods[] what an empty node of the group holds; returns how many pods. *waste: the part of its cores and
 * memory that stays free, 0 .. 2. */
static uint32_t fill_node(const struct kubernetes *kube, const struct policy_view *view,
                          uint32_t server_group, uint32_t *pods, double *waste)
{
    const struct kube_shapes *shapes = &kube->shapes;
    const struct kube_amounts *all = &shapes->groups[server_group].allocatable;
    struct kube_amounts left = *all;
    uint32_t taken = 0;
    for (uint32_t c = 0; c < view->requests->class_count; c++) {
        if (!pods[c] || !shapes->facts_fit[(size_t)c * shapes->group_count + server_group])
            continue;
        const struct kube_amounts *pod = &shapes->pods[c].big;
        static const struct kube_amounts nothing;
        while (pods[c] && kube_short_amounts(&left, &nothing, pod) == 0) {
            for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) left.of[r] -= pod->of[r];
            pods[c]--;
            taken++;
        }
    }
    *waste = 0;
    for (int r = KUBE_CPU; r <= KUBE_MEMORY; r++)
        if (all->of[r]) *waste += (double)left.of[r] / (double)all->of[r];
    return taken;
}

/* Pods for which nodes are on their way wait for those. */
static void serve_coming(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    double waste;
    for (uint32_t node = 0; node < view->cluster->nodes; node++)
        if (autoscaler->nodes[node].state == NODE_COMING)
            fill_node(kube, view, view->cluster->group_of[node], autoscaler->pods, &waste);
}

struct option {
    uint32_t nodes;
    uint64_t pods;
    double waste, price;
    int32_t priority;
};

/* How many nodes the group would add, and what for. */
static struct option option_of(struct kubernetes *kube, const struct policy_view *view, uint32_t g)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    const struct kube_group *group = &view->scenario->kube.groups[g];
    struct option option = { .priority = group->priority };
    if (autoscaler->server_group[g] == LIVE_NONE || autoscaler->blocked_until_ns[g] > kube->now_ns)
        return option;
    const struct cluster_group *nodes = &view->cluster->groups[autoscaler->server_group[g]];
    uint32_t away = 0;
    for (uint32_t i = 0; i < nodes->nodes; i++)
        away += autoscaler->nodes[nodes->first_node + i].state == NODE_AWAY;
    memcpy(autoscaler->left, autoscaler->pods,
           view->requests->class_count * sizeof *autoscaler->left);
    while (option.nodes < away) {
        double waste;
        const uint32_t taken =
            fill_node(kube, view, autoscaler->server_group[g], autoscaler->left, &waste);
        if (taken == 0) break;
        option.nodes++;
        option.pods += taken;
        option.waste += waste;
    }
    if (option.nodes) option.waste /= option.nodes;
    if (option.pods) option.price = group->price * option.nodes / (double)option.pods;
    return option;
}

static bool is_better(enum kube_expander expander, const struct option *a, const struct option *b)
{
    switch (expander) {
    case EXPAND_LEAST_WASTE:
        return a->waste < b->waste;
    case EXPAND_MOST_PODS:
        return a->pods > b->pods;
    case EXPAND_PRIORITY:
        return a->priority > b->priority;
    case EXPAND_PRICE:
        return a->price < b->price;
    case EXPAND_RANDOM:
        break;
    }
    return false;
}

/* The group to grow; among equals, and for expander random, one is drawn. LIVE_NONE: none helps. */
static uint32_t choose_group(struct kubernetes *kube, const struct policy_view *view,
                             struct option *chosen)
{
    const struct kube_spec *spec = &view->scenario->kube;
    uint32_t best = LIVE_NONE, equal = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct option option = option_of(kube, view, g);
        if (option.nodes == 0) continue;
        if (best != LIVE_NONE && is_better(spec->expander, chosen, &option)) continue;
        if (best == LIVE_NONE || is_better(spec->expander, &option, chosen))
            equal = 1;
        else {
            equal++; /* each of n equals is kept with 1/n */
            const double u =
                stream_uniform(kube->cycle.key, UINT64_C(1) << 40, kube->autoscaler->draws++);
            if (u * equal >= 1) continue;
        }
        best = g;
        *chosen = option;
    }
    return best;
}

static void grow(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    if (count_waiting(kube, view) == 0) return;
    serve_coming(kube, view);
    struct option option = { 0 };
    const uint32_t g = choose_group(kube, view, &option);
    if (g == LIVE_NONE) return;
    const struct kube_group *group = &view->scenario->kube.groups[g];
    const struct cluster_group *nodes = &view->cluster->groups[autoscaler->server_group[g]];
    for (uint32_t i = 0; i < nodes->nodes && option.nodes > 0; i++) {
        struct scaled_node *node = &autoscaler->nodes[nodes->first_node + i];
        if (node->state != NODE_AWAY) continue;
        node->state = NODE_COMING;
        node->at_ns = time_add(kube->now_ns, group->provision_ns);
        option.nodes--;
    }
    autoscaler->last_add_ns = kube->now_ns;
}

/* Nodes on their way that are there now, or are given up. */
static void arrive(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    const struct kube_spec *spec = &view->scenario->kube;
    for (uint32_t i = 0; i < view->cluster->nodes; i++) {
        struct scaled_node *node = &autoscaler->nodes[i];
        if (node->state != NODE_COMING) continue;
        const int64_t provision_ns = spec->groups[node->group].provision_ns;
        if (provision_ns > spec->give_up_ns &&
            node->at_ns - provision_ns + spec->give_up_ns <= kube->now_ns) {
            node->state = NODE_AWAY;
            autoscaler->blocked_until_ns[node->group] = time_add(kube->now_ns, GROUP_BACKOFF_NS);
        } else if (node->at_ns <= kube->now_ns) {
            *node = (struct scaled_node){ NODE_THERE, node->group, TIME_NEVER };
            tell(autoscaler, i, false);
        }
    }
}

/* ---- shrinking ------------------------------------------------------------------------------- */

/* Part of the node that is requested: GPUs where it has some, else cores or memory, whichever is more. */
static double used_frac(const struct kube_node_class *class)
{
    const struct kube_room *room = &class->room;
    if (room->allocatable.of[KUBE_GPU])
        return (double)room->used.of[KUBE_GPU] / (double)room->allocatable.of[KUBE_GPU];
    double most = 0;
    for (int r = KUBE_CPU; r <= KUBE_MEMORY; r++) {
        if (room->allocatable.of[r] == 0) continue;
        const double part = (double)room->used.of[r] / (double)room->allocatable.of[r];
        if (part > most) most = part;
    }
    return most;
}

/* Another node than this one with room for the pod, booked in the table of nodes. */
static bool book_elsewhere(struct kubernetes *kube, const struct policy_view *view, uint32_t node,
                           uint32_t live, uint32_t *where)
{
    const struct kube_candidate candidate = { .request_class = view->live->jobs[live].request_class,
                                              .live = live,
                                              .priority = kube->jobs[live].priority };
    const struct kube_nodes *nodes = &kube->nodes;
    for (uint32_t other = 0; other < view->cluster->nodes; other++) {
        const uint8_t state = kube->autoscaler->nodes[other].state;
        if (other == node || state == NODE_GOING ||
            !kube_cycle_fits(&kube->cycle, &nodes->classes[nodes->class_of[other]], &candidate))
            continue;
        kube_nodes_take(&kube->nodes, other, kube_pod(kube_pods_of(kube, view, live), 0));
        *where = other;
        return true;
    }
    return false;
}

/* Whether the pods of the node fit elsewhere; if so they are told to end. */
static bool can_empty(struct kubernetes *kube, const struct policy_view *view, uint32_t node)
{
    const struct cluster *cluster = view->cluster;
    uint32_t wheres[KUBE_NODE_PODS], lives[KUBE_NODE_PODS], count = 0;
    bool fits = true;
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE && fits;
         row = cluster->grants[row].next_on_node) {
        const uint32_t live = cluster->grants[row].live;
        fits = count < KUBE_NODE_PODS && view->live->jobs[live].state == LIVE_RUNNING &&
               kube_pods_of(kube, view, live)->count == 1 &&
               book_elsewhere(kube, view, node, live, &wheres[count]);
        if (fits) lives[count++] = live;
    }
    for (uint32_t i = 0; i < count; i++) kube_nodes_touch(&kube->nodes, wheres[i]);
    kube_nodes_refresh(&kube->nodes);
    for (uint32_t i = 0; i < count && fits; i++)
        if (!kube->jobs[lives[i]].terminating) kube_terminate(kube, view, lives[i]);
    return fits;
}

static uint32_t nodes_there(const struct kube_autoscaler *autoscaler,
                            const struct policy_view *view, uint32_t g)
{
    const struct cluster_group *nodes = &view->cluster->groups[autoscaler->server_group[g]];
    uint32_t count = 0;
    for (uint32_t i = 0; i < nodes->nodes; i++) {
        const uint8_t state = autoscaler->nodes[nodes->first_node + i].state;
        count += state == NODE_THERE || state == NODE_COMING;
    }
    return count;
}

/* Notes since when each node is little used. */
static void look_at_use(struct kubernetes *kube, const struct policy_view *view)
{
    const struct kube_spec *spec = &view->scenario->kube;
    for (uint32_t i = 0; i < view->cluster->nodes; i++) {
        struct scaled_node *node = &kube->autoscaler->nodes[i];
        if (node->state != NODE_THERE) continue;
        const struct kube_node_class *class = &kube->nodes.classes[kube->nodes.class_of[i]];
        const bool needed = class->key.is_out || used_frac(class) >= spec->utilization_threshold;
        if (needed)
            node->at_ns = TIME_NEVER;
        else if (node->at_ns == TIME_NEVER)
            node->at_ns = kube->now_ns;
    }
}

static void shrink(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    const struct kube_spec *spec = &view->scenario->kube;
    look_at_use(kube, view);
    if (kube->now_ns - autoscaler->last_add_ns < spec->delay_after_add_ns) return;
    uint32_t empty = 0, full = 0;
    for (uint32_t i = view->cluster->nodes; i-- > 0;) {
        struct scaled_node *node = &autoscaler->nodes[i];
        if (node->state != NODE_THERE || node->at_ns == TIME_NEVER ||
            kube->now_ns - node->at_ns < spec->unneeded_ns ||
            nodes_there(autoscaler, view, node->group) <= spec->groups[node->group].min)
            continue;
        const bool is_empty = view->cluster->first_on_node[i] == GRANT_NONE;
        if (is_empty ? empty == EMPTY_AT_ONCE : full == 1) continue;
        if (!is_empty && !can_empty(kube, view, i)) continue;
        empty += is_empty;
        full += !is_empty;
        node->state = is_empty ? NODE_AWAY : NODE_GOING;
        tell(autoscaler, i, true);
    }
}

/* ---- the scan -------------------------------------------------------------------------------- */

bool kube_autoscaler_told(struct kube_autoscaler *autoscaler, struct decision *decision)
{
    if (autoscaler->next_move == autoscaler->moves.count) {
        autoscaler->next_move = autoscaler->moves.count = 0;
        return false;
    }
    const struct node_move move =
        LOG_ITEMS(&autoscaler->moves, struct node_move)[autoscaler->next_move++];
    autoscaler->part = (struct part){ .node = move.node };
    *decision = (struct decision){ .what = move.out ? DECIDE_NODE_OUT : DECIDE_NODE_BACK,
                                   .live = LIVE_NONE,
                                   .parts = &autoscaler->part,
                                   .part_count = 1 };
    return true;
}

bool kube_autoscaler_scan(struct kubernetes *kube, const struct policy_view *view,
                          struct decision *decision)
{
    struct kube_autoscaler *autoscaler = kube->autoscaler;
    const int64_t every_ns = view->scenario->kube.scan_ns;
    const bool due = kube->now_ns >= autoscaler->scan_ns;
    if (due) autoscaler->scan_ns = time_add(kube->now_ns - kube->now_ns % every_ns, every_ns);
    if (due && kube->now_ns % every_ns == 0) { /* none was due while nobody was there */
        grow(kube, view);
        shrink(kube, view);
    }
    arrive(kube, view);
    for (uint32_t i = 0; i < view->cluster->nodes; i++)
        if (autoscaler->nodes[i].state == NODE_GOING && cluster_node_empty(view->cluster, i))
            autoscaler->nodes[i].state = NODE_AWAY;
    return kube_autoscaler_told(autoscaler, decision);
}

int64_t kube_autoscaler_due_ns(const struct kube_autoscaler *autoscaler,
                               const struct policy_view *view)
{
    int64_t due_ns = view->live->in_use ? autoscaler->scan_ns : TIME_NEVER;
    for (uint32_t i = 0; i < view->cluster->nodes; i++)
        if (autoscaler->nodes[i].state == NODE_COMING && autoscaler->nodes[i].at_ns < due_ns)
            due_ns = autoscaler->nodes[i].at_ns;
    return due_ns;
}
