/* slurm_picture.h - what is free on each node, now or in a future that the backfill pass imagines.
 *
 * The picture is read from the cluster, node by node when something happened there, and can then be changed without
 * the cluster: jobs taken away or put on it, and all of that undone. Slurm counts whole cores and MiB.
 *
 * Cores are told apart by socket only on nodes whose GPUs have Cores=; which job sits on which socket follows from
 * its GPUs: cores on the sockets of its GPUs first, evenly, then on the others from the first on. */
#ifndef GPUPLAN_POLICY_SLURM_PICTURE_H
#define GPUPLAN_POLICY_SLURM_PICTURE_H

#include "cluster/cluster.h"
#include "policy/slurm_nodes.h"

#include <stdbool.h>
#include <stdint.h>

#define SLURM_GPU_UNITS 1008000u /* share_units of a whole GPU, as part and grant count them */

struct slurm_picture {
    const struct slurm_nodes *nodes;
    uint64_t *free_mask;    /* [nodes] GPUs, or MIG instances, that nobody holds, also not in part    */
    uint64_t *sound_mask;   /* [nodes] those of GPUs that are not broken                            */
    uint32_t *cores;        /* [nodes] free                                                       */
    uint64_t *memory_mib;   /* [nodes] free                                                       */
    uint32_t *jobs;         /* [nodes] jobs there, suspended ones included; the part of a job that has cores counts */
    uint16_t *shards;       /* [nodes * gpus_most] taken of each GPU; NULL without shards           */
    uint16_t *socket_cores; /* [nodes * sockets_most] free; NULL without Cores=                     */
    uint64_t *usable;       /* [words] takes new jobs: up, not draining                            */
    uint64_t *completing;   /* [words] a job is still ending there                                 */
    uint64_t *asleep;       /* [words] powered down, or on its way                                 */
    uint64_t *with_gpus;    /* [(gpus_most + 1) * words] nodes with at least so many in free_mask     */
    uint32_t *cores_bound;  /* [words] no node of the word has more cores free                       */
    uint8_t *undo;          /* rows of nodes as they were, owned                                   */
    uint32_t undo_rows, undo_capacity, undo_bytes;
    bool failed; /* memory was out while undo grew: the picture cannot be put back             */
};

/* Nodes with at least `gpus` <= gpus_most whole GPUs free, as a set. */
static inline const uint64_t *slurm_picture_with_gpus(const struct slurm_picture *picture,
                                                      uint32_t gpus)
{
    return picture->with_gpus + (size_t)gpus * picture->nodes->words;
}

/* All nodes up and empty. False: memory is out. */
bool slurm_picture_init(struct slurm_picture *picture, const struct slurm_nodes *nodes,
                        struct arena *arena);
void slurm_picture_clear(struct slurm_picture *picture); /* the arena's part stays with the arena */

/* Brings one node, or all, in line with the cluster: what is free, usable and how many jobs. Not undone. Sets of
 * completing and sleeping nodes are the caller's. */
void slurm_picture_read_node(struct slurm_picture *picture, const struct cluster *cluster,
                             uint32_t node);
void slurm_picture_read(struct slurm_picture *picture, const struct cluster *cluster);

/* Makes a node as it is in another picture of the same nodes, but for the sets. Not undone. */
void slurm_picture_copy_node(struct slurm_picture *picture, const struct slurm_picture *from,
                             uint32_t node);

/* A job comes or goes, in the picture only. */
void slurm_picture_take(struct slurm_picture *picture, const struct part *parts, uint32_t count);
void slurm_picture_give(struct slurm_picture *picture, const struct part *parts, uint32_t count);
/* The same for one grant of a running job. */
void slurm_picture_give_grant(struct slurm_picture *picture, const struct grant *grant);

/* Everything since the mark is undone. */
static inline uint32_t slurm_picture_mark(const struct slurm_picture *picture)
{
    return picture->undo_rows;
}
void slurm_picture_undo(struct slurm_picture *picture, uint32_t mark);

/* Forgets how to undo: what was taken stays. */
static inline void slurm_picture_keep(struct slurm_picture *picture) { picture->undo_rows = 0; }

/* Free cores of each socket after a job of `cores` cores with these GPUs has taken its own; free[sockets] is
 * changed, taken[sockets] says how many went from where. */
void slurm_sockets_take(const struct slurm_kind *kind, uint32_t gpu_mask, uint32_t cores,
                        uint16_t *free, uint16_t *taken);

#endif
