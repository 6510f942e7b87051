/* test_dense_sparse.c - CASES 5.4: one job on 1,024 GPUs in servers of 8, 4 or 1.
 *
 * 2.78e-4 faults per GPU and day, 1.565e-3 per chassis and day; any fault takes the server out and
 * is repaired at once. Counted in one job that goes on for a century, and in the pooled failure-only
 * run; both must meet the closed form within 2 % and within three standard errors. */
#include "fixture.h"

#include "cluster/speed.h"
#include "tests/near.h"
#include "tests/rows.h"

#define DAY_S 86400.0
enum { JOBS = 4 };
static const double GPU_RATE = 2.78e-4, SERVER_RATE = 1.565e-3; /* per day */

/* As printed in CASES 5.4, to the digits there. */
static const struct {
    uint32_t gpus, servers;
    double failures_per_day, mttf_h, gpus_hit, losses_per_gpu_day;
} table[] = {
    { 8, 128, 0.485, 49.5, 8, 3.79e-3 },
    { 4, 256, 0.685, 35.0, 4, 2.68e-3 },
    { 1, 1024, 1.887, 12.7, 1, 1.84e-3 },
};

static double rate_per_day(uint64_t row)
{
    return 1024 * GPU_RATE + table[row].servers * SERVER_RATE;
}

static void set_failures(struct failures *failures, enum drain drain)
{
    failures->drain = drain;
    failures->detection_ns = failures->restart_ns = 0;
    failures->component[COMPONENT_GPU] =
        (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = DAY_S / GPU_RATE };
    failures->component[COMPONENT_SERVER] =
        (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = DAY_S / SERVER_RATE };
}

/* The closed form itself, as the table prints it. */
static void closed_form(void **state)
{
    const uint64_t row = rows_number(state);
    const double rate = rate_per_day(row);
    assert_true(fabs(rate - table[row].failures_per_day) < 5e-4);
    assert_true(fabs(24 / rate - table[row].mttf_h) < 0.05);
    assert_true(fabs(table[row].gpus * rate / 1024 - table[row].losses_per_gpu_day) < 5e-6);
    struct scenario *scenario = calloc(1, sizeof *scenario);
    assert_non_null(scenario);
    scenario->failures.scale = 1;
    set_failures(&scenario->failures, DRAIN_FINISH);
    CHECK_NEAR(speed_job_mttf_s(scenario, 1024, table[row].servers, table[row].gpus, 8, 32, 1),
               DAY_S / rate, 1e-12);
    free(scenario);
}

static void meets_table(uint64_t row, const struct replica_result *result, bool job)
{
    const double days = s_from_ns(result->run_end_ns) / DAY_S,
                 count = (double)result->incidents.count;
    double removed = 0, stopped = 0;
    const struct incident *incidents = LOG_ITEMS(&result->incidents, struct incident);
    for (uint64_t i = 0; i < result->incidents.count; i++) {
        removed += incidents[i].gpus_removed;
        stopped += incidents[i].gpus_stopped;
    }
    const double rate = rate_per_day(row), want = rate * days;
    printf("%.0f faults in %.0f days: %+.2f standard errors, MTTF %.2f h\n", count, days,
           (count - want) / sqrt(want), 24 * days / count);
    CHECK(fabs(count - want) < 3 * sqrt(want), "%g faults, want %g", count, want);
    CHECK_NEAR(count / days, table[row].failures_per_day, 0.02);
    CHECK_NEAR(24 * days / count, table[row].mttf_h, 0.02);
    CHECK_NEAR(removed / count, table[row].gpus_hit, 1e-12);
    CHECK_NEAR(removed / days / 1024, table[row].losses_per_gpu_day, 0.02);
    if (job) CHECK_NEAR(stopped / count, 1024, 1e-12); /* each fault stops the whole gang */
}

/* Four such jobs one after another (an attempt number has a limit), checkpointed each hour at no
 * cost: they end, after some 17,000 faults on each layout, within a century. */
static void endless_job(void **state)
{
    const uint64_t row = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    snprintf(fixture.scenario.detail, sizeof fixture.scenario.detail, "none");
    fixture.scenario.seed = 54;
    fixture.scenario.curve_bin_ns = 3650 * NS_PER_DAY;
    fixture.scenario.checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                       .interval_ns = NS_PER_HOUR,
                                                       .store_bytes_per_s = 1e15,
                                                       .bytes_per_gpu = 1 };
    set_failures(&fixture.scenario.failures, DRAIN_FINISH);
    fixture_layout(&fixture, "endless", table[row].servers, table[row].gpus);
    for (uint32_t job = 0; job < JOBS; job++)
        fixture_job(&fixture, job, 0, 17000 / rate_per_day(row) * DAY_S / JOBS, 0, 1024);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs_end[END_FINISHED], JOBS);
    meets_table(row, &result, true);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

static void failures_only(void **state)
{
    const uint64_t row = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 0);
    fixture.scenario.seed = 55;
    set_failures(&fixture.scenario.failures, DRAIN_NOW);
    fixture_layout(&fixture, "pooled", table[row].servers, table[row].gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, REPLICA_BLAST, &result), STATUS_OK);
    assert_true(result.incidents.count > 19000); /* plan_build asks for 20,000 */
    meets_table(row, &result, false);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof table / sizeof *table; row++) {
        rows_add(&rows, closed_form, (void *)row, "closed form, servers of %u", table[row].gpus);
        rows_add(&rows, failures_only, (void *)row, "failure-only run, servers of %u",
                 table[row].gpus);
        rows_add(&rows, endless_job, (void *)row, "one endless job, servers of %u",
                 table[row].gpus);
    }
    return rows_run("dense_sparse", &rows);
}
