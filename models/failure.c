/* failure.c - closed forms of MODELS 5.2 to 5.6. */
#include "models/failure.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

double weibull_mean_s(double shape, double scale_s)
{
    ASSERT(shape > 0 && scale_s > 0);
    return scale_s * exact_gamma(1.0 + 1.0 / shape);
}

double weibull_scale_from_mean_s(double shape, double mean_s)
{
    ASSERT(shape > 0 && mean_s > 0);
    return mean_s / exact_gamma(1.0 + 1.0 / shape);
}

double weibull_min_scale_s(double shape, double scale_s, double count)
{
    ASSERT(shape > 0 && count >= 1);
    return scale_s * exact_pow(count, -1.0 / shape);
}

double weibull_cv2(double shape)
{
    ASSERT(shape > 0);
    const double first = exact_gamma(1.0 + 1.0 / shape);
    return exact_gamma(1.0 + 2.0 / shape) / (first * first) - 1.0;
}

double weibull_renewals(double shape, double scale_s, double span_s)
{
    return span_s / weibull_mean_s(shape, scale_s) + (weibull_cv2(shape) - 1.0) / 2.0;
}

struct lognormal lognormal_from_mean_cv(double mean_s, double cv)
{
    ASSERT(mean_s > 0 && cv >= 0);
    const double variance = exact_log1p(cv * cv);
    return (struct lognormal){ exact_log(mean_s) - variance / 2.0, sqrt(variance) };
}

struct lognormal lognormal_from_median_p95(double median_s, double p95_s)
{
    ASSERT(median_s > 0 && p95_s >= median_s);
    return (struct lognormal){ exact_log(median_s),
                               exact_log(p95_s / median_s) / exact_normal_quantile(0.95) };
}

double lognormal_mean_s(struct lognormal law)
{
    return exact_exp(law.mu + law.sigma * law.sigma / 2.0);
}

double infant_failures(double rate_per_s, double excess, double fade_s, double age_s)
{
    ASSERT(fade_s > 0 && age_s >= 0);
    return rate_per_s * (age_s - excess * fade_s * exact_expm1(-age_s / fade_s));
}

double hazard_time_s(const double *since_s, const double *multiplier, uint32_t count,
                     double rate_per_s, double life)
{
    ASSERT(count >= 1 && since_s[0] <= 0);
    ASSERT(life >= 0);
    double left = life;
    double from_s = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const double until_s = i + 1 < count ? since_s[i + 1] : INFINITY;
        if (until_s <= from_s) continue;
        const double speed = rate_per_s * multiplier[i];
        if (speed > 0 && left <= speed * (until_s - from_s)) return from_s + left / speed;
        if (speed > 0) left -= speed * (until_s - from_s);
        from_s = until_s;
    }
    return INFINITY;
}

struct lemon_mix lemon_mix(double units, double lemon_frac, double multiplier, double rate_per_s)
{
    ASSERT(lemon_frac >= 0 && lemon_frac <= 1);
    const double lemons = units * lemon_frac * multiplier * rate_per_s;
    const double total = units * (1.0 - lemon_frac) * rate_per_s + lemons;
    ASSERT(total > 0);
    return (struct lemon_mix){ total, lemons / total, 1.0 / total };
}

double common_cause_rate_per_s(double units, double rate_per_s, double beta)
{
    ASSERT(beta >= 0 && beta <= 1);
    return units * (1.0 - beta) * rate_per_s + beta * rate_per_s;
}

double job_failure_rate_per_s(const struct job_hazard *job)
{
    ASSERT(job->gpus >= 1 && job->gpus_per_server >= 1 && job->servers_per_leaf >= 1);
    const double servers = ceil((double)job->gpus / job->gpus_per_server);
    const double leaves = ceil(servers / job->servers_per_leaf);
    const double exposed = job->drain ? servers * job->gpus_per_server : job->gpus;
    return exposed * job->gpu_rate_per_s + servers * job->server_rate_per_s +
           leaves * job->leaf_rate_per_s;
}

double availability(const double *rate_per_s, const double *repair_s, uint32_t count)
{
    double down_per_up = 0.0;
    for (uint32_t i = 0; i < count; i++) down_per_up += rate_per_s[i] * repair_s[i];
    return 1.0 / (1.0 + down_per_up);
}

struct repairman repairman(uint32_t units, uint32_t crews, double mtbf_s, double mttr_s, uint32_t m)
{
    ASSERT(units >= 1 && crews >= 1);
    ASSERT(mtbf_s > 0 && mttr_s >= 0);
    const double load = mttr_s / mtbf_s;
    double weight = 1.0, sum = 0.0, down = 0.0, enough = 0.0;
    for (uint32_t j = 0; j <= units; j++) {
        sum += weight;
        down += j * weight;
        if (units - j >= m) enough += weight;
        if (sum > 1e200) { /* only ratios count: keep far from overflow */
            weight *= 1e-200;
            sum *= 1e-200;
            down *= 1e-200;
            enough *= 1e-200;
        }
        weight *= (units - j) * load / (j + 1 < crews ? j + 1 : crews);
    }
    return (struct repairman){ down / sum, enough / sum };
}

double flap_up_frac(double links, double flaps_per_s, double duration_s)
{
    return exact_exp(-links * exact_log1p(flaps_per_s * duration_s));
}
