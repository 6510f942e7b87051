/* straggler.c - the slowest of many, MODELS 3.8: an integral, its quick form. */
#include "models/straggler.h"

#include "base/assert.h"
#include "base/exactmath.h"

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
