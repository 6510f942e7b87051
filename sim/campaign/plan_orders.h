/* plan_orders.h - orders of jobs that plan ahead or hand the pool out again know whole GPUs, put by pack or spread:
 * what they do not know is refused before anything runs; and teams of which no job is. */
#ifndef GPUPLAN_CAMPAIGN_PLAN_ORDERS_H
#define GPUPLAN_CAMPAIGN_PLAN_ORDERS_H

#include "base/diag.h"
#include "spec/plan.h"

/* After the variants are known. */
enum status plan_check_orders(const struct plan *plan, struct diag *diag);

#endif
