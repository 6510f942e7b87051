/* kube_operator.h - the GPU Operator: a node that comes back has no GPUs until its device plugin is up; driver upgrades
 * roll over the nodes one by one (SCHEDULING 6).
 *
 * A node whose driver is upgraded is cordoned, its pods run to their end, then the upgrade and the start of the plugin
 * take their time. A node that is out for another reason when its turn comes is passed over. A round begins at each
 * multiple of the period, when the last one is over. */
#ifndef GPUPLAN_POLICY_KUBE_OPERATOR_H
#define GPUPLAN_POLICY_KUBE_OPERATOR_H

#include "base/log.h"
#include "policy/policy.h"

/* A plugin that starts; void when its node went down and came back in between. */
struct plugin_start {
    uint32_t node;
    int64_t until_ns;
};

struct kube_operator {
    int64_t plugin_ns, every_ns, upgrade_ns; /* 0 = none                                        */
    bool *was_down;          /* [nodes]                                                        */
    int64_t *plugin_until_ns; /* [nodes] 0 = its plugin is up, or the node is down               */
    struct log starting;     /* struct plugin_start, in order of time                             */
    uint64_t next_starting;
    struct log back;         /* uint32_t: nodes that came back and must be told out               */
    uint64_t next_back;
    int64_t round_ns;        /* the next round begins                                            */
    int64_t until_ns;        /* the upgrade of the node at the cursor ends; TIME_NEVER = not begun  */
    uint32_t cursor;         /* node of the round                                              */
    bool in_round, is_out;   /* a round goes on; the node at the cursor was told out               */
    struct part part;        /* of the decision at hand                                         */
};

bool kube_operator_init(struct kube_operator *gpu_operator, const struct policy_view *view,
                        struct arena *arena);
void kube_operator_clear(struct kube_operator *gpu_operator);
void kube_operator_nodes(struct kube_operator *gpu_operator, const struct policy_view *view);
bool kube_operator_next(struct kube_operator *gpu_operator, const struct policy_view *view,
                        int64_t now_ns, struct decision *decision);
int64_t kube_operator_due_ns(const struct kube_operator *gpu_operator);

#endif
