/* kube_kubelet.c - what happens on the node that a pod was bound to: which GPUs it gets, or that the kubelet refuses it; and
 * when the Job controller makes another pod (SCHEDULING 4, 5).
 *
 * The scheduler knows nothing of sockets. A pod that the topology manager refuses has failed with TopologyAffinityError: it
 * holds nothing, counts against backoffLimit, and a new one comes after the Job's back-off. The other pods of the job keep
 * what they have; whoever takes that away makes the controller wait for its back-off with all of them. */
#include "base/assert.h"
#include "base/bits.h"
#include "models/gpu_group.h"
#include "policy/devices.h"
#include "policy/kubernetes.h"

/* Source: the Job controller's back-off of failed pods. */
#define RESTART_FIRST_NS (10 * NS_PER_S)
#define RESTART_MOST_NS  (360 * NS_PER_S)

static const char refused_word[] = "TopologyAffinityError";

int64_t kube_restart_delay_ns(uint32_t failures)
{
    int64_t delay_ns = RESTART_FIRST_NS;
    for (uint32_t i = 1; i < failures && delay_ns < RESTART_MOST_NS; i++) delay_ns *= 2;
    return delay_ns < RESTART_MOST_NS ? delay_ns : RESTART_MOST_NS;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* What a pod asks of a node's device plugin: whole GPUs, or parts by their profile. */
struct device_ask {
    uint32_t node, size;
    const char *profile; /* NULL = whole GPUs                                                  */
    uint32_t available;  /* whole GPUs that are free                                            */
    struct devices_picked picked; /* for pods before it                                        */
};

static uint32_t free_gpus(const struct cluster *cluster, uint32_t node,
                          struct devices_picked picked)
{
    uint32_t available = cluster->free_mask[node];
    for (uint32_t p = 0; p < picked.count; p++)
        if (picked.parts[p].node == node) available &= ~picked.parts[p].mask;
    return available;
}

static struct kube_socket_counts count_devices(const struct kubernetes *kube,
                                               const struct device_ask *ask)
{
    const struct cluster *cluster = kube->nodes.cluster;
    const uint32_t group = cluster->group_of[ask->node];
    const struct kube_sockets *sockets = &kube->shapes.sockets[group];
    struct kube_socket_counts counts = { 0 };
    for (uint32_t s = 0; s < sockets->count; s++) {
        const uint32_t gpus = cluster->full_mask[ask->node] & sockets->gpus[s];
        if (!ask->profile) {
            counts.all[s] = (uint32_t)bits_count(gpus);
            counts.free[s] = (uint32_t)bits_count(gpus & ask->available);
            continue;
        }
        const struct server_group *devices = &kube->shapes.devices[group];
        counts.all[s] = (uint32_t)bits_count(gpus) * devices_per_gpu(devices, ask->profile);
        for (uint32_t left = gpus; left; left &= left - 1)
            counts.free[s] += devices_free_of(cluster, ask->node, devices, ask->profile,
                                              (uint32_t)__builtin_ctz(left), ask->picked);
    }
    return counts;
}

/* The GPUs that the topology manager leaves; 0: it refuses the pod. */
static uint32_t aligned_gpus(const struct kubernetes *kube, const struct device_ask *ask)
{
    const struct kube_sockets *sockets =
        kube->shapes.sockets ? &kube->shapes.sockets[kube->nodes.cluster->group_of[ask->node]]
                             : NULL;
    if (!sockets || ask->size == 0) return UINT32_MAX;
    const struct kube_socket_counts counts = count_devices(kube, ask);
    const struct kube_hint hint = kube_best_hint(&counts, sockets->count, ask->size);
    ASSERT(hint.sockets != 0);
    uint32_t gpus = 0;
    if (!kube_hint_admits(kube->shapes.topology_manager, hint)) return 0;
    for (uint32_t s = 0; s < sockets->count; s++)
        if (hint.sockets >> s & 1) gpus |= sockets->gpus[s];
    return gpus;
}

static uint32_t lowest(uint32_t gpus, uint32_t count)
{
    uint32_t mask = 0;
    for (; count > 0 && gpus; count--, gpus &= gpus - 1) mask |= gpus & -gpus;
    return mask;
}

/* The GPU of a part of so many thousandths: the one in parts with the least left that has room, else the lowest whole one. */
static uint32_t gpu_of_fraction(const struct cluster *cluster, const struct device_ask *ask,
                                uint32_t whole, uint32_t units)
{
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t bit = 0; bit < cluster->gpus_per_node; bit++) {
        const uint64_t gpu = (uint64_t)ask->node * cluster->gpus_per_node + bit;
        uint32_t left = (uint32_t)CLUSTER_UNITS;
        if (cluster->broken_mask[ask->node] >> bit & 1) continue;
        if (cluster->holder[gpu] == LIVE_SHARED) left = cluster->share_free[gpu];
        for (uint32_t p = 0; p < ask->picked.count; p++)
            if (ask->picked.parts[p].node == ask->node && ask->picked.parts[p].mask == 1u << bit)
                left -= ask->picked.parts[p].share_units;
        const bool in_parts = cluster->holder[gpu] == LIVE_SHARED || left < (uint32_t)CLUSTER_UNITS;
        if (!in_parts || left < units || left >= least) continue;
        best = 1u << bit;
        least = left;
    }
    return best ? best : lowest(whole, 1);
}

/* The part of a pod on its node beside those before it: whole GPUs, the best linked ones where their links are known, or one
 * part of a shared one. False: the kubelet refuses the pod. */
static bool part_of(const struct kubernetes *kube, uint32_t node, const struct kube_amounts *pod,
                    struct devices_picked picked, struct part *part)
{
    const struct cluster *cluster = kube->nodes.cluster;
    const uint32_t group = cluster->group_of[node];
    *part = (struct part){ .node = node, .gpus = (uint32_t)pod->of[KUBE_GPU] };
    const char *profile = kube_part_profile(&kube->shapes, group, pod);
    const uint32_t units = (uint32_t)(pod->of[KUBE_FRACTION] * (CLUSTER_UNITS / KUBE_GPU_MILLI));
    const struct device_ask ask = { .node = node,
                                    .size = profile ? 1 : part->gpus,
                                    .profile = profile,
                                    .available = free_gpus(cluster, node, picked),
                                    .picked = picked };
    const uint32_t aligned = aligned_gpus(kube, &ask);
    if (aligned == 0) return false;
    const bool linked = kube->shapes.devices && kube->shapes.links_known[group];
    if (profile) {
        const bool found = devices_pick(cluster, node, &kube->shapes.devices[group], profile,
                                        aligned, picked, part);
        ASSERT(found);
    } else if (units) {
        part->share_units = units;
        part->mask = gpu_of_fraction(cluster, &ask, ask.available, units);
    } else if (part->gpus && linked)
        part->mask = gpu_group_preferred(kube->shapes.devices[group].link_score,
                                         ask.available & aligned, 0, part->gpus);
    else if (part->gpus && kube->shapes.sockets)
        part->mask = lowest(ask.available & aligned, part->gpus);
    part->cores_milli = (uint32_t)pod->of[KUBE_CPU];
    part->memory_bytes = (uint64_t)pod->of[KUBE_MEMORY];
    return true;
}

/* ---- pods that fail -------------------------------------------------------------------------- */

/* A pod on its way to the handlers, and one that the Job controller will make. */
struct refusal {
    struct part part;
    uint32_t live;
};
struct replacement {
    int64_t at_ns;
    uint32_t live, serial;
};

void kube_kubelet_init(struct kubernetes *kube)
{
    log_init(&kube->refusals, sizeof(struct refusal), 0);
    log_init(&kube->replacements, sizeof(struct replacement), 0);
    kube->replacement_ns = TIME_NEVER;
}

void kube_kubelet_clear(struct kubernetes *kube)
{
    log_clear(&kube->refusals);
    log_clear(&kube->replacements);
}

/* Beyond backoffLimit the Job has failed. */
static void pods_failed(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                        uint32_t count)
{
    struct kube_job *job = &kube->jobs[live];
    const struct live_job *row = &view->live->jobs[live];
    job->refused += count;
    job->crashes += count;
    if (job->crashes > view->scenario->kube.backoff_limit) {
        const bool ran = row->first_start_ns != TIME_NEVER;
        kube_tell(kube, view, ran ? DECIDE_CANCEL : DECIDE_REFUSE, live,
                  "BackoffLimitExceeded: its pods failed with TopologyAffinityError");
        return;
    }
    job->replaced_ns = time_add(kube->now_ns, kube_restart_delay_ns(job->crashes));
    const struct replacement replacement = { job->replaced_ns, live, row->serial };
    if (!log_append(&kube->replacements, &replacement)) kube->out_of_memory = true;
    if (job->replaced_ns < kube->replacement_ns) kube->replacement_ns = job->replaced_ns;
}

struct kube_admitted_pods kube_admit_pods(struct kubernetes *kube, const struct policy_view *view,
                                          uint32_t live, uint32_t first, uint32_t count)
{
    const struct kube_pods *pods = kube_pods_of(kube, view, live);
    struct kube_admitted_pods admitted = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        struct refusal refusal = { .live = live };
        const struct kube_amounts *pod = kube_pod(pods, first + i);
        const struct devices_picked picked = { kube->parts, admitted.count };
        if (part_of(kube, kube->parts[i].node, pod, picked, &refusal.part)) {
            kube->parts[admitted.count++] = refusal.part;
            admitted.big_count += first + i < pods->big_count;
        } else if (!log_append(&kube->refusals, &refusal))
            kube->out_of_memory = true;
    }
    if (admitted.count < count) pods_failed(kube, view, live, count - admitted.count);
    return admitted;
}

bool kube_next_refusal(struct kubernetes *kube, struct decision *decision)
{
    if (kube->next_refusal == kube->refusals.count) {
        kube->next_refusal = kube->refusals.count = 0;
        return false;
    }
    const struct refusal *refusal =
        &LOG_ITEMS(&kube->refusals, struct refusal)[kube->next_refusal++];
    *decision = (struct decision){ .what = DECIDE_FAIL_POD,
                                   .live = refusal->live,
                                   .parts = &refusal->part,
                                   .part_count = 1,
                                   .reason = refused_word };
    return true;
}

void kube_replace_pods(struct kubernetes *kube, const struct policy_view *view)
{
    if (kube->now_ns < kube->replacement_ns) return;
    struct replacement *rows = LOG_ITEMS(&kube->replacements, struct replacement);
    uint64_t kept = 0;
    kube->replacement_ns = TIME_NEVER;
    for (uint64_t i = 0; i < kube->replacements.count; i++) {
        const struct replacement row = rows[i];
        struct kube_job *job = &kube->jobs[row.live];
        if (row.at_ns > kube->now_ns) {
            if (row.at_ns < kube->replacement_ns) kube->replacement_ns = row.at_ns;
            rows[kept++] = row;
            continue;
        }
        if (view->live->jobs[row.live].serial != row.serial || job->refused == 0 ||
            job->replaced_ns > kube->now_ns)
            continue; /* it is gone, suspended, or another pod has failed since */
        job->refused = 0;
        kube_queue_remove(kube_queue_of(kube, row.live), row.live);
        kube_enqueue_pods(kube, view, row.live);
    }
    kube->replacements.count = kept;
}

const char *kube_refused_word(const struct kube_job *job)
{
    return job->refused > 0 ? refused_word : NULL;
}
