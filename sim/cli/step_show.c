/* step_show.c - see step_show.h. */
#include "cli/step_show.h"

#include <jansson.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- refusals ---- */

/* A message takes value and of, in this order. */
static const char *const fault_texts[TRAIN_FAULTS] = {
    [TRAIN_GPUS] = "tp x pp x dp = %g must be the number of GPUs, %g",
    [TRAIN_SERVERS] = "%g GPUs do not fill servers of %g",
    [TRAIN_TENSOR] = "tp %g must divide the %g GPUs of a server, or be a multiple of them",
    [TRAIN_BATCH] = "batch %g must be a multiple of dp x microbatch = %g",
    [TRAIN_LAYERS] = "%g layers must be a multiple of pp x interleave = %g",
    [TRAIN_CHUNKS] = "interleave %g needs pp of 2 or more, got %g",
    [TRAIN_ROUNDS] = "%g microbatches must be a multiple of pp = %g when interleaved",
    [TRAIN_DENSE] = "ep %g of a model without experts: ep must be %g",
    [TRAIN_EXPERTS] = "%g experts must be a multiple of ep = %g",
    [TRAIN_EXPERT_GROUP] = "dp %g must be a multiple of ep = %g",
    [TRAIN_EXPERT_SPREAD] =
        "ep %g must divide the %g ranks of a data group on one server, or be a multiple of them",
};

#define SHAPE_TOLD    4.0
#define SHAPE_REFUSED 100.0

enum status step_check_shape(const struct train_model *model, struct diag *diag)
{
    if (model->hidden <= 0) return STATUS_OK;
    const double ratio = train_shape_ratio(model), apart = ratio > 1 ? ratio : 1 / ratio;
    const double shape = model->active_parameters / ratio;
    if (apart > SHAPE_REFUSED)
        return diag_usage(diag,
                          "step: %.3g parameters that a token visits, but %g layers of width %g "
                          "have about 12 layers hidden^2 = %.3g: one of them is wrong",
                          model->active_parameters, model->layers, model->hidden, shape);
    if (apart > SHAPE_TOLD)
        diag_warn(diag, (struct place){ 0 },
                  "step: %.3g parameters that a token visits, but %g layers of width %g have about "
                  "12 layers hidden^2 = %.3g; --active is for models with experts",
                  model->active_parameters, model->layers, model->hidden, shape);
    return STATUS_OK;
}

enum status step_refuse(const struct step_inputs *inputs, struct diag *diag)
{
    const struct train_fault_at at =
        train_plan_check(&inputs->model, &inputs->plan, &inputs->machine);
    if (at.fault != TRAIN_FITS) {
        char text[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, fault_texts[at.fault], at.value, at.of);
#pragma GCC diagnostic pop
        return diag_usage(diag, "step: %s", text);
    }
    const struct train_memory memory = train_memory(&inputs->model, &inputs->plan);
    if (memory.total_bytes <= inputs->machine.memory_bytes) return STATUS_OK;
    return diag_usage(diag,
                      "step: needs %.1f GB on each GPU, %s has %.0f: weights %.1f, gradients %.1f, "
                      "optimizer %.1f, activations %.1f",
                      memory.total_bytes / 1e9, inputs->gpu, inputs->machine.memory_bytes / 1e9,
                      memory.weights_bytes / 1e9, memory.gradients_bytes / 1e9,
                      memory.optimizer_bytes / 1e9, memory.activations_bytes / 1e9);
}

/* ---- the numbers, by name ---- */

struct number {
    const char *name, *says;
    size_t offset;
};
#define TIME(field, says)                                                                          \
    {                                                                                              \
#field, says, offsetof(struct train_time, field)                                           \
    }
#define MEMORY(field, says)                                                                        \
    {                                                                                              \
#field, says, offsetof(struct train_memory, field)                                         \
    }

static const struct number parts[] = {
    TIME(compute_s, "compute"),
    TIME(stall_intra_s, "waiting inside servers"),
    TIME(stall_inter_s, "waiting for the network"),
    TIME(bubble_s, "pipeline bubble"),
    TIME(data_s, "waiting for input"),
    TIME(optimizer_s, "optimizer"),
    TIME(fixed_s, "fixed"),
    TIME(straggler_s, "slowest member"),
};
static const struct number groups[] = {
    TIME(tensor_s, "tensor"),
    TIME(expert_s, "expert"),
    TIME(pipeline_s, "pipeline"),
    TIME(gradient_s, "data"),
};
static const struct number bytes[] = {
    MEMORY(weights_bytes, "weights"),
    MEMORY(gradients_bytes, "gradients"),
    MEMORY(optimizer_bytes, "optimizer"),
    MEMORY(activations_bytes, "activations"),
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static double number_at(const void *record, const struct number *number)
{
    double value;
    memcpy(&value, (const char *)record + number->offset, sizeof value);
    return value;
}

/* ---- text ---- */

static void show_plan(const struct step_inputs *inputs)
{
    const struct train_plan *plan = &inputs->plan;
    const uint32_t server = inputs->machine.fabric.gpus, gpus = inputs->machine.gpus;
    printf("%u %s on %u servers: tp %u, dp %u, pp %u, ep %u; %g microbatches of %g, %u chunks a "
           "GPU\n",
           gpus, inputs->gpu, (gpus + server - 1) / server, plan->tensor, plan->data,
           plan->pipeline, plan->expert, train_microbatches(plan), plan->microbatch,
           plan->interleave);
    printf("zero %u, recompute %s%s; hidden of what could be: dp %g, tp %g, pp %g, ep %g\n",
           plan->zero, recompute_names[plan->recompute], plan->scatter ? ", scattered" : "",
           plan->overlap_data, plan->overlap_tensor, plan->overlap_pipeline, plan->overlap_expert);
    if (inputs->model.sample_s > 0)
        printf("compute as measured: %g ms a sample on one GPU\n", inputs->model.sample_s * 1e3);
    else
        printf("kernels at %.3f of %g TFLOP/s\n", inputs->machine.efficiency,
               inputs->machine.peak_flops_per_s / 1e12);
}

static void show_use(const struct train_time *time)
{
    if (time->flops > 0)
        printf("\n%.1f TFLOP/s per GPU, MFU %.1f %%, ", time->flops_per_s_gpu / 1e12,
               100 * time->mfu);
    else
        printf("\n");
    printf("%.6g tokens/s, %.6g samples/s\n", time->tokens_per_s, time->samples_per_s);
}

void step_show_text(const struct step_inputs *inputs, const struct train_time *time,
                    const struct train_memory *memory)
{
    show_plan(inputs);
    printf("\n%-26s %12s %8s\n", "", "ms", "share");
    for (size_t i = 0; i < COUNT(parts); i++) {
        const double part_s = number_at(time, &parts[i]);
        printf("%-26s %12.3f %7.1f%%\n", parts[i].says, part_s * 1e3, 100 * part_s / time->step_s);
    }
    printf("%-26s %12.3f %7.1f%%\n", "step", time->step_s * 1e3, 100.0);
    printf("exposed by group:");
    for (size_t i = 0; i < COUNT(groups); i++)
        printf("%s %s %.3f ms", i ? "," : "", groups[i].says, number_at(time, &groups[i]) * 1e3);
    putchar('\n');
    show_use(time);
    printf("memory of a GPU: %.1f of %.0f GB:", memory->total_bytes / 1e9,
           inputs->machine.memory_bytes / 1e9);
    for (size_t i = 0; i < COUNT(bytes); i++)
        printf("%s %s %.1f", i ? "," : "", bytes[i].says, number_at(memory, &bytes[i]) / 1e9);
    putchar('\n');
}

/* ---- JSON ---- */

static void add_numbers(json_t *object, const void *record, const struct number *numbers,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, numbers[i].name, json_real(number_at(record, &numbers[i])));
}

static json_t *plan_of(const struct step_inputs *inputs)
{
    const struct train_plan *plan = &inputs->plan;
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:s, s:f}", "gpu",
                     inputs->gpu, "gpus", (json_int_t)inputs->machine.gpus, "tp",
                     (json_int_t)plan->tensor, "pp", (json_int_t)plan->pipeline, "dp",
                     (json_int_t)plan->data, "ep", (json_int_t)plan->expert, "interleave",
                     (json_int_t)plan->interleave, "batch", plan->batch, "microbatch",
                     plan->microbatch, "zero", (json_int_t)plan->zero, "recompute",
                     recompute_names[plan->recompute], "efficiency", inputs->machine.efficiency);
}

static json_t *known(double value, bool is_known)
{
    return is_known ? json_real(value) : json_null();
}

enum status step_show_json(const struct step_inputs *inputs, const struct train_time *time,
                           const struct train_memory *memory, struct diag *diag)
{
    json_t *root = json_object(), *held = json_object();
    const bool counted = time->flops > 0;
    json_object_set_new(root, "step_s", json_real(time->step_s));
    add_numbers(root, time, parts, COUNT(parts));
    add_numbers(root, time, groups, COUNT(groups));
    json_object_set_new(root, "tflops_per_gpu", known(time->flops_per_s_gpu / 1e12, counted));
    json_object_set_new(root, "mfu", known(time->mfu, counted));
    json_object_set_new(root, "tokens_per_s", json_real(time->tokens_per_s));
    json_object_set_new(root, "samples_per_s", json_real(time->samples_per_s));
    add_numbers(held, memory, bytes, COUNT(bytes));
    json_object_set_new(held, "total_bytes", json_real(memory->total_bytes));
    json_object_set_new(held, "gpu_bytes", json_real(inputs->machine.memory_bytes));
    json_object_set_new(root, "memory", held);
    json_object_set_new(root, "plan", plan_of(inputs));
    const bool written =
        root != NULL && json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    if (!written) return diag_world(diag, "memory is out, or stdout is gone");
    putchar('\n');
    return STATUS_OK;
}
