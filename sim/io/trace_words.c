/* trace_words.c - the words of a log's rows against the schedulers of the scenario. */
#include "io/trace_read.h"

#include "base/text.h"

#include <string.h>

enum { NAMES_SHOWN = 64 };

/* Names of one kind that a scheduler knows, `stride` bytes apart. */
struct known {
    const char *column, *what;
    const char *first;
    size_t stride;
    uint32_t count;
};

static bool is_known(const struct known *known, const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < known->count; i++) {
        const char *at = known->first + (size_t)i * known->stride;
        if (strlen(at) == bytes && memcmp(at, name, bytes) == 0) return true;
    }
    return false;
}

static enum status refuse(const struct scenario *scenario, const struct known *known,
                          const char *name, size_t bytes, struct diag *diag)
{
    const char *names[NAMES_SHOWN];
    char word[LIMIT_TARGET_BYTES];
    uint32_t count = 0;
    for (; count < known->count && count < NAMES_SHOWN; count++)
        names[count] = known->first + (size_t)count * known->stride;
    text_copy(word, sizeof word, name, bytes);
    const char *nearest = text_nearest(word, names, count);
    return diag_error(diag, (struct place){ .file = scenario->trace_path },
                      "column '%s' names the %s '%s', which the scenario does not have%s%s%s",
                      known->column, known->what, word, nearest ? "; did you mean '" : "",
                      nearest ? nearest : "", nearest ? "'?" : "");
}

/* The names of one column; it may list several by commas. Equal texts stand at one offset: the same twice in a row is
 * looked at once. */
static enum status check_column(const struct scenario *scenario, const struct jobs *jobs,
                                const struct known *known, size_t offset, struct diag *diag)
{
    uint32_t last = TEXT_NONE;
    for (uint32_t row = 0; row < jobs->count; row++) {
        uint32_t text;
        memcpy(&text, (const char *)&jobs->words[row] + offset, sizeof text);
        if (text == last || text == TEXT_NONE) continue;
        last = text;
        for (const char *at = jobs->text + text; *at;) {
            const size_t bytes = strcspn(at, ",");
            if (!is_known(known, at, bytes)) return refuse(scenario, known, at, bytes, diag);
            at += bytes + (at[bytes] == ',');
        }
    }
    return STATUS_OK;
}

#define WORD(name) offsetof(struct job_words, name)

static enum status check_slurm(const struct scenario *scenario, const struct slurm_spec *slurm,
                               const struct jobs *jobs, struct diag *diag)
{
    const struct known partitions = { "partition", "partition", slurm->partitions->name,
                                      sizeof *slurm->partitions, slurm->partition_count };
    const struct known qos = { "qos", "QOS", slurm->qos->name, sizeof *slurm->qos,
                               slurm->qos_count };
    TRY(check_column(scenario, jobs, &partitions, WORD(partition), diag));
    TRY(check_column(scenario, jobs, &qos, WORD(qos), diag));
    if (slurm->association_count == 0) return STATUS_OK;
    const struct known accounts = { "account", "account", slurm->associations->account,
                                    sizeof *slurm->associations, slurm->association_count };
    return check_column(scenario, jobs, &accounts, WORD(account), diag);
}

/* A partition for jobs that name none. */
static enum status check_default(const struct scenario *scenario, const struct slurm_spec *slurm,
                                 const struct jobs *jobs, struct diag *diag)
{
    for (uint32_t i = 0; i < slurm->partition_count; i++)
        if (slurm->partitions[i].is_default) return STATUS_OK;
    for (uint32_t row = 0; row < jobs->count; row++)
        if (jobs->words == NULL || jobs->words[row].partition == TEXT_NONE)
            return diag_error(diag, (struct place){ .file = scenario->trace_path },
                              "job '%s' names no partition, and none of the scenario's has "
                              "Default: YES",
                              jobs->text + jobs->id[row]);
    return STATUS_OK;
}

static enum status check_teams(const struct scenario *scenario, const struct scenario *scheduler,
                               const struct jobs *jobs, struct diag *diag)
{
    const struct known teams = { "team", "team", scheduler->teams->name, sizeof *scheduler->teams,
                                 scheduler->team_count };
    if (jobs->words == NULL && jobs->user == NULL)
        return diag_error(diag, (struct place){ .file = scenario->trace_path },
                          "has neither a column 'team' nor a column 'user': scheduler.kind static "
                          "does not know whose its jobs are");
    if (jobs->words) return check_column(scenario, jobs, &teams, WORD(team), diag);
    for (uint32_t row = 0; row < jobs->count; row++) { /* a user is a team of his own name */
        const char *user = jobs->text + jobs->user[row];
        if (!is_known(&teams, user, strlen(user)))
            return refuse(scenario, &teams, user, strlen(user), diag);
    }
    return STATUS_OK;
}

/* What the policies take where a log says nothing. */
static void warn_missing(const struct scenario *scenario, const struct jobs *jobs,
                         bool memory_counts, struct diag *diag)
{
    const struct place at = { .file = scenario->trace_path };
    if (jobs->asks != NULL) return; /* pods and lines of sbatch say it themselves */
    if (jobs->cores == NULL)
        diag_warn(diag, at,
                  "has no column 'cores': each GPU of a job stands for its share of the "
                  "cores of a node");
    if (jobs->memory_bytes == NULL && memory_counts)
        diag_warn(diag, at,
                  "has no column 'memory_gib': each GPU of a job stands for its share of "
                  "the memory of a node, or DefMemPerGPU where it is written");
}

enum status trace_check_words(const struct scenario *scenario, const struct jobs *jobs,
                              struct diag *diag)
{
    bool warns = false, memory_counts = false;
    const uint32_t count = scenario->scheduler_count ? scenario->scheduler_count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct scenario *scheduler =
            scenario->scheduler_count ? &scenario->schedulers[i] : scenario;
        const bool is_slurm = scheduler->kind == KIND_SLURM;
        const bool is_kube = scheduler->kind == KIND_KUBERNETES;
        if (is_slurm) TRY(check_default(scenario, &scheduler->slurm, jobs, diag));
        if (is_slurm && jobs->words) TRY(check_slurm(scenario, &scheduler->slurm, jobs, diag));
        if (scheduler->kind == KIND_STATIC && scheduler->team_count > 0)
            TRY(check_teams(scenario, scheduler, jobs, diag));
        warns |= is_slurm || is_kube;
        memory_counts |= is_kube || (is_slurm && scheduler->slurm.memory_counts);
    }
    if (warns) warn_missing(scenario, jobs, memory_counts, diag);
    return STATUS_OK;
}
