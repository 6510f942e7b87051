/* tables.h - a comparison as people read it below the verdict: one line per layout, then a table per layout. At most 100
 * columns. */
#ifndef GPUPLAN_REPORT_TABLES_H
#define GPUPLAN_REPORT_TABLES_H

#include "report/compare.h"

#include <stdio.h>

/* One line per layout: load, yield, utilization, wait, completion, blast, losses. Waits are over the jobs that every
 * layout can hold. */
void tables_overview(const struct comparison *comparison, FILE *out);

/* A table per layout: value ± half width at 95 %, and the difference to the baseline with its joint interval. Every row of
 * a quantity has one unit and one number of decimals on all layouts. What is 0 on all of them is left out, but for yield,
 * utilization, incidents, lost and unserved work. */
void tables_layouts(const struct comparison *comparison, FILE *out);

/* What ± and brackets mean. */
void tables_notes(const struct comparison *comparison, FILE *out);

/* Part of a layout's table (tables_times.c): wait and completion, one line per size class. p50 and p95 are those of the
 * layout's own jobs, differences to the baseline over the jobs that every layout can hold. Of a layout that is asked for
 * more than it has nothing is quoted. */
void tables_times(const struct comparison *comparison, FILE *out, uint32_t layout);

#endif
