/* scenario.c - gives back what a scenario owns; failures by size of server. */
#include "spec/scenario.h"

#include <stdlib.h>

void scenario_clear(struct scenario *scenario)
{
    free(scenario->text);
    free(scenario->overrides);
    free(scenario->resolved);
    scenario->text = scenario->overrides = scenario->resolved = NULL;
}

struct failures failures_of_servers(const struct failures *failures, uint32_t gpus_per_server)
{
    struct failures adjusted = *failures;
    const double growth = failures->server_growth;
    adjusted.component[COMPONENT_SERVER].mean_s /=
        (1 - growth) + growth * gpus_per_server / FAILURES_REFERENCE_GPUS;
    return adjusted;
}
