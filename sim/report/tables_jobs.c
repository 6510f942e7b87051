/* tables_jobs.c - see tables_jobs.h. */
#include "report/tables_jobs.h"

#include "base/text.h"
#include "io/store_jobs.h"
#include "report/prose.h"
#include "report/short_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ID_COLUMNS = 24, GPU_COLUMNS = 6, TIME_COLUMNS = 17, BLOCK = 4 };

struct job_times {
    char id[LIMIT_NAME_BYTES];
    uint32_t gpus;
    double took_s[LIMIT_LAYOUTS * LIMIT_SLACKS]; /* infinite: not ended           */
};

struct times {
    struct job_times *jobs; /* [JOBS_MOST + 1]: one more tells that there are more */
    uint32_t count[LIMIT_LAYOUTS * LIMIT_SLACKS];
};

static void add_job(const struct stored_job *job, void *with)
{
    struct times *times = with;
    struct job_times *row = &times->jobs[job->row];
    if (job->layout == 0) {
        text_escape(job->id, strlen(job->id), row->id, sizeof row->id);
        row->gpus = job->gpus;
    }
    row->took_s[job->layout] = isfinite(job->end_s) ? job->end_s - job->submit_s : HUGE_VAL;
    times->count[job->layout]++;
}

/* All layouts have the same few jobs. */
static bool worth_a_table(const struct comparison *c, const struct times *times)
{
    for (uint32_t i = 0; i < c->layout_count; i++)
        if (times->count[i] != times->count[0]) return false;
    return times->count[0] > 1 && times->count[0] <= JOBS_MOST;
}

static void print_time(FILE *out, double took_s, double base_s, bool compared)
{
    char text[32];
    if (!isfinite(took_s)) {
        fprintf(out, "%*s", TIME_COLUMNS, "-");
        return;
    }
    const int length = snprintf(text, sizeof text, "%.2f", took_s / 3600);
    if (compared && isfinite(base_s) && base_s > 0)
        snprintf(text + length, sizeof text - (size_t)length, " (x%.2f)", took_s / base_s);
    fprintf(out, "%*s", TIME_COLUMNS, text);
}

static void print_block(const struct comparison *c, const struct times *times, uint32_t first,
                        FILE *out)
{
    struct short_names names;
    short_names_make(c, TIME_COLUMNS - 1, &names);
    const uint32_t end = first + BLOCK < c->layout_count ? first + BLOCK : c->layout_count;
    fputc('\n', out);
    prose_pad(out, "completion of each, h", ID_COLUMNS);
    fprintf(out, "%*s", GPU_COLUMNS, "GPUs");
    for (uint32_t i = first; i < end; i++) {
        const char *name = names.name[c->order[i]];
        fprintf(out, "%*s%s", TIME_COLUMNS - (int)prose_columns(name), "", name);
    }
    fputc('\n', out);
    for (uint32_t job = 0; job < times->count[0]; job++) {
        const struct job_times *row = &times->jobs[job];
        prose_pad(out, row->id, ID_COLUMNS);
        fprintf(out, "%*" PRIu32, GPU_COLUMNS, row->gpus);
        for (uint32_t i = first; i < end; i++) {
            const uint32_t layout = c->order[i], base = c->baseline[layout];
            print_time(out, row->took_s[layout], base != LAYOUT_NONE ? row->took_s[base] : NAN,
                       base != layout);
        }
        fputc('\n', out);
    }
}

enum status tables_jobs(const struct comparison *c, const char *db_path, FILE *out,
                        struct diag *diag)
{
    struct times times = { .jobs = calloc(JOBS_MOST + 1, sizeof *times.jobs) };
    if (times.jobs == NULL) return diag_world(diag, "out of memory while reading the jobs");
    const enum status status = store_each_job(db_path, JOBS_MOST + 1, add_job, &times, diag);
    if (status == STATUS_OK && worth_a_table(c, &times))
        for (uint32_t first = 0; first < c->layout_count; first += BLOCK)
            print_block(c, &times, first, out);
    free(times.jobs);
    return status;
}
