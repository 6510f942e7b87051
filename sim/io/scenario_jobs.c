/* scenario_jobs.c - `jobs[]` of a scenario -> struct jobs: a row for each job, task of an array, component. */
#include "io/scenario_jobs.h"

#include "base/clock.h"
#include "base/text.h"
#include "io/scenario_lists.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <xxhash.h>

/* An id, and whether tasks or components hang below it. */
struct known_id {
    UT_hash_handle hh;
    char id[LIMIT_NAME_BYTES + 16];
};

struct job_list {
    struct key_reader *reader;
    struct trace_rows rows;
    struct known_id *ids;
    const struct yaml_node
        *node; /* the list                                                      */
    uint32_t job_count;
};

void refuse_job(struct job_reading *job, const char *key, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct yaml_node *at = yaml_child(job->node, key);
    if (at == NULL && job->below) at = yaml_child(job->below, key);
    diag_error(job->reader->diag, yaml_place(at ? at : job->node), "%s%s: %s", job->reader->path,
               key, text);
}

/* ---- ids ---- */

static bool remember_id(struct job_list *list, struct job_reading *job, const char *id)
{
    struct known_id *known;
    HASH_FIND_STR(list->ids, id, known);
    if (known != NULL) {
        refuse_job(job, "id", "two jobs are called '%s'", id);
        return true;
    }
    known = calloc(1, sizeof *known);
    if (known == NULL) return false;
    snprintf(known->id, sizeof known->id, "%s", id);
    HASH_ADD_STR(list->ids, id, known);
    return true;
}

static void forget_ids(struct job_list *list)
{
    struct known_id *known, *next;
    HASH_ITER(hh, list->ids, known, next)
    {
        HASH_DEL(list->ids, known);
        free(known);
    }
}

/* ---- dependencies ---- */

static bool is_known(const struct job_list *list, const char *id, size_t bytes)
{
    const struct known_id *known;
    HASH_FIND(hh, list->ids, id, bytes, known);
    return known != NULL;
}

/* "afterok:ID:ID[+MINUTES]" */
static void check_dependency(const struct job_list *list, struct job_reading *job, const char *text)
{
    static const char *const types[] = { "after",      "afterok",   "afterany",
                                         "afternotok", "aftercorr", "singleton" };
    char type[LIMIT_TARGET_BYTES];
    const char *colon = strchr(text, ':');
    size_t i = 0;
    text_copy(type, sizeof type, text, colon ? (size_t)(colon - text) : strlen(text));
    while (i < 6 && strcmp(type, types[i]) != 0) i++;
    const char *nearest = i < 6 ? NULL : text_nearest(type, types, 6);
    if (i == 6)
        refuse_job(job, "dependency", "unknown '%s'%s%s%s", type, nearest ? "; did you mean '" : "",
                   nearest ? nearest : "",
                   nearest ? "'?" : "; after, afterok, afterany, afternotok, aftercorr, singleton");
    else if ((i == 5) != (colon == NULL))
        refuse_job(job, "dependency", i == 5 ? "'%s' names no job" : "'%s' needs the id of a job",
                   type);
    if (i >= 5) return;
    for (const char *at = colon; at && *at == ':';) {
        const size_t bytes = strcspn(at + 1, ":");
        const char *id = at + 1, *plus = memchr(id, '+', bytes);
        at = id + bytes;
        if (is_known(list, id, bytes)) continue; /* ID+0 is a component */
        if (plus && i == 0 && is_known(list, id, (size_t)(plus - id))) {
            const size_t minutes = strspn(plus + 1, "0123456789");
            if (minutes == 0 || plus + 1 + minutes != at || strspn(plus + 1, "0") == minutes)
                refuse_job(job, "dependency", "'%.*s': behind '+' minutes are written, 1 or more",
                           (int)bytes, id);
            continue;
        }
        refuse_job(job, "dependency", "no job has the id '%.*s'", (int)bytes, id);
    }
}

static void check_dependencies(const struct job_list *list, struct job_reading *job)
{
    char text[LIMIT_TARGET_BYTES];
    const bool any = strchr(job->line.dependency, '?') != NULL;
    if (any && strchr(job->line.dependency, ','))
        refuse_job(job, "dependency", "either ',' (all) or '?' (any), not both");
    for (char *at = job->line.dependency; any && *at; at++)
        if (*at == '?') *at = ',';
    for (const char *at = job->line.dependency; list_word(&at, text, sizeof text);)
        check_dependency(list, job, text);
}

/* Dependencies may name later jobs: looked at when all ids are known. */
static void check_all_dependencies(const struct job_list *list)
{
    uint32_t place = 0;
    for (const struct yaml_node *node = list->node->first; node; node = node->next, place++) {
        const struct yaml_node *text =
            node->kind == YAML_MAP ? yaml_child(node, "dependency") : NULL;
        if (text == NULL || text->kind != YAML_SCALAR) continue;
        struct job_reading job = { .reader = list->reader, .node = node };
        char shown[32];
        snprintf(shown, sizeof shown, "jobs[%" PRIu32 "].", place);
        const size_t length = key_enter(list->reader, shown);
        text_copy(job.line.dependency, sizeof job.line.dependency, text->text, text->text_bytes);
        check_dependencies(list, &job);
        key_leave(list->reader, length);
    }
}

/* ---- rows ---- */

static bool intern(struct job_list *list, const char *text, uint32_t *out)
{
    return trace_rows_intern(&list->rows, text, strlen(text), out) == STATUS_OK;
}

static bool set_words(struct job_list *list, const struct job_line *line, struct job_words *words)
{
    memset(words, 0, sizeof *words);
    words->array_first_row = words->het_first_row = JOB_NONE;
    words->nice = (int32_t)line->nice;
    words->priority = (int32_t)line->priority;
    words->exit_code = (int32_t)line->exit_code;
    words->exit_code_again =
        (int32_t)(line->exit_code_again < 0 ? line->exit_code : line->exit_code_again);
    words->begin_ns = line->begin_ns;
    words->requeue = line->requeue;
    words->hold = line->hold;
    words->no_kill = line->no_kill;
    words->may_not_move = !line->movable;
    words->may_not_preempt = line->may_not_preempt;
    words->min_member = line->min_member;
    return intern(list, line->name, &words->name) && intern(list, line->account, &words->account) &&
           intern(list, line->user, &words->user) && intern(list, line->qos, &words->qos) &&
           intern(list, line->partition, &words->partition) &&
           intern(list, line->queue, &words->queue) &&
           intern(list, line->dependency, &words->dependency) &&
           intern(list, line->reservation, &words->reservation) &&
           intern(list, line->team[0] ? line->team : line->user, &words->team);
}

/* A job of the plain kinds whose columns say it all has no ask: it is one of the requests that logs have. */
static bool needs_ask(const struct job_reading *job)
{
    const struct ask *ask = &job->line.ask;
    const uint32_t plain = (1u << KIND_PLAIN) | (1u << KIND_STATIC);
    return (job->reader->kinds & ~plain) || ask->nodes_min || ask->gpu_milli || ask->pods ||
           job->line.gpu_type[0] || job->line.instance[0];
}

static bool add_row(struct job_list *list, struct job_reading *job,
                    const struct job_columns *columns, const char *id,
                    const struct job_words *words)
{
    const struct job_line *line = &job->line;
    struct trace_row row = { .submit_ns = line->at_ns,
                             .duration_ns = line->run_ns,
                             .limit_ns = line->limit_ns,
                             .memory_bytes = columns->memory_bytes,
                             .gpus = columns->gpus,
                             .nodes = columns->nodes,
                             .cores = columns->cores };
    if (!intern(list, line->user, &row.user) || !intern(list, line->model, &row.model))
        return false;
    if (needs_ask(job)) {
        struct ask ask;
        memset(&ask, 0, sizeof ask);
        if (!job_ask_texts(job)) return false;
        memcpy(&ask, &line->ask, sizeof ask);
        if (trace_rows_ask(&list->rows, &ask, &row.ask) != STATUS_OK) return false;
    }
    return trace_rows_text(&list->rows, id, strlen(id), &row.id) == STATUS_OK &&
           trace_rows_words(&list->rows, words, &row.words) == STATUS_OK &&
           trace_rows_add(&list->rows, &row, "0", 1) == STATUS_OK;
}

static bool add_array(struct job_list *list, struct job_reading *job,
                      const struct job_columns *columns, struct job_words *words)
{
    uint32_t count, limit;
    uint32_t *indexes = job_array(job, &count, &limit);
    if (indexes == NULL) return true; /* said */
    bool good = true;
    words->array_first_row = (uint32_t)list->rows.rows.count;
    words->array_limit = limit;
    for (uint32_t i = 0; good && i < count; i++) {
        char id[LIMIT_NAME_BYTES + 16];
        snprintf(id, sizeof id, "%s_%" PRIu32, job->id, indexes[i]);
        words->array_index = indexes[i];
        good = remember_id(list, job, id) && add_row(list, job, columns, id, words);
    }
    free(indexes);
    return good;
}

/* ---- one job ---- */

static struct job_line empty_line(void)
{
    struct job_line line;
    memset(&line, 0, sizeof line); /* asks are told apart by their bytes */
    line.ask.mem_mib = line.ask.mem_per_cpu_mib = line.ask.mem_per_gpu_mib = ASK_MEMORY_NONE;
    return line;
}

/* No --time: DefaultTime of its (first) partition, else its MaxTime. Of several Slurms the first one's. */
static void set_limit(struct job_reading *job)
{
    const struct scenario *scenario = reading_of(job->reader)->scenario, *scheduler;
    char name[LIMIT_TARGET_BYTES] = "";
    const char *at = job->line.partition;
    const bool is_named = list_word(&at, name, sizeof name);
    uint32_t which = 0;
    while ((scheduler = scheduler_at(scenario, which)) != NULL && scheduler->kind != KIND_SLURM)
        which++;
    if (scheduler == NULL || job->line.limit_ns != JOB_NO_LIMIT) return;
    for (uint32_t i = 0; i < scheduler->slurm.partition_count; i++) {
        const struct slurm_partition *partition = &scheduler->slurm.partitions[i];
        if (is_named ? strcmp(partition->name, name) != 0 : !partition->is_default) continue;
        if (partition->default_time_ns > 0)
            job->line.limit_ns = partition->default_time_ns;
        else if (partition->max_time_ns != TIME_NEVER)
            job->line.limit_ns = partition->max_time_ns;
        return;
    }
}

static void read_line(struct job_reading *job)
{
    keys_read(job->reader, "jobs[].", job->node, job->below, &job->line);
}

static bool read_components(struct job_list *list, struct job_reading *whole)
{
    static const char *const of_whole[] = {
        "id",  "name",       "user",    "at",    "run",  "time",
        "het", "dependency", "account", "array", "hold", "begin"
    };
    const struct yaml_node *het = yaml_child(whole->node, "het");
    const uint32_t first_row = (uint32_t)list->rows.rows.count;
    uint32_t place = 0;
    if (whole->line.array[0])
        refuse_job(whole, "array", "an array of heterogeneous jobs is not built");
    for (const struct yaml_node *item = het->first; item; item = item->next, place++) {
        struct job_reading job = *whole;
        struct job_columns columns;
        struct job_words words;
        char shown[32], id[LIMIT_NAME_BYTES + 16];
        const uint64_t errors = diag_error_count(job.reader->diag);
        job.node = item;
        job.below = whole->node;
        job.line = empty_line();
        job.line.is_component = true;
        snprintf(shown, sizeof shown, "het[%" PRIu32 "].", place);
        snprintf(id, sizeof id, "%s+%" PRIu32, whole->id, place);
        const size_t length = key_enter(job.reader, shown);
        for (size_t i = 0; i < sizeof of_whole / sizeof *of_whole; i++)
            if (yaml_child(item, of_whole[i]))
                refuse_job(&job, of_whole[i], "belongs to the whole job");
        read_line(&job);
        bool good = true;
        if (diag_error_count(job.reader->diag) == errors) {
            job_ask(&job, &columns);
            check_job_names(&job);
            set_limit(&job);
        }
        if (diag_error_count(job.reader->diag) == errors) {
            good = set_words(list, &job.line, &words) && remember_id(list, &job, id);
            words.het_first_row = first_row;
            good = good && add_row(list, &job, &columns, id, &words);
        }
        key_leave(job.reader, length);
        if (!good) return false;
    }
    return true;
}

static bool read_job(struct job_list *list, const struct yaml_node *node)
{
    struct job_reading job = { .reader = list->reader, .rows = &list->rows, .node = node };
    struct job_columns columns;
    struct job_words words;
    char number[16];
    const uint64_t errors = diag_error_count(job.reader->diag);
    job.line = empty_line();
    read_line(&job);
    snprintf(number, sizeof number, "%" PRIu32, list->job_count);
    job.id = job.line.id[0] ? job.line.id : number;
    if (strpbrk(job.id, ",:?") != NULL)
        refuse_job(&job, "id", "',', ':' and '?' part the ids of dependencies");
    if (diag_error_count(job.reader->diag) > errors) return true;
    if (!remember_id(list, &job, job.id)) return false;
    if (yaml_child(node, "het")) return read_components(list, &job);
    job_ask(&job, &columns);
    check_job_names(&job);
    set_limit(&job);
    if (diag_error_count(job.reader->diag) > errors) return true;
    if (!set_words(list, &job.line, &words)) return false;
    return job.line.array[0] ? add_array(list, &job, &columns, &words)
                             : add_row(list, &job, &columns, job.id, &words);
}

/* ---- the list ---- */

/* False: memory is out. */
static bool read_all(struct job_list *list)
{
    struct key_reader *reader = list->reader;
    FILE *resolved = reader->resolved;
    bool good = true;
    reader->resolved = NULL; /* a line for each key of each job would be longer than all the rest */
    for (const struct yaml_node *node = list->node->first; node && good; node = node->next) {
        char shown[32];
        if (diag_error_count(reader->diag) >= LIMIT_DIAG_PROBLEMS) break;
        snprintf(shown, sizeof shown, "jobs[%" PRIu32 "].", list->job_count++);
        if (node->kind != YAML_MAP) {
            key_wrong_kind(reader, "jobs", node, "a mapping for each job");
            continue;
        }
        const size_t length = key_enter(reader, shown);
        good = read_job(list, node);
        key_leave(reader, length);
    }
    if (good) check_all_dependencies(list);
    reader->resolved = resolved;
    return good;
}

static void finish(struct job_list *list, const struct key_found *found)
{
    struct scenario *scenario = reading_of(list->reader)->scenario;
    char shown[64];
    scenario->jobs = calloc(1, sizeof *scenario->jobs);
    if (scenario->jobs == NULL || trace_rows_finish(&list->rows, scenario->jobs) != STATUS_OK) {
        diag_world(list->reader->diag, "%s: out of memory", scenario->path);
        return;
    }
    scenario->jobs->once = true;
    snprintf(shown, sizeof shown, "%" PRIu32 " jobs in %" PRIu32 " rows", list->job_count,
             scenario->jobs->count);
    key_show(list->reader, "jobs", shown, found->node, NULL);
}

static void check_no_trace(struct key_reader *reader, const struct key_found *found)
{
    if (reading_of(reader)->scenario->trace_path[0] != '\0')
        diag_error(reader->diag, yaml_key_place(found->node),
                   "jobs: workload.trace.file gives the jobs already; keep one of them");
    if (found->node->kind != YAML_LIST || found->node->child_count == 0)
        key_wrong_kind(reader, "jobs", found->node, "a list of jobs");
}

void read_jobs(struct key_reader *reader, const struct key_found *found)
{
    const uint64_t errors = diag_error_count(reader->diag);
    if (found->node == NULL) return;
    check_no_trace(reader, found);
    if (diag_error_count(reader->diag) > errors) return;
    /* Columns are made as those of a log are; ids and places are looked after here. */
    static const struct trace_options options = { .renumber = true };
    const struct input input = { .name = reading_of(reader)->scenario->path };
    struct import_report report = { 0 };
    struct job_list list = { .reader = reader, .node = found->node };
    bool good = trace_rows_init(&list.rows, &input, &options, &report, reader->diag) == STATUS_OK;
    list.rows.keeps_clock = true;
    good = good && read_all(&list);
    if (!good) diag_world(reader->diag, "%s: out of memory", reading_of(reader)->scenario->path);
    if (diag_error_count(reader->diag) == errors) finish(&list, found);
    trace_rows_clear(&list.rows);
    forget_ids(&list);
}
