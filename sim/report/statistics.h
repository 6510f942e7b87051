/* statistics.h - what may be said about a mean or a quantile over independent replicas (MODELS 6.5-6.7).
 *
 * Pure functions. conf is the confidence, in (0, 1); n counts values. An interval needs two
 * values: with fewer its half width is NAN, "no interval", and never 0. GSL's aborting error
 * handler must be off.
 * Source: Law, Simulation Modeling and Analysis; quantiles: Hyndman and Fan (1996), type 7.
 * Tests: tests/test_statistics.c */
#ifndef GPUPLAN_REPORT_STATISTICS_H
#define GPUPLAN_REPORT_STATISTICS_H

#include "models/statistics.h" /* quantiles and their ranks */

#include <stdbool.h>
#include <stdint.h>

struct interval {
    double mean;   /* NAN when n = 0                                                      */
    double half;   /* the interval is mean - half .. mean + half; NAN when n < 2          */
    uint32_t n;
};

/* Whether the interval exists and leaves out 0: only then a difference has a sign. A half width of 0 is exact. */
bool interval_excludes_zero(struct interval interval);

/* mean +- t(n - 1, 1 - a/2) * s / sqrt(n). */
struct interval t_ci(const double *x, uint32_t n, double conf);

struct paired {
    struct interval difference; /* of x[i] - y[i]                                         */
    double var_ratio;           /* (Var x + Var y) / Var(x - y): above 2 shared luck helped a lot, 1 =
                                   not at all; infinite when all differences are equal, NAN when
                                   nothing varies or n < 2                                */
};

/* Interval of the difference of pairs. Swapping x and y negates the mean exactly; equal columns give exactly 0. */
struct paired paired_ci(const double *x, const double *y, uint32_t n, double conf);

/* The mean of a quantity under a moved assumption that ran in fewer replicas than the scenario as written.
 * base[count] as written, moved[count] of the same replicas under the move; NAN where there is no value. With N values
 * of base and n pairs
 *
 *     mean = mean of base + mean of (moved - base) over the pairs
 *     variance = s_base^2 / N + max(0, s_shift^2 / n + 2 cov(base, shift) / N)
 *
 * so the few pairs only have to tell how far the move shifts what many replicas know; all n = N gives the plain mean
 * of moved. A move never makes a mean better known than as written. Degrees of freedom by Welch and Satterthwaite.
 * .n = n; half is NAN when n < 2. Source: double sampling, Cochran, Sampling Techniques, ch. 12 (slope 1). */
struct interval shifted_ci(const double *base, const double *moved, uint32_t count, double conf);

/* The mean of a quantity under a moved assumption by the best there is: moved alone where every value of base has its
 * moved one (nothing has to be borrowed, and luck may be less under the move), shifted_ci where the move ran in fewer. */
struct interval moved_ci(const double *base, const double *moved, uint32_t count, double conf);

struct batches {
    struct interval interval;   /* of the mean, from the means of the batches             */
    double lag1;                /* correlation of neighbouring batches: below 0.1 the batches are long enough */
};

/* One long run x[n] cut into `count` >= 2 batches of n / count values; the rest at the end is left out. */
struct batches batch_means(const double *x, uint32_t n, uint32_t count, double conf);

struct stop {
    double rel;                 /* half width / |mean|                                    */
    double limit;               /* gamma / (1 + gamma)                                    */
    bool stop;                  /* n >= n_min and rel <= limit                            */
};

struct stop stop_rule(const double *x, uint32_t n, double conf, double gamma, uint32_t n_min);

/* Confidence of each of `count` >= 1 statements so that all hold together with conf (Bonferroni). */
double joint_confidence(double conf, uint32_t count);

#endif
