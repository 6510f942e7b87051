/* scenario_job_models.c - jobs[].model names a profile that the scenario's communication has; told at its place. */
#include "io/scenario_jobs.h"

#include "base/text.h"

#include <string.h>

static void check_model(struct reading *reading, const struct yaml_node *node, uint32_t row)
{
    const struct communication *communication = &reading->scenario->communication;
    const char *names[LIMIT_PROFILES];
    char safe[4 * LIMIT_NAME_BYTES];
    if (node->kind != YAML_SCALAR || node->text_bytes == 0 || yaml_is_null(node)) return;
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        names[i] = communication->mix[i].profile.id;
        if (strcmp(names[i], node->text) == 0) return;
    }
    text_escape(node->text,
                node->text_bytes < LIMIT_NAME_BYTES ? node->text_bytes : LIMIT_NAME_BYTES, safe,
                sizeof safe);
    const char *nearest = text_nearest(node->text, names, communication->mix_count);
    if (communication->kind != COMM_BY_MODEL_MIX)
        diag_error(reading->reader.diag, yaml_place(node),
                   "jobs[%u].model: '%s' is not looked up: workload.communication is '%s' for all "
                   "jobs; with by_model_mix jobs name entries of catalog profiles.yaml",
                   row, safe, names[0]);
    else
        diag_error(reading->reader.diag, yaml_place(node),
                   "jobs[%u].model: '%s' is not in workload.communication%s%s%s", row, safe,
                   nearest ? "; did you mean '" : "; gpuplan catalog lists profiles",
                   nearest ? nearest : "", nearest ? "'?" : "");
}

void check_job_models(struct reading *reading)
{
    const struct yaml_node *jobs = yaml_child(reading->document.root, "jobs");
    if (jobs == NULL || reading->scenario->communication.kind == COMM_NONE) return;
    uint32_t row = 0;
    for (const struct yaml_node *job = jobs->first; job != NULL; job = job->next, row++) {
        const struct yaml_node *model = yaml_child(job, "model");
        if (model != NULL) check_model(reading, model, row);
    }
}
