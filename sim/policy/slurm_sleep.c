/* slurm_sleep.c - power saving in the policy: idle nodes are put out, and jobs that are given nodes which sleep hold them
 * until the last one is up. See slurm_state.h and slurm_power.h.
 *
 * A node that sleeps is out of service for the cluster and usable for the selector, which takes it last. A job that is
 * placed on such nodes starts in steps, one decision each: every sleeping node comes back, the job claims its nodes
 * (Slurm's CONFIGURING), and when the last node is up it starts on what it holds. */
#include "policy/slurm_state.h"

#include <stdlib.h>
#include <string.h>

bool slurm_sleep_init(struct slurm *slurm, const struct policy_view *view, struct arena *arena)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    running_init(&sleep->risings);
    sleep->waking = sleep->claimed = LIVE_NONE;
    sleep->moved = POWER_NONE;
    if (!slurm_power_init(&sleep->power, slurm->spec, view->cluster->nodes, arena)) return false;
    if (!sleep->power.nodes) return true;
    sleep->out = ARENA_ARRAY(arena, uint64_t, slurm->nodes.words);
    return sleep->out != NULL;
}

void slurm_sleep_clear(struct slurm *slurm)
{
    running_clear(&slurm->sleep.risings);
    free(slurm->sleep.parts);
}

static void dirty(struct slurm *slurm, uint32_t node)
{
    slurm->dirty[node / 64] |= UINT64_C(1) << (node % 64);
}

static void set_bit(uint64_t *set, uint32_t node, bool on)
{
    const uint64_t bit = UINT64_C(1) << (node % 64);
    set[node / 64] = on ? set[node / 64] | bit : set[node / 64] & ~bit;
}

void slurm_sleep_seen(struct slurm *slurm, const struct policy_view *view, uint32_t node)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    if (!sleep->out) return;
    const bool ours = slurm_set_has(sleep->out, node);
    const bool in_service = view->cluster->outs[node] == (ours ? 1u : 0u);
    const enum slurm_power_state state = slurm_power_state(&sleep->power, node, slurm->last_ns);
    set_bit(slurm->picture.asleep, node, state != POWER_UP);
    if (ours) {
        set_bit(slurm->picture.usable, node, in_service && state == POWER_DOWN);
        return;
    }
    if (in_service && slurm->picture.jobs[node] == 0)
        slurm_power_idle(&sleep->power, node, slurm->last_ns);
    else
        slurm_power_busy(&sleep->power, node);
}

bool slurm_sleep_own_note(struct slurm *slurm)
{
    if (slurm->sleep.moved == POWER_NONE) return false;
    dirty(slurm, slurm->sleep.moved);
    slurm->sleep.moved = POWER_NONE;
    return true;
}

/* ---- a job on nodes that sleep ------------------------------------------------------------------ */

static bool keep_parts(struct slurm_sleep *sleep, const struct decision *decision)
{
    if (sleep->part_capacity < decision->part_count) {
        struct part *parts = realloc(sleep->parts, decision->part_count * sizeof *parts);
        if (!parts) return false;
        sleep->parts = parts;
        sleep->part_capacity = decision->part_count;
    }
    memcpy(sleep->parts, decision->parts, decision->part_count * sizeof *sleep->parts);
    sleep->part_count = decision->part_count;
    return true;
}

/* The next step of the job that is being given its nodes. */
static void next_step(struct slurm *slurm, struct decision *decision)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    while (sleep->at < sleep->part_count) {
        const struct part *part = &sleep->parts[sleep->at++];
        if (!slurm_set_has(sleep->out, part->node)) continue;
        set_bit(sleep->out, part->node, false);
        sleep->moved = part->node;
        *decision = (struct decision){ .what = DECIDE_NODE_BACK, .parts = part, .part_count = 1 };
        return;
    }
    *decision = (struct decision){ .what = DECIDE_CLAIM,
                                   .live = sleep->waking,
                                   .parts = sleep->parts,
                                   .part_count = sleep->part_count };
    sleep->claimed = sleep->waking;
    sleep->waking = LIVE_NONE;
}

bool slurm_sleep_wrap(struct slurm *slurm, int64_t now_ns, struct decision *decision)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    if (!sleep->out || decision->what != DECIDE_START || decision->part_count == 0) return true;
    int64_t ready_ns = now_ns;
    for (uint32_t p = 0; p < decision->part_count; p++) {
        const int64_t node_ns = slurm_power_raise(&sleep->power, decision->parts[p].node, now_ns);
        if (node_ns > ready_ns) ready_ns = node_ns;
    }
    bool sleeps = ready_ns > now_ns;
    for (uint32_t p = 0; p < decision->part_count; p++)
        sleeps |= slurm_set_has(sleep->out, decision->parts[p].node);
    if (!sleeps) return true;
    if (!keep_parts(sleep, decision)) {
        slurm->out_of_memory = true;
        return false;
    }
    sleep->waking = decision->live;
    sleep->ready_ns = ready_ns;
    sleep->at = 0;
    next_step(slurm, decision);
    return true;
}

/* The job has its nodes: it counts as one that runs from when they are up. */
static void claimed(struct slurm *slurm, const struct policy_view *view, int64_t now_ns)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    const uint32_t live = sleep->claimed;
    sleep->claimed = LIVE_NONE;
    if (view->live->attempts[live].first_grant == GRANT_NONE) return;
    struct slurm_job *job = &slurm->jobs[live];
    job->ready_ns = sleep->ready_ns;
    slurm_job_holds(slurm, view, live, sleep->ready_ns, now_ns);
    slurm->out_of_memory |=
        !running_add(&sleep->risings, (struct running_entry){ job->ready_ns, live, 0 });
}

void slurm_sleep_dropped(struct slurm *slurm, uint32_t live)
{
    struct slurm_job *job = &slurm->jobs[live];
    if (job->ready_ns == 0) return;
    running_remove(&slurm->sleep.risings, (struct running_entry){ job->ready_ns, live, 0 });
    job->ready_ns = 0;
    slurm_ready_again(&slurm->ready, live, false, slurm->last_ns);
}

/* ---- decisions and time -------------------------------------------------------------------------- */

/* The next job whose nodes are up. */
static bool start_next(struct slurm *slurm, int64_t now_ns, struct decision *decision)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    const struct running_entry *first = running_at(&sleep->risings, (struct running_place){ 0 });
    if (!first || first->expected_end_ns > now_ns) return false;
    const struct running_entry entry = *first;
    running_remove(&sleep->risings, entry);
    slurm->jobs[entry.live].ready_ns = 0;
    *decision = (struct decision){ .what = DECIDE_START, .live = entry.live };
    return true;
}

bool slurm_sleep_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                      struct decision *decision)
{
    struct slurm_sleep *sleep = &slurm->sleep;
    if (!sleep->out) return false;
    if (sleep->claimed != LIVE_NONE) claimed(slurm, view, now_ns);
    if (sleep->waking != LIVE_NONE) {
        next_step(slurm, decision);
        return true;
    }
    if (slurm->stage != STAGE_BEFORE) return false;
    if (start_next(slurm, now_ns, decision)) return true;
    for (uint32_t node; (node = slurm_power_next_asleep(&sleep->power, now_ns)) != POWER_NONE;) {
        dirty(slurm, node);
        slurm->event = slurm->changed = true;
    }
    const uint32_t node = slurm_power_next_down(&sleep->power, now_ns);
    if (node == POWER_NONE) return false;
    set_bit(sleep->out, node, true);
    sleep->moved = node;
    sleep->one = (struct part){ .node = node };
    *decision = (struct decision){ .what = DECIDE_NODE_OUT, .parts = &sleep->one, .part_count = 1 };
    return true;
}

int64_t slurm_sleep_wake_ns(const struct slurm *slurm)
{
    const struct slurm_sleep *sleep = &slurm->sleep;
    if (!sleep->out) return TIME_NEVER;
    int64_t wake_ns = slurm_power_wake_ns(&sleep->power);
    const struct running_entry *first = running_at(&sleep->risings, (struct running_place){ 0 });
    if (first && first->expected_end_ns < wake_ns) wake_ns = first->expected_end_ns;
    if (slurm_power_asleep_ns(&sleep->power) < wake_ns && slurm_queue_entries(&slurm->queue) > 0)
        wake_ns = slurm_power_asleep_ns(&sleep->power);
    return wake_ns;
}
