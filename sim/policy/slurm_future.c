/* slurm_future.c - when and where a waiting job fits: now, or after running jobs have gone in order of their ends.
 *
 * Slurm takes jobs away in windows: E = the end of the first, rounded up to 30 s of the clock; all that end by E +
 * window go; then it asks the selector. The window doubles after each failed try, E stays (recording s39: with E moved
 * on to the next job, m18 of second 33 would be expected at 212 instead of 152). So more nodes may be free than needed,
 * and the selector chooses among all of them: the estimate is not always the earliest, and is kept so. Jobs that hold
 * none of the candidates are passed over.
 *
 * The future is a picture of its own. The selector looks at candidates only, so before it is asked each of them is brought
 * to the time in question: its present state without the jobs that end by then. A state holds from the last of these ends
 * to the next one, and is kept. */
#include "policy/slurm_state.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW_FIRST_S = 30, WINDOW_ROUND_S = 30 };

/* ---- the picture of the future ------------------------------------------------------------------ */

bool slurm_future_init(struct slurm *slurm, struct arena *arena)
{
    struct slurm_future *future = &slurm->future;
    if (!slurm_picture_init(&future->picture, &slurm->nodes, arena)) return false;
    /* Who may be used, is ending or sleeps is the same in both. */
    future->picture.usable = slurm->picture.usable;
    future->picture.completing = slurm->picture.completing;
    future->picture.asleep = slurm->picture.asleep;
    future->holds = ARENA_ARRAY(arena, struct slurm_holds, slurm->nodes.nodes);
    future->set = ARENA_ARRAY(arena, uint64_t, slurm->nodes.words);
    return future->holds && future->set && slurm_vacancy_init(&slurm->vacancy, slurm->nodes.nodes);
}

void slurm_future_clear(struct slurm *slurm)
{
    slurm_picture_clear(&slurm->future.picture);
    slurm_vacancy_clear(&slurm->vacancy);
    free(slurm->future.going);
}

void slurm_future_forget(struct slurm *slurm, uint32_t node)
{
    slurm->future.holds[node] = (struct slurm_holds){ 0 };
}

void slurm_future_forget_job(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next)
        slurm_future_forget(slurm, view->cluster->grants[row].node);
}

/* Adds to those that go from a node, in order of (end, live row). */
static bool going_add(struct slurm_future *future, uint32_t count, struct slurm_going going)
{
    if (count == future->going_capacity) {
        const uint32_t capacity = count ? 2 * count : 64;
        struct slurm_going *list = realloc(future->going, capacity * sizeof *list);
        if (!list) return false;
        future->going = list;
        future->going_capacity = capacity;
    }
    uint32_t at = count;
    for (; at > 0 && (future->going[at - 1].end_s > going.end_s ||
                      (future->going[at - 1].end_s == going.end_s &&
                       future->going[at - 1].live > going.live));
         at--)
        future->going[at] = future->going[at - 1];
    future->going[at] = going;
    return true;
}

/* The node as it is when all jobs that end by until_s have gone from it, and no others. */
static void bring_node(struct slurm *slurm, const struct policy_view *view, uint32_t node,
                       int64_t until_s)
{
    struct slurm_future *future = &slurm->future;
    struct slurm_holds holds = { .from_s = INT64_MIN, .behind_s = INT64_MAX };
    uint32_t count = 0;
    for (uint32_t row = view->cluster->first_on_node[node]; row != GRANT_NONE;
         row = view->cluster->grants[row].next_on_node) {
        const uint32_t live = view->cluster->grants[row].live;
        const int64_t end_s = slurm->jobs[live].planned_end_s;
        if (!slurm->jobs[live].runs) continue;
        if (end_s > until_s) {
            if (end_s < holds.behind_s) holds.behind_s = end_s;
            continue;
        }
        if (end_s > holds.from_s) holds.from_s = end_s;
        slurm->out_of_memory |= !going_add(future, count, (struct slurm_going){ end_s, live, row });
        if (slurm->out_of_memory) return;
        count++;
    }
    slurm_picture_copy_node(&future->picture, &slurm->picture, node);
    for (uint32_t g = 0; g < count; g++) {
        struct grant grant = view->cluster->grants[future->going[g].grant];
        if (slurm->jobs[grant.live].suspended) grant.cores_milli = 0, grant.memory_bytes = 0;
        slurm_picture_give_grant(&future->picture, &grant);
    }
    slurm_picture_keep(&future->picture);
    future->holds[node] = holds;
}

static void bring(struct slurm *slurm, const struct policy_view *view, const uint64_t *nodes,
                  int64_t until_s)
{
    ASSERT(view->cluster->first_on_node);
    for (uint32_t w = 0; w < slurm->nodes.words; w++)
        for (uint64_t bits = nodes[w]; bits; bits &= bits - 1) {
            const uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct slurm_holds holds = slurm->future.holds[node];
            if (until_s < holds.from_s || until_s >= holds.behind_s)
                bring_node(slurm, view, node, until_s);
        }
}

/* ---- step 5 ---------------------------------------------------------------------------------- */

static bool holds_candidate(const struct policy_view *view, uint32_t live, const uint64_t *nodes)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next)
        if (slurm_set_has(nodes, view->cluster->grants[row].node)) return true;
    return false;
}

/* The last nanosecond of a second. */
static int64_t ns_of_last(int64_t at_s)
{
    return at_s * NS_PER_S + (NS_PER_S - 1);
}

/* The end of the last job on candidates that is gone at until_s; a job that is over its time ends any moment. */
static int64_t last_end(const struct slurm *slurm, const struct policy_view *view,
                        const uint64_t *candidates, int64_t until_s, int64_t now_s)
{
    struct running_place place = running_behind(&slurm->ends, ns_of_last(until_s));
    for (;;) {
        if (place.entry == 0) {
            if (place.block == 0) return now_s + 1;
            place.entry = slurm->ends.blocks[--place.block]->count;
        }
        place.entry--;
        const struct running_entry *entry = running_at(&slurm->ends, place);
        if (!holds_candidate(view, entry->live, candidates)) continue;
        const int64_t end_s = entry->expected_end_ns / NS_PER_S;
        return end_s > now_s ? end_s : now_s + 1;
    }
}

static int64_t crowd_end(const struct slurm *slurm, const struct policy_view *view,
                         struct slurm_crowd *crowd, int64_t until_s, int64_t now_s)
{
    if (crowd->until_s != until_s) {
        crowd->until_s = until_s;
        crowd->end_s = last_end(slurm, view, crowd->candidates, until_s, now_s);
    }
    return crowd->end_s;
}

/* Whether enough ready nodes are all that the selector asks for: then its answer is known before. */
bool slurm_is_plain(const struct slurm *slurm, const struct slurm_need *need)
{
    return slurm->nodes.topology == TOPOLOGY_NONE && need->gpus_per_job == 0 &&
           need->gpus_per_task == 0 && need->shards_per_node == 0 && !need->required &&
           !need->allowed && need->switches == 0 && !need->spread && !need->bind &&
           need->memory == MEMORY_IGNORED;
}

/* From where the windows are counted; VACANT_NEVER = no job runs on the candidates. */
static int64_t window_base(struct slurm *slurm, const struct policy_view *view,
                           struct slurm_crowd *crowd, int64_t now_s)
{
    if (crowd->base_s) return crowd->base_s;
    const int64_t first_s = slurm_vacancy_first_end(slurm, view, crowd->candidates);
    if (first_s == VACANT_NEVER) return crowd->base_s = VACANT_NEVER;
    return crowd->base_s = ((first_s > now_s ? first_s : now_s + 1) + WINDOW_ROUND_S - 1) /
                           WINDOW_ROUND_S * WINDOW_ROUND_S;
}

uint32_t slurm_crowd_ready(struct slurm *slurm, const struct policy_view *view,
                           const struct slurm_crowd *crowd, int64_t until_s)
{
    if (crowd->nodes_min == 1) return crowd->ready_s <= until_s;
    return slurm_vacancy_count(slurm, view, crowd->table, crowd->candidates, until_s,
                               crowd->nodes_min);
}

bool slurm_when_is_behind(struct slurm *slurm, const struct policy_view *view,
                          struct slurm_crowd *crowd, int64_t now_s, int64_t later_s)
{
    const int64_t base_s = window_base(slurm, view, crowd, now_s);
    if (base_s == VACANT_NEVER) return false;
    int64_t within_s = 0, window_s = WINDOW_FIRST_S;
    for (; base_s + window_s <= later_s; window_s *= 2) within_s = base_s + window_s;
    return (within_s < crowd->least_s ||
            slurm_crowd_ready(slurm, view, crowd, within_s) < crowd->nodes_min) &&
           crowd_end(slurm, view, crowd, base_s + window_s, now_s) > later_s;
}

int64_t slurm_when_expected(struct slurm *slurm, const struct policy_view *view,
                            struct slurm_crowd *crowd, int64_t now_s, int64_t *until_s)
{
    const int64_t base_s = window_base(slurm, view, crowd, now_s);
    if (base_s == VACANT_NEVER || crowd->ready_s == VACANT_NEVER) return SECONDS_NEVER;
    int64_t window_s = WINDOW_FIRST_S;
    while (base_s + window_s < crowd->ready_s) window_s *= 2;
    *until_s = base_s + window_s;
    return crowd_end(slurm, view, crowd, *until_s, now_s);
}

/* Which candidates the selector is asked about. Those that are not ready cannot serve a plain request; it only counts them
 * where it goes from lighter nodes to heavier ones, or to those that sleep. */
static const uint64_t *asked_about(struct slurm *slurm, const struct policy_view *view,
                                   const struct slurm_need *need, const struct slurm_crowd *crowd,
                                   int64_t until_s)
{
    if (slurm_asks_always || !slurm_is_plain(slurm, need) || !slurm->nodes.one_weight ||
        slurm->sleep.out)
        return crowd->candidates;
    slurm_vacancy_ready(slurm, view, crowd->table, crowd->candidates, until_s, slurm->future.set);
    return slurm->future.set;
}

struct slurm_when slurm_when(struct slurm *slurm, const struct policy_view *view,
                             const struct slurm_need *need, const struct slurm_how *how,
                             int64_t now_s, struct slurm_crowd *crowd)
{
    struct slurm_when when = { .answer = SLURM_NOT_NOW, .now = true, .start_s = now_s };
    if (crowd->ready_s == VACANT_NEVER) return when;
    if (crowd->ready_s == 0) when.answer = slurm_select(slurm->chooser, &slurm->picture, need, how);
    if (when.answer == SLURM_PLACED || when.answer == SLURM_NEVER) return when;
    const int64_t base_s = window_base(slurm, view, crowd, now_s);
    if (base_s == VACANT_NEVER) return when;
    struct slurm_how later = *how;
    later.future = true;
    later.nodes_only = crowd->nodes_only;
    when.now = false;
    for (int64_t window_s = WINDOW_FIRST_S;; window_s *= 2) {
        const int64_t until_s = base_s + window_s;
        if (until_s < crowd->ready_s) continue;
        later.candidates = asked_about(slurm, view, need, crowd, until_s);
        bring(slurm, view, later.candidates, until_s);
        when.start_s = crowd_end(slurm, view, crowd, until_s, now_s);
        when.answer = slurm_select(slurm->chooser, &slurm->future.picture, need, &later);
        if (when.answer == SLURM_PLACED || slurm->out_of_memory) return when;
        if (!running_at(&slurm->ends, running_behind(&slurm->ends, ns_of_last(until_s))))
            return when;
    }
}
