/* binomial.h - tails and quantiles of the binomial distribution, for any size without underflow.
 *
 * Weights are taken relative to the mode, so nothing under- or overflows; time grows with n.
 * Tests: tests/test_failure.c, tests/test_model_statistics.c. */
#ifndef GPUPLAN_MODELS_BINOMIAL_H
#define GPUPLAN_MODELS_BINOMIAL_H

#include <stdint.h>

/* P(X >= m) and P(X <= m) for X ~ Binomial(n, p), 0 <= p <= 1. */
double binomial_at_least(uint32_t n, double p, uint32_t m);
double binomial_at_most(uint32_t n, double p, uint32_t m);

/* Smallest k with P(X <= k) >= q, 0 <= q <= 1. */
uint32_t binomial_quantile(uint32_t n, double p, double q);

#endif
