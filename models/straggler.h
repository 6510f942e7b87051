/* straggler.h - a synchronous step is as long as its slowest member (MODELS 3.8).
 *
 * Pure functions. Arguments outside the ranges are caller bugs (asserted).
 * Tests: tests/test_straggler.c, tests/cases/models/jobstep.csv. */
#ifndef GPUPLAN_MODELS_STRAGGLER_H
#define GPUPLAN_MODELS_STRAGGLER_H

/* Factor by which the slowest of n lognormal step times (mean 1, log-sd sigma) exceeds the mean (3.8): by integration, within
 * 1e-9 for n <= 1e7 and sigma <= 1; and the quick form, within 0.6 % for sigma <= 0.2. */
double straggler_factor(double count, double sigma);
double straggler_factor_blom(double count, double sigma);

#endif
