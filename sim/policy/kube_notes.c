/* kube_notes.c - what the Kubernetes scheduler makes of what happens: jobs that come, end, wait again or are suspended,
 * nodes that change. */
#include "base/assert.h"
#include "policy/kube_batch.h"
#include "policy/kube_kueue.h"
#include "policy/kube_operator.h"
#include "policy/kubernetes.h"

#include <stdlib.h>

static bool grow_jobs(struct kubernetes *kube, uint32_t live)
{
    if (live < kube->job_capacity) return true;
    uint32_t capacity = kube->job_capacity ? kube->job_capacity : 256;
    while (capacity <= live) capacity *= 2;
    struct kube_job *jobs = realloc(kube->jobs, capacity * sizeof *jobs);
    if (!jobs) {
        kube->out_of_memory = true;
        return false;
    }
    kube->jobs = jobs;
    kube->job_capacity = capacity;
    return true;
}

static void on_submit(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    if (!grow_jobs(kube, live)) return;
    const struct job_words *words = kube_words_of(view, live);
    kube->jobs[live] = (struct kube_job){ .priority = words ? words->priority : 0,
                                          .lost_node = KUBE_NO_PLACE,
                                          .never_preempts = words && words->may_not_preempt,
                                          .held = words && words->hold };
    const char *never = kube_pods_of(kube, view, live)->never;
    const char *no_queue = NULL;
    if (kube->kueue) no_queue = kube_kueue_submit(kube, view, live);
    if (kube->batch) no_queue = kube_batch_submit(kube, view, live);
    if (!never) never = no_queue;
    if (never) {
        kube_tell(kube, view, DECIDE_REFUSE, live, never);
        return;
    }
    if (!kube->jobs[live].held) {
        kube_enqueue(kube, view, live);
        return;
    }
    kube->jobs[live].blocked = true;
    kube_tell(kube, view, DECIDE_BLOCK, live, "Suspended");
}

/* A dead node that the job holds, on which its pods stay Terminating. */
static uint32_t dead_node_of(const struct policy_view *view, uint32_t live)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next)
        if (cluster->downs[cluster->grants[row].node]) return cluster->grants[row].node;
    return KUBE_NO_PLACE;
}

/* It is about to give back what it holds. */
static void on_end(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_job *job = &kube->jobs[live];
    kube_nodes_touch_job(&kube->nodes, view->live->attempts[live].first_grant);
    if (job->holds) kube_count_priority(kube, job->priority, -1);
    if (kube->kueue && view->live->jobs[live].state != LIVE_WAITING)
        kube_kueue_end(kube, view, live, job->terminating);
    if (kube->kueue) kube_kueue_begin(kube->kueue);
    if (kube->batch) kube_batch_end(kube, live);
    job->holds = job->terminating = false;
    job->lost_node =
        view->scenario->kube.replace_terminating ? KUBE_NO_PLACE : dead_node_of(view, live);
    job->placed = job->placed_big = 0;
    if (job->refused) job->refused = kube_pods_of(kube, view, live)->count;
    if (!kube_queue_has(kube_queue_of(kube, live), live)) return;
    kube_queue_remove(kube_queue_of(kube, live),
                      live); /* its place among others depends on its pods */
    kube_enqueue_pods(kube, view, live);
}

static void wait_again(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_job *job = &kube->jobs[live];
    if (!job->held && job->lost_node == KUBE_NO_PLACE) {
        kube_enqueue(kube, view, live);
        return;
    }
    job->blocked = true;
    kube_tell(kube, view, DECIDE_BLOCK, live, job->held ? "Suspended" : "Terminating");
}

static void leave(struct kubernetes *kube, uint32_t live)
{
    kube_queue_remove(kube_queue_of(kube, live), live);
    kube_unkeep(kube, live);
    kube->jobs[live].refused = 0;
    if (kube->kueue) kube_kueue_leave(kube, live);
}

static void unblock(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_job *job = &kube->jobs[live];
    if (!job->blocked || job->held || job->lost_node != KUBE_NO_PLACE) return;
    job->blocked = false;
    kube_tell(kube, view, DECIDE_ELIGIBLE, live, NULL);
    kube_enqueue(kube, view, live);
}

static void on_hold(struct kubernetes *kube, const struct policy_view *view, uint32_t live, bool on)
{
    struct kube_job *job = &kube->jobs[live];
    job->held = on;
    if (!on) {
        unblock(kube, view, live);
        return;
    }
    if (view->live->jobs[live].state != LIVE_WAITING || job->blocked) return;
    kube_take_pods_back(kube, view, live);
    leave(kube, live);
    job->blocked = true;
    kube_tell(kube, view, DECIDE_BLOCK, live, "Suspended");
}

/* Pods on dead nodes are gone once these are back. */
static void on_nodes(struct kubernetes *kube, const struct policy_view *view)
{
    kube_nodes_touch_all(&kube->nodes);
    if (kube->gpu_operator) kube_operator_nodes(kube->gpu_operator, view);
    if (kube->batch) kube->batch->dirty = true;
    if (view->scenario->kube.replace_terminating) return;
    for (uint32_t live = 0; live < view->live->count && live < kube->job_capacity; live++) {
        struct kube_job *job = &kube->jobs[live];
        if (view->live->jobs[live].state == LIVE_FREE || job->lost_node == KUBE_NO_PLACE) continue;
        if (view->cluster->downs[job->lost_node]) continue;
        job->lost_node = KUBE_NO_PLACE;
        unblock(kube, view, live);
    }
}

void kube_note(void *memory, const struct policy_view *view, struct note note)
{
    struct kubernetes *kube = memory;
    kube->now_ns = note.at_ns;
    if (note.live != LIVE_NONE && note.kind != NOTE_SUBMIT && note.live >= kube->job_capacity)
        return;
    switch (note.kind) {
    case NOTE_SUBMIT:
        on_submit(kube, view, note.live);
        break;
    case NOTE_START:
        kube_nodes_touch_job(&kube->nodes, view->live->attempts[note.live].first_grant);
        break;
    case NOTE_END:
        on_end(kube, view, note.live);
        break;
    case NOTE_REQUEUE:
        wait_again(kube, view, note.live);
        break;
    case NOTE_DROP:
    case NOTE_OVER:
        leave(kube, note.live);
        if (kube->batch) kube_batch_leave(kube, note.live);
        break;
    case NOTE_NODES_CHANGED:
        on_nodes(kube, view);
        break;
    case NOTE_LOST_NODES: /* none of its jobs goes on without a pod */
        break;
    case NOTE_HOLD:
        on_hold(kube, view, note.live, note.on);
        break;
    }
}
