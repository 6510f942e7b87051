/* compare_json.h - a comparison as one JSON object, every number of it. Missing numbers are null. */
#ifndef GPUPLAN_REPORT_COMPARE_JSON_H
#define GPUPLAN_REPORT_COMPARE_JSON_H

#include "report/moves.h"

#include <stdio.h>

/* {"version", "scenario", "complete", "exact", "common_jobs", "replicas", "confidence", "confidence_difference",
 *  "verdict": text,
 *  "layouts": [{"name", "slack", "baseline", "gpus", "offered_load", "effective_load", ..., "blast": {component: {...}},
 *               "completion_large": {"relative", "half", "pairs"} or null}],
 *  "moves": [{"axis", "factor", "mark", "replicas", "yield": {"turn", "turned", "layout"}, "completion_large": the same,
 *             "layouts": [{"name", "yield", "half", "difference", "difference_half", "effective_load",
 *                          "completion_large": {"relative", "half", "pairs"} or null}]}] (of the first slack),
 *  "metrics": [{"name", "class", "unit", "layouts": [{"mean", "half", "n", "missing", "difference", ...}]}]} */
enum status compare_json(const struct comparison *comparison, const struct moves *moves, FILE *out,
                         struct diag *diag);

#endif
