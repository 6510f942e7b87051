/* kube_score.h - the points of a node for a pod, and the choice among nodes (SCHEDULING 3.3).
 *
 * Pure functions. Points are integers 0 .. 100; divisions truncate. Only the balance of resources is computed in
 * doubles, as the real plugin does, by + - * / and sqrt. Source: kubernetes/pkg/scheduler/framework/plugins.
 * Tests: tests/test_kube_score.c */
#ifndef GPUPLAN_POLICY_KUBE_SCORE_H
#define GPUPLAN_POLICY_KUBE_SCORE_H

#include "policy/kube_filter.h"

#include <stdbool.h>
#include <stdint.h>

/* What a pod without a request counts as in the fit score. */
#define KUBE_DEFAULT_CPU_MILLI    100
#define KUBE_DEFAULT_MEMORY_BYTES (INT64_C(200) << 20)

/* The fit plugin's strategy over any resources. */
struct kube_fit {
    enum fit_strategy strategy;
    int64_t weight[KUBE_AMOUNTS]; /* 0 = not in it                                             */
    uint32_t shape_count;
    struct {
        int64_t utilization, points; /* 0 .. 100 both: scores of the shape times 10              */
    } shape[SHAPE_POINTS];
};

struct kube_weights {
    int64_t fit, balanced, taint, affinity;
};

struct kube_scoring {
    struct kube_fit fit;
    uint32_t balanced; /* bit r set: resource r is balanced                                     */
    enum balanced_version version;
    struct kube_weights weights;
};

struct kube_scoring kube_scoring_of(const struct kube_profile *profile);

/* A node's resources as the plugins see them. `counted` is the sum over its pods of what each counts in the
 * fit score: its requests, for cpu and memory at least the defaults above. */
struct kube_room {
    struct kube_amounts allocatable, used, counted;
};

/* The request as it counts in the fit score. */
struct kube_amounts kube_counted(const struct kube_amounts *request);

/* NodeResourcesFit. */
int64_t kube_score_fit(const struct kube_fit *fit, const struct kube_room *room,
                       const struct kube_amounts *request);

/* NodeResourcesBalancedAllocation; 0 when the pod requests none of its resources. */
int64_t kube_score_balanced(const struct kube_scoring *scoring, const struct kube_room *room,
                            const struct kube_amounts *request);

/* Raw points that are scaled to the highest among the feasible nodes: PreferNoSchedule taints that the pod
 * does not tolerate, and weights of preferred terms that match. */
int64_t kube_raw_taints(const struct kube_facts *facts, const struct kube_wish *wish);
int64_t kube_raw_affinity(const struct kube_facts *facts, const struct kube_wish *wish);
int64_t kube_scaled_taints(int64_t raw, int64_t most);
int64_t kube_scaled_affinity(int64_t raw, int64_t most);

/* Points of one node by plugin, before and after scaling. */
struct kube_points {
    int64_t fit, balanced, taint, affinity;
};
struct kube_points kube_raw_points(const struct kube_scoring *scoring, const struct kube_room *room,
                                   const struct kube_facts *facts, const struct kube_wish *wish,
                                   const struct kube_amounts *request);
/* most: the highest raw points of taints and affinity among the feasible nodes. */
struct kube_points kube_scaled_points(struct kube_points raw, struct kube_points most);
int64_t kube_total(const struct kube_weights *weights, const struct kube_points *points);

#endif
