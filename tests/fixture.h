/* fixture.h - a plan built in memory, run by the real engine; for tests, oracles and benchmarks.
 *
 * Header only: a test is one file. The scenario starts as "nothing but scheduling": no faults, no
 * checkpoints, no communication, no start-up; a test switches on what it is about. */
#ifndef GPUPLAN_TESTS_FIXTURE_H
#define GPUPLAN_TESTS_FIXTURE_H

#include "base/clock.h"
#include "campaign/plan_build.h"
#include "handlers/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct scenario scenario;
    struct jobs jobs;
    struct import_report import;
    struct plan plan;
    struct arena *arena;
    struct run_shared shared;
    struct diag *diag;
};

static inline struct server_type fixture_server(uint32_t gpus)
{
    struct server_type server = { .gpus = gpus,
                                  .nics = gpus,
                                  .nic_bytes_per_s = 48.5e9,
                                  .scaleup_bytes_per_s = 370.8e9,
                                  .gpu_pcie_bytes_per_s = 55e9,
                                  .host_memory_bytes_per_s = 300e9,
                                  .scaleup_hop_s = 3.4e-6,
                                  .gpudirect = true,
                                  .p2p_max = LINK_SYS,
                                  .gdr_max = LINK_PXB,
                                  .cores = 16 * gpus,
                                  .memory_bytes = (uint64_t)gpus << 37 };
    snprintf(server.id, sizeof server.id, "test-%u", gpus);
    return server;
}

/* Adds a layout of `servers` servers of `gpus` GPUs; one huge switch, so one leaf. */
static inline struct layout *fixture_layout(struct fixture *fixture, const char *name,
                                            uint32_t servers, uint32_t gpus)
{
    struct layout *layout = &fixture->scenario.layouts[fixture->scenario.layout_count++];
    snprintf(layout->name, sizeof layout->name, "%s", name);
    layout->server = fixture_server(gpus);
    layout->server_count = servers;
    layout->fabric = (struct fabric){
        .link = { .bytes_per_s = 48.5e9, .hop_s = 14e-6, .switch_ports = 1u << 23 },
        .nics_per_server = gpus,
        .nics_per_gpu = 1,
        .oversubscription = 1
    };
    return layout;
}

/* A scenario that plays the trace once, to the end, under FCFS; job_count rows to be filled. */
static inline void fixture_init(struct fixture *fixture, uint32_t job_count)
{
    memset(fixture, 0, sizeof *fixture);
    struct scenario *scenario = &fixture->scenario;
    snprintf(scenario->path, sizeof scenario->path, "fixture");
    snprintf(scenario->name, sizeof scenario->name, "fixture");
    snprintf(scenario->detail, sizeof scenario->detail, "first");
    scenario->seed = 42;
    scenario->horizon_ns = HORIZON_ALL;
    scenario->curve_bin_ns = 24 * NS_PER_HOUR;
    scenario->replicas = 1;
    scenario->recorded_server = fixture_server(8);
    scenario->recorded_count = 1;
    scenario->limit_factor = 1;
    scenario->contains_startup = scenario->contains_checkpoint = scenario->contains_stalls = true;
    scenario->shape = SHAPE_MODEL;
    scenario->slack_count = 1;
    scenario->las_thresholds_gpu_s[0] = 3250; /* the defaults of the key */
    scenario->las_thresholds_gpu_s[1] = 7200;
    scenario->las_threshold_count = 2;
    scenario->communication.scale = 1;
    scenario->communication.allreduce = RULE_FLAT_RING; /* as tests calculate it by hand */
    scenario->failures.scale = 1;
    scenario->failures.detection_ns = 60 * NS_PER_S;
    scenario->failures.restart_ns = 300 * NS_PER_S;
    fixture->diag = diag_create();
    fixture->arena = arena_create(UINT64_C(1) << 36);
    struct jobs *jobs = &fixture->jobs;
    jobs->arena = arena_create(UINT64_C(1) << 36);
    jobs->count = job_count;
    jobs->submit_ns = ARENA_ARRAY(jobs->arena, int64_t, job_count);
    jobs->duration_ns = ARENA_ARRAY(jobs->arena, int64_t, job_count);
    jobs->limit_ns = ARENA_ARRAY(jobs->arena, int64_t, job_count);
    jobs->gpus = ARENA_ARRAY(jobs->arena, uint32_t, job_count);
    jobs->id = ARENA_ARRAY(jobs->arena, uint32_t, job_count);
    jobs->text = ARENA_ARRAY(jobs->arena, char, 1);
    jobs->text_bytes = 1;
}

static inline void fixture_job(struct fixture *fixture, uint32_t row, double submit_s,
                               double duration_s, double limit_s, uint32_t gpus)
{
    fixture->jobs.submit_ns[row] = ns_from_s(submit_s);
    fixture->jobs.duration_ns[row] = ns_from_s(duration_s);
    fixture->jobs.limit_ns[row] = limit_s > 0 ? ns_from_s(limit_s) : JOB_NO_LIMIT;
    fixture->jobs.gpus[row] = gpus;
}

/* Builds the plan; a refusal is printed and ends the program: the fixture is wrong. */
static inline void fixture_ready(struct fixture *fixture)
{
    if (plan_build(&fixture->scenario, &fixture->jobs, &fixture->import, NULL, 0, 1, &fixture->plan,
                   fixture->diag) != STATUS_OK ||
        run_shared_init(&fixture->shared, &fixture->plan, fixture->arena) != STATUS_OK) {
        diag_print(fixture->diag, stderr);
        abort();
    }
}

static inline enum status fixture_run(struct fixture *fixture, uint32_t variant, uint32_t replica,
                                      struct replica_result *result)
{
    const struct run_request request = { .shared = &fixture->shared,
                                         .variant = variant,
                                         .replica = replica };
    return run_replica(&request, result);
}

static inline void fixture_clear(struct fixture *fixture)
{
    arena_destroy(fixture->arena);
    jobs_clear(&fixture->jobs);
    diag_destroy(fixture->diag);
}

/* The metric of a result, or `missing`. */
static inline double fixture_metric(const struct replica_result *result, const char *name,
                                    enum size_class size_class, double missing)
{
    const struct metric_row *rows = LOG_ITEMS(&result->metrics, struct metric_row);
    for (uint64_t i = 0; i < result->metrics.count; i++)
        if (!strcmp(rows[i].name, name) && rows[i].class_ == (uint8_t)size_class)
            return rows[i].value;
    return missing;
}

#endif
