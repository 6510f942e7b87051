/* slurm_evict.c - preemption in the passes: who has to go for a job that does not fit, when its nodes are free, and
 * who goes on afterwards. See slurm_state.h; whom to take is slurm_preempt.h.
 *
 * The stopped give their nodes back when they are gone, so that the job that evicts them starts then; until then they
 * are doomed: nobody evicts them again. The suspended give their cores back at once and keep their GPUs; they go on
 * as soon as their cores are free again. */
#include "policy/slurm_state.h"

#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

enum { MILLI = 1000, MIB_SHIFT = 20 };

/* ---- lists ----------------------------------------------------------------------------------- */

static bool act_push(struct slurm *slurm, struct slurm_act act)
{
    if (slurm->act_count == slurm->act_capacity) {
        const uint32_t capacity = slurm->act_capacity ? 2 * slurm->act_capacity : 16;
        struct slurm_act *acts = realloc(slurm->acts, capacity * sizeof *acts);
        if (!acts) return false;
        slurm->acts = acts;
        slurm->act_capacity = capacity;
    }
    slurm->acts[slurm->act_count++] = act;
    return true;
}

static bool suspended_push(struct slurm *slurm, uint32_t live)
{
    if (slurm->suspended_count == slurm->suspended_capacity) {
        const uint32_t capacity = slurm->suspended_capacity ? 2 * slurm->suspended_capacity : 16;
        uint32_t *suspended = realloc(slurm->suspended, capacity * sizeof *suspended);
        if (!suspended) return false;
        slurm->suspended = suspended;
        slurm->suspended_capacity = capacity;
    }
    slurm->suspended[slurm->suspended_count++] = live;
    return true;
}

void slurm_evict_init(struct slurm *slurm)
{
    running_init(&slurm->kills);
}

void slurm_evict_clear(struct slurm *slurm)
{
    slurm_preempt_clear(&slurm->preempt);
    running_clear(&slurm->kills);
    free(slurm->acts);
    free(slurm->suspended);
    free(slurm->victims);
    free(slurm->place);
}

/* ---- trials ---------------------------------------------------------------------------------- */

struct trial {
    struct slurm *slurm;
    const struct policy_view *view;
    const struct slurm_need *need;
    const struct slurm_how *how;
    uint32_t mark;
};

static void trial_reset(void *context)
{
    const struct trial *trial = context;
    slurm_picture_undo(&trial->slurm->picture, trial->mark);
}

/* What a suspended job would give, or a job that is stopped. */
static void give_grants(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                        bool cores, bool gpus)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        struct grant grant = view->cluster->grants[row];
        if (!cores) grant.cores_milli = 0, grant.memory_bytes = 0;
        if (!gpus) grant.mask = 0, grant.share_units = 0;
        slurm_picture_give_grant(&slurm->picture, &grant);
    }
}

static void trial_remove(void *context, uint32_t live)
{
    const struct trial *trial = context;
    const struct slurm_side side = slurm_side_of(trial->slurm, trial->view, live);
    const bool stays = slurm_preempt_mode(trial->slurm->spec, side) == PREEMPT_SUSPEND;
    give_grants(trial->slurm, trial->view, live, true, !stays);
}

static bool trial_fits(void *context)
{
    const struct trial *trial = context;
    struct slurm *slurm = trial->slurm;
    uint32_t count;
    if (slurm_select(slurm->chooser, &slurm->picture, trial->need, trial->how) != SLURM_PLACED)
        return false;
    const struct part *parts = slurm_parts(slurm->chooser, &count);
    slurm->place_count = 0;
    for (uint32_t p = 0; p < count; p++) slurm->place[slurm->place_count++] = parts[p];
    return true;
}

static uint32_t trial_shares(void *context, uint32_t live)
{
    const struct trial *trial = context;
    uint32_t shared = 0;
    for (uint32_t row = trial->view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = trial->view->cluster->grants[row].next)
        for (uint32_t p = 0; p < trial->slurm->place_count; p++)
            shared += trial->slurm->place[p].node == trial->view->cluster->grants[row].node;
    return shared;
}

static bool trial_fits_there(void *context)
{
    const struct trial *trial = context;
    const struct slurm *slurm = trial->slurm;
    const struct slurm_picture *picture = &slurm->picture;
    for (uint32_t p = 0; p < slurm->place_count; p++) {
        const struct part *part = &slurm->place[p];
        if (picture->cores[part->node] < part->cores_milli / MILLI ||
            picture->memory_mib[part->node] < part->memory_bytes >> MIB_SHIFT ||
            (part->share_units == 0 && part->mask & ~picture->free_mask[part->node]))
            return false;
    }
    return true;
}

/* ---- who goes --------------------------------------------------------------------------------- */

static uint32_t nodes_of(const struct policy_view *view, uint32_t live)
{
    uint32_t nodes = 0;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next)
        nodes++;
    return nodes;
}

struct slurm_side slurm_side_of(const struct slurm *slurm, const struct policy_view *view,
                                uint32_t live)
{
    return (struct slurm_side){
        .qos = slurm_owner_of(slurm, view, view->live->jobs[live].row).qos,
        .partition = slurm->jobs[live].partition,
    };
}

/* All running jobs that this one may evict now. Those that hang, or hold nodes which are still coming up, are left alone. */
static bool add_candidates(struct slurm *slurm, const struct policy_view *view,
                           struct slurm_side side, int64_t now_ns)
{
    const struct running_entry *entry;
    struct running_place place = { 0 };
    slurm_preempt_begin(&slurm->preempt);
    for (; (entry = running_at(&slurm->ends, place)); place = running_next(&slurm->ends, place)) {
        const struct slurm_job *job = &slurm->jobs[entry->live];
        const struct slurm_side victim = slurm_side_of(slurm, view, entry->live);
        const int64_t start_ns = view->live->attempts[entry->live].start_ns;
        if (view->live->jobs[entry->live].state != LIVE_RUNNING) continue;
        if ((job->doomed && !job->in_reservation) || job->suspended ||
            !slurm_preempt_may(slurm->spec, side, victim) ||
            slurm_preempt_exempt_until_ns(slurm->spec, victim, start_ns) > now_ns)
            continue;
        if (!slurm_preempt_add(&slurm->preempt, slurm->spec, entry->live,
                               view->live->jobs[entry->live].row, victim,
                               nodes_of(view, entry->live), start_ns))
            return false;
    }
    return true;
}

void slurm_evict_forget(struct slurm *slurm, uint32_t live)
{
    struct slurm_job *job = &slurm->jobs[live];
    if (job->doomed) running_remove(&slurm->kills, (struct running_entry){ job->gone_ns, live, 0 });
    job->doomed = job->in_reservation = false;
}

void slurm_evict_with_reservation(struct slurm *slurm, const struct policy_view *view,
                                  uint32_t live)
{
    bool admitted;
    struct slurm_job *job = &slurm->jobs[live];
    const uint32_t row = slurm_reservation_of(slurm, view, view->live->jobs[live].row, &admitted);
    job->gone_ns = slurm_reserve_end_ns(&slurm->reserve, row);
    if (job->gone_ns == TIME_NEVER) return;
    job->doomed = job->in_reservation = true;
    job->doom = DECIDE_CANCEL;
    slurm->out_of_memory |=
        !running_add(&slurm->kills, (struct running_entry){ job->gone_ns, live, 0 });
}

static struct running_entry end_entry(const struct slurm *slurm, uint32_t live)
{
    return (struct running_entry){ slurm->jobs[live].planned_end_s * NS_PER_S, live, 0 };
}

/* Backfill counts on what the evicted hold from when they are gone, not from their time limit: else it would lend the
 * nodes beside them to lower jobs, and their evictor would have to wait for those. */
static void ends_sooner(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                        int64_t gone_ns)
{
    struct slurm_job *job = &slurm->jobs[live];
    const int64_t gone_s = slurm_clock_s(slurm, gone_ns + NS_PER_S - 1);
    if (gone_s >= job->planned_end_s) return;
    slurm_future_forget_job(slurm, view, live);
    slurm_hopeless_forget(&slurm->hopeless);
    running_remove(&slurm->ends, end_entry(slurm, live));
    job->planned_end_s = gone_s;
    slurm->out_of_memory |= !running_add(&slurm->ends, end_entry(slurm, live));
    slurm_dirty_job(slurm, view, live);
}

static void evict(struct slurm *slurm, const struct policy_view *view, struct slurm_victim victim,
                  uint32_t by, int64_t now_ns)
{
    struct slurm_job *job = &slurm->jobs[victim.live];
    if (victim.mode == PREEMPT_SUSPEND) {
        slurm->out_of_memory |=
            !act_push(slurm, (struct slurm_act){ .what = DECIDE_SUSPEND, .live = victim.live });
        return;
    }
    const struct slurm_eviction times =
        slurm_preempt_times(slurm->spec, slurm_side_of(slurm, view, victim.live), now_ns);
    if (job->doomed) slurm_evict_forget(slurm, victim.live);
    job->doomed = true;
    job->gone_ns = times.gone_ns;
    job->doom = victim.mode == PREEMPT_CANCEL ? DECIDE_CANCEL : DECIDE_PREEMPT;
    job->again_ns = times.again_ns;
    if (times.gone_ns > slurm->jobs[by].evicts_until_ns)
        slurm->jobs[by].evicts_until_ns = times.gone_ns;
    ends_sooner(slurm, view, victim.live, times.gone_ns);
    slurm->out_of_memory |=
        !running_add(&slurm->kills, (struct running_entry){ times.gone_ns, victim.live, 0 });
}

bool slurm_evict_for(struct slurm *slurm, const struct policy_view *view,
                     const struct slurm_entry *entry, const struct slurm_need *need,
                     const struct slurm_how *how, int64_t now_ns, const char **over)
{
    *over = NULL;
    const struct slurm_side side = {
        .qos = slurm_owner_of(slurm, view, entry->row).qos,
        .partition = entry->partition,
    };
    if (slurm->spec->preempt_type == PREEMPT_NONE || !slurm_preempt_could(slurm->spec, side) ||
        slurm->jobs[entry->live].evicts_until_ns > now_ns)
        return false;
    if (!slurm->place) slurm->place = calloc(slurm->nodes.nodes, sizeof *slurm->place);
    if (!slurm->place || !add_candidates(slurm, view, side, now_ns)) {
        slurm->out_of_memory = true;
        return false;
    }
    if (slurm->preempt.count > slurm->victim_capacity) {
        free(slurm->victims);
        slurm->victim_capacity = slurm->preempt.capacity;
        slurm->victims = calloc(slurm->victim_capacity, sizeof *slurm->victims);
    }
    if (slurm->preempt.count == 0 || !slurm->victims) return false;
    struct trial context = { slurm, view, need, how, slurm_picture_mark(&slurm->picture) };
    const struct slurm_trial trial = { &context,   trial_reset,  trial_remove,
                                       trial_fits, trial_shares, trial_fits_there };
    const uint32_t count =
        slurm_preempt_choose(&slurm->preempt, slurm->spec, &trial, slurm->victims);
    slurm_picture_undo(&slurm->picture, context.mark);
    if (count > 0)
        *over =
            slurm_books_over(slurm, view, entry->live, slurm->place, slurm->place_count, now_ns);
    if (*over) return false;
    for (uint32_t v = 0; v < count; v++) evict(slurm, view, slurm->victims[v], entry->live, now_ns);
    if (count > 0 && slurm->act_count > slurm->act_at) {
        slurm->retry = *entry;
        slurm->has_retry = true;
    }
    return count > 0;
}

/* ---- who stands still, and goes on ------------------------------------------------------------ */

static bool cores_are_free(const struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        const struct grant *grant = &view->cluster->grants[row];
        if (slurm->picture.cores[grant->node] < grant->cores_milli / MILLI ||
            slurm->picture.memory_mib[grant->node] < grant->memory_bytes >> MIB_SHIFT)
            return false;
    }
    return true;
}

static void suspend(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                    int64_t now_ns)
{
    slurm->jobs[live].suspended = true;
    slurm->jobs[live].suspended_ns = now_ns;
    slurm->out_of_memory |= !suspended_push(slurm, live);
    slurm_dirty_job(slurm, view, live);
}

/* Its limit does not run while it stands still. */
static void resume(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                   int64_t now_ns)
{
    struct slurm_job *job = &slurm->jobs[live];
    running_remove(&slurm->ends, end_entry(slurm, live));
    job->planned_end_s += (now_ns - job->suspended_ns) / NS_PER_S;
    slurm->out_of_memory |= !running_add(&slurm->ends, end_entry(slurm, live));
    job->suspended = false;
    slurm_dirty_job(slurm, view, live);
}

static bool next_to_resume(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                           struct decision *decision)
{
    for (uint32_t i = 0; i < slurm->suspended_count; i++) {
        const uint32_t live = slurm->suspended[i];
        const bool gone = !slurm->jobs[live].suspended;
        if (!gone &&
            (view->live->jobs[live].state != LIVE_SUSPENDED || !cores_are_free(slurm, view, live)))
            continue;
        slurm->suspended_count--;
        memmove(&slurm->suspended[i], &slurm->suspended[i + 1],
                (slurm->suspended_count - i) * sizeof *slurm->suspended);
        if (gone) {
            i--;
            continue;
        }
        resume(slurm, view, live, now_ns);
        *decision = (struct decision){ .what = DECIDE_RESUME, .live = live };
        return true;
    }
    return false;
}

/* ---- decisions ------------------------------------------------------------------------------- */

bool slurm_evict_act(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision)
{
    if (slurm->act_at == slurm->act_count) {
        slurm->act_at = slurm->act_count = 0;
        return false;
    }
    const struct slurm_act act = slurm->acts[slurm->act_at++];
    *decision = (struct decision){ .what = act.what, .live = act.live, .delay_ns = act.delay_ns };
    if (act.what == DECIDE_SUSPEND) suspend(slurm, view, act.live, now_ns);
    return true;
}

bool slurm_evict_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                      struct decision *decision)
{
    const struct running_entry *first;
    while ((first = running_at(&slurm->kills, (struct running_place){ 0 })) &&
           first->expected_end_ns <= now_ns) {
        const struct running_entry kill = *first;
        struct slurm_job *job = &slurm->jobs[kill.live];
        running_remove(&slurm->kills, kill);
        job->doomed = false;
        const uint8_t state = view->live->jobs[kill.live].state;
        if (state != LIVE_RUNNING && state != LIVE_SUSPENDED)
            continue; /* it hangs: it ends as such */
        *decision = (struct decision){ .what = job->doom,
                                       .live = kill.live,
                                       .delay_ns = job->again_ns - now_ns };
        return true;
    }
    return next_to_resume(slurm, view, now_ns, decision);
}

int64_t slurm_evict_wake_ns(const struct slurm *slurm)
{
    const struct running_entry *first = running_at(&slurm->kills, (struct running_place){ 0 });
    return first ? first->expected_end_ns : TIME_NEVER;
}
