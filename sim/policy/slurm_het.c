/* slurm_het.c - heterogeneous jobs: several components, each with its own request and partition, that start together.
 * See slurm_state.h.
 *
 * The backfill pass looks at each component as at a job of its own, and remembers when it could start; the job starts when the
 * last one can. Until then each component reserves from that time on. When all can start now they are tried one after
 * the other on what is free, and start only if all find a place. */
#include "policy/slurm_state.h"

#include <stdlib.h>

/* The live row of a component that waits in the queue, or LIVE_NONE. */
static uint32_t component(const struct slurm *slurm, const struct policy_view *view, uint32_t row,
                          uint32_t first_row)
{
    if (row >= view->jobs->count || view->jobs->words[row].het_first_row != first_row)
        return LIVE_NONE;
    const uint32_t live = slurm_ready_live(&slurm->ready, row);
    if (live == LIVE_NONE) return LIVE_NONE;
    return slurm_queue_of(&slurm->queue, live) == SLURM_ENTRY_NONE ? LIVE_NONE : live;
}

int64_t slurm_het_start_s(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                          int64_t start_s)
{
    const uint32_t first_row = view->jobs->words[view->live->jobs[live].row].het_first_row;
    slurm->jobs[live].own_s = start_s;
    slurm->jobs[live].own_cycle = slurm->cycle;
    uint32_t other;
    /* Of those that come later in this cycle the last one's word counts. */
    for (uint32_t row = first_row; (other = component(slurm, view, row, first_row)) != LIVE_NONE;
         row++) {
        if (slurm->jobs[other].own_cycle == 0) continue;
        if (slurm->jobs[other].own_s > start_s) start_s = slurm->jobs[other].own_s;
    }
    return start_s;
}

bool slurm_het_push(struct slurm *slurm, uint32_t first_row)
{
    for (uint32_t i = 0; i < slurm->het_count; i++)
        if (slurm->het[i] == first_row) return true;
    if (slurm->het_count == slurm->het_capacity) {
        const uint32_t capacity = slurm->het_capacity ? 2 * slurm->het_capacity : 16;
        uint32_t *het = realloc(slurm->het, capacity * sizeof *het);
        if (!het) return false;
        slurm->het = het;
        slurm->het_capacity = capacity;
    }
    slurm->het[slurm->het_count++] = first_row;
    return true;
}

/* Places a component on what is free now. */
static bool place(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                  int64_t now_ns)
{
    const struct slurm_entry *entry = &slurm->queue.entries[slurm_queue_of(&slurm->queue, live)];
    const struct slurm_need *need = slurm_need_of(slurm, view, entry);
    const int64_t limit_s = slurm_limit_s(slurm, view, entry);
    if (!need || slurm_partition_shut(slurm, view, entry) ||
        slurm_jobs_over(slurm, view, entry->row))
        return false;
    slurm_backfill_candidates(slurm, view, entry, slurm->sched_start_s, limit_s);
    const struct slurm_how how = { .candidates = slurm->candidates,
                                   .waited_ns = now_ns - view->live->jobs[live].submit_ns,
                                   .backfill = true };
    slurm->jobs[live].limit_s = limit_s;
    slurm->jobs[live].partition = entry->partition;
    return slurm_select(slurm->chooser, &slurm->picture, need, &how) == SLURM_PLACED;
}

static bool place_all(struct slurm *slurm, const struct policy_view *view, uint32_t first_row,
                      int64_t now_ns)
{
    const uint32_t mark = slurm_picture_mark(&slurm->picture);
    uint32_t live, count, placed = 0;
    const struct part *parts;
    bool fits = true;
    for (uint32_t row = first_row;
         fits && (live = component(slurm, view, row, first_row)) != LIVE_NONE; row++) {
        fits = place(slurm, view, live, now_ns);
        if (!fits) break;
        parts = slurm_parts(slurm->chooser, &count);
        fits = slurm_books_over(slurm, view, live, parts, count, now_ns) == NULL;
        slurm_picture_take(&slurm->picture, parts, count);
        placed++;
    }
    slurm_picture_undo(&slurm->picture, mark);
    return fits && placed > 0;
}

bool slurm_het_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                    struct decision *decision)
{
    for (; slurm->het_at < slurm->het_count; slurm->het_at++, slurm->het_component = 0) {
        const uint32_t first_row = slurm->het[slurm->het_at];
        if (slurm->het_component == 0 && !place_all(slurm, view, first_row, now_ns)) continue;
        const uint32_t live = component(slurm, view, first_row + slurm->het_component, first_row);
        if (live == LIVE_NONE || !place(slurm, view, live, now_ns)) continue;
        slurm->het_component++;
        *decision = (struct decision){ .what = DECIDE_START, .live = live };
        decision->parts = slurm_parts(slurm->chooser, &decision->part_count);
        return true;
    }
    return false;
}
