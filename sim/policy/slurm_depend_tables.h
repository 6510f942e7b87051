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

/* The first row of the array or heterogeneous job that a row is a part of; JOB_NONE = of none. */
static inline uint32_t slurm_whole_of(const struct jobs *jobs, uint32_t row)
{
    const struct job_words *words = &jobs->words[row];
    return words->array_first_row <= row ? words->array_first_row
           : words->het_first_row <= row ? words->het_first_row
                                         : JOB_NONE;
}

/* The target that stands for the whole that a row is a part of, or DEPEND_NONE. */
static inline uint32_t slurm_depend_whole(const struct slurm_depend *depend, uint32_t row)
{
    const uint32_t first = slurm_whole_of(depend->jobs, row);
    return first == JOB_NONE ? DEPEND_NONE : depend->whole_target_of[first];
}

#endif
