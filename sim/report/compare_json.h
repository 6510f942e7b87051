/* compare_json.h - a comparison as one JSON object, every number of it. Missing numbers are null. */
#ifndef GPUPLAN_REPORT_COMPARE_JSON_H
#define GPUPLAN_REPORT_COMPARE_JSON_H

#include "report/compare.h"

#include <stdio.h>

/* {"version", "scenario", "complete", "replicas", "confidence", "confidence_difference", "verdict": text,
 *  "layouts": [{"name", "slack", "baseline", "gpus", ..., "blast": {component: {...}},
 *               "completion_large": {"relative", "half", "pairs"} or null}],
 *  "metrics": [{"name", "class", "unit", "layouts": [{"mean", "half", "n", "missing", "difference", ...}]}]} */
enum status compare_json(const struct comparison *comparison, FILE *out, struct diag *diag);

#endif
