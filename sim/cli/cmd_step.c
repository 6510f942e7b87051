/* cmd_step.c - gpuplan step --server ID --gpus N [--model ID] ...: one training step of a parallel plan. */
#include "cli/commands.h"

#include "base/limits.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/step_show.h"
#include "models/straggler.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const struct option_row options[] = {
    { "--server", 0, "ID", NULL, "server type of the catalog", false },
    { "--gpus", 0, "N", NULL, "GPUs of the job", false },
    { "--link", 0, "ID", "the server's", "network between servers", false },
    { "--nics-per-gpu", 0, "X", "the server's", "NICs for each GPU", false },
    { "--model", 0, "ID", NULL, "model of the catalog; options below win", false },
    { "--stack", 0, "ID", NULL, "framework of the catalog; options below win", false },
    { "--params", 0, "P", NULL, "parameters, as 7B or 7e9", false },
    { "--active", 0, "P", "all", "parameters that one token visits", false },
    { "--layers", 0, "N", NULL, "blocks of the model", false },
    { "--hidden", 0, "N", NULL, "width of a block", false },
    { "--seq", 0, "N", "2048", "tokens of a sample", false },
    { "--experts", 0, "N", "0", "experts of each layer", false },
    { "--topk", 0, "N", "2", "experts that a token visits", false },
    { "--batch", 0, "N", NULL, "samples a step, all GPUs", false },
    { "--microbatch", 0, "N", "1", "samples of one pass", false },
    { "--tp", 0, "N", "1", "tensor parallel, inside a server first", false },
    { "--pp", 0, "N", "1", "pipeline stages, outermost", false },
    { "--dp", 0, "N", "the rest", "data parallel", false },
    { "--ep", 0, "N", "1", "expert parallel, a part of dp", false },
    { "--interleave", 0, "N", "1", "model chunks of a GPU", false },
    { "--zero", 0, "STAGE", "0", "0 to 3; 3 is FSDP", false },
    { "--recompute", 0, "WORD", "selective", "none, selective or full", false },
    { "--scatter", 0, NULL, NULL, "activations lie split over tp", false },
    { "--eff", 0, "X", "0.5", "of peak, kernels without communication", false },
    { "--overlap", 0, "[tp=]X", "dp=1", "hidden part", true },
    { "--gradient-bytes", 0, "N", "2", "of one gradient", false },
    { "--buckets", 0, "N", "of 25 MB", "pieces in which gradients go out", false },
    { "--causal", 0, NULL, NULL, "attention looks back: 6 l h s FLOPs a token, not 12", false },
    { "--sample-time", 0, "T", NULL, "measured compute, one sample, one GPU", false },
    { "--fixed", 0, "T", "0s", "of every step, whatever its batch", false },
    { "--input", 0, "SIZE", NULL, "read for a sample, ahead of its step", false },
    { "--read", 0, "RATE", NULL, "of the whole job, as storage gives it; with --input", false },
    { "--straggler", 0, "F", "1", "how much slower the slowest member is", false },
    { "--noise", 0, "SD", "0", "spread of the steps of GPUs, of their log", false },
    { "--uneven", 0, "F", "1", "work of the fullest member over the mean", false },
    { "--json", 0, NULL, NULL, "all numbers as one JSON object", false },
    { NULL, 0, NULL, NULL, NULL, false },
};
/* clang-format on */

/* ---- reading single options ---- */

/* A number within [least, most] into *out, which keeps its value when the option is absent. */
static enum status number(struct cli *cli, const char *name, double least, double most, double *out)
{
    const char *text = cli_value(cli, name);
    struct why why;
    double value;
    if (text == NULL) return STATUS_OK;
    if (!quantity_number(text, strlen(text), &value, &why))
        return diag_usage(cli->diag, "step: cannot read %s '%s': %s", name, text, why.text);
    if (value < least || value > most)
        return diag_usage(cli->diag, "step: %s must be %g to %g, got %g", name, least, most, value);
    *out = value;
    return STATUS_OK;
}

/* A number of parameters, also as 7B: thousands, millions, billions, trillions. */
static enum status parameters(struct cli *cli, const char *name, double *out)
{
    static const char suffixes[] = "KMBT";
    static const double times[] = { 1e3, 1e6, 1e9, 1e12 };
    const char *text = cli_value(cli, name);
    const size_t bytes = text ? strlen(text) : 0;
    const char *suffix = bytes > 1 ? strchr(suffixes, text[bytes - 1]) : NULL;
    struct why why;
    if (suffix == NULL) return number(cli, name, 1, 1e15, out);
    if (!quantity_number(text, bytes - 1, out, &why))
        return diag_usage(cli->diag, "step: cannot read %s '%s': %s", name, text, why.text);
    *out *= times[suffix - suffixes];
    if (*out >= 1 && *out <= 1e15) return STATUS_OK;
    return diag_usage(cli->diag, "step: %s must be 1 to 1000T, got %s", name, text);
}

static enum status seconds(struct cli *cli, const char *name, double *out)
{
    const char *text = cli_value(cli, name);
    struct why why;
    if (text == NULL || quantity_duration_s(text, strlen(text), out, &why)) return STATUS_OK;
    return diag_usage(cli->diag, "step: cannot read %s '%s': %s", name, text, why.text);
}

/* A size or a rate by its unit, above 0. */
static enum status with_unit(struct cli *cli, const char *name,
                             bool (*read)(const char *, size_t, double *, struct why *),
                             double *out)
{
    const char *text = cli_value(cli, name);
    struct why why;
    if (text == NULL) return STATUS_OK;
    if (!read(text, strlen(text), out, &why))
        return diag_usage(cli->diag, "step: cannot read %s '%s': %s", name, text, why.text);
    if (*out > 0) return STATUS_OK;
    return diag_usage(cli->diag, "step: %s must be above 0, got %s", name, text);
}

static enum status count(struct cli *cli, const char *name, long long least, long long most,
                         uint32_t *out)
{
    long long value;
    TRY(cli_count(cli, name, least, most, *out, &value));
    *out = (uint32_t)value;
    return STATUS_OK;
}

static enum status read_recompute(struct cli *cli, enum recompute *out)
{
    const char *word = cli_value(cli, "--recompute");
    if (word == NULL) return STATUS_OK;
    for (int i = 0; i < RECOMPUTES; i++)
        if (strcmp(recompute_names[i], word) == 0) {
            *out = (enum recompute)i;
            return STATUS_OK;
        }
    const char *nearest = text_nearest(word, recompute_names, RECOMPUTES);
    return diag_usage(
        cli->diag, "step: --recompute must be none, selective or full, got '%s'%s%s%s", word,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* "0.5" is of dp; "tp=0.5" of tp. */
static enum status read_overlaps(struct cli *cli, struct train_plan *plan)
{
    const struct {
        const char *group;
        double *overlap;
    } groups[] = { { "dp=", &plan->overlap_data },
                   { "tp=", &plan->overlap_tensor },
                   { "pp=", &plan->overlap_pipeline },
                   { "ep=", &plan->overlap_expert } };
    const char *text;
    struct why why;
    for (size_t i = 0; (text = cli_nth(cli, "--overlap", i)) != NULL; i++) {
        double *overlap = &plan->overlap_data;
        const char *value = text;
        for (size_t j = 0; j < sizeof groups / sizeof *groups; j++) {
            if (strncmp(text, groups[j].group, 3) != 0) continue;
            overlap = groups[j].overlap;
            value = text + 3;
        }
        if (!quantity_share(value, strlen(value), overlap, &why))
            return diag_usage(cli->diag, "step: cannot read --overlap '%s': %s", text, why.text);
    }
    return STATUS_OK;
}

/* ---- the parts ---- */

static enum status needed(struct cli *cli, const char *name)
{
    if (cli_has(cli, name)) return STATUS_OK;
    return diag_usage(cli->diag, "step: %s is missing; gpuplan step --help shows the form", name);
}

static enum status read_machine(struct cli *cli, struct catalog *catalog,
                                struct step_inputs *inputs)
{
    double nics_per_gpu = 0;
    TRY(needed(cli, "--server"));
    TRY(needed(cli, "--gpus"));
    TRY(count(cli, "--gpus", 1, LIMIT_GPUS, &inputs->machine.gpus));
    TRY(number(cli, "--nics-per-gpu", 1.0 / LIMIT_GPUS_PER_SERVER, 64, &nics_per_gpu));
    return step_take_server(catalog, cli_value(cli, "--server"), cli_value(cli, "--link"),
                            nics_per_gpu, inputs, cli->diag);
}

/* Experts whose share of the parameters is not said: what a token does not visit is experts alone, so
 * P - active = experts' (1 - topk/experts). */
static enum status read_experts(struct cli *cli, struct train_model *model)
{
    const bool told = cli_has(cli, "--experts") || cli_has(cli, "--active");
    if (cli_has(cli, "--experts") && model->experts_per_token == 0) model->experts_per_token = 2;
    TRY(number(cli, "--experts", 0, 1e6, &model->experts));
    TRY(number(cli, "--topk", 1, 1e6, &model->experts_per_token));
    TRY(parameters(cli, "--active", &model->active_parameters));
    if (model->active_parameters > model->parameters)
        return diag_usage(cli->diag, "step: --active %g is more than the %g parameters",
                          model->active_parameters, model->parameters);
    if (!told || model->experts == 0) return STATUS_OK;
    if (model->experts_per_token >= model->experts)
        return diag_usage(cli->diag, "step: --topk %g must be below --experts %g",
                          model->experts_per_token, model->experts);
    model->expert_layers = model->layers;
    model->expert_parameters = (model->parameters - model->active_parameters) /
                               (1.0 - model->experts_per_token / model->experts);
    if (model->expert_parameters <= model->parameters) return STATUS_OK;
    return diag_usage(cli->diag,
                      "step: with %g of %g experts a token visits at least %g parameters, "
                      "got --active %g",
                      model->experts_per_token, model->experts,
                      model->parameters * model->experts_per_token / model->experts,
                      model->active_parameters);
}

static enum status read_model(struct cli *cli, struct catalog *catalog, struct step_inputs *inputs)
{
    struct train_model *model = &inputs->model;
    const char *id = cli_value(cli, "--model");
    *model = (struct train_model){ .layers = 1, .sequence = 2048 };
    if (id != NULL) TRY(step_take_model(catalog, id, inputs, cli->diag));
    if (id == NULL) TRY(needed(cli, "--params"));
    if (id == NULL && !cli_has(cli, "--sample-time")) {
        TRY(needed(cli, "--layers"));
        TRY(needed(cli, "--hidden"));
    }
    TRY(parameters(cli, "--params", &model->parameters));
    if (id == NULL || cli_has(cli, "--params")) model->active_parameters = model->parameters;
    TRY(number(cli, "--layers", 1, 1e6, &model->layers));
    TRY(number(cli, "--hidden", 1, 1e7, &model->hidden));
    TRY(number(cli, "--seq", 1, 1e8, &model->sequence));
    model->causal = cli_has(cli, "--causal");
    if (model->causal && cli_has(cli, "--stack"))
        diag_warn(cli->diag, (struct place){ 0 },
                  "step: efficiencies of stacks were fitted with 12 l h s FLOPs a token; --causal "
                  "counts 6");
    TRY(seconds(cli, "--sample-time", &model->sample_s));
    TRY(seconds(cli, "--fixed", &inputs->plan.fixed_s));
    return read_experts(cli, model);
}

/* Input, and members that are slower than others (MODELS 3.7, 3.8). */
static enum status read_waits(struct cli *cli, uint32_t gpus, struct train_plan *plan)
{
    double noise = 0;
    TRY(with_unit(cli, "--input", quantity_size, &plan->input_bytes));
    TRY(with_unit(cli, "--read", quantity_bandwidth, &plan->input_bytes_per_s));
    if (cli_has(cli, "--input") != cli_has(cli, "--read"))
        return diag_usage(cli->diag, "step: --input, of a sample, and --read, of the job, go "
                                     "together; one of them is missing");
    TRY(number(cli, "--straggler", 1, 1000, &plan->slowest_factor));
    TRY(number(cli, "--noise", 0, 1, &noise));
    if (noise > 0) plan->noise_factor = straggler_factor(gpus, noise);
    return number(cli, "--uneven", 1, 1000, &plan->uneven_factor);
}

static enum status read_buckets(struct cli *cli, struct step_inputs *inputs)
{
    if (!cli_has(cli, "--buckets")) return STATUS_OK;
    if (inputs->plan.zero == 3)
        return diag_usage(cli->diag, "step: --buckets: at stage 3 gradients go out layer by layer");
    return number(cli, "--buckets", 1, 1e6, &inputs->plan.buckets);
}

static enum status read_plan(struct cli *cli, struct step_inputs *inputs)
{
    struct train_plan *plan = &inputs->plan;
    TRY(needed(cli, "--batch"));
    TRY(number(cli, "--batch", 1, 1e12, &plan->batch));
    TRY(number(cli, "--microbatch", 1, 1e9, &plan->microbatch));
    TRY(count(cli, "--tp", 1, LIMIT_GPUS, &plan->tensor));
    TRY(count(cli, "--pp", 1, LIMIT_GPUS, &plan->pipeline));
    const uint64_t stages = (uint64_t)plan->tensor * plan->pipeline;
    plan->data = stages < inputs->machine.gpus ? (uint32_t)(inputs->machine.gpus / stages) : 1;
    TRY(count(cli, "--dp", 1, LIMIT_GPUS, &plan->data));
    TRY(count(cli, "--ep", 1, LIMIT_GPUS, &plan->expert));
    TRY(count(cli, "--interleave", 1, 1000000, &plan->interleave));
    TRY(count(cli, "--zero", 0, 3, &plan->zero));
    TRY(read_recompute(cli, &plan->recompute));
    if (cli_has(cli, "--scatter")) plan->scatter = true;
    TRY(read_overlaps(cli, plan));
    TRY(number(cli, "--gradient-bytes", 1, 8, &plan->gradient_bytes));
    return read_waits(cli, inputs->machine.gpus, plan);
}

/* ---- the command ---- */

#define EFFICIENCY   0.5  /* [A] of MODELS 3.1 */
#define BUCKET_BYTES 25e6 /* of gradients, as torch has them */

static enum status read_all(struct cli *cli, struct catalog *catalog, struct step_inputs *inputs)
{
    inputs->plan = train_plan_plain();
    inputs->plan.overlap_data = 1;
    inputs->plan.recompute = RECOMPUTE_SELECTIVE;
    inputs->bucket_bytes = BUCKET_BYTES;
    TRY(read_machine(cli, catalog, inputs));
    inputs->machine.efficiency = EFFICIENCY;
    const char *stack = cli_value(cli, "--stack");
    if (stack != NULL) TRY(step_take_stack(catalog, stack, inputs, cli->diag));
    TRY(read_model(cli, catalog, inputs));
    if (cli_has(cli, "--eff")) inputs->half_width = 0;
    TRY(number(cli, "--eff", 0.001, 1, &inputs->machine.efficiency));
    TRY(read_plan(cli, inputs));
    step_settle(inputs);
    TRY(read_buckets(cli, inputs));
    TRY(step_check_shape(&inputs->model, cli->diag));
    return step_refuse(inputs, cli->diag);
}

static enum status run(struct cli *cli)
{
    static struct catalog catalog;
    struct step_inputs inputs = { .half_width = 0 };
    TRY(catalog_open(&catalog, cli->diag));
    const enum status status = read_all(cli, &catalog, &inputs);
    catalog_close(&catalog);
    TRY(status);
    const struct train_memory memory = train_memory(&inputs.model, &inputs.plan);
    const struct train_time time = train_step(&inputs.model, &inputs.plan, &inputs.machine);
    if (cli_has(cli, "--json")) return step_show_json(&inputs, &time, &memory, cli->diag);
    step_show_text(&inputs, &time, &memory);
    return STATUS_OK;
}

const struct command command_step = {
    .name = "step",
    .operands = NULL,
    .summary = "a training step of a parallel plan: compute, stalls, bubble, MFU, memory",
    .options = options,
    .operands_min = 0,
    .operands_max = 0,
    .examples = { "gpuplan step --server dgx-h100 --gpus 64 --model 7b --batch 512 --zero 3",
                  "gpuplan step --server dgx-a100 --gpus 64 --model gpt-18b --tp 8 --batch 64" },
    .run = run,
};
