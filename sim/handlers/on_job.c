/* on_job.c - submissions, ends, detections and the planning pass. */
#include "base/assert.h"
#include "handlers/contention.h"
#include "handlers/on_event.h"
#include "handlers/on_fault.h"
#include "handlers/on_user.h"
#include "handlers/transition.h"
#include "policy/place_scored.h"

static void on_finish(struct run *run, uint32_t live)
{
    transition_finish(run, live);
}
static void on_limit(struct run *run, uint32_t live)
{
    transition_kill_at_limit(run, live);
}
static void on_detect(struct run *run, uint32_t live)
{
    transition_detect(run, live);
}
static void on_requeue(struct run *run, uint32_t live)
{
    transition_requeue(run, live);
}
static void on_submit(struct run *run, uint32_t row)
{
    transition_submit(run, row);
}

static void on_join(struct run *run, uint32_t live)
{
    contention_join(run, live);
}

static void on_wake(struct run *run, uint32_t slot)
{
    (void)slot;
    run->wake_ns = TIME_NEVER;
    run->plan_needed = true;
}

static const struct {
    const char *name;
    void (*handle)(struct run *run, uint32_t slot);
} kinds[EV_KINDS] = {
    [EV_FINISH] = { "finish", on_finish },    [EV_REPAIR] = { "repair", on_repair },
    [EV_CRASH] = { "crash", on_crash },       [EV_FAULT] = { "fault", on_fault },
    [EV_DETECT] = { "detect", on_detect },    [EV_SUBMIT] = { "submit", on_submit },
    [EV_REQUEUE] = { "requeue", on_requeue }, [EV_LIMIT] = { "limit", on_limit },
    [EV_USER] = { "user", on_user },          [EV_WAKE] = { "wake", on_wake },
    [EV_JOIN] = { "join", on_join },
};

void on_event(struct run *run, enum event_kind kind, uint32_t slot)
{
    assert_context(run->now_ns, kinds[kind].name, run->scenario->seed);
    kinds[kind].handle(run, slot);
    run->events++;
}

/* Starts whatever the policy lets start now. */
static void pass(struct run *run, uint32_t fresh_serial)
{
    struct decision decision = { 0 };
    run->policy->begin(run->policy_memory);
    while (!run->out_of_memory &&
           run->policy->next(run->policy_memory, &run->view, run->now_ns, fresh_serial, &decision))
        transition_apply(run, &decision);
    if (run->view.scorer && scorer_failed(run->view.scorer)) run->out_of_memory = true;
}

/* Loss: the first who could not start at once is dropped, and stands in nobody's way. */
static void drop_waiting(struct run *run)
{
    const struct waiting_head *head;
    while (!run->out_of_memory && (head = waiting_first(&run->waiting))) {
        transition_drop(run, head->live);
        pass(run, SERIAL_NONE);
    }
}

void on_plan(struct run *run)
{
    const bool arrivals_only = !run->plan_needed;
    if (arrivals_only && run->fresh_serial == SERIAL_NONE) return;
    assert_context(run->now_ns, "plan", run->scenario->seed);
    pass(run, arrivals_only ? run->fresh_serial : SERIAL_NONE);
    if (run->scenario->loss) drop_waiting(run);
    run->plan_needed = false;
    run->fresh_serial = SERIAL_NONE;
    if (run->policy->next_wake_ns)
        run->wake_ns = run->policy->next_wake_ns(run->policy_memory, &run->view, run->now_ns);
    ASSERT(run->wake_ns > run->now_ns);
}
