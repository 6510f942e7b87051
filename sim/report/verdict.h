/* verdict.h - the first lines of every report: what a planner can act on, and what it rests on (DESIGN 1).
 *
 * Only what the numbers carry is said: a difference whose interval holds 0 reads "cannot tell",
 * one replica has no interval, and above an offered load of 1 waits and completion are not quoted. */
#ifndef GPUPLAN_REPORT_VERDICT_H
#define GPUPLAN_REPORT_VERDICT_H

#include "report/compare.h"

#include <stdio.h>

/* Writes the verdict as paragraphs of one line each: the answer, the other slacks, what it rests on. Names are made
 * safe for a terminal (P95). */
void verdict_write(const struct comparison *comparison, FILE *out);

/* Best layout among those of the slack by mean yield, the baseline first when means are equal; LAYOUT_NONE when no
 * layout has a yield. */
uint32_t verdict_best(const struct comparison *comparison, int32_t slack);

#endif
