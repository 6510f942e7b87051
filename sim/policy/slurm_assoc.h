/* slurm_assoc.h - the tree of accounts and users (associations), and which of its users each job belongs to.
 *
 * Row 0 is the account "root"; every other row hangs below an account. As slurmdbd does, the tree always has the
 * user "root" of the account "root", with 1 share, which counts among the users of Fair Tree (the sshare captures of
 * recording s17 show it). An account that is named nowhere but by a user hangs below root with 1 share.
 *
 * A job belongs to the user named by its account and user. Without an account: the first association written for its
 * user. With an account of the tree and a user that is not written there: that user is added to it with 1 share, so
 * that a scenario may list accounts alone. Without either, or with an unknown account: none.
 *
 * Built once, then read only. Memory is its own (malloc); slurm_assoc_clear gives it back.
 * Left out: wckeys, partition-specific associations, shares "parent". Source: SCHEDULING.md 2.7, sacctmgr(1).
 * Tests: tests/test_slurm_assoc.c */
#ifndef GPUPLAN_POLICY_SLURM_ASSOC_H
#define GPUPLAN_POLICY_SLURM_ASSOC_H

#include "policy/names.h"
#include "spec/jobs.h"
#include "spec/slurm.h"

#include <stdbool.h>
#include <stdint.h>

#define ASSOC_NONE UINT32_MAX
#define ASSOC_ROOT 0u

struct slurm_assoc_row {
    struct name account, user; /* user of 0 bytes = an account                                     */
    uint32_t parent;           /* row; ASSOC_NONE for the root                                      */
    uint32_t spec;             /* row in spec->associations; ASSOC_NONE = not written                */
    uint32_t shares;
    uint32_t priority;
    uint32_t depth; /* of the root 0                                                      */
};

/* Who a job belongs to. */
struct slurm_who {
    uint32_t assoc; /* row of the tree, or ASSOC_NONE                                          */
    uint32_t user;  /* number of the user's name, counted from 0 in order of first appearance    */
};

struct slurm_assoc {
    struct slurm_assoc_row *rows; /* [count]                                                     */
    uint32_t count, capacity;
    uint32_t priority_most; /* of all rows                                                      */
    uint32_t users;        /* rows that are users                                              */
    uint32_t user_names;   /* different names of users among jobs                               */
    uint32_t *deepest_first; /* [count] rows by depth, so that children come before parents         */
    struct slurm_who *who; /* [jobs->count]                                                    */
    struct names by_name, user_of_name; /* used while it is built                               */
};

/* The tree of `spec` and the jobs' places in it. Spec and jobs are borrowed until clear. Without any written
 * association the tree has no rows and all jobs belong to none. False: memory is out (clear it all the same). */
bool slurm_assoc_init(struct slurm_assoc *assoc, const struct slurm_spec *spec,
                      const struct jobs *jobs);
void slurm_assoc_clear(struct slurm_assoc *assoc);

static inline bool slurm_assoc_is_user(const struct slurm_assoc *assoc, uint32_t row)
{
    return assoc->rows[row].user.bytes > 0;
}

/* Priority of a job's association over the largest of all, 0 .. 1; 0 without one. */
static inline double slurm_assoc_factor(const struct slurm_assoc *assoc, uint32_t row)
{
    if (row == ASSOC_NONE || assoc->priority_most == 0) return 0;
    return (double)assoc->rows[row].priority / assoc->priority_most;
}

#endif
