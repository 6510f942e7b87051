/* scenario_job_ask.c - what a job of `jobs[]` asks for: texts of sbatch -> struct ask, and the plain columns. */
#include "io/scenario_jobs.h"

#include "base/text.h"
#include "io/scenario_lists.h"
#include "io/slurm_text.h"

#include <ctype.h>
#include <string.h>

/* N, within least and most. */
static bool number(const char *text, size_t bytes, uint32_t most, uint32_t *out)
{
    int64_t value = 0;
    struct why why;
    if (!quantity_count(text, bytes, &value, &why) || value < 0 || value > most) return false;
    *out = (uint32_t)value;
    return true;
}

/* Profiles of MIG are instances, other types are GPUs. */
static bool is_mig_profile(const char *type)
{
    return isdigit((unsigned char)type[0]) && type[1] == 'g' && type[2] == '.' &&
           isdigit((unsigned char)type[3]) && strstr(type, "gb") != NULL;
}

static void set_type(struct job_reading *job, const char *key, const char *type)
{
    char *field = is_mig_profile(type) ? job->line.instance : job->line.gpu_type;
    const size_t room =
        is_mig_profile(type) ? sizeof job->line.instance : sizeof job->line.gpu_type;
    if (field[0] && strcmp(field, type) != 0)
        refuse_job(job, key, "two types of GPUs, '%s' and '%s'", field, type);
    else if (!text_copy(field, room, type, strlen(type)))
        refuse_job(job, key, "the type is longer than %zu bytes", room - 1);
}

/* N or TYPE:N */
static void read_gpus(struct job_reading *job, const char *key, const char *text, uint32_t *count)
{
    const char *colon = strrchr(text, ':');
    const char *digits = colon ? colon + 1 : text;
    char type[LIMIT_NAME_BYTES];
    if (text[0] == '\0') return;
    if (!number(digits, strlen(digits), LIMIT_GPUS, count) || colon == text ||
        (colon && memchr(text, ':', (size_t)(colon - text)))) {
        refuse_job(job, key, "cannot read '%s': write N or TYPE:N", text);
        return;
    }
    if (colon == NULL) return;
    text_copy(type, sizeof type, text, (size_t)(colon - text));
    set_type(job, key, type);
}

/* gpu:N, gpu:TYPE:N, shard:N, by commas */
static void read_gres(struct job_reading *job)
{
    char item[LIMIT_NAME_BYTES];
    for (const char *at = job->line.gres; list_word(&at, item, sizeof item);) {
        const char *plain = strncmp(item, "gres/", 5) == 0 ? item + 5 : item;
        uint32_t count = 1;
        if (strcmp(plain, "gpu") == 0 || strncmp(plain, "gpu:", 4) == 0) {
            const char *rest = plain[3] ? plain + 4 : "1";
            char typed[LIMIT_NAME_BYTES + 2];
            const char *colon = strrchr(rest, ':');
            const bool has_count =
                isdigit((unsigned char)rest[0]) && strspn(rest, "0123456789") == strlen(rest);
            snprintf(typed, sizeof typed, "%s%s", rest, colon || has_count ? "" : ":1");
            read_gpus(job, "gres", typed, &job->line.ask.gpus_per_node);
        } else if (strncmp(plain, "shard:", 6) == 0 &&
                   number(plain + 6, strlen(plain + 6), 65536, &count)) {
            job->line.ask.shards_per_node = count;
        } else {
            refuse_job(job, "gres", "'%s' is not built: gpu:N, gpu:TYPE:N and shard:N are", item);
        }
    }
}

static void read_nodes(struct job_reading *job)
{
    struct ask *ask = &job->line.ask;
    const char *text = job->line.nodes, *dash = strchr(text, '-');
    if (text[0] == '\0') return;
    const size_t bytes = dash ? (size_t)(dash - text) : strlen(text);
    if (!number(text, bytes, LIMIT_GPUS, &ask->nodes_min) || ask->nodes_min == 0 ||
        (dash && !number(dash + 1, strlen(dash + 1), LIMIT_GPUS, &ask->nodes_max))) {
        refuse_job(job, "nodes", "cannot read '%s': write N or N-M", text);
        return;
    }
    if (dash == NULL) ask->nodes_max = ask->nodes_min;
    if (ask->nodes_max < ask->nodes_min)
        refuse_job(job, "nodes", "'%s': the larger number comes last", text);
}

/* N or N@TIME */
static void read_switches(struct job_reading *job)
{
    struct ask *ask = &job->line.ask;
    const char *text = job->line.switches, *at = strchr(text, '@');
    struct why why;
    if (text[0] == '\0') return;
    if (!number(text, at ? (size_t)(at - text) : strlen(text), LIMIT_GPUS, &ask->switches) ||
        ask->switches == 0)
        refuse_job(job, "switches", "cannot read '%s': write N or N@TIME", text);
    else if (at && !slurm_minutes(at + 1, strlen(at + 1), &ask->switch_wait_ns, &why))
        refuse_job(job, "switches", "cannot read '%s': %s", text, why.text);
}

static void check_counts(struct job_reading *job)
{
    struct ask *ask = &job->line.ask;
    const int ways = (ask->gpus > 0) + (ask->gpus_per_node > 0) + (ask->gpus_per_task > 0);
    if (ways > 1)
        refuse_job(job, ask->gpus ? "gpus" : "gpus_per_task",
                   "give one of gpus, gpus_per_node (or gres) and gpus_per_task");
    if (ask->shards_per_node > 0 && ways > 0)
        refuse_job(job, "gres", "GPUs are used whole or in shards, not both by one job");
    if (ask->ntasks_per_gpu > 0 && ask->gpus == 0)
        refuse_job(job, "ntasks_per_gpu", "it sets the tasks of a job with gpus");
    if (ask->ntasks_per_gpu > 0 && ask->ntasks > 0)
        refuse_job(job, "ntasks_per_gpu", "ntasks says the number of tasks already");
    const int memories = (ask->mem_mib != ASK_MEMORY_NONE) +
                         (ask->mem_per_cpu_mib != ASK_MEMORY_NONE) +
                         (ask->mem_per_gpu_mib != ASK_MEMORY_NONE);
    if (memories > 1) refuse_job(job, "mem", "give one of mem, mem_per_cpu and mem_per_gpu");
    const bool has_part = ask->gpu_milli > 0 && ask->gpu_milli < 1000;
    if (ask->gpu_milli > 0 && (ways > 0 || ask->pod_gpus > 0))
        refuse_job(job, "gpu_milli", "a part of one GPU, and whole ones beside it (P77)");
    if (ask->gpu_milli == 1000) { /* the whole of one */
        ask->gpu_milli = 0;
        ask->pod_gpus = 1;
        if (!has_part && (job->reader->kinds & ((1u << KIND_PLAIN) | (1u << KIND_STATIC))))
            ask->gpus = 1;
    }
    if (ask->nodes_min > 0 && ask->ntasks > 0 && ask->ntasks < ask->nodes_min)
        refuse_job(job, "ntasks", "%u tasks cannot be spread over %u nodes", ask->ntasks,
                   ask->nodes_min);
}

static uint32_t clamp(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* ---- columns ---- */

/* Tasks and nodes that follow from what is written: at least one task a node, one node for all tasks. */
static void shape_of(const struct ask *ask, uint64_t *nodes, uint64_t *tasks)
{
    *nodes = ask->nodes_min;
    *tasks = ask->ntasks;
    if (*tasks == 0 && ask->ntasks_per_gpu) *tasks = (uint64_t)ask->ntasks_per_gpu * ask->gpus;
    if (*nodes == 0 && *tasks > 0 && ask->ntasks_per_node > 0)
        *nodes = (*tasks + ask->ntasks_per_node - 1) / ask->ntasks_per_node;
    if (*nodes == 0) *nodes = 1;
    if (*tasks == 0) *tasks = *nodes * (ask->ntasks_per_node ? ask->ntasks_per_node : 1);
}

static void batch_columns(const struct job_line *line, bool is_slurm, struct job_columns *columns)
{
    const struct ask *ask = &line->ask;
    uint64_t nodes, tasks;
    shape_of(ask, &nodes, &tasks);
    const uint64_t gpus = ask->gpus            ? ask->gpus
                          : ask->gpus_per_task ? ask->gpus_per_task * tasks
                                               : ask->gpus_per_node * nodes;
    const bool says_cores =
        ask->ntasks || ask->cpus_per_task || ask->cpus_per_gpu || ask->ntasks_per_node || is_slurm;
    const uint64_t cores = !says_cores ? 0
                           : ask->cpus_per_gpu
                               ? ask->cpus_per_gpu * gpus
                               : tasks * (ask->cpus_per_task ? ask->cpus_per_task : 1);
    uint64_t memory_mib = 0;
    if (ask->mem_mib != ASK_MEMORY_NONE) memory_mib = ask->mem_mib * nodes;
    if (ask->mem_per_cpu_mib != ASK_MEMORY_NONE)
        memory_mib = ask->mem_per_cpu_mib * (cores ? cores : 1);
    if (ask->mem_per_gpu_mib != ASK_MEMORY_NONE) memory_mib = ask->mem_per_gpu_mib * gpus;
    columns->gpus = line->instance[0] ? 0 : clamp(gpus);
    columns->nodes = ask->nodes_min;
    columns->cores = clamp(cores);
    columns->memory_bytes = memory_mib << 20;
}

static void pod_columns(const struct job_line *line, struct job_columns *columns)
{
    const struct ask *ask = &line->ask;
    const uint64_t pods = ask->pods ? ask->pods : 1;
    columns->gpus = line->instance[0] ? 0 : clamp(pods * ask->pod_gpus);
    columns->cores = clamp((pods * ask->pod_cpu_milli + 999) / 1000);
    columns->memory_bytes = pods * ask->pod_memory_bytes;
}

static bool asks_in_batch(const struct ask *ask)
{
    return ask->gpus || ask->gpus_per_node || ask->gpus_per_task || ask->shards_per_node ||
           ask->nodes_min || ask->ntasks || ask->cpus_per_task || ask->exclusive;
}

/* Whether it speaks of pods. One that speaks of nodes or GPUs alone is cut into pods by the scheduler, as jobs of a log
 * are; the other way round there is no rule: pods may share a node, what --nodes counts may not. */
static bool settle_pods(struct job_reading *job)
{
    struct ask *ask = &job->line.ask;
    const uint32_t both = 1u << KIND_SLURM | 1u << KIND_KUBERNETES;
    const bool is_batch = asks_in_batch(ask);
    const bool in_pods = ask->pod_gpus || ask->pod_cpu_milli || ask->pod_memory_bytes ||
                         ask->gpu_milli || yaml_child(job->node, "pods") || !is_batch;
    if (!in_pods)
        ask->pods = 0;
    else if (ask->pods == 0 &&
             (ask->pod_gpus || ask->pod_cpu_milli || ask->pod_memory_bytes || ask->gpu_milli))
        ask->pods = 1;
    if (in_pods && !is_batch && (job->reader->kinds & both) == both)
        refuse_job(
            job, "resources",
            "Slurm knows no pods: where both are compared, say nodes, gpus or gpus_per_node");
    return in_pods && !is_batch && ask->pods > 0;
}

void job_ask(struct job_reading *job, struct job_columns *columns)
{
    struct job_line *line = &job->line;
    const uint64_t errors = diag_error_count(job->reader->diag);
    const bool is_slurm = job->reader->kinds & (1u << KIND_SLURM);
    read_nodes(job);
    read_gpus(job, "gpus", line->gpus, &line->ask.gpus);
    read_gpus(job, "gpus_per_node", line->gpus_per_node, &line->ask.gpus_per_node);
    read_gpus(job, "gpus_per_task", line->gpus_per_task, &line->ask.gpus_per_task);
    read_gres(job);
    read_switches(job);
    if (diag_error_count(job->reader->diag) == errors) check_counts(job);
    if (line->instance[0] && job->reader->kinds & (1u << KIND_PLAIN | 1u << KIND_STATIC))
        refuse_job(job, "resources",
                   "instances of MIG are for scheduler.kind slurm and kubernetes");
    *columns = (struct job_columns){ 0 };
    if (settle_pods(job))
        pod_columns(line, columns);
    else
        batch_columns(line, is_slurm, columns);
    if (columns->gpus > LIMIT_GPUS) refuse_job(job, "gpus", "more than %d GPUs", LIMIT_GPUS);
    if (!is_slurm && columns->gpus == 0 && columns->cores == 0 && line->ask.gpu_milli == 0 &&
        line->instance[0] == '\0')
        refuse_job(job, "gpus", "it asks for nothing: no GPU and no core");
}

/* ---- texts ---- */

static bool intern(struct job_reading *job, const char *text, uint32_t *out)
{
    return trace_rows_intern(job->rows, text, strlen(text), out) == STATUS_OK;
}

bool job_ask_texts(struct job_reading *job)
{
    struct job_line *line = &job->line;
    struct ask *ask = &line->ask;
    return intern(job, line->gpu_type, &ask->gpu_type) &&
           intern(job, line->instance, &ask->instance) &&
           intern(job, line->constraint, &ask->constraint) &&
           intern(job, line->nodelist, &ask->nodelist) &&
           intern(job, line->exclude, &ask->exclude) &&
           intern(job, line->node_selector, &ask->node_selector) &&
           intern(job, line->tolerations, &ask->tolerations) &&
           intern(job, line->topology_required, &ask->topology_required) &&
           intern(job, line->topology_preferred, &ask->topology_preferred);
}
