/* scenario_read.h - a scenario file, its overrides and the catalog -> struct scenario. */
#ifndef GPUPLAN_IO_SCENARIO_READ_H
#define GPUPLAN_IO_SCENARIO_READ_H

#include "base/diag.h"
#include "spec/scenario.h"

/* Reads and checks the scenario. sets[set_count] are "path=value" lines of --set (borrowed); they act as if
 * the value stood in the file. Up to 20 problems go to diag. The scenario is cleared by
 * scenario_clear, also after a failure. */
enum status scenario_read(const char *path, const char *const *sets, size_t set_count,
                          struct scenario *scenario, struct diag *diag);

#endif
