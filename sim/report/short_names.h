/* short_names.h - names of layouts for columns that are too narrow for them: cut so that no two look alike. */
#ifndef GPUPLAN_REPORT_SHORT_NAMES_H
#define GPUPLAN_REPORT_SHORT_NAMES_H

#include "report/compare.h"

struct short_names {
    char name[LIMIT_LAYOUTS * LIMIT_SLACKS][LABEL_BYTES]; /* [layout_count] safe for a terminal */
    bool numbered; /* they begin with numbers, 1 for the first layout                          */
};

/* Names of at most `columns` characters (8 and more), with the slack where layouts run under several. What fits stays. All others
 * are cut at their end; where that makes two alike, in the middle; and where that does too, numbered. */
void short_names_make(const struct comparison *comparison, unsigned columns,
                      struct short_names *names);

#endif
