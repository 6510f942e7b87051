/* store_assumptions.c - what a result rests on: profiles, failure rates and hardware, each with its source. */
#include "io/store_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const mark_names[] = {
    [MARK_CONFIRMED] = "confirmed", [MARK_DERIVED] = "derived",           [MARK_MEMORY] = "memory",
    [MARK_ASSUMED] = "assumed",     [MARK_HYPOTHETICAL] = "hypothetical",
};
static const char *const law_names[] = {
    [LAW_NONE] = "none",
    [LAW_EXPONENTIAL] = "exponential",
    [LAW_WEIBULL] = "weibull",
    [LAW_LOGNORMAL] = "lognormal",
};

struct assumption {
    const char *subject, *name, *mark, *source;
};

static enum status write_assumption(struct db_query *query, struct assumption row,
                                    const char *value)
{
    db_put_name(query, row.subject);
    db_put_name(query, row.name);
    db_put_name(query, value);
    db_put_name(query, row.mark);
    db_put_name(query, row.source);
    return db_run(query);
}

static enum status write_profiles(struct db_query *query, const struct plan *plan)
{
    const struct communication *communication = &plan->scenario->communication;
    char value[160];
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        if (!plan->profile_used[i]) continue;
        const struct mix_entry *entry = &communication->mix[i];
        const struct profile *profile = &entry->profile;
        const struct train_job *train = &profile->train;
        if (train->model.id[0] != '\0')
            snprintf(value, sizeof value,
                     "%.40s by %.40s on %.24s, tp %u, pp %u, ep %u, %.4g samples a GPU",
                     train->model.id, train->stack.id, train->gpu_id, train->tensor,
                     train->pipeline, train->expert, train->samples_per_gpu);
        else
            snprintf(value, sizeof value,
                     "kappa %.4g in one server, %.4g over several, hidden %.4g", profile->kappa_one,
                     profile->kappa_many, profile->hidden_frac);
        TRY(write_assumption(query,
                             (struct assumption){ "communication", profile->id,
                                                  mark_names[profile->mark], profile->source },
                             value));
    }
    return STATUS_OK;
}

/* Frameworks of training plans: how fast they train was fitted on published runs. */
static enum status write_frameworks(struct db_query *query, const struct plan *plan)
{
    const struct communication *communication = &plan->scenario->communication;
    char value[160];
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        const struct train_job *train = &communication->mix[i].profile.train;
        const struct train_stack *stack = &train->stack;
        if (!plan->profile_used[i] || train->model.id[0] == '\0') continue;
        snprintf(value, sizeof value,
                 "efficiency %.3g of peak, %.3g of the gradients' traffic hidden",
                 stack->efficiency, stack->overlap);
        TRY(write_assumption(
            query,
            (struct assumption){ "framework", stack->id, mark_names[stack->mark], stack->source },
            value));
    }
    return STATUS_OK;
}

static enum status write_failures(struct db_query *query, const struct failures *failures)
{
    /* Rates of the catalog carry their source; what the scenario spells out is the user's word. */
    const bool inline_rates = strcmp(failures->rates, "inline") == 0;
    char value[160];
    for (int i = 0; i < COMPONENTS; i++) {
        const struct component_failures *component = &failures->component[i];
        if (component->law == LAW_NONE) continue;
        snprintf(value, sizeof value, "%s, mean %.6g h", law_names[component->law],
                 component->mean_s / 3600);
        TRY(write_assumption(query,
                             (struct assumption){ "failures", incident_component_names[i],
                                                  inline_rates ? "stated" : "published",
                                                  component->source },
                             value));
    }
    return STATUS_OK;
}

static enum status write_hardware(struct db_query *query, const struct scenario *scenario)
{
    char value[160];
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        const struct server_type *server = &scenario->layouts[i].server;
        snprintf(value, sizeof value, "%" PRIu32 " GPUs, %" PRIu32 " NICs", server->gpus,
                 server->nics);
        TRY(write_assumption(
            query,
            (struct assumption){ "server", server->id, mark_names[server->mark], server->source },
            value));
        const struct link_type *link = &scenario->layouts[i].fabric.link;
        snprintf(value, sizeof value, "%.6g bytes per second and port", link->bytes_per_s);
        TRY(write_assumption(
            query, (struct assumption){ "link", link->id, mark_names[link->mark], link->source },
            value));
    }
    return STATUS_OK;
}

/* Layouts whose jobs meet on one GPU: nothing tells what they cost one another. The name is the layout's. */
static enum status write_sharing(struct db_query *query, const struct scenario *scenario)
{
    static const char *const kinds[SHARING_SHARE + 1] = {
        [SHARING_SHARD] = "shards",
        [SHARING_TIME_SLICE] = "time slices",
        [SHARING_MPS] = "MPS",
        [SHARING_SHARE] = "parts of a GPU",
    };
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        const struct layout *layout = &scenario->layouts[i];
        const char *kind = NULL;
        for (uint32_t g = 0; g < layout->group_count && !kind; g++)
            kind = kinds[layout->groups[g].sharing];
        if (!kind) continue;
        TRY(write_assumption(query,
                             (struct assumption){ "sharing", layout->name, mark_names[MARK_ASSUMED],
                                                  "jobs on one GPU do not slow each other" },
                             kind));
    }
    return STATUS_OK;
}

enum status store_assumptions(struct db_query *query, const struct plan *plan)
{
    TRY(write_profiles(query, plan));
    TRY(write_frameworks(query, plan));
    TRY(write_failures(query, &plan->scenario->failures));
    TRY(write_sharing(query, plan->scenario));
    return write_hardware(query, plan->scenario);
}
