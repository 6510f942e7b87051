/* inputs.h - what run and check share: the jobs of a scenario, and what was read in a few lines. */
#ifndef GPUPLAN_CLI_INPUTS_H
#define GPUPLAN_CLI_INPUTS_H

#include "base/diag.h"
#include "spec/plan.h"

#include <stdbool.h>
#include <stdio.h>

/* Whether the scenario says what its jobs are: by a trace, or one by one. */
bool inputs_has_jobs(const struct scenario *scenario);

/* Reads the trace that the scenario names; a trace without a job that can be replayed is refused. Jobs that the
 * scenario writes itself move from it to `jobs`. */
enum status inputs_read_jobs(struct scenario *scenario, struct jobs *jobs,
                             struct import_report *import, struct diag *diag);

/* Rows read, imported and skipped; then each layout with its size and, of a log, offered load. Each line
 * begins with `prefix`. */
void inputs_print(FILE *out, const char *prefix, const struct plan *plan);

#endif
