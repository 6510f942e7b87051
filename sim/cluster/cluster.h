/* cluster.h - servers, nodes, GPUs and who holds them; the only writers are claim, release and the
 * node calls below, called by handlers/transition.c.
 *
 * Node rows are in layout order, group by group; nodes of one group are alike. GPU row = node *
 * gpus_per_node + bit, where gpus_per_node is that of the largest nodes: smaller ones have no GPU
 * at the upper bits. leaf = node / nodes_per_leaf. */
#ifndef GPUPLAN_CLUSTER_CLUSTER_H
#define GPUPLAN_CLUSTER_CLUSTER_H

#include "base/arena.h"
#include "cluster/free_index.h"
#include "cluster/request.h"

#include <stdbool.h>
#include <stdint.h>

#define LIVE_NONE  UINT32_MAX
#define LIVE_SHARED (UINT32_MAX - 1) /* holder of a GPU that is given out in shares                  */
#define GRANT_NONE UINT32_MAX

/* What one job holds on one node: whole GPUs by mask, or a share of the one GPU in the mask; cores and memory. A
 * job's grants form a list in order of nodes as placed. */
struct grant {
    uint32_t node, mask, next;
    uint32_t live;
    uint32_t share_units; /* 0 = the GPUs of the mask are whole                                     */
    uint32_t cores_milli;
    uint32_t next_on_node; /* the next grant on the same node, of any job; kept when hosts count     */
    uint8_t slice_first, slice_count; /* MIG: memory slices that its instance covers                 */
    uint64_t memory_bytes;
};

/* A part of a placement. */
struct part {
    uint32_t node, gpus;   /* whole GPUs on this node                                              */
    uint32_t mask;         /* which; 0 = the lowest free ones                                      */
    uint32_t share_units;  /* > 0: a share of the one GPU in the mask, gpus is 0                     */
    uint32_t cores_milli;  /* beside the demand's per GPU, which plain policies use                  */
    uint8_t slice_first, slice_count;
    uint64_t memory_bytes;
};

/* Nodes that are alike. */
struct cluster_group {
    uint32_t nodes, gpus;   /* gpus of one node, 0 .. gpus_per_node of the cluster                   */
    uint32_t first_node;    /* filled by cluster_init                                              */
    uint32_t cores_milli;
    uint64_t memory_bytes;
};

struct cluster {
    uint32_t nodes, gpus_per_node, nodes_per_leaf, leaves;
    uint64_t gpus;              /* that exist                                                      */
    struct cluster_group *groups; /* [group_count]                                                */
    uint32_t group_count;
    uint8_t *group_of;          /* [nodes]                                                         */
    uint32_t *full_mask;        /* [nodes] GPUs that the node has                                   */
    uint32_t *free_mask;   /* [nodes] GPUs held by nobody and not broken                        */
    uint32_t *broken_mask; /* [nodes] GPUs that are out on their own (drain: gpu, or a fault)    */
    uint32_t *outs;        /* [nodes] faults for which the node takes no new jobs, own and leaf's */
    uint32_t *downs;       /* [nodes] of these, those for which the whole node is down           */
    uint32_t *dead;        /* [nodes] of these, faults of the server itself: its GPUs are broken  */
    uint32_t *holder;      /* [nodes * gpus_per_node] live row, LIVE_NONE = nobody, or LIVE_SHARED */
    uint32_t
        *cores_milli_free; /* [nodes] NULL when no job asks for cores or memory                  */
    uint64_t *memory_free; /* [nodes]                                                            */
    uint32_t *first_on_node; /* [nodes] grants on the node; NULL when hosts do not count           */
    uint32_t *share_free;  /* [nodes * gpus_per_node] units left of a GPU given out in shares; NULL without shares */
    uint8_t *slices_used;  /* [nodes * gpus_per_node] MIG memory slices taken, as bits             */
    uint64_t share_free_units; /* sum of share_free over GPUs that new jobs can use               */
    struct free_index index;
    /* Nodes that changed in what is free on them, the latest `touched_capacity` of `touches`; NULL when
     * nobody wants to know. */
    uint32_t *touched; /* [touched_capacity] entry number `touch` is at touch % capacity              */
    uint32_t touched_capacity;
    uint64_t touches;
    struct grant *grants; /* pool, owned                                                        */
    uint32_t grant_count, grant_capacity, grant_free;
    uint64_t
        releases; /* counts releases and returns of nodes: negative memos hold until it moves */
};

struct cluster_size {
    uint32_t nodes, gpus_per_node, nodes_per_leaf, cores_per_node;
    uint64_t memory_bytes_per_node;
    bool hosted; /* some job asks for cores or memory, or has no GPUs                    */
    bool shared; /* some job asks for a part of a GPU                                    */
    bool watched; /* some policy wants to know which nodes changed                        */
    const struct cluster_group *groups; /* NULL = one group as said above                */
    uint32_t group_count;
};

bool cluster_init(struct cluster *cluster, struct arena *arena, struct cluster_size size);
void cluster_clear(struct cluster *cluster); /* the arena's part stays with the arena */

/* GPUs that a new job could take on the node now; FREE_OUT when it takes none. */
int cluster_node_free(const struct cluster *cluster, uint32_t node);

/* Gives parts[part_count] to live row `live`: the GPUs of a part's mask, or its lowest free ones; or a
 * share of the one GPU of its mask. The parts must be free. Of a host a part takes what it says and
 * what the demand says per GPU.
 * Returns the first grant, or GRANT_NONE when memory is out. */
uint32_t cluster_claim(struct cluster *cluster, uint32_t live, const struct part *parts,
                       uint32_t part_count, const struct demand *demand);

/* Takes back all grants of a list. Broken GPUs do not become free. */
void cluster_release(struct cluster *cluster, uint32_t first_grant);

/* Cores and memory of a list of grants are given back, its GPUs are kept (a suspended job); and are
 * taken again: they must be free. */
void cluster_suspend(struct cluster *cluster, uint32_t first_grant);
void cluster_resume(struct cluster *cluster, uint32_t first_grant);

/* A suspended job will never be resumed: a later release gives back its GPUs only. */
void cluster_forget_hosts(struct cluster *cluster, uint32_t first_grant);

/* A GPU breaks or is whole again; its holder keeps it until released. */
void cluster_gpu_broken(struct cluster *cluster, uint32_t node, uint32_t mask);
void cluster_gpu_whole(struct cluster *cluster, uint32_t node, uint32_t mask);

/* One more, or one less, reason for the node to take no new jobs. */
void cluster_node_out(struct cluster *cluster, uint32_t node);
void cluster_node_back(struct cluster *cluster, uint32_t node);

/* Out and down together: dead with its own GPUs broken and alive again; dark below a broken leaf and
 * lit again. cluster_node_down: a node that is out already has been emptied and goes down, back by cluster_node_lit. */
void cluster_node_dead(struct cluster *cluster, uint32_t node);
void cluster_node_alive(struct cluster *cluster, uint32_t node);
void cluster_node_dark(struct cluster *cluster, uint32_t node);
void cluster_node_lit(struct cluster *cluster, uint32_t node);
void cluster_node_down(struct cluster *cluster, uint32_t node);

/* True when no job holds a GPU of the node. */
bool cluster_node_empty(const struct cluster *cluster, uint32_t node);

/* What a list of grants holds: whole GPUs, shares in units; and what of it is broken now, alone or with
 * its server. */
struct holding {
    uint32_t gpus, share_units;
};
struct holding cluster_held(const struct cluster *cluster, uint32_t first_grant);
struct holding cluster_broken(const struct cluster *cluster, uint32_t first_grant);

/* Where the parts of a node's GPUs that no job holds are, in units (CLUSTER_UNITS = one GPU). */
#define CLUSTER_UNITS INT64_C(1008000) /* ledger/accounts.h UNITS_PER_GPU; asserted by its tests     */
struct idle {
    int64_t free, draining, down;
};
struct idle cluster_node_idle(const struct cluster *cluster, uint32_t node);

/* Restates every invariant; asserts. Tests call it after each event. */
void cluster_check(const struct cluster *cluster);

#endif
