/* plan_build.h - scenario and trace -> what will run: layouts sized, fabrics counted, times resolved,
 * memory estimated. The last place that refuses input. */
#ifndef GPUPLAN_CAMPAIGN_PLAN_BUILD_H
#define GPUPLAN_CAMPAIGN_PLAN_BUILD_H

#include "base/diag.h"
#include "spec/plan.h"

/* Fills *plan; scenario, jobs and import are borrowed by it. only[only_count]: names of layouts to
 * keep (0 = all). workers: threads, for the estimate of memory. */
enum status plan_build(const struct scenario *scenario, const struct jobs *jobs,
                       const struct import_report *import, const char *const *only,
                       size_t only_count, uint32_t workers, struct plan *plan, struct diag *diag);

/* Faults per second of all components of a variant, software left aside. */
double plan_fault_rate(const struct scenario *scenario, const struct variant *variant);

#endif
