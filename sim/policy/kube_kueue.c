/* kube_kueue.c - see kube_kueue.h. */
#include "policy/kube_kueue.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static void init_accounts(struct kube_kueue *kueue, const struct kube_spec *spec)
{
    for (uint32_t q = 0; q < kueue->count; q++) {
        const struct kube_cluster_queue *queue = &spec->queues[q];
        struct kube_account *account = &kueue->accounts[q];
        *account = (struct kube_account){
            .nominal = { { [KUBE_CPU] = queue->nominal_cpu_milli,
                           [KUBE_MEMORY] = queue->nominal_memory_bytes,
                           [KUBE_GPU] = queue->nominal_gpus } },
            .borrowing_gpus = queue->borrowing_gpus,
            .lending_gpus = queue->lending_gpus,
            .cohort = KUBE_NO_COHORT,
            .within = queue->within_cluster_queue,
            .reclaim = queue->reclaim_within_cohort,
            .borrow_within = queue->borrow_within_cohort,
        };
        if (!queue->cohort[0]) continue;
        account->cohort = q; /* named by its first queue */
        for (uint32_t other = q; other-- > 0;)
            if (!strcmp(spec->queues[other].cohort, queue->cohort)) account->cohort = other;
    }
}

bool kube_kueue_init(struct kube_kueue *kueue, const struct policy_view *view, struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    kueue->accounts = ARENA_ARRAY(arena, struct kube_account, spec->queue_count);
    kueue->waiting = ARENA_ARRAY(arena, struct kube_queue, spec->queue_count);
    kueue->blocked = ARENA_ARRAY(arena, bool, spec->queue_count);
    kueue->levels = ARENA_ARRAY(arena, struct kueue_levels, spec->queue_count);
    kueue->scratch = ARENA_ARRAY(arena, struct kube_account, spec->queue_count);
    if (!kueue->accounts || !kueue->waiting || !kueue->blocked || !kueue->levels || !kueue->scratch)
        return false;
    for (uint32_t q = 0; q < spec->queue_count; q++, kueue->count++)
        if (!kube_queue_init(&kueue->waiting[q], view->requests->class_count, 0, 0)) return false;
    init_accounts(kueue, spec);
    return kube_assign_init(&kueue->assign, view, arena);
}

void kube_kueue_clear(struct kube_kueue *kueue)
{
    for (uint32_t q = 0; q < kueue->count; q++) kube_queue_clear(&kueue->waiting[q]);
    free(kueue->jobs);
    free(kueue->admitted);
    free(kueue->candidates);
    free(kueue->targets);
    free(kueue->order);
    free(kueue->spare);
    free(kueue->key);
}

static bool grow_jobs(struct kube_kueue *kueue, uint32_t live)
{
    if (live < kueue->job_capacity) return true;
    uint32_t capacity = kueue->job_capacity ? kueue->job_capacity : 256;
    while (capacity <= live) capacity *= 2;
    struct kueue_job *jobs = realloc(kueue->jobs, capacity * sizeof *jobs);
    if (!jobs) return false;
    /* A job that fits no node is refused before it has a row here. */
    for (uint32_t i = kueue->job_capacity; i < capacity; i++)
        jobs[i] = (struct kueue_job){ .queue = LIVE_NONE, .admitted = LIVE_NONE };
    kueue->jobs = jobs;
    kueue->job_capacity = capacity;
    return true;
}

static bool grow_admitted(struct kube_kueue *kueue)
{
    if (kueue->admitted_count < kueue->admitted_capacity) return true;
    const uint32_t more = kueue->admitted_capacity ? 2 * kueue->admitted_capacity : 256;
    struct kube_admitted *admitted = realloc(kueue->admitted, more * sizeof *admitted);
    if (!admitted) return false;
    kueue->admitted = admitted;
    free(kueue->candidates);
    free(kueue->targets);
    free(kueue->order);
    free(kueue->spare);
    free(kueue->key);
    kueue->candidates = malloc(more * sizeof *kueue->candidates);
    kueue->targets = malloc(more * sizeof *kueue->targets);
    kueue->order = malloc(more * sizeof *kueue->order);
    kueue->spare = malloc(more * sizeof *kueue->spare);
    kueue->key = malloc(more * sizeof *kueue->key);
    kueue->admitted_capacity = more;
    return kueue->candidates && kueue->targets && kueue->order && kueue->spare && kueue->key;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

const char *kube_kueue_submit(struct kubernetes *kube, const struct policy_view *view,
                              uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    if (!grow_jobs(kueue, live)) {
        kube->out_of_memory = true;
        return NULL;
    }
    struct kueue_job *job = &kueue->jobs[live];
    *job = (struct kueue_job){ .bill = kube_bill_of(kube_pods_of(kube, view, live)),
                               .queue = kube_queue_named(view, live),
                               .admitted = LIVE_NONE };
    if (job->queue == LIVE_NONE) return "LocalQueue does not exist";
    if (!kube_topology_wish(view, live).known) return "topology level does not exist";
    if (!kube_quota_ever(kueue->accounts, kueue->count, job->queue, &job->bill))
        return "insufficient quota in ClusterQueue, request > maximum capacity";
    return NULL;
}

void kube_kueue_enqueue(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    const struct kueue_job *job = &kueue->jobs[live];
    if (job->admitted != LIVE_NONE) {
        kube_enqueue_pods(kube, view, live);
        return;
    }
    const struct live_job *row = &view->live->jobs[live];
    const struct kube_sort sort = { .request_class = row->request_class,
                                    .priority = kube->jobs[live].priority };
    kube_queue_add(&kueue->waiting[job->queue], live, sort,
                   (struct kube_order){ .submit_ns = row->submit_ns, .serial = row->serial });
}

/* The job is admitted, or no longer. */
static void change_books(struct kubernetes *kube, uint32_t live, int sign)
{
    struct kube_kueue *kueue = kube->kueue;
    const struct kueue_job *job = &kueue->jobs[live];
    struct kueue_levels *levels = &kueue->levels[job->queue];
    kube_quota_change(&kueue->accounts[job->queue], &job->bill, sign);
    uint32_t i = 0;
    while (i < levels->count && levels->rows[i].priority != kube->jobs[live].priority) i++;
    levels->is_full |= i == KUEUE_LEVELS;
    if (i == KUEUE_LEVELS) return;
    if (i == levels->count)
        levels->rows[levels->count++] =
            (struct kueue_level){ .priority = kube->jobs[live].priority };
    for (int r = 0; r < KUBE_RESOURCES; r++) levels->rows[i].used.of[r] += sign * job->bill.of[r];
}

static void give_back(struct kubernetes *kube, uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    struct kueue_job *job = &kueue->jobs[live];
    if (job->admitted == LIVE_NONE) return;
    change_books(kube, live, -1);
    const struct kube_admitted last = kueue->admitted[--kueue->admitted_count];
    kueue->admitted[job->admitted] = last;
    kueue->jobs[last.row].admitted = job->admitted;
    job->admitted = LIVE_NONE;
    kube->own_releases++;
}

void kube_kueue_end(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                    bool evicted)
{
    /* Nodes are assigned anew with the next admission. */
    if (evicted || kube_topology_wish(view, live).asked) give_back(kube, live);
}

void kube_kueue_leave(struct kubernetes *kube, uint32_t live)
{
    if (live >= kube->kueue->job_capacity) return;
    const struct kueue_job *job = &kube->kueue->jobs[live];
    if (job->queue != LIVE_NONE) kube_queue_remove(&kube->kueue->waiting[job->queue], live);
    give_back(kube, live);
}

/* ---- admission ------------------------------------------------------------------------------- */

enum verdict { FITS, BORROWS, PREEMPTS, WAITS, EXCEEDED };

/* Admitted jobs that are not ending, in kueue->candidates; returns their number. */
static uint32_t staying(struct kubernetes *kube)
{
    const struct kube_kueue *kueue = kube->kueue;
    uint32_t count = 0;
    for (uint32_t i = 0; i < kueue->admitted_count; i++)
        if (!kube->jobs[kueue->admitted[i].row].terminating)
            kueue->candidates[count++] = kueue->admitted[i];
    return count;
}

static void count_ending(struct kubernetes *kube, int sign)
{
    struct kube_kueue *kueue = kube->kueue;
    for (uint32_t i = 0; i < kueue->admitted_count; i++) {
        const struct kube_admitted *job = &kueue->admitted[i];
        if (kube->jobs[job->row].terminating)
            kube_quota_change(&kueue->accounts[job->queue], &job->bill, sign);
    }
}

/* Whether the job would fit if all went that its priority lets it evict: most often it would not, and nobody needs to be
 * looked at. */
static bool could_preempt(struct kubernetes *kube, uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    const struct kueue_job *job = &kueue->jobs[live];
    const struct kube_account *own = &kueue->accounts[job->queue];
    for (uint32_t q = 0; q < kueue->count; q++) {
        struct kube_account *account = &kueue->scratch[q];
        const struct kueue_levels *levels = &kueue->levels[q];
        *account = kueue->accounts[q];
        const bool mine = q == job->queue;
        const enum kueue_preempt rule = mine ? own->within : own->reclaim;
        if (rule == KUEUE_NEVER || (!mine && account->cohort != own->cohort)) continue;
        if (levels->is_full) return true;
        for (uint32_t i = 0; i < levels->count; i++) {
            const int32_t priority = levels->rows[i].priority, above = kube->jobs[live].priority;
            if (rule == KUEUE_ANY || priority < above ||
                (rule == KUEUE_LOWER_OR_NEWER_EQUAL && priority == above))
                kube_quota_change(account, &levels->rows[i].used, -1);
        }
    }
    return kube_quota_fit(kueue->scratch, kueue->count, job->queue, &job->bill) != QUOTA_EXCEEDED;
}

/* The quota does not do: who must go? *count targets in kueue->targets, rows of kueue->candidates. */
static enum verdict judge_preemption(struct kubernetes *kube, const struct policy_view *view,
                                     uint32_t live, uint32_t *count)
{
    struct kube_kueue *kueue = kube->kueue;
    const struct kueue_job *job = &kueue->jobs[live];
    const struct kube_account *own = &kueue->accounts[job->queue];
    if (own->within == KUEUE_NEVER && own->reclaim == KUEUE_NEVER) return EXCEEDED;
    if (kueue->admitted_count == 0 || !could_preempt(kube, live)) return EXCEEDED;
    count_ending(kube, -1);
    const bool will_fit =
        kube_quota_fit(kueue->accounts, kueue->count, job->queue, &job->bill) != QUOTA_EXCEEDED;
    *count = 0;
    if (!will_fit) {
        const struct kube_asking asking = { .bill = job->bill,
                                            .queue = job->queue,
                                            .priority = kube->jobs[live].priority,
                                            .submit_ns = view->live->jobs[live].submit_ns };
        *count = kube_quota_targets(kueue->accounts, kueue->count, &asking, kueue->candidates,
                                    staying(kube), kueue->targets, kueue->order, kueue->spare,
                                    kueue->key);
    }
    count_ending(kube, +1);
    return will_fit ? WAITS : *count ? PREEMPTS : EXCEEDED;
}

static enum verdict judge(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                          uint32_t *targets)
{
    struct kube_kueue *kueue = kube->kueue;
    const struct kueue_job *job = &kueue->jobs[live];
    const enum kube_fit_mode mode =
        kube_quota_fit(kueue->accounts, kueue->count, job->queue, &job->bill);
    if (mode == QUOTA_EXCEEDED) return judge_preemption(kube, view, live, targets);
    const struct kube_topology_wish wish = kube_topology_wish(view, live);
    if (wish.asked && !kube_assign_pods(&kueue->assign, kube, view, live, wish)) return EXCEEDED;
    return mode == QUOTA_FITS ? FITS : BORROWS;
}

/* The head of a queue that can be admitted, or that can preempt; others are set aside, or block their queue. */
static uint32_t head_of(struct kubernetes *kube, const struct policy_view *view, uint32_t q,
                        enum verdict *verdict)
{
    struct kube_kueue *kueue = kube->kueue;
    const bool strict = view->scenario->kube.queues[q].strategy == STRICT_FIFO;
    while (!kueue->blocked[q]) {
        uint32_t targets;
        const uint32_t live = kube_queue_first(&kueue->waiting[q]);
        if (live == LIVE_NONE) return LIVE_NONE;
        /* Evicted just now: its pods are still being deleted. */
        *verdict = kube->jobs[live].holds ? WAITS : judge(kube, view, live, &targets);
        if (*verdict < WAITS) return live;
        if (strict || *verdict == WAITS)
            kueue->blocked[q] = true;
        else
            kube_queue_fail(&kueue->waiting[q], live, kube->now_ns, kube_releases(kube, view));
    }
    return LIVE_NONE;
}

/* Those that need not borrow first, then higher priority, then older. */
static bool goes_before(const struct kubernetes *kube, const struct policy_view *view, uint32_t a,
                        enum verdict a_verdict, uint32_t b, enum verdict b_verdict)
{
    if (a_verdict != b_verdict) return a_verdict < b_verdict;
    if (kube->jobs[a].priority != kube->jobs[b].priority)
        return kube->jobs[a].priority > kube->jobs[b].priority;
    return view->live->jobs[a].serial < view->live->jobs[b].serial;
}

static void admit(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    struct kueue_job *job = &kueue->jobs[live];
    if (!grow_admitted(kueue)) {
        kube->out_of_memory = true;
        return;
    }
    kube_queue_remove(&kueue->waiting[job->queue], live);
    change_books(kube, live, +1);
    job->admitted = kueue->admitted_count++;
    kueue->admitted[job->admitted] =
        (struct kube_admitted){ .bill = job->bill,
                                .queue = job->queue,
                                .row = live,
                                .priority = kube->jobs[live].priority,
                                .admitted_no = kueue->admissions++,
                                .submit_ns = view->live->jobs[live].submit_ns };
}

/* Running ones after their grace period, those that wait for their pods at once; one that has failed asks anew when
 * that is noticed, or its restart is due. */
static void evict(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    const uint8_t state = view->live->jobs[live].state;
    if (state == LIVE_RUNNING) {
        kube_terminate(kube, view, live);
        return;
    }
    if (state == LIVE_WAITING) kube_take_pods_back(kube, view, live);
    give_back(kube, live);
    if (state == LIVE_WAITING) kube_kueue_enqueue(kube, view, live);
}

static void preempt(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    uint32_t count = 0;
    if (judge_preemption(kube, view, live, &count) != PREEMPTS) return;
    /* Rows are read before anything changes the lists. */
    for (uint32_t i = 0; i < count; i++)
        kueue->targets[i] = kueue->candidates[kueue->targets[i]].row;
    for (uint32_t i = 0; i < count; i++) evict(kube, view, kueue->targets[i]);
}

void kube_kueue_begin(struct kube_kueue *kueue)
{
    for (uint32_t q = 0; q < kueue->count; q++) kueue->blocked[q] = false;
}

bool kube_kueue_next(struct kubernetes *kube, const struct policy_view *view,
                     struct decision *decision)
{
    struct kube_kueue *kueue = kube->kueue;
    while (!kube->out_of_memory) {
        uint32_t best = LIVE_NONE;
        enum verdict best_verdict = EXCEEDED;
        for (uint32_t q = 0; q < kueue->count; q++) {
            kube_queue_wake(&kueue->waiting[q], kube->now_ns, kube_releases(kube, view));
            enum verdict verdict;
            const uint32_t live = head_of(kube, view, q, &verdict);
            if (live == LIVE_NONE) continue;
            if (best != LIVE_NONE && !goes_before(kube, view, live, verdict, best, best_verdict))
                continue;
            best = live;
            best_verdict = verdict;
        }
        if (best == LIVE_NONE) return false;
        if (best_verdict == PREEMPTS) {
            kueue->blocked[kueue->jobs[best].queue] = true;
            preempt(kube, view, best);
            continue;
        }
        const struct kube_topology_wish wish = kube_topology_wish(view, best);
        const bool assigned =
            wish.asked && kube_assign_pods(&kueue->assign, kube, view, best, wish);
        admit(kube, view, best);
        if (!assigned) {
            kube_enqueue_pods(kube, view, best);
            continue;
        }
        kube_start_on(kube, view, best, kueue->assign.assigned, decision);
        return true;
    }
    return false;
}
