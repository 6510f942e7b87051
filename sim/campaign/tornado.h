/* tornado.h - the assumptions that carry a verdict, each moved by itself.
 *
 * A setting is a copy of the scenario with one assumption changed; its runs share trace, classes
 * and luck with the runs of the scenario as written, so differences come from the assumption alone. */
#ifndef GPUPLAN_CAMPAIGN_TORNADO_H
#define GPUPLAN_CAMPAIGN_TORNADO_H

#include "handlers/run.h"
#include "spec/plan.h"

/* Lists the settings that mean something for this plan: row 0, then, unless the scenario says no,
 * communication at half and twice, failures at a third and three times, the rate of a server in
 * step with its GPUs, half of the NICs, jobs a tenth shorter and longer. */
void tornado_settings(struct plan *plan);

/* What the runs of one setting share. */
struct world {
    struct scenario scenario;
    struct plan plan;
    struct jobs jobs;
    struct run_shared shared;
};

/* The world of plan->settings[row], in the arena; row 0 borrows everything. NULL: memory is out. */
struct world *tornado_world(const struct run_shared *shared, uint32_t row, struct arena *arena);

#endif
