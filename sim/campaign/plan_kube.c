/* plan_kube.c - see plan_kube.h. */
#include "campaign/plan_kube.h"

static bool some_ask_for_thousandths(const struct jobs *jobs)
{
    for (uint32_t a = 0; a < jobs->ask_count; a++)
        if (jobs->asks[a].gpu_milli) return true;
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
    if (some_ask_for_thousandths(jobs))
        return diag_error(diag, file,
                          "jobs of gpu_milli are not built yet under scheduler.kind kubernetes");
    return STATUS_OK;
}
