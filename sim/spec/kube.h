/* kube.h - `scheduler.kubernetes`: profile, gangs, queues, autoscaler, eviction (SCHEDULING.md 3 to 5).
 *
 * Field names are Kubernetes' own. Lists are owned by the struct (malloc). */
#ifndef GPUPLAN_SPEC_KUBE_H
#define GPUPLAN_SPEC_KUBE_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum kube_resource { KUBE_CPU, KUBE_MEMORY, KUBE_GPU, KUBE_RESOURCES };
enum fit_strategy { FIT_LEAST_ALLOCATED, FIT_MOST_ALLOCATED, FIT_REQUESTED_TO_CAPACITY };
enum balanced_version { BALANCED_ABSOLUTE, BALANCED_DELTA };
enum kube_gang { GANG_NONE, GANG_COSCHEDULING, GANG_VOLCANO, GANG_KUEUE, GANG_KAI };
enum topology_manager { TM_NONE, TM_BEST_EFFORT, TM_RESTRICTED, TM_SINGLE_NUMA_NODE };
enum kueue_strategy { BEST_EFFORT_FIFO, STRICT_FIFO };
enum kueue_preempt { KUEUE_NEVER, KUEUE_LOWER_PRIORITY, KUEUE_LOWER_OR_NEWER_EQUAL, KUEUE_ANY };

enum { SHAPE_POINTS = 16 };
struct kube_profile {
    enum fit_strategy strategy;
    uint32_t fit_weight[KUBE_RESOURCES];  /* resources of the scoringStrategy; 0 = not in it        */
    uint32_t shape_count;
    struct {
        uint32_t utilization, score; /* 0..100, 0..10 */
    } shape[SHAPE_POINTS];
    bool balanced_resource[KUBE_RESOURCES];
    enum balanced_version balanced;
    uint32_t weight_fit, weight_balanced, weight_taint, weight_affinity; /* 1 1 3 2                 */
    uint32_t percentage_of_nodes_to_score; /* 0 = adaptive                                        */
};

struct kube_cluster_queue {
    char name[LIMIT_NAME_BYTES], cohort[LIMIT_NAME_BYTES];
    int64_t nominal_gpus, nominal_cpu_milli, nominal_memory_bytes; /* INT64_MAX = no limit          */
    int64_t borrowing_gpus, lending_gpus;                          /* INT64_MAX = no limit          */
    enum kueue_strategy strategy;
    enum kueue_preempt within_cluster_queue, reclaim_within_cohort, borrow_within_cohort;
    /* Volcano and KAI */
    double weight, over_quota_weight; /* 1 */
    int64_t capability_gpus, limit_gpus; /* INT64_MAX = no limit */
    int32_t priority;
};

struct kube_group { /* node group of the autoscaler */
    char group[LIMIT_NAME_BYTES]; /* a server group of the layout                                   */
    uint32_t min, max;
    int64_t provision_ns;
    double price;
    int32_t priority;
};

/* Lines of lists as the scenario writes them, before they become arrays. */
struct kube_resource_line {
    char name[LIMIT_NAME_BYTES];
    uint32_t weight;
};
struct kube_shape_line {
    uint32_t utilization, score;
};
struct kube_quota_line {
    char name[LIMIT_NAME_BYTES], nominal[LIMIT_NAME_BYTES];
    int64_t borrowing, lending; /* INT64_MAX = no limit                                          */
};
struct kube_level_line {
    char name[LIMIT_NAME_BYTES];
    uint32_t nodes; /* 0 = of a leaf                                                             */
};

enum kube_expander { EXPAND_RANDOM, EXPAND_LEAST_WASTE, EXPAND_MOST_PODS, EXPAND_PRIORITY, EXPAND_PRICE };

struct kube_spec {
    struct kube_profile profile;
    enum kube_gang gang;
    int64_t gang_timeout_ns;   /* scheduleTimeoutSeconds; 60 s                                     */
    double binpack_weight;     /* Volcano's binpack; 0 = off                                       */
    uint32_t binpack_resource[KUBE_RESOURCES];
    int64_t backoff_first_ns, backoff_most_ns; /* 1 s, 10 s                                         */
    int64_t grace_ns;          /* terminationGracePeriodSeconds; 30 s                              */
    bool preemption;           /* true                                                           */
    struct kube_cluster_queue *queues;
    uint32_t queue_count;
    char levels[8][LIMIT_NAME_BYTES]; /* topology.levels, outermost first: "block", "rack", "host"   */
    uint32_t level_count;
    uint32_t level_nodes[8];   /* nodes of one domain at that level; 0 = from the fabric's leaf      */
    enum topology_manager topology_manager;
    /* failures */
    int64_t node_monitor_grace_ns, toleration_ns; /* 50 s, 300 s                                    */
    bool replace_terminating;  /* podReplacementPolicy TerminatingOrFailed                        */
    uint32_t backoff_limit;    /* 6                                                               */
    /* GPU Operator */
    int64_t plugin_ready_ns;   /* node back -> device plugin up                                   */
    int64_t driver_upgrade_every_ns, driver_upgrade_ns; /* rolling, one node at a time; 0 = none      */
    /* autoscaler */
    bool autoscaler;
    enum kube_expander expander;
    struct kube_group *groups;
    uint32_t group_count;
    int64_t scan_ns, give_up_ns, unneeded_ns, delay_after_add_ns; /* 10 s, 15 min, 10 min, 10 min    */
    double utilization_threshold; /* 0.5 */
};

void kube_defaults(struct kube_spec *kube);
void kube_clear(struct kube_spec *kube);

#endif
