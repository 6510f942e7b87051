/* failure_runs.h - whole runs of the real engine with failures, for test_failure_runs, test_coverage and the rows of
 * kind `stat` (MODELS 5.5 to 5.8, 11.10): one replicate each. */
#ifndef TESTS_FAILURE_RUNS_H
#define TESTS_FAILURE_RUNS_H

#include "fixture.h"

#include "base/assert.h"
#include "models/checkpoint.h"

#include <math.h>

struct mean {
    double sum, squares, count;
};

static inline void add(struct mean *mean, double x)
{
    mean->sum += x;
    mean->squares += x * x;
    mean->count++;
}

static inline double value(const struct mean *mean)
{
    return mean->sum / mean->count;
}

static inline double error(const struct mean *mean)
{
    const double m = value(mean);
    return sqrt((mean->squares / mean->count - m * m) / (mean->count - 1));
}

/* ---- checkpoints ---------------------------------------------------------------------------------- */

/* A hundred jobs of one GPU each, apart from each other; software fails them (also while they write
 * and restart), D is the delay of the queue, R the restart. Adds their wall times, and the work that each failure lost. */
static inline void run_checkpoints(const struct checkpoint_plan *plan, double work_s,
                                   uint32_t replicate, struct mean *wall, struct mean *lost)
{
    struct fixture fixture;
    fixture_init(&fixture, 100);
    struct scenario *scenario = &fixture.scenario;
    snprintf(scenario->detail, sizeof scenario->detail, "all");
    scenario->contains_checkpoint = false;
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = ns_from_s(plan->interval_s),
                                                .store_bytes_per_s = 1e9,
                                                .bytes_per_gpu = 1e9 * plan->write_s };
    scenario->failures.restart_ns = ns_from_s(plan->restart_s);
    scenario->failures.requeue_delay_ns = ns_from_s(plan->down_s);
    scenario->failures.component[COMPONENT_JOB] =
        (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = plan->mtbf_s };
    fixture_layout(&fixture, "apart", 100, 1);
    for (uint32_t row = 0; row < 100; row++) fixture_job(&fixture, row, 0, work_s, 0, 1);
    fixture_ready(&fixture);
    struct replica_result result;
    const enum status status = fixture_run(&fixture, 0, replicate, &result);
    ASSERT(status == STATUS_OK);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) add(wall, s_from_ns(jobs[i].end_ns));
    const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
    for (uint64_t i = 0; i < result.incidents.count; i++) /* 0: it failed while it restarted */
        if (incidents[i].lost_gpu_ns > 0) add(lost, (double)incidents[i].lost_gpu_ns / 1e9);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- failures alone -------------------------------------------------------------------------------- */

/* Servers whose GPUs and chassis fail and are repaired, each repair as long as every other. */
struct down_layout {
    uint32_t servers, gpus;
    double gpu_rate, server_rate, gpu_repair_h, server_repair_h; /* per hour; rate 0: never */
    double hours;
};

/* Of one replicate: time averages of the GPUs out and of their square, faults of all components. */
struct down_outcome {
    double mean, square, faults;
};

static int64_t down_last_ns;
static double down_last, down_s, down2_s;

static inline void down_probe(const struct run *run)
{
    const double s = s_from_ns(run->now_ns - down_last_ns);
    down_s += down_last * s;
    down2_s += down_last * down_last * s;
    down_last_ns = run->now_ns;
    down_last = (double)run->ledger.level[ledger_cell(ACC_DOWN, CLASS_NONE)] / UNITS_PER_GPU;
}

static inline struct component_failures exponential(double rate_per_h, double repair_h)
{
    if (rate_per_h == 0) return (struct component_failures){ .law = LAW_NONE };
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = 3600 / rate_per_h,
                                        .repair_median_s = 3600 * repair_h,
                                        .repair_p95_s = 3600 * repair_h };
}

static inline struct down_outcome run_failures(struct fixture *fixture, double hours, uint64_t seed)
{
    fixture->scenario.seed = seed;
    fixture->scenario.failures.blast_horizon_ns = ns_from_s(hours * 3600);
    fixture_ready(fixture);
    struct replica_result result;
    down_last_ns = 0;
    down_last = down_s = down2_s = 0;
    run_probe = down_probe;
    const enum status status = fixture_run(fixture, 0, REPLICA_BLAST, &result);
    ASSERT(status == STATUS_OK);
    run_probe = NULL;
    const double s = s_from_ns(down_last_ns);
    const struct down_outcome outcome = { down_s / s, down2_s / s, (double)result.incidents.count };
    replica_result_clear(&result);
    fixture_clear(fixture);
    return outcome;
}

static inline struct down_outcome run_down(const struct down_layout *layout, uint64_t seed)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    struct failures *failures = &fixture.scenario.failures;
    failures->component[COMPONENT_GPU] = exponential(layout->gpu_rate, layout->gpu_repair_h);
    failures->component[COMPONENT_SERVER] =
        exponential(layout->server_rate, layout->server_repair_h);
    fixture_layout(&fixture, "down", layout->servers, layout->gpus);
    return run_failures(&fixture, layout->hours, seed);
}

/* Faults of one GPU until t_s: a renewal process, repaired at once. Mean over `gpus` of them. */
static inline double run_renewals(uint32_t gpus, double shape, double scale_s, double t_s,
                                  uint64_t seed)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    fixture.scenario.failures.component[COMPONENT_GPU] = (struct component_failures){
        .law = LAW_WEIBULL, .mean_s = scale_s * tgamma(1 + 1 / shape), .shape = shape
    };
    fixture_layout(&fixture, "renewals", gpus, 1);
    return run_failures(&fixture, t_s / 3600, seed).faults / gpus;
}

/* Down GPUs in the long run: clocks run on while other parts of a server are out, so that its parts are out
 * independently of each other. */
static inline double down_share(const struct down_layout *layout)
{
    const double gpu_up = 1 / (1 + layout->gpu_rate * layout->gpu_repair_h),
                 server_up = 1 / (1 + layout->server_rate * layout->server_repair_h);
    return 1 - pow(gpu_up, layout->gpus) * server_up;
}

#endif
