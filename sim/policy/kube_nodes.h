/* kube_nodes.h - the nodes as the Kubernetes scheduler sees them, kept as classes of equal nodes.
 *
 * Two nodes of one group with the same resources in use get the same points from every plugin, so points are computed
 * once a class. The table follows the cluster: kube_nodes_refresh reads what changed; kube_nodes_take books a pod
 * ahead of the handlers, for gangs that are tried as a whole, until the next refresh of that node. */
#ifndef GPUPLAN_POLICY_KUBE_NODES_H
#define GPUPLAN_POLICY_KUBE_NODES_H

#include "policy/kube_pods.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBE_NO_CLASS UINT32_MAX

/* What makes two nodes equal. */
struct kube_node_key {
    uint32_t group;
    uint32_t cpu_free;      /* milli                                                         */
    uint64_t memory_free;
    uint16_t gpus, gpus_free; /* in order: used = gpus - gpus_free; parts where they are shared out */
    struct kube_open open;  /* GPUs in thousandths                                             */
    uint16_t parts[KUBE_PROFILES], parts_free[KUBE_PROFILES]; /* of each MIG profile                */
    uint16_t pods, pods_without_cpu, pods_without_memory;
    uint16_t is_out;
    uint16_t kept_gpus, kept_pods; /* kept for a job that preempted here, of ...                  */
    uint32_t kept_cpu, kept_milli;
    uint64_t kept_memory;
    uint32_t kept_for;      /* ... this live row; LIVE_NONE = for nobody                           */
    int32_t kept_priority;
};

struct kube_node_class {
    struct kube_node_key key;
    struct kube_room room;  /* from the key                                                   */
    struct kube_amounts kept;
    uint32_t nodes;         /* that are so now; 0 = row is free                                */
    uint32_t next;          /* in its cell of the table, or of the free rows                   */
    uint32_t place;         /* in `present`                                                   */
};

/* Places of a node that are kept for one job. */
struct kube_kept {
    uint32_t live; /* LIVE_NONE = none                                                        */
    int32_t priority;
    struct kube_amounts amounts;
};

struct kube_nodes {
    const struct cluster *cluster;
    const struct kube_shapes *shapes;
    uint32_t *class_of;     /* [nodes]                                                        */
    struct kube_node_class *classes; /* [capacity]                                            */
    uint32_t *present;      /* [present_count] classes that some node is of                      */
    uint32_t *cells;        /* [cell_count] first class of each, a power of two                  */
    uint32_t present_count, class_count, free_class, cell_mask;
    uint32_t *dirty, dirty_count; /* nodes to be read again                                     */
    bool *is_dirty;         /* [nodes]                                                        */
    bool all_dirty;
    struct kube_kept *kept; /* [nodes]                                                        */
};

bool kube_nodes_init(struct kube_nodes *nodes, const struct cluster *cluster,
                     const struct kube_shapes *shapes, struct arena *arena);

void kube_nodes_touch(struct kube_nodes *nodes, uint32_t node); /* it has changed or is about to */
void kube_nodes_touch_job(struct kube_nodes *nodes, uint32_t first_grant);
void kube_nodes_touch_all(struct kube_nodes *nodes);

/* Reads the nodes that were touched. */
void kube_nodes_refresh(struct kube_nodes *nodes);

/* Books one pod on a node, where it fits, in this table only: who takes it back touches the node. */
void kube_nodes_take(struct kube_nodes *nodes, uint32_t node, const struct kube_amounts *pod);

/* Keeps a place for one more pod of a job on a node; all places of another job there are given up. */
void kube_nodes_keep(struct kube_nodes *nodes, uint32_t node, uint32_t live, int32_t priority,
                     const struct kube_amounts *pod);
/* Gives up one place of the job, or all of them. */
void kube_nodes_unkeep(struct kube_nodes *nodes, uint32_t node, uint32_t live,
                       const struct kube_amounts *pod);
void kube_nodes_unkeep_all(struct kube_nodes *nodes, uint32_t node, uint32_t live);

#endif
