/* test_exactmath_edges.c - base/exactmath at the edges of its ranges, against GSL and libm's long double functions.
 *
 * Edges: where a function changes its method, where results over- or underflow, next to zeros and poles, subnormal
 * arguments. Each row states the largest relative error; results below the normal range may also be one step of
 * 2^-1074 off. The last test reads base/exactmath.h: every function it declares must be judged by a row here. The whole
 * ranges are judged by test_exactmath.c. */
#include "base/exactmath.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_lambert.h>
#include <string.h>

enum { POINTS = 4000 };

struct args {
    double x, y, z;
};

struct edge {
    const char *function, *where;
    double (*ours)(struct args);
    long double (*judge)(struct args);
    struct args (*point)(uint64_t);
    double within; /* relative */
};

/* --- points --------------------------------------------------------------------------------------- */

static double sign(uint64_t i)
{
    return i % 2 ? 1.0 : -1.0;
}
static double size(uint64_t i, double low, double high)
{
    return any_scale(41, i, low, high);
}
static double plain(uint64_t i, double low, double high)
{
    return any_between(43, i, low, high);
}

static struct args subnormal(uint64_t i)
{
    return (struct args){ .x = size(i, 5e-324, 3e-308) };
}
static struct args largest(uint64_t i)
{
    return (struct args){ .x = size(i, 1e307, 1.79e308) };
}
static struct args near_one(uint64_t i)
{
    return (struct args){ .x = 1.0 + sign(i) * size(i, 1.2e-16, 1e-6) };
}
static struct args near_zero(uint64_t i)
{
    return (struct args){ .x = sign(i) * size(i, 1e-320, 1e-12) };
}
static struct args near_minus_one(uint64_t i)
{
    return (struct args){ .x = -1.0 + size(i, 1.2e-16, 1e-6) };
}
static struct args overflow_of_exp(uint64_t i)
{
    return (struct args){ .x = plain(i, 709, 709.78) };
}
static struct args underflow_of_exp(uint64_t i)
{
    return (struct args){ .x = plain(i, -745, -700) };
}
static struct args saturation(uint64_t i)
{
    return (struct args){ .x = plain(i, -40, -34) };
}
static struct args huge_power_of_one(uint64_t i)
{
    return (struct args){ .x = 1.0 + sign(i) * size(i, 1e-12, 1e-6), .y = plain(i, -1e7, 1e7) };
}
static struct args power_of_subnormal(uint64_t i)
{
    return (struct args){ .x = size(i, 5e-324, 2e-308), .y = plain(i, -0.9, 0.9) };
}
static struct args tiny_power(uint64_t i)
{
    return (struct args){ .x = i % 3 ? size(i, 1e-300, 1.0) : size(i, 1.0, 1e300),
                          .y = near_zero(i).x };
}
static struct args switch_of_quantile(uint64_t i)
{
    const double p = 0.0227501319 * (1.0 + sign(i) * size(i, 1e-12, 1e-2));
    return (struct args){ .x = i % 3 ? p : 1.0 - p };
}
static struct args around_half(uint64_t i)
{
    return (struct args){ .x = 0.5 + sign(i) * size(i, 1e-15, 1e-3) };
}
static struct args below_one(uint64_t i)
{
    return (struct args){ .x = 1.0 - size(i, 1.2e-16, 1e-9) };
}
static struct args switch_of_cdf(uint64_t i)
{
    return (struct args){ .x = sign(i / 2) * (2.0 + sign(i) * size(i, 1e-15, 0.1)) };
}
static struct args far_tail(uint64_t i)
{
    return (struct args){ .x = plain(i, -38.4, -36) };
}
static struct args upper_tail(uint64_t i)
{
    return (struct args){ .x = plain(i, 5, 45) };
}
static struct args switch_of_gamma(uint64_t i)
{
    return (struct args){ .x = 16.0 + sign(i) * size(i, 1e-14, 1.0) };
}
static struct args gamma_of_large(uint64_t i)
{
    return (struct args){ .x = plain(i, 160, 170) };
}
static struct args gamma_of_tiny(uint64_t i)
{
    return (struct args){ .x = size(i, 1e-307, 1e-3) };
}
static struct args gamma_near_integer(uint64_t i)
{
    return (struct args){ .x = 1.0 + (double)(i % 16) + sign(i) * size(i, 1e-15, 1e-4) };
}
static struct args lambert_of_large(uint64_t i)
{
    return (struct args){ .x = size(i, 1e200, 1.7e308) };
}
static struct args near_branch(uint64_t i)
{
    return (struct args){ .x = size(i, 0.01, 1.0) };
}
static struct args end_of_branch(uint64_t i)
{
    return (struct args){ .x = 1.0 - size(i, 1e-16, 1e-3) };
}

/* u at both ends and in the middle; shapes and spreads that are in use. */
static struct args any_life(uint64_t i)
{
    const double u = i % 3 == 0   ? 1.0 - size(i, 1.2e-16, 0.5)
                     : i % 3 == 1 ? size(i, 1e-300, 0.5)
                                  : plain(i, 0.001, 0.999);
    return (struct args){ .x = u, .y = plain(i + POINTS, 0.3, 3), .z = size(i, 1e-3, 1e9) };
}

/* --- ours and the judges ------------------------------------------------------------------------------ */

#define OURS(name)                                                                                 \
    static double ours_##name(struct args a)                                                       \
    {                                                                                              \
        return name(a.x);                                                                          \
    }
OURS(exact_log)
OURS(exact_log1p)
OURS(exact_exp)
OURS(exact_expm1)
OURS(exact_normal_quantile)
OURS(exact_normal_cdf)
OURS(exact_gamma)
OURS(exact_lambert_w0)
OURS(exact_lambert_branch)
static double ours_exact_pow(struct args a)
{
    return exact_pow(a.x, a.y);
}
static double ours_inv_exponential(struct args a)
{
    return inv_exponential(a.x, a.z);
}
static double ours_inv_weibull(struct args a)
{
    return inv_weibull(a.x, a.y, a.z);
}
static double ours_inv_lognormal(struct args a)
{
    return inv_lognormal(a.x, log(a.z), a.y);
}

static long double log_libm(struct args a)
{
    return logl(a.x);
}
static long double log1p_libm(struct args a)
{
    return log1pl(a.x);
}
static long double exp_libm(struct args a)
{
    return expl(a.x);
}
static long double expm1_libm(struct args a)
{
    return expm1l(a.x);
}
static long double pow_libm(struct args a)
{
    return powl(a.x, a.y);
}
static long double quantile_gsl(struct args a)
{
    return gsl_cdf_ugaussian_Pinv(a.x);
}
static long double cdf_gsl(struct args a)
{
    return gsl_cdf_ugaussian_P(a.x);
}
static long double cdf_libm(struct args a)
{
    return 0.5L * erfcl(-(long double)a.x / sqrtl(2.0L));
}
static long double gamma_gsl(struct args a)
{
    return gsl_sf_gamma(a.x);
}
static long double gamma_libm(struct args a)
{
    return tgammal(a.x);
}
/* x - x^2 + 3/2 x^3: GSL rounds W of the smallest x to 0. */
static long double lambert_series(struct args a)
{
    return a.x - (long double)a.x * a.x * (1.0L - 1.5L * a.x);
}
static long double lambert_gsl(struct args a)
{
    return gsl_sf_lambert_W0(a.x);
}
static long double branch_gsl(struct args a)
{
    return 1.0L + gsl_sf_lambert_W0((double)((a.x - 1.0L) / 2.718281828459045235360287L));
}
static long double exponential_gsl(struct args a)
{
    return gsl_cdf_exponential_Pinv(a.x, a.z);
}
static long double weibull_gsl(struct args a)
{
    return gsl_cdf_weibull_Pinv(a.x, a.z, a.y);
}
static long double lognormal_gsl(struct args a)
{
    return gsl_cdf_lognormal_Pinv(a.x, log(a.z), a.y);
}

#define EDGE(name, where, judge, point, within)                                                    \
    {                                                                                              \
#name, where, ours_##name, judge, point, within                                            \
    }
static const struct edge edges[] = {
    EDGE(exact_log, "subnormal", log_libm, subnormal, 1.3e-16),
    EDGE(exact_log, "largest", log_libm, largest, 1.3e-16),
    EDGE(exact_log, "next to 1", log_libm, near_one, 1.3e-16),
    EDGE(exact_log1p, "next to 0", log1p_libm, near_zero, 1.3e-16),
    EDGE(exact_log1p, "next to -1", log1p_libm, near_minus_one, 1.3e-16),
    EDGE(exact_log1p, "largest", log1p_libm, largest, 1.3e-16),
    EDGE(exact_exp, "next to 0", exp_libm, near_zero, 2e-16),
    EDGE(exact_exp, "before overflow", exp_libm, overflow_of_exp, 2e-16),
    EDGE(exact_exp, "into underflow", exp_libm, underflow_of_exp, 2e-16),
    EDGE(exact_expm1, "next to 0", expm1_libm, near_zero, 2e-16),
    EDGE(exact_expm1, "towards -1", expm1_libm, saturation, 2e-16),
    EDGE(exact_expm1, "before overflow", expm1_libm, overflow_of_exp, 3e-16),
    EDGE(exact_pow, "next to 1, large powers", pow_libm, huge_power_of_one, 2.3e-16),
    EDGE(exact_pow, "of subnormal numbers", pow_libm, power_of_subnormal, 2.3e-16),
    EDGE(exact_pow, "tiny powers", pow_libm, tiny_power, 2.3e-16),
    EDGE(exact_normal_quantile, "subnormal", quantile_gsl, subnormal, 1e-14),
    EDGE(exact_normal_quantile, "where the method changes", quantile_gsl, switch_of_quantile,
         1e-14),
    EDGE(exact_normal_quantile, "next to 1/2", quantile_gsl, around_half, 1e-14),
    EDGE(exact_normal_quantile, "next to 1", quantile_gsl, below_one, 1e-14),
    EDGE(exact_normal_cdf, "where the method changes", cdf_libm, switch_of_cdf, 2e-14),
    EDGE(exact_normal_cdf, "into underflow", cdf_libm, far_tail, 2e-14),
    EDGE(exact_normal_cdf, "upper tail", cdf_gsl, upper_tail, 2e-14),
    EDGE(exact_normal_cdf, "next to 0", cdf_gsl, near_zero, 2e-14),
    EDGE(exact_gamma, "where the method changes", gamma_libm, switch_of_gamma, 1e-13),
    EDGE(exact_gamma, "large", gamma_gsl, gamma_of_large, 1e-13),
    EDGE(exact_gamma, "tiny", gamma_gsl, gamma_of_tiny, 1e-13),
    EDGE(exact_gamma, "next to integers", gamma_libm, gamma_near_integer, 1e-13),
    EDGE(exact_lambert_w0, "next to 0", lambert_series, near_zero, 1e-13),
    EDGE(exact_lambert_w0, "largest", lambert_gsl, lambert_of_large, 1e-13),
    EDGE(exact_lambert_branch, "0.01 to 1", branch_gsl, near_branch, 1e-13),
    EDGE(exact_lambert_branch, "next to 1", branch_gsl, end_of_branch, 1e-13),
    EDGE(inv_exponential, "both ends", exponential_gsl, any_life, 1e-15),
    EDGE(inv_weibull, "both ends", weibull_gsl, any_life, 2e-14),
    /* exp turns the quantile's 1e-14 into sigma |z| times that: at most 3 * 37. */
    EDGE(inv_lognormal, "both ends", lognormal_gsl, any_life, 1.2e-12),
};
enum { EDGES = sizeof edges / sizeof *edges };

/* --- tests ----------------------------------------------------------------------------------------------- */

static void within_error(void **state)
{
    static const double step = 0x1p-1074;
    const struct edge *edge = *state;
    double worst = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        const struct args a = edge->point(i);
        const double got = edge->ours(a);
        const long double want = edge->judge(a), gap = fabsl(got - want);
        CHECK(gap <= edge->within * fabsl(want) + step, "at %.17g, %.17g, %.17g: %.17g, not %.17Lg",
              a.x, a.y, a.z, got, want);
        const double error = (double)(gap / fabsl(want));
        if (fabsl(want) > 1e-307L && error > worst) worst = error;
    }
    print_message("           worst %.3g of %.3g\n", worst, edge->within);
}

/* Every "double NAME(" of the header has a row. */
static void every_function_is_judged(void **state)
{
    (void)state;
    FILE *header = fopen("sim/base/exactmath.h", "r");
    assert_non_null(header);
    char line[256], name[64];
    unsigned declared = 0;
    while (fgets(line, sizeof line, header)) {
        if (sscanf(line, "double %63[a-z0-9_](", name) != 1) continue;
        declared++;
        size_t i = 0;
        while (i < EDGES && strcmp(edges[i].function, name) != 0) i++;
        CHECK(i < EDGES, "%s is not judged here", name);
    }
    fclose(header);
    assert_int_equal(declared, 13);
}

int main(void)
{
    struct rows rows = { 0 };
    gsl_set_error_handler_off();
    for (size_t i = 0; i < EDGES; i++)
        rows_add(&rows, within_error, &edges[i], "%s: %s", edges[i].function, edges[i].where);
    rows_add(&rows, every_function_is_judged, NULL, "every function of the header is judged");
    return rows_run("exactmath edges", &rows);
}
