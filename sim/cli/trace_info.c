/* trace_info.c - gpuplan trace info: the import verdict and what the log asks for. */
#include "cli/trace_command.h"

#include "base/text.h"
#include "cli/trace_summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTERS = 32, SHOWN_BYTES = 256 };

/* Everything that is printed. */
struct info {
    struct import_report report;
    struct trace_summary summary;
    long long gpus[CLUSTERS]; /* of --gpus */
    size_t gpus_count;
};

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static enum status read_clusters(const struct cli *cli, struct info *info)
{
    for (const char *text; (text = cli_nth(cli, "--gpus", info->gpus_count)) != NULL;
         info->gpus_count++) {
        char *end;
        if (info->gpus_count == CLUSTERS)
            return diag_usage(cli->diag, "trace info: more than %d --gpus", CLUSTERS);
        const long long gpus = strtoll(text, &end, 10);
        if (text[0] < '1' || text[0] > '9' || *end != '\0' || gpus > LIMIT_GPUS)
            return diag_usage(cli->diag,
                              "trace info: --gpus must be a whole number from 1 to %d, got '%s'",
                              LIMIT_GPUS, text);
        info->gpus[info->gpus_count] = gpus;
    }
    return STATUS_OK;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* A duration in the unit that fits it. */
static const char *show_s(double s, char out[24])
{
    if (s < 120)
        snprintf(out, 24, "%.3g s", s);
    else if (s < 7200)
        snprintf(out, 24, "%.1f min", s / 60);
    else if (s < 172800)
        snprintf(out, 24, "%.1f h", s / 3600);
    else
        snprintf(out, 24, "%.1f d", s / 86400);
    return out;
}

static void print_reasons(const char *what, const struct import_reason *reasons, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        printf("  %-14s %12" PRIu64 "  %s\n", what, reasons[i].rows, reasons[i].reason);
}

static void print_import(const struct import_report *report)
{
    char source[SHOWN_BYTES], origin[SHOWN_BYTES];
    printf("%s (format %s, digest %016" PRIx64 ")\n",
           text_escape(report->source, strlen(report->source), source, sizeof source),
           report->format, report->digest);
    printf("  %-14s %12" PRIu64 "\n", "rows read", report->rows_read);
    printf("  %-14s %12" PRIu64 "\n", "imported", report->imported);
    print_reasons("skipped", report->skipped, report->skipped_count);
    print_reasons("kept, repaired", report->repaired, report->repaired_count);
    printf("  %-14s %12s%s%s\n", "first submit",
           text_escape(report->origin, strlen(report->origin), origin, sizeof origin),
           report->zone[0] ? "  zone " : "", report->zone);
}

static void print_sizes(const struct trace_summary *summary)
{
    const struct size_summary *const all = &summary->size[SIZE_ALL];
    char p50[24], p90[24], p99[24];
    printf("\n  %-6s %10s %7s %14s %7s %11s %11s %11s\n", "GPUs", "jobs", "", "GPU-hours", "",
           "run p50", "p90", "p99");
    for (int row = 0; row < SIZE_ROWS; row++) {
        const struct size_summary *const size = &summary->size[row];
        if (size->jobs == 0) continue;
        printf("  %-6s %10" PRIu32 " %6.1f%% %14.1f %6.1f%% %11s %11s %11s\n",
               size_class_names[row], size->jobs, 100 * share(size->jobs, all->jobs),
               size->gpu_s / 3600, 100 * share(size->gpu_s, all->gpu_s), show_s(size->p50_s, p50),
               show_s(size->p90_s, p90), show_s(size->p99_s, p99));
    }
}

static void print_load(const struct info *info)
{
    const struct trace_summary *const summary = &info->summary;
    printf("\n  %-24s %.2f days, first to last submission\n", "span", summary->span_s / 86400);
    printf("  %-24s %.1f jobs a day on average, %" PRIu32 " to %" PRIu32 " in a whole day\n",
           "submissions", share(summary->size[SIZE_ALL].jobs, summary->span_s / 86400),
           summary->day_jobs_least, summary->day_jobs_most);
    printf("  %-24s %.2f GPUs busy if nothing waits (GPU-seconds / span)\n", "mean demand",
           summary->load_gpus);
    printf("  %-24s %" PRIu64 " GPUs if every job starts when it is submitted\n", "peak demand",
           summary->peak_gpus);
    printf("  %-24s %" PRIu32 " GPUs\n", "largest job", summary->gpus_most);
    printf("  %-24s %" PRIu32 " jobs have one, %" PRIu32 " run past it\n", "time limits",
           summary->limits, summary->over_limit);
    if (summary->users > 0) printf("  %-24s %" PRIu32 "\n", "users", summary->users);
    if (summary->models > 0) printf("  %-24s %" PRIu32 "\n", "models named", summary->models);
    for (size_t i = 0; i < info->gpus_count; i++)
        printf("  offered load of %-8lld %.4f%s\n", info->gpus[i],
               summary->load_gpus / (double)info->gpus[i],
               summary->gpus_most > info->gpus[i] ? " (the largest job does not fit)" : "");
}

static void print_text(const struct info *info)
{
    print_import(&info->report);
    if (info->report.imported == 0) return;
    print_sizes(&info->summary);
    print_load(info);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *json_count(uint64_t count)
{
    return json_integer((json_int_t)count);
}

/* Texts of files may not be UTF-8: what is not is escaped as on the screen. */
static json_t *json_text(const char *text)
{
    char shown[LIMIT_PATH_BYTES];
    json_t *json = json_string(text);
    return json ? json : json_string(text_escape(text, strlen(text), shown, sizeof shown));
}

static json_t *json_reasons(const struct import_reason *reasons, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "reason", json_text(reasons[i].reason),
                                              "rows", json_count(reasons[i].rows)));
    return list;
}

static json_t *json_import(const struct import_report *report)
{
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, report->digest);
    return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "source",
                     json_text(report->source), "format", report->format, "digest", digest,
                     "rows_read", json_count(report->rows_read), "imported",
                     json_count(report->imported), "skipped",
                     json_reasons(report->skipped, report->skipped_count), "repaired",
                     json_reasons(report->repaired, report->repaired_count), "origin",
                     json_text(report->origin), "zone", report->zone);
}

static json_t *json_sizes(const struct trace_summary *summary)
{
    json_t *list = json_array();
    for (int row = 0; row < SIZE_ROWS; row++) {
        const struct size_summary *const size = &summary->size[row];
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:f, s:f, s:f, s:f}", "gpus", size_class_names[row], "jobs",
                            json_count(size->jobs), "gpu_hours", size->gpu_s / 3600, "run_s_p50",
                            size->p50_s, "run_s_p90", size->p90_s, "run_s_p99", size->p99_s));
    }
    return list;
}

static json_t *json_days(const struct trace_summary *summary)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < summary->day_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:f}", "jobs", json_count(summary->day[i].jobs),
                                        "gpu_hours", summary->day[i].gpu_s / 3600));
    return list;
}

static json_t *json_offered(const struct info *info)
{
    json_t *list = json_array();
    for (size_t i = 0; i < info->gpus_count; i++)
        json_array_append_new(list, json_pack("{s:I, s:f}", "gpus", (json_int_t)info->gpus[i],
                                              "offered_load",
                                              info->summary.load_gpus / (double)info->gpus[i]));
    return list;
}

static enum status print_json(const struct info *info, struct diag *diag)
{
    const struct trace_summary *const summary = &info->summary;
    json_t *all = json_pack("{s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                            "import", json_import(&info->report), "span_s", summary->span_s,
                            "gpu_hours", summary->size[SIZE_ALL].gpu_s / 3600, "mean_demand_gpus",
                            summary->load_gpus, "peak_demand_gpus", json_count(summary->peak_gpus),
                            "largest_job_gpus", json_count(summary->gpus_most), "jobs_with_limit",
                            json_count(summary->limits), "jobs_past_limit",
                            json_count(summary->over_limit), "users", json_count(summary->users),
                            "models", json_count(summary->models), "sizes", json_sizes(summary),
                            "days", json_days(summary), "offered_loads", json_offered(info));
    if (all == NULL) return diag_world(diag, "not enough memory for the JSON text");
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    putchar('\n');
    json_decref(all);
    return STATUS_OK;
}

enum status trace_info(const struct cli *cli)
{
    static struct info info;
    struct trace_options options;
    struct jobs jobs;
    info = (struct info){ 0 };
    TRY(trace_command_options(cli, &options));
    TRY(read_clusters(cli, &info));
    enum status status = trace_read(cli->operands[1], &options, &jobs, &info.report, cli->diag);
    if (status == STATUS_OK) status = trace_summarize(&jobs, &info.summary, cli->diag);
    if (status == STATUS_OK && cli_has(cli, "--json"))
        status = print_json(&info, cli->diag);
    else if (status == STATUS_OK)
        print_text(&info);
    trace_summary_clear(&info.summary);
    jobs_clear(&jobs);
    return status;
}
