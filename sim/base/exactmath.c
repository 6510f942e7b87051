/* exactmath.c - logarithm, exponential, power and the inverse CDFs built on them.
 *
 * Logarithm: x = 2^k m with m in [sqrt(1/2), sqrt(2)), then
 *     log m = 2 atanh s = 2 s (1 + s^2/3 + s^4/5 + ...),   s = (m - 1)/(m + 1),  |s| < 0.1716,
 * where the first terms are taken in double-double and the rest, below 2^-20 of the sum, in double:
 * about 70 bits. Exponential: x = k ln 2 + r with |r| <= ln 2 / 2 and r in double-double, then the
 * Taylor series of e^r. Power: e^(y log x) with the logarithm's 70 bits, so that |y log x| < 745
 * keeps 60 of them. */
#include "base/exactmath.h"

#include "base/doubledouble.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in three parts; the first has 42 bits, so k times it is exact for |k| < 2048. */
static const double ln2_a = 0x1.62e42fefa3800p-1, ln2_b = 0x1.ef35793c76730p-45,
                    ln2_c = 0x1.f97b57a079a19p-103;
static const double ln2_inverse = 0x1.71547652b82fep+0;
static const double sqrt_half = 0x1.6a09e667f3bcdp-1;

static const struct dd third = { 0x1.5555555555555p-2, 0x1.5555555555555p-56 };
static const struct dd fifth = { 0x1.999999999999ap-3, -0x1.999999999999ap-57 };
static const struct dd seventh = { 0x1.2492492492492p-3, 0x1.2492492492492p-57 };

static const double exp_max = 709.79;  /* e^709.79 > DBL_MAX                    */
static const double exp_min = -745.14; /* e^-745.14 < half the least subnormal  */

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k for a normal result. */
static double power_of_two(int k)
{
    return double_of((uint64_t)(k + 1023) << 52);
}

/* x * 2^k for x near 1; halves of k keep both factors normal when the result is not. */
static double scale(double x, int k)
{
    const int half = k / 2;
    return x * power_of_two(half) * power_of_two(k - half);
}

/* x = m 2^k, m in [sqrt(1/2), sqrt(2)); x > 0 and finite. */
static double fraction_and_exponent(double x, int *k)
{
    int shift = 0;
    if (x < 0x1p-1022) { /* subnormal */
        x *= 0x1p54;
        shift = -54;
    }
    const uint64_t bits = bits_of(x);
    const int exponent = (int)(bits >> 52) - 1022; /* mantissa in [1/2, 1) */
    const double half = double_of((bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x3FE0) << 48);
    const bool low = half < sqrt_half;
    *k = exponent + shift - low;
    return low ? 2.0 * half : half;
}

/* 1/9 + z/11 + z^2/13 + ..., far enough for 2^-75 of the whole logarithm at z < 0.0295. */
static double atanh_tail(double z)
{
    double sum = 1.0 / 31.0;
    for (int odd = 29; odd >= 9; odd -= 2) sum = sum * z + 1.0 / (double)odd;
    return sum;
}

/* log((m + m_lo) 2^k), m in [sqrt(1/2), sqrt(2)) and |m_lo| far smaller. */
static struct dd log_reduced(double m, double m_lo, int k)
{
    const struct dd f = dd_two_sum(m - 1.0, m_lo);
    const struct dd s = dd_divide(f, dd_add((struct dd){ 2.0, 0.0 }, f));
    const struct dd z = dd_multiply(s, s);

    struct dd series = dd_add(seventh, (struct dd){ z.hi * atanh_tail(z.hi), 0.0 });
    series = dd_add(fifth, dd_multiply(z, series));
    series = dd_add(third, dd_multiply(z, series));
    series = dd_multiply(z, series);
    const struct dd twice = { 2.0 * s.hi, 2.0 * s.lo };
    const struct dd fraction = dd_add(twice, dd_multiply(twice, series));
    if (k == 0) return fraction;

    const struct dd whole = dd_two_sum(k * ln2_a, k * ln2_b);
    return dd_add((struct dd){ whole.hi, whole.lo + k * ln2_c }, fraction);
}

static struct dd log_dd(double x)
{
    int k;
    const double m = fraction_and_exponent(x, &k);
    return log_reduced(m, 0.0, k);
}

double exact_log(double x)
{
    if (x == 0.0) return -INFINITY;
    if (!(x > 0.0)) return NAN;
    if (x == INFINITY) return x;
    return log_dd(x).hi;
}

double exact_log1p(double x)
{
    if (x == -1.0) return -INFINITY;
    if (!(x > -1.0)) return NAN;
    if (fabs(x) < 0x1p-54 || x == INFINITY) return x;
    const struct dd sum = dd_two_sum(1.0, x);
    int k;
    const double m = fraction_and_exponent(sum.hi, &k);
    /* Beyond 2^1000 the low part scales to nothing that counts; below, 2^-k is normal. */
    return log_reduced(m, k > 1000 ? 0.0 : sum.lo * power_of_two(-k), k).hi;
}

/* e^r = 1 + q with q in double-double, |r| <= 0.35; the Taylor series is cut at 2^-63. */
static struct dd exp_fraction(struct dd r)
{
    double sum = 1.0 / 15.0;
    for (int n = 14; n >= 3; n--) sum = (1.0 + r.hi * sum) / (double)n;
    const double beyond_linear = 0.5 * r.hi * r.hi * (1.0 + r.hi * sum);
    return dd_fast_two_sum(r.hi, r.lo * (1.0 + r.hi) + beyond_linear);
}

/* x = k ln 2 + r. */
static struct dd reduce_by_ln2(struct dd x, int *k)
{
    const double whole = floor(x.hi * ln2_inverse + 0.5);
    const struct dd rest = dd_two_sum(x.hi, -whole * ln2_a);
    *k = (int)whole;
    return dd_two_sum(rest.hi, rest.lo + (x.lo - whole * ln2_b));
}

static double exp_dd(struct dd x)
{
    if (x.hi > exp_max) return INFINITY;
    if (x.hi < exp_min) return 0.0;
    int k;
    const struct dd q = exp_fraction(reduce_by_ln2(x, &k));
    const struct dd sum = dd_fast_two_sum(1.0, q.hi);
    return scale(sum.hi + (sum.lo + q.lo), k);
}

double exact_exp(double x)
{
    if (x != x) return x;
    return exp_dd((struct dd){ x, 0.0 });
}

double exact_expm1(double x)
{
    if (x != x || fabs(x) < 0x1p-54) return x;
    if (x > exp_max) return INFINITY;
    if (x < -50.0) return -1.0;
    int k;
    const struct dd q = exp_fraction(reduce_by_ln2((struct dd){ x, 0.0 }, &k));
    if (k == 0) return q.hi + q.lo;
    if (k > 60)
        return exp_dd((struct dd){ x, 0.0 }); /* the 1 is below half a unit in the last place */
    /* 2^k (1 + q) - 1 */
    const double power = power_of_two(k);
    const struct dd less_one = dd_two_sum(power, -1.0);
    const struct dd sum = dd_two_sum(less_one.hi, power * q.hi);
    return sum.hi + (sum.lo + (less_one.lo + power * q.lo));
}

double exact_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y || x < 0.0) return NAN;
    if (x == 0.0 || x == INFINITY) return (x == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
    const struct dd log_x = log_dd(x);
    /* Judged before the exact product: y may be so large that splitting it overflows. */
    const double about = y * log_x.hi;
    if (about > exp_max) return INFINITY;
    if (about < exp_min) return 0.0;
    return exp_dd(dd_multiply_double(log_x, y));
}

double inv_exponential(double u, double mean)
{
    return -mean * exact_log1p(-u);
}

double inv_weibull(double u, double shape, double scale_)
{
    return scale_ * exact_pow(-exact_log1p(-u), 1.0 / shape);
}

double inv_lognormal(double u, double mu, double sigma)
{
    return exact_exp(mu + sigma * exact_normal_quantile(u));
}
