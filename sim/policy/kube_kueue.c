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

static uint32_t level_size(const struct policy_view *view, uint32_t level)
{
    const uint32_t nodes = view->scenario->kube.level_nodes[level];
    const uint32_t size = nodes ? nodes : view->cluster->nodes_per_leaf;
    return size ? size : 1;
}

/* The levels of the scenario, and hosts below them when the last is not one node. */
static bool init_tree(struct kube_kueue *kueue, const struct policy_view *view, struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    struct topology_tree *tree = &kueue->tree;
    const uint32_t nodes = view->cluster->nodes;
    uint32_t size[TOPOLOGY_LEVELS + 1] = { 1 };
    for (uint32_t level = 0; level < spec->level_count && level + 1 < TOPOLOGY_LEVELS; level++)
        size[tree->level_count++] = level_size(view, level);
    if (tree->level_count == 0 || size[tree->level_count - 1] > 1) size[tree->level_count++] = 1;
    for (uint32_t level = 0; level < tree->level_count; level++) {
        const uint32_t domains = (nodes + size[level] - 1) / size[level];
        uint32_t *parent = ARENA_ARRAY(arena, uint32_t, domains);
        tree->free[level] = ARENA_ARRAY(arena, uint32_t, domains);
        if (!parent || !tree->free[level]) return false;
        for (uint32_t d = 0; level > 0 && d < domains; d++)
            parent[d] = (uint32_t)((uint64_t)d * size[level] / size[level - 1]);
        tree->domains[level] = domains;
        tree->parent[level] = parent;
    }
    tree->rows = ARENA_ARRAY(arena, uint32_t, nodes);
    tree->chosen = ARENA_ARRAY(arena, uint32_t, nodes);
    tree->spare = ARENA_ARRAY(arena, uint32_t, nodes);
    tree->key = ARENA_ARRAY(arena, uint64_t, nodes);
    kueue->assigned = ARENA_ARRAY(arena, uint32_t, nodes);
    return tree->rows && tree->chosen && tree->spare && tree->key && kueue->assigned;
}

bool kube_kueue_init(struct kube_kueue *kueue, const struct policy_view *view, struct arena *arena)
{
    const struct kube_spec *spec = &view->scenario->kube;
    kueue->accounts = ARENA_ARRAY(arena, struct kube_account, spec->queue_count);
    kueue->waiting = ARENA_ARRAY(arena, struct kube_queue, spec->queue_count);
    kueue->blocked = ARENA_ARRAY(arena, bool, spec->queue_count);
    if (!kueue->accounts || !kueue->waiting || !kueue->blocked) return false;
    for (uint32_t q = 0; q < spec->queue_count; q++, kueue->count++)
        if (!kube_queue_init(&kueue->waiting[q], view->requests->class_count, 0, 0)) return false;
    init_accounts(kueue, spec);
    return init_tree(kueue, view, arena);
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

static const char *text_of(const struct policy_view *view, uint32_t offset)
{
    return view->jobs->text ? view->jobs->text + offset : "";
}

static uint32_t queue_named(const struct kube_spec *spec, const char *name)
{
    for (uint32_t q = 0; q < spec->queue_count; q++)
        if (!strcmp(spec->queues[q].name, name)) return q;
    return LIVE_NONE;
}

/* LIVE_NONE: it names a queue that is not there. */
static uint32_t queue_of(const struct policy_view *view, uint32_t live)
{
    const struct kube_spec *spec = &view->scenario->kube;
    const uint32_t row = view->live->jobs[live].row;
    const struct job_words *words = view->jobs->words ? &view->jobs->words[row] : NULL;
    if (words && words->queue != TEXT_NONE) return queue_named(spec, text_of(view, words->queue));
    uint32_t queue = LIVE_NONE;
    if (words && words->user != TEXT_NONE) queue = queue_named(spec, text_of(view, words->user));
    if (queue == LIVE_NONE && view->jobs->user && view->jobs->user[row] != TEXT_NONE)
        queue = queue_named(spec, text_of(view, view->jobs->user[row]));
    if (queue == LIVE_NONE) queue = queue_named(spec, "default");
    return queue == LIVE_NONE ? 0 : queue;
}

static const struct ask *ask_of(const struct policy_view *view, uint32_t live)
{
    const struct request *request = &view->requests->classes[view->live->jobs[live].request_class];
    return request->ask != ASK_NONE && view->jobs->asks ? &view->jobs->asks[request->ask] : NULL;
}

/* Whether the job asks for a topology; `mode` and `level` say which. LIVE_NONE: a level that is not there. */
static bool wants_topology(const struct policy_view *view, uint32_t live, enum topology_mode *mode,
                           uint32_t *level)
{
    const struct kube_spec *spec = &view->scenario->kube;
    const struct ask *ask = ask_of(view, live);
    if (!ask) return false;
    *mode = ask->topology_required != TEXT_NONE    ? TOPOLOGY_REQUIRED
            : ask->topology_preferred != TEXT_NONE ? TOPOLOGY_PREFERRED
                                                   : TOPOLOGY_UNCONSTRAINED;
    if (*mode == TOPOLOGY_UNCONSTRAINED) return ask->topology_unconstrained;
    const char *name = text_of(view, *mode == TOPOLOGY_REQUIRED ? ask->topology_required
                                                                : ask->topology_preferred);
    *level = LIVE_NONE;
    for (uint32_t l = 0; l < spec->level_count; l++)
        if (!strcmp(spec->levels[l], name)) *level = l;
    return true;
}

static struct kube_bill bill_of(const struct kube_pods *pods)
{
    struct kube_bill bill;
    for (int r = 0; r < KUBE_RESOURCES; r++)
        bill.of[r] =
            pods->big_count * pods->big.of[r] + (pods->count - pods->big_count) * pods->small.of[r];
    return bill;
}

const char *kube_kueue_submit(struct kubernetes *kube, const struct policy_view *view,
                              uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    if (!grow_jobs(kueue, live)) {
        kube->out_of_memory = true;
        return NULL;
    }
    struct kueue_job *job = &kueue->jobs[live];
    *job = (struct kueue_job){ .bill = bill_of(kube_pods_of(kube, view, live)),
                               .queue = queue_of(view, live),
                               .admitted = LIVE_NONE };
    if (job->queue == LIVE_NONE) return "LocalQueue does not exist";
    enum topology_mode mode;
    uint32_t level = 0;
    if (wants_topology(view, live, &mode, &level) && level == LIVE_NONE)
        return "topology level does not exist";
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

static void give_back(struct kubernetes *kube, uint32_t live)
{
    struct kube_kueue *kueue = kube->kueue;
    struct kueue_job *job = &kueue->jobs[live];
    if (job->admitted == LIVE_NONE) return;
    kube_quota_change(&kueue->accounts[job->queue], &job->bill, -1);
    const struct kube_admitted last = kueue->admitted[--kueue->admitted_count];
    kueue->admitted[job->admitted] = last;
    kueue->jobs[last.row].admitted = job->admitted;
    job->admitted = LIVE_NONE;
    kube->own_releases++;
}

void kube_kueue_end(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                    bool evicted)
{
    enum topology_mode mode;
    uint32_t level;
    /* Nodes are assigned anew with the next admission. */
    if (evicted || wants_topology(view, live, &mode, &level)) give_back(kube, live);
}

void kube_kueue_leave(struct kubernetes *kube, uint32_t live)
{
    if (live >= kube->kueue->job_capacity) return;
    const struct kueue_job *job = &kube->kueue->jobs[live];
    if (job->queue != LIVE_NONE) kube_queue_remove(&kube->kueue->waiting[job->queue], live);
    give_back(kube, live);
}

/* ---- topology -------------------------------------------------------------------------------- */

/* Pods of this size that still fit a node of the class. */
static uint32_t places_in(const struct kubernetes *kube, const struct kube_node_class *class,
                          uint32_t request_class)
{
    const size_t cell = (size_t)request_class * kube->shapes.group_count + class->key.group;
    if (class->key.is_out || !kube->shapes.facts_fit[cell]) return 0;
    const struct kube_amounts *pod = &kube->shapes.pods[request_class].big;
    int64_t most = UINT32_MAX / 2;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) {
        if (pod->of[r] == 0) continue;
        const int64_t left = class->room.allocatable.of[r] - class->room.used.of[r];
        if (left / pod->of[r] < most) most = left > 0 ? left / pod->of[r] : 0;
    }
    return (uint32_t)most;
}

static bool assign_nodes(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                         enum topology_mode mode, uint32_t level)
{
    struct kube_kueue *kueue = kube->kueue;
    struct topology_tree *tree = &kueue->tree;
    const uint32_t request_class = view->live->jobs[live].request_class;
    uint32_t *places = tree->free[tree->level_count - 1];
    for (uint32_t node = 0; node < view->cluster->nodes; node++)
        places[node] =
            places_in(kube, &kube->nodes.classes[kube->nodes.class_of[node]], request_class);
    topology_sum(tree);
    return topology_assign(tree, kube_pods_of(kube, view, live)->count, mode, level,
                           kueue->assigned);
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

/* The quota does not do: who must go? *count targets in kueue->targets, rows of kueue->candidates. */
static enum verdict judge_preemption(struct kubernetes *kube, const struct policy_view *view,
                                     uint32_t live, uint32_t *count)
{
    struct kube_kueue *kueue = kube->kueue;
    const struct kueue_job *job = &kueue->jobs[live];
    const struct kube_account *own = &kueue->accounts[job->queue];
    if (own->within == KUEUE_NEVER && own->reclaim == KUEUE_NEVER) return EXCEEDED;
    if (kueue->admitted_count == 0) return EXCEEDED;
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
    enum topology_mode topology;
    uint32_t level = 0;
    if (wants_topology(view, live, &topology, &level) &&
        !assign_nodes(kube, view, live, topology, level))
        return EXCEEDED;
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
    kube_quota_change(&kueue->accounts[job->queue], &job->bill, +1);
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
        enum topology_mode mode;
        uint32_t level = 0;
        const bool assigned = wants_topology(view, best, &mode, &level) &&
                              assign_nodes(kube, view, best, mode, level);
        admit(kube, view, best);
        if (!assigned) {
            kube_enqueue_pods(kube, view, best);
            continue;
        }
        kube_start_on(kube, view, best, kueue->assigned, decision);
        return true;
    }
    return false;
}
