/* training_case.h - a training plan in a line, for published cases.
 *
 *     MODEL STACK SERVER gpus=N [tp=N] [pp=N] [ep=N] [batch=N] [mb=N] [v=N] [zero=N] [recompute=WORD]
 *
 * The first three are entries of the catalog; STACK may be "-": gradients half hidden, buckets of 25 MB. dp is the rest. */
#ifndef TESTS_TRAINING_CASE_H
#define TESTS_TRAINING_CASE_H

#include "cli/step_catalog.h"
#include "models/train_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool training_word(struct step_inputs *inputs, const char *word)
{
    struct train_plan *plan = &inputs->plan;
    const char *equals = strchr(word, '=');
    const double value = equals ? strtod(equals + 1, NULL) : 0;
    const uint32_t count = (uint32_t)value;
    if (equals == NULL) return false;
    switch (word[0]) {
    case 'g':
        inputs->machine.gpus = count;
        return true;
    case 't':
        plan->tensor = count;
        return true;
    case 'p':
        plan->pipeline = count;
        return true;
    case 'e':
        plan->expert = count;
        return true;
    case 'b':
        plan->batch = value;
        return true;
    case 'm':
        plan->microbatch = value;
        return true;
    case 'v':
        plan->interleave = count;
        return true;
    case 'z':
        plan->zero = count;
        return true;
    case 'r':
        for (int i = 0; i < RECOMPUTES; i++)
            if (strcmp(recompute_names[i], equals + 1) == 0) plan->recompute = (enum recompute)i;
        return true;
    default:
        return false;
    }
}

/* The step; step_s NAN when the line cannot be read. */
static inline struct train_time training_case(struct catalog *catalog, const char *what)
{
    const struct train_time none = { .step_s = NAN, .mfu = NAN, .samples_per_s = NAN };
    char line[256], *save = NULL;
    struct step_inputs inputs = { .bucket_bytes = 25e6 };
    snprintf(line, sizeof line, "%s", what);
    const char *model = strtok_r(line, " ", &save), *stack = strtok_r(NULL, " ", &save);
    const char *server = strtok_r(NULL, " ", &save);
    struct diag *diag = diag_create();
    inputs.plan = train_plan_plain();
    inputs.plan.overlap_data = 0.5;
    enum status status = step_take_server(catalog, server, NULL, 0, &inputs, diag);
    if (status == STATUS_OK && strcmp(stack, "-") != 0)
        status = step_take_stack(catalog, stack, &inputs, diag);
    if (status == STATUS_OK) status = step_take_model(catalog, model, &inputs, diag);
    diag_print(diag, stderr);
    diag_destroy(diag);
    for (const char *word; status == STATUS_OK && (word = strtok_r(NULL, " ", &save)) != NULL;)
        if (!training_word(&inputs, word)) return none;
    if (status != STATUS_OK) return none;
    inputs.plan.data = inputs.machine.gpus / (inputs.plan.tensor * inputs.plan.pipeline);
    if (inputs.plan.microbatch == 0) inputs.plan.microbatch = inputs.plan.batch / inputs.plan.data;
    step_settle(&inputs);
    if (train_plan_check(&inputs.model, &inputs.plan, &inputs.machine).fault != TRAIN_FITS) return none;
    return train_step(&inputs.model, &inputs.plan, &inputs.machine);
}

#endif
