/* train_step.c - see train_step.h. */
#include "models/train_step.h"

#include "base/assert.h"
#include "models/jobstep.h"
#include "models/parallel.h"
#include "models/train_memory.h"

#include <math.h>

static const double weight_bytes = 2.0;
/* Adam touches of each parameter: gradient 2, state 12 read and 12 written, weight 2 written. */
static const double adam_bytes = 28.0;

struct cost {
    double total_s, intra_s; /* intra: on an infinitely fast network */
    /* Of collectives between servers: before hiding, bandwidth terms, bytes that leave each server; of these, those of the
     * groups that keep the same experts. */
    double network_s, wire_s, bytes, far_bytes;
};

/* What all functions look at. */
struct job {
    const struct train_model *model;
    const struct train_plan *plan;
    const struct train_machine *machine;
    double microbatches;
    double forward_s, backward_s; /* compute of one microbatch on one GPU */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double servers_of(const struct train_machine *machine)
{
    return ceil((double)machine->gpus /
                (machine->gpus_per_server ? machine->gpus_per_server : machine->fabric.gpus));
}

/* ---- compute ---- */

static struct transformer transformer_of(const struct job *job)
{
    return (struct transformer){ .parameters = job->model->active_parameters,
                                 .tokens = job->plan->batch * job->model->sequence,
                                 .layers = job->model->layers,
                                 .hidden = job->model->hidden,
                                 .sequence = job->model->sequence,
                                 .causal = job->model->causal };
}

/* Fills the passes of a microbatch; returns the model's FLOPs of the step. The forward pass is a third of them; recomputation is
 * part of the backward pass: all of it, or attention alone. */
static double time_passes(struct job *job)
{
    const struct transformer model = transformer_of(job);
    struct transformer no_attention = model;
    no_attention.layers = 0;
    const double flops = step_flops(&model), attention = flops - step_flops(&no_attention);
    const double again = job->plan->recompute == RECOMPUTE_FULL        ? flops / 3.0
                         : job->plan->recompute == RECOMPUTE_SELECTIVE ? attention / 3.0
                                                                       : 0.0;
    const double gpus = job->machine->gpus;
    double step_s;
    if (job->model->sample_s > 0)
        step_s = job->model->sample_s * job->plan->batch / gpus * (1.0 + again / flops);
    else
        step_s = compute_s(flops + again, gpus, job->machine->peak_flops_per_s,
                           job->machine->efficiency);
    const double one_s = step_s / job->microbatches;
    job->forward_s = one_s * (flops / 3.0) / (flops + again);
    job->backward_s = one_s - job->forward_s;
    return job->model->sample_s > 0 ? 0.0 : flops;
}

/* ---- communication of one microbatch ---- */

static struct traffic_part part_of(const struct job *job, uint32_t members, uint32_t stride,
                                   enum collective_op op)
{
    const double v = job->plan->interleave;
    return (struct traffic_part){ .pattern = op == OP_ALL_TO_ALL  ? TRAFFIC_ALL_TO_ALL
                                             : op == OP_SEND_RECV ? TRAFFIC_STAGES
                                                                  : TRAFFIC_RING,
                                  .members = members,
                                  .stride = stride,
                                  .back = (v - 1) / v };
}

static struct traffic_way way_of(const struct train_machine *machine,
                                 const struct traffic_part *part)
{
    const uint32_t joined = machine->fabric.domain_servers > 1 ? machine->fabric.domain_servers : 1;
    const uint32_t servers = (uint32_t)servers_of(machine);
    const uint32_t domains = machine->domains ? machine->domains : (servers + joined - 1) / joined;
    return traffic_way_of(part, machine->gpus, servers, domains);
}

/* Bytes on the uplinks of the fullest leaf over those of a ring of servers, or domains; as if it were one where nothing is said. */
static double leaf_load(const struct train_machine *machine, const struct traffic_part *part)
{
    const struct traffic_way way = way_of(machine, part);
    const uint32_t leaf = machine->leaf_servers;
    if (!machine->spans_leaves) return 0;
    if (leaf == 0) return 1;
    return traffic_fullest(&way, leaf) / smaller(way.domain, leaf);
}

static double pair_load(const struct train_machine *machine, const struct traffic_part *part)
{
    const struct traffic_way way = way_of(machine, part);
    if (!(machine->fabric.pair_bytes_per_s > 0)) return 0;
    if (machine->pair_servers == 0) return 1;
    return traffic_fullest_pair(&way, machine->pair_servers) / way.domain;
}

/* How full uplinks get by the groups of all servers together. */
static void load_uplinks(const struct job *job, const struct traffic_part *part,
                         struct train_group *group)
{
    const struct train_machine *machine = job->machine;
    struct collective_group *members = &group->members;
    if (!members->spans_leaves || machine->leaf_servers == 0) return;
    /* What all ranks of a stage send, to the next one at once. */
    struct traffic_part one = *part;
    if (one.pattern == TRAFFIC_STAGES) one.pattern = TRAFFIC_RING;
    members->leaf_load = leaf_load(machine, &one);
    members->pair_load = pair_load(machine, &one);
    if (!(members->pair_load > 0)) group->hardware.pair_bytes_per_s = 0;
    if (!(members->leaf_load > 0)) members->spans_leaves = false;
}

static struct cost collective_cost(const struct job *job, uint32_t members, uint32_t stride,
                                   enum collective_op op, double size_bytes)
{
    struct train_group group = train_group_of(job->machine, members, stride);
    if (group.members.servers > 1) {
        const struct traffic_part part = part_of(job, members, stride, op);
        load_uplinks(job, &part, &group);
    }
    const struct collective_result result =
        collective_time(&group.hardware, op, &group.members, size_bytes, job->machine->allowed);
    const double traffic = job->plan->traffic;
    const struct cost cost = { .total_s = traffic * result.total_s,
                               .intra_s = traffic * result.intra_s };
    if (result.network_bytes <= 0) return cost;
    return (struct cost){ .total_s = cost.total_s,
                          .intra_s = cost.intra_s,
                          .network_s = cost.total_s,
                          .wire_s = traffic * result.wire_s,
                          .bytes = traffic * result.network_bytes * group.sharing };
}

/* What stays of a cost when all but these is hidden. */
static struct cost left_of(struct cost cost, double total_s, double intra_s)
{
    cost.total_s = total_s;
    cost.intra_s = smaller(intra_s, total_s);
    return cost;
}

/* Hides w of what compute of `beside_s` can hide. */
static struct cost exposed(struct cost cost, double beside_s, double overlap)
{
    return left_of(cost, cost.total_s - overlap * smaller(cost.total_s, beside_s),
                   cost.intra_s - overlap * smaller(cost.intra_s, beside_s));
}

static struct cost times(struct cost cost, double count)
{
    return (struct cost){ cost.total_s * count, cost.intra_s * count, cost.network_s * count,
                          cost.wire_s * count,  cost.bytes * count,   cost.far_bytes * count };
}

static struct cost plus(struct cost a, struct cost b)
{
    return (struct cost){ a.total_s + b.total_s, a.intra_s + b.intra_s, a.network_s + b.network_s,
                          a.wire_s + b.wire_s,   a.bytes + b.bytes,     a.far_bytes + b.far_bytes };
}

static double activations(const struct job *job)
{
    return activation_bytes(job->plan->microbatch, job->model->sequence, job->model->hidden,
                            job->plan->element_bytes);
}

/* Two forward, two backward, two more when the forward pass is done again. */
static double exchanges(const struct job *job)
{
    return job->plan->recompute == RECOMPUTE_FULL ? 6.0 : 4.0;
}

static struct cost tensor_cost(const struct job *job)
{
    const struct train_plan *plan = job->plan;
    const double layers = job->model->layers / plan->pipeline;
    const struct cost one = collective_cost(job, plan->tensor, 1, OP_ALL_REDUCE, activations(job));
    return exposed(times(one, exchanges(job) * layers), job->forward_s + job->backward_s,
                   plan->overlap_tensor);
}

static struct cost expert_cost(const struct job *job)
{
    const struct train_plan *plan = job->plan;
    const double layers = job->model->expert_layers / plan->pipeline;
    const double bytes = expert_bytes(activations(job), job->model->experts_per_token) /
                         (plan->scatter ? plan->tensor : 1.0);
    const struct cost one = collective_cost(job, plan->expert, plan->tensor, OP_ALL_TO_ALL, bytes);
    return exposed(times(one, exchanges(job) * layers), job->forward_s + job->backward_s,
                   plan->overlap_expert);
}

static struct cost pipeline_cost(const struct job *job)
{
    const struct train_plan *plan = job->plan;
    const double bytes = boundary_bytes(activations(job), 1, plan->tensor, plan->scatter);
    const struct cost one =
        collective_cost(job, plan->pipeline, plan->tensor * plan->data, OP_SEND_RECV, bytes);
    return exposed(times(one, 2.0 * plan->interleave), job->forward_s + job->backward_s,
                   plan->overlap_pipeline);
}

/* ---- gradients and sharded weights, once a step ---- */

/* `share` of what a GPU holds: dense parameters over dp, experts over dp/ep. */
static struct cost held_cost(const struct job *job, enum collective_op op, double element_bytes,
                             double share)
{
    const struct train_plan *plan = job->plan;
    const double local = train_local_parameters(job->model, plan) * element_bytes * share;
    const double experts = job->model->expert_parameters * element_bytes * share /
                           ((double)plan->tensor * plan->pipeline * plan->expert);
    const struct cost dense = collective_cost(job, plan->data, plan->tensor, op, local - experts);
    if (experts <= 0) return dense;
    struct cost far =
        collective_cost(job, plan->data / plan->expert, plan->tensor * plan->expert, op, experts);
    far.far_bytes = far.bytes;
    return plus(dense, far);
}

/* K buckets beside one pass; w between all exposed and the best of 3.3. */
static double bucketed_s(double pass_s, double buckets, double bucket_s, double overlap)
{
    const double all_s = buckets * bucket_s;
    return all_s - overlap * (all_s - exposed_reduce_s(pass_s, buckets, bucket_s));
}

static struct cost beside_pass(struct cost bucket, double pass_s, const struct train_plan *plan)
{
    return left_of(times(bucket, plan->buckets),
                   bucketed_s(pass_s, plan->buckets, bucket.total_s, plan->overlap_data),
                   bucketed_s(pass_s, plan->buckets, bucket.intra_s, plan->overlap_data));
}

static double sharded_exposed_s(const struct job *job, double gather_s, double scatter_s)
{
    const double layers = job->model->layers / job->plan->pipeline;
    const struct sharded_step step = { layers, job->forward_s / layers, job->backward_s / layers,
                                       gather_s, scatter_s };
    const double all_s = layers * (2.0 * gather_s + scatter_s);
    const double best_s = sharded_step_s(&step) - job->forward_s - job->backward_s;
    return all_s - job->plan->overlap_data * (all_s - larger(best_s, 0.0));
}

static struct cost sharded_cost(const struct job *job)
{
    const double share = job->plan->pipeline / job->model->layers;
    const struct cost gather = held_cost(job, OP_ALL_GATHER, weight_bytes, share);
    const struct cost scatter = held_cost(job, OP_REDUCE_SCATTER, job->plan->gradient_bytes, share);
    const struct cost layer = plus(times(gather, 2.0), scatter);
    return times(left_of(times(layer, job->model->layers),
                         sharded_exposed_s(job, gather.total_s, scatter.total_s),
                         sharded_exposed_s(job, gather.intra_s, scatter.intra_s)),
                 job->microbatches);
}

static struct cost gradient_cost(const struct job *job)
{
    const struct train_plan *plan = job->plan;
    if (plan->data == 1) return (struct cost){ 0 };
    if (plan->zero == 3) return sharded_cost(job);
    const double share = 1.0 / plan->buckets, bytes = plan->gradient_bytes;
    if (plan->zero == 0)
        return beside_pass(held_cost(job, OP_ALL_REDUCE, bytes, share), job->backward_s, plan);
    return plus(
        beside_pass(held_cost(job, OP_REDUCE_SCATTER, bytes, share), job->backward_s, plan),
        beside_pass(held_cost(job, OP_ALL_GATHER, weight_bytes, share), job->forward_s, plan));
}

/* ---- the step ---- */

static double adam_s(const struct job *job)
{
    double parameters = train_local_parameters(job->model, job->plan);
    if (job->plan->zero >= 1) parameters /= job->plan->data;
    return parameters * adam_bytes / job->machine->memory_bytes_per_s;
}

static double input_wait_s(const struct train_plan *plan, double busy_s)
{
    if (plan->input_bytes <= 0) return 0.0;
    return input_bound_s(busy_s, plan->input_bytes * plan->batch, plan->input_bytes_per_s, true) -
           busy_s;
}

static void add_part(const struct job *job, uint32_t members, uint32_t stride,
                     enum collective_op op, double bytes, struct train_time *time)
{
    if (!(bytes > 0)) return;
    struct traffic_part *part = &time->traffic[time->traffic_count++];
    *part = part_of(job, members, stride, op);
    part->bytes = bytes;
    /* The first of two stages sends activations alone, the last one gradients. */
    const bool two = part->pattern == TRAFFIC_STAGES && members == 2;
    time->server_bytes += bytes * (two ? (1 + part->back) / 2 : 1);
    time->leaf_bytes += bytes * leaf_load(job->machine, part);
    time->pair_bytes += bytes * pair_load(job->machine, part);
}

/* Communication of the step by group, and both stalls. */
static void add_stalls(const struct job *job, struct train_time *time)
{
    const double m = job->microbatches;
    const struct cost tensor = times(tensor_cost(job), m), expert = times(expert_cost(job), m);
    const struct cost pipeline = times(pipeline_cost(job), m), gradient = gradient_cost(job);
    const struct cost all = plus(plus(tensor, expert), plus(pipeline, gradient));
    time->tensor_s = tensor.total_s;
    time->expert_s = expert.total_s;
    time->pipeline_s = pipeline.total_s;
    time->gradient_s = gradient.total_s;
    time->stall_intra_s = all.intra_s;
    time->stall_inter_s = all.total_s - all.intra_s;
    time->network_s = all.network_s;
    time->wire_s = all.wire_s;
    time->network_bytes = all.bytes;
    const uint32_t tp = job->plan->tensor, dp = job->plan->data, ep = job->plan->expert;
    add_part(job, tp, 1, OP_ALL_REDUCE, tensor.bytes, time);
    add_part(job, ep, tp, OP_ALL_TO_ALL, expert.bytes, time);
    add_part(job, job->plan->pipeline, tp * dp, OP_SEND_RECV, pipeline.bytes, time);
    add_part(job, dp, tp, OP_ALL_REDUCE, gradient.bytes - gradient.far_bytes, time);
    add_part(job, dp / ep, tp * ep, OP_ALL_REDUCE, gradient.far_bytes, time);
}

struct train_time train_step(const struct train_model *model, const struct train_plan *plan,
                             const struct train_machine *machine)
{
    ASSERT(model->layers >= 1 && model->parameters > 0 && plan->batch > 0);
    struct job job = { model, plan, machine, train_microbatches(plan), 0, 0 };
    struct train_time time = { 0 };
    time.flops = time_passes(&job);
    time.compute_s = job.microbatches * (job.forward_s + job.backward_s);
    add_stalls(&job, &time);
    const struct pipeline pipeline = { job.microbatches, plan->pipeline, plan->interleave, 0, 0 };
    time.bubble_s = bubble_ratio(&pipeline) *
                    (time.compute_s + time.tensor_s + time.expert_s + time.pipeline_s);
    time.optimizer_s = adam_s(&job);
    time.fixed_s = plan->fixed_s + plan->server_s * (servers_of(machine) - 1.0);
    double busy_s = time.compute_s + time.stall_intra_s + time.stall_inter_s + time.bubble_s +
                    time.optimizer_s + time.fixed_s;
    time.data_s = input_wait_s(plan, busy_s);
    busy_s += time.data_s;
    time.straggler_s =
        busy_s * (plan->slowest_factor * plan->noise_factor * plan->uneven_factor - 1.0);
    time.step_s = busy_s + time.straggler_s;
    time.flops_per_s_gpu = time.flops / (machine->gpus * time.step_s);
    time.mfu = time.flops_per_s_gpu / machine->peak_flops_per_s;
    time.samples_per_s = plan->batch / time.step_s;
    time.tokens_per_s = time.samples_per_s * model->sequence;
    return time;
}
