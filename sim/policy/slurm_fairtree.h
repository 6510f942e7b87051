/* slurm_fairtree.h - fair share by Fair Tree: past use of each user and account, and the rank that it gives.
 *
 * Use U grows by billing units times seconds of running jobs, counts for the user and all accounts above, and decays
 * by 0.5^(dt / PriorityDecayHalfLife). At each level
 *
 *     level_fs = (shares / sum of the siblings' shares) / (U / U of the parent)      infinite without use
 *
 * The tree is walked depth first, highest level_fs first, users before accounts on a tie. Of N users the k-th gets
 * rank N - k + 1, and the rank of the one before if its level_fs ties with that one's; an account that ties with the
 * sibling before passes the tie on to its first child. factor = rank / N.
 *
 * Use of running jobs is booked when a job starts or ends, in integers (millionths of a billing unit times ns), and
 * enters U at slurm_fairtree_update, which is to be called each PriorityCalcPeriod: ranks change only there.
 * Left out: the decay of what was used within one period (PriorityCalcPeriod is far below the half-life), QOS usage
 * factors, shares "parent".
 * Source: SCHEDULING.md 2.7, slurm's fair_tree documentation; checked against the sshare captures of recording s17.
 * Tests: tests/test_slurm_fairtree.c */
#ifndef GPUPLAN_POLICY_SLURM_FAIRTREE_H
#define GPUPLAN_POLICY_SLURM_FAIRTREE_H

#include "base/int128.h"
#include "policy/slurm_assoc.h"

struct slurm_fairtree_row {
    double usage;        /* billing units * s, decayed as of updated_ns; of users; of accounts: the sum  */
    double level_fs;
    double factor;       /* 0 .. 1; of users only                                               */
    int64_t rate_micro;  /* millionths of a billing unit that its running jobs hold              */
    int64_t booked_ns;   /* up to when `booked` holds their use                                  */
    int128 booked;       /* rate_micro * ns since updated_ns                                     */
};

struct slurm_fairtree {
    const struct slurm_assoc *tree;  /* borrowed                                                 */
    struct slurm_fairtree_row *rows; /* [tree->count]                                           */
    uint32_t *order, *spare;         /* [tree->count] rows by parent, then as walked               */
    uint32_t *children;              /* [tree->count + 1] where a row's children begin in order     */
    uint32_t *stack;                 /* [tree->count]                                           */
    uint64_t *key;                   /* [tree->count]                                           */
    int64_t updated_ns;
};

/* False: memory is out (clear it all the same). All factors are 1 before any use: everybody ties. */
bool slurm_fairtree_init(struct slurm_fairtree *fair, const struct slurm_assoc *tree);
void slurm_fairtree_clear(struct slurm_fairtree *fair);

/* Billing units of a job in millionths: sum of TRESBillingWeights times what it holds. */
int64_t slurm_billing_micro(const struct slurm_spec *spec, uint64_t cores, uint64_t gpus,
                            uint64_t memory_mib);

/* A job of the user `assoc` starts (billing_micro > 0), or ends (the same number, negative). assoc ASSOC_NONE: no
 * effect. Times never go back. */
void slurm_fairtree_book(struct slurm_fairtree *fair, uint32_t assoc, int64_t billing_micro,
                         int64_t now_ns);

/* Decays, books up to now and ranks. half_life_ns 0 = use is never forgotten. */
void slurm_fairtree_update(struct slurm_fairtree *fair, int64_t half_life_ns, int64_t now_ns);

/* Ranks by the usage of users as it stands. */
void slurm_fairtree_rank(struct slurm_fairtree *fair);

/* The factor of a job's association; 0 without one. */
static inline double slurm_fairtree_factor(const struct slurm_fairtree *fair, uint32_t assoc)
{
    return assoc == ASSOC_NONE ? 0 : fair->rows[assoc].factor;
}

#endif
