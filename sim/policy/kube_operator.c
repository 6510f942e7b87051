/* kube_operator.c - see kube_operator.h. */
#include "policy/kube_operator.h"

#include "base/assert.h"
#include "base/clock.h"

bool kube_operator_init(struct kube_operator *gpu_operator, const struct policy_view *view,
                        struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    *gpu_operator = (struct kube_operator){
        .plugin_ns = spec->plugin_ready_ns,
        .every_ns = spec->driver_upgrade_every_ns,
        .upgrade_ns = spec->driver_upgrade_ns,
        .was_down = ARENA_ARRAY(arena, bool, view->cluster->nodes),
        .plugin_until_ns = ARENA_ARRAY(arena, int64_t, view->cluster->nodes),
        .round_ns = spec->driver_upgrade_every_ns ? spec->driver_upgrade_every_ns : TIME_NEVER,
        .until_ns = TIME_NEVER,
    };
    log_init(&gpu_operator->starting, sizeof(struct plugin_start), 0);
    log_init(&gpu_operator->back, sizeof(uint32_t), 0);
    return gpu_operator->was_down && gpu_operator->plugin_until_ns;
}

void kube_operator_clear(struct kube_operator *gpu_operator)
{
    log_clear(&gpu_operator->starting);
    log_clear(&gpu_operator->back);
}

void kube_operator_nodes(struct kube_operator *gpu_operator, const struct policy_view *view)
{
    if (gpu_operator->plugin_ns == 0) return;
    for (uint32_t node = 0; node < view->cluster->nodes; node++) {
        const bool is_down = view->cluster->downs[node] > 0;
        if (gpu_operator->was_down[node] && !is_down) log_append(&gpu_operator->back, &node);
        gpu_operator->was_down[node] = is_down;
    }
}

static bool tell_node(struct kube_operator *gpu_operator, enum decide what, uint32_t node,
                      struct decision *decision)
{
    gpu_operator->part = (struct part){ .node = node };
    *decision = (struct decision){
        .what = what, .live = LIVE_NONE, .parts = &gpu_operator->part, .part_count = 1
    };
    return true;
}

static const struct plugin_start *first_start(const struct kube_operator *gpu_operator)
{
    if (gpu_operator->next_starting == gpu_operator->starting.count) return (void *)0;
    return &LOG_ITEMS(&gpu_operator->starting, struct plugin_start)[gpu_operator->next_starting];
}

/* Nodes that came back go out until their plugin is up. */
static bool next_plugin(struct kube_operator *gpu_operator, int64_t now_ns,
                        struct decision *decision)
{
    while (gpu_operator->next_back < gpu_operator->back.count) {
        const uint32_t node = LOG_ITEMS(&gpu_operator->back, uint32_t)[gpu_operator->next_back++];
        if (gpu_operator->next_back == gpu_operator->back.count)
            gpu_operator->next_back = gpu_operator->back.count = 0;
        const bool is_out = gpu_operator->plugin_until_ns[node] > 0;
        gpu_operator->plugin_until_ns[node] = time_add(now_ns, gpu_operator->plugin_ns);
        const struct plugin_start start = { node, gpu_operator->plugin_until_ns[node] };
        log_append(&gpu_operator->starting, &start);
        if (!is_out) return tell_node(gpu_operator, DECIDE_NODE_OUT, node, decision);
    }
    const struct plugin_start *start;
    while ((start = first_start(gpu_operator)) && start->until_ns <= now_ns) {
        const struct plugin_start is = *start;
        gpu_operator->next_starting++;
        if (gpu_operator->plugin_until_ns[is.node] != is.until_ns) continue;
        gpu_operator->plugin_until_ns[is.node] = 0;
        return tell_node(gpu_operator, DECIDE_NODE_BACK, is.node, decision);
    }
    return false;
}

/* The next multiple of the period behind now. */
static void end_round(struct kube_operator *gpu_operator, int64_t now_ns)
{
    gpu_operator->in_round = false;
    gpu_operator->round_ns =
        time_add(now_ns - now_ns % gpu_operator->every_ns, gpu_operator->every_ns);
}

static bool next_upgrade(struct kube_operator *gpu_operator, const struct policy_view *view,
                         int64_t now_ns, struct decision *decision)
{
    if (!gpu_operator->in_round) {
        if (now_ns < gpu_operator->round_ns) return false;
        gpu_operator->in_round = true;
        gpu_operator->cursor = 0;
    }
    const struct cluster *cluster = view->cluster;
    if (!gpu_operator->is_out) {
        while (gpu_operator->cursor < cluster->nodes && cluster->outs[gpu_operator->cursor])
            gpu_operator->cursor++;
        if (gpu_operator->cursor == cluster->nodes) {
            end_round(gpu_operator, now_ns);
            return false;
        }
        gpu_operator->is_out = true;
        return tell_node(gpu_operator, DECIDE_NODE_OUT, gpu_operator->cursor, decision);
    }
    if (gpu_operator->until_ns == TIME_NEVER) {
        if (!cluster_node_empty(cluster, gpu_operator->cursor)) return false;
        gpu_operator->until_ns =
            time_add(now_ns, gpu_operator->upgrade_ns + gpu_operator->plugin_ns);
    }
    if (now_ns < gpu_operator->until_ns) return false;
    gpu_operator->is_out = false;
    gpu_operator->until_ns = TIME_NEVER;
    return tell_node(gpu_operator, DECIDE_NODE_BACK, gpu_operator->cursor++, decision);
}

bool kube_operator_next(struct kube_operator *gpu_operator, const struct policy_view *view,
                        int64_t now_ns, struct decision *decision)
{
    if (gpu_operator->plugin_ns && next_plugin(gpu_operator, now_ns, decision)) return true;
    return gpu_operator->every_ns && next_upgrade(gpu_operator, view, now_ns, decision);
}

int64_t kube_operator_due_ns(const struct kube_operator *gpu_operator)
{
    int64_t due_ns = gpu_operator->in_round ? gpu_operator->until_ns : gpu_operator->round_ns;
    const struct plugin_start *start = first_start(gpu_operator);
    return start && start->until_ns < due_ns ? start->until_ns : due_ns;
}
