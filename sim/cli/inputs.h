/* inputs.h - what run and check share: the trace of a scenario, and what was read in a few lines. */
#ifndef GPUPLAN_CLI_INPUTS_H
#define GPUPLAN_CLI_INPUTS_H

#include "base/diag.h"
#include "spec/plan.h"

#include <stdio.h>

/* Reads the trace that the scenario names; a trace without a job that can be replayed is refused. */
enum status inputs_read_trace(const struct scenario *scenario, struct jobs *jobs,
                              struct import_report *import, struct diag *diag);

/* Rows read, imported and skipped; then each layout with its size and offered load. Each line
 * begins with `prefix`. */
void inputs_print(FILE *out, const char *prefix, const struct plan *plan);

#endif
