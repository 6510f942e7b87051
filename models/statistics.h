/* statistics.h - quantiles, time averages and the end of the warm-up (MODELS 0.5, 6.3 to 6.5).
 *
 * What needs Student's t is in sim/report. Arrays are borrowed and never written. "Sorted" is
 * ascending; unsorted input is a caller bug that is not looked for. Tests: tests/test_statistics.c,
 * tests/cases/models/statistics.csv. */
#ifndef GPUPLAN_MODELS_STATISTICS_H
#define GPUPLAN_MODELS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sample quantile of type 7: linear between order statistics at 1 + (n - 1) q. sorted[count], count
 * >= 1, 0 <= q <= 1. */
double quantile7(const double *sorted, size_t count, double q);

/* Quantile of times of which some are censored: at least that long, the end was not seen (Kaplan
 * and Meier 1958).
 *
 * sorted[count] ascending; censored[i] belongs to sorted[i], NULL = none. Of equal times the seen
 * ends come first, in whatever order they stand. Returns the smallest seen end t with S(t) <= 1 -
 * q, S the product-limit estimate; without censoring that is the order statistic ceil(n q), not the
 * interpolation of quantile7. Returns INFINITY when S never falls that far, as when the longest
 * times are all censored; and when count is 0. 0 <= q <= 1. */
double kaplan_meier_quantile(const double *sorted, const bool *censored, size_t count, double q);

/* The same for values with weights: the i-th of which counts weight[i] times; NULL = 1 each. weight
 * > 0. */
double kaplan_meier_quantile_weighted(const double *sorted, const bool *censored,
                                      const double *weight, size_t count, double q);

/* Integral over [from_s, to_s] of a step function that is value[i] from at_s[i] on ([count]
 * ascending, at_s[0] <= from_s). */
double step_integral(const double *at_s, const double *value, size_t count, double from_s,
                     double to_s);
/* That over to_s - from_s > 0. */
double time_mean(const double *at_s, const double *value, size_t count, double from_s, double to_s);

/* Observations to drop as warm-up by MSER-5 (6.4): a multiple of 5, at most half; the shortest of
 * equally good ones. 0 for fewer than 10. Time grows with the square of count/5: average longer
 * series first (10,000 take 10 ms). */
size_t mser5(const double *observation, size_t count);

/* Ranks (1 = smallest) of the order statistics that bound the q-quantile of `count` pooled values
 * with confidence `conf` (6.5). low 0: no lower bound; high count + 1: no upper bound. */
struct rank_interval {
    uint32_t low, high;
};
struct rank_interval quantile_ranks(uint32_t count, double q, double conf);

/* max(1, (wait + run)/max(run, floor)); floor_s > 0, 10 s by custom (6.3). */
double bounded_slowdown(double wait_s, double run_s, double floor_s);

/* GPU-time by state (6.1): capacity = down + idle + the other six. */
struct gpu_states {
    double capacity, down, idle, startup, input, communication, checkpoint, lost, productive;
};
struct gpu_shares {
    double allocated;           /* allocated/capacity                       */
    double allocated_available; /* allocated/(capacity - down)              */
    double busy;                /* (allocated - startup - input)/capacity   */
    double goodput;             /* productive/capacity                      */
    double goodput_available;   /* productive/(capacity - down): 5.10       */
    double communication_stall; /* communication/allocated; 0 when none is  */
    double job_efficiency;      /* productive/allocated; 1 when none is     */
};
struct gpu_shares gpu_shares(const struct gpu_states *states);

/* Part of productive time that a slowdown >= 1 (straggler, throttled clock) took: p (1 - 1/s) (6.1). */
double slowed_excess(double productive, double slowdown);

/* Productive over wall time since the job was first eligible, queue included (5.10); wall_s > 0. */
double ettr_measured(double productive_s, double wall_s);

#endif
