/* kube_assign.h - the topology of a cluster and which of its nodes the pods of a job are assigned to. */
#ifndef GPUPLAN_POLICY_KUBE_ASSIGN_H
#define GPUPLAN_POLICY_KUBE_ASSIGN_H

#include "policy/kube_topology.h"
#include "policy/kubernetes.h"

/* The levels of the scenario over the nodes, hosts last. */
struct kube_assign {
    struct topology_tree tree;
    uint32_t *assigned; /* [nodes] pods of the last assignment                                    */
};

bool kube_assign_init(struct kube_assign *assign, const struct policy_view *view,
                      struct arena *arena);

/* What a job asks of the topology. */
struct kube_topology_wish {
    bool asked, known; /* known: false when it names a level that is not there                    */
    enum topology_mode mode;
    uint32_t level;
};
struct kube_topology_wish kube_topology_wish(const struct policy_view *view, uint32_t live);

/* Assigns all pods of the job to nodes as they are now; false: not possible. */
bool kube_assign_pods(struct kube_assign *assign, const struct kubernetes *kube,
                      const struct policy_view *view, uint32_t live,
                      struct kube_topology_wish wish);

#endif
