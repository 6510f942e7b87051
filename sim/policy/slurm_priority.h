/* slurm_priority.h - the number by which Slurm orders waiting jobs.
 *
 * priority/multifactor:
 *
 *     P = Wage age + Wfs fairshare + Wjs size + Wpart part + Wqos qos + Wassoc assoc + sum Wtres tres - nice
 *
 * Factors are doubles from 0 to 1; the sum is cut to an unsigned 32-bit number, at least 1. priority/basic: each job
 * is one below the last. Pure functions; who calls them each PriorityCalcPeriod keeps the results.
 * Left out: the site factor, PriorityFlags (accrue, size relative to time).
 * Source: SCHEDULING.md 2.7; checked against the sprio captures of recordings s16 and s17.
 * Tests: tests/test_slurm_priority.c */
#ifndef GPUPLAN_POLICY_SLURM_PRIORITY_H
#define GPUPLAN_POLICY_SLURM_PRIORITY_H

#include "spec/slurm.h"

#include <stdint.h>

#define SLURM_BASIC_TOP UINT32_C(4294901760) /* one above the first job's basic priority, as slurmctld counts */

/* What a job asks for, or all there is. */
struct slurm_tres {
    uint64_t nodes, cores, gpus, memory_mib;
};

/* Of one job in one partition; each 0 .. 1. */
struct slurm_factors {
    double age, fairshare, size, partition, qos, assoc;
    double tres_gpu, tres_cpu, tres_node, tres_mem;
};

/* min(1, waited / PriorityMaxAge). eligible_ns: since when neither dependency nor hold nor begin time stood in its
 * way; a requeued job starts anew. An age of 0 when PriorityMaxAge is 0. */
double slurm_age_factor(const struct slurm_spec *spec, int64_t eligible_ns, int64_t now_ns);

/* (nodes / all nodes + cores / all cores) / 2, each term 1 minus it with PriorityFavorSmall. GPUs do not count. */
double slurm_size_factor(const struct slurm_spec *spec, struct slurm_tres asked,
                         struct slurm_tres cluster);

/* PriorityJobFactor over the largest of all partitions. */
double slurm_partition_factor(const struct slurm_spec *spec, uint32_t partition);

/* Priority of the QOS over the largest of all; qos UINT32_MAX = none: 0. */
double slurm_qos_factor(const struct slurm_spec *spec, uint32_t qos);

/* The four tres factors: what is asked over what the partition has, at most 1; 0 where it has none. */
void slurm_tres_factors(struct slurm_factors *factors, struct slurm_tres asked,
                        struct slurm_tres partition);

uint32_t slurm_priority(const struct slurm_spec *spec, const struct slurm_factors *factors,
                        int32_t nice);

/* priority/basic: the priority of the next job that gets one, at its submission or when it is released from a hold: one
 * below the last, less its nice value, which is not passed on to later jobs. *lowest starts as SLURM_BASIC_TOP and is
 * moved on. */
uint32_t slurm_priority_basic(uint32_t *lowest, int32_t nice);

/* When priorities are computed next: the first multiple of PriorityCalcPeriod behind now; TIME_NEVER when neither age nor
 * fair share counts, so that none would change. */
int64_t slurm_calc_next_ns(const struct slurm_spec *spec, int64_t now_ns);

#endif
