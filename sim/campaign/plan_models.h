/* plan_models.h - which profiles the jobs have. */
#ifndef GPUPLAN_CAMPAIGN_PLAN_MODELS_H
#define GPUPLAN_CAMPAIGN_PLAN_MODELS_H

#include "base/diag.h"
#include "spec/plan.h"

/* Fills plan->profile_used and profiles_drawn. STATUS_INPUT when a job names a model that the scenario does not know, or one with a
 * training plan that does not divide its GPUs or does not fit into their memory; and when a job that names none can be drawn
 * none whose plan divides its GPUs. */
enum status plan_models(struct plan *plan, struct place jobs_file, struct diag *diag);

#endif
