/* test_exactmath.c - base/exactmath against libm's long double functions and GSL, thousands of
 * points a function.
 *
 * Every function is a row with its points and the largest error allowed, in units in the last place
 * (ulp) of the true value, or relative. A last test pins the bits of all results: equal on every
 * compiler and option. */
#include "base/exactmath.h"

#include "base/philox.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 20000 };

static double unit(uint64_t i)
{
    return stream_uniform(17, 1, i);
}
static double between(double a, double b, uint64_t i)
{
    return a + (b - a) * unit(i);
}
static double log_between(double a, double b, uint64_t i)
{
    return exp(between(log(a), log(b), i));
}

/* The points. */
static double any_positive(uint64_t i)
{
    return log_between(5e-324, 1.7e308, i);
}
static double near_one(uint64_t i)
{
    return 1.0 + between(-1, 1, i) * log_between(1e-16, 0.6, i + POINTS);
}
static double above_minus_one(uint64_t i)
{
    return i % 3 == 0   ? -unit(i)
           : i % 3 == 1 ? (unit(i) < 0.5 ? -1.0 : 1.0) * log_between(1e-300, 0.99, i + POINTS)
                        : log_between(1e-20, 1e300, i);
}
static double exponent(uint64_t i)
{
    return i % 2 ? between(-745, 709.7, i) : between(-1, 1, i) * log_between(1e-20, 2, i + POINTS);
}
static double probability(uint64_t i)
{
    const double u = i % 2 ? unit(i) : log_between(1e-300, 0.5, i);
    return i % 5 == 0 ? 1.0 - log_between(1e-16, 0.5, i) : i % 7 == 0 ? 0.5 + (u - 0.5) * 1e-6 : u;
}
static double deviate(uint64_t i)
{
    return between(-37, 8, i);
}
static double gamma_argument(uint64_t i)
{
    return i % 2 ? between(0.01, 170, i) : log_between(1e-3, 20, i);
}
static double lambert_argument(uint64_t i)
{
    return i % 3 == 0   ? -1.0 / exp(1.0) + log_between(1e-12, 0.36, i)
           : i % 3 == 1 ? between(-0.36, 5, i)
                        : log_between(1e-10, 1e300, i);
}

static long double quantile_judge(double p)
{
    return gsl_cdf_ugaussian_Pinv(p);
}
static long double cdf_judge(double z)
{
    return 0.5L * erfcl(-(long double)z / sqrtl(2.0L));
}
static long double gamma_judge(double x)
{
    return tgammal(x);
}
/* GSL's value polished by Newton in long double. Next to the branch point that is ill conditioned:
 * there 1 + W comes from its own series. */
static long double lambert_judge(double x)
{
    long double w = gsl_sf_lambert_W0(x);
    if (x < -0.35) {
        const long double q = 1.0L + 2.718281828459045235360287L * x;
        long double v = 1.0L + w;
        for (int i = 0; i < 6; i++) {
            long double sum = 0, term = v;
            for (int n = 2; n < 40; n++) {
                term *= v / n;
                sum += term * (n - 1);
            }
            v -= (sum - q) / (v * expl(v));
        }
        return v - 1.0L;
    }
    for (int i = 0; i < 3; i++) {
        const long double e = expl(w);
        w -= (w - x / e) / (1.0L + x / e);
    }
    return w;
}
static long double log_judge(double x)
{
    return logl(x);
}
static long double log1p_judge(double x)
{
    return log1pl(x);
}
static long double exp_judge(double x)
{
    return expl(x);
}
static long double expm1_judge(double x)
{
    return expm1l(x);
}

struct row {
    const char *name;
    double (*ours)(double);
    long double (*judge)(double);
    double (*point)(uint64_t);
    double ulp_max; /* 0: relative_max counts   */
    double relative_max;
};

/* expl and logl are good to about 2^-63, far below what is asked. */
static const struct row rows[] = {
    { "log, all of the range", exact_log, log_judge, any_positive, 0.6, 0 },
    { "log near 1", exact_log, log_judge, near_one, 0.6, 0 },
    { "log1p", exact_log1p, log1p_judge, above_minus_one, 0.6, 0 },
    { "exp", exact_exp, exp_judge, exponent, 0.8, 0 },
    { "expm1", exact_expm1, expm1_judge, exponent, 1.5, 0 },
    { "normal quantile", exact_normal_quantile, quantile_judge, probability, 0, 1e-14 },
    { "normal CDF", exact_normal_cdf, cdf_judge, deviate, 0, 2e-14 },
    { "gamma", exact_gamma, gamma_judge, gamma_argument, 0, 1e-13 },
    { "Lambert W0", exact_lambert_w0, lambert_judge, lambert_argument, 0, 1e-13 },
};

static double error_of(const struct row *row, double got, long double want)
{
    if (isinf(got) || want == 0) return got == (double)want ? 0 : INFINITY;
    const long double gap = fabsl((long double)got - want);
    if (row->ulp_max > 0) {
        const double near = fabs((double)want);
        return (double)(gap / (long double)(nextafter(near, INFINITY) - near));
    }
    return (double)(gap / fabsl(want));
}

static void within_error(void **state)
{
    const struct row *row = *state;
    const double allowed = row->ulp_max > 0 ? row->ulp_max : row->relative_max;
    double worst = 0, worst_at = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        const double x = row->point(i);
        const double error = error_of(row, row->ours(x), row->judge(x));
        if (!(error <= worst)) {
            worst = error;
            worst_at = x;
        }
    }
    print_message("           worst %.3g %s at %.17g\n", worst,
                  row->ulp_max > 0 ? "ulp" : "relative", worst_at);
    assert_true(worst <= allowed);
}

static void power_within_an_ulp(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        const double x = i % 2 ? log_between(1e-30, 1e30, i) : near_one(i);
        const double y = i % 3 ? between(-8, 8, i + 2 * POINTS)
                               : between(-600, 600, i + 2 * POINTS) / fabs(log(x));
        const long double want = powl(x, y);
        if (!(want > 1e-300L && want < 1e300L)) continue;
        const double near = (double)want;
        const double error = (double)(fabsl(exact_pow(x, y) - want) /
                                      (long double)(nextafter(near, INFINITY) - near));
        if (error > worst) worst = error;
    }
    print_message("           worst %.3g ulp\n", worst);
    assert_true(worst <= 1.0);
}

static void edges(void **state)
{
    (void)state;
    assert_true(exact_log(0.0) == -INFINITY && exact_log(1.0) == 0.0 && isnan(exact_log(-1.0)));
    assert_true(exact_log(INFINITY) == INFINITY && exact_log1p(-1.0) == -INFINITY);
    assert_true(exact_log1p(0.0) == 0.0 && exact_log1p(5e-324) == 5e-324);
    assert_true(exact_exp(0.0) == 1.0 && exact_exp(710.0) == INFINITY && exact_exp(-746.0) == 0.0);
    assert_true(exact_exp(INFINITY) == INFINITY && exact_exp(-INFINITY) == 0.0);
    assert_true(exact_exp(709.782712893384) <= 1.7976931348623157e308 &&
                exact_exp(709.7827128933841) == INFINITY);
    assert_true(exact_exp(-745.13) == 5e-324);
    assert_true(exact_expm1(0.0) == 0.0 && exact_expm1(-800.0) == -1.0 &&
                exact_expm1(1e-300) == 1e-300);
    assert_true(exact_pow(0.0, 0.7) == 0.0 && exact_pow(0.0, -1.0) == INFINITY &&
                exact_pow(7.0, 0.0) == 1.0);
    assert_true(exact_pow(2.0, 10.0) == 1024.0 && exact_pow(9.0, 0.5) == 3.0 &&
                exact_pow(1.0, 1e300) == 1.0);
    assert_true(exact_pow(INFINITY, 2.0) == INFINITY && exact_pow(INFINITY, -2.0) == 0.0);
    assert_true(exact_pow(2.0, 1e300) == INFINITY && exact_pow(2.0, -1e300) == 0.0 &&
                exact_pow(2.0, -1074.0) == 5e-324);
    assert_true(exact_normal_quantile(0.5) == 0.0 && exact_normal_quantile(0.0) == -INFINITY);
    assert_true(exact_normal_quantile(1.0) == INFINITY);
    assert_true(exact_normal_quantile(5e-324) < -38.4 && exact_normal_quantile(5e-324) > -38.5);
    assert_true(exact_normal_cdf(0.0) == 0.5 && exact_normal_cdf(40.0) == 1.0 &&
                exact_normal_cdf(-40.0) == 0.0);
    assert_true(fabs(exact_gamma(5.0) / 24.0 - 1) < 1e-14 && fabs(exact_gamma(1.0) - 1) < 1e-14);
    assert_true(fabs(exact_gamma(0.5) / 1.7724538509055159 - 1) < 1e-14);
    assert_true(isfinite(exact_gamma(170.0)));
    assert_true(exact_lambert_w0(0.0) == 0.0 && fabs(exact_lambert_w0(exp(1.0)) - 1) < 1e-15);
    assert_true(exact_lambert_w0(-0x1.78b56362cef38p-2) <= -0.99999998);
}

/* Quantiles that every table of the normal distribution lists, to 17 digits and more. */
static void quantile_table(void **state)
{
    (void)state;
    static const struct {
        double p, z;
    } known[] = {
        { 0.975, 1.9599639845400542355 }, { 0.95, 1.6448536269514727148 },
        { 0.99, 2.3263478740408411009 },  { 0.75, 0.67448975019608174320 },
        { 0.0013498980316300945, -3.0 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(exact_normal_quantile(known[i].p) / known[i].z - 1) < 1e-14);
}

/* v(q) must satisfy its own equation, and agree with W0, also where 1 + W0 would cancel. */
static void branch_agrees_with_w0(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const double q = log_between(1e-30, 1.0, i);
        const long double v = exact_lambert_branch(q);
        /* 1 + (v - 1) e^v without cancellation: its own series to 30 terms */
        long double sum = 0, term = v;
        for (int n = 2; n < 40; n++) {
            term *= v / n;
            sum += term * (n - 1);
        }
        assert_true(fabsl(sum / q - 1) < 1e-14L);
    }
}

static void quantile_is_monotone(void **state)
{
    (void)state;
    double last = -INFINITY;
    for (int i = 1; i < 200000; i++) {
        const double z = exact_normal_quantile(i / 200000.0);
        assert_true(z > last);
        last = z;
    }
}

/* One hash over the bits of every function at 2,000 exact points. The points come from + and *
 * only. */
static void bits_are_pinned(void **state)
{
    (void)state;
    uint64_t hash = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        const struct draw d = stream_draw(5, 6, i);
        const double results[] = {
            exact_log(d.u1 * 1e9),
            exact_log1p(-d.u1),
            exact_exp(1400 * d.u1 - 700),
            exact_expm1(2 * d.u1 - 1),
            exact_pow(9 * d.u1, 40 * d.u2 - 20),
            exact_normal_quantile(d.u1),
            exact_normal_quantile(d.u1 * 0x1p-40),
            exact_normal_cdf(9 * d.u2 - 6),
            exact_gamma(170 * d.u2),
            exact_lambert_w0(d.u1 - 0.36),
            exact_lambert_w0(1e6 * d.u1),
            exact_lambert_branch(d.u2),
            inv_exponential(d.u1, 3600),
            inv_weibull(d.u2, 0.7, 86400),
            inv_lognormal(d.u1, 8, 1.36),
        };
        for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
            uint64_t bits;
            memcpy(&bits, &results[k], sizeof bits);
            hash = mix64(hash ^ bits);
        }
    }
    print_message("           %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x77a23d3b882c6804));
}

int main(void)
{
    enum { ROWS = sizeof rows / sizeof *rows };
    struct CMUnitTest tests[ROWS + 6];
    size_t count = 0;
    gsl_set_error_handler_off();
    for (; count < ROWS; count++)
        tests[count] =
            (struct CMUnitTest){ rows[count].name, within_error, NULL, NULL, (void *)&rows[count] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(power_within_an_ulp);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(edges);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(quantile_table);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(branch_agrees_with_w0);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(quantile_is_monotone);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(bits_are_pinned);
    return _cmocka_run_group_tests("exactmath", tests, count, NULL, NULL);
}
