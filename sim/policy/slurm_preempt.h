/* slurm_preempt.h - whose resources a job may take: candidates, their order, and the set that is evicted.
 *
 * Candidates: running jobs that the job may evict (QOS Preempt=, or a lower PriorityTier), whose mode is not OFF, and
 * that have run for PreemptExemptTime. Order: priority of the QOS (or tier of the partition) and then nodes, ascending,
 * then as submitted; with preempt_youngest_first by start, latest first.
 *
 * CANCEL and REQUEUE: candidates are removed in this order until the job fits. Then the last one goes to the front and
 * those before it are ordered by the nodes they share with the place found, most first, and it begins again, to drop
 * victims that were not needed: preempt_reorder_count + 1 times (slurmctld counts so), or as often as there are
 * candidates. Victims are the removed ones that share nodes with the place.
 * SUSPEND by QOS: the same without the second round. SUSPEND by partition: the job is placed as if no candidate
 * ran, and of those on its nodes as many are suspended, in order, as it needs. A suspended job keeps its GPUs, so its
 * removal frees cores only.
 *
 * Whether the job fits is asked of the caller, so that this file knows no nodes.
 * Source: SCHEDULING.md 2.8, preempt page of Slurm; checked against recordings s25 and s27. Tests:
 * tests/test_slurm_preempt.c */
#ifndef GPUPLAN_POLICY_SLURM_PREEMPT_H
#define GPUPLAN_POLICY_SLURM_PREEMPT_H

#include "spec/slurm.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a job comes from. */
struct slurm_side {
    uint32_t qos;       /* row in spec->qos; UINT32_MAX = none                                     */
    uint32_t partition; /* row in spec->partitions                                               */
};

/* The caller's trial of placements. */
struct slurm_trial {
    void *context;
    void (*reset)(void *context);                 /* nobody is removed                             */
    void (*remove)(void *context, uint32_t live); /* gives its resources back, or its cores when suspended */
    bool (*fits)(void *context);                  /* finds a place among what is free now           */
    /* Nodes that a job has in common with the place of the last `fits` that said yes. */
    uint32_t (*shares)(void *context, uint32_t live);
    bool (*fits_there)(void *context);            /* that place is free now; for SUSPEND by partition  */
};

struct slurm_victim {
    uint32_t live;
    enum preempt_mode mode;
};

struct slurm_candidate {
    uint64_t key; /* what it is ordered by                                                        */
    uint32_t live, row;
    uint32_t usable;
    enum preempt_mode mode;
};

/* Memory of one search, used again by the next; zeroed = empty. */
struct slurm_preempt {
    struct slurm_candidate *candidates; /* [capacity] in order after the search                     */
    struct slurm_candidate *spare;      /* [capacity]                                            */
    uint32_t count, capacity;
};

void slurm_preempt_clear(struct slurm_preempt *preempt);

/* How a job of this side is evicted. */
enum preempt_mode slurm_preempt_mode(const struct slurm_spec *spec, struct slurm_side victim);

/* Whether one job may evict another, young or not. */
bool slurm_preempt_may(const struct slurm_spec *spec, struct slurm_side job,
                       struct slurm_side victim);

/* Whether any job of this side may ever evict another. */
bool slurm_preempt_could(const struct slurm_spec *spec, struct slurm_side job);

/* Until when a job that started at start_ns is exempt. */
int64_t slurm_preempt_exempt_until_ns(const struct slurm_spec *spec, struct slurm_side victim,
                                      int64_t start_ns);

/* Times of a victim: it is told now, stopped after its GraceTime, its resources are free when it is gone, and a
 * requeued one may start again at again_ns. In s25 job a is told and stopped at 12 s, gone at 16 s (the job that
 * evicted it starts then) and eligible at 23 s with cred_expire=6. */
struct slurm_eviction {
    int64_t stop_ns, gone_ns, again_ns;
};
struct slurm_eviction slurm_preempt_times(const struct slurm_spec *spec, struct slurm_side victim,
                                          int64_t now_ns);

/* A search: begin, add all candidates that pass slurm_preempt_may and are not exempt, choose. add: false = memory is
 * out. */
void slurm_preempt_begin(struct slurm_preempt *preempt);
bool slurm_preempt_add(struct slurm_preempt *preempt, const struct slurm_spec *spec, uint32_t live,
                       uint32_t row, struct slurm_side side, uint32_t nodes, int64_t start_ns);

/* Victims to victims[] (room for all candidates); 0 = the job does not fit even so. Asked only when it does not fit
 * without. */
uint32_t slurm_preempt_choose(struct slurm_preempt *preempt, const struct slurm_spec *spec,
                              const struct slurm_trial *trial, struct slurm_victim *victims);

#endif
