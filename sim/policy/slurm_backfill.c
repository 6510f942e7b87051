/* slurm_backfill.c - the backfill pass: lower jobs start now if they delay no reservation of a higher one.
 *
 * The steps are numbered as in SCHEDULING 2.3. A reservation takes whole nodes over whole slots, so a lower job passes
 * if its limit ends before each reservation on its nodes begins, or if it uses other nodes. */
#include "policy/slurm_state.h"

#include <string.h>

enum {
    TRIES_MOST = 10000
}; /* of one job: each moves on by a slot or more, so this is never reached in practice */

void slurm_backfill_begin(struct slurm *slurm, int64_t now_ns)
{
    slurm->sched_start_s = slurm_clock_s(slurm, now_ns);
    slots_begin(&slurm->slots, slurm->sched_start_s, slurm->spec->bf_window_ns / NS_PER_S);
    slurm->tested = 0;
    slurm->cycle++;
    slurm->het_count = slurm->het_at = slurm->het_component = 0;
    slurm->changed = false;
    slurm_walk_begin(&slurm->walk, &slurm->queue);
}

/* ---- step 3 ---------------------------------------------------------------------------------- */

/* Nodes of the partition that are up and free of reservations while the job would run. */
int64_t slurm_backfill_candidates(struct slurm *slurm, const struct policy_view *view,
                                  const struct slurm_entry *entry, int64_t at_s, int64_t limit_s)
{
    const uint64_t *nodes = slurm_partition_nodes(&slurm->nodes, entry->partition);
    for (uint32_t w = 0; w < slurm->nodes.words; w++)
        slurm->candidates[w] = nodes[w] & slurm->picture.usable[w];
    const char *reserved;
    const int64_t other_s = slurm_unreserved(slurm, view, entry, at_s, limit_s, &reserved);
    if (reserved) slurm->jobs[entry->live].reason = reserved;
    const int64_t later_s = slots_free(&slurm->slots, at_s, at_s + limit_s, slurm->candidates);
    return other_s < later_s ? other_s : later_s;
}

static bool enough(const struct slurm *slurm, const struct slurm_need *need)
{
    if (need->required && !slurm_set_within(need->required, slurm->candidates, slurm->nodes.words))
        return false;
    return slurm_set_count(slurm->candidates, slurm->nodes.words) >= need->nodes_min;
}

/* ---- step 8 ---------------------------------------------------------------------------------- */

static void read_chosen(struct slurm *slurm)
{
    uint32_t count;
    const struct part *parts = slurm_parts(slurm->chooser, &count);
    memset(slurm->chosen, 0, slurm->nodes.words * sizeof *slurm->chosen);
    for (uint32_t p = 0; p < count; p++)
        slurm->chosen[parts[p].node / 64] |= UINT64_C(1) << (parts[p].node % 64);
}

struct span_s {
    int64_t from_s, to_s;
};

/* The slots that a reservation takes. Releases up to 24.05 rounded its end down, to one slot at least. */
static struct span_s slots_of(const struct slurm *slurm, int64_t start_s, int64_t limit_s)
{
    const int64_t step_s = slurm->slots.step_s;
    struct span_s span = { .from_s = start_s / step_s * step_s };
    if (slurm->spec->compat == COMPAT_22_05) {
        span.to_s = (start_s + limit_s) / step_s * step_s;
        if (span.to_s <= span.from_s) span.to_s = span.from_s + step_s;
    } else
        span.to_s = (start_s + limit_s + step_s - 1) / step_s * step_s;
    return span;
}

/* Jobs that only start now and keep nothing for later. */
static bool reserves(const struct slurm *slurm, const struct policy_view *view,
                     const struct slurm_entry *entry, int64_t now_ns)
{
    const int64_t age_ns = now_ns - view->live->jobs[entry->live].submit_ns;
    const uint32_t qos = slurm_owner_of(slurm, view, entry->row).qos;
    if (qos != SLURM_QOS_NONE && slurm->spec->qos[qos].no_reserve) return false;
    return entry->priority >= slurm->spec->bf_min_prio_reserve &&
           age_ns >= slurm->spec->bf_min_age_reserve_ns;
}

/* ---- one job --------------------------------------------------------------------------------- */

/* A job over a limit does not start, and reserves nothing. */
static bool within_limits(struct slurm *slurm, const struct policy_view *view,
                          const struct slurm_entry *entry, int64_t now_ns)
{
    uint32_t count;
    const struct part *parts = slurm_parts(slurm->chooser, &count);
    const char *over = slurm_books_over(slurm, view, entry->live, parts, count, now_ns);
    if (over) slurm->jobs[entry->live].reason = over;
    return !over;
}

/* Steps 2 to 8; true when the job starts now, on slurm_parts. */
static bool try_entry(struct slurm *slurm, const struct policy_view *view,
                      const struct slurm_entry *entry, int64_t now_ns)
{
    const struct slurm_need *need = slurm_need_of(slurm, view, entry);
    struct slurm_job *job = &slurm->jobs[entry->live];
    const char *over = slurm_jobs_over(slurm, view, entry->row);
    if (over) job->reason = over;
    if (over || !need) return false;
    const int64_t now_s = slurm->sched_start_s, limit_s = slurm_limit_s(slurm, view, entry);
    const int64_t behind_s = now_s + slurm->spec->bf_window_ns / NS_PER_S;
    const struct slurm_how how = { .candidates = slurm->candidates,
                                   .waited_ns = now_ns - view->live->jobs[entry->live].submit_ns,
                                   .backfill = true };
    int64_t at_s = now_s;
    for (int tries = 0; tries < TRIES_MOST; tries++) {
        const int64_t later_s = slurm_backfill_candidates(slurm, view, entry, at_s, limit_s);
        if (!enough(slurm, need)) {
            if (later_s == SLOTS_NEVER) return false;
            at_s = later_s;
            continue;
        }
        const struct slurm_when when = slurm_when(slurm, view, need, &how, now_s);
        if (when.answer == SLURM_SWITCHES) slurm->time_matters = true;
        if (when.answer != SLURM_PLACED) return false;
        int64_t start_s = when.start_s > at_s ? when.start_s : at_s;
        const uint32_t het = slurm_het_of(view, entry->row);
        if (het != JOB_NONE) start_s = slurm_het_start_s(slurm, view, entry->live, start_s);
        job->estimate_s = start_s;
        job->limit_s = limit_s;
        job->partition = entry->partition;
        if (start_s <= now_s && het != JOB_NONE) {
            slurm->out_of_memory |= !slurm_het_push(slurm, het);
            return false;
        }
        if (when.now && start_s <= now_s) return within_limits(slurm, view, entry, now_ns);
        if (start_s > later_s) {
            at_s = later_s;
            continue;
        }
        const struct span_s span = slots_of(slurm, start_s, limit_s);
        if (span.from_s > behind_s || !reserves(slurm, view, entry, now_ns)) return false;
        read_chosen(slurm);
        if (slots_overlap(&slurm->slots, span.from_s, span.to_s, slurm->chosen)) {
            at_s = start_s > at_s ? start_s : start_s + slurm->slots.step_s;
            continue;
        }
        slurm->out_of_memory |=
            !slots_reserve(&slurm->slots, span.from_s, span.to_s, slurm->chosen);
        return false;
    }
    return false;
}

bool slurm_backfill_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                         struct decision *decision)
{
    const struct slurm_entry *entry;
    while (slurm->tested < slurm->spec->bf_max_job_test &&
           (entry = slurm_walk_next(&slurm->walk, &slurm->queue))) {
        slurm->tested++;
        if (!try_entry(slurm, view, entry, now_ns)) continue;
        *decision = (struct decision){ .what = DECIDE_START, .live = entry->live };
        decision->parts = slurm_parts(slurm->chooser, &decision->part_count);
        return true;
    }
    return slurm_het_next(slurm, view, now_ns, decision);
}
