/* jobstep.c - closed forms of MODELS 3.1 to 3.8, and one integral. */
#include "models/jobstep.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

double step_flops(const struct transformer *model)
{
    const double attention = (model->causal ? 6.0 : 12.0) * model->layers * model->hidden *
                             model->sequence * model->tokens;
    const double flops = 6.0 * model->parameters * model->tokens + attention;
    return model->recompute ? flops * 4.0 / 3.0 : flops;
}

double compute_s(double flops, double gpus, double peak_flops_per_s, double efficiency)
{
    ASSERT(gpus > 0 && peak_flops_per_s > 0 && efficiency > 0);
    return flops / (gpus * peak_flops_per_s * efficiency);
}

double zero_bytes(double parameters, double data_parallel, uint32_t stage)
{
    /* Bytes per parameter: kept whole, and split over the data-parallel group. */
    static const struct {
        double whole, split;
    } stages[] = { { 16, 0 }, { 4, 12 }, { 2, 14 }, { 0, 16 } };
    ASSERT(stage <= 3 && data_parallel >= 1);
    return parameters * (stages[stage].whole + stages[stage].split / data_parallel);
}

double activation_bytes(double sequences, double sequence, double hidden, double element_bytes)
{
    return sequences * sequence * hidden * element_bytes;
}

double exposed_reduce_s(double backward_s, double buckets, double bucket_reduce_s)
{
    ASSERT(buckets >= 1);
    return larger(bucket_reduce_s,
                  buckets * bucket_reduce_s - backward_s * (buckets - 1.0) / buckets);
}

double pipeline_s(const struct pipeline *pipeline)
{
    ASSERT(pipeline->stages >= 1 && pipeline->chunks >= 1);
    return (pipeline->microbatches + (pipeline->stages - 1.0) / pipeline->chunks) *
           (pipeline->forward_s + pipeline->backward_s);
}

double bubble_ratio(const struct pipeline *pipeline)
{
    ASSERT(pipeline->microbatches >= 1 && pipeline->chunks >= 1);
    return (pipeline->stages - 1.0) / (pipeline->chunks * pipeline->microbatches);
}

double sharded_step_s(const struct sharded_step *step)
{
    ASSERT(step->layers >= 1);
    const double tf = step->forward_s, tb = step->backward_s;
    const double gather = step->gather_s, scatter = step->scatter_s;
    const double forward = gather + (step->layers - 1.0) * larger(tf, gather) + tf;
    if (step->layers < 2) return forward + gather + tb + scatter;
    return forward + gather + larger(tb, gather) +
           (step->layers - 2.0) * larger(tb, gather + scatter) + larger(tb, scatter) + scatter;
}

struct step_time data_parallel_step(const struct data_parallel_job *job)
{
    const double flops = step_flops(&job->model);
    const double bucket_bytes = job->gradient_bytes * job->model.parameters / job->buckets;
    struct step_time step;
    step.compute_s = compute_s(flops, job->place.gpus, job->peak_flops_per_s, job->efficiency);
    /* The backward pass is twice the forward one. */
    step.exposed_s = exposed_reduce_s(step.compute_s * 2.0 / 3.0, job->buckets,
                                      flat_allreduce_s(&job->place, bucket_bytes));
    step.total_s = step.compute_s + step.exposed_s;
    step.mfu = flops / (job->place.gpus * job->peak_flops_per_s * step.total_s);
    return step;
}

double overlapped_s(double compute_s_, double network_s, double gamma)
{
    ASSERT(gamma >= 1);
    return exact_pow(exact_pow(compute_s_, gamma) + exact_pow(network_s, gamma), 1.0 / gamma);
}

double input_bound_s(double step_s, double size_bytes, double rate_bytes_per_s, bool prefetch)
{
    ASSERT(rate_bytes_per_s > 0);
    const double read_s = size_bytes / rate_bytes_per_s;
    return prefetch ? larger(step_s, read_s) : step_s + read_s;
}

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
