/* test_slurm_twin.c - Slurm's backfill pass passes over questions whose answer is known; asked one by one, as slurmctld
 * does, they give the same start of every job. Random clusters and queues, three releases, deep and shallow. */
#include "base/philox.h"
#include "fixture.h"
#include "policy/slurm_state.h"
#include "tests/rows.h"

enum { JOBS = 120, PLAIN_SEEDS = 36, SEEDS = 72 };

static double any(uint64_t seed, uint64_t number)
{
    return stream_uniform(stream_key(seed, 0, "test.slurm.twin"), 0, number);
}

static struct slurm_partition batch = { .name = "batch",
                                        .nodes = "ALL",
                                        .max_time_ns = TIME_NEVER,
                                        .priority_tier = 1,
                                        .priority_job_factor = 1,
                                        .preempt_mode = PREEMPT_UNSET,
                                        .is_default = true,
                                        .up = true };

/* Starts of all jobs by row; the number of those that started. */
static uint32_t starts_of(uint64_t seed, bool asks_always, int64_t *start_ns)
{
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    struct slurm_spec *spec = &fixture.scenario.slurm;
    fixture.scenario.kind = KIND_SLURM;
    slurm_defaults(spec);
    spec->partitions = &batch;
    spec->partition_count = 1;
    spec->compat = (enum slurm_compat)(seed % 3);
    spec->bf_interval_ns = 10 * NS_PER_S;
    spec->clock_phase_ns = (int64_t)(any(seed, 1) * 60) * NS_PER_S;
    spec->lln = any(seed, 2) < 0.2;
    /* The others: long slots, a window that ends before the queue does, limits that come again. */
    if (seed > PLAIN_SEEDS) {
        spec->bf_resolution_ns = (int64_t)(20 + any(seed, 6) * 600) * NS_PER_S;
        spec->bf_window_ns = (int64_t)(3600 + any(seed, 7) * 40000) * NS_PER_S;
    }
    const uint32_t gpus = 1u << (uint32_t)(any(seed, 3) * 4),
                   nodes = 3 + (uint32_t)(any(seed, 4) * 80);
    fixture_layout(&fixture, "twin", nodes, gpus);
    for (uint32_t row = 0; row < JOBS; row++) {
        const double u = any(seed, 10 + 4 * row), run_s = 20 + 3000 * any(seed, 11 + 4 * row);
        const uint32_t most = nodes * gpus / 2 > 0 ? nodes * gpus / 2 : 1;
        double limit_s = run_s * (1 + 4 * any(seed, 12 + 4 * row));
        if (seed > PLAIN_SEEDS) limit_s = 1800 * (1 + (int)(limit_s / 1800));
        fixture_job(&fixture, row, row * (any(seed, 5) < 0.5 ? 2.0 : 60.0), run_s, limit_s,
                    u < 0.5 ? 1 : 1 + (uint32_t)(any(seed, 13 + 4 * row) * most));
        start_ns[row] = TIME_NEVER;
    }
    fixture_ready(&fixture);
    struct replica_result result;
    slurm_asks_always = asks_always;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    slurm_asks_always = false;
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    uint32_t started = 0;
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        start_ns[rows[i].trace_row] = rows[i].first_start_ns;
        started += rows[i].first_start_ns < TIME_NEVER;
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
    return started;
}

static void same_starts(void **state)
{
    static int64_t ours[JOBS], its[JOBS];
    const uint64_t seed = rows_number(state);
    const uint32_t started = starts_of(seed, false, ours);
    assert_int_equal(starts_of(seed, true, its), started);
    assert_int_equal(started, JOBS);
    for (uint32_t row = 0; row < JOBS; row++)
        if (ours[row] != its[row])
            fail_msg("job %u starts at %.1f s, asked one by one at %.1f s", row,
                     s_from_ns(ours[row]), s_from_ns(its[row]));
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, same_starts, (const void *)seed, "seed %u", (unsigned)seed);
    return rows_run("slurm_twin", &rows);
}
