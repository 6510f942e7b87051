/* slurm_gate.c - who is in the queue at all: jobs that are held, depend on others or begin later stand outside, and
 * what can never run is refused. See slurm_state.h.
 *
 * A job for which none of this can be goes straight into the queue. The others pass the gate before the main pass, and
 * again whenever something that they wait for has happened. */
#include "policy/slurm_state.h"

#include <stdlib.h>

bool slurm_gate_push(struct slurm *slurm, uint32_t live)
{
    if (slurm->gate_count == slurm->gate_capacity) {
        const uint32_t capacity = slurm->gate_capacity ? 2 * slurm->gate_capacity : 64;
        uint32_t *gate = realloc(slurm->gate, capacity * sizeof *gate);
        if (!gate) return false;
        slurm->gate = gate;
        slurm->gate_capacity = capacity;
    }
    slurm->gate[slurm->gate_count++] = live;
    return true;
}

bool slurm_gate_open(const struct slurm *slurm)
{
    return slurm->gate_at < slurm->gate_count ||
           slurm->depend.changed_given < slurm->depend.changed_count;
}

bool slurm_gate_init(struct slurm *slurm, const struct policy_view *view, struct arena *arena)
{
    const struct jobs *jobs = view->jobs;
    running_init(&slurm->opens);
    if (!slurm_depend_init(&slurm->depend, jobs)) return false;
    bool limited = false, together = slurm->depend.job_count > 0;
    for (uint32_t row = 0; jobs->words && row < jobs->count; row++) {
        limited |= jobs->words[row].array_limit > 0;
        together |= jobs->words[row].het_first_row != JOB_NONE;
    }
    if (limited && !(slurm->array_running = ARENA_ARRAY(arena, uint32_t, jobs->count)))
        return false;
    return !together || (slurm->live_of_row = ARENA_ARRAY(arena, uint32_t, jobs->count));
}

void slurm_gate_clear(struct slurm *slurm)
{
    slurm_depend_clear(&slurm->depend);
    running_clear(&slurm->opens);
    free(slurm->gate);
}

/* ---- what stands in the way ------------------------------------------------------------------- */

/* Why the job can never run and is refused; NULL = it can. Release 26.05 takes a request for GPUs that no node has, and
 * lets it wait. */
static const char *refusal(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    const struct live_job *job = &view->live->jobs[live];
    const struct slurm_owner owner = slurm_owner_of(slurm, view, job->row);
    struct slurm_partitions list = slurm_partitions_of(slurm, view, job->row);
    struct slurm_entry entry = { .live = live, .row = job->row };
    bool any = false, over = false, admitted;
    const char *limit = NULL;
    slurm_reservation_of(slurm, view, job->row, &admitted);
    if (!admitted) return "Requested reservation is invalid";
    while (slurm_partitions_next(slurm, &list, &entry.partition)) {
        const struct slurm_need *need = slurm_need_of(slurm, view, &entry);
        if (!need) return NULL;
        const bool waits = slurm->spec->compat == COMPAT_26_05 && need->kinds == 0;
        any |= waits || slurm_is_feasible(slurm, view, &entry, need);
        slurm->jobs[live].limit_s = slurm_limit_s(slurm, view, &entry);
        const struct slurm_amount amount = slurm_books_asked(slurm, live, need);
        limit = slurm_limits_refuse(&slurm->limits, owner, &amount);
        over |= limit != NULL;
    }
    if (over) return limit;
    return any ? NULL : "Requested node configuration is not available";
}

/* Since when nothing but other jobs stands in the way of the job; TIME_NEVER and why while something does. */
static int64_t opens_ns(const struct slurm *slurm, const struct policy_view *view, uint32_t live,
                        const char **reason)
{
    const struct live_job *job = &view->live->jobs[live];
    int64_t begin_ns = slurm->jobs[live].begin_ns, ready_ns = 0;
    *reason = "BeginTime";
    if (slurm->jobs[live].held) {
        *reason = "JobHeldUser";
        return TIME_NEVER;
    }
    if (slurm->depend.job_count == 0) return begin_ns;
    switch (slurm_depend_state(&slurm->depend, job->row, &ready_ns)) {
    case DEPENDS_WAITS:
        *reason = "Dependency";
        return TIME_NEVER;
    case DEPENDS_NEVER:
        *reason = "DependencyNeverSatisfied";
        return TIME_NEVER;
    case DEPENDS_INVALID:
        *reason = "Job dependency problem";
        return TIME_NEVER;
    case DEPENDS_MET:
    case DEPENDS_ON_NOTHING:
        break;
    }
    return ready_ns > begin_ns ? ready_ns : begin_ns;
}

static const char *never(const struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    int64_t ready_ns;
    if (slurm->depend.job_count == 0) return NULL;
    const enum slurm_depend_state state =
        slurm_depend_state(&slurm->depend, view->live->jobs[live].row, &ready_ns);
    if (state == DEPENDS_INVALID) return "Job dependency problem";
    return state == DEPENDS_NEVER && slurm->spec->kill_invalid_depend ? "DependencyNeverSatisfied"
                                                                      : NULL;
}

bool slurm_gate_needed(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    const char *reason;
    if (refusal(slurm, view, live)) return true;
    return opens_ns(slurm, view, live, &reason) > slurm->last_ns ||
           never(slurm, view, live) != NULL;
}

/* ---- decisions ------------------------------------------------------------------------------- */

static bool refuse(struct decision *decision, uint32_t live, const char *reason)
{
    *decision = (struct decision){ .what = DECIDE_REFUSE, .live = live, .reason = reason };
    return true;
}

/* True when the gate decided something about the job. */
static bool pass_gate(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                      int64_t now_ns, struct decision *decision)
{
    const uint8_t state = view->live->jobs[live].state;
    const char *reason, *refused;
    if (state != LIVE_WAITING && state != LIVE_BLOCKED) return false;
    if ((refused = never(slurm, view, live)) || (refused = refusal(slurm, view, live)))
        return refuse(decision, live, refused);
    const int64_t at_ns = opens_ns(slurm, view, live, &reason);
    *decision = (struct decision){ .live = live, .reason = reason };
    if (at_ns > now_ns) {
        slurm->jobs[live].reason = reason;
        if (at_ns < TIME_NEVER)
            slurm->out_of_memory |=
                !running_add(&slurm->opens, (struct running_entry){ at_ns, live, 0 });
        slurm_queue_remove(&slurm->queue, live);
        decision->what = DECIDE_BLOCK;
        return state == LIVE_WAITING;
    }
    if (slurm_queue_of(&slurm->queue, live) != SLURM_ENTRY_NONE) return false;
    slurm->jobs[live].eligible_ns = now_ns;
    slurm->jobs[live].reason = NULL;
    slurm->out_of_memory |= !slurm_enqueue(slurm, view, live, now_ns);
    slurm->event = slurm->changed = true;
    decision->what = DECIDE_ELIGIBLE;
    return state == LIVE_BLOCKED;
}

bool slurm_gate_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision)
{
    const struct running_entry *first;
    while ((first = running_at(&slurm->opens, (struct running_place){ 0 })) &&
           first->expected_end_ns <= now_ns) {
        const struct running_entry entry = *first;
        running_remove(&slurm->opens, entry);
        slurm->out_of_memory |= !slurm_gate_push(slurm, entry.live);
    }
    for (uint32_t row;
         slurm->depend.job_count > 0 && (row = slurm_depend_changed(&slurm->depend)) != JOB_NONE;)
        slurm->out_of_memory |= !slurm_gate_push(slurm, slurm->live_of_row[row]);
    while (slurm->gate_at < slurm->gate_count) {
        const uint32_t live = slurm->gate[slurm->gate_at++];
        if (pass_gate(slurm, view, live, now_ns, decision)) return true;
    }
    slurm->gate_at = slurm->gate_count = 0;
    return false;
}
