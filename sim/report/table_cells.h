/* table_cells.h - how one number stands in a table: unit, decimals, interval, difference to the baseline. */
#ifndef GPUPLAN_REPORT_TABLE_CELLS_H
#define GPUPLAN_REPORT_TABLE_CELLS_H

#include "report/compare.h"

#include <stdio.h>

enum cell_kind { CELL_RATIO, CELL_PERCENT, CELL_SMALL_PERCENT, CELL_TIME, CELL_GPU_H, CELL_COUNT };

/* How the numbers of a row are shown, on all layouts alike. */
struct cell_scale {
    double factor;
    int decimals;
    const char *unit; /* " h", " %", ""                                                         */
    bool exact;       /* nothing is drawn by chance: numbers stand without intervals            */
};

/* Scale for numbers up to `largest`, in the unit of the database. */
struct cell_scale cell_scale(const struct comparison *comparison, double largest,
                             enum cell_kind kind);

/* Largest mean of the quantity over the layouts; 0 for NULL. */
double cell_largest(const struct comparison *comparison, const struct quantity *quantity);

/* The value in the scale; what rounds to zero has no sign. */
double cell_shown(double value, const struct cell_scale *scale);

/* "12.3 ± 0.4", right-aligned in 12 columns up to the ±; "none" without values. */
void cell_value(char *out, size_t out_bytes, const struct interval *value,
                const struct cell_scale *scale);

/* "+1.2 [+0.8, +1.6]", the number right-aligned in `width` columns; "+1.2 ± 0.4" when that does not fit into `columns`;
 * "no pair" without one. */
struct cell_room {
    int width;
    unsigned columns;
};
void cell_difference(char *out, size_t out_bytes, const struct interval *difference,
                     const struct cell_scale *scale, struct cell_room room);

/* Whether the layout has a baseline other than itself. */
bool cell_is_compared(const struct comparison *comparison, uint32_t layout);

#endif
