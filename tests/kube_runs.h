/* kube_runs.h - small clusters under the Kubernetes scheduler, run by the real engine. */
#ifndef GPUPLAN_TESTS_KUBE_RUNS_H
#define GPUPLAN_TESTS_KUBE_RUNS_H

#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "books_probe.h"

enum { KUBE_TEXT_BYTES = 1 << 16 };

/* Jobs that can say in Kubernetes' words what they want; row i is called "ji". */
static inline void kube_fixture(struct fixture *fixture, uint32_t job_count)
{
    fixture_init(fixture, job_count);
    snprintf(fixture->scenario.detail, sizeof fixture->scenario.detail, "all");
    fixture->scenario.kind = KIND_KUBERNETES;
    kube_defaults(&fixture->scenario.kube);
    fixture->scenario.failures.restart_ns = 0;
    struct jobs *jobs = &fixture->jobs;
    jobs->asks = ARENA_ARRAY(jobs->arena, struct ask, job_count + 1);
    jobs->ask = ARENA_ARRAY(jobs->arena, uint32_t, job_count + 1);
    jobs->words = ARENA_ARRAY(jobs->arena, struct job_words, job_count + 1);
    jobs->text = ARENA_ARRAY(jobs->arena, char, KUBE_TEXT_BYTES);
    for (uint32_t row = 0; row < job_count; row++) {
        jobs->ask[row] = UINT32_MAX;
        jobs->id[row] = (uint32_t)jobs->text_bytes;
        jobs->text_bytes += 1 + (uint64_t)sprintf(jobs->text + jobs->text_bytes, "j%u", row);
    }
}

static inline uint32_t kube_text(struct fixture *fixture, const char *text)
{
    struct jobs *jobs = &fixture->jobs;
    const uint32_t at = (uint32_t)jobs->text_bytes;
    jobs->text_bytes += 1 + (uint64_t)sprintf(jobs->text + at, "%s", text);
    return at;
}

/* A job of so many pods of so many GPUs, with a GPU's part of the cores and memory each. */
static inline struct ask *kube_job(struct fixture *fixture, uint32_t row, double submit_s,
                                   double duration_s, uint32_t pods, uint32_t gpus)
{
    struct jobs *jobs = &fixture->jobs;
    fixture_job(fixture, row, submit_s, duration_s, 0, pods * gpus);
    struct ask *ask = &jobs->asks[jobs->ask_count];
    *ask = (struct ask){ .pods = pods,
                         .pod_gpus = gpus,
                         .pod_cpu_milli = gpus ? 16000 * gpus : 1000,
                         .pod_memory_bytes = gpus ? (uint64_t)gpus << 37 : UINT64_C(1) << 30 };
    jobs->ask[row] = jobs->ask_count++;
    return ask;
}

/* Two hours of a random run: racks of so many nodes as the one level of a topology, servers that may break. */
static inline void kube_random_run(struct scenario *scenario, uint64_t seed, uint32_t rack_nodes,
                                   bool breaks)
{
    scenario->seed = seed;
    scenario->horizon_ns = 2 * NS_PER_HOUR; /* some runs deadlock: quota is no place */
    scenario->curve_bin_ns = NS_PER_HOUR;
    scenario->kube.level_count = 1;
    scenario->kube.level_nodes[0] = rack_nodes;
    snprintf(scenario->kube.levels[0], sizeof scenario->kube.levels[0], "rack");
    if (breaks)
        scenario->failures.component[COMPONENT_SERVER] = (struct component_failures){
            .law = LAW_EXPONENTIAL, .mean_s = 9000, .repair_median_s = 600, .repair_p95_s = 3000
        };
}

/* Runs the first layout; the books are checked after every instant. */
static inline void kube_run(struct fixture *fixture, struct replica_result *result)
{
    fixture_ready(fixture);
    run_probe = books_probe;
    const enum status status = fixture_run(fixture, 0, 0, result);
    run_probe = NULL;
    assert_true(status == STATUS_OK);
    assert_true(result->closure_error == 0);
}

static inline void kube_done(struct fixture *fixture, struct replica_result *result)
{
    replica_result_clear(result);
    fixture_clear(fixture);
}

/* The row of the job, by its row in the trace. */
static inline const struct job_row *kube_row(const struct replica_result *result, uint32_t row)
{
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    for (uint64_t i = 0; i < result->jobs.count; i++)
        if (rows[i].trace_row == row) return &rows[i];
    fail_msg("no row of job %u", row);
    return NULL;
}

static inline double kube_start_s(const struct replica_result *result, uint32_t row)
{
    const int64_t at_ns = kube_row(result, row)->first_start_ns;
    return at_ns == TIME_NEVER ? -1 : (double)at_ns / NS_PER_S;
}

static inline double kube_end_s(const struct replica_result *result, uint32_t row)
{
    const int64_t at_ns = kube_row(result, row)->end_ns;
    return at_ns == TIME_NEVER ? -1 : (double)at_ns / NS_PER_S;
}

/* Nodes of an attempt of the job, one bit each. */
static inline uint64_t kube_nodes_used(const struct replica_result *result, uint32_t row,
                                       uint32_t attempt)
{
    const struct allocation_row *rows = LOG_ITEMS(&result->allocations, struct allocation_row);
    const uint32_t serial = kube_row(result, row)->serial;
    uint64_t nodes = 0;
    for (uint64_t i = 0; i < result->allocations.count; i++)
        if (rows[i].serial == serial && rows[i].attempt == attempt)
            nodes |= UINT64_C(1) << rows[i].server;
    return nodes;
}

/* GPU-seconds of an account over the whole run. */
static inline double kube_account_s(const struct replica_result *result, enum account account)
{
    int128 sum = 0;
    for (int c = 0; c < CLASSES; c++) sum += result->ledger_all[account][c];
    return (double)(sum / UNITS_PER_GPU) / NS_PER_S;
}

#endif
