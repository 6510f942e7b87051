/* report.h - what `gpuplan compare` prints, and `gpuplan run` at its end. */
#ifndef GPUPLAN_REPORT_REPORT_H
#define GPUPLAN_REPORT_REPORT_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct report_options {
    const char *baseline;        /* name of a layout; NULL = the scenario's                      */
    bool json;
    bool brief;                  /* verdict and overview, without a table per layout             */
    const char *const *fail_if;  /* [fail_if_count] "METRIC LAYOUT < VALUE" (gates.h)            */
    size_t fail_if_count;
};

/* Reads the result database and prints verdict, tables and gates to `out`. STATUS_GATE (5) when a gate of the scenario or
 * of fail_if fails, after everything was printed; STATUS_INPUT for a wrong file, layout or gate. */
enum status report_print(const char *db_path, FILE *out, const struct report_options *options,
                         struct diag *diag);

#endif
