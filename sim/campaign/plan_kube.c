/* plan_kube.c - see plan_kube.h. */
#include "campaign/plan_kube.h"

#include "policy/kube_numa.h"

static bool some_ask_for_thousandths(const struct jobs *jobs)
{
    for (uint32_t a = 0; a < jobs->ask_count; a++)
        if (jobs->asks[a].gpu_milli) return true;
    return false;
}

/* A word of a queue that its system does not have, or NULL. Left out, weights are 1, bounds INT64_MAX, all else 0. */
static const char *word_of_another(enum kube_gang gang, const struct kube_cluster_queue *queue)
{
    const bool kueue = gang == GANG_KUEUE, volcano = gang == GANG_VOLCANO, kai = gang == GANG_KAI;
    if (!kueue && queue->cohort[0]) return "cohort";
    if (!kueue && queue->strategy != BEST_EFFORT_FIFO) return "queueingStrategy";
    if (!kueue &&
        (queue->within_cluster_queue != KUEUE_NEVER ||
         queue->reclaim_within_cohort != KUEUE_NEVER || queue->borrow_within_cohort != KUEUE_NEVER))
        return "preemption";
    if (volcano && queue->nominal_gpus != INT64_MAX) return "quota";
    if (!volcano && queue->weight != 1) return "weight";
    if (!volcano && queue->capability_gpus != INT64_MAX) return "capability";
    if (!kai && queue->over_quota_weight != 1) return "overQuotaWeight";
    if (!kai && queue->limit_gpus != INT64_MAX) return "limit";
    if (!kai && queue->priority != 0) return "priority";
    return NULL;
}

/* What is written for one gang rule has no effect under another: it is refused, not forgotten. */
static enum status check_gang(const struct kube_spec *kube, struct place file, struct diag *diag)
{
    static const char *const names[] = { [GANG_NONE] = "none",
                                         [GANG_COSCHEDULING] = "coscheduling",
                                         [GANG_VOLCANO] = "volcano",
                                         [GANG_KUEUE] = "kueue",
                                         [GANG_KAI] = "kai" };
    const bool queued =
        kube->gang == GANG_KUEUE || kube->gang == GANG_VOLCANO || kube->gang == GANG_KAI;
    if (kube->gang != GANG_VOLCANO && kube->binpack_weight > 0)
        return diag_error(diag, file, "scheduler.kubernetes.binpack is Volcano's; gang is '%s'",
                          names[kube->gang]);
    if (!queued && kube->queue_count > 0)
        return diag_error(diag, file,
                          "scheduler.kubernetes.clusterQueues are for gang kueue, volcano and kai; "
                          "gang is '%s'",
                          names[kube->gang]);
    if (!queued && kube->level_count > 0)
        return diag_error(diag, file,
                          "scheduler.kubernetes.topology is for gang kueue, volcano and kai; gang "
                          "is '%s'",
                          names[kube->gang]);
    for (uint32_t q = 0; q < kube->queue_count; q++) {
        const char *word = word_of_another(kube->gang, &kube->queues[q]);
        if (word)
            return diag_error(diag, file,
                              "scheduler.kubernetes.clusterQueues '%s': %s is no word of '%s'",
                              kube->queues[q].name, word, names[kube->gang]);
    }
    return STATUS_OK;
}

/* A kubelet with more NUMA nodes than it manages does not start, unless its policy is none. */
static enum status check_sockets(const struct kube_spec *kube, const struct scenario *scenario,
                                 struct diag *diag)
{
    const struct place file = { .file = scenario->path };
    for (uint32_t l = 0; kube->topology_manager != TM_NONE && l < scenario->layout_count; l++)
        for (uint32_t g = 0; g < scenario->layouts[l].group_count; g++)
            if (scenario->layouts[l].groups[g].sockets > KUBE_SOCKETS)
                return diag_error(diag, file,
                                  "layout '%s': %u sockets; the kubelet's topology manager knows 1 "
                                  "to %d NUMA nodes, with more topologyManagerPolicy must be none",
                                  scenario->layouts[l].name, scenario->layouts[l].groups[g].sockets,
                                  KUBE_SOCKETS);
    return STATUS_OK;
}

enum status plan_check_kubernetes(const struct scenario *under, const struct scenario *scenario,
                                  const struct jobs *jobs, struct diag *diag)
{
    const struct place file = { .file = scenario->path };
    const struct kube_spec *kube = &under->kube;
    if (kube->gang == GANG_KUEUE && kube->queue_count == 0)
        return diag_error(diag, file, "scheduler.kubernetes.gang 'kueue' needs clusterQueues");
    if (kube->profile.strategy == FIT_REQUESTED_TO_CAPACITY && kube->profile.shape_count == 0)
        return diag_error(diag, file,
                          "scheduler.kubernetes: RequestedToCapacityRatio needs a shape");
    TRY(check_gang(kube, file, diag));
    TRY(check_sockets(kube, scenario, diag));
    if (!some_ask_for_thousandths(jobs)) return STATUS_OK;
    if (kube->gang != GANG_KAI)
        return diag_error(
            diag, file,
            "jobs of gpu_milli: of the schedulers of Kubernetes only KAI places "
            "thousandths of a GPU (scheduler.kubernetes.gang kai); elsewhere GPUs are "
            "shared out by layouts[].servers.sharing: time_slice, mps, mig_single or "
            "mig_mixed, and a pod asks for one nvidia.com/gpu");
    if (kube->autoscaler)
        return diag_error(
            diag, file, "jobs of gpu_milli: scheduler.kubernetes.autoscaler knows whole GPUs only");
    return STATUS_OK;
}
