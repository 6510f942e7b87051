/* slurm_main.c - the main pass: walks the queue and starts each job that fits now (SCHEDULING 2.3).
 *
 * A job that does not fit fails its partition for the rest of the pass, and keeps the partition's nodes from other
 * partitions; one that asks for nodes by name keeps only those, one that a reservation keeps back keeps none. */
#include "policy/slurm_state.h"

#include <string.h>

void slurm_main_begin(struct slurm *slurm, uint32_t depth)
{
    memset(slurm->failed, 0, slurm->spec->partition_count * sizeof *slurm->failed);
    memset(slurm->withheld, 0, slurm->nodes.words * sizeof *slurm->withheld);
    slurm->depth_left = depth;
    slurm->full_wanted = false;
    slurm_walk_begin(&slurm->walk, &slurm->queue);
}

static void withhold(struct slurm *slurm, const uint64_t *nodes)
{
    for (uint32_t w = 0; w < slurm->nodes.words; w++) slurm->withheld[w] |= nodes[w];
}

static void fail_partition(struct slurm *slurm, const struct slurm_entry *entry)
{
    slurm->jobs[entry->live].reason = "Resources";
    slurm->failed[entry->partition] = true;
    withhold(slurm, slurm_partition_nodes(&slurm->nodes, entry->partition));
}

/* The job stays where it is: what that means for those behind it. */
static void stays(struct slurm *slurm, const struct slurm_entry *entry,
                  const struct slurm_need *need, enum slurm_answer answer, const char *reserved)
{
    struct slurm_job *job = &slurm->jobs[entry->live];
    if (answer == SLURM_NEVER) {
        job->reason = "BadConstraints";
        return;
    }
    slurm->time_matters |= answer == SLURM_SWITCHES;
    if (reserved) {
        job->reason = reserved;
        return;
    }
    if (need->required)
        withhold(slurm, need->required);
    else
        fail_partition(slurm, entry);
    job->reason = answer == SLURM_TOPOLOGY ? "No_suitable_topology_unit_found" : "Resources";
}

/* Over a limit of its QOS or association: others may start, unless assoc_limit_stop. */
static void limited(struct slurm *slurm, const struct slurm_entry *entry, const char *reason)
{
    slurm->jobs[entry->live].reason = reason;
    if (slurm->spec->assoc_limit_stop) slurm->failed[entry->partition] = true;
}

static bool try_entry(struct slurm *slurm, const struct policy_view *view,
                      const struct slurm_entry *entry, int64_t now_ns, struct decision *decision)
{
    const struct slurm_need *need = slurm_need_of(slurm, view, entry);
    const char *shut = slurm_partition_shut(slurm, view, entry);
    if (shut) {
        slurm->jobs[entry->live].reason = shut;
        return false;
    }
    const char *over = slurm_jobs_over(slurm, view, entry->row);
    if (over) limited(slurm, entry, over);
    if (over || !need) return false;
    const uint64_t *nodes = slurm_partition_nodes(&slurm->nodes, entry->partition);
    for (uint32_t w = 0; w < slurm->nodes.words; w++)
        slurm->candidates[w] = nodes[w] & ~slurm->withheld[w];
    const int64_t limit_s = slurm_limit_s(slurm, view, entry);
    const char *reserved;
    slurm_unreserved(slurm, view, entry, slurm_clock_s(slurm, now_ns), limit_s, &reserved);
    const struct slurm_how how = { .candidates = slurm->candidates,
                                   .waited_ns = now_ns - view->live->jobs[entry->live].submit_ns };
    const enum slurm_answer answer = slurm_select(slurm->chooser, &slurm->picture, need, &how);
    slurm->jobs[entry->live].partition = entry->partition;
    slurm->jobs[entry->live].limit_s = limit_s;
    if (answer != SLURM_PLACED) {
        if (answer != SLURM_NEVER &&
            slurm_evict_for(slurm, view, entry, need, &how, now_ns, &over) && slurm->has_retry)
            return false;
        if (over)
            limited(slurm, entry, over);
        else
            stays(slurm, entry, need, answer, reserved);
        return false;
    }
    *decision = (struct decision){ .what = DECIDE_START, .live = entry->live };
    decision->parts = slurm_parts(slurm->chooser, &decision->part_count);
    over =
        slurm_books_over(slurm, view, entry->live, decision->parts, decision->part_count, now_ns);
    if (over) limited(slurm, entry, over);
    return !over;
}

bool slurm_main_retry(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                      struct decision *decision)
{
    if (!slurm->has_retry) return false;
    slurm->has_retry = false;
    const struct slurm_entry entry = slurm->retry;
    if (try_entry(slurm, view, &entry, now_ns, decision)) return true;
    return slurm->has_retry && slurm_evict_act(slurm, view, now_ns, decision);
}

bool slurm_main_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision)
{
    const struct slurm_entry *entry;
    while ((entry = slurm_walk_next(&slurm->walk, &slurm->queue))) {
        if (slurm->failed[entry->partition]) {
            slurm->jobs[entry->live].reason = "Priority";
            continue;
        }
        if (slurm_het_of(view, entry->row) != JOB_NONE) {
            fail_partition(slurm, entry); /* only backfill starts it (recording s38) */
            continue;
        }
        if (slurm->depth_left == 0) {
            slurm->full_wanted = true;
            return false;
        }
        slurm->depth_left--;
        if (try_entry(slurm, view, entry, now_ns, decision)) return true;
        if (slurm->has_retry) return slurm_evict_act(slurm, view, now_ns, decision);
    }
    return false;
}
