/* checkpoint.c - closed forms of MODELS 5.7 to 5.10. */
#include "models/checkpoint.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

double checkpoint_bytes(double parameters, double parameter_bytes)
{
    ASSERT(parameters >= 0 && parameter_bytes >= 0);
    return parameters * parameter_bytes;
}

double checkpoint_write_s(double size_bytes, double servers, double server_bytes_per_s,
                          double store_bytes_per_s)
{
    const double from_servers = servers * server_bytes_per_s;
    const double rate = from_servers < store_bytes_per_s ? from_servers : store_bytes_per_s;
    ASSERT(size_bytes >= 0 && rate > 0);
    return size_bytes / rate;
}

double young_interval_s(double write_s, double mtbf_s)
{
    ASSERT(write_s >= 0 && mtbf_s > 0);
    return sqrt(2.0 * write_s * mtbf_s);
}

double daly_interval_s(double write_s, double mtbf_s)
{
    ASSERT(write_s >= 0 && mtbf_s > 0);
    if (write_s >= 2.0 * mtbf_s) return mtbf_s;
    const double x = write_s / (2.0 * mtbf_s);
    return young_interval_s(write_s, mtbf_s) * (1.0 + sqrt(x) / 3.0 + x / 9.0) - write_s;
}

double optimal_interval_s(double write_s, double mtbf_s)
{
    ASSERT(write_s >= 0 && mtbf_s > 0);
    /* 1 + W0(x) with 1 + e x = 1 - exp(-C/M): W0 itself would cancel when C is far below M. */
    return mtbf_s * exact_lambert_branch(-exact_expm1(-write_s / mtbf_s));
}

double checkpoint_wall_s(double work_s, const struct checkpoint_plan *plan)
{
    ASSERT(plan->interval_s > 0 && plan->mtbf_s > 0);
    const double mtbf_s = plan->mtbf_s;
    return work_s / plan->interval_s * exact_exp(plan->restart_s / mtbf_s) *
           (mtbf_s + plan->down_s) * exact_expm1((plan->interval_s + plan->write_s) / mtbf_s);
}

double checkpoint_efficiency(const struct checkpoint_plan *plan)
{
    return plan->interval_s / checkpoint_wall_s(plan->interval_s, plan);
}

double lost_mean_s(double interval_s, double mtbf_s)
{
    ASSERT(interval_s >= 0 && mtbf_s > 0);
    const double x = interval_s / mtbf_s;
    /* The difference cancels for small x: L (1/2 - x/12 + x^3/720 - ...), next term x^5/30240. */
    if (x < 0.01) return interval_s * (0.5 - x / 12.0 + x * x * x / 720.0);
    return mtbf_s - interval_s / exact_expm1(x);
}

double lost_quantile_s(double interval_s, double mtbf_s, double q)
{
    ASSERT(interval_s >= 0 && mtbf_s > 0 && q >= 0 && q <= 1);
    return -mtbf_s * exact_log1p(q * exact_expm1(-interval_s / mtbf_s));
}

double level_interval_s(const struct checkpoint_level *level)
{
    ASSERT(level->rate_per_s > 0 && level->write_s > 0);
    return sqrt(2.0 * level->write_s / level->rate_per_s);
}

double level_waste_frac(const struct checkpoint_level *level)
{
    const double interval_s = level_interval_s(level);
    return level->write_s / interval_s + level->rate_per_s * (interval_s / 2.0 + level->restart_s);
}

double levels_waste_frac(const struct checkpoint_level *levels, uint32_t count)
{
    double waste = 0.0;
    for (uint32_t i = 0; i < count; i++) waste += level_waste_frac(&levels[i]);
    return waste;
}

double ettr_expected(const struct ettr_terms *terms)
{
    ASSERT(terms->interval_s > 0);
    const double lost =
        terms->nodes * terms->node_rate_per_s * (terms->restart_s + terms->interval_s / 2.0);
    return (1.0 - lost) / (1.0 + terms->write_s / terms->interval_s);
}

double nodes_mttf_s(const struct ettr_terms *terms)
{
    ASSERT(terms->nodes >= 0 && terms->node_rate_per_s >= 0);
    return 1.0 / (terms->nodes * terms->node_rate_per_s);
}
