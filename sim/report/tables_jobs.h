/* tables_jobs.h - how long each job took on each layout, where the jobs are few enough to be read one by one.
 *
 * From the submission to the end in replica 0, and as a multiple of the same job's on the baseline. Nothing is printed when a layout has more than JOBS_MOST jobs, one
 * only, or none in detail. Tests: tests/test_tables.c */
#ifndef GPUPLAN_REPORT_TABLES_JOBS_H
#define GPUPLAN_REPORT_TABLES_JOBS_H

#include "report/compare.h"

#include <stdio.h>

enum { JOBS_MOST = 32 };

/* Reads table job. Failures as those of store_each_job. */
enum status tables_jobs(const struct comparison *comparison, const char *db_path, FILE *out,
                        struct diag *diag);

#endif
