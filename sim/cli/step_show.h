/* step_show.h - a training step as text and as JSON on stdout, and why a plan is refused. */
#ifndef GPUPLAN_CLI_STEP_SHOW_H
#define GPUPLAN_CLI_STEP_SHOW_H

#include "cli/step_catalog.h"
#include "models/train_memory.h"
#include "models/train_step.h"

/* Parameters and shape that do not belong together (train_shape_ratio; the models of the catalog lie between 0.98 and 2.0): more than a
 * factor of 4 apart is told, more than 100 is a slip and refused. */
enum status step_check_shape(const struct train_model *model, struct diag *diag);

/* A plan that does not divide or does not fit: a usage error with the number that is wrong. */
enum status step_refuse(const struct step_inputs *inputs, struct diag *diag);

void step_show_text(const struct step_inputs *inputs, const struct train_time *time,
                    const struct train_memory *memory);

/* {"step_s", parts in s, "tflops_per_gpu", "mfu", ..., "memory": {bytes}, "plan": {...}}; numbers that are not known are null. */
enum status step_show_json(const struct step_inputs *inputs, const struct train_time *time,
                           const struct train_memory *memory, struct diag *diag);

#endif
