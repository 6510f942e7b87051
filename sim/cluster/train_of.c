/* train_of.c - see train_of.h. */
#include "cluster/train_of.h"

#include "base/assert.h"
#include "models/staging.h"

#include <math.h>

double train_heads(double hidden)
{
    return ceil(hidden / 128);
}

struct train_model train_model_of(const struct model_shape *shape)
{
    return (struct train_model){ .parameters = shape->parameters,
                                 .active_parameters = shape->active_parameters,
                                 .expert_parameters = shape->expert_parameters,
                                 .layers = shape->layers,
                                 .hidden = shape->hidden,
                                 .heads =
                                     shape->heads > 0 ? shape->heads : train_heads(shape->hidden),
                                 .sequence = shape->sequence,
                                 .expert_layers = shape->expert_layers,
                                 .experts = shape->experts,
                                 .experts_per_token = shape->experts_per_token,
                                 .sample_s = shape->sample_s };
}

void train_take_stack(const struct train_stack *stack, struct train_plan *plan)
{
    plan->overlap_data = stack->overlap;
    plan->overlap_tensor = stack->tp_overlap;
    plan->overlap_pipeline = stack->pp_overlap;
    plan->overlap_expert = stack->ep_overlap;
    plan->gradient_bytes = stack->gradient_bytes;
    plan->zero = stack->zero;
    plan->recompute = (enum recompute)stack->recompute;
    plan->scatter = stack->scatter;
}

double train_buckets(const struct train_model *model, const struct train_plan *plan,
                     double bucket_bytes)
{
    if (bucket_bytes <= 0) return 1;
    const double bytes = train_local_parameters(model, plan) * plan->gradient_bytes;
    const double buckets = ceil(bytes / bucket_bytes);
    return buckets > 1 ? buckets : 1;
}

double train_width_factor(double hidden, double half_width)
{
    return hidden > 0 ? hidden / (hidden + half_width) : 1;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t train_job_multiple(const struct train_job *job)
{
    return (uint64_t)job->tensor * job->pipeline * job->expert;
}

/* GPUs of each server when the job is spread evenly in groups that fit: the largest number up to gpus_min that divides
 * the job and nests with tensor groups. */
static uint32_t even_gpus(const struct collective_group *site, uint32_t tensor)
{
    uint32_t gpus = site->servers > 1 ? site->gpus_min : site->gpus;
    while (site->gpus % gpus != 0 || (tensor % gpus != 0 && gpus % tensor != 0)) gpus--;
    return gpus;
}

static struct train_plan plan_of(const struct train_job *job, const struct train_model *model,
                                 uint32_t gpus)
{
    struct train_plan plan = train_plan_plain();
    train_take_stack(&job->stack, &plan);
    plan.tensor = common_divisor(job->tensor, gpus);
    plan.pipeline = common_divisor(job->pipeline, gpus / plan.tensor);
    plan.data = gpus / plan.tensor / plan.pipeline;
    plan.expert = common_divisor(job->expert, plan.data);
    plan.interleave = plan.pipeline > 1 ? job->interleave : 1;
    plan.batch = job->samples_per_gpu * gpus;
    plan.microbatch = job->microbatch;
    plan.fixed_s = job->model.fixed_s;
    plan.server_s = job->model.server_s;
    if (job->model.gradient_bytes > 0) plan.gradient_bytes = job->model.gradient_bytes;
    plan.buckets = train_buckets(model, &plan,
                                 job->model.bucket_bytes > 0 ? job->model.bucket_bytes
                                                             : job->stack.bucket_bytes);
    return plan;
}

/* NICs in use where a job sits, at most, over those of the even split that it counts as. */
static double nics_frac(const struct collective_hardware *fabric, uint32_t servers, uint32_t gpus,
                        uint32_t gpus_per_server)
{
    const uint32_t used = fabric->nics_used[gpus_per_server];
    const double even = (double)gpus / gpus_per_server * (used > 0 ? used : fabric->nics);
    const double most = (double)servers * fabric->nics;
    return most < even ? most / even : 1;
}

struct train_time train_job_step(const struct train_job *job,
                                 const struct collective_hardware *fabric, uint32_t allowed,
                                 const struct collective_group *site, double traffic)
{
    ASSERT(site->gpus >= site->servers && site->gpus_min >= 1);
    const struct train_model model = train_model_of(&job->model);
    struct train_plan plan = plan_of(job, &model, site->gpus);
    plan.traffic = traffic;
    struct train_machine machine = {
        .gpus = site->gpus,
        .gpus_per_server = even_gpus(site, plan.tensor),
        .spans_leaves = site->spans_leaves,
        .peak_flops_per_s = job->gpu.peak_tflops * 1e12,
        .efficiency =
            job->stack.efficiency * train_width_factor(model.hidden, job->stack.half_width),
        .memory_bytes = job->gpu.memory_bytes,
        .memory_bytes_per_s = job->gpu.memory_bytes_per_s,
        .fabric = *fabric,
        .allowed = allowed,
    };
    const double spread = (double)site->gpus / machine.gpus_per_server / site->servers;
    machine.leaf_servers = (uint32_t)ceil(spread * site->leaf_servers);
    machine.pair_servers = (uint32_t)ceil(spread * site->pair_servers);
    if (site->domains > 0) {
        const uint32_t least = site->domain_gpus / machine.gpus_per_server;
        machine.domains = site->domains;
        machine.domain_servers = least > 0 ? least : 1;
        machine.fabric.domain_servers = (uint32_t)ceil(spread * fabric->domain_servers);
    }
    if (site->servers > 1 && spread > 1) {
        machine.fabric.nic_bytes_per_s *=
            nics_frac(fabric, site->servers, site->gpus, machine.gpus_per_server);
        machine.fabric.host_memory_bytes_per_s /= spread;
        machine.fabric.staged_bytes_per_s *=
            staged_share(site->servers, site->gpus) /
            staged_share(site->gpus / machine.gpus_per_server, site->gpus);
    }
    /* Fewer samples than a pass takes, where groups have shrunk: smaller passes. */
    const double group = plan.batch / plan.data;
    if (plan.microbatch > group) plan.microbatch = group;
    return train_step(&model, &plan, &machine);
}

struct train_memory train_job_memory(const struct train_job *job, uint32_t gpus)
{
    const struct train_model model = train_model_of(&job->model);
    const struct train_plan plan = plan_of(job, &model, gpus);
    return train_memory(&model, &plan);
}
