/* trace_read.c - opens a job log, finds out what it is, and hands it to its reader. */
#include "io/trace_read.h"

#include "io/input.h"
#include "io/trace_formats.h"

#include <inttypes.h>
#include <stdio.h>

static enum status read_rows(struct trace_rows *rows)
{
    const enum trace_format format = rows->options->format;
    if (format == TRACE_SWF || (format == TRACE_AUTO && trace_is_swf(rows->input)))
        return trace_read_swf(rows);
    if (rows->options->drop_failed)
        return diag_error(rows->diag, (struct place){ .file = rows->input->name },
                          "workload.trace.failed: drop: no column that is read says which jobs "
                          "failed; SWF has one");
    if (format == TRACE_OPENB || (format == TRACE_AUTO && trace_is_openb(rows->input)))
        return trace_read_openb(rows);
    return trace_read_csv(rows, format);
}

/* A log of which nothing is left is no log; one that has a header and no rows is (P65). */
static enum status check_something_left(const struct trace_rows *rows)
{
    const struct import_report *const report = rows->report;
    if (report->imported > 0 || report->rows_read == 0) return STATUS_OK;
    return diag_error(rows->diag, (struct place){ .file = rows->input->name },
                      "none of its %" PRIu64 " rows can be used", report->rows_read);
}

static enum status read_input(struct input *input, const struct trace_options *options,
                              struct jobs *jobs, struct import_report *report, struct diag *diag)
{
    struct trace_rows rows;
    const uint64_t errors_before = diag_error_count(diag);
    enum status status = trace_rows_init(&rows, input, options, report, diag);
    if (status == STATUS_OK) status = read_rows(&rows);
    if (status == STATUS_OK) {
        trace_rows_warn(&rows);
        status = check_something_left(&rows);
    }
    /* Strict readers go on to collect all problems. */
    if (status == STATUS_OK && diag_error_count(diag) > errors_before) status = STATUS_INPUT;
    if (status == STATUS_OK) status = trace_rows_finish(&rows, jobs);
    trace_rows_clear(&rows);
    return status;
}

enum status trace_read(const char *path, const struct trace_options *options, struct jobs *jobs,
                       struct import_report *report, struct diag *diag)
{
    struct input input;
    *jobs = (struct jobs){ 0 };
    *report = (struct import_report){ 0 };
    enum status status = input_read(path, &input, diag);
    snprintf(report->source, sizeof report->source, "%s", input.name);
    if (status == STATUS_OK) {
        report->digest = input.digest;
        if (input.byte_count == 0)
            status = diag_error(diag, (struct place){ .file = input.name }, "is empty");
        else
            status = read_input(&input, options, jobs, report, diag);
    }
    input_clear(&input);
    return status;
}
