/* kube_batch.c - see kube_batch.h. */
#include "policy/kube_batch.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

static bool is_kai(const struct policy_view *view)
{
    return view->scenario->kube.gang == GANG_KAI;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* INT64_MAX stays what it means: no limit. */
static int64_t milli_of(int64_t gpus)
{
    return gpus == INT64_MAX ? gpus : KUBE_GPU_MILLI * gpus;
}

/* Without queues of its own the scheduler has one that may have everything. */
bool kube_batch_init(struct kube_batch *batch, const struct policy_view *view, struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    const uint32_t count = spec->queue_count ? spec->queue_count : 1;
    batch->queues = ARENA_ARRAY(arena, struct batch_queue, count);
    batch->shares = ARENA_ARRAY(arena, struct kube_share, count);
    if (!batch->queues || !batch->shares) return false;
    for (; batch->count < count; batch->count++) {
        struct batch_queue *queue = &batch->queues[batch->count];
        queue->share =
            (struct kube_share){ .weight = 1, .quota = INT64_MAX / 2, .most = INT64_MAX };
        if (spec->queue_count) {
            const struct kube_cluster_queue *told = &spec->queues[batch->count];
            queue->share.weight = is_kai(view) ? told->over_quota_weight : told->weight;
            queue->share.priority = told->priority;
            queue->share.quota = milli_of(told->nominal_gpus);
            queue->share.most = milli_of(is_kai(view) ? told->limit_gpus : told->capability_gpus);
        }
        if (!kube_queue_init(&queue->waiting, view->requests->class_count, 0, 0)) return false;
    }
    batch->cycle_ns = -1;
    return kube_assign_init(&batch->assign, view, arena);
}

void kube_batch_clear(struct kube_batch *batch)
{
    for (uint32_t q = 0; q < batch->count; q++) kube_queue_clear(&batch->queues[q].waiting);
    free(batch->jobs);
}

static bool grow_jobs(struct kube_batch *batch, uint32_t live)
{
    if (live < batch->job_capacity) return true;
    uint32_t capacity = batch->job_capacity ? batch->job_capacity : 256;
    while (capacity <= live) capacity *= 2;
    struct batch_job *jobs = realloc(batch->jobs, capacity * sizeof *jobs);
    if (!jobs) return false;
    memset(jobs + batch->job_capacity, 0, (capacity - batch->job_capacity) * sizeof *jobs);
    batch->jobs = jobs;
    batch->job_capacity = capacity;
    return true;
}

static void add(int64_t sum[KUBE_RESOURCES], const struct kube_bill *bill, int64_t sign)
{
    for (int r = 0; r < KUBE_RESOURCES; r++) sum[r] += sign * bill->of[r];
}

/* GPUs in thousandths. */
static void add_pods(struct kube_bill *bill, const struct kube_amounts *pod, int64_t count)
{
    bill->of[KUBE_CPU] += count * pod->of[KUBE_CPU];
    bill->of[KUBE_MEMORY] += count * pod->of[KUBE_MEMORY];
    bill->of[KUBE_GPU] += count * (KUBE_GPU_MILLI * pod->of[KUBE_GPU] + pod->of[KUBE_FRACTION]);
}

struct kube_bill kube_batch_pod_bill(const struct kube_amounts *pod)
{
    struct kube_bill bill = { { 0 } };
    add_pods(&bill, pod, 1);
    return bill;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

const char *kube_batch_submit(struct kubernetes *kube, const struct policy_view *view,
                              uint32_t live)
{
    struct kube_batch *batch = kube->batch;
    if (!grow_jobs(batch, live)) {
        kube->out_of_memory = true;
        return NULL;
    }
    struct batch_job *job = &batch->jobs[live];
    const struct kube_pods *pods = kube_pods_of(kube, view, live);
    *job = (struct batch_job){ 0 };
    add_pods(&job->bill, &pods->big, pods->big_count);
    add_pods(&job->bill, &pods->small, pods->count - pods->big_count);
    if (view->scenario->kube.queue_count) job->queue = kube_queue_named(view, live);
    if (job->queue == LIVE_NONE) {
        job->queue = 0; /* where it never waits */
        return "the queue does not exist";
    }
    struct kube_share *share = &batch->queues[job->queue].share;
    if (job->bill.of[KUBE_GPU] > share->most)
        return "the job asks for more than its queue may have";
    if (!kube_topology_wish(view, live).known) return "topology level does not exist";
    add(share->requested, &job->bill, +1);
    job->counted = true;
    batch->dirty = true;
    return NULL;
}

void kube_batch_leave(struct kubernetes *kube, uint32_t live)
{
    struct batch_job *job = &kube->batch->jobs[live];
    if (live >= kube->batch->job_capacity || !job->counted) return;
    add(kube->batch->queues[job->queue].share.requested, &job->bill, -1);
    job->counted = false;
    kube->batch->dirty = true;
}

void kube_batch_end(struct kubernetes *kube, uint32_t live)
{
    struct batch_job *job = &kube->batch->jobs[live];
    add(kube->batch->queues[job->queue].allocated, &job->taken, -1);
    job->taken = (struct kube_bill){ { 0 } };
    kube->batch->dirty = true;
}

static struct kube_bill bill_of_next(const struct kube_pods *pods, uint32_t first, uint32_t count)
{
    struct kube_bill bill = { { 0 } };
    for (uint32_t i = first; i < first + count; i++) add_pods(&bill, kube_pod(pods, i), 1);
    return bill;
}

void kube_batch_took(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                     struct kube_admitted_pods admitted)
{
    const struct kube_pods *pods = kube_pods_of(kube, view, live);
    struct batch_job *job = &kube->batch->jobs[live];
    struct kube_bill bill = { { 0 } };
    add_pods(&bill, &pods->big, admitted.big_count);
    add_pods(&bill, &pods->small, admitted.count - admitted.big_count);
    add(kube->batch->queues[job->queue].allocated, &bill, +1);
    add(job->taken.of, &bill, +1);
}

/* ---- a cycle --------------------------------------------------------------------------------- */

/* What the nodes that are in service have. */
static void total_of(const struct kubernetes *kube, int64_t total[KUBE_RESOURCES])
{
    const struct kube_nodes *nodes = &kube->nodes;
    for (int r = 0; r < KUBE_RESOURCES; r++) total[r] = 0;
    for (uint32_t i = 0; i < nodes->present_count; i++) {
        const struct kube_node_class *class = &nodes->classes[nodes->present[i]];
        for (int r = 0; r < KUBE_RESOURCES && !class->key.is_out; r++)
            total[r] += class->nodes * class->room.allocatable.of[r];
    }
    total[KUBE_GPU] *= KUBE_GPU_MILLI;
}

static void begin_cycle(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_batch *batch = kube->batch;
    batch->cycle_ns = kube->now_ns;
    int64_t total[KUBE_RESOURCES];
    total_of(kube, total);
    struct kube_share *rows = batch->shares;
    for (uint32_t q = 0; q < batch->count; q++) rows[q] = batch->queues[q].share;
    if (is_kai(view))
        kube_deserved_kai(rows, batch->count, total);
    else
        kube_deserved_volcano(rows, batch->count, total);
    kube->own_releases++; /* shares have changed: everybody is tried again */
    for (uint32_t q = 0; q < batch->count; q++) {
        batch->queues[q].share = rows[q];
        kube_queue_wake(&batch->queues[q].waiting, kube->now_ns, kube_releases(kube, view));
    }
}

/* The queue with a ready job that has the least of what it deserves; LIVE_NONE when none has one. */
static uint32_t next_queue(const struct kube_batch *batch)
{
    uint32_t best = LIVE_NONE;
    double best_used = 0;
    for (uint32_t q = 0; q < batch->count; q++) {
        if (kube_queue_first(&batch->queues[q].waiting) == LIVE_NONE) continue;
        const double used = kube_share_used(&batch->queues[q].share, batch->queues[q].allocated);
        if (best != LIVE_NONE && !(used < best_used)) continue;
        best = q;
        best_used = used;
    }
    return best;
}

/* Whether the queue stays within what it deserves, with a hair for what division leaves. */
static bool is_within(const struct batch_queue *queue, const struct kube_bill *more)
{
    for (int r = 0; r < KUBE_RESOURCES; r++) {
        const double is = (double)(queue->allocated[r] + more->of[r]);
        if (more->of[r] > 0 && is > queue->share.deserved[r] * (1 + 1e-9)) return false;
    }
    return true;
}

static bool may_have(const struct policy_view *view, const struct batch_queue *queue,
                     const struct kube_bill *more)
{
    if (!is_kai(view)) return is_within(queue, more);
    return queue->share.most == INT64_MAX ||
           queue->allocated[KUBE_GPU] + more->of[KUBE_GPU] <= queue->share.most;
}

/* Places for the next pods of a job become a decision; false: there are none. */
static bool place(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                  uint32_t count, struct decision *decision)
{
    const struct kube_job *job = &kube->jobs[live];
    const struct kube_topology_wish wish = kube_topology_wish(view, live);
    if (is_kai(view) && wish.asked && job->placed + job->refused == 0) {
        if (!kube_assign_pods(&kube->batch->assign, kube, view, live, wish)) return false;
        kube_start_on(kube, view, live, kube->batch->assign.assigned, decision);
        return true;
    }
    return kube_place_pods(kube, view, live, count, decision);
}

/* Whether what others have too much, what ends and what is free would do for the bill; most often it would not, and no node
 * needs to be looked at. */
static bool could_reclaim(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                          const struct kube_bill *bill)
{
    struct kube_batch *batch = kube->batch;
    double left[KUBE_RESOURCES];
    int64_t total[KUBE_RESOURCES];
    bool some = false;
    kube_batch_count_ending(kube, view);
    total_of(kube, total);
    for (int r = 0; r < KUBE_RESOURCES; r++) left[r] = (double)total[r];
    for (uint32_t q = 0; q < batch->count; q++) {
        const struct batch_queue *queue = &batch->queues[q];
        const bool loses = queue->is_over && q != batch->jobs[live].queue;
        some |= loses;
        for (int r = 0; r < KUBE_RESOURCES; r++) {
            const double has = (double)(queue->allocated[r] - queue->ending[r]);
            const double keeps = queue->share.deserved[r] < has ? queue->share.deserved[r] : has;
            left[r] -= !loses ? has : is_kai(view) ? 0 : keeps;
        }
    }
    for (int r = 0; r < KUBE_RESOURCES; r++) some &= (double)bill->of[r] <= left[r];
    return some;
}

bool kube_batch_next(struct kubernetes *kube, const struct policy_view *view,
                     struct decision *decision)
{
    struct kube_batch *batch = kube->batch;
    if (!batch->dirty || kube->now_ns % NS_PER_S) return false;
    if (batch->cycle_ns != kube->now_ns) begin_cycle(kube, view);
    for (uint32_t q; (q = next_queue(batch)) != LIVE_NONE && !kube->out_of_memory;) {
        struct batch_queue *queue = &batch->queues[q];
        const uint32_t live = kube_queue_first(&queue->waiting);
        const uint32_t count = kube_pods_at_once(kube, view, live);
        const struct kube_bill bill =
            bill_of_next(kube_pods_of(kube, view, live), kube_next_pod(&kube->jobs[live]), count);
        const bool may = may_have(view, queue, &bill);
        if (may && place(kube, view, live, count, decision)) return true;
        if (may && view->scenario->kube.preemption && is_within(queue, &bill) &&
            (kube->jobs[live].kept || could_reclaim(kube, view, live, &bill)))
            kube_evict_for(kube, view, live, count, true);
        kube_queue_fail(&queue->waiting, live, kube->now_ns, kube_releases(kube, view));
    }
    batch->dirty = false;
    return false;
}

int64_t kube_batch_due_ns(const struct kube_batch *batch, int64_t now_ns)
{
    if (!batch->dirty) return TIME_NEVER;
    return time_add(now_ns - now_ns % NS_PER_S, NS_PER_S);
}

/* ---- reclaim --------------------------------------------------------------------------------- */

void kube_batch_count_ending(struct kubernetes *kube, const struct policy_view *view)
{
    struct kube_batch *batch = kube->batch;
    for (uint32_t q = 0; q < batch->count; q++)
        memset(batch->queues[q].ending, 0, sizeof batch->queues[q].ending);
    for (uint32_t live = 0; live < view->live->count && live < batch->job_capacity; live++)
        if (view->live->jobs[live].state != LIVE_FREE && kube->jobs[live].terminating)
            add(batch->queues[batch->jobs[live].queue].ending, &batch->jobs[live].taken, +1);
    for (uint32_t q = 0; q < batch->count; q++) {
        struct batch_queue *queue = &batch->queues[q];
        queue->is_over = false;
        for (int r = 0; r < KUBE_RESOURCES; r++)
            queue->is_over |=
                (double)(queue->allocated[r] - queue->ending[r]) > queue->share.deserved[r];
    }
}

bool kube_batch_may_lose(const struct kubernetes *kube, const struct policy_view *view,
                         uint32_t live, uint32_t reclaimer)
{
    const struct kube_batch *batch = kube->batch;
    const uint32_t queue = batch->jobs[live].queue;
    if (queue == batch->jobs[reclaimer].queue || !batch->queues[queue].is_over) return false;
    return is_kai(view) || kube_pods_of(kube, view, live)->count == 1;
}

int32_t kube_batch_rank(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                        uint32_t reclaimer, const struct kube_bill *pod, bool first)
{
    struct kube_batch *batch = kube->batch;
    for (uint32_t q = 0; first && q < batch->count; q++)
        memset(batch->queues[q].tally, 0, sizeof batch->queues[q].tally);
    const struct batch_job *job = &batch->jobs[live];
    const bool whole = is_kai(view);
    if (!kube_batch_may_lose(kube, view, live, reclaimer)) return INT32_MAX;
    struct batch_queue *queue = &batch->queues[job->queue];
    const struct kube_bill *lost = whole ? &job->taken : pod;
    for (int r = 0; r < KUBE_RESOURCES; r++) {
        if (pod->of[r] == 0 || (whole && r != KUBE_GPU)) continue;
        const int64_t has = queue->allocated[r] - queue->ending[r] - queue->tally[r];
        /* Volcano: it keeps what it deserves; KAI: it has more than its fair share. */
        const double after = (double)(whole ? has : has - pod->of[r]);
        if (whole ? after <= queue->share.deserved[r] : after < queue->share.deserved[r])
            return INT32_MAX;
    }
    add(queue->tally, lost, +1);
    return kube->jobs[live].priority < INT32_MAX ? kube->jobs[live].priority : INT32_MAX - 1;
}
