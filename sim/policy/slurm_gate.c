/* slurm_gate.c - who is in the queue at all: only jobs that are ready stand there (slurm_ready.h), and what can never run
 * is refused. See slurm_state.h. */
#include "policy/slurm_state.h"

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
        if (need->feature_unknown) return "Invalid feature specification";
        const bool waits = slurm->spec->compat == COMPAT_26_05 && need->gpus_lack;
        any |= waits || slurm_is_feasible(slurm, view, &entry, need);
        slurm->jobs[live].limit_s = slurm_limit_s(slurm, view, &entry);
        const struct slurm_amount amount = slurm_books_asked(slurm, live, need);
        limit = slurm_limits_refuse(&slurm->limits, owner, &amount);
        over |= limit != NULL;
    }
    if (over) return limit;
    return any ? NULL : "Requested node configuration is not available";
}

static bool refuse(struct decision *decision, uint32_t live, const char *reason)
{
    *decision = (struct decision){ .what = DECIDE_REFUSE, .live = live, .reason = reason };
    return true;
}

/* True when the change is a decision for the engine, which knows only who waits and who is blocked. */
static bool pass_gate(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                      enum slurm_ready_change change, struct decision *decision)
{
    const uint8_t state = view->live->jobs[live].state;
    struct slurm_job *job = &slurm->jobs[live];
    *decision = (struct decision){ .live = live };
    if (change == CHANGE_BLOCKED) {
        job->reason = decision->reason = slurm_ready_reason(&slurm->ready, live);
        slurm_queue_remove(&slurm->queue, live);
        decision->what = DECIDE_BLOCK;
        return state == LIVE_WAITING;
    }
    job->eligible_ns = slurm_ready_since_ns(&slurm->ready, live);
    job->reason = NULL;
    slurm->out_of_memory |= !slurm_enqueue(slurm, view, live, job->eligible_ns);
    slurm->event = slurm->changed = true;
    decision->what = DECIDE_ELIGIBLE;
    return state == LIVE_BLOCKED;
}

bool slurm_gate_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision)
{
    uint32_t live;
    enum slurm_ready_change change;
    const char *reason;
    while (slurm_ready_next(&slurm->ready, now_ns, &live, &change, &reason)) {
        if (change != CHANGE_REFUSE) reason = refusal(slurm, view, live);
        if (reason) return refuse(decision, live, reason);
        if (pass_gate(slurm, view, live, change, decision)) return true;
    }
    slurm->out_of_memory |= slurm->ready.out_of_memory;
    return false;
}
