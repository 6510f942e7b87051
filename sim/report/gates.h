/* gates.h - promises about metrics that a script can act on: exit 5 when one is broken.
 *
 * A gate names METRIC or METRIC:CLASS: a name of table metric and a size class (all, 1, 2-7, 8-15,
 * 16-63, 64+, or 16+ for both of the last). p95_wait, p95_wait_large, p95_completion and
 * p95_completion_large are short for wait_s_p95, wait_s_p95:16+ and so on. The mean over replicas
 * is held against the bound; with 16+ both classes must pass, so that their common quantile does.
 * A gate of a layout holds for each of its slack variants. A metric that the database does not
 * know is a usage error; one that has no value on the layout fails. */
#ifndef GPUPLAN_REPORT_GATES_H
#define GPUPLAN_REPORT_GATES_H

#include "report/compare.h"

#include <stdio.h>

struct gate_rule {
    char metric[LIMIT_NAME_BYTES], layout[LIMIT_NAME_BYTES];
    double bound;             /* in the metric's unit                                           */
    bool below;               /* the value must be below the bound, else above it               */
    bool or_equal;            /* at the bound it passes                                         */
};

/* Reads "METRIC LAYOUT < VALUE" or "... > VALUE", the form of --fail-if: the rule that is broken when the text is
 * true. VALUE is a number in the metric's unit; times may be written 4h, shares 80%. */
enum status gate_parse(const struct comparison *comparison, const char *text,
                       struct gate_rule *rule, struct diag *diag);

/* The gates stored with the scenario. rules[LIMIT_GATES]; returns their number. */
uint32_t gates_of_scenario(const struct stored *stored, struct gate_rule *rules);

/* Checks the rules, a line each to `out`. STATUS_GATE when one fails, STATUS_INPUT when one cannot be read. */
enum status gates_check(const struct comparison *comparison, const struct gate_rule *rules,
                        uint32_t count, FILE *out, struct diag *diag);

#endif
