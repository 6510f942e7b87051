/* train_memory.c - see train_memory.h. */
#include "models/train_memory.h"

static double dense_parameters(const struct train_model *model, const struct train_plan *plan)
{
    return (model->parameters - model->expert_parameters) / ((double)plan->tensor * plan->pipeline);
}

static double expert_parameters(const struct train_model *model, const struct train_plan *plan)
{
    return model->expert_parameters / ((double)plan->tensor * plan->pipeline * plan->expert);
}

double train_local_parameters(const struct train_model *model, const struct train_plan *plan)
{
    return dense_parameters(model, plan) + expert_parameters(model, plan);
}

/* What a layer keeps of one microbatch, in s b h. */
static double layer_units(const struct train_model *model, const struct train_plan *plan,
                          enum recompute recompute)
{
    const double t = plan->tensor, visits = model->experts_per_token;
    const double mlp = 19.0, scores = 5.0 * model->heads * model->sequence / model->hidden;
    double split = 24.0 + (recompute == RECOMPUTE_NONE ? scores : 0.0), whole = 10.0;
    if (visits > 1.0) split += mlp * (visits - 1.0) * model->expert_layers / model->layers;
    if (recompute == RECOMPUTE_FULL) {
        split = 0.0;
        whole = 2.0;
    }
    return plan->scatter ? (whole + split) / t : whole + split / t;
}

static double activations(const struct train_model *model, const struct train_plan *plan)
{
    if (model->hidden <= 0) return 0.0;
    const double p = plan->pipeline, m = train_microbatches(plan);
    const double unit = model->sequence * plan->microbatch * model->hidden;
    double held = m < p ? m : p; /* microbatches in flight on the first stage */
    if (plan->interleave > 1 && m >= p) held *= 1.0 + (p - 1.0) / (p * plan->interleave);
    double bytes = unit * layer_units(model, plan, plan->recompute) * model->layers / p * held;
    if (plan->recompute == RECOMPUTE_FULL)
        bytes += unit * layer_units(model, plan, RECOMPUTE_SELECTIVE);
    return bytes;
}

/* Bytes of parameters that lie on this GPU when `stage` and above split them over `group`. */
static double kept(const struct train_plan *plan, double bytes, double group, uint32_t stage)
{
    return plan->zero >= stage ? bytes / group : bytes;
}

struct train_memory train_memory(const struct train_model *model, const struct train_plan *plan)
{
    const double parts[] = { dense_parameters(model, plan), expert_parameters(model, plan) };
    const double groups[] = { plan->data, (double)plan->data / plan->expert };
    struct train_memory memory = { .activations_bytes = activations(model, plan) };
    for (int i = 0; i < 2; i++) {
        memory.optimizer_bytes += kept(plan, 12.0 * parts[i], groups[i], 1);
        memory.gradients_bytes += kept(plan, 2.0 * parts[i], groups[i], 2);
        memory.weights_bytes += kept(plan, 2.0 * parts[i], groups[i], 3);
        if (plan->zero == 3 && groups[i] > 1)
            memory.weights_bytes += 2.0 * 2.0 * parts[i] * plan->pipeline / model->layers;
    }
    memory.total_bytes = memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes +
                         memory.activations_bytes;
    return memory;
}
