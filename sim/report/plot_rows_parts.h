/* plot_rows_parts.h - what the files of the row chart share: where everything is. */
#ifndef GPUPLAN_REPORT_PLOT_ROWS_PARTS_H
#define GPUPLAN_REPORT_PLOT_ROWS_PARTS_H

#include "report/plot_rows.h"

enum { CELLS_BAR_MIN = 24, CELLS_BAR_MAX = 72 };

/* In units of the canvas. */
struct geometry {
    double width, height;
    double bar_x0, bar_x1; /* the axis           */
    double names_x;        /* names end here     */
    double values_x;       /* values begin here  */
    struct box above;      /* panel above the rows */
    double key_y, panel_y0, panel_y1, axis_y, footer_y;
    double row, heading, gap; /* heights            */
};

/* Calls back for each row with the y of its middle, from the top of the panel. */
typedef void row_visit(const struct row_chart *chart, const struct row *row, double y, void *with);
void rows_each(const struct row_chart *chart, const struct geometry *at, row_visit *visit,
               void *with);

/* All bars and marks as text, for a terminal. */
void rows_paint_cells(struct canvas *canvas, const struct row_chart *chart,
                      const struct geometry *at);

#endif
