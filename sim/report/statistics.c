/* statistics.c - see statistics.h. */
#include "report/statistics.h"

#include "base/assert.h"

#include <gsl/gsl_cdf.h>

#include <math.h>

bool interval_excludes_zero(struct interval interval)
{
    return fabs(interval.mean) > interval.half; /* false when half is NAN */
}

/* Sums in the order of the values: swapping or negating columns changes signs and nothing else. */
static double mean_of(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

static double variance_of(const double *x, uint32_t n, double mean)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum / (n - 1);
}

static double half_width(double variance, uint32_t n, double conf)
{
    if (n < 2) return NAN;
    if (variance == 0) return 0; /* all replicas agree exactly */
    return gsl_cdf_tdist_Qinv((1 - conf) / 2, n - 1) * sqrt(variance / n);
}

struct interval t_ci(const double *x, uint32_t n, double conf)
{
    ASSERT(conf > 0 && conf < 1);
    if (n == 0) return (struct interval){ .mean = NAN, .half = NAN };
    const double mean = mean_of(x, n);
    const double variance = n >= 2 ? variance_of(x, n, mean) : 0;
    return (struct interval){ .mean = mean, .half = half_width(variance, n, conf), .n = n };
}

struct paired paired_ci(const double *x, const double *y, uint32_t n, double conf)
{
    ASSERT(conf > 0 && conf < 1);
    if (n == 0)
        return (struct paired){ .difference = { .mean = NAN, .half = NAN }, .var_ratio = NAN };
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) sum += x[i] - y[i];
    const double mean = sum / n;
    for (uint32_t i = 0; i < n; i++) squares += (x[i] - y[i] - mean) * (x[i] - y[i] - mean);
    const double variance = n >= 2 ? squares / (n - 1) : 0;
    struct paired paired = {
        .difference = { .mean = mean, .half = half_width(variance, n, conf), .n = n },
        .var_ratio = NAN,
    };
    if (n >= 2) { /* 0 / 0 is NAN, x / 0 infinite */
        const double apart = variance_of(x, n, mean_of(x, n)) + variance_of(y, n, mean_of(y, n));
        paired.var_ratio = variance > 0 ? apart / variance : apart > 0 ? INFINITY : NAN;
    }
    return paired;
}

/* Welch and Satterthwaite: degrees of freedom of a sum of two variances. */
static double half_width_of_sum(double a, uint32_t n_a, double b, uint32_t n_b, double conf)
{
    if (a + b == 0) return 0;
    const double freedom = (a + b) * (a + b) / (a * a / (n_a - 1) + b * b / (n_b - 1));
    return gsl_cdf_tdist_Qinv((1 - conf) / 2, freedom) * sqrt(a + b);
}

struct interval shifted_ci(const double *base, const double *moved, uint32_t count, double conf)
{
    ASSERT(conf > 0 && conf < 1);
    double sum = 0, shifts = 0, pair_sum = 0;
    uint32_t all = 0, n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(base[i])) continue;
        sum += base[i];
        all++;
        if (isnan(moved[i])) continue;
        shifts += moved[i] - base[i];
        pair_sum += base[i];
        n++;
    }
    struct interval interval = { .mean = NAN, .half = NAN, .n = n };
    if (n == 0) return interval;
    const double mean = sum / all, shift = shifts / n, pair_mean = pair_sum / n;
    double squares = 0, shift_squares = 0, products = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(base[i])) continue;
        squares += (base[i] - mean) * (base[i] - mean);
        if (isnan(moved[i])) continue;
        const double apart = moved[i] - base[i] - shift;
        shift_squares += apart * apart;
        products += apart * (base[i] - pair_mean);
    }
    interval.mean = mean + shift;
    if (n < 2) return interval;
    const double of_base = squares / (all - 1) / all;
    const double of_shift = shift_squares / (n - 1) / n + 2 * products / (n - 1) / all;
    interval.half = half_width_of_sum(of_base, all, fmax(of_shift, 0), n, conf);
    return interval;
}

struct interval moved_ci(const double *base, const double *moved, uint32_t count, double conf)
{
    double sum = 0, squares = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(base[i])) continue;
        if (isnan(moved[i])) return shifted_ci(base, moved, count, conf);
        sum += moved[i];
        n++;
    }
    if (n == 0) return (struct interval){ .mean = NAN, .half = NAN };
    const double mean = sum / n;
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(base[i])) squares += (moved[i] - mean) * (moved[i] - mean);
    const double variance = n >= 2 ? squares / (n - 1) : 0;
    return (struct interval){ .mean = mean, .half = half_width(variance, n, conf), .n = n };
}

struct batches batch_means(const double *x, uint32_t n, uint32_t count, double conf)
{
    ASSERT(count >= 2 && count <= n);
    const uint32_t size = n / count;
    double sum = 0, squares = 0, products = 0, previous = 0;
    for (uint32_t i = 0; i < count; i++) sum += mean_of(x + (size_t)i * size, size);
    const double mean = sum / count;
    for (uint32_t i = 0; i < count; i++) {
        const double apart = mean_of(x + (size_t)i * size, size) - mean;
        squares += apart * apart;
        products += i > 0 ? apart * previous : 0;
        previous = apart;
    }
    return (struct batches){
        .interval = { .mean = mean,
                      .half = half_width(squares / (count - 1), count, conf),
                      .n = count },
        .lag1 = squares > 0 ? products / squares : 0,
    };
}

struct stop stop_rule(const double *x, uint32_t n, double conf, double gamma, uint32_t n_min)
{
    ASSERT(gamma > 0);
    const struct interval interval = t_ci(x, n, conf);
    struct stop stop = { .rel = interval.half / fabs(interval.mean), .limit = gamma / (1 + gamma) };
    if (interval.half == 0) stop.rel = 0; /* also when the mean is 0 */
    stop.stop = n >= n_min && n >= 2 && stop.rel <= stop.limit;
    return stop;
}

double joint_confidence(double conf, uint32_t count)
{
    ASSERT(count >= 1);
    return 1 - (1 - conf) / count;
}
