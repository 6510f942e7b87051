/* scenario.c - gives back what a scenario owns; names; failures by size of server. */
#include "spec/scenario.h"

#include "spec/jobs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
    for (uint32_t i = 0; i < scenario->scheduler_count; i++)
        scenario_clear(&scenario->schedulers[i]);
    free(scenario->schedulers);
    scenario->schedulers = NULL;
    scenario->scheduler_count = 0;
    slurm_clear(&scenario->slurm);
    kube_clear(&scenario->kube);
}

void scenario_under(const struct scenario *scenario, const struct layout *layout,
                    struct scenario *out)
{
    *out = *scenario;
    if (layout->scheduler == 0) return;
    const size_t first = offsetof(struct scenario, kind), end = offsetof(struct scenario, failures);
    memcpy((char *)out + first, (const char *)&scenario->schedulers[layout->scheduler - 1] + first,
           end - first);
}

enum scheduler_kind scenario_kind(const struct scenario *scenario, const struct layout *layout)
{
    return layout->scheduler ? scenario->schedulers[layout->scheduler - 1].kind : scenario->kind;
}

struct failures failures_of_servers(const struct failures *failures, uint32_t gpus_per_server)
{
    struct failures adjusted = *failures;
    const double growth = failures->server_growth;
    adjusted.component[COMPONENT_SERVER].mean_s /=
        (1 - growth) + growth * gpus_per_server / FAILURES_REFERENCE_GPUS;
    return adjusted;
}
