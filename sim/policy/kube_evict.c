/* kube_evict.c - preemption in a running cluster: who must end, where the place is kept, and when the pods are gone
 * (SCHEDULING 3.4).
 *
 * Victims are chosen pod by pod as kube_preempt.h says. What a terminating job holds counts as gone for whoever looks
 * for victims, and as in use for whoever wants a place now. */
#include "base/assert.h"
#include "policy/devices.h"
#include "policy/kube_batch.h"
#include "policy/kube_preempt.h"
#include "policy/kubernetes.h"

#include <stdlib.h>

bool kube_evict_init(struct kubernetes *kube)
{
    log_init(&kube->terminations, sizeof(struct kube_termination), 0);
    log_init(&kube->levels, sizeof(struct kube_level), 0);
    log_init(&kube->marked, sizeof(uint32_t), 0);
    return true;
}

void kube_evict_clear(struct kubernetes *kube)
{
    log_clear(&kube->terminations);
    log_clear(&kube->levels);
    log_clear(&kube->marked);
    free(kube->pods);
    free(kube->pod_lives);
    free(kube->victims);
    free(kube->spare);
}

void kube_count_priority(struct kubernetes *kube, int32_t priority, int by)
{
    struct kube_level *levels = LOG_ITEMS(&kube->levels, struct kube_level);
    for (uint64_t i = 0; i < kube->levels.count; i++) {
        if (levels[i].priority != priority) continue;
        ASSERT(by > 0 || levels[i].jobs > 0);
        levels[i].jobs = (uint32_t)((int)levels[i].jobs + by);
        return;
    }
    ASSERT(by > 0);
    const struct kube_level level = { priority, (uint32_t)by };
    if (!log_append(&kube->levels, &level)) kube->out_of_memory = true;
}

static bool some_lower(const struct kubernetes *kube, int32_t priority)
{
    const struct kube_level *levels = LOG_ITEMS(&kube->levels, struct kube_level);
    for (uint64_t i = 0; i < kube->levels.count; i++)
        if (levels[i].jobs > 0 && levels[i].priority < priority) return true;
    return false;
}

/* ---- terminations ---------------------------------------------------------------------------- */

void kube_terminate(struct kubernetes *kube, const struct policy_view *view, uint32_t live)
{
    struct kube_job *job = &kube->jobs[live];
    const struct kube_termination termination = {
        .at_ns = time_add(kube->now_ns, view->scenario->kube.grace_ns),
        .live = live,
        .serial = view->live->jobs[live].serial,
        .start_no = job->start_no,
    };
    job->terminating = true;
    if (!log_append(&kube->terminations, &termination)) kube->out_of_memory = true;
}

static const struct kube_termination *next_termination(const struct kubernetes *kube)
{
    if (kube->next_termination == kube->terminations.count) return NULL;
    return &LOG_ITEMS(&kube->terminations, struct kube_termination)[kube->next_termination];
}

int64_t kube_termination_due_ns(const struct kubernetes *kube)
{
    const struct kube_termination *next = next_termination(kube);
    return next ? next->at_ns : TIME_NEVER;
}

bool kube_next_termination(struct kubernetes *kube, const struct policy_view *view,
                           struct decision *decision)
{
    const struct kube_termination *next;
    while ((next = next_termination(kube)) && next->at_ns <= kube->now_ns) {
        kube->next_termination++;
        if (kube->next_termination == kube->terminations.count)
            kube->next_termination = kube->terminations.count = 0;
        const struct live_job *live = &view->live->jobs[next->live];
        const struct kube_job *job = &kube->jobs[next->live];
        if (live->serial != next->serial || job->start_no != next->start_no || !job->terminating)
            continue; /* it ended by itself */
        if (live->state == LIVE_RUNNING) {
            *decision = (struct decision){ .what = DECIDE_PREEMPT, .live = next->live };
            return true;
        }
        if (live->state == LIVE_WAITING && job->holds) {
            *decision = (struct decision){ .what = DECIDE_GIVE_BACK, .live = next->live };
            return true;
        }
    }
    return false;
}

/* ---- places that are kept -------------------------------------------------------------------- */

void kube_unkeep(struct kubernetes *kube, uint32_t live)
{
    if (kube->jobs[live].kept == 0) return;
    for (uint32_t node = 0; node < kube->nodes.cluster->nodes; node++)
        kube_nodes_unkeep_all(&kube->nodes, node, live);
    kube->jobs[live].kept = 0;
    kube->own_releases++;
}

uint32_t kube_kept_node(const struct kubernetes *kube, const struct kube_candidate *candidate)
{
    const struct kube_nodes *nodes = &kube->nodes;
    if (kube->jobs[candidate->live].kept == 0) return KUBE_NO_PLACE;
    for (uint32_t node = 0; node < nodes->cluster->nodes; node++)
        if (nodes->kept[node].live == candidate->live &&
            kube_cycle_fits(&kube->cycle, &nodes->classes[nodes->class_of[node]], candidate))
            return node;
    return KUBE_NO_PLACE;
}

/* ---- victims --------------------------------------------------------------------------------- */

static bool grow_scratch(struct kubernetes *kube, uint32_t count)
{
    if (count <= kube->pod_capacity) return true;
    const uint32_t more = 2 * count;
    free(kube->pods);
    free(kube->pod_lives);
    free(kube->victims);
    free(kube->spare);
    kube->pods = malloc(more * sizeof *kube->pods);
    kube->pod_lives = malloc(more * sizeof *kube->pod_lives);
    kube->victims = malloc(more * sizeof *kube->victims);
    kube->spare = malloc(3 * (size_t)more * sizeof *kube->spare);
    kube->pod_capacity = more;
    return kube->pods && kube->pod_lives && kube->victims && kube->spare;
}

/* The pods of a node that stay unless they are told to go. Returns their number. */
static uint32_t pods_on(struct kubernetes *kube, const struct policy_view *view, uint32_t node,
                        uint32_t live)
{
    const struct cluster *cluster = view->cluster;
    uint32_t count = 0, all = 0;
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
         row = cluster->grants[row].next_on_node)
        all++;
    if (!grow_scratch(kube, all)) {
        kube->out_of_memory = true;
        return 0;
    }
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
         row = cluster->grants[row].next_on_node) {
        const struct grant *grant = &cluster->grants[row];
        if (kube->jobs[grant->live].terminating) continue;
        kube->pod_lives[count] = grant->live;
        kube->pods[count++] = (struct kube_running){
            .request = kube_grant_amounts(&kube->shapes, cluster, grant),
            .start_ns = view->live->attempts[grant->live].start_ns,
            .priority = kube->jobs[grant->live].priority,
            .budget = KUBE_NO_BUDGET,
            .gpus = grant->mask,
            .milli = grant->share_units ? grant->share_units / (CLUSTER_UNITS / KUBE_GPU_MILLI)
                                        : KUBE_GPU_MILLI,
        };
        if (!kube->batch) continue;
        struct kube_running *pod = &kube->pods[count - 1];
        const struct kube_bill bill = kube_batch_pod_bill(&pod->request);
        pod->priority = kube_batch_rank(kube, view, grant->live, live, &bill, count == 1);
    }
    return count;
}

/* Whether places kept there are not for the pod: those of jobs that are not less important, and of earlier pods of its own
 * job. */
static bool is_kept_from(const struct kube_kept *kept, uint32_t live, int32_t priority)
{
    return kept->live != LIVE_NONE && (kept->live == live || kept->priority >= priority);
}

/* The GPUs of a node without its pods, where thousandths of them are given out. Kept parts of others stand for whole ones. */
static struct kube_gpus gpus_for(const struct kubernetes *kube, uint32_t node, uint32_t live,
                                 int32_t priority)
{
    const struct cluster *cluster = kube->nodes.cluster;
    const struct kube_kept *kept = &kube->nodes.kept[node];
    struct kube_gpus gpus = { .in_service =
                                  cluster->full_mask[node] & ~cluster->broken_mask[node] };
    if (!is_kept_from(kept, live, priority)) return gpus;
    gpus.reserved = (uint32_t)kept->amounts.of[KUBE_GPU];
    if (kept->amounts.of[KUBE_FRACTION] == 0) return gpus;
    *(kept->live == live ? &gpus.own : &gpus.reserved) += (uint32_t)kept->amounts.of[KUBE_PODS];
    return gpus;
}

/* What the pod could have of the node if all lower pods went: its allocatable without what is kept from it. */
static struct kube_amounts allocatable_for(const struct kubernetes *kube, uint32_t node,
                                           uint32_t live, int32_t priority)
{
    const struct kube_nodes *nodes = &kube->nodes;
    const struct kube_node_class *class = &nodes->classes[nodes->class_of[node]];
    const struct kube_kept *kept = &nodes->kept[node];
    struct kube_amounts allocatable = class->room.allocatable;
    if (!is_kept_from(kept, live, priority)) return allocatable;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) allocatable.of[r] -= kept->amounts.of[r];
    return allocatable;
}

/* Whether some pod of the node could be a victim, and whether one is ending: most nodes have neither. */
struct glance {
    bool victims, ending;
};

static struct glance glance_at(const struct kubernetes *kube, const struct policy_view *view,
                               uint32_t node, const struct kube_candidate *candidate)
{
    const struct cluster *cluster = view->cluster;
    struct glance glance = { false, false };
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE && !glance.victims;
         row = cluster->grants[row].next_on_node) {
        const uint32_t live = cluster->grants[row].live;
        if (kube->jobs[live].terminating)
            glance.ending = true;
        else if (kube->batch)
            glance.victims = kube_batch_may_lose(kube, view, live, candidate->live);
        else
            glance.victims = kube->jobs[live].priority < candidate->priority;
    }
    return glance;
}

/* The loss of one node; the victims' rows in kube->victims are of kube->pods. */
static struct kube_loss loss_of(struct kubernetes *kube, const struct policy_view *view,
                                uint32_t node, const struct kube_candidate *candidate)
{
    struct kube_loss loss = { 0 };
    const struct kube_node_class *class = &kube->nodes.classes[kube->nodes.class_of[node]];
    const size_t cell =
        (size_t)candidate->request_class * kube->shapes.group_count + class->key.group;
    if (class->key.is_out || !kube->shapes.facts_fit[cell]) return loss;
    const struct kube_amounts *pod =
        kube_pod(&kube->shapes.pods[candidate->request_class], candidate->index);
    const struct kube_amounts allocatable =
        allocatable_for(kube, node, candidate->live, candidate->priority);
    const struct kube_gpus gpus = gpus_for(kube, node, candidate->live, candidate->priority);
    const bool by_gpu =
        kube->shapes.some_fractions &&
        !(kube->shapes.devices && devices_cut(&kube->shapes.devices[class->key.group]));
    const struct kube_gpus *one_by_one = by_gpu ? &gpus : NULL;
    if (!kube_fits_beside(&allocatable, one_by_one, NULL, 0, pod)) return loss;
    const struct glance glance = glance_at(kube, view, node, candidate);
    if (!glance.victims && !glance.ending && !by_gpu) {
        loss.possible = kube_short_amounts(&allocatable, &class->room.used, pod) == 0;
        return loss;
    }
    const uint32_t count = pods_on(kube, view, node, candidate->live);
    loss = kube_victims(&allocatable, one_by_one, kube->pods, count, pod, candidate->priority, NULL,
                        kube->victims, kube->spare);
    if (loss.possible) return loss;
    /* No lower pod: it may still fit, when those that are terminating are gone. */
    loss.possible = kube_fits_beside(&allocatable, one_by_one, kube->pods, count, pod);
    return loss;
}

/* The node that loses least, or KUBE_NO_PLACE. */
static uint32_t best_node(struct kubernetes *kube, const struct policy_view *view,
                          const struct kube_candidate *candidate)
{
    uint32_t best = KUBE_NO_PLACE;
    struct kube_loss best_loss = { 0 };
    if (kube->batch) kube_batch_count_ending(kube, view);
    for (uint32_t node = 0; node < view->cluster->nodes; node++) {
        const struct kube_loss loss = loss_of(kube, view, node, candidate);
        if (!loss.possible) continue;
        if (best != KUBE_NO_PLACE && !kube_loss_is_less(&loss, &best_loss)) continue;
        best = node;
        best_loss = loss;
        if (loss.victim_count == 0) break; /* nobody loses less */
    }
    return best;
}

/* Takes back what a try that failed had marked. */
static void forget_marks(struct kubernetes *kube)
{
    const uint32_t *marked = LOG_ITEMS(&kube->marked, uint32_t);
    for (uint64_t i = 0; i < kube->marked.count; i++) kube->jobs[marked[i]].terminating = false;
    kube->marked.count = 0;
}

/* Tells the marked jobs to end. */
static void end_marked(struct kubernetes *kube, const struct policy_view *view)
{
    const uint32_t *marked = LOG_ITEMS(&kube->marked, uint32_t);
    for (uint64_t i = 0; i < kube->marked.count; i++) kube_terminate(kube, view, marked[i]);
    kube->marked.count = 0;
}

uint32_t kube_evict_for(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                        uint32_t count, bool together)
{
    struct kube_job *job = &kube->jobs[live];
    /* The pods are gone and it still does not fit: something else happened to these nodes. */
    if (job->kept && kube->now_ns > job->kept_until_ns) kube_unkeep(kube, live);
    kube_nodes_refresh(&kube->nodes);
    if (!view->scenario->kube.preemption || job->never_preempts || job->kept >= count ||
        (!kube->batch && !some_lower(kube, job->priority)))
        return job->kept;
    /* Who reclaims is above all that may be evicted for it, and above all others at its places. */
    const int32_t priority = kube->batch ? INT32_MAX : job->priority;
    const uint32_t request_class = view->live->jobs[live].request_class, before = job->kept;
    struct kube_candidate candidate = { .request_class = request_class,
                                        .live = live,
                                        .priority = priority };
    kube->marked.count = 0;
    while (job->kept < count) {
        candidate.index = kube_next_pod(job) + job->kept;
        const uint32_t node = best_node(kube, view, &candidate);
        if (node == KUBE_NO_PLACE) break;
        const struct kube_loss loss = loss_of(kube, view, node, &candidate);
        for (uint32_t v = 0; v < loss.victim_count; v++) {
            const uint32_t victim = kube->pod_lives[kube->victims[v]];
            if (kube->jobs[victim].terminating) continue;
            kube->jobs[victim].terminating = true;
            if (!log_append(&kube->marked, &victim)) kube->out_of_memory = true;
        }
        kube_nodes_keep(&kube->nodes, node, live, priority,
                        kube_pod(&kube->shapes.pods[request_class], candidate.index));
        kube_nodes_refresh(&kube->nodes);
        job->kept++;
    }
    if (together && job->kept < count) {
        forget_marks(kube);
        if (before < job->kept) kube_unkeep(kube, live);
        kube_nodes_refresh(&kube->nodes);
        return 0;
    }
    end_marked(kube, view);
    job->kept_until_ns = time_add(kube->now_ns, view->scenario->kube.grace_ns);
    return job->kept;
}
