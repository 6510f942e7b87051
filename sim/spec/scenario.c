/* scenario.c - gives back what a scenario owns; names; failures by size of server. */
#include "spec/scenario.h"

#include "spec/jobs.h"

#include <stdlib.h>

const char *const until_metric_names[UNTIL_METRICS] = {
    [UNTIL_YIELD] = "yield",
    [UNTIL_GOODPUT] = "goodput",
    [UNTIL_UTILIZATION] = "utilization",
    [UNTIL_WAIT_MEAN] = "wait_s_mean",
    [UNTIL_WAIT_P95] = "wait_s_p95",
    [UNTIL_COMPLETION_MEAN] = "completion_s_mean",
    [UNTIL_COMPLETION_P95] = "completion_s_p95",
};

const char *const order_names[ORDERS] = {
    [ORDER_FCFS] = "fcfs",
    [ORDER_EASY] = "easy",
    [ORDER_EASY_EVENT] = "easy_event",
    [ORDER_SJF] = "sjf",
    [ORDER_CONSERVATIVE] = "conservative",
    [ORDER_LAS] = "las",
    [ORDER_SRTF] = "srtf",
};

void scenario_clear(struct scenario *scenario)
{
    free(scenario->text);
    free(scenario->overrides);
    free(scenario->resolved);
    scenario->text = scenario->overrides = scenario->resolved = NULL;
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        free(scenario->layouts[i].groups);
        scenario->layouts[i].groups = NULL;
    }
    if (scenario->jobs) jobs_clear(scenario->jobs);
    free(scenario->jobs);
    free(scenario->teams);
    free(scenario->events);
    scenario->jobs = NULL;
    scenario->teams = NULL;
    scenario->events = NULL;
    slurm_clear(&scenario->slurm);
    kube_clear(&scenario->kube);
}

struct failures failures_of_servers(const struct failures *failures, uint32_t gpus_per_server)
{
    struct failures adjusted = *failures;
    const double growth = failures->server_growth;
    adjusted.component[COMPONENT_SERVER].mean_s /=
        (1 - growth) + growth * gpus_per_server / FAILURES_REFERENCE_GPUS;
    return adjusted;
}
