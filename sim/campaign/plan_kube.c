/* plan_kube.c - see plan_kube.h. */
#include "campaign/plan_kube.h"

static bool shares_gpus(const struct scenario *scenario)
{
    for (uint32_t l = 0; l < scenario->layout_count; l++)
        for (uint32_t g = 0; g < scenario->layouts[l].group_count; g++)
            if (scenario->layouts[l].groups[g].sharing != SHARING_NONE) return true;
    return false;
}

static bool some_ask_for_parts(const struct jobs *jobs)
{
    for (uint32_t a = 0; a < jobs->ask_count; a++)
        if (jobs->asks[a].gpu_milli || jobs->asks[a].instance != TEXT_NONE) return true;
    return false;
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
    if (kube->topology_manager != TM_NONE)
        return diag_error(diag, file,
                          "scheduler.kubernetes.topologyManagerPolicy is not built yet");
    if (shares_gpus(scenario) || some_ask_for_parts(jobs))
        return diag_error(diag, file,
                          "parts of GPUs are not built yet under scheduler.kind kubernetes");
    return STATUS_OK;
}
