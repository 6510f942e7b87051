/* jobstep.c - closed forms of MODELS 3.1 to 3.7. */
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

double slowed_compute_s(double compute_s_, double hidden_s, double theta)
{
    ASSERT(compute_s_ >= 0 && hidden_s >= 0 && theta >= 0);
    return compute_s_ + theta * hidden_s;
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
    step.mfu = flops_use_frac(flops, job->place.gpus, job->peak_flops_per_s, step.total_s);
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

double whole_step_s(const struct whole_step *step)
{
    ASSERT(step->slowest_factor >= 1 && step->noise_factor >= 1 && step->data_factor >= 1);
    return (step->stage_s + step->exposed_s + step->optimizer_s + step->input_stall_s) *
           step->slowest_factor * step->noise_factor * step->data_factor;
}

double flops_use_frac(double flops, double gpus, double peak_flops_per_s, double step_s)
{
    ASSERT(gpus > 0 && peak_flops_per_s > 0 && step_s > 0);
    return flops / (gpus * peak_flops_per_s * step_s);
}
