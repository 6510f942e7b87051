/* plan_orders.c - see plan_orders.h. */
#include "campaign/plan_orders.h"

#include "cluster/request.h"
#include "policy/teams.h"

#include <inttypes.h>

static bool is_whole_only(enum order order)
{
    return order == ORDER_CONSERVATIVE || order == ORDER_SRTF || order == ORDER_LAS;
}

/* The first row that asks for something beside whole GPUs of any kind, or the count. */
static uint32_t first_by_part(const struct plan *plan, const struct variant *variant)
{
    const struct jobs *jobs = plan->jobs;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const struct request request = request_of_row(jobs, row, plan->scenario->shape);
        if (demand_on(plan->scenario, variant, jobs, &request).by_part) return row;
    }
    return jobs->count;
}

static enum status check_variant(const struct plan *plan, const struct variant *variant,
                                 struct diag *diag)
{
    const struct scenario *scenario = plan->scenario;
    const struct layout *layout = &scenario->layouts[variant->layout];
    const struct scenario *under =
        layout->scheduler ? &scenario->schedulers[layout->scheduler - 1] : scenario;
    const struct place file = { .file = scenario->path };
    if (under->kind != KIND_PLAIN || !is_whole_only(under->order)) return STATUS_OK;
    if (under->placement != PLACE_PACK && under->placement != PLACE_SPREAD)
        return diag_error(
            diag, file,
            "scheduler.plain.order %s puts jobs by placement pack or spread only; the "
            "other placements go with fcfs, easy, easy_event and sjf",
            order_names[under->order]);
    if (under->loss && under->order != ORDER_CONSERVATIVE)
        return diag_error(diag, file,
                          "scheduler.plain.loss does not go with order %s: it would drop the jobs "
                          "that are preempted",
                          order_names[under->order]);
    const uint32_t row = first_by_part(plan, variant);
    if (row == plan->jobs->count) return STATUS_OK;
    return diag_error(diag, file,
                      "scheduler.plain.order %s knows whole GPUs only; job '%s' asks for a part of "
                      "one, a type, or cores alone (fcfs, easy, easy_event and sjf know these)",
                      order_names[under->order], plan->jobs->text + plan->jobs->id[row]);
}

/* Servers of teams of which nobody submits a job would all stay idle. */
static enum status check_teams(const struct scenario *under, const struct plan *plan,
                               struct diag *diag)
{
    if (under->kind != KIND_STATIC || plan->jobs->count == 0 || team_owns_any(under, plan->jobs))
        return STATUS_OK;
    return diag_error(diag, (struct place){ .file = plan->scenario->path },
                      under->team_count
                          ? "scheduler.static: no job belongs to one of scheduler.static.teams, by "
                            "its team or its user"
                          : "scheduler.static: no job names its team or user, and "
                            "scheduler.static.teams is not written");
}

enum status plan_check_orders(const struct plan *plan, struct diag *diag)
{
    if (plan->scenario->scheduler_count == 0) TRY(check_teams(plan->scenario, plan, diag));
    for (uint32_t i = 0; i < plan->scenario->scheduler_count; i++)
        TRY(check_teams(&plan->scenario->schedulers[i], plan, diag));
    for (uint32_t v = 0; v < plan->variant_count; v++)
        TRY(check_variant(plan, &plan->variants[v], diag));
    return STATUS_OK;
}
