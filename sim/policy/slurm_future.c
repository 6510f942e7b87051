/* slurm_future.c - when and where a waiting job fits: now, or after running jobs have gone in order of their ends.
 *
 * Slurm takes jobs away in windows: E = the end of the first, rounded up to 30 s of the clock; all that end by E +
 * window go; then it asks the selector. The window doubles after each failed try, E stays (recording s39: with E moved
 * on to the next job, m18 of second 33 would be expected at 212 instead of 152). So more nodes may be free than needed, and the
 * selector chooses among all of them: the estimate is not always the earliest, and is kept so. Jobs that hold none of
 * the candidates are passed over. */
#include "policy/slurm_state.h"

enum { WINDOW_FIRST_S = 30, WINDOW_ROUND_S = 30 };

static bool holds_candidate(const struct policy_view *view, uint32_t live, const uint64_t *nodes)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next)
        if (slurm_set_has(nodes, view->cluster->grants[row].node)) return true;
    return false;
}

static void take_away(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        struct grant grant = view->cluster->grants[row];
        if (slurm->jobs[live].suspended) grant.cores_milli = 0, grant.memory_bytes = 0;
        slurm_picture_give_grant(&slurm->picture, &grant);
    }
}

/* The end of a job that is over its time is any moment. */
static int64_t end_of(const struct running_entry *entry, int64_t now_s)
{
    const int64_t end_s = entry->expected_end_ns / NS_PER_S;
    return end_s > now_s ? end_s : now_s + 1;
}

/* Takes away the next jobs on candidates that end by until_s; last_s becomes the end of the last of them. False when no
 * job on candidates is left. */
static bool take_until(struct slurm *slurm, const struct policy_view *view,
                       struct running_place *place, const uint64_t *candidates, int64_t until_s,
                       int64_t now_s, int64_t *last_s)
{
    const struct running_entry *entry;
    for (; (entry = running_at(&slurm->ends, *place));
         *place = running_next(&slurm->ends, *place)) {
        const int64_t end_s = end_of(entry, now_s);
        if (!holds_candidate(view, entry->live, candidates)) continue;
        if (end_s > until_s) return true;
        take_away(slurm, view, entry->live);
        *last_s = end_s;
    }
    return false;
}

/* The end of the first job on candidates, rounded up; SECONDS_NEVER = there is none. */
static int64_t first_end(const struct slurm *slurm, const struct policy_view *view,
                         const uint64_t *candidates, int64_t now_s)
{
    const struct running_entry *entry;
    struct running_place place = { 0 };
    for (; (entry = running_at(&slurm->ends, place)); place = running_next(&slurm->ends, place))
        if (holds_candidate(view, entry->live, candidates))
            return (end_of(entry, now_s) + WINDOW_ROUND_S - 1) / WINDOW_ROUND_S * WINDOW_ROUND_S;
    return SECONDS_NEVER;
}

struct slurm_when slurm_when(struct slurm *slurm, const struct policy_view *view,
                             const struct slurm_need *need, const struct slurm_how *how,
                             int64_t now_s)
{
    struct slurm_when when = { .now = true, .start_s = now_s };
    when.answer = slurm_select(slurm->chooser, &slurm->picture, need, how);
    if (when.answer == SLURM_PLACED || when.answer == SLURM_NEVER) return when;
    const int64_t first_s = first_end(slurm, view, how->candidates, now_s);
    if (first_s == SECONDS_NEVER) return when;
    struct slurm_how later = *how;
    later.future = true;
    struct running_place place = { 0 };
    const uint32_t mark = slurm_picture_mark(&slurm->picture);
    bool more = true;
    when.now = false;
    for (int64_t window_s = WINDOW_FIRST_S; more && when.answer != SLURM_PLACED; window_s *= 2) {
        const int64_t last_s = when.start_s;
        more = take_until(slurm, view, &place, how->candidates, first_s + window_s, now_s,
                          &when.start_s);
        if (when.start_s != last_s)
            when.answer = slurm_select(slurm->chooser, &slurm->picture, need, &later);
    }
    slurm_picture_undo(&slurm->picture, mark);
    return when;
}
