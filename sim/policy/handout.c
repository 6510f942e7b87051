/* handout.c - see handout.h. */
#include "policy/handout.h"

#include "base/bits.h"
#include "policy/place.h"

#include <string.h>

enum { FIRST_JOBS = 1024 };

bool handout_init(struct handout *handout, const struct policy_view *view, struct arena *arena)
{
    *handout = (struct handout){ .arena = arena, .by_count = view->cluster->gpus_per_node == 1 };
    handout->found = ARENA_ARRAY(arena, struct part, view->cluster->nodes);
    return handout->found &&
           (handout->by_count || what_if_init(&handout->what_if, view->cluster, arena));
}

/* ---- memory ------------------------------------------------------------------------------------ */

static bool grow(struct handout *handout, const struct policy_view *view, uint32_t count)
{
    if (handout->live_capacity < view->live->capacity) {
        handout->gave_way = ARENA_ARRAY(handout->arena, uint8_t, view->live->capacity);
        if (!handout->gave_way) return false;
        handout->live_capacity = view->live->capacity;
    }
    if (count <= handout->capacity) return true;
    uint32_t capacity = handout->capacity ? handout->capacity : FIRST_JOBS;
    while (capacity < count) capacity *= 2;
    handout->stop = ARENA_ARRAY(handout->arena, uint32_t, capacity);
    handout->start = ARENA_ARRAY(handout->arena, uint32_t, capacity);
    handout->first_part = ARENA_ARRAY(handout->arena, uint32_t, (size_t)capacity + 1);
    handout->capacity = capacity;
    return handout->stop && handout->start && handout->first_part;
}

static bool keep_parts(struct handout *handout, uint32_t count)
{
    if (handout->part_count + count > handout->part_capacity) {
        uint32_t capacity = handout->part_capacity ? handout->part_capacity : FIRST_JOBS;
        while (capacity < handout->part_count + count) capacity *= 2;
        struct part *parts = ARENA_ARRAY(handout->arena, struct part, capacity);
        if (!parts) return false;
        if (handout->part_count > 0)
            memcpy(parts, handout->parts, handout->part_count * sizeof *parts);
        handout->parts = parts;
        handout->part_capacity = capacity;
    }
    memcpy(handout->parts + handout->part_count, handout->found, count * sizeof *handout->found);
    handout->part_count += count;
    return true;
}

/* ---- by number ---------------------------------------------------------------------------------- */

static bool is_running(const struct policy_view *view, uint32_t live)
{
    return view->live->jobs[live].state == LIVE_RUNNING;
}

/* GPUs of a running job that others could have: those on nodes that take new jobs. (None of them is
 * broken: then it would not run.) */
static uint32_t usable_gpus(const struct handout *handout, const struct policy_view *view,
                            uint32_t live)
{
    const struct cluster *cluster = view->cluster;
    if (handout->all_in) return view->live->attempts[live].held;
    uint32_t gpus = 0;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (!cluster->outs[grant->node]) gpus += (uint32_t)bits_count(grant->mask);
    }
    return gpus;
}

/* Whether every node takes new jobs: then it is in one of the sets by free GPUs. */
static bool all_nodes_in(const struct cluster *cluster)
{
    uint64_t in = 0;
    for (uint32_t f = 0; f <= cluster->gpus_per_node; f++) in += cluster->index.with_free[f];
    return in == cluster->nodes;
}

static uint32_t asked_gpus(const struct policy_view *view, uint32_t live)
{
    return view->demands[view->live->jobs[live].request_class].held;
}

static void hand_out_by_count(struct handout *handout, const struct policy_view *view,
                              const uint32_t *order, uint32_t count)
{
    uint64_t left = view->cluster->index.free_gpus;
    for (uint32_t i = 0; i < count; i++)
        if (is_running(view, order[i])) left += usable_gpus(handout, view, order[i]);
    for (uint32_t i = 0; i < count; i++) {
        const bool runs = is_running(view, order[i]);
        const uint32_t needs =
            runs ? usable_gpus(handout, view, order[i]) : asked_gpus(view, order[i]);
        if (needs <= left) {
            left -= needs;
            if (!runs) handout->start[handout->start_count++] = order[i];
        } else if (runs)
            handout->stop[handout->stop_count++] = order[i];
    }
}

/* ---- by nodes ------------------------------------------------------------------------------------ */

static void change_node(struct handout *handout, const struct policy_view *view, uint32_t node,
                        int by)
{
    what_if_set(&handout->what_if, node, (uint32_t)(handout->what_if.free_gpus[node] + by),
                view->cluster->full_mask[node] & ~view->cluster->broken_mask[node]);
}

/* The nodes of a running job become free (+1) or are taken again (-1). */
static void change_job(struct handout *handout, const struct policy_view *view, uint32_t live,
                       int sign)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (cluster->outs[grant->node]) continue;
        change_node(handout, view, grant->node,
                    sign * bits_count(grant->mask & ~cluster->broken_mask[grant->node]));
    }
    handout->gave_way[live] = sign > 0;
}

/* Whether a job that gave way finds its own nodes as free as it left them. */
static bool still_free(const struct handout *handout, const struct policy_view *view, uint32_t live)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (cluster->outs[grant->node]) return false;
        if (handout->what_if.free_gpus[grant->node] < bits_count(grant->mask)) return false;
    }
    return true;
}

static uint32_t place(struct handout *handout, const struct policy_view *view, uint32_t live)
{
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    const struct cluster *cluster = &handout->what_if.cluster;
    if (!demand_fits(demand, cluster->index.with_free, cluster->gpus_per_node)) return 0;
    return place_find(cluster, demand, view->placement, handout->found);
}

/* Worse running jobs give way, the worst first, until the job fits; returns its parts. Nobody does when
 * all of them are not enough. */
static uint32_t make_way(struct handout *handout, const struct policy_view *view,
                         const uint32_t *order, uint32_t count, uint32_t rank)
{
    uint64_t most = handout->what_if.cluster.index.free_gpus;
    for (uint32_t i = rank + 1; i < count; i++)
        if (is_running(view, order[i]) && !handout->gave_way[order[i]])
            most += usable_gpus(handout, view, order[i]);
    if (most < asked_gpus(view, order[rank])) return 0;
    uint32_t parts = 0, at = count;
    while (parts == 0 && --at > rank) {
        if (!is_running(view, order[at]) || handout->gave_way[order[at]]) continue;
        change_job(handout, view, order[at], +1);
        handout->gave_way[order[at]] = 2; /* in this search */
        parts = place(handout, view, order[rank]);
    }
    for (uint32_t p = 0; p < parts; p++)
        change_node(handout, view, handout->found[p].node, -(int)handout->found[p].gpus);
    /* Those whose nodes are not used come back, the best first. */
    for (uint32_t i = rank + 1; i < count; i++) {
        if (handout->gave_way[order[i]] != 2) continue;
        handout->gave_way[order[i]] = 1;
        if (still_free(handout, view, order[i])) change_job(handout, view, order[i], -1);
    }
    for (uint32_t p = 0; p < parts; p++)
        change_node(handout, view, handout->found[p].node, +(int)handout->found[p].gpus);
    return parts;
}

static void load_nodes(struct handout *handout, const struct policy_view *view)
{
    what_if_refresh(&handout->what_if, view->cluster);
    for (uint32_t node = 0; node < view->cluster->nodes; node++) {
        const int gpus = cluster_node_free(view->cluster, node);
        what_if_set(&handout->what_if, node, gpus > 0 ? (uint32_t)gpus : 0,
                    view->cluster->free_mask[node]);
    }
}

static bool hand_out_nodes(struct handout *handout, const struct policy_view *view,
                           const uint32_t *order, uint32_t count)
{
    load_nodes(handout, view);
    for (uint32_t i = 0; i < count; i++) handout->gave_way[order[i]] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t live = order[i];
        const bool runs = is_running(view, live);
        if (runs && !handout->gave_way[live]) continue;
        if (runs && still_free(handout, view, live)) {
            change_job(handout, view, live, -1);
            continue;
        }
        if (runs) handout->stop[handout->stop_count++] = live;
        uint32_t parts = place(handout, view, live);
        if (parts == 0) parts = make_way(handout, view, order, count, i);
        if (parts == 0) continue;
        for (uint32_t p = 0; p < parts; p++)
            change_node(handout, view, handout->found[p].node, -(int)handout->found[p].gpus);
        handout->first_part[handout->start_count] = handout->part_count;
        if (!keep_parts(handout, parts)) return false;
        handout->start[handout->start_count++] = live;
        handout->first_part[handout->start_count] = handout->part_count;
    }
    return true;
}

/* ---- decisions ----------------------------------------------------------------------------------- */

void handout_make(struct handout *handout, const struct policy_view *view, const uint32_t *order,
                  uint32_t count)
{
    handout->stop_count = handout->start_count = handout->part_count = 0;
    handout->stopped = handout->started = 0;
    handout->all_in = all_nodes_in(view->cluster);
    bool done = grow(handout, view, count);
    if (done && handout->by_count)
        hand_out_by_count(handout, view, order, count);
    else if (done)
        done = hand_out_nodes(handout, view, order, count);
    if (!done) *view->out_of_memory = true;
}

bool handout_next(struct handout *handout, const struct policy_view *view,
                  struct decision *decision)
{
    if (handout->stopped < handout->stop_count) {
        *decision = (struct decision){ .what = DECIDE_PREEMPT,
                                       .live = handout->stop[handout->stopped++],
                                       .keeps_work = true };
        return true;
    }
    while (handout->started < handout->start_count) {
        const uint32_t i = handout->started++, live = handout->start[i];
        if (handout->by_count) {
            const uint32_t count =
                place_class(view, view->live->jobs[live].request_class, handout->found);
            if (count == 0) continue; /* no host */
            *decision =
                (struct decision){ .live = live, .parts = handout->found, .part_count = count };
            return true;
        }
        *decision =
            (struct decision){ .live = live,
                               .parts = handout->parts + handout->first_part[i],
                               .part_count = handout->first_part[i + 1] - handout->first_part[i] };
        return true;
    }
    return false;
}
