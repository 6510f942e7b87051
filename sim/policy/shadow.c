/* shadow.c - see shadow.h. */
#include "policy/shadow.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

bool shadow_init(struct shadow *shadow, uint32_t nodes, struct arena *arena)
{
    *shadow = (struct shadow){ .head = LIVE_NONE,
                               .freed = ARENA_ARRAY(arena, uint8_t, nodes),
                               .touched = ARENA_ARRAY(arena, uint8_t, nodes),
                               .touched_list = ARENA_ARRAY(arena, uint32_t, nodes) };
    return shadow->freed && shadow->touched && shadow->touched_list;
}

void shadow_drop(struct shadow *shadow)
{
    for (uint32_t i = 0; i < shadow->touched_count; i++) {
        shadow->freed[shadow->touched_list[i]] = 0;
        shadow->touched[shadow->touched_list[i]] = 0;
    }
    shadow->touched_count = 0;
    shadow->head = LIVE_NONE;
}

/* A share opens and closes a GPU for others as well; jobs with shares free no GPU that is counted on, and their starts and ends
 * make a new walk. */
static int whole_gpus(const struct grant *grant)
{
    return grant->share_units ? 0 : bits_count(grant->mask);
}

static bool has_shares(const struct policy_view *view, uint32_t live)
{
    return view->live->attempts[live].share_units > 0;
}

static void free_more(struct shadow *shadow, uint32_t node, int gpus)
{
    shadow->freed[node] = (uint8_t)(shadow->freed[node] + gpus);
    if (shadow->touched[node]) return;
    shadow->touched[node] = 1;
    shadow->touched_list[shadow->touched_count++] = node;
}

static bool fits_then(const struct shadow *shadow, const struct policy_view *view)
{
    return demand_fits(&view->demands[shadow->head_class], shadow->with_then,
                       view->cluster->gpus_per_node);
}

/* Counts a running job as gone at the shadow (sign 1), or as still there (sign -1). */
static void count_gone(struct shadow *shadow, const struct policy_view *view, uint32_t live,
                       int sign)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (cluster->outs[grant->node]) continue; /* it takes no new jobs: nothing becomes free */
        const int gpus = whole_gpus(grant);
        const int was = cluster_node_free(cluster, grant->node) + shadow->freed[grant->node];
        shadow->with_then[was]--;
        shadow->with_then[was + sign * gpus]++;
        free_more(shadow, grant->node, sign * gpus);
    }
}

/* Moves nodes of a job in the histogram: they have `by` GPUs per GPU of its grants more then. */
static void count_change(struct shadow *shadow, const struct policy_view *view, uint32_t live,
                         int sign, bool claimed)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (cluster->outs[grant->node]) continue;
        const int gpus = whole_gpus(grant);
        const int now = cluster_node_free(cluster, grant->node) + shadow->freed[grant->node];
        const int was = claimed ? now + gpus : now;
        shadow->with_then[was]--;
        shadow->with_then[was + sign * gpus]++;
    }
}

/* GPUs of a job that change between "free now" and "freed by then": the sum stays. */
static void count_freed(struct shadow *shadow, const struct policy_view *view, uint32_t live,
                        int sign)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (!cluster->outs[grant->node]) free_more(shadow, grant->node, sign * whole_gpus(grant));
    }
}

void shadow_start(struct shadow *shadow, const struct policy_view *view, uint32_t live)
{
    if (shadow->head == LIVE_NONE) return;
    if (live == shadow->head || has_shares(view, live)) {
        shadow_drop(shadow);
        return;
    }
    if (view->live->attempts[live].expected_end_ns > shadow->end_ns) {
        count_change(shadow, view, live, -1, true);
        /* A killed job that stood before the head may take what the head was to have. */
        if (shadow->reachable && !fits_then(shadow, view)) shadow_drop(shadow);
        return;
    }
    count_freed(shadow, view, live, +1); /* taken now, free again by the shadow */
}

void shadow_end(struct shadow *shadow, const struct policy_view *view, uint32_t live)
{
    if (shadow->head == LIVE_NONE) return;
    if (has_shares(view, live)) {
        shadow_drop(shadow);
        return;
    }
    shadow->may_be_nearer = true;
    if (view->live->attempts[live].expected_end_ns > shadow->end_ns) {
        count_change(shadow, view, live, +1, false);
        return;
    }
    count_freed(shadow, view, live, -1); /* free now instead of then */
}

/* Counts all jobs that are expected to end at `end_ns` exactly. */
static void count_group(struct shadow *shadow, const struct policy_view *view, int64_t end_ns,
                        int sign)
{
    struct running_place place = running_behind(view->running, end_ns - 1);
    const struct running_entry *entry;
    while ((entry = running_at(view->running, place)) && entry->expected_end_ns == end_ns) {
        count_gone(shadow, view, entry->live, sign);
        place = running_next(view->running, place);
    }
}

static void walk_forward(struct shadow *shadow, const struct policy_view *view)
{
    memcpy(shadow->with_then, view->cluster->index.with_free, sizeof shadow->with_then);
    shadow->reachable = false;
    shadow->end_ns = INT64_MAX;
    struct running_place place = { 0 };
    const struct running_entry *entry = running_at(view->running, place);
    while (entry) {
        const int64_t end_ns = entry->expected_end_ns;
        while (entry && entry->expected_end_ns == end_ns) {
            count_gone(shadow, view, entry->live, 1);
            place = running_next(view->running, place);
            entry = running_at(view->running, place);
        }
        if (!fits_then(shadow, view)) continue;
        shadow->reachable = true;
        shadow->end_ns = end_ns;
        return;
    }
}

static void walk_back(struct shadow *shadow, const struct policy_view *view)
{
    while (shadow->reachable) {
        const struct running_entry *last = running_last_until(view->running, shadow->end_ns);
        if (!last) return; /* all of them have ended: the head fits now */
        shadow->end_ns = last->expected_end_ns;
        count_group(shadow, view, shadow->end_ns, -1);
        if (!fits_then(shadow, view)) {
            count_group(shadow, view, shadow->end_ns, 1);
            return;
        }
        shadow->end_ns--; /* the group before is found from here */
    }
}

void shadow_of(struct shadow *shadow, const struct policy_view *view,
               const struct waiting_head *head)
{
    if (shadow->head != head->live) {
        shadow_drop(shadow);
        shadow->head = head->live;
        shadow->head_class = head->request_class;
        walk_forward(shadow, view);
    } else if (shadow->may_be_nearer) {
        walk_back(shadow, view);
    }
    shadow->may_be_nearer = false;
}

bool shadow_spares(const struct shadow *shadow, const struct policy_view *view,
                   const struct part *parts, uint32_t part_count)
{
    if (!shadow->reachable) return true;
    uint32_t with_then[LIMIT_GPUS_PER_SERVER + 1];
    memcpy(with_then, shadow->with_then, sizeof with_then);
    for (uint32_t p = 0; p < part_count; p++) {
        const int was =
            cluster_node_free(view->cluster, parts[p].node) + shadow->freed[parts[p].node];
        with_then[was]--;
        with_then[was - (int)parts[p].gpus]++;
    }
    return demand_fits(&view->demands[shadow->head_class], with_then, view->cluster->gpus_per_node);
}
