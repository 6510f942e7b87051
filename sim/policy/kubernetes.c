/* kubernetes.c - the default scheduler of Kubernetes, alone or with the coscheduling plugin (SCHEDULING 3).
 *
 * A pass goes on while some job of the queue is ready: the most urgent one gets a node for its next pod, or for all its pods
 * under a gang rule; one that finds none is set aside and may preempt. Time stands still during a pass: a real cycle
 * takes milliseconds. */
#include "policy/kubernetes.h"

#include "base/assert.h"
#include "policy/kube_autoscaler.h"
#include "policy/kube_batch.h"
#include "policy/kube_kueue.h"
#include "policy/kube_operator.h"

#include <stdlib.h>

/* ---- jobs ------------------------------------------------------------------------------------ */

const struct kube_pods *kube_pods_of(const struct kubernetes *kube, const struct policy_view *view,
                                     uint32_t live)
{
    return &kube->shapes.pods[view->live->jobs[live].request_class];
}

void kube_tell(struct kubernetes *kube, const struct policy_view *view, enum decide what,
               uint32_t live, const char *reason)
{
    const struct kube_todo todo = { what, live, view->live->jobs[live].serial, reason };
    if (!log_append(&kube->todo, &todo)) kube->out_of_memory = true;
}

/* Pods find places one by one: also behind Kueue, which only admits. */
static bool has_turns(const struct policy_view *view)
{
    return view->scenario->kube.gang == GANG_NONE || view->scenario->kube.gang == GANG_KUEUE;
}

/* Pods that must have a place before one of them may keep it: all under a gang rule, or minMember. */
static uint32_t gang_of(const struct kubernetes *kube, const struct policy_view *view,
                        uint32_t live)
{
    const uint32_t count = kube_pods_of(kube, view, live)->count;
    if (has_turns(view)) return 1;
    const struct job_words *words = kube_words_of(view, live);
    return words && words->min_member && words->min_member < count ? words->min_member : count;
}

struct kube_queue *kube_queue_of(struct kubernetes *kube, uint32_t live)
{
    if (!kube->batch || live >= kube->batch->job_capacity) return &kube->queue;
    return &kube->batch->queues[kube->batch->jobs[live].queue].waiting;
}

uint32_t kube_pods_waiting(const struct kubernetes *kube, const struct policy_view *view,
                           uint32_t live)
{
    return kube_pods_of(kube, view, live)->count - kube->jobs[live].placed -
           kube->jobs[live].refused;
}

uint32_t kube_pods_at_once(const struct kubernetes *kube, const struct policy_view *view,
                           uint32_t live)
{
    const uint32_t gang = gang_of(kube, view, live), placed = kube->jobs[live].placed;
    const uint32_t waiting = kube_pods_waiting(kube, view, live);
    if (placed >= gang) return 1;
    return gang - placed < waiting ? gang - placed : waiting;
}

/* Jobs of one instant take turns pod by pod, since their controllers make pods at the same time; a gang has one place. */
void kube_enqueue_pods(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    const struct kube_job *job = &kube->jobs[live];
    const struct live_job *row = &view->live->jobs[live];
    if (kube_pods_waiting(kube, view, live) == 0) return;
    const struct kube_sort sort = { .request_class = row->request_class,
                                    .priority = job->priority,
                                    .alone = job->kept > 0 };
    const bool turns = has_turns(view);
    const struct kube_order order = { .submit_ns = row->submit_ns,
                                      .index = turns ? job->placed : 0,
                                      .serial = row->serial };
    kube_queue_add(kube_queue_of(kube, live), live, sort, order);
    if (kube->batch) kube->batch->dirty = true;
}

/* The job wants to run: it asks for admission first where that is needed. */
void kube_enqueue(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    if (kube->kueue)
        kube_kueue_enqueue(kube, view, live);
    else
        kube_enqueue_pods(kube, view, live);
}

void kube_take_pods_back(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    kube_queue_remove(kube_queue_of(kube, live), live);
    kube_unkeep(kube, live);
    kube->jobs[live].refused = 0;
    if (kube->jobs[live].holds) kube_tell(kube, view, DECIDE_GIVE_BACK, live, NULL);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static bool next_todo(struct kubernetes *kube, const struct policy_view *view,
                      struct decision *decision)
{
    while (kube->next_todo < kube->todo.count) {
        const struct kube_todo todo = LOG_ITEMS(&kube->todo, struct kube_todo)[kube->next_todo++];
        const struct live_job *job = &view->live->jobs[todo.live];
        const uint8_t wanted = todo.what == DECIDE_ELIGIBLE ? LIVE_BLOCKED : LIVE_WAITING;
        if (job->serial != todo.serial || job->state != wanted) continue;
        *decision =
            (struct decision){ .what = todo.what, .live = todo.live, .reason = todo.reason };
        return true;
    }
    kube->todo.count = kube->next_todo = 0;
    return false;
}

static bool grow_parts(struct kubernetes *kube, uint32_t count)
{
    if (count <= kube->part_capacity) return true;
    struct part *parts = realloc(kube->parts, 2 * (size_t)count * sizeof *parts);
    if (!parts) {
        kube->out_of_memory = true;
        return false;
    }
    kube->parts = parts;
    kube->part_capacity = 2 * count;
    return true;
}

/* Nodes for the next `count` pods of the job, in kube->parts, booked in the table of nodes; false, and nothing is booked,
 * when one finds none. */
static bool find_places(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                        uint32_t count)
{
    struct kube_job *job = &kube->jobs[live];
    const struct kube_pods *pods = kube_pods_of(kube, view, live);
    struct kube_candidate candidate = { .request_class = view->live->jobs[live].request_class,
                                        .live = live,
                                        .priority = job->priority,
                                        .serial = view->live->jobs[live].serial };
    if (!grow_parts(kube, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        candidate.index = kube_next_pod(job) + i;
        candidate.draw = job->draws++;
        const struct kube_amounts *pod = kube_pod(pods, candidate.index);
        uint32_t node = kube_kept_node(kube, &candidate);
        if (node == KUBE_NO_PLACE) node = kube_cycle_node(&kube->cycle, &candidate);
        if (node == KUBE_NO_PLACE) {
            for (uint32_t k = 0; k < i; k++) kube_nodes_touch(&kube->nodes, kube->parts[k].node);
            kube_nodes_refresh(&kube->nodes);
            return false;
        }
        kube->parts[i].node = node;
        kube_nodes_take(&kube->nodes, node, pod);
    }
    return true;
}

/* The scheduler has bound the pods: their nodes change, and places that were kept for them are used. */
static void bind_pods(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                      uint32_t count)
{
    struct kube_job *job = &kube->jobs[live];
    const struct kube_pods *pods = kube_pods_of(kube, view, live);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = kube->parts[i].node;
        kube_nodes_touch(&kube->nodes, node);
        if (job->kept == 0 || kube->nodes.kept[node].live != live) continue;
        kube_nodes_unkeep(&kube->nodes, node, live, kube_pod(pods, kube_next_pod(job) + i));
        job->kept--;
    }
}

/* The nodes that were found, and what their kubelets make of it, become a decision. */
static void decide_places(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                          uint32_t count, struct decision *decision)
{
    struct kube_job *job = &kube->jobs[live];
    kube_queue_remove(kube_queue_of(kube, live), live);
    bind_pods(kube, view, live, count);
    const struct kube_admitted_pods admitted =
        kube_admit_pods(kube, view, live, kube_next_pod(job), count);
    if (admitted.count == 0) {
        kube_enqueue_pods(kube, view, live);
        if (!kube_next_refusal(kube, decision)) /* memory is out */
            *decision = (struct decision){ .what = DECIDE_GIVE_BACK, .live = live };
        return;
    }
    if (kube->batch) kube_batch_took(kube, view, live, admitted);
    if (!job->holds) kube_count_priority(kube, job->priority, +1);
    if (!job->holds) job->start_no++;
    job->holds = true;
    job->placed += admitted.count;
    job->placed_big += admitted.big_count;
    const bool complete = job->placed == kube_pods_of(kube, view, live)->count;
    *decision = (struct decision){ .what = complete ? DECIDE_START : DECIDE_CLAIM,
                                   .live = live,
                                   .parts = kube->parts,
                                   .part_count = admitted.count };
    if (complete)
        kube_unkeep(kube, live);
    else
        kube_enqueue_pods(kube, view, live);
}

bool kube_place_pods(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                     uint32_t count, struct decision *decision)
{
    if (!find_places(kube, view, live, count)) return false;
    decide_places(kube, view, live, count, decision);
    return true;
}

void kube_start_on(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                   const uint32_t *pods_on, struct decision *decision)
{
    const struct kube_pods *pods = kube_pods_of(kube, view, live);
    if (!grow_parts(kube, pods->count)) return;
    uint32_t index = 0;
    for (uint32_t node = 0; node < view->cluster->nodes; node++)
        for (uint32_t i = 0; i < pods_on[node]; i++) kube->parts[index++].node = node;
    ASSERT(index == pods->count);
    decide_places(kube, view, live, pods->count, decision);
}

/* It found no node: it may preempt; then it has places in view, which others do not have. */
static void set_aside(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    const struct kube_job *job = &kube->jobs[live];
    const uint32_t left = kube_pods_waiting(kube, view, live);
    const bool had_places = job->kept > 0;
    const bool has_places =
        kube_evict_for(kube, view, live, left, gang_of(kube, view, live) > 1) > 0;
    if (has_places != had_places) {
        kube_queue_remove(&kube->queue, live);
        kube_enqueue_pods(kube, view, live);
    }
    kube_queue_fail(&kube->queue, live, kube->now_ns, kube_releases(kube, view));
}

/* The default scheduler: jobs that are ready, the most urgent first. */
static bool next_places(struct kubernetes *kube, const struct policy_view *view,
                        struct decision *decision)
{
    kube_queue_wake(&kube->queue, kube->now_ns, kube_releases(kube, view));
    for (uint32_t live; (live = kube_queue_first(&kube->queue)) != LIVE_NONE;) {
        if (kube_place_pods(kube, view, live, kube_pods_at_once(kube, view, live), decision))
            return true;
        if (kube->out_of_memory) return false;
        const uint64_t releases = kube_releases(kube, view);
        set_aside(kube, view, live);
        if (kube_releases(kube, view) != releases)
            kube_queue_wake(&kube->queue, kube->now_ns, kube_releases(kube, view));
    }
    return false;
}

static bool kube_next(void *memory, const struct policy_view *view, int64_t now_ns,
                      uint32_t fresh_serial, struct decision *decision)
{
    (void)fresh_serial; /* the queue knows who is new */
    struct kubernetes *kube = memory;
    kube->now_ns = now_ns;
    if (kube->out_of_memory || kube->queue.out_of_memory) { /* the run ends and says so */
        *view->out_of_memory = true;
        return false;
    }
    if (kube_next_refusal(kube, decision)) return true;
    kube_replace_pods(kube, view);
    if (kube->autoscaler && kube_autoscaler_told(kube->autoscaler, decision)) return true;
    if (next_todo(kube, view, decision)) return true;
    if (kube_next_termination(kube, view, decision)) return true;
    if (kube->gpu_operator && kube_operator_next(kube->gpu_operator, view, now_ns, decision))
        return true;
    kube_nodes_refresh(&kube->nodes);
    if (kube->kueue && kube_kueue_next(kube, view, decision)) return true;
    if (next_todo(kube, view, decision)) return true; /* pods that Kueue took back */
    if (kube->batch ? kube_batch_next(kube, view, decision) : next_places(kube, view, decision))
        return true;
    kube_nodes_refresh(&kube->nodes);
    if (kube->autoscaler && kube_autoscaler_scan(kube, view, decision)) return true;
    return kube_next_termination(kube, view, decision); /* without a grace period */
}

static void kube_begin(void *memory)
{
    struct kubernetes *kube = memory;
    if (kube->kueue) kube_kueue_begin(kube->kueue);
}

static int64_t kube_next_wake_ns(void *memory, const struct policy_view *view, int64_t now_ns)
{
    struct kubernetes *kube = memory;
    int64_t wake_ns = kube_queue_due_ns(&kube->queue, kube_releases(kube, view));
    const int64_t termination_ns = kube_termination_due_ns(kube);
    if (termination_ns < wake_ns) wake_ns = termination_ns;
    if (kube->replacement_ns < wake_ns) wake_ns = kube->replacement_ns;
    if (kube->batch) {
        const int64_t cycle_ns = kube_batch_due_ns(kube->batch, now_ns);
        if (cycle_ns < wake_ns) wake_ns = cycle_ns;
    }
    if (kube->gpu_operator) {
        const int64_t operator_ns = kube_operator_due_ns(kube->gpu_operator);
        if (operator_ns < wake_ns) wake_ns = operator_ns;
    }
    if (kube->autoscaler) {
        const int64_t scan_ns = kube_autoscaler_due_ns(kube->autoscaler, view);
        if (scan_ns < wake_ns) wake_ns = scan_ns;
    }
    ASSERT(wake_ns > now_ns);
    return wake_ns;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool kube_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct kubernetes *kube = memory;
    const struct kube_spec *spec = &view->scenario->kube;
    log_init(&kube->todo, sizeof(struct kube_todo), 0);
    kube_kubelet_init(kube);
    if (spec->gang == GANG_KUEUE) {
        kube->kueue = ARENA_ARRAY(arena, struct kube_kueue, 1);
        if (!kube->kueue || !kube_kueue_init(kube->kueue, view, arena)) return false;
    }
    if (spec->gang == GANG_VOLCANO || spec->gang == GANG_KAI) {
        kube->batch = ARENA_ARRAY(arena, struct kube_batch, 1);
        if (!kube->batch || !kube_batch_init(kube->batch, view, arena)) return false;
    }
    if (spec->plugin_ready_ns || spec->driver_upgrade_every_ns) {
        kube->gpu_operator = ARENA_ARRAY(arena, struct kube_operator, 1);
        if (!kube->gpu_operator || !kube_operator_init(kube->gpu_operator, view, arena))
            return false;
    }
    if (spec->autoscaler) {
        kube->autoscaler = ARENA_ARRAY(arena, struct kube_autoscaler, 1);
        if (!kube->autoscaler || !kube_autoscaler_init(kube->autoscaler, view, arena)) return false;
    }
    return kube_evict_init(kube) && kube_shapes_init(&kube->shapes, view, arena) &&
           kube_nodes_init(&kube->nodes, view->cluster, &kube->shapes, arena) &&
           kube_cycle_init(&kube->cycle, view, &kube->shapes, &kube->nodes, arena) &&
           kube_queue_init(&kube->queue, view->requests->class_count, spec->backoff_first_ns,
                           spec->backoff_most_ns);
}

static void kube_clear_memory(void *memory)
{
    struct kubernetes *kube = memory;
    kube_queue_clear(&kube->queue);
    kube_evict_clear(kube);
    kube_kubelet_clear(kube);
    if (kube->kueue) kube_kueue_clear(kube->kueue);
    if (kube->batch) kube_batch_clear(kube->batch);
    if (kube->autoscaler) kube_autoscaler_clear(kube->autoscaler);
    if (kube->gpu_operator) kube_operator_clear(kube->gpu_operator);
    log_clear(&kube->todo);
    free(kube->jobs);
    free(kube->parts);
}

const struct policy policy_kubernetes = {
    .name = "kubernetes",
    .help = "pods one at a time, by filters and scores; gangs by coscheduling",
    .memory_bytes = sizeof(struct kubernetes),
    .init = kube_init,
    .note = kube_note,
    .next = kube_next,
    .begin = kube_begin,
    .clear = kube_clear_memory,
    .next_wake_ns = kube_next_wake_ns,
    .sequel = kube_sequel,
    .detection_ns = kube_detection_ns,
    .reason = kube_reason,
};
