/* expected_mix.h - the jobs that fgd expects: the most frequent kinds of the trace that make up 95 % of its jobs.
 *
 * As the published comparison does it. Jobs without GPUs count as jobs; no GPU is of use to them, so they are no task of the
 * mix (MODELS 6.2). A job of several nodes counts as one of its parts. */
#ifndef GPUPLAN_POLICY_EXPECTED_MIX_H
#define GPUPLAN_POLICY_EXPECTED_MIX_H

#include "cluster/request.h"
#include "policy/score.h"

#include <stdbool.h>
#include <stdint.h>

enum { EXPECTED_TASKS_MOST = 512 }; /* kinds; a log of that many has no typical job           */

struct expected_mix {
    struct score_mix mix;
    struct score_task *tasks; /* owned                                                          */
};

/* From the classes of a trace of so many jobs, and what they mean on a layout: demands[class_count]. False: memory is out. */
bool expected_mix_init(struct expected_mix *mix, const struct demand *demands,
                       const struct request_table *requests, uint32_t job_count);
void expected_mix_clear(struct expected_mix *mix); /* a zeroed one is allowed */

#endif
