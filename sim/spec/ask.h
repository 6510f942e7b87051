/* ask.h - what jobs ask for in the words of a scheduler: `jobs[]` of a scenario, beside the plain columns of jobs.h.
 *
 * Two parts: struct ask is what decides WHERE a job may run, and jobs that ask for the same share one row, so it is
 * part of the request class; struct job_words is what decides WHEN, one row a job. Text is an offset into jobs->text
 * (TEXT_NONE = not said); a count of 0 means not said unless its line tells otherwise. Names are those of sbatch with
 * `_` for `-` (SCHEDULING.md 2.1), and of a pod's spec (3.1). */
#ifndef GPUPLAN_SPEC_ASK_H
#define GPUPLAN_SPEC_ASK_H

#include <stdbool.h>
#include <stdint.h>

#define ASK_NONE UINT32_MAX /* in place of a row of jobs->asks: the columns of the job say it all  */
#define ASK_MEMORY_NONE UINT64_MAX /* no --mem at all; 0 means all memory of the node */

struct ask {
    /* Slurm. nodes_min = nodes_max for --nodes=N; both 0 without --nodes. */
    uint32_t nodes_min, nodes_max;
    uint32_t ntasks, ntasks_per_node, cpus_per_task, ntasks_per_gpu, cpus_per_gpu;
    uint32_t gpus, gpus_per_node, gpus_per_task; /* at most one of them                          */
    uint32_t shards_per_node;                    /* --gres=shard:N                               */
    uint32_t gpu_type;                           /* text: only GPUs of this type                 */
    uint64_t mem_mib, mem_per_cpu_mib, mem_per_gpu_mib; /* ASK_MEMORY_NONE = not said            */
    uint32_t constraint, nodelist, exclude;      /* text: features joined by & |; host lists      */
    uint32_t switches, segment;                  /* --switches=N, --segment=N                    */
    int64_t switch_wait_ns;                      /* --switches=N@time; 0 = max_switch_wait       */
    bool exclusive, spread, enforce_binding;
    /* Kubernetes: pods that all ask for the same. */
    uint32_t pods;
    uint32_t pod_gpus;         /* nvidia.com/gpu of one pod                                       */
    uint32_t pod_cpu_milli;    /* 0 = no request                                                 */
    uint64_t pod_memory_bytes; /* 0 = no request                                                 */
    uint32_t node_selector, tolerations; /* text: "key=value,..." ; "key[=value][:effect],..."     */
    uint32_t topology_required, topology_preferred; /* text: a level of topology.levels           */
    bool topology_unconstrained;
    /* Both, and plain: a part of one GPU. */
    uint32_t gpu_milli; /* 1 .. 999 thousandths of one GPU; 0 = whole GPUs                         */
    uint32_t instance;  /* text: MIG profile, as "2g.10gb"; gpus or pod_gpus counts instances      */
};

enum job_outcome { OUTCOME_OK, OUTCOME_FAILED };

/* Ids: a task of array 7 with index 2 is "7_2", component 1 of heterogeneous job 8 is "8+1"; dependencies name "7" and
 * "8" as a whole as well. A job without a qos is of QOS "normal", which slurm->qos always holds; one without a time
 * limit has the DefaultTime, else the MaxTime, of its first partition in limit_ns. */

struct job_words {
    uint32_t name, account, user, qos, partition; /* text; partition may list several by commas      */
    uint32_t queue;                    /* text: a LocalQueue / Volcano or KAI queue                */
    uint32_t dependency;               /* text: "afterok:ID:ID,..." with ids of jobs, "singleton"  */
    uint32_t reservation;              /* text                                                   */
    uint32_t array_first_row; /* row of the array's first task; JOB_NONE = no array. Tasks stand together, by index */
    uint32_t array_index, array_limit; /* index as written; %k, 0 = no throttle                     */
    uint32_t het_first_row;            /* row of the first component; JOB_NONE = not heterogeneous */
    uint32_t team;                     /* text: owner under kind static; "" = the user           */
    int32_t nice;
    int32_t priority;                  /* Kubernetes priority value                              */
    int64_t begin_ns;                  /* after submit; 0 = at once                              */
    int32_t exit_code;                 /* of the first run                                           */
    int32_t exit_code_again;           /* of later ones                                              */
    int8_t requeue;                    /* -1 not said, 0 --no-requeue, 1 --requeue                */
    bool hold, no_kill, may_not_move, may_not_preempt;
    uint32_t min_member;               /* gang: pods that must be placed; 0 = all                */
};

#endif
