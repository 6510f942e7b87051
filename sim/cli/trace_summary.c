/* trace_summary.c - sums, quantiles and the peak of a job log. */
#include "cli/trace_summary.h"

#include "base/clock.h"
#include "base/int128.h"
#include "base/sort.h"
#include "models/statistics.h"

#include <stdlib.h>
#include <string.h>

const char *const size_class_names[SIZE_ROWS] = { "1", "2-7", "8-15", "16-63", "64+", "all" };

/* Room for one number of each job, four times. */
struct scratch {
    uint64_t *key;
    int64_t *a, *b;
    double *seconds;
};

static uint32_t size_class(uint32_t gpus)
{
    return gpus < 2 ? 0 : gpus < 8 ? 1 : gpus < 16 ? 2 : gpus < 64 ? 3 : 4;
}

static void summarize_sizes(const struct jobs *jobs, struct scratch *scratch,
                            struct trace_summary *summary)
{
    for (uint32_t row = 0; row < SIZE_ROWS; row++) {
        struct size_summary *const size = &summary->size[row];
        int128 gpu_milli_ns = 0;
        for (uint32_t i = 0; i < jobs->count; i++) {
            if (row != SIZE_ALL && size_class(jobs->gpus[i]) != row) continue;
            scratch->a[size->jobs++] = jobs->duration_ns[i];
            gpu_milli_ns += (int128)jobs_gpu_milli(jobs, i) * jobs->duration_ns[i];
        }
        size->gpu_s = (double)gpu_milli_ns / 1e12;
        if (size->jobs == 0) continue;
        sort_int64(scratch->a, scratch->b, size->jobs);
        for (uint32_t i = 0; i < size->jobs; i++) scratch->seconds[i] = s_from_ns(scratch->a[i]);
        size->p50_s = quantile7(scratch->seconds, size->jobs, 0.50);
        size->p90_s = quantile7(scratch->seconds, size->jobs, 0.90);
        size->p99_s = quantile7(scratch->seconds, size->jobs, 0.99);
    }
}

/* Ends come before submissions at one instant; jobs that end at once use nothing. */
static uint64_t peak_gpus(const struct jobs *jobs, struct scratch *scratch)
{
    uint32_t *const order = (uint32_t *)scratch->a, *const spare = (uint32_t *)scratch->b;
    for (uint32_t i = 0; i < jobs->count; i++) {
        order[i] = i;
        scratch->key[i] = (uint64_t)time_add(jobs->submit_ns[i], jobs->duration_ns[i]);
    }
    sort_rows(order, spare, jobs->count, scratch->key);
    uint64_t used = 0, peak = 0;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < jobs->count; i++) {
        for (; ended < jobs->count && scratch->key[order[ended]] <= (uint64_t)jobs->submit_ns[i];
             ended++)
            if (jobs->duration_ns[order[ended]] > 0) used -= jobs_gpu_milli(jobs, order[ended]);
        if (jobs->duration_ns[i] > 0) used += jobs_gpu_milli(jobs, i);
        if (used > peak) peak = used;
    }
    return (peak + 999) / 1000;
}

static enum status summarize_days(const struct jobs *jobs, struct trace_summary *summary,
                                  struct diag *diag)
{
    const int64_t last_ns = jobs->submit_ns[jobs->count - 1];
    summary->day_count = (uint32_t)(last_ns / NS_PER_DAY) + 1;
    summary->day = calloc(summary->day_count, sizeof *summary->day);
    if (summary->day == NULL) return diag_world(diag, "not enough memory for the days of the log");
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct day_summary *const day = &summary->day[jobs->submit_ns[i] / NS_PER_DAY];
        day->jobs++;
        day->gpu_s += (double)jobs_gpu_milli(jobs, i) / 1000 * s_from_ns(jobs->duration_ns[i]);
    }
    const uint32_t whole = summary->day_count > 1 ? summary->day_count - 1 : 1;
    summary->day_jobs_least = UINT32_MAX;
    for (uint32_t i = 0; i < whole; i++) {
        const uint32_t here = summary->day[i].jobs;
        if (here < summary->day_jobs_least) summary->day_jobs_least = here;
        if (here > summary->day_jobs_most) summary->day_jobs_most = here;
    }
    return STATUS_OK;
}

/* Names are stored once, so different names are different offsets. */
static uint32_t different_names(const uint32_t *name, uint32_t count, struct scratch *scratch)
{
    uint32_t different = 0;
    if (name == NULL) return 0;
    for (uint32_t i = 0; i < count; i++) scratch->a[i] = name[i];
    sort_int64(scratch->a, scratch->b, count);
    for (uint32_t i = 0; i < count; i++)
        different += scratch->a[i] != TEXT_NONE && (i == 0 || scratch->a[i] != scratch->a[i - 1]);
    return different;
}

static void summarize_rest(const struct jobs *jobs, struct scratch *scratch,
                           struct trace_summary *summary)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        if (jobs->gpus[i] > summary->gpus_most) summary->gpus_most = jobs->gpus[i];
        if (jobs->limit_ns[i] == JOB_NO_LIMIT) continue;
        summary->limits++;
        summary->over_limit += jobs->duration_ns[i] > jobs->limit_ns[i];
    }
    summary->span_s = s_from_ns(jobs->submit_ns[jobs->count - 1]);
    if (summary->span_s > 0) summary->load_gpus = summary->size[SIZE_ALL].gpu_s / summary->span_s;
    summary->peak_gpus = peak_gpus(jobs, scratch);
    summary->users = different_names(jobs->user, jobs->count, scratch);
    summary->models = different_names(jobs->model, jobs->count, scratch);
}

enum status trace_summarize(const struct jobs *jobs, struct trace_summary *summary,
                            struct diag *diag)
{
    *summary = (struct trace_summary){ 0 };
    if (jobs->count == 0) return STATUS_OK;
    struct scratch scratch = {
        .key = malloc(jobs->count * sizeof *scratch.key),
        .a = malloc(jobs->count * sizeof *scratch.a),
        .b = malloc(jobs->count * sizeof *scratch.b),
        .seconds = malloc(jobs->count * sizeof *scratch.seconds),
    };
    enum status status = STATUS_OK;
    if (!scratch.key || !scratch.a || !scratch.b || !scratch.seconds) {
        status = diag_world(diag, "not enough memory to summarize the log");
    } else {
        summarize_sizes(jobs, &scratch, summary);
        summarize_rest(jobs, &scratch, summary);
        status = summarize_days(jobs, summary, diag);
    }
    free(scratch.key);
    free(scratch.a);
    free(scratch.b);
    free(scratch.seconds);
    return status;
}

void trace_summary_clear(struct trace_summary *summary)
{
    free(summary->day);
    *summary = (struct trace_summary){ 0 };
}
