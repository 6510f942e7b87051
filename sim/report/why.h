/* why.h - `gpuplan why`: why a job waited and where its time went. */
#ifndef GPUPLAN_REPORT_WHY_H
#define GPUPLAN_REPORT_WHY_H

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct why_options {
    const char *layout; /* NULL: the baseline                                                 */
    const char *slack;  /* "any" or a number; NULL: the first of the layout                   */
    uint32_t replica;
    bool by_serial;     /* the job is named by its number among the arrivals                   */
    bool json;
    uint32_t longest;   /* > 0: instead of one job, those that waited longest                  */
};

/* Tells of one job, by its id in the trace; `job` is NULL with options->longest. */
enum status why_print(const char *db_path, const char *job, FILE *out,
                      const struct why_options *options, struct diag *diag);

#endif
