/* slurm_reserve.h - reservations: which nodes a job may use from one time to another, and when that next changes.
 *
 * A job that names no reservation may not use the nodes of one whose time its [start, start + limit) meets; that it
 * belongs to the reservation's users does not help. A job that names one, and is of its users and accounts, may use
 * its nodes only, and start only inside its time; other reservations on these nodes still keep it out, unless its own
 * is one of MAINT. What runs in a reservation at its end is stopped then (ResvOverRun=0).
 *
 * Left out: reservations of cores, licences or parts of nodes, flags other than MAINT, users written with a minus.
 * Source: SCHEDULING.md 2.9, reservations page of Slurm; checked against recording s29. Tests:
 * tests/test_slurm_reserve.c */
#ifndef GPUPLAN_POLICY_SLURM_RESERVE_H
#define GPUPLAN_POLICY_SLURM_RESERVE_H

#include "base/arena.h"
#include "policy/names.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define RESERVATION_NONE UINT32_MAX

struct slurm_reserve {
    const struct slurm_spec *spec; /* borrowed                                                  */
    uint32_t words;   /* of a set of nodes, 64 each                                              */
    uint64_t *nodes;  /* [reservation_count * words]                                             */
};

/* Sets of nodes in the arena. Host lists that the layout does not have whole reserve nothing here. False: memory is
 * out. */
bool slurm_reserve_init(struct slurm_reserve *reserve, const struct slurm_spec *spec,
                        const struct layout *layout, struct arena *arena);

/* Row of a reservation, or RESERVATION_NONE. */
uint32_t slurm_reserve_find(const struct slurm_reserve *reserve, struct name name);

/* Whether a user with this account may name it. */
bool slurm_reserve_admits(const struct slurm_reserve *reserve, uint32_t row, struct name user,
                          struct name account);

/* A job, and when it would run. */
struct slurm_stay {
    uint32_t reservation; /* that it names, or RESERVATION_NONE                                     */
    int64_t start_ns, end_ns;
};

/* Takes the nodes that the job may not use out of nodes[words]. Returns the next time behind its start at which a later
 * start may find more nodes (the end of a reservation in its way, or the start of its own); TIME_NEVER = none. *reason:
 * NULL, or why nodes are kept from it, as squeue says. */
int64_t slurm_reserve_limit(const struct slurm_reserve *reserve, struct slurm_stay stay,
                            uint64_t *nodes, const char **reason);

/* The first start or end of a reservation behind a time: when waiting jobs are to be looked at again. */
int64_t slurm_reserve_boundary_ns(const struct slurm_reserve *reserve, int64_t behind_ns);

/* When a job that runs in this reservation is stopped; TIME_NEVER without one. */
static inline int64_t slurm_reserve_end_ns(const struct slurm_reserve *reserve, uint32_t row)
{
    return row == RESERVATION_NONE ? INT64_MAX : reserve->spec->reservations[row].end_ns;
}

#endif
