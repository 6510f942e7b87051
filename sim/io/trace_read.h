/* trace_read.h - a job log in one of the known formats, plain or compressed -> job columns. */
#ifndef GPUPLAN_IO_TRACE_READ_H
#define GPUPLAN_IO_TRACE_READ_H

#include "base/diag.h"
#include "spec/jobs.h"
#include "spec/scenario.h"

struct trace_options {
    enum trace_format format; /* TRACE_AUTO: by content                                           */
    const char *zone;         /* of wall-clock columns without offset; NULL or "" = none given   */
    bool kill_at_limit;       /* SWF: the run time is cut at the requested time by the simulation */
    bool drop_failed;         /* jobs that failed or were cancelled are skipped: SWF, status 0 and 5; refused of logs without states */
    bool strict;              /* every skip and repair is a refusal                               */
    bool renumber;            /* jobs get the ids 1, 2, ... in file order; repeated ids are allowed */
};

/* Reads the whole file; rows end up sorted by submit time, then by line, and the first submits at 0. The report is filled also
 * when rows were skipped. jobs are cleared by jobs_clear, also after a failure. */
enum status trace_read(const char *path, const struct trace_options *options, struct jobs *jobs,
                       struct import_report *report, struct diag *diag);

/* The words of a log's rows against the schedulers of the scenario: partitions, QOSes, accounts and teams must exist. Says
 * once what stands in for cores and memory that the log does not have. */
enum status trace_check_words(const struct scenario *scenario, const struct jobs *jobs,
                              struct diag *diag);

struct trace_form {
    const char *header; /* NULL, or lines that go first as '# ' comments                            */
    bool csv_safe;      /* texts that a spreadsheet would run get a ' in front, and keep it (P94)   */
};

/* Writes jobs in the project's own CSV form. */
enum status trace_write(const char *path, const struct jobs *jobs, const struct trace_form *form,
                        struct diag *diag);

#endif
