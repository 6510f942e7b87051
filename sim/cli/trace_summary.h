/* trace_summary.h - what a planner wants to know of a job log before anything is simulated.
 *
 * Tests: tests/test_trace_summary.c */
#ifndef GPUPLAN_CLI_TRACE_SUMMARY_H
#define GPUPLAN_CLI_TRACE_SUMMARY_H

#include "base/diag.h"
#include "spec/jobs.h"

#include <stdint.h>

/* By GPUs of the job: 1, 2-7, 8-15, 16-63, 64 and more; the last row is all jobs. */
enum { SIZE_CLASSES = 5, SIZE_ALL = SIZE_CLASSES, SIZE_ROWS };
extern const char *const size_class_names[SIZE_ROWS];

struct size_summary {
    uint32_t jobs;
    double gpu_s;                   /* sum of gpus * duration                                  */
    double p50_s, p90_s, p99_s;     /* quantiles (type 7) of the duration; 0 without jobs      */
};

struct day_summary {
    uint32_t jobs;                  /* submitted in the day                                    */
    double gpu_s;                   /* that they ask for                                       */
};

struct trace_summary {
    struct size_summary size[SIZE_ROWS];
    struct day_summary *day;        /* [day_count], from the first submission; owned           */
    uint32_t day_count;
    uint32_t day_jobs_least, day_jobs_most; /* over whole days; all days when none is whole    */
    double span_s;                  /* first to last submission                                */
    double load_gpus;               /* GPU-seconds / span: GPUs busy on average if nothing waits; 0 without a span */
    uint64_t peak_gpus;             /* most GPUs in use if every job started at submission     */
    uint32_t gpus_most;             /* of one job                                              */
    uint32_t limits, over_limit;    /* jobs with a limit; jobs that run past it                */
    uint32_t users, models;         /* different names                                         */
};

/* Refuses only for want of memory. */
enum status trace_summarize(const struct jobs *jobs, struct trace_summary *summary,
                            struct diag *diag);
void trace_summary_clear(struct trace_summary *summary);

#endif
