/* test_failure_runs.c - whole runs with failures against closed forms: wall time with checkpoints,
 * work lost by a failure, down GPUs of a layout (MODELS 5.5 to 5.8, 11.10).
 *
 * Twenty replicates each. A row of the shared table (kind stat) must be met within its tolerance,
 * what the engine computes exactly within three standard errors. */
#include "fixture.h"

#include "models/checkpoint.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { REPLICATES = 20 };

struct mean {
    double sum, squares, count;
};

static void add(struct mean *mean, double x)
{
    mean->sum += x;
    mean->squares += x * x;
    mean->count++;
}

static double value(const struct mean *mean)
{
    return mean->sum / mean->count;
}

static double error(const struct mean *mean)
{
    const double m = value(mean);
    return sqrt((mean->squares / mean->count - m * m) / (mean->count - 1));
}

static void meets(const struct mean *mean, double want, const char *what)
{
    printf("%s: %.7g +- %.2g, theory %.7g: %+.2f standard errors\n", what, value(mean), error(mean),
           want, (value(mean) - want) / error(mean));
    CHECK(fabs(value(mean) - want) <= 3 * error(mean), "%s: %g, want %g +- %g", what, value(mean),
          want, error(mean));
}

/* ---- checkpoints: FA-016 and a second plan -------------------------------------------------------- */

static const struct {
    const char *name;
    double work_s;
    struct checkpoint_plan plan;
    double shared_row; /* 0: only the formula */
} plans[] = {
    { "FA-016", 86400, { 600, 60, 300, 600, 7200 }, 112414.24389955732 },
    { "rarer failures, dearer writes", 200000, { 5000, 400, 900, 0, 30000 }, 0 },
};

/* A hundred jobs of one GPU each, apart from each other; software fails them (also while they write
 * and restart), D is the delay of the queue, R the restart. */
static void wall_time(void **state)
{
    const uint64_t p = rows_number(state);
    const struct checkpoint_plan *plan = &plans[p].plan;
    struct mean wall = { 0 }, lost = { 0 };
    for (uint32_t replicate = 0; replicate < REPLICATES; replicate++) {
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
        for (uint32_t row = 0; row < 100; row++)
            fixture_job(&fixture, row, 0, plans[p].work_s, 0, 1);
        fixture_ready(&fixture);
        struct replica_result result;
        assert_int_equal(fixture_run(&fixture, 0, replicate, &result), STATUS_OK);
        const struct job_row *jobs = LOG_ITEMS(&result.jobs, struct job_row);
        for (uint64_t i = 0; i < result.jobs.count; i++) add(&wall, s_from_ns(jobs[i].end_ns));
        const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
        for (uint64_t i = 0; i < result.incidents.count; i++) /* 0: it failed while it restarted */
            if (incidents[i].lost_gpu_ns > 0) add(&lost, (double)incidents[i].lost_gpu_ns / 1e9);
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
    const double want = checkpoint_wall_s(plans[p].work_s, plan);
    if (plans[p].shared_row > 0) CHECK_NEAR(want, plans[p].shared_row, 1e-9);
    assert_true(error(&wall) <= 0.01 * want);
    meets(&wall, want, "wall time");
    meets(&lost, lost_mean_s(plan->interval_s + plan->write_s, plan->mtbf_s), "lost by a failure");
}

/* ---- down GPUs: FA-041, FA-073, FA-074 ------------------------------------------------------------- */

static int64_t last_ns;
static double last_down, down_s, down2_s;

/* Time integrals of the down GPUs and of their square. */
static void probe(const struct run *run)
{
    const double s = s_from_ns(run->now_ns - last_ns);
    down_s += last_down * s;
    down2_s += last_down * last_down * s;
    last_ns = run->now_ns;
    last_down = (double)run->ledger.level[ledger_cell(ACC_DOWN, CLASS_NONE)] / UNITS_PER_GPU;
}

static const struct down_row {
    const char *name;
    uint32_t servers, gpus;
    double gpu_rate, server_rate, gpu_repair_h, server_repair_h; /* per hour */
    double years, mean, mean_rtol, sd; /* of the shared table; sd 0: not said */
} downs[] = {
    /* one GPU in one server: the share of time in which it is out, 1 - A */
    { "FA-041: one unit, two causes", 1, 1, 0.01, 0.002, 12, 48, 60, 1 - 0.8223684210526316, 0, 0 },
    { "FA-073, FA-074: 192 GPUs in eights", 24, 8, 2e-4, 5e-4, 24, 48, 20, 11.277108433734952, 0.03,
      9.21509550649299 },
    /* FA-047, FA-054, FA-061, FA-068 of the exact table: 192 GPUs, rare faults */
    { "eights, rare faults", 24, 8, 2e-5, 5e-5, 24, 48, 60, 1.19065, 0, 3.07671 },
    { "fours, rare faults", 48, 4, 2e-5, 5e-5, 24, 48, 60, 0.825872, 0, 1.81364 },
    { "twos, rare faults", 96, 2, 2e-5, 5e-5, 24, 48, 60, 0.642960, 0, 1.13208 },
    { "ones, rare faults", 192, 1, 2e-5, 5e-5, 24, 48, 60, 0.551372, 0, 0.741477 },
};

static void down_gpus(void **state)
{
    const struct down_row *row = *state;
    struct mean mean = { 0 };
    double squares = 0;
    for (uint32_t replicate = 0; replicate < REPLICATES; replicate++) {
        struct fixture fixture;
        fixture_init(&fixture, 0);
        struct failures *failures = &fixture.scenario.failures;
        fixture.scenario.seed = replicate + 1;
        failures->component[COMPONENT_GPU] =
            (struct component_failures){ .law = LAW_EXPONENTIAL,
                                         .mean_s = 3600 / row->gpu_rate,
                                         .repair_median_s = 3600 * row->gpu_repair_h,
                                         .repair_p95_s = 3600 * row->gpu_repair_h };
        failures->component[COMPONENT_SERVER] =
            (struct component_failures){ .law = LAW_EXPONENTIAL,
                                         .mean_s = 3600 / row->server_rate,
                                         .repair_median_s = 3600 * row->server_repair_h,
                                         .repair_p95_s = 3600 * row->server_repair_h };
        failures->blast_horizon_ns = ns_from_s(row->years * 8766 * 3600);
        fixture_layout(&fixture, "down", row->servers, row->gpus);
        fixture_ready(&fixture);
        struct replica_result result;
        last_ns = 0;
        last_down = down_s = down2_s = 0;
        run_probe = probe;
        assert_int_equal(fixture_run(&fixture, 0, REPLICA_BLAST, &result), STATUS_OK);
        run_probe = NULL;
        const double s = s_from_ns(last_ns);
        add(&mean, down_s / s);
        squares += down2_s / s / REPLICATES;
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
    /* Clocks run on while other parts of the server are out, so its parts are out independently. */
    const double gpu_up = 1 / (1 + row->gpu_rate * row->gpu_repair_h),
                 server_up = 1 / (1 + row->server_rate * row->server_repair_h);
    const double out = 1 - pow(gpu_up, row->gpus) * server_up;
    const double sd = row->gpus * sqrt(row->servers * out * (1 - out));
    meets(&mean, row->servers * row->gpus * out, "down GPUs");
    CHECK_NEAR(sqrt(squares - value(&mean) * value(&mean)), sd, 0.03);
    /* MODELS 5.5 and 5.6 let clocks stop while the server is out: the same while faults are rare. */
    if (row->mean_rtol > 0)
        CHECK_NEAR(value(&mean), row->mean, row->mean_rtol);
    else if (row->gpus * row->servers > 1)
        CHECK_NEAR(value(&mean), row->mean, 0.01);
    else /* the row is about A: 0.8224 to 1 % */
        CHECK_NEAR(1 - value(&mean), 1 - row->mean, 0.01);
    if (row->sd > 0) CHECK_NEAR(sqrt(squares - value(&mean) * value(&mean)), row->sd, 0.03);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t p = 0; p < sizeof plans / sizeof *plans; p++)
        rows_add(&rows, wall_time, (void *)p, "wall time with checkpoints and failures: %s",
                 plans[p].name);
    for (size_t d = 0; d < sizeof downs / sizeof *downs; d++)
        rows_add(&rows, down_gpus, &downs[d], "down GPUs: %s", downs[d].name);
    return rows_run("failure_runs", &rows);
}
