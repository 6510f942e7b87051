/* transition_policy.c - what a policy can do beside starting jobs: claim, give back, block, refuse,
 * preempt, suspend, resume, move. */
#include "base/assert.h"
#include "handlers/contention.h"
#include "handlers/detail.h"
#include "handlers/timing.h"
#include "handlers/transition.h"
#include "handlers/transition_parts.h"

/* ---- waiting jobs ---------------------------------------------------------------------------- */

void transition_drop_claims(struct run *run, uint32_t live)
{
    ASSERT(run->live.jobs[live].state == LIVE_WAITING);
    if (run->live.attempts[live].first_grant == GRANT_NONE) return;
    books_return_claimed(run, live, transition_give_back(run, live));
}

static void block(struct run *run, uint32_t live, const char *reason)
{
    ASSERT(run->live.jobs[live].state == LIVE_WAITING);
    waiting_start(&run->waiting, live, demand_of_live(run, live)->gpus);
    run->live.jobs[live].state = LIVE_BLOCKED;
    reasons_word(run, live, reason ? reason : reasons_blocked);
}

static void make_eligible(struct run *run, uint32_t live)
{
    ASSERT(run->live.jobs[live].state == LIVE_BLOCKED);
    run->live.jobs[live].state = LIVE_WAITING;
    reasons_word(run, live, NULL);
    reasons_waits(run, live);
    waiting_return(&run->waiting, live, demand_of_live(run, live)->gpus,
                   timing_estimate_ns(run, live, timing_plain_rate_q30(run, live)));
}

/* Out of the queue for good. */
static void leave_queue(struct run *run, uint32_t live)
{
    if (run->live.jobs[live].state == LIVE_WAITING) {
        transition_drop_claims(run, live);
        waiting_start(&run->waiting, live, demand_of_live(run, live)->gpus);
    }
    agenda_unset(&run->agenda, live);
}

/* A node would not have it: nothing was held, so nothing moves in the ledger. */
static void fail_pod(struct run *run, const struct decision *decision)
{
    struct live_job *job = &run->live.jobs[decision->live];
    ASSERT(job->state == LIVE_WAITING);
    job->attempts++;
    run->result->refusals +=
        run->now_ns >= run->result->window_start_ns && run->now_ns < run->result->window_end_ns;
    detail_refused(run, decision->live, decision->parts[0].node);
    reasons_word(run, decision->live, decision->reason);
}

static void refuse(struct run *run, uint32_t live, const char *reason)
{
    leave_queue(run, live);
    waiting_end(&run->waiting, live);
    transition_reject(run, live, reason);
}

/* ---- running jobs ---------------------------------------------------------------------------- */

/* What the attempt did is kept. */
static void keep_work(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    if (run->now_ns <= run->live.attempts[live].work_start_ns) return;
    const int64_t work_ns = timing_done_ns(run, live, run->now_ns);
    job->work_ns -= work_ns < job->work_ns ? work_ns : job->work_ns;
}

static void stop_kept(struct run *run, uint32_t live)
{
    const bool in_startup = run->now_ns < run->live.attempts[live].work_start_ns;
    keep_work(run, live);
    detail_attempt(run, live, ATTEMPT_PREEMPTED, run->now_ns, 0);
    if (!in_startup) {
        books_return_working(run, live, transition_give_back(run, live), false);
        return;
    }
    books_stop_startup(run, live);
    books_return_startup(run, live, transition_give_back(run, live));
}

/* Stops a running or suspended attempt; what it did since its last durable point is lost. */
static void stop_lost(struct run *run, uint32_t live, enum attempt_end end)
{
    struct live_job *job = &run->live.jobs[live];
    int64_t work_ns;
    if (job->state == LIVE_SUSPENDED) { /* its attempt was told when it was suspended */
        books_return_claimed(run, live, transition_give_back(run, live));
        return;
    }
    const int64_t durable_ns = timing_durable_ns(run, live, &work_ns);
    books_lose(run, live, durable_ns);
    job->work_ns -= work_ns < job->work_ns ? work_ns : job->work_ns;
    detail_attempt(run, live, end, durable_ns, 0);
    books_return_lost(run, live, transition_give_back(run, live));
}

void transition_preempt(struct run *run, uint32_t live, struct stop stop)
{
    struct live_job *job = &run->live.jobs[live];
    ASSERT(job->state == LIVE_RUNNING || job->state == LIVE_SUSPENDED);
    transition_settle_restart(run, live);
    if (stop.keeps_work && job->state == LIVE_RUNNING)
        stop_kept(run, live);
    else
        stop_lost(run, live, ATTEMPT_PREEMPTED);
    if (stop.keeps_work) run->live.cycles[live].next_startup_ns = stop.cost_ns;
    transition_wait_again(run, live, stop.delay_ns);
}

void transition_user_requeue(struct run *run, uint32_t live)
{
    const uint8_t state = run->live.jobs[live].state;
    if (state != LIVE_RUNNING && state != LIVE_SUSPENDED) return;
    transition_settle_restart(run, live);
    stop_lost(run, live, ATTEMPT_PREEMPTED);
    transition_sequel(run, live, CLOSE_REQUEUED, END_KILLED);
}

void transition_cancel(struct run *run, uint32_t live)
{
    const uint8_t state = run->live.jobs[live].state;
    if (state == LIVE_HUNG) { /* it ends when its fault is noticed */
        run->live.jobs[live].cancelled = true;
        return;
    }
    if (state == LIVE_RUNNING || state == LIVE_SUSPENDED)
        stop_lost(run, live, ATTEMPT_CANCELLED);
    else
        leave_queue(run, live);
    transition_over(run, live, END_KILLED, false);
}

static void suspend(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    ASSERT(job->state == LIVE_RUNNING);
    transition_settle_restart(run, live);
    books_suspend(run, live);
    keep_work(run, live);
    detail_attempt(run, live, ATTEMPT_SUSPENDED, run->now_ns, 0);
    live_forget_past(&run->live, live);
    contention_leave(run, live);
    cluster_suspend(&run->cluster, run->live.attempts[live].first_grant);
    agenda_unset(&run->agenda, live);
    job->state = LIVE_SUSPENDED;
    reasons_word(run, live, reasons_suspended);
    run->plan_needed = true;
}

/* A segment of its own from here on: the process was in memory, so nothing has to be loaded. */
static void resume(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    ASSERT(job->state == LIVE_SUSPENDED);
    cluster_resume(&run->cluster, attempt->first_grant);
    running_remove(&run->running,
                   (struct running_entry){ attempt->expected_end_ns, live, attempt->held });
    run->live.cycles[live].next_startup_ns = 0;
    attempt->start_ns = attempt->work_start_ns = run->live.cycles[live].tempo_ns = run->now_ns;
    run->live.cycles[live].done_q30 = 0;
    attempt->expected_end_ns =
        time_add(run->now_ns, timing_estimate_ns(run, live, attempt->tempo.rate_q30));
    run->live.cycles[live].next_startup_ns = NEXT_STARTUP_USUAL;
    if (!running_add(&run->running,
                     (struct running_entry){ attempt->expected_end_ns, live, attempt->held })) {
        run->out_of_memory = true;
        return;
    }
    books_resume(run, live);
    job->state = LIVE_RUNNING;
    reasons_word(run, live, NULL);
    job->attempts++;
    transition_schedule(run, live);
    detail_allocation(run, live);
    contention_resume(run, live);
}

static void move(struct run *run, const struct decision *decision)
{
    const struct stop stop = { .cost_ns = decision->cost_ns, .keeps_work = true };
    run->result->moves +=
        run->now_ns >= run->result->window_start_ns && run->now_ns < run->result->window_end_ns;
    transition_preempt(run, decision->live, stop);
    transition_start(run, decision);
}

/* ---- all ------------------------------------------------------------------------------------- */

void transition_apply(struct run *run, const struct decision *decision)
{
    const uint32_t live = decision->live;
    switch (decision->what) {
    case DECIDE_START:
        transition_start(run, decision);
        break;
    case DECIDE_CLAIM:
        transition_claim(run, decision);
        break;
    case DECIDE_GIVE_BACK:
        transition_drop_claims(run, live);
        break;
    case DECIDE_FAIL_POD:
        fail_pod(run, decision);
        break;
    case DECIDE_BLOCK:
        block(run, live, decision->reason);
        break;
    case DECIDE_ELIGIBLE:
        make_eligible(run, live);
        break;
    case DECIDE_REFUSE:
        refuse(run, live, decision->reason);
        break;
    case DECIDE_PREEMPT:
        transition_preempt(
            run, live,
            (struct stop){ decision->delay_ns, decision->cost_ns, decision->keeps_work });
        break;
    case DECIDE_CANCEL:
        transition_cancel(run, live);
        break;
    case DECIDE_SUSPEND:
        suspend(run, live);
        break;
    case DECIDE_RESUME:
        resume(run, live);
        break;
    case DECIDE_MOVE:
        move(run, decision);
        break;
    case DECIDE_NODE_OUT:
        transition_node(run, decision->parts[0].node, cluster_node_out);
        break;
    case DECIDE_NODE_BACK:
        transition_node(run, decision->parts[0].node, cluster_node_back);
        break;
    }
}
