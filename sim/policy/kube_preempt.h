/* kube_preempt.h - which pods must go so that another can run, and on which node (SCHEDULING 3.4).
 *
 * Pure functions. Tests: tests/test_kube_preempt.c */
#ifndef GPUPLAN_POLICY_KUBE_PREEMPT_H
#define GPUPLAN_POLICY_KUBE_PREEMPT_H

#include "policy/kube_filter.h"
#include "policy/kube_parts.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBE_NO_BUDGET UINT32_MAX
#define KUBE_NO_NODE   UINT32_MAX

/* A pod that runs on the node. */
struct kube_running {
    struct kube_amounts request;
    int64_t start_ns;  /* larger is younger                                                   */
    int32_t priority;
    uint32_t budget;   /* row of its disruption budget; KUBE_NO_BUDGET = none                    */
    uint32_t gpus, milli; /* mask, and what it has of each: 1000 = all of it; read with kube_gpus only */
};

/* What one node would lose. */
struct kube_loss {
    bool possible;        /* false: no lower pod here, or the new one does not fit without them   */
    uint32_t violations;  /* victims whose budget breaks                                       */
    uint32_t victim_count;
    int32_t top_priority; /* of the victims                                                    */
    int64_t priority_sum; /* of (priority + 2^31)                                              */
    int64_t top_start_ns; /* earliest start among the victims of top priority                    */
};

/* Whether `a` is the more important pod: higher priority, then older. */
bool kube_more_important(const struct kube_running *a, const struct kube_running *b);

/* The victims on one node: all pods of lower priority go, then they come back one by one while the new pod
 * still fits, first those whose budget would break, each of the two by importance.
 *
 *   gpus              the node's GPUs, nothing used: what fits is then judged GPU by GPU; NULL: GPUs are counted, and no pod
 *                     has thousandths of one
 *   pods[count]       on the node, in any order
 *   allowed           disruptions each budget allows; NULL when no pod has one
 *   victims[count]    out: rows of pods, by importance
 *   spare[3 * count]  scratch
 *
 * Rows of equal importance keep their order. No victims and possible: it fits beside all of them. */
struct kube_loss kube_victims(const struct kube_amounts *allocatable, const struct kube_gpus *gpus,
                              const struct kube_running *pods, uint32_t count,
                              const struct kube_amounts *request, int32_t priority,
                              const int32_t *allowed, uint32_t *victims, uint32_t *spare);

/* Whether it fits beside all of them. */
bool kube_fits_beside(const struct kube_amounts *allocatable, const struct kube_gpus *gpus,
                      const struct kube_running *pods, uint32_t count,
                      const struct kube_amounts *request);

/* Whether losing `a` is better than losing `b`: fewest violations; lowest top priority; lowest sum; fewest
 * victims; latest start of the oldest top victim. False when they are equal: the first node stays. */
bool kube_loss_is_less(const struct kube_loss *a, const struct kube_loss *b);

#endif
