/* cmd_trace.c - gpuplan trace info | convert | synth */
#include "cli/commands.h"
#include "cli/trace_command.h"

#include "io/trace_read.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const struct option_row options[] = {
    { "--output", 'o', "FILE", "standard output", "convert, synth: where the CSV goes", false },
    { "--csv-safe", 0, NULL, NULL, "convert: ' before texts that spreadsheets would run", false },
    { "--format", 0, "F", "by content", "gpuplan, swf, itp, philly or openb", false },
    { "--tz", 0, "ZONE", "philly: US Pacific",
      "zone of wall-clock times, as -07:00 or Europe/Berlin", false },
    { "--strict", 0, NULL, NULL, "refuse a log with rows to skip or repair", false },
    { "--renumber", 0, NULL, NULL, "number the jobs anew; ids may then repeat", false },
    { "--gpus", 0, "N", NULL, "info: clusters to state the load for; synth: the cluster (256)",
      true },
    { "--json", 0, NULL, NULL, "info: as JSON", false },
    { "--seed", 0, "N", "1", "synth: of all draws", false },
    { "--days", 0, "N", "30", "synth: of submissions, from a Monday on", false },
    { "--load", 0, "X", "0.8", "synth: GPU-seconds asked for per GPU-second", false },
    { "--sizes", 0, "LIST", "Philly and Helios like",
      "synth: gpus:share:median of long runs, as 1:0.7:1h,8:0.3:8h", false },
    { "--sigma", 0, "X", "1.5", "synth: log-sd of long runs", false },
    { "--short", 0, "LIST", "0.45:2m:1.2", "synth: share:median:log-sd of short runs", false },
    { "--longest", 0, "TIME", "7d", "synth: longer runs are cut to this", false },
    { "--rhythm", 0, "LIST", "0.4:0.6", "synth: arrivals at night : on weekends, per busy hour",
      false },
    { "--users", 0, "LIST", "60:1", "synth: number:skew of their jobs", false },
    { NULL, 0, NULL, NULL, NULL, false },
};

enum status trace_command_options(const struct cli *cli, struct trace_options *out)
{
    static const char *const names[] = { "gpuplan", "swf", "itp", "philly", "openb" };
    static const enum trace_format formats[] = { TRACE_GPUPLAN, TRACE_SWF, TRACE_ITP, TRACE_PHILLY,
                                                 TRACE_OPENB };
    const char *const format = cli_value(cli, "--format");
    *out = (struct trace_options){
        .zone = cli_value(cli, "--tz"),
        .strict = cli_has(cli, "--strict"),
        .renumber = cli_has(cli, "--renumber"),
    };
    if (format == NULL || strcmp(format, "auto") == 0) return STATUS_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(format, names[i]) == 0) {
            out->format = formats[i];
            return STATUS_OK;
        }
    return diag_usage(cli->diag,
                      "trace: unknown format '%s'; known are gpuplan, swf, itp, philly, openb",
                      format);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat info_a, info_b;
    return stat(a, &info_a) == 0 && stat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
           info_a.st_ino == info_b.st_ino;
}

/* Comment lines of the converted file: where it comes from and what was left out. */
static void describe_import(const struct import_report *report, char *out, size_t out_bytes)
{
    int used =
        snprintf(out, out_bytes,
                 "gpuplan " GPUPLAN_VERSION " trace convert, from a log in format %s\n"
                 "digest of the log %016" PRIx64 ", first submission %s%s%s\n"
                 "rows read %" PRIu64 ", imported %" PRIu64 "\n",
                 report->format, report->digest, report->origin, report->zone[0] ? ", zone " : "",
                 report->zone, report->rows_read, report->imported);
    for (uint32_t i = 0; i < report->skipped_count && used > 0 && (size_t)used < out_bytes; i++)
        used += snprintf(out + used, out_bytes - (size_t)used, "skipped %" PRIu64 ": %s\n",
                         report->skipped[i].rows, report->skipped[i].reason);
}

static enum status trace_convert(const struct cli *cli)
{
    const char *const in = cli->operands[1];
    const char *const out = cli_has(cli, "--output") ? cli_value(cli, "--output") : "-";
    struct trace_options read_options;
    struct import_report report;
    struct jobs jobs;
    char header[8192];
    TRY(trace_command_options(cli, &read_options));
    if (is_same_file(in, out))
        return diag_usage(cli->diag, "trace convert: %s would be written over itself", in);
    enum status status = trace_read(in, &read_options, &jobs, &report, cli->diag);
    if (status == STATUS_OK) {
        describe_import(&report, header, sizeof header);
        const struct trace_form form = { header, cli_has(cli, "--csv-safe") };
        status = trace_write(out, &jobs, &form, cli->diag);
    }
    jobs_clear(&jobs);
    return status;
}

static enum status run(struct cli *cli)
{
    const char *const what = cli->operands[0];
    const bool is_synth = strcmp(what, "synth") == 0;
    if (!is_synth && strcmp(what, "info") != 0 && strcmp(what, "convert") != 0)
        return diag_usage(cli->diag, "trace: unknown action '%s'; known are info, convert, synth",
                          what);
    if (is_synth && cli->operand_count != 1)
        return diag_usage(cli->diag, "trace synth: reads no file; -o names the output");
    if (is_synth) return trace_synth(cli);
    if (cli->operand_count != 2) return diag_usage(cli->diag, "trace %s: name the job log", what);
    return strcmp(what, "info") == 0 ? trace_info(cli) : trace_convert(cli);
}

const struct command command_trace = {
    .name = "trace",
    .operands = "info FILE | convert FILE | synth",
    .words = "info|convert|synth",
    .summary = "read a job log with a verdict, convert, or make one up",
    .options = options,
    .operands_min = 1,
    .operands_max = 2,
    .examples = { "gpuplan trace info cluster03.csv.gz --gpus 128 --gpus 256",
                  "gpuplan trace synth --gpus 64 --days 14 --load 0.9 -o fortnight.csv" },
    .run = run,
};
