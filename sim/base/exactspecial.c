/* exactspecial.c - normal distribution, gamma function and Lambert W, on the elementary functions
 * of exactmath.c.
 *
 * Normal CDF. With phi the density, for x >= 0
 *     Phi(x) - 1/2 = phi(x) (x + x^3/3 + x^5/15 + ... + x^(2n+1)/(2n+1)!!),    all terms positive,
 *     1 - Phi(x)   = phi(x) / (x + 1/(x + 2/(x + 3/(x + ...)))),               Mills' ratio
 * (Laplace), the series below x = 2, the fraction from there on. The quantile solves these by
 * Halley's iteration: in the middle for Phi - p, in the tail for log(1 - Phi) - log p, which is
 * nearly a parabola.
 *
 * Lambert W near its branch point. With v = 1 + W(x) and q = 1 + e x the equation W e^W = x reads
 *     q = 1 + (v - 1) e^v = v^2/2 + v^3/3 + v^4/8 + ... + (n - 1)/n! v^n,      all terms positive,
 * so v is found to full relative accuracy however small q is. */
#include "base/doubledouble.h"
#include "base/exactmath.h"

#include <math.h>

static const double sqrt_2pi = 0x1.40d931ff62706p+1;
static const double log_2pi = 0x1.d67f1c864beb5p+0;
static const double middle_end = 2.0;        /* |z| where the fraction takes over      */
static const double middle_p = 0.0227501319; /* 1 - Phi(2): which side is not critical */
enum { ROUNDS_MAX = 20 };                    /* Halley needs at most 5; a guard only   */

/* (Phi(x) - 1/2) / phi(x) for 0 <= x <= 2.1. */
static double middle_ratio(double x)
{
    const double square = x * x;
    double term = x, sum = x;
    for (int odd = 3; term > 1e-19 * sum; odd += 2) {
        term *= square / (double)odd;
        sum += term;
    }
    return sum;
}

/* (1 - Phi(x)) / phi(x) for x >= 1.9. Cut after n levels the fraction is off by about exp(-2 x
 * sqrt(2 n)) once n exceeds x^2, which asks for 220/x^2 levels; for large x 30 levels do. */
static double tail_ratio(double x)
{
    double rest = x;
    for (int n = 30 + (int)(220.0 / (x * x)); n >= 1; n--) rest = x + (double)n / rest;
    return 1.0 / rest;
}

double exact_normal_cdf(double z)
{
    if (z != z) return z;
    const double x = fabs(z);
    if (x > 39.0) return z > 0.0 ? 1.0 : 0.0;
    const struct dd square = dd_two_product(x, x); /* its rounding would show 700-fold at x = 37 */
    const double density = exact_exp(-0.5 * square.hi) * (1.0 - 0.5 * square.lo) / sqrt_2pi;
    if (x < middle_end) {
        const double half = density * middle_ratio(x);
        return z < 0.0 ? 0.5 - half : 0.5 + half;
    }
    const double tail = density * tail_ratio(x);
    return z < 0.0 ? tail : 1.0 - tail;
}

/* x with Phi(x) - 1/2 = half. A step below 1e-6 leaves an error below 1e-17: the order is three. */
static double quantile_middle(double half)
{
    const double w = half * sqrt_2pi, square = w * w;
    double x = w * (1.0 + square * (1.0 / 6.0 + square * (7.0 / 120.0)));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const double u = middle_ratio(x) - half * sqrt_2pi * exact_exp(0.5 * x * x);
        const double step = u / (1.0 + 0.5 * x * u);
        x -= step;
        if (fabs(step) <= 1e-6 * x) break;
    }
    return x;
}

/* x with 1 - Phi(x) = p for small p. */
static double quantile_tail(double p)
{
    const double log_p = exact_log(p);
    const double first = -2.0 * log_p - log_2pi;
    double x = sqrt(first - exact_log(first));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const double ratio = tail_ratio(x);
        /* u = g/g' of g = log(1 - Phi) - log p, g' = -1/ratio, g'' = g' (1/ratio - x) */
        const double g = exact_log(ratio) - 0.5 * (x * x + log_2pi) - log_p;
        const double u = -g * ratio;
        const double step = u / (1.0 - 0.5 * u * (1.0 / ratio - x));
        x -= step;
        if (fabs(step) <= 1e-6 * x) break;
    }
    return x;
}

double exact_normal_quantile(double p)
{
    if (!(p > 0.0)) return p == 0.0 ? -INFINITY : NAN;
    if (p >= 1.0) return p == 1.0 ? INFINITY : NAN;
    const double smaller = p < 0.5 ? p : 1.0 - p; /* exact for p >= 1/2 */
    const double x = smaller < middle_p ? quantile_tail(smaller) : quantile_middle(0.5 - smaller);
    return p < 0.5 ? -x : x;
}

/* Stirling's series for x >= 16: log Gamma(x) - (x - 1/2) log x + x - log(2 pi)/2. */
static double stirling_rest(double x)
{
    const double z = 1.0 / (x * x);
    const double sum =
        1.0 / 12.0 -
        z * (1.0 / 360.0 -
             z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z * (1.0 / 1188.0 - z * (691.0 / 360360.0)))));
    return sum / x;
}

double exact_gamma(double x)
{
    if (!(x > 0.0)) return NAN;
    /* Gamma(x) = Gamma(x + n) / (x (x + 1) ... (x + n - 1)) moves small x to where Stirling holds.
     */
    double divisor = 1.0;
    struct dd y = { x, 0.0 };
    for (; y.hi < 16.0; y = dd_add(y, (struct dd){ 1.0, 0.0 })) divisor *= y.hi;
    /* x^(x - 1/2) overflows before Gamma does: take it in two halves. */
    const double half_power = exact_pow(y.hi, 0.5 * y.hi - 0.25);
    const double at_hi = half_power * exact_exp(stirling_rest(y.hi) - y.hi) * sqrt_2pi * half_power;
    /* The rounding of x + n, to first order: d log Gamma = log y - 1/(2 y). */
    return at_hi * (1.0 + y.lo * (exact_log(y.hi) - 0.5 / y.hi)) / divisor;
}

/* v^2/2 + v^3/3 + ... for 0 <= v <= 1. */
static double branch_series(double v)
{
    double sum = 0.0;
    double coefficient[23]; /* 1/n! */
    coefficient[1] = 1.0;
    for (int n = 2; n <= 22; n++) coefficient[n] = coefficient[n - 1] / (double)n;
    for (int n = 22; n >= 2; n--) sum = sum * v + (double)(n - 1) * coefficient[n];
    return sum * v * v;
}

double exact_lambert_branch(double q)
{
    if (!(q > 0.0)) return q == 0.0 ? 0.0 : NAN;
    const double p = sqrt(2.0 * q);
    double v = p * (1.0 - p * (1.0 / 3.0 - p * (11.0 / 72.0)));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const double step = (branch_series(v) - q) / (v * exact_exp(v));
        v -= step;
        if (fabs(step) <= 1e-9 * v) break;
    }
    return v;
}

/* Halley on w e^w = x from the Pade form of the series at 0; for -0.2 <= x <= 3. */
static double lambert_small(double x)
{
    double w = x * (1.0 + x * (4.0 / 3.0)) / (1.0 + x * (7.0 / 3.0 + x * (5.0 / 6.0)));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const double power = exact_exp(w);
        const double miss = w * power - x;
        const double step = miss / (power * (w + 1.0) - 0.5 * (w + 2.0) * miss / (w + 1.0));
        w -= step;
        if (fabs(step) <= 1e-6 * fabs(w)) break;
    }
    return w;
}

/* Newton on w + log w = log x, which cannot overflow. */
static double lambert_large(double x)
{
    const double l1 = exact_log(x), l2 = exact_log(l1);
    double w = l1 - l2 + l2 / l1;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const double next = w * (1.0 + exact_log(x / w)) / (1.0 + w);
        const double step = next - w;
        w = next;
        if (fabs(step) <= 1e-9 * w) break;
    }
    return w;
}

double exact_lambert_w0(double x)
{
    static const struct dd e = { 0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53 };
    if (x != x || x == INFINITY) return x;
    if (x < -0.2) {
        const struct dd q = dd_add(dd_multiply_double(e, x), (struct dd){ 1.0, 0.0 });
        /* The double below -1/e stands for it. */
        if (q.hi <= 0.0) return q.hi > -0x1p-52 ? -1.0 : NAN;
        return exact_lambert_branch(q.hi) - 1.0;
    }
    return x > 3.0 ? lambert_large(x) : lambert_small(x);
}
