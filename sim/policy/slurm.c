/* slurm.c - scheduler.kind slurm: when its passes run, and what happened in between. See slurm_state.h.
 *
 * Both passes are timers of slurmctld that are not in step. The main pass also runs at once when something happened that
 * could let a job start. Each timer goes on only while a pass could find something new: nothing runs on an idle cluster. */
#include "policy/slurm_state.h"

#include <stdlib.h>

/* The backfill cycle is half a second behind the main pass, as in the recordings (README, Timers). */
static const int64_t BACKFILL_OFFSET_NS = NS_PER_S / 2;

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool take_sets(struct slurm *slurm, struct arena *arena)
{
    const uint32_t words = slurm->nodes.words;
    slurm->dirty = ARENA_ARRAY(arena, uint64_t, words);
    slurm->candidates = ARENA_ARRAY(arena, uint64_t, words);
    slurm->chosen = ARENA_ARRAY(arena, uint64_t, words);
    slurm->withheld = ARENA_ARRAY(arena, uint64_t, words);
    slurm->failed = ARENA_ARRAY(arena, bool, slurm->spec->partition_count);
    return slurm->dirty && slurm->candidates && slurm->chosen && slurm->withheld && slurm->failed;
}

static bool policy_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct slurm *slurm = memory;
    slurm->spec = &view->scenario->slurm;
    slurm->arena = arena;
    slurm->all_dirty = true;
    running_init(&slurm->ends);
    slurm_evict_init(slurm);
    const size_t needs = (size_t)view->requests->class_count * slurm->spec->partition_count;
    slurm->needs = ARENA_ARRAY(arena, struct slurm_need *, needs);
    const struct slots_size size = { .nodes = view->cluster->nodes,
                                     .window_s = slurm->spec->bf_window_ns / NS_PER_S,
                                     .step_s = slurm->spec->bf_resolution_ns / NS_PER_S };
    slurm->feasible = ARENA_ARRAY(arena, uint8_t, needs);
    return slurm->needs && slurm->feasible &&
           slurm_nodes_init(&slurm->nodes, view->scenario, view->variant, arena) &&
           slurm_picture_init(&slurm->picture, &slurm->nodes, arena) && take_sets(slurm, arena) &&
           (slurm->chooser = slurm_chooser_create(&slurm->nodes)) &&
           slurm_queue_init(&slurm->queue, slurm->spec) &&
           slurm_walk_init(&slurm->walk, &slurm->queue) && slots_init(&slurm->slots, size) &&
           slurm_future_init(slurm, arena) &&
           slurm_reserve_init(&slurm->reserve, slurm->spec, view->layout, arena) &&
           slurm_sleep_init(slurm, view, arena) && slurm_books_init(slurm, view, arena) &&
           slurm_backfill_init(slurm, arena) &&
           slurm_ready_init(&slurm->ready, slurm->spec, view->jobs);
}

static void policy_clear(void *memory)
{
    struct slurm *slurm = memory;
    slurm_future_clear(slurm);
    slurm_evict_clear(slurm);
    slurm_ready_clear(&slurm->ready);
    slurm_sleep_clear(slurm);
    slurm_books_clear(slurm);
    slots_clear(&slurm->slots);
    slurm_hopeless_clear(&slurm->hopeless);
    slurm_walk_clear(&slurm->walk);
    slurm_queue_clear(&slurm->queue);
    if (slurm->chooser) slurm_chooser_destroy(slurm->chooser);
    slurm_picture_clear(&slurm->picture);
    running_clear(&slurm->ends);
    free(slurm->jobs);
    free(slurm->het);
    free(slurm->endings);
}

/* ---- what happened --------------------------------------------------------------------------- */

static struct running_entry end_entry(const struct slurm *slurm, uint32_t live)
{
    return (struct running_entry){ slurm->jobs[live].planned_end_s * NS_PER_S, live, 0 };
}

void slurm_job_holds(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                     int64_t start_ns, int64_t now_ns)
{
    struct slurm_job *job = &slurm->jobs[live];
    slurm_queue_remove(&slurm->queue, live);
    slurm_dirty_job(slurm, view, live);
    job->planned_end_s = slurm_clock_s(slurm, start_ns) + job->limit_s;
    job->runs = true;
    slurm_books_start(slurm, view, live, job->limit_s * NS_PER_S, now_ns);
    slurm_ready_holds(&slurm->ready, live);
    slurm->out_of_memory |= !running_add(&slurm->ends, end_entry(slurm, live));
}

/* A job that waited for its nodes to come up holds them already. */
static void note_start(struct slurm *slurm, const struct policy_view *view, struct note note)
{
    if (slurm->jobs[note.live].runs)
        slurm_dirty_job(slurm, view, note.live);
    else
        slurm_job_holds(slurm, view, note.live, note.at_ns, note.at_ns);
    slurm_ready_start(&slurm->ready, note.live, note.at_ns);
    if (slurm->spec->reservation_count > 0) slurm_evict_with_reservation(slurm, view, note.live);
}

static void note_end(struct slurm *slurm, const struct policy_view *view, struct note note)
{
    slurm_dirty_job(slurm, view, note.live);
    slurm_ending_note(slurm, view, note.live);
    if (!slurm->jobs[note.live].runs) return;
    running_remove(&slurm->ends, end_entry(slurm, note.live));
    slurm->jobs[note.live].runs = slurm->jobs[note.live].suspended = false;
    slurm_evict_forget(slurm, note.live);
    slurm_books_end(slurm, view, note.live, note.at_ns);
    slurm_ready_stop(&slurm->ready, note.live, note.at_ns);
    slurm_sleep_dropped(slurm, note.live);
}

/* What it holds is charged anew, until the end that it has had. */
static void note_lost_nodes(struct slurm *slurm, const struct policy_view *view, struct note note)
{
    const int64_t left_s = slurm->jobs[note.live].planned_end_s - slurm_clock_s(slurm, note.at_ns);
    slurm_dirty_job(slurm, view, note.live);
    slurm_books_end(slurm, view, note.live, note.at_ns);
    slurm_books_start(slurm, view, note.live, (left_s > 0 ? left_s : 0) * NS_PER_S, note.at_ns);
}

/* A job waits, for the first time or again. Its age starts anew; what holds it is kept. */
static void note_waits(struct slurm *slurm, const struct policy_view *view, struct note note)
{
    struct slurm_job *job = &slurm->jobs[note.live];
    const struct slurm_job was = *job;
    *job = (struct slurm_job){ .eligible_ns = note.at_ns, .again = note.kind == NOTE_REQUEUE };
    if (note.kind == NOTE_SUBMIT) {
        slurm_rank(slurm, view, note.live);
        slurm_ready_submit(&slurm->ready, note.live, view->live->jobs[note.live].row, note.at_ns);
        return;
    }
    job->basic = was.basic;
    slurm_ready_again(&slurm->ready, note.live, was.held, note.at_ns);
}

static void note_over(struct slurm *slurm, const struct policy_view *view, struct note note)
{
    slurm_queue_remove(&slurm->queue, note.live);
    /* Nobody asked what becomes of it: a user or a preemption ended it. */
    if (!slurm->acting)
        slurm_ending_keep(slurm, note.live, time_add(note.at_ns, slurm->spec->kill_wait_ns));
    const bool ok = note.end == 0 && slurm_exit_code(slurm, view, note.live) == 0;
    slurm_ready_over(&slurm->ready, note.live, ok, note.at_ns);
}

/* Who has nodes, up or not, is held when it waits again; who waits for the delay of a requeue, when that is over. A job
 * that is released is ranked anew. */
static void note_hold(struct slurm *slurm, const struct policy_view *view, struct note note)
{
    const uint8_t state = view->live->jobs[note.live].state;
    slurm->jobs[note.live].held = note.on;
    if (slurm->jobs[note.live].runs) return;
    if (!note.on) slurm_rank(slurm, view, note.live);
    if (state == LIVE_WAITING || state == LIVE_BLOCKED)
        slurm_ready_hold(&slurm->ready, note.live, note.on, note.at_ns);
}

static void policy_note(void *memory, const struct policy_view *view, struct note note)
{
    struct slurm *slurm = memory;
    slurm->last_ns = note.at_ns;
    slurm->changed = true;
    slurm->event |= note.kind != NOTE_START;
    if (note.kind != NOTE_START) slurm_hopeless_forget(&slurm->hopeless);
    slurm->out_of_memory |= !slurm_jobs_grow(slurm, view->live->capacity);
    if (slurm->out_of_memory) return;
    switch (note.kind) {
    case NOTE_SUBMIT:
    case NOTE_REQUEUE:
        note_waits(slurm, view, note);
        break;
    case NOTE_START:
        note_start(slurm, view, note);
        break;
    case NOTE_END:
        note_end(slurm, view, note);
        break;
    case NOTE_DROP:
        slurm_queue_remove(&slurm->queue, note.live);
        break;
    case NOTE_OVER:
        note_over(slurm, view, note);
        break;
    case NOTE_NODES_CHANGED:
        slurm->all_dirty |= !slurm_sleep_own_note(slurm);
        break;
    case NOTE_LOST_NODES:
        note_lost_nodes(slurm, view, note);
        break;
    case NOTE_HOLD:
        note_hold(slurm, view, note);
        break;
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

static bool is_tick(int64_t now_ns, int64_t interval_ns, int64_t offset_ns)
{
    return now_ns >= offset_ns && (now_ns - offset_ns) % interval_ns == 0;
}

static int64_t next_tick(int64_t now_ns, int64_t interval_ns, int64_t offset_ns)
{
    if (now_ns < offset_ns) return offset_ns;
    return ((now_ns - offset_ns) / interval_ns + 1) * interval_ns + offset_ns;
}

static void policy_begin(void *memory)
{
    struct slurm *slurm = memory;
    slurm->stage = STAGE_BEFORE;
}

/* A reservation has begun or ended since the last look. */
static void look_at_reservations(struct slurm *slurm, int64_t now_ns)
{
    if (now_ns < slurm->boundary_ns) return;
    slurm->boundary_ns = slurm_reserve_boundary_ns(&slurm->reserve, now_ns);
    slurm->event = slurm->changed = true;
}

/* Enters the main pass when it is due: at once after an event, over the first jobs; on its timer over all. */
static enum slurm_stage enter_main(struct slurm *slurm, int64_t now_ns)
{
    const bool tick = is_tick(now_ns, slurm->spec->sched_interval_ns, 0);
    if (!slurm->event && !(tick && (slurm->full_wanted || slurm->time_matters))) return STAGE_DONE;
    slurm->event = false;
    slurm_main_begin(slurm, tick ? UINT32_MAX : slurm->spec->default_queue_depth);
    return STAGE_MAIN;
}

static enum slurm_stage enter_backfill(struct slurm *slurm, int64_t now_ns)
{
    if (!slurm->spec->backfill || !(slurm->changed || slurm->time_matters) ||
        !is_tick(now_ns, slurm->spec->bf_interval_ns, BACKFILL_OFFSET_NS))
        return STAGE_DONE;
    slurm->time_matters = false;
    slurm_backfill_begin(slurm, now_ns);
    return STAGE_BACKFILL;
}

static bool policy_next(void *memory, const struct policy_view *view, int64_t now_ns,
                        uint32_t fresh_serial, struct decision *decision)
{
    (void)fresh_serial;
    struct slurm *slurm = memory;
    slurm->acting = true;
    slurm->last_ns = now_ns;
    if (slurm->out_of_memory) { /* noticed since the last decision: the run ends and says so */
        *view->out_of_memory = true;
        return false;
    }
    if (slurm_sleep_next(slurm, view, now_ns, decision)) return true;
    if (slurm->stage == STAGE_BEFORE) slurm_ending_pass(slurm, now_ns);
    slurm_refresh(slurm, view);
    if (slurm_evict_act(slurm, view, now_ns, decision)) return true;
    if (slurm_main_retry(slurm, view, now_ns, decision))
        return slurm_sleep_wrap(slurm, now_ns, decision);
    if (slurm->stage == STAGE_BEFORE) {
        look_at_reservations(slurm, now_ns);
        slurm_recompute(slurm, view, now_ns);
    }
    if (slurm->stage == STAGE_BEFORE) {
        if (slurm_evict_next(slurm, view, now_ns, decision)) return true;
        if (slurm_gate_next(slurm, view, now_ns, decision)) return true;
        slurm->stage = enter_main(slurm, now_ns);
        if (slurm->stage == STAGE_DONE) slurm->stage = enter_backfill(slurm, now_ns);
    }
    if (slurm->stage == STAGE_MAIN) {
        if (slurm_main_next(slurm, view, now_ns, decision))
            return slurm_sleep_wrap(slurm, now_ns, decision);
        slurm->stage = enter_backfill(slurm, now_ns);
    }
    if (slurm->stage == STAGE_BACKFILL) {
        if (slurm_backfill_next(slurm, view, now_ns, decision))
            return slurm_sleep_wrap(slurm, now_ns, decision);
        slurm->stage = STAGE_DONE;
    }
    return false;
}

static int64_t sooner(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* When either pass comes next by its timer. */
static int64_t next_pass(const struct slurm *slurm, int64_t now_ns)
{
    const int64_t main_ns = next_tick(now_ns, slurm->spec->sched_interval_ns, 0);
    if (!slurm->spec->backfill) return main_ns;
    return sooner(main_ns, next_tick(now_ns, slurm->spec->bf_interval_ns, BACKFILL_OFFSET_NS));
}

/* Priorities apart, which change all the time. */
static int64_t next_wake(const struct slurm *slurm, int64_t now_ns)
{
    int64_t wake_ns = sooner(slurm_ending_wake_ns(slurm), slurm_sleep_wake_ns(slurm));
    wake_ns = sooner(wake_ns, slurm_ready_wake_ns(&slurm->ready));
    wake_ns = sooner(wake_ns, slurm_evict_wake_ns(slurm));
    if (slurm_ready_open(&slurm->ready)) wake_ns = sooner(wake_ns, next_pass(slurm, now_ns));
    if (slurm_queue_entries(&slurm->queue) == 0) return wake_ns;
    if (slurm->spec->backfill && (slurm->changed || slurm->time_matters))
        wake_ns =
            sooner(wake_ns, next_tick(now_ns, slurm->spec->bf_interval_ns, BACKFILL_OFFSET_NS));
    if (slurm->full_wanted || slurm->time_matters)
        wake_ns = sooner(wake_ns, next_tick(now_ns, slurm->spec->sched_interval_ns, 0));
    return sooner(wake_ns, slurm_reserve_boundary_ns(&slurm->reserve, now_ns));
}

static int64_t policy_next_wake_ns(void *memory, const struct policy_view *view, int64_t now_ns)
{
    (void)view;
    struct slurm *slurm = memory;
    slurm->acting = false;
    int64_t wake_ns = next_wake(slurm, now_ns);
    if (slurm_queue_entries(&slurm->queue) == 0) return wake_ns;
    if (slurm->spec->multifactor) wake_ns = sooner(wake_ns, slurm->calc_ns);
    return wake_ns > now_ns ? wake_ns : now_ns + 1;
}

/* Another order lets a job start where the first one stops all others: not where backfill looks behind it. */
static bool policy_time_helps(void *memory, const struct policy_view *view)
{
    (void)view;
    const struct slurm *slurm = memory;
    return next_wake(slurm, slurm->last_ns) != TIME_NEVER ||
           (slurm->spec->multifactor && !slurm->spec->backfill &&
            slurm_queue_entries(&slurm->queue) > 0);
}

static const char *policy_reason(void *memory, const struct policy_view *view, uint32_t live)
{
    const struct slurm *slurm = memory;
    /* What blocks a job may change while it is blocked: a dependency that can never be met. Until the next pass lets it
     * in, the word of what blocked it last stays. */
    const bool blocked = view->live->jobs[live].state == LIVE_BLOCKED;
    const char *now = blocked ? slurm_ready_reason(&slurm->ready, live) : NULL;
    if (now) return now;
    return live < slurm->job_capacity ? slurm->jobs[live].reason : NULL;
}

static struct sequel policy_sequel(void *memory, const struct policy_view *view, uint32_t live,
                                   enum attempt_close how)
{
    return slurm_sequel(memory, view, live, how);
}

static bool policy_goes_on(void *memory, const struct policy_view *view, uint32_t live,
                           enum component component)
{
    return slurm_goes_on(memory, view, live, component);
}

static int64_t policy_detection_ns(void *memory, const struct policy_view *view,
                                   enum component component)
{
    return slurm_detection_ns(memory, view, component);
}

const struct policy policy_slurm = {
    .name = "slurm",
    .help = "Slurm: main and backfill pass, cons_tres, priorities, limits, preemption",
    .memory_bytes = sizeof(struct slurm),
    .init = policy_init,
    .clear = policy_clear,
    .note = policy_note,
    .begin = policy_begin,
    .next = policy_next,
    .next_wake_ns = policy_next_wake_ns,
    .time_helps = policy_time_helps,
    .sequel = policy_sequel,
    .goes_on = policy_goes_on,
    .detection_ns = policy_detection_ns,
    .reason = policy_reason,
};
