/* verdict.h - the first lines of every report: what a planner can act on, and what it rests on (DESIGN 1).
 *
 * Only what the numbers carry is said: a difference whose interval holds 0 reads "cannot tell", one replica has no
 * interval unless nothing is drawn by chance, and where a layout is asked for more than it has, waits and completion
 * are not quoted. */
#ifndef GPUPLAN_REPORT_VERDICT_H
#define GPUPLAN_REPORT_VERDICT_H

#include "report/group.h"
#include "report/moves.h"

#include <stdio.h>

/* Writes the verdict as paragraphs of one line each: the answer, what moves it, what it rests on. Names are made safe
 * for a terminal (P95). */
void verdict_write(const struct comparison *comparison, const struct moves *moves, FILE *out);

/* Its sentences about time (verdict_service.c) and about unserved jobs and faults (verdict_faults.c), each with a blank
 * in front. */
void verdict_completion(const struct group *group);
void verdict_waits(const struct group *group);
void verdict_saturation(const struct group *group);
void verdict_stuck(const struct group *group);
void verdict_unserved(const struct group *group);
void verdict_turned_away(const struct group *group);
void verdict_faults(const struct group *group);

#endif
