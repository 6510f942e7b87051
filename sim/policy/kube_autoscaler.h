/* kube_autoscaler.h - the cluster autoscaler: groups of nodes that grow for pods that fit nowhere and shrink when little used
 * (SCHEDULING 3.6).
 *
 * A group's nodes above `min` are away at first (their GPUs are in account draining). Every scan: pods that wait, less
 * those that fit nodes on their way, are packed on new nodes of each group; the expander chooses the group. A node comes after
 * its provisioning time; one that would take longer than maxNodeProvisionTime is given up then, and its group is left
 * alone for five minutes. A node goes when it was used below the threshold for the time stated, nothing was added
 * lately, and its pods fit elsewhere: they are evicted and start anew. Pods of jobs of several pods are not evicted. */
#ifndef GPUPLAN_POLICY_KUBE_AUTOSCALER_H
#define GPUPLAN_POLICY_KUBE_AUTOSCALER_H

#include "policy/kubernetes.h"

enum scaled_state { NODE_FIXED, NODE_AWAY, NODE_COMING, NODE_THERE, NODE_GOING };

struct scaled_node {
    uint8_t state;      /* enum scaled_state                                                  */
    uint8_t group;      /* row in kube_spec.groups                                             */
    int64_t at_ns;      /* coming: when it is there; there: since when it is unneeded, TIME_NEVER = it is needed */
};

struct kube_autoscaler {
    struct scaled_node *nodes;  /* [cluster nodes]                                               */
    uint32_t *server_group;     /* [group_count] row in the cluster's groups; LIVE_NONE = not in this layout */
    int64_t *blocked_until_ns;  /* [group_count]                                                 */
    uint32_t *pods;             /* [class_count] scratch: pods that wait                           */
    uint32_t *left;             /* [class_count] scratch                                        */
    struct log moves;           /* struct node_move: what is to be told to the handlers              */
    uint64_t next_move;
    int64_t scan_ns;            /* the next scan                                                */
    int64_t last_add_ns;
    uint64_t draws;
    struct part part;
};

struct node_move {
    uint32_t node;
    bool out;
};

bool kube_autoscaler_init(struct kube_autoscaler *autoscaler, const struct policy_view *view,
                          struct arena *arena);
void kube_autoscaler_clear(struct kube_autoscaler *autoscaler);

/* Nodes that come or go and were not told yet: before a pass does anything else. */
bool kube_autoscaler_told(struct kube_autoscaler *autoscaler, struct decision *decision);

/* At the end of a pass: a scan when one is due, nodes that have arrived. */
bool kube_autoscaler_scan(struct kubernetes *kube, const struct policy_view *view,
                          struct decision *decision);
int64_t kube_autoscaler_due_ns(const struct kube_autoscaler *autoscaler,
                               const struct policy_view *view);

#endif
