/* slurm_depend.h - dependencies between jobs: who still waits, who may go, who waits for ever.
 *
 * Ids become rows of the trace once, at init, by a table of the ids that are referred to. Every term then is one edge
 * from the row (or array) that it names: what happens to a job costs its edges and nothing else. Singletons stand in a
 * list for each name and user; a list has one place up to which all have ended.
 *
 * An id that no job has: the job is refused when it is submitted, as sbatch does. An id may name a job further down,
 * which sbatch cannot. The terms of an array, or of a heterogeneous job, ask for all its parts: started, ended, ended well. A task that asks for
 * the task of the same index of an array that has none asks for the whole array.
 * A job whose row comes again (a trace played in a circle) finds the dependencies as they are.
 *
 * Source: SCHEDULING.md 2.9, sbatch(1); checked against recording s23. Tests: tests/test_slurm_depend.c */
#ifndef GPUPLAN_POLICY_SLURM_DEPEND_H
#define GPUPLAN_POLICY_SLURM_DEPEND_H

#include "policy/names.h"
#include "spec/depend.h"
#include "spec/jobs.h"

#include <stdbool.h>
#include <stdint.h>

enum slurm_depend_state {
    DEPENDS_ON_NOTHING,
    DEPENDS_WAITS,
    DEPENDS_MET,     /* from ready_ns on                                                          */
    DEPENDS_NEVER,   /* DependencyNeverSatisfied                                                   */
    DEPENDS_INVALID, /* names a job that is not there, or is not well formed                        */
};

struct slurm_depend_edge {
    uint32_t dependent; /* row in dependents                                                    */
    uint32_t next;      /* edge of the same target                                              */
    enum depend_type type;
    int64_t delay_ns;
};

/* A job that depends on something. */
struct slurm_dependent {
    uint32_t row;
    uint32_t terms, met, failed;
    bool any;       /* one is enough                                                             */
    bool submitted;
    bool singleton; /* its singleton term is open                                                */
    uint8_t state;  /* enum slurm_depend_state                                                   */
    int64_t ready_ns;
};

/* What others wait for: one job, or an array or heterogeneous job as a whole. */
struct slurm_depend_target {
    uint32_t first_edge;
    uint32_t tasks, started, ended, failed;
};

/* Jobs of one name and user of which at least one is a singleton. */
struct slurm_singletons {
    uint32_t begin, end; /* in singleton_rows                                                  */
    uint32_t open;       /* the first that has not ended                                         */
    uint32_t running;
};

struct slurm_depend {
    uint32_t job_count;                 /* 0 = nobody depends on anything: all else is NULL              */
    const struct jobs *jobs;            /* borrowed                                                  */
    struct slurm_dependent *dependents; /* [dependent_count] by row                                    */
    struct slurm_depend_edge *edges;    /* [edge_count]                                              */
    struct slurm_depend_target *targets;
    struct slurm_singletons *groups;
    uint32_t dependent_count, dependent_capacity, edge_count, edge_capacity;
    uint32_t target_count, target_capacity, group_count, group_capacity;
    uint32_t *dependent_of, *target_of, *whole_target_of, *group_of; /* [job_count] NONE = not one     */
    uint32_t *singleton_rows;
    uint8_t *phase;             /* [job_count]                                                     */
    uint32_t *changed;          /* [changed_capacity] dependents whose state has changed               */
    uint32_t changed_count, changed_given, changed_capacity;
    struct names ids, kinds;    /* used while it is built                                            */
};

/* False: memory is out (clear it all the same). */
bool slurm_depend_init(struct slurm_depend *depend, const struct jobs *jobs);
void slurm_depend_clear(struct slurm_depend *depend);

/* What happens to jobs. A job that waits again after a run is `requeued`; `over` comes once, whether it ran or not.
 * ok: exit code 0. special: it ended by an exit code of RequeueExitHold, which afternotok takes for a failure. */
void slurm_depend_submitted(struct slurm_depend *depend, uint32_t row, int64_t now_ns);
void slurm_depend_started(struct slurm_depend *depend, uint32_t row, int64_t now_ns);
void slurm_depend_requeued(struct slurm_depend *depend, uint32_t row, bool special, int64_t now_ns);
void slurm_depend_over(struct slurm_depend *depend, uint32_t row, bool ok, int64_t now_ns);

/* State of a job; for DEPENDS_MET also since when it may go. */
enum slurm_depend_state slurm_depend_state(const struct slurm_depend *depend, uint32_t row,
                                           int64_t *ready_ns);

/* The next row, submitted and waiting until now, that has become MET or NEVER; JOB_NONE = no more. In the order of the
 * events, and of one event in order of the trace. */
uint32_t slurm_depend_changed(struct slurm_depend *depend);

#endif
