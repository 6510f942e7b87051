/* kube.c - see kube.h. */
#include "spec/kube.h"

#include "base/clock.h"

#include <stdlib.h>

void kube_defaults(struct kube_spec *kube)
{
    *kube = (struct kube_spec){
        .profile = { .strategy = FIT_LEAST_ALLOCATED,
                     .fit_weight = { [KUBE_CPU] = 1, [KUBE_MEMORY] = 1 },
                     .balanced_resource = { [KUBE_CPU] = true, [KUBE_MEMORY] = true },
                     .balanced = BALANCED_DELTA,
                     .weight_fit = 1,
                     .weight_balanced = 1,
                     .weight_taint = 3,
                     .weight_affinity = 2 },
        .gang_timeout_ns = 60 * NS_PER_S,
        .backoff_first_ns = NS_PER_S,
        .backoff_most_ns = 10 * NS_PER_S,
        .grace_ns = 30 * NS_PER_S,
        .preemption = true,
        .node_monitor_grace_ns = 50 * NS_PER_S,
        .toleration_ns = 300 * NS_PER_S,
        .replace_terminating = true,
        .backoff_limit = 6,
        .scan_ns = 10 * NS_PER_S,
        .give_up_ns = 900 * NS_PER_S,
        .unneeded_ns = 600 * NS_PER_S,
        .delay_after_add_ns = 600 * NS_PER_S,
        .utilization_threshold = 0.5,
    };
}

void kube_clear(struct kube_spec *kube)
{
    free(kube->queues);
    free(kube->groups);
    *kube = (struct kube_spec){ 0 };
}
