/* slurm.h - `scheduler.slurm`: the lines of slurm.conf and of sacctmgr that decide who starts when and where.
 *
 * Field names are the file's own words in our case (SCHEDULING.md 2). Lists are owned by the struct (malloc). */
#ifndef GPUPLAN_SPEC_SLURM_H
#define GPUPLAN_SPEC_SLURM_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum slurm_compat { COMPAT_22_05, COMPAT_24_11, COMPAT_26_05 }; /* releases up to 24.05; 25.11; later */
enum preempt_type { PREEMPT_NONE, PREEMPT_QOS, PREEMPT_PARTITION_PRIO };
enum preempt_mode { PREEMPT_OFF, PREEMPT_CANCEL, PREEMPT_REQUEUE, PREEMPT_SUSPEND, PREEMPT_UNSET };
enum slurm_topology { TOPOLOGY_NONE, TOPOLOGY_TREE, TOPOLOGY_BLOCK };

/* A limit on trackable resources; LIMIT_UNSET = none. */
#define LIMIT_UNSET INT64_MAX
struct tres_limit {
    int64_t gpus, cores, nodes, memory_mib;
};

struct slurm_partition {
    char name[LIMIT_NAME_BYTES];
    char nodes[LIMIT_TARGET_BYTES]; /* host list, or ALL                                          */
    int64_t max_time_ns;            /* TIME_NEVER = INFINITE                                      */
    int64_t default_time_ns;        /* 0 = MaxTime                                                */
    uint32_t priority_tier;         /* 1                                                          */
    uint32_t priority_job_factor;   /* 1                                                          */
    uint32_t max_nodes;             /* 0 = no limit                                               */
    uint64_t def_mem_per_gpu_mib, def_mem_per_cpu_mib, def_mem_per_node_mib; /* 0 = not said       */
    uint32_t def_cpu_per_gpu;
    bool is_default, lln, exclusive, oversubscribe_force, up;
    enum preempt_mode preempt_mode; /* PREEMPT_UNSET = the cluster's                              */
    int64_t grace_time_ns;
};

struct slurm_qos {
    char name[LIMIT_NAME_BYTES];
    uint32_t priority;
    char preempt[LIMIT_TARGET_BYTES]; /* names of QOSes that it may evict, by commas               */
    enum preempt_mode preempt_mode;
    int64_t grace_time_ns, preempt_exempt_ns;
    struct tres_limit grp, max_per_job, max_per_user; /* GrpTRES, MaxTRESPerJob, MaxTRESPerUser     */
    struct tres_limit grp_run_mins;                 /* GrpTRESRunMins                             */
    int64_t grp_jobs, max_jobs_per_user;
    bool deny_on_limit, no_reserve;
};

/* A node of the tree of accounts and users. user "" = the account itself. */
struct slurm_association {
    char account[LIMIT_NAME_BYTES], parent[LIMIT_NAME_BYTES], user[LIMIT_NAME_BYTES];
    uint32_t fairshare; /* shares; 1 */
    uint32_t priority;  /* what PriorityWeightAssoc weighs; 0                                        */
    struct tres_limit grp, max_per_job, grp_run_mins;
    int64_t grp_jobs, max_jobs;
};

struct slurm_reservation {
    char name[LIMIT_NAME_BYTES];
    char nodes[LIMIT_TARGET_BYTES];
    char users[LIMIT_TARGET_BYTES], accounts[LIMIT_TARGET_BYTES];
    int64_t start_ns, end_ns;
    bool maint, ignore_jobs;
};

/* A line of topology.conf: a switch over nodes or over switches, or a block. */
struct slurm_switch {
    char name[LIMIT_NAME_BYTES];
    char nodes[LIMIT_TARGET_BYTES], switches[LIMIT_TARGET_BYTES];
};

struct slurm_spec {
    enum slurm_compat compat;
    bool backfill; /* SchedulerType=sched/backfill; false: sched/builtin                           */
    /* SchedulerParameters */
    int64_t bf_interval_ns, bf_resolution_ns, bf_window_ns, sched_interval_ns;
    int64_t bf_min_age_reserve_ns, max_switch_wait_ns, batch_sched_delay_ns /* 0: a pass follows a submission at once */;
    uint32_t bf_max_job_test, bf_max_job_part, bf_max_job_user, bf_max_job_assoc;
    uint32_t default_queue_depth, preempt_reorder_count;
    uint64_t bf_min_prio_reserve;
    bool bf_continue, bf_busy_nodes, assoc_limit_stop, kill_invalid_depend, preempt_youngest_first,
        pack_serial_at_end;
    /* SelectTypeParameters */
    bool memory_counts; /* CR_Core_Memory, CR_CPU_Memory                                          */
    bool lln;           /* CR_LLN                                                                 */
    uint64_t def_mem_per_gpu_mib, def_mem_per_cpu_mib, def_mem_per_node_mib;
    uint32_t def_cpu_per_gpu;
    /* TopologyPlugin and topology.conf; no lines: from the layout's fabric */
    enum slurm_topology topology;
    struct slurm_switch *switches; /* tree: SwitchName lines; block: BlockName lines in `nodes`      */
    uint32_t switch_count;
    uint32_t block_sizes[16], block_size_count; /* in nodes, ascending                            */
    /* Priority */
    bool multifactor; /* PriorityType=priority/multifactor; false: priority/basic                  */
    double weight_age, weight_fairshare, weight_job_size, weight_partition, weight_qos, weight_assoc;
    double weight_tres_gpu, weight_tres_cpu, weight_tres_node, weight_tres_mem;
    int64_t max_age_ns, decay_half_life_ns /* 0 = none */, calc_period_ns;
    bool favor_small;
    double billing_cpu, billing_gpu, billing_mem_gib; /* TRESBillingWeights; default 1, 0, 0         */
    /* Preemption, failures, power */
    enum preempt_type preempt_type;
    enum preempt_mode preempt_mode;
    bool gang;
    int64_t preempt_exempt_ns;
    bool job_requeue;          /* JobRequeue=1                                                    */
    int64_t requeue_delay_ns;  /* 121 s, or cred_expire + 1                                       */
    int64_t slurmd_timeout_ns; /* 300 s                                                          */
    uint32_t return_to_service;
    char requeue_exit[LIMIT_TARGET_BYTES], requeue_exit_hold[LIMIT_TARGET_BYTES]; /* "42,50-60"    */
    int64_t suspend_time_ns;   /* idle nodes power down after it; TIME_NEVER = never               */
    int64_t resume_timeout_ns, resume_ns /* how long a node takes to come up */, suspend_ns;
    int64_t kill_wait_ns;      /* victims are gone so long after the kill: 4 s in the recordings    */
    int64_t clock_phase_ns;    /* second of the minute of the wall clock at time 0: slots align to it */
    bool enforce_limits, safe;  /* AccountingStorageEnforce                                       */

    struct slurm_partition *partitions;
    uint32_t partition_count;
    struct slurm_qos *qos;
    uint32_t qos_count;
    struct slurm_association *associations;
    uint32_t association_count;
    struct slurm_reservation *reservations;
    uint32_t reservation_count;
};

/* Defaults of slurm.conf(5); one partition "batch" over ALL nodes when none is written. */
void slurm_defaults(struct slurm_spec *slurm);
void slurm_clear(struct slurm_spec *slurm);

#endif
