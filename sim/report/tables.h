/* tables.h - a comparison as people read it: the verdict, one line per layout, then a table per layout. */
#ifndef GPUPLAN_REPORT_TABLES_H
#define GPUPLAN_REPORT_TABLES_H

#include "report/compare.h"

#include <stdio.h>

/* One line per layout: load, yield, utilization, wait, completion, blast, losses. */
void tables_overview(const struct comparison *comparison, FILE *out);

/* A table per layout: value +- half width at 95 %, and the difference to the baseline with its joint interval. Every
 * row of a quantity has one unit and one number of decimals on all layouts. */
void tables_layouts(const struct comparison *comparison, FILE *out);

#endif
