/* fgd_runs.h - the share of openb's GPUs that a placement gives out; for the oracles that compare it with what was published.
 *
 * scenarios/shared_gpus.yaml on other files, run by the real engine without a database. */
#ifndef GPUPLAN_TESTS_FGD_RUNS_H
#define GPUPLAN_TESTS_FGD_RUNS_H

#include "campaign/plan_build.h"
#include "handlers/run.h"
#include "io/scenario_read.h"
#include "io/trace_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FGD_REPLICAS = 10, FGD_PATH = 4096 };

/* The nodes with GPUs and a list of pods, in ../traces beside the folder with the figures. */
static inline void fgd_files(const char *figures, const char *list, char nodes[FGD_PATH],
                             char pods[FGD_PATH])
{
    snprintf(nodes, FGD_PATH, "%s/../traces/alibaba-openb-2023/openb_node_list_gpu_node.csv", figures);
    snprintf(pods, FGD_PATH, "%s/../traces/alibaba-openb-2023/openb_pod_list_%s.csv", figures, list);
}

/* Mean and sd over the draws, in percent. */
struct fgd_row {
    double mean, sd;
    bool there;
};

static inline double fgd_metric(const struct replica_result *result, const char *name)
{
    const struct metric_row *rows = result->metrics.items;
    for (uint64_t i = 0; i < result->metrics.count; i++)
        if (strcmp(rows[i].name, name) == 0 && rows[i].class_ == CLASS_NONE) return rows[i].value;
    return NAN;
}

static inline enum status fgd_replicas(const struct plan *plan, struct fgd_row *row)
{
    struct arena *arena = arena_create(UINT64_C(1) << 34);
    struct run_shared shared;
    double sum = 0, squares = 0;
    enum status status = run_shared_init(&shared, plan, arena);
    for (uint32_t replica = 0; replica < FGD_REPLICAS && status == STATUS_OK; replica++) {
        struct replica_result result;
        status =
            run_replica(&(struct run_request){ .shared = &shared, .replica = replica }, &result);
        const double percent = 100 * fgd_metric(&result, "utilization");
        sum += percent;
        squares += percent * percent;
        replica_result_clear(&result);
    }
    arena_destroy(arena);
    row->mean = sum / FGD_REPLICAS;
    row->sd = sqrt((squares - FGD_REPLICAS * row->mean * row->mean) / (FGD_REPLICAS - 1));
    row->there = true;
    return status;
}

static inline enum status fgd_run(const char *nodes, const char *pods, const char *word,
                              struct fgd_row *row, struct diag *diag)
{
    char set[3][FGD_PATH + 64];
    snprintf(set[0], sizeof set[0], "scheduler.plain.placement=%s", word);
    snprintf(set[1], sizeof set[1], "layouts[0].servers=%s", nodes);
    snprintf(set[2], sizeof set[2], "workload.trace.file=%s", pods);
    /* One NIC for each of the smallest servers of the list: nobody communicates. */
    const char *const sets[] = { set[0], set[1], set[2], "layouts[0].fabric.nics_per_gpu=0.5" };
    struct scenario scenario;
    struct jobs jobs = { 0 };
    struct import_report import;
    static struct plan plan;
    enum status status = scenario_read("scenarios/shared_gpus.yaml", sets, 4, &scenario, diag);
    if (status == STATUS_OK) {
        const struct trace_options options = { .format = scenario.trace_format };
        status = trace_read(scenario.trace_path, &options, &jobs, &import, diag);
    }
    if (status == STATUS_OK)
        status = plan_build(&scenario, &jobs, &import, NULL, 0, 1, &plan, diag);
    if (status == STATUS_OK) status = fgd_replicas(&plan, row);
    jobs_clear(&jobs);
    scenario_clear(&scenario);
    return status;
}

#endif
