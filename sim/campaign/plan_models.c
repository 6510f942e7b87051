/* plan_models.c - see plan_models.h. */
#include "campaign/plan_models.h"

#include "base/text.h"
#include "cluster/speed.h"
#include "cluster/train_of.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum status unknown_model(const struct plan *plan, struct place at, uint32_t row,
                                 const char *model, struct diag *diag)
{
    const struct communication *communication = &plan->scenario->communication;
    const char *names[LIMIT_PROFILES];
    for (uint32_t i = 0; i < communication->mix_count; i++)
        names[i] = communication->mix[i].profile.id;
    const char *nearest = text_nearest(model, names, communication->mix_count);
    const char *id = plan->jobs->text + plan->jobs->id[row];
    char safe[LIMIT_NAME_BYTES], safe_id[LIMIT_NAME_BYTES];
    return diag_error(
        diag, at, "job '%s' names the model '%s', which is not in workload.communication%s%s%s",
        text_escape(id, strlen(id), safe_id, sizeof safe_id),
        text_escape(model, strlen(model), safe, sizeof safe),
        communication->kind != COMM_BY_MODEL_MIX ? ": only by_model_mix looks models up"
        : nearest                                ? "; did you mean '"
                                                 : "; gpuplan catalog lists profiles",
        communication->kind == COMM_BY_MODEL_MIX && nearest ? nearest : "",
        communication->kind == COMM_BY_MODEL_MIX && nearest ? "'?" : "");
}

/* Jobs of one size are looked at once, as long as their sizes do not share a slot. */
enum { SEEN = 1024 };

struct fits {
    uint32_t gpus[SEEN];
    uint8_t profile[SEEN];
};

/* "job 'a'", or "job row 7" where it has no name. */
static const char *job_name(const struct jobs *jobs, uint32_t row, char text[LIMIT_NAME_BYTES + 16])
{
    const char *id = jobs->text + jobs->id[row];
    char safe[LIMIT_NAME_BYTES];
    if (*id)
        snprintf(text, LIMIT_NAME_BYTES + 16, "job '%s'",
                 text_escape(id, strlen(id), safe, sizeof safe));
    else
        snprintf(text, LIMIT_NAME_BYTES + 16, "job row %u", row + 1);
    return text;
}

/* As `gpuplan step` does, a plan is taken as it is written or refused. */
static enum status check_groups(const struct jobs *jobs, uint32_t row,
                                const struct profile *profile, struct place at, struct diag *diag)
{
    const struct train_job *train = &profile->train;
    char name[LIMIT_NAME_BYTES + 16];
    if (train->model.id[0] == '\0' || jobs->gpus[row] % train_job_multiple(train) == 0)
        return STATUS_OK;
    return diag_error(diag, at,
                      "%s: its %u GPUs are no multiple of the %" PRIu64
                      " that its training plan ('%s') needs, tensor %u x pipeline %u x expert %u; "
                      "give it a multiple, or a model whose groups divide it",
                      job_name(jobs, row, name), jobs->gpus[row], train_job_multiple(train),
                      profile->id, train->tensor, train->pipeline, train->expert);
}

/* A job that names nothing needs a profile that it can be drawn. */
static enum status check_drawn(const struct jobs *jobs, uint32_t row,
                               const struct communication *communication, struct place at,
                               struct diag *diag)
{
    const struct profile *refused = NULL;
    const uint32_t gpus = jobs->gpus[row];
    for (uint32_t i = 0; i < communication->mix_count && gpus > 1; i++) {
        const struct mix_entry *entry = &communication->mix[i];
        if (entry->weight <= 0 || gpus < entry->gpus_min || gpus > entry->gpus_max) continue;
        if (speed_profile_admits(entry, gpus)) return STATUS_OK;
        if (!refused) refused = &entry->profile;
    }
    return refused ? check_groups(jobs, row, refused, at, diag) : STATUS_OK;
}

static enum status check_memory(const struct profile *profile, uint8_t row_of_mix,
                                const struct jobs *jobs, uint32_t row, struct fits *fits,
                                struct place at, struct diag *diag)
{
    const uint32_t gpus = jobs->gpus[row];
    const uint32_t slot = (gpus * 31 + row_of_mix) % SEEN;
    if (profile->train.model.id[0] == '\0' ||
        (fits->gpus[slot] == gpus && fits->profile[slot] == row_of_mix))
        return STATUS_OK;
    const struct train_memory memory = train_job_memory(&profile->train, gpus);
    if (memory.total_bytes > profile->train.gpu.memory_bytes)
        return diag_error(
            diag, at,
            "job '%s' of %u GPUs names the model '%s', which would need %.1f GB on each, "
            "%s has %.0f: weights %.1f, gradients %.1f, optimizer %.1f, activations "
            "%.1f; give it more GPUs, or a profile of its own",
            jobs->text + jobs->id[row], gpus, profile->id, memory.total_bytes / 1e9,
            profile->train.gpu_id, profile->train.gpu.memory_bytes / 1e9,
            memory.weights_bytes / 1e9, memory.gradients_bytes / 1e9, memory.optimizer_bytes / 1e9,
            memory.activations_bytes / 1e9);
    fits->gpus[slot] = gpus;
    fits->profile[slot] = row_of_mix;
    return STATUS_OK;
}

/* Jobs that name nothing are drawn a profile: the first that could not be trained by it is told, once. */
static void warn_of_drawn(const struct communication *communication, uint32_t gpus, struct place at,
                          struct diag *diag, bool *told)
{
    for (uint32_t i = 0; i < communication->mix_count && !*told && gpus > 1; i++) {
        const struct mix_entry *entry = &communication->mix[i];
        const struct train_job *train = &entry->profile.train;
        if (train->model.id[0] == '\0' || entry->weight <= 0 || !speed_profile_admits(entry, gpus))
            continue;
        const double bytes = train_job_memory(train, gpus).total_bytes;
        if (bytes <= train->gpu.memory_bytes) continue;
        diag_warn(diag, at,
                  "jobs of %u GPUs train as '%s' says, which would need %.1f GB on each, %s has "
                  "%.0f: their steps are worked out all the same",
                  gpus, entry->profile.id, bytes / 1e9, train->gpu_id,
                  train->gpu.memory_bytes / 1e9);
        *told = true;
    }
}

enum status plan_models(struct plan *plan, struct place jobs_file, struct diag *diag)
{
    const struct jobs *jobs = plan->jobs;
    const struct communication *communication = &plan->scenario->communication;
    struct fits fits = { .gpus = { 0 } };
    bool told = false;
    if (communication->kind == COMM_NONE) return STATUS_OK;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const char *model = jobs->model ? jobs->text + jobs->model[row] : "";
        if (*model == '\0') {
            plan->profiles_drawn |= jobs->gpus[row] > 1;
            TRY(check_drawn(jobs, row, communication, jobs_file, diag));
            warn_of_drawn(communication, jobs->gpus[row], jobs_file, diag, &told);
            continue;
        }
        const uint8_t named = speed_profile_named(plan->scenario, model);
        if (named == PROFILE_UNKNOWN) return unknown_model(plan, jobs_file, row, model, diag);
        plan->profile_used[named] = true;
        TRY(check_groups(jobs, row, &communication->mix[named].profile, jobs_file, diag));
        TRY(check_memory(&communication->mix[named].profile, named, jobs, row, &fits, jobs_file,
                         diag));
    }
    for (uint32_t i = 0; i < communication->mix_count; i++)
        plan->profile_used[i] |= plan->profiles_drawn && communication->mix[i].weight > 0;
    return STATUS_OK;
}
