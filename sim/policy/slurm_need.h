/* slurm_need.h - a request in the numbers that the selector works with: defaults filled in, texts resolved to sets
 * of nodes. Made once per request and partition; read only.
 *
 * What Slurm does between sbatch and select/cons_tres (SCHEDULING 2.1): tasks that were not said stay unsaid, and
 * then count as one a node; --gpus-per-task is also a sum of the whole job; --ntasks-per-gpu says the tasks. */
#ifndef GPUPLAN_POLICY_SLURM_NEED_H
#define GPUPLAN_POLICY_SLURM_NEED_H

#include "cluster/request.h"
#include "policy/slurm_nodes.h"
#include "spec/ask.h"

#include <stdbool.h>
#include <stdint.h>

#define NEED_ANY_NODES UINT32_MAX

enum need_memory {
    MEMORY_IGNORED,    /* memory does not count in this cluster                                    */
    MEMORY_WHOLE_NODE, /* --mem=0, or nothing said and no default: all of its nodes                */
    MEMORY_PER_NODE,
    MEMORY_PER_CORE,
    MEMORY_PER_GPU,
};

struct slurm_need {
    uint32_t partition;
    uint32_t nodes_min, nodes_max, nodes_wanted; /* wanted: as many as can be had up to it          */
    uint32_t tasks;                              /* 0 = not said                                   */
    uint32_t tasks_per_node, tasks_per_gpu, cores_per_task; /* cores_per_task >= 1                  */
    uint32_t cores_min;                          /* of the whole job                               */
    uint32_t gpus_per_job, gpus_per_node, gpus_per_task, cores_per_gpu, shards_per_node;
    enum need_memory memory;
    uint64_t memory_mib;      /* per node, core or GPU as `memory` says                            */
    uint64_t kinds;           /* a bit a kind: type of GPU, features, and what one node could give  */
    bool gpus_lack;           /* kinds = 0, and for nothing but the GPUs                           */
    bool feature_unknown;     /* --constraint names what no node has                               */
    const uint64_t *gpu_bits; /* [kind_count] which bits of a node's GPUs are of the type; NULL = all */
    const uint64_t *allowed;  /* [words] without --exclude's nodes; NULL = all                      */
    const uint64_t *required; /* [words] --nodelist; NULL = none                                    */
    uint32_t required_count;
    uint32_t segment, switches;
    int64_t switch_wait_ns;
    bool whole_nodes;         /* --exclusive                                                       */
    bool spread, bind, lln;   /* --spread-job, --gres-flags=enforce-binding, CR_LLN or LLN=YES      */
    bool one_node;            /* compat 26.05: at most one node, so the first that fits             */
};

/* Of jobs->asks[row] in a partition. False: memory is out. A need that asks for what no kind of node has gets
 * kinds = 0; one whose --nodelist or partition cannot hold it gets nodes_min > nodes_max. */
bool slurm_need_of_ask(struct slurm_need *need, const struct slurm_nodes *nodes,
                       const struct ask *ask, const char *text, uint32_t partition,
                       struct arena *arena);

/* Of a request of a trace without a scheduler's words: its nodes and GPUs by the demand's shape; cores and memory
 * as the trace says, else the GPUs' share of a node (for memory: DefMemPerGPU before the share). */
void slurm_need_of_demand(struct slurm_need *need, const struct slurm_nodes *nodes,
                          const struct request *request, const struct demand *demand,
                          uint32_t partition);

#endif
