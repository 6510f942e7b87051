/* straggler.h - a synchronous step is as long as its slowest member (MODELS 3.8).
 *
 * Pure functions. Arguments outside the ranges are caller bugs (asserted).
 * Tests: tests/test_straggler.c, tests/cases/models/jobstep.csv. */
#ifndef GPUPLAN_MODELS_STRAGGLER_H
#define GPUPLAN_MODELS_STRAGGLER_H

#include <stdint.h>

/* Factor by which the slowest of n lognormal step times (mean 1, log-sd sigma) exceeds the mean (3.8): by integration, within
 * 1e-9 for n <= 1e7 and sigma <= 1; and the quick form, within 0.6 % for sigma <= 0.2. */
double straggler_factor(double count, double sigma);
double straggler_factor_blom(double count, double sigma);

/* The same drawn for one step: the largest of `count` >= 1 step times, one uniform each (entity 0, 1, ... of the stream,
 * draw number `step`); its mean over steps is straggler_factor. key: stream_key(seed, replicate, "noise.step"). */
double straggler_sample(uint64_t key, uint64_t step, uint32_t count, double sigma);

/* The slowest of a job's servers: the largest of factor[count], each >= 1, count >= 1. */
double slowest_factor(const double *factor, uint32_t count);

/* straggler_factor of one sigma for many n: knots at powers of sqrt 2, cubic in log n between them.
 * Within 2e-6 of the integral for 1 <= n <= 1e7 and sigma <= 1 (5e-7 for sigma <= 0.1). Filling it takes
 * 50 integrals, an answer one logarithm: 0.1 us in place of 0.4 ms. n up to 2^24 (asserted). */
enum { STRAGGLER_KNOTS = 50 };
struct straggler_table {
    double sigma;
    double factor[STRAGGLER_KNOTS]; /* of n = 2^(i/2) */
};
void straggler_table_init(struct straggler_table *table, double sigma);
double straggler_table_at(const struct straggler_table *table, double count);

#endif
