/* slurm.h - questions to the Slurm policy beside those of policy.h.
 *
 * Source: SCHEDULING 2.3, step 5. Tests: tests/oracle_slurm.c (recording s44). */
#ifndef GPUPLAN_POLICY_SLURM_H
#define GPUPLAN_POLICY_SLURM_H

#include "policy/policy.h"

#include <stdint.h>

/* What sbatch --test-only says of a job that is not submitted: when and where it would start beside those who run, if all
 * of them took their whole limit. Reservations of waiting jobs do not count. */
struct slurm_test_only {
    const char *refused;      /* NULL, or why it can never run                                     */
    int64_t start_ns;         /* whole seconds of the wall clock, as simulation time                 */
    const struct part *parts; /* borrowed until the next call                                      */
    uint32_t part_count;
};
struct slurm_test_only slurm_test_only(void *memory, const struct policy_view *view, uint32_t row,
                                       int64_t now_ns);

#endif
