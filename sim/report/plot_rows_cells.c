/* plot_rows_cells.c - the rows of a chart as text: each cell of a terminal shows what lies there. */
#include "report/plot_rows_parts.h"

#include <math.h>
#include <string.h>

struct cell_painter {
    struct canvas *canvas;
    const struct geometry *at;
};

static size_t cell_of(const struct row_chart *chart, const struct geometry *at, double value)
{
    const double share = (value - chart->axis.min) / (chart->axis.max - chart->axis.min);
    const double cell = floor(fmin(fmax(share, 0), 1) * (at->bar_x1 - at->bar_x0) + 0.5);
    return cell > CELLS_BAR_MAX ? CELLS_BAR_MAX : (size_t)cell;
}

/* Words beside the ends of the bar, where there is room. */
static void paint_ends(const struct row_chart *chart, const struct row *row,
                       const struct geometry *at, char *run)
{
    const size_t end = cell_of(chart, at, chart->axis.max);
    for (int i = 0; i < 2; i++) {
        const size_t bytes = strlen(row->end[i].text), cell = cell_of(chart, at, row->end[i].at);
        if (i == 0 && bytes + 1 <= cell) memcpy(run + cell - bytes - 1, row->end[i].text, bytes);
        if (i == 1 && cell + 2 + bytes <= end) memcpy(run + cell + 2, row->end[i].text, bytes);
    }
}

static void paint_marks(const struct row_chart *chart, const struct row *row,
                        const struct geometry *at, char *run)
{
    for (uint32_t i = 0; i < chart->mark_count; i++) {
        const struct row_mark *mark = &row->mark[i];
        if (!mark->present) continue;
        const size_t from = cell_of(chart, at, mark->whisker ? mark->lo : mark->at);
        const size_t to = cell_of(chart, at, mark->whisker ? mark->hi : mark->at);
        if (!chart->ticks) memset(run + from, '-', to - from);
        run[cell_of(chart, at, mark->at)] = chart->ticks                      ? '|'
                                            : i == 0 && chart->mark_count > 1 ? 'o'
                                                                              : '*';
    }
}

static void paint_cells(const struct row_chart *chart, const struct row *row, double y, void *with)
{
    const struct cell_painter *painter = with;
    char run[CELLS_BAR_MAX + 2];
    memset(run, ' ', sizeof run);
    double x = chart->axis.min;
    if (chart->zero_name) run[cell_of(chart, painter->at, 0)] = ':';
    for (uint32_t i = 0; i < chart->segment_count; i++) {
        const size_t from = cell_of(chart, painter->at, x);
        x += row->segment[i] > 0 ? row->segment[i] : 0;
        const size_t to = cell_of(chart, painter->at, x);
        if (chart->fills[i].color) memset(run + from, chart->fills[i].glyph, to - from);
    }
    /* On a stacked bar the mark would hide a segment; its number stands beside it. */
    if (chart->segment_count == 0 || chart->stems || chart->ticks)
        paint_marks(chart, row, painter->at, run);
    paint_ends(chart, row, painter->at, run);
    size_t used = sizeof run - 1;
    while (used > 0 && run[used - 1] == ' ') used--;
    run[used] = '\0';
    canvas_text(painter->canvas, painter->at->bar_x0, floor(painter->at->panel_y0 + y), ALIGN_LEFT,
                TEXT_BODY, false, run);
}

void rows_paint_cells(struct canvas *canvas, const struct row_chart *chart,
                      const struct geometry *at)
{
    struct cell_painter painter = { canvas, at };
    rows_each(chart, at, paint_cells, &painter);
}
