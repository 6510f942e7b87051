/* basis.h - the last paragraph of a verdict: what its intervals cover, and the assumptions it rests on. */
#ifndef GPUPLAN_REPORT_BASIS_H
#define GPUPLAN_REPORT_BASIS_H

#include "report/compare.h"

#include <stdio.h>

/* The sources of luck by name (days of the trace, faults, profiles of jobs), the number of replicas, how communication and
 * failure rates are known. One line. */
void basis_write(const struct comparison *comparison, FILE *out);

#endif
