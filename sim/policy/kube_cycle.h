/* kube_cycle.h - one scheduling cycle: the node of one pod, or none (SCHEDULING 3.2). */
#ifndef GPUPLAN_POLICY_KUBE_CYCLE_H
#define GPUPLAN_POLICY_KUBE_CYCLE_H

#include "policy/kube_nodes.h"

#include <stdint.h>

#define KUBE_NO_PLACE UINT32_MAX

struct kube_cycle {
    const struct kube_shapes *shapes;
    struct kube_nodes *nodes;
    struct kube_scoring scoring;
    double binpack_weight; /* Volcano's binpack, beside the profile's points; 0 = off                */
    uint32_t binpack_resource[KUBE_RESOURCES];
    uint32_t percentage;   /* percentageOfNodesToScore; 0 = adaptive                              */
    uint32_t start;        /* where the next cycle starts to look                                 */
    uint64_t key;          /* of the random stream                                              */
    /* [classes of nodes] of the cycle at hand */
    bool *feasible;
    uint32_t *seen;        /* nodes of the class that the cycle looks at                          */
    double *total;
};

bool kube_cycle_init(struct kube_cycle *cycle, const struct policy_view *view,
                     const struct kube_shapes *shapes, struct kube_nodes *nodes,
                     struct arena *arena);

/* The pod that a cycle is for. */
struct kube_candidate {
    uint32_t request_class, index; /* of the job's pods                                        */
    uint32_t live;     /* of the job; places kept for others of its priority or above are not for it */
    int32_t priority;
    uint32_t serial;   /* with `draw`: who draws among equal nodes, and how often it has drawn       */
    uint64_t draw;
};

/* The node with the most points, ties at random; KUBE_NO_PLACE when no node is feasible. The nodes must have been
 * refreshed. */
uint32_t kube_cycle_node(struct kube_cycle *cycle, const struct kube_candidate *candidate);

/* Whether the pod fits a node of the class. */
bool kube_cycle_fits(const struct kube_cycle *cycle, const struct kube_node_class *class,
                     const struct kube_candidate *candidate);

#endif
