/* straggler.c - the slowest of many, MODELS 3.8: an integral, its quick form and a table of it. */
#include "models/straggler.h"

#include "base/assert.h"
#include "base/exactmath.h"
#include "base/philox.h"

#include <math.h>

/* log of n phi(z) Phi(z)^(n-1) exp(sigma z - sigma^2/2): density of the largest of n deviates times its step time. */
static double log_weight(double z, double count, double sigma)
{
    static const double half_log_2pi = 0.91893853320467274178;
    const double log_cdf =
        z > 0 ? exact_log1p(-exact_normal_cdf(-z)) : exact_log(exact_normal_cdf(z));
    return exact_log(count) - 0.5 * z * z - half_log_2pi + (count - 1.0) * log_cdf + sigma * z -
           0.5 * sigma * sigma;
}

double straggler_factor(double count, double sigma)
{
    ASSERT(count >= 1 && sigma >= 0);
    /* The integrand is smooth and vanishes at both ends, where the trapezoidal rule converges faster than any power of
     * its step; 1/32 is a sixth of the narrowest peak. */
    static const double step = 1.0 / 32, low = -12, high = 14;
    double sum = 0.0;
    for (int i = 0; i <= (int)((high - low) / step); i++)
        sum += exact_exp(log_weight(low + i * step, count, sigma));
    return sum * step;
}

double straggler_factor_blom(double count, double sigma)
{
    ASSERT(count >= 1 && sigma >= 0);
    const double quantile = exact_normal_quantile((count - 0.375) / (count + 0.25));
    return exact_exp(sigma * quantile - 0.5 * sigma * sigma);
}

double straggler_sample(uint64_t key, uint64_t step, uint32_t count, double sigma)
{
    ASSERT(count >= 1 && sigma >= 0);
    /* The inverse of a distribution grows with u: the largest uniform is the slowest unit. */
    double slowest_u = 0;
    for (uint32_t unit = 0; unit < count; unit++) {
        const double u = stream_uniform(key, unit, step);
        if (u > slowest_u) slowest_u = u;
    }
    return inv_lognormal(slowest_u, -0.5 * sigma * sigma, sigma);
}

double slowest_factor(const double *factor, uint32_t count)
{
    ASSERT(count >= 1);
    double slowest = factor[0];
    for (uint32_t i = 1; i < count; i++)
        if (factor[i] > slowest) slowest = factor[i];
    ASSERT(slowest >= 1);
    return slowest;
}

void straggler_table_init(struct straggler_table *table, double sigma)
{
    table->sigma = sigma;
    double count = 1.0;
    for (int i = 0; i < STRAGGLER_KNOTS; i += 2, count *= 2.0) {
        table->factor[i] = straggler_factor(count, sigma);
        table->factor[i + 1] = straggler_factor(count * sqrt(2.0), sigma);
    }
}

double straggler_table_at(const struct straggler_table *table, double count)
{
    static const double half_ln_2 = 0.34657359027997265471;
    ASSERT(count >= 1);
    const double at = exact_log(count) / half_ln_2; /* in knots */
    ASSERT(count <= 0x1p24);
    /* Lagrange through the four knots around; the first or last four at the ends. */
    int first = (int)at - 1;
    if (first < 0) first = 0;
    if (first > STRAGGLER_KNOTS - 4) first = STRAGGLER_KNOTS - 4;
    const double x = at - first;
    const double *f = table->factor + first;
    return -f[0] * (x - 1) * (x - 2) * (x - 3) / 6 + f[1] * x * (x - 2) * (x - 3) / 2 -
           f[2] * x * (x - 1) * (x - 3) / 2 + f[3] * x * (x - 1) * (x - 2) / 6;
}
