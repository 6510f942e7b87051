/* test_failure_runs.c - whole runs with failures against closed forms: wall time with checkpoints,
 * work lost by a failure, down GPUs of a layout (MODELS 5.5 to 5.8, 11.10).
 *
 * Twenty replicates each. A row of the shared table (kind stat) must be met within its tolerance,
 * what the engine computes exactly within three standard errors. */
#include "failure_runs.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { REPLICATES = 20, YEAR_H = 8766 };

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

static void wall_time(void **state)
{
    const uint64_t p = rows_number(state);
    const struct checkpoint_plan *plan = &plans[p].plan;
    struct mean wall = { 0 }, lost = { 0 };
    for (uint32_t replicate = 0; replicate < REPLICATES; replicate++)
        run_checkpoints(plan, plans[p].work_s, replicate, &wall, &lost);
    const double want = checkpoint_wall_s(plans[p].work_s, plan);
    if (plans[p].shared_row > 0) CHECK_NEAR(want, plans[p].shared_row, 1e-9);
    assert_true(error(&wall) <= 0.01 * want);
    meets(&wall, want, "wall time");
    meets(&lost, lost_mean_s(plan->interval_s + plan->write_s, plan->mtbf_s), "lost by a failure");
}

/* ---- down GPUs: FA-041, FA-073, FA-074 ------------------------------------------------------------- */

static const struct down_row {
    const char *name;
    struct down_layout layout;
    double mean, mean_rtol, sd; /* of the shared table; sd 0: not said */
} downs[] = {
    /* one GPU in one server: the share of time in which it is out, 1 - A */
    { "FA-041: one unit, two causes",
      { 1, 1, 0.01, 0.002, 12, 48, 60 * YEAR_H },
      1 - 0.8223684210526316,
      0,
      0 },
    { "FA-073, FA-074: 192 GPUs in eights",
      { 24, 8, 2e-4, 5e-4, 24, 48, 20 * YEAR_H },
      11.277108433734952,
      0.03,
      9.21509550649299 },
    /* FA-047, FA-054, FA-061, FA-068 of the exact table: 192 GPUs, rare faults */
    { "eights, rare faults", { 24, 8, 2e-5, 5e-5, 24, 48, 60 * YEAR_H }, 1.19065, 0, 3.07671 },
    { "fours, rare faults", { 48, 4, 2e-5, 5e-5, 24, 48, 60 * YEAR_H }, 0.825872, 0, 1.81364 },
    { "twos, rare faults", { 96, 2, 2e-5, 5e-5, 24, 48, 60 * YEAR_H }, 0.642960, 0, 1.13208 },
    { "ones, rare faults", { 192, 1, 2e-5, 5e-5, 24, 48, 60 * YEAR_H }, 0.551372, 0, 0.741477 },
};

static void down_gpus(void **state)
{
    const struct down_row *row = *state;
    struct mean mean = { 0 };
    double squares = 0;
    const struct down_layout *layout = &row->layout;
    for (uint32_t replicate = 0; replicate < REPLICATES; replicate++) {
        const struct down_outcome outcome = run_down(layout, replicate + 1);
        add(&mean, outcome.mean);
        squares += outcome.square / REPLICATES;
    }
    const double out = down_share(layout);
    const double sd = layout->gpus * sqrt(layout->servers * out * (1 - out));
    meets(&mean, layout->servers * layout->gpus * out, "down GPUs");
    CHECK_NEAR(sqrt(squares - value(&mean) * value(&mean)), sd, 0.03);
    /* MODELS 5.5 and 5.6 let clocks stop while the server is out: the same while faults are rare. */
    if (row->mean_rtol > 0)
        CHECK_NEAR(value(&mean), row->mean, row->mean_rtol);
    else if (layout->gpus * layout->servers > 1)
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
