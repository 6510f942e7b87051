/* exactmath.h - transcendental functions that give the same bits on every compiler and machine.
 *
 * Built from + - * / and sqrt of IEEE doubles only; libm differs between versions and with FMA.
 * Accuracy: within 4 units in the last place of the true value over the stated ranges, judged by
 * libm and GSL in tests/test_exactmath.c (quantile: 1e-14 relative; gamma, Lambert W: 1e-13). */
#ifndef GPUPLAN_BASE_EXACTMATH_H
#define GPUPLAN_BASE_EXACTMATH_H

double exact_log(double x);            /* x > 0; log(0) = -inf                         */
double exact_log1p(double x);          /* x > -1                                       */
double exact_exp(double x);            /* overflows to inf, underflows to 0            */
double exact_expm1(double x);
double exact_pow(double x, double y);  /* x >= 0                                       */
double exact_normal_quantile(double p);/* p in (0, 1): inverse of the normal CDF       */
double exact_normal_cdf(double z);     /* 2e-14 relative, lower tail included          */
double exact_gamma(double x);          /* 0 < x <= 170                                 */
double exact_lambert_w0(double x);     /* x >= -1/e                                    */
double exact_lambert_branch(double q); /* 1 + W0((q - 1)/e), 0 <= q <= 1: no cancellation for small q */

/* Inverse CDFs, one uniform u in (0, 1) each (MODELS 9.3). */
double inv_exponential(double u, double mean);             /* -mean * log1p(-u)          */
double inv_weibull(double u, double shape, double scale);  /* scale * (-log1p(-u))^(1/k) */
double inv_lognormal(double u, double mu, double sigma);   /* exp(mu + sigma * Phi^-1(u))*/

#endif
