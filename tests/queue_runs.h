/* queue_runs.h - whole runs of the real engine on Poisson arrivals, for test_theory and for the rows of kind
 * `stat` (MODELS 10). Streams of their own. */
#ifndef TESTS_QUEUE_RUNS_H
#define TESTS_QUEUE_RUNS_H

#include "fixture.h"

#include "base/assert.h"
#include "base/exactmath.h"
#include "base/philox.h"

#include <math.h>

enum { LOADS_MOST = 8 };

struct service {
    double mean, cv2; /* cv2 1: exponential; else lognormal */
};

struct load {
    uint32_t gpus;
    double per_unit; /* arrivals in a unit of time */
};

struct queue {
    uint32_t servers, gpus_per_server;
    double unit_s; /* one unit of the theory's time */
    int64_t warmup_h, horizon_h;
    struct service service;
    struct load loads[LOADS_MOST];
    uint32_t load_count;
    bool loss;
};

static inline double draw_service(const struct service *service, double u)
{
    if (service->cv2 == 1) return inv_exponential(u, service->mean);
    const double sigma2 = log1p(service->cv2);
    return inv_lognormal(u, log(service->mean) - sigma2 / 2, sqrt(sigma2));
}

/* Arrivals of all sizes together are Poisson too; each is of a size with its share of the rate. */
static inline void fill_trace(struct fixture *fixture, const struct queue *queue,
                              uint64_t replicate)
{
    const uint64_t key = stream_key(20 + queue->servers, replicate, "test.theory");
    double rate = 0, at_s = 0;
    for (uint32_t l = 0; l < queue->load_count; l++) rate += queue->loads[l].per_unit;
    const double until_s = (double)queue->horizon_h * 3600;
    const uint32_t most = (uint32_t)(until_s / queue->unit_s * rate * 1.1 + 1000);
    fixture_init(fixture, most);
    uint32_t row = 0;
    for (; row < most; row++) {
        const struct draw draw = stream_draw(key, row, 0);
        if (row > 0) at_s += inv_exponential(draw.u1, queue->unit_s / rate);
        if (at_s >= until_s) break;
        double u = stream_uniform(key, row, 1) * rate;
        uint32_t l = 0;
        while (l + 1 < queue->load_count && u >= queue->loads[l].per_unit)
            u -= queue->loads[l++].per_unit;
        fixture_job(fixture, row, at_s, queue->unit_s * draw_service(&queue->service, draw.u2), 0,
                    queue->loads[l].gpus);
    }
    ASSERT(row < most); /* the trace reaches the horizon */
    fixture->jobs.count = row;
}

/* Time average of the jobs in the system inside the window, by the probe. */
static int64_t last_ns;
static uint64_t last_jobs;
static int128 jobs_ns;

static inline void queue_probe(const struct run *run)
{
    const int64_t from =
        last_ns > run->result->window_start_ns ? last_ns : run->result->window_start_ns;
    const int64_t to =
        run->now_ns < run->result->window_end_ns ? run->now_ns : run->result->window_end_ns;
    if (to > from) jobs_ns += (int128)last_jobs * (to - from);
    last_ns = run->now_ns;
    last_jobs = run->live.in_use;
}

struct outcome {
    double wait, response, system, busy; /* in units of the theory's time; GPUs */
    double refused[LOADS_MOST];          /* by load; only with loss                      */
};

/* Share of the jobs of the window of so many GPUs that were dropped; NAN without such jobs. */
static inline double refused_share(const struct replica_result *result, uint32_t gpus)
{
    const struct job_row *rows = LOG_ITEMS(&result->jobs, const struct job_row);
    uint64_t all = 0, refused = 0;
    for (uint64_t i = 0; i < result->jobs.count; i++) {
        if (rows[i].gpus != gpus || !rows[i].in_cohort) continue;
        all++;
        refused += rows[i].end == END_REJECTED;
    }
    return all > 0 ? (double)refused / (double)all : NAN;
}

static inline struct outcome run_queue(const struct queue *queue, uint64_t replicate)
{
    struct fixture fixture;
    fill_trace(&fixture, queue, replicate);
    struct scenario *scenario = &fixture.scenario;
    snprintf(scenario->detail, sizeof scenario->detail, queue->loss ? "all" : "none");
    scenario->shape = SHAPE_FREE;
    scenario->loss = queue->loss;
    scenario->curve_bin_ns = NS_PER_HOUR;
    scenario->warmup_ns = queue->warmup_h * NS_PER_HOUR;
    scenario->horizon_ns = queue->horizon_h * NS_PER_HOUR;
    scenario->follow_ns = 365 * NS_PER_DAY;
    fixture_layout(&fixture, "queue", queue->servers, queue->gpus_per_server);
    fixture_ready(&fixture);
    struct replica_result result;
    last_ns = 0;
    last_jobs = 0;
    jobs_ns = 0;
    run_probe = queue_probe;
    const enum status status = fixture_run(&fixture, 0, 0, &result);
    run_probe = NULL;
    ASSERT(status == STATUS_OK);
    const double window_ns = (double)(result.window_end_ns - result.window_start_ns);
    int128 held = 0;
    for (int account = 0; account < ACC_HELD_END; account++)
        for (int class = 0; class < CLASSES; class ++) held += result.ledger[account][class];
    struct outcome outcome = {
        .wait = fixture_metric(&result, "wait_s_mean", CLASS_NONE, 0) / queue->unit_s,
        .response = fixture_metric(&result, "completion_s_mean", CLASS_NONE, 0) / queue->unit_s,
        .system = (double)jobs_ns / window_ns,
        .busy = (double)held / UNITS_PER_GPU / window_ns,
    };
    for (uint32_t l = 0; queue->loss && l < queue->load_count; l++)
        outcome.refused[l] = refused_share(&result, queue->loads[l].gpus);
    replica_result_clear(&result);
    fixture_clear(&fixture);
    return outcome;
}

#endif
