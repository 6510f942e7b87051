/* slurm_limits.h - limits of QOSes and associations: whether a job may start beside those that run, and why not.
 *
 * Checked in Slurm's order: before nodes are chosen the numbers of jobs (GrpJobs and MaxJobsPerUser of the QOS, then up
 * the tree GrpJobs, and MaxJobs of the user); with the nodes chosen what is held (GrpTRES, GrpTRESRunMins,
 * MaxTRESPerJob, MaxTRESPerUser of the QOS; up the tree GrpTRES and GrpTRESRunMins, MaxTRESPerJob of the user). Within one
 * limit cpu, mem, node, gres/gpu in this order. A limit that the QOS sets on a resource takes the place of the same
 * limit of associations. MaxJobs and MaxTRESPerJob of an association are inherited by those below that set none.
 * Resources that a job does not use are not checked.
 *
 * What a job uses is charged when it starts and given back when it ends. GrpTRESRunMins compares the minutes that
 * running jobs may still take (until start + limit) and those of the new one.
 * Reasons are constant texts, as squeue shows them. Without `enforce_limits` nothing is checked.
 * Left out: limits over past use (GrpTRESMins), per node and per account, submit limits, wall limits; a node on which
 * two jobs of a group run counts twice for GrpTRES=node.
 * Source: SCHEDULING.md 2.9, resource_limits page of Slurm; checked against recording s28. Tests:
 * tests/test_slurm_limits.c */
#ifndef GPUPLAN_POLICY_SLURM_LIMITS_H
#define GPUPLAN_POLICY_SLURM_LIMITS_H

#include "base/int128.h"
#include "policy/slurm_assoc.h"

#include <stdbool.h>
#include <stdint.h>

enum slurm_resource { RESOURCE_CPU, RESOURCE_MEM, RESOURCE_NODE, RESOURCE_GPU, RESOURCES };

/* What a job holds or asks for, and how long it may run. */
struct slurm_amount {
    int64_t of[RESOURCES]; /* cores, MiB, nodes, GPUs                                              */
    int64_t limit_ns;
};

/* Whose limits hold. */
struct slurm_owner {
    uint32_t assoc, user; /* struct slurm_who of the job                                           */
    uint32_t qos;         /* row in spec->qos; UINT32_MAX = none                                  */
};

/* What running jobs hold under one set of limits. */
struct slurm_use {
    int64_t jobs;
    int64_t of[RESOURCES];
    int128 ends[RESOURCES]; /* sum of amount * (start + limit) in ns: what is left at time t is ends - of * t */
};

struct slurm_charge {
    struct slurm_owner owner;
    struct slurm_amount amount;
    int64_t end_ns;
    bool charged;
};

/* Limits of one association as they hold for its jobs. */
struct slurm_assoc_limits {
    struct tres_limit grp, grp_run_mins, max_per_job;
    int64_t grp_jobs, max_jobs;
};

struct slurm_limits {
    const struct slurm_spec *spec;  /* borrowed                                                  */
    const struct slurm_assoc *tree; /* borrowed                                                  */
    struct slurm_assoc_limits *of_assoc; /* [tree->count]                                        */
    struct slurm_use *assoc_use;    /* [tree->count]                                             */
    struct slurm_use *qos_use;      /* [qos_count]                                               */
    struct slurm_use *user_use;     /* [qos_count * user_names]                                   */
    struct slurm_charge *charges;   /* [charge_capacity] by live row                               */
    uint32_t charge_capacity;
};

bool slurm_limits_init(struct slurm_limits *limits, const struct slurm_spec *spec,
                       const struct slurm_assoc *tree);
void slurm_limits_clear(struct slurm_limits *limits);

/* Why the job may never run as it is and is refused at submission: its QOS has DenyOnLimit and the job alone is over a
 * limit. NULL = it is taken. */
const char *slurm_limits_refuse(const struct slurm_limits *limits, struct slurm_owner owner,
                                const struct slurm_amount *amount);

/* Why no further job of this owner may start, whatever it asks for; NULL = one may. */
const char *slurm_limits_jobs(const struct slurm_limits *limits, struct slurm_owner owner);

/* Why a job that would hold so much may not start now; NULL = it may. */
const char *slurm_limits_over(const struct slurm_limits *limits, struct slurm_owner owner,
                              const struct slurm_amount *amount, int64_t now_ns);

/* It starts. False: memory is out. */
bool slurm_limits_start(struct slurm_limits *limits, uint32_t live, struct slurm_owner owner,
                        const struct slurm_amount *amount, int64_t now_ns);

/* It holds nothing any more; jobs that were never charged are allowed. */
void slurm_limits_end(struct slurm_limits *limits, uint32_t live);

#endif
