/* kube_pods.h - the pods of a job, by request class: what each asks for and where it may go.
 *
 * A job that asks in Kubernetes' words says it. Any other job of a trace is one pod where one node holds its GPUs,
 * else as many pods as the plain shape has servers, all of them whole ones under `shape: model`. Such a pod takes the
 * cores and memory that the trace says, else its GPUs' even part of the poorest node that holds it, so that hosts never
 * keep a GPU from it. A group whose GPUs are shared out offers as many nvidia.com/gpu as it has parts, or its MIG
 * profiles by name; a pod gets at most one such part (failRequestsGreaterThanOne). Thousandths of a GPU, which only KAI knows,
 * come from GPUs that are not shared out otherwise. Pods of one job differ by at most one size: the first `big_count` are big, the others small. */
#ifndef GPUPLAN_POLICY_KUBE_PODS_H
#define GPUPLAN_POLICY_KUBE_PODS_H

#include "base/arena.h"
#include "policy/kube_numa.h"
#include "policy/kube_parts.h"
#include "policy/kube_quota.h"
#include "policy/kube_score.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* Pods that a node runs at most: the kubelet's default. */
#define KUBE_NODE_PODS 110

struct kube_pods {
    uint32_t count, big_count;
    struct kube_amounts big, small;
    struct kube_wish wish;
    const char *never; /* why no empty cluster could ever run it, a constant text; NULL = it could  */
};

/* What the nodes of a group are. */
struct kube_group_facts {
    struct kube_facts facts;
    struct kube_amounts allocatable;
    uint32_t nodes;
};

/* Which GPUs belong to which socket: by the first of their cores where gpu_cores says them, else in equal parts. */
struct kube_sockets {
    uint32_t count, gpus[KUBE_SOCKETS]; /* masks                                               */
};

/* MIG profiles that some node offers by name, each an extended resource "nvidia.com/mig-PROFILE". */
enum { KUBE_PROFILES = KUBE_FRACTION - KUBE_EXTENDED };

struct kube_shapes {
    const struct server_group *devices; /* [group_count] how their GPUs are shared out; NULL = whole ones */
    bool some_cut;                   /* some group's GPUs are shared out                        */
    bool some_fractions;             /* some pod asks for thousandths of a GPU                   */
    bool *links_known;               /* [group_count] its pair scores are not all 0                */
    enum topology_manager topology_manager;
    struct kube_sockets *sockets;    /* [group_count]; NULL under topology manager none            */
    const char *profiles[KUBE_PROFILES]; /* resource KUBE_EXTENDED + i                           */
    uint32_t profile_count;
    struct kube_group_facts *groups; /* [group_count] as the cluster's                           */
    uint32_t group_count;
    struct kube_pods *pods;          /* [class_count] of the requests                            */
    bool *facts_fit;                 /* [class_count * group_count] taints, selector, affinity    */
    int64_t *raw_taints, *raw_affinity; /* the same                                              */
};

/* False: memory is out. */
bool kube_shapes_init(struct kube_shapes *shapes, const struct policy_view *view,
                      struct arena *arena);

static inline const struct kube_amounts *kube_pod(const struct kube_pods *pods, uint32_t index)
{
    return index < pods->big_count ? &pods->big : &pods->small;
}

/* The profile that the group's parts go by: "" for those that pass for GPUs, NULL when its GPUs are whole. A part of
 * nvidia.com/gpu is resource KUBE_GPU. */
const char *kube_part_profile(const struct kube_shapes *shapes, uint32_t group,
                              const struct kube_amounts *pod);

/* What a grant is of a pod's request. */
struct kube_amounts kube_grant_amounts(const struct kube_shapes *shapes,
                                       const struct cluster *cluster, const struct grant *grant);

/* What all pods of a job ask for. */
struct kube_bill kube_bill_of(const struct kube_pods *pods);

/* The queue of a job: the one that it names (LIVE_NONE when that is not there), else the one called as its user, else
 * "default", else the first. */
uint32_t kube_queue_named(const struct policy_view *view, uint32_t live);

#endif
