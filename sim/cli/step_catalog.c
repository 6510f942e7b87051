/* step_catalog.c - see step_catalog.h. */
#include "cli/step_catalog.h"

#include "base/text.h"
#include "cluster/train_of.h"

#include <math.h>
#include <string.h>

enum { IDS_MOST = 256 };

static const struct yaml_node *find(struct catalog *catalog, enum catalog_kind kind, const char *id,
                                    const char *what, struct diag *diag)
{
    const char *names[IDS_MOST];
    size_t count = 0;
    const struct yaml_node *entry = catalog_find(catalog, kind, id, diag);
    if (entry != NULL || diag_error_count(diag) > 0) return entry;
    for (entry = catalog_first(catalog, kind, diag); entry && count < IDS_MOST; entry = entry->next)
        names[count++] = catalog_id(entry);
    const char *nearest = text_nearest(id, names, count);
    if (nearest)
        diag_usage(diag, "step: no %s '%s'; did you mean '%s'?", what, id, nearest);
    else
        diag_usage(diag, "step: no %s '%s'; gpuplan catalog lists them", what, id);
    return NULL;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

enum status step_take_server(struct catalog *catalog, const char *server, const char *link,
                             double nics_per_gpu, struct step_inputs *inputs, struct diag *diag)
{
    struct key_reader reader = { .diag = diag };
    struct server_type type = { .gpus = 0 };
    struct link_type network = { .bytes_per_s = 0 };
    struct gpu_type gpu = { .memory_bytes = 0 };
    const struct yaml_node *entry = find(catalog, CATALOG_SERVERS, server, "server", diag);
    if (entry != NULL) catalog_read_server(&reader, entry, NULL, &type);
    const struct yaml_node *line = link ? find(catalog, CATALOG_LINKS, link, "link", diag) : NULL;
    if (line != NULL) catalog_read_link(&reader, line, NULL, &network);
    if (diag_error_count(diag) > 0) return diag_status(diag);
    const struct yaml_node *of = find(catalog, CATALOG_GPUS, type.gpu, "GPU", diag);
    if (of != NULL) catalog_read_gpu(&reader, of, &gpu);
    if (diag_error_count(diag) > 0) return diag_status(diag);
    catalog_read_fit(catalog, server, &type, diag);
    if (diag_error_count(diag) > 0) return diag_status(diag);
    memcpy(inputs->gpu, type.gpu, sizeof inputs->gpu);
    inputs->machine.peak_flops_per_s = gpu.peak_tflops * 1e12;
    inputs->machine.memory_bytes = gpu.memory_bytes;
    inputs->machine.memory_bytes_per_s = gpu.memory_bytes_per_s;
    inputs->machine.allowed = ALLOW_AUTO;
    const double nics = nics_per_gpu > 0 ? fmax(1.0, round(nics_per_gpu * type.gpus)) : type.nics;
    inputs->machine.fabric = collective_of(&type, (uint32_t)nics, line ? &network : NULL);
    return STATUS_OK;
}

enum status step_take_stack(struct catalog *catalog, const char *id, struct step_inputs *inputs,
                            struct diag *diag)
{
    struct key_reader reader = { .diag = diag };
    struct train_stack stack;
    const struct yaml_node *entry = find(catalog, CATALOG_STACKS, id, "stack", diag);
    if (entry != NULL) catalog_read_stack(&reader, entry, &stack);
    if (diag_error_count(diag) > 0) return diag_status(diag);
    if (!begins_with(inputs->gpu, stack.gpu))
        return diag_usage(diag, "step: stack '%s' was fitted on %s, the server has %s", stack.id,
                          stack.gpu, inputs->gpu);
    inputs->machine.efficiency = stack.efficiency;
    inputs->half_width = stack.half_width;
    inputs->bucket_bytes = stack.bucket_bytes;
    train_take_stack(&stack, &inputs->plan);
    return STATUS_OK;
}

enum status step_take_model(struct catalog *catalog, const char *id, struct step_inputs *inputs,
                            struct diag *diag)
{
    struct key_reader reader = { .diag = diag };
    struct model_shape shape;
    const struct yaml_node *entry = find(catalog, CATALOG_MODELS, id, "model", diag);
    if (entry != NULL) catalog_read_model(&reader, entry, &shape);
    if (diag_error_count(diag) > 0) return diag_status(diag);
    if (shape.sample_s > 0 && !begins_with(inputs->gpu, shape.sample_gpu))
        return diag_usage(diag,
                          "step: '%s' was measured on %s, the server has %s; its compute "
                          "there is not known: --sample-time",
                          shape.id, shape.sample_gpu, inputs->gpu);
    inputs->model = train_model_of(&shape);
    inputs->plan.fixed_s = shape.fixed_s;
    inputs->plan.server_s = shape.server_s;
    if (shape.bucket_bytes > 0) inputs->bucket_bytes = shape.bucket_bytes;
    if (shape.gradient_bytes > 0) inputs->plan.gradient_bytes = shape.gradient_bytes;
    return STATUS_OK;
}

void step_settle(struct step_inputs *inputs)
{
    struct train_model *model = &inputs->model;
    if (model->heads == 0) model->heads = train_heads(model->hidden);
    inputs->machine.efficiency *= train_width_factor(model->hidden, inputs->half_width);
    inputs->plan.buckets = train_buckets(model, &inputs->plan, inputs->bucket_bytes);
}
