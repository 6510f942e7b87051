/* catalog_train.c - profile.train: a training plan whose parts are entries of the catalog. */
#include "io/catalog.h"

#include <math.h>
#include <string.h>

enum { IDS_MOST = 256 };

/* The entry that `key` of the plan names, or NULL after a problem. */
static const struct yaml_node *entry_of(struct catalog *catalog, struct key_reader *reader,
                                        enum catalog_kind kind, const struct yaml_node *plan,
                                        const char *key)
{
    const struct yaml_node *node = yaml_child(plan, key);
    const struct yaml_node *entry = catalog_find(catalog, kind, node->text, reader->diag);
    if (entry != NULL || !catalog->usable[kind]) return entry;
    const char *names[IDS_MOST];
    size_t count = 0;
    for (entry = catalog_first(catalog, kind, reader->diag); entry && count < IDS_MOST;
         entry = entry->next)
        names[count++] = catalog_id(entry);
    key_unknown_word(reader, key, node, names, count);
    return NULL;
}

static bool divides(double part, double whole)
{
    const double quotient = whole / part;
    return quotient >= 1 && quotient == floor(quotient);
}

/* What holds or not whatever the number of GPUs. */
static void check_train(struct key_reader *reader, const struct yaml_node *node,
                        const struct train_job *train)
{
    const struct place at = yaml_place(node);
    const struct model_shape *model = &train->model;
    const uint32_t chunks = train->pipeline * train->interleave;
    const int shown = (int)strlen(reader->path) - 1; /* without its last dot */
    const char *path = reader->path;
    if (strncmp(train->gpu_id, train->stack.gpu, strlen(train->stack.gpu)) != 0)
        diag_error(reader->diag, at, "%.*s: stack '%s' was fitted on %s, not on %s", shown, path,
                   train->stack.id, train->stack.gpu, train->gpu_id);
    if (model->sample_s > 0 &&
        strncmp(train->gpu_id, model->sample_gpu, strlen(model->sample_gpu)) != 0)
        diag_error(reader->diag, at, "%.*s: model '%s' was measured on %s, not on %s", shown, path,
                   model->id, model->sample_gpu, train->gpu_id);
    if (!divides(chunks, model->layers))
        diag_error(reader->diag, at, "%.*s: %g layers are no multiple of %u stages of %u chunks",
                   shown, path, model->layers, train->pipeline, train->interleave);
    if (train->interleave > 1 && train->pipeline == 1)
        diag_error(reader->diag, at, "%.*s: interleave %u needs more than one stage", shown, path,
                   train->interleave);
    if (train->expert > 1 && !divides(train->expert, model->experts))
        diag_error(reader->diag, at, "%.*s: %g experts are no multiple of %u GPUs", shown, path,
                   model->experts, train->expert);
    if (train->stack.zero == 3 && train->pipeline > 1)
        diag_error(reader->diag, at,
                   "%.*s: stack '%s' shards the weights (ZeRO stage 3), which with more than one "
                   "stage is not built",
                   shown, path, train->stack.id);
    if (!divides(train->microbatch, train->samples_per_gpu * train->tensor * train->pipeline))
        diag_error(reader->diag, at,
                   "%.*s: %g samples a GPU over groups of %u x %u GPUs are no multiple of the "
                   "microbatch of %g",
                   shown, path, train->samples_per_gpu, train->tensor, train->pipeline,
                   train->microbatch);
}

void catalog_read_train(struct catalog *catalog, struct key_reader *reader,
                        const struct yaml_node *node, struct train_job *train)
{
    const uint64_t errors = diag_error_count(reader->diag);
    if (node->kind != YAML_MAP) {
        key_wrong_kind(reader, "train", node, "a mapping");
        return;
    }
    const size_t length = key_enter(reader, "train.");
    keys_read(reader, "train.", node, NULL, train);
    if (diag_error_count(reader->diag) == errors) {
        const struct yaml_node *model = entry_of(catalog, reader, CATALOG_MODELS, node, "model");
        const struct yaml_node *stack = entry_of(catalog, reader, CATALOG_STACKS, node, "stack");
        const struct yaml_node *gpu = entry_of(catalog, reader, CATALOG_GPUS, node, "gpu");
        struct key_reader quiet = { .diag = reader->diag };
        if (model) catalog_read_model(&quiet, model, &train->model);
        if (stack) catalog_read_stack(&quiet, stack, &train->stack);
        if (gpu) catalog_read_gpu(&quiet, gpu, &train->gpu);
    }
    if (diag_error_count(reader->diag) == errors) check_train(reader, node, train);
    key_leave(reader, length);
}
