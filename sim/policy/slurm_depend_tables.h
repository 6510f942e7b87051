/* slurm_depend_tables.h - inside of slurm_depend. */
#ifndef GPUPLAN_POLICY_SLURM_DEPEND_TABLES_H
#define GPUPLAN_POLICY_SLURM_DEPEND_TABLES_H

#include "policy/slurm_depend.h"

#define DEPEND_NONE UINT32_MAX

/* What has happened to a row, as bits. */
enum {
    PHASE_SUBMITTED = 1,
    PHASE_STARTED = 2, /* at least once                                                          */
    PHASE_RUNNING = 4,
    PHASE_SPECIAL = 8, /* ended by an exit code of RequeueExitHold at least once                   */
    PHASE_OVER = 16,
};

static inline bool slurm_row_is_task(const struct jobs *jobs, uint32_t row)
{
    return jobs->words[row].array_first_row <= row;
}

/* The target that stands for the array of a row, or DEPEND_NONE. */
static inline uint32_t slurm_depend_array(const struct slurm_depend *depend, uint32_t row)
{
    if (!slurm_row_is_task(depend->jobs, row)) return DEPEND_NONE;
    return depend->array_target_of[depend->jobs->words[row].array_first_row];
}

#endif
