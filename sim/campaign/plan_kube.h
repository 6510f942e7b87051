/* plan_kube.h - what a scenario asks of the Kubernetes scheduler that it does not do is refused before anything runs. */
#ifndef GPUPLAN_CAMPAIGN_PLAN_KUBE_H
#define GPUPLAN_CAMPAIGN_PLAN_KUBE_H

#include "base/diag.h"
#include "spec/jobs.h"
#include "spec/scenario.h"

/* under: whose scheduler it is; scenario: whose layouts. */
enum status plan_check_kubernetes(const struct scenario *under, const struct scenario *scenario,
                                  const struct jobs *jobs, struct diag *diag);

#endif
