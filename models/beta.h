/* beta.h - quantiles of a Beta law, for quantities between 0 and 1 that differ from job to job. */
#ifndef GPUPLAN_MODELS_BETA_H
#define GPUPLAN_MODELS_BETA_H

#include <stdbool.h>
#include <stdint.h>

enum { BETA_ROWS = 512 };

/* Quantiles of the Beta law with this mean and spread (standard deviation / mean) at the midpoints
 * of BETA_ROWS equal shares, divided by the mean and scaled so that their average is 1.
 *
 *   mean    in (0, 1)
 *   spread  in [0, 0.9] and below sqrt(1/mean - 1); 0 gives 1 everywhere
 *
 * Density integrated by the trapezoid rule on 4,096 points up to 12 standard deviations; as a power
 * in the cells that touch 0 and 1. Within 0.5 % of the exact quantiles between the 1st and the 99th
 * percentile while the density is finite (both shape parameters 1 or more); wider laws pile up at 0
 * and 1, and their quantiles are right to 0.5 % in probability. Tests: tests/test_beta.c, by GSL. */
void beta_ratio_table(double mean, double spread, double ratio[BETA_ROWS]);

#endif
