/* slurm_future.c - when and where a waiting job fits: now, or after running jobs have gone in order of their ends.
 *
 * Slurm takes jobs away in windows: E = the end of the first, rounded up to 30 s of the clock; all that end by E +
 * window go; then it asks the selector. The window doubles after each failed try, E stays (recording s39: with E moved
 * on to the next job, m18 of second 33 would be expected at 212 instead of 152). So more nodes may be free than needed,
 * and the selector chooses among all of them: the estimate is not always the earliest, and is kept so. Jobs that hold
 * none of the candidates are passed over.
 *
 * The future is a picture of its own that is rolled on and back along the ends of jobs: all who end by a time
 * have gone from it, on candidates or not, since the selector looks at candidates only. Tries that must fail are not made
 * (slurm_vacancy.h). */
#include "policy/slurm_state.h"

#include <stdlib.h>

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
    return slurm_vacancy_init(&slurm->vacancy, slurm->nodes.nodes);
}

void slurm_future_clear(struct slurm *slurm)
{
    slurm_picture_clear(&slurm->future.picture);
    slurm_vacancy_clear(&slurm->vacancy);
    free(slurm->future.marks);
}

void slurm_future_rewind(struct slurm *slurm)
{
    slurm_picture_undo(&slurm->future.picture, 0);
    slurm->future.gone = 0;
}

static void take_away(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        struct grant grant = view->cluster->grants[row];
        if (slurm->jobs[live].suspended) grant.cores_milli = 0, grant.memory_bytes = 0;
        slurm_picture_give_grant(&slurm->future.picture, &grant);
    }
}

static bool mark_step(struct slurm_future *future)
{
    if (future->gone == future->mark_capacity) {
        const uint32_t capacity = future->mark_capacity ? 2 * future->mark_capacity : 1024;
        struct slurm_step *marks = realloc(future->marks, capacity * sizeof *marks);
        if (!marks) return false;
        future->marks = marks;
        future->mark_capacity = capacity;
    }
    return true;
}

/* All jobs that end by until_s have gone, and no others. */
static void roll_to(struct slurm *slurm, const struct policy_view *view, int64_t until_s)
{
    struct slurm_future *future = &slurm->future;
    uint32_t keep = future->gone;
    while (keep > 0 && future->marks[keep - 1].end_s > until_s) keep--;
    if (keep < future->gone) {
        slurm_picture_undo(&future->picture, future->marks[keep].mark);
        future->place = future->marks[keep].place;
        future->gone = keep;
    }
    if (future->gone == 0) future->place = (struct running_place){ 0 };
    const struct running_entry *entry;
    while ((entry = running_at(&slurm->ends, future->place)) &&
           entry->expected_end_ns / NS_PER_S <= until_s) {
        if (!mark_step(future)) {
            slurm->out_of_memory = true;
            return;
        }
        future->marks[future->gone++] =
            (struct slurm_step){ .end_s = entry->expected_end_ns / NS_PER_S,
                                 .mark = slurm_picture_mark(&future->picture),
                                 .place = future->place };
        take_away(slurm, view, entry->live);
        future->place = running_next(&slurm->ends, future->place);
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

/* The end of the last job on candidates that is gone at until_s; a job that is over its time ends any moment. */
static int64_t last_end(const struct slurm *slurm, const struct policy_view *view,
                        const uint64_t *candidates, int64_t until_s, int64_t now_s)
{
    struct running_place place = running_behind(&slurm->ends, until_s * NS_PER_S + (NS_PER_S - 1));
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

/* Whether enough ready nodes are all that the selector asks for: then its answer is known before. */
bool slurm_is_plain(const struct slurm *slurm, const struct slurm_need *need)
{
    return slurm->nodes.topology == TOPOLOGY_NONE && need->gpus_per_job == 0 &&
           need->gpus_per_task == 0 && need->shards_per_node == 0 && !need->required &&
           !need->allowed && need->switches == 0 && !need->spread && !need->bind &&
           need->memory == MEMORY_IGNORED;
}

struct slurm_when slurm_when(struct slurm *slurm, const struct policy_view *view,
                             const struct slurm_need *need, const struct slurm_how *how,
                             int64_t now_s, struct slurm_bounds bounds)
{
    struct slurm_when when = { .answer = SLURM_NOT_NOW, .now = true, .start_s = now_s };
    const int64_t ready_s = bounds.ready_s;
    if (ready_s == VACANT_NEVER) return when;
    if (ready_s == 0) when.answer = slurm_select(slurm->chooser, &slurm->picture, need, how);
    if (when.answer == SLURM_PLACED || when.answer == SLURM_NEVER) return when;
    const int64_t first_s = slurm_vacancy_first_end(slurm, view, how->candidates);
    if (first_s == VACANT_NEVER) return when;
    struct slurm_how later = *how;
    later.future = true;
    when.now = false;
    const int64_t base_s = ((first_s > now_s ? first_s : now_s + 1) + WINDOW_ROUND_S - 1) /
                           WINDOW_ROUND_S * WINDOW_ROUND_S;
    for (int64_t window_s = WINDOW_FIRST_S;; window_s *= 2) {
        if (base_s + window_s < ready_s) continue;
        when.start_s = last_end(slurm, view, how->candidates, base_s + window_s, now_s);
        if (when.start_s > bounds.later_s && slurm_is_plain(slurm, need)) {
            when.answer = SLURM_PLACED; /* behind `later`: where, nobody asks */
            return when;
        }
        roll_to(slurm, view, base_s + window_s);
        when.answer = slurm_select(slurm->chooser, &slurm->future.picture, need, &later);
        if (when.answer == SLURM_PLACED) return when;
        if (!running_at(&slurm->ends, slurm->future.place)) return when;
    }
}
