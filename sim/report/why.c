/* why.c - see why.h: finds the layout, the replica and the job. */
#include "report/why.h"

#include "base/quantity.h"
#include "base/text.h"
#include "report/why_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const char *path;
    const struct why_options *options;
    struct stored stored;
    const struct stored_layout *layout;
    const struct stored_replica *replica;
    struct store_detail *detail;
    struct diag *diag;
};

/* ---- which layout ---- */

static enum status unknown_layout(const struct asked *asked)
{
    const char *names[LIMIT_LAYOUTS * LIMIT_SLACKS];
    char shown[LIMIT_NAME_BYTES];
    for (uint32_t i = 0; i < asked->stored.layout_count; i++)
        names[i] = asked->stored.layouts[i].name;
    const char *name = asked->options->layout;
    char near_shown[LIMIT_NAME_BYTES] = "";
    const char *near = text_nearest(name, names, asked->stored.layout_count);
    text_escape(name, strlen(name), shown, sizeof shown);
    if (near) text_escape(near, strlen(near), near_shown, sizeof near_shown);
    return diag_usage(asked->diag, "no layout '%s' in %s%s%s%s", shown, asked->path,
                      near ? "; did you mean '" : "", near_shown, near ? "'?" : "");
}

static enum status read_slack(const struct asked *asked, int64_t *slack)
{
    const char *text = asked->options->slack;
    struct why why;
    *slack = -1;
    if (strcmp(text, "any") == 0) return STATUS_OK;
    if (quantity_count(text, strlen(text), slack, &why) && *slack >= 0) return STATUS_OK;
    return diag_usage(asked->diag, "why: --slack is a number of nodes or 'any', got '%s'", text);
}

static enum status find_layout(struct asked *asked)
{
    int64_t slack = 0;
    bool has_name = false;
    if (asked->options->slack != NULL) TRY(read_slack(asked, &slack));
    for (uint32_t i = 0; i < asked->stored.layout_count && asked->layout == NULL; i++) {
        const struct stored_layout *row = &asked->stored.layouts[i];
        const char *name = asked->options->layout;
        if (name != NULL ? strcmp(row->name, name) != 0 : !row->is_baseline) continue;
        has_name = true;
        if (asked->options->slack == NULL || row->slack == slack) asked->layout = row;
    }
    if (asked->layout != NULL) return STATUS_OK;
    if (!has_name && asked->options->layout != NULL) return unknown_layout(asked);
    return diag_usage(asked->diag, "that layout was not run with slack %s",
                      asked->options->slack != NULL ? asked->options->slack : "0");
}

static const char *shown_layout(const struct asked *asked, char out[LIMIT_NAME_BYTES])
{
    const char *name = asked->layout->name;
    return text_escape(name, strlen(name), out, LIMIT_NAME_BYTES);
}

static uint32_t id_of(const struct asked *asked, const struct stored_layout *layout)
{
    return (uint32_t)(layout - asked->stored.layouts);
}

static const struct stored_replica *find_replica(const struct asked *asked,
                                                 const struct stored_layout *layout)
{
    const struct stored_replica *rows =
        LOG_ITEMS(&asked->stored.replicas, const struct stored_replica);
    for (uint64_t i = 0; i < asked->stored.replicas.count; i++)
        if (rows[i].layout == id_of(asked, layout) &&
            rows[i].replica == (int32_t)asked->options->replica)
            return &rows[i];
    return NULL;
}

/* The detail of the layout, which must be there. */
static enum status open_detail(struct asked *asked)
{
    uint64_t jobs = 0;
    char name[LIMIT_NAME_BYTES];
    asked->replica = find_replica(asked, asked->layout);
    if (asked->replica == NULL)
        return diag_usage(asked->diag, "%s has no replica %" PRIu32 " of %s", asked->path,
                          asked->options->replica, shown_layout(asked, name));
    TRY(store_detail_open(asked->path, id_of(asked, asked->layout), asked->options->replica,
                          &asked->detail, asked->diag));
    TRY(store_detail_count(asked->detail, &jobs));
    if (jobs > 0) return STATUS_OK;
    const char *kept = stored_meta(&asked->stored, "detail");
    return diag_usage(asked->diag,
                      "replica %" PRIu32 " was run without detail of its jobs (detail: %s); run "
                      "again with detail: %s",
                      asked->options->replica, kept != NULL ? kept : "none",
                      asked->options->replica == 0 ? "first" : "all");
}

/* ---- which job ---- */

/* Resampled days repeat the ids of the trace. */
static enum status ask_for_serial(struct asked *asked, const struct log *jobs, FILE *out)
{
    const struct detail_job *rows = LOG_ITEMS(jobs, const struct detail_job);
    struct why_story *stories = calloc(jobs->count, sizeof *stories);
    enum status status = stories != NULL ? STATUS_OK : diag_world(asked->diag, "out of memory");
    for (uint64_t i = 0; status == STATUS_OK && i < jobs->count; i++) {
        stories[i] = (struct why_story){ .detail = asked->detail,
                                         .layout = asked->layout,
                                         .replica = asked->options->replica,
                                         .run_end_ns = asked->replica->run_end_ns,
                                         .job = rows[i] };
        status = why_story_waits(&stories[i], asked->diag);
    }
    if (status == STATUS_OK && asked->options->json)
        status = why_list_json(stories, jobs->count, out, asked->diag);
    else if (status == STATUS_OK)
        why_list_text(stories, jobs->count, out);
    for (uint64_t i = 0; stories != NULL && i < jobs->count; i++) why_story_clear(&stories[i]);
    free(stories);
    return status;
}

static enum status find_jobs(struct asked *asked, const char *name, struct log *jobs)
{
    char shown[128], layout[LIMIT_NAME_BYTES];
    text_escape(name, strlen(name), shown, sizeof shown);
    if (!asked->options->by_serial) {
        TRY(store_detail_by_id(asked->detail, name, jobs));
    } else {
        int64_t serial;
        struct why why;
        if (!quantity_count(name, strlen(name), &serial, &why) || serial < 0 || serial > UINT32_MAX)
            return diag_usage(asked->diag, "why: with --serial JOB is a number, got '%s'", shown);
        TRY(store_detail_by_serial(asked->detail, (uint32_t)serial, jobs));
    }
    if (jobs->count > 0) return STATUS_OK;
    return diag_usage(asked->diag,
                      "no job %s%s in replica %" PRIu32 " of %s; --longest N lists some",
                      asked->options->by_serial ? "of serial " : "", shown, asked->options->replica,
                      shown_layout(asked, layout));
}

/* The same arrival on the other layouts of this slack. */
static enum status look_elsewhere(struct asked *asked, const struct detail_job *job,
                                  struct why_elsewhere *elsewhere, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < asked->stored.layout_count && *count < WHY_ELSEWHERE_MAX; i++) {
        const struct stored_layout *layout = &asked->stored.layouts[i];
        const struct stored_replica *replica = find_replica(asked, layout);
        if (layout == asked->layout || layout->slack != asked->layout->slack || replica == NULL)
            continue;
        struct store_detail *detail;
        struct log jobs = { 0 };
        TRY(store_detail_open(asked->path, i, asked->options->replica, &detail, asked->diag));
        const enum status status = store_detail_by_serial(detail, job->serial, &jobs);
        if (status == STATUS_OK && jobs.count == 1) {
            const struct detail_job *row = LOG_ITEMS(&jobs, const struct detail_job);
            const bool started = row->first_start_ns < INT64_MAX;
            const int64_t end_ns = row->end_ns < INT64_MAX ? row->end_ns : replica->run_end_ns;
            const bool rejected = strcmp(row->outcome, "rejected") == 0;
            elsewhere[(*count)++] = (struct why_elsewhere){
                .layout = layout,
                .started = started,
                .wait_ns =
                    rejected ? -1 : (started ? row->first_start_ns : end_ns) - row->submit_ns,
            };
        }
        log_clear(&jobs);
        store_detail_close(detail);
        TRY(status);
    }
    return STATUS_OK;
}

static enum status tell_job(struct asked *asked, const struct detail_job *job, FILE *out)
{
    struct why_elsewhere elsewhere[WHY_ELSEWHERE_MAX];
    uint32_t count;
    TRY(look_elsewhere(asked, job, elsewhere, &count));
    struct why_story story;
    enum status status =
        why_story_read(&story, asked->detail, asked->layout, asked->replica, job, asked->diag);
    if (status == STATUS_OK && asked->options->json)
        status = why_json(&story, elsewhere, count, out, asked->diag);
    else if (status == STATUS_OK)
        why_text(&story, elsewhere, count, out);
    why_story_clear(&story);
    return status;
}

static enum status answer(struct asked *asked, const char *job, FILE *out)
{
    TRY(find_layout(asked));
    TRY(open_detail(asked));
    struct log jobs = { 0 };
    enum status status = asked->options->longest > 0
                             ? store_detail_longest(asked->detail, asked->options->longest, &jobs)
                             : find_jobs(asked, job, &jobs);
    const bool is_list = asked->options->longest > 0 || jobs.count > 1;
    if (status == STATUS_OK && is_list) status = ask_for_serial(asked, &jobs, out);
    if (status == STATUS_OK && is_list && asked->options->longest == 0 && !asked->options->json)
        fputs("Several arrivals bear this id: gpuplan why DB SERIAL --serial tells of one.\n", out);
    if (status == STATUS_OK && !is_list)
        status = tell_job(asked, LOG_ITEMS(&jobs, const struct detail_job), out);
    log_clear(&jobs);
    return status;
}

enum status why_print(const char *db_path, const char *job, FILE *out,
                      const struct why_options *options, struct diag *diag)
{
    struct asked asked = { .path = db_path, .options = options, .diag = diag };
    enum status status = store_read(db_path, &asked.stored, diag);
    if (status == STATUS_OK) status = answer(&asked, job, out);
    store_detail_close(asked.detail);
    stored_clear(&asked.stored);
    return status;
}
