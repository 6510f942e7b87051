/* compare_parts.h - what the files of a comparison share. */
#ifndef GPUPLAN_REPORT_COMPARE_PARTS_H
#define GPUPLAN_REPORT_COMPARE_PARTS_H

#include "report/compare.h"

/* Fills c->load and c->needs, [layout_count]. */
void comparison_fill_loads(struct comparison *c);

/* Fills c->blasts, [layout_count][BLAST_ROWS]. */
enum status comparison_fill_blasts(struct comparison *c, struct diag *diag);

#endif
