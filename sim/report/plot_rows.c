/* plot_rows.c - see plot_rows.h. */
#include "report/plot_rows_parts.h"

#include <math.h>
#include <string.h>

enum { KEY_ENTRIES = ROW_SEGMENTS + ROW_MARKS + LIMIT_LAYOUTS };
enum { ROW_PX = 21, HEADING_PX = 24 };
enum { ENDS_GAP_PX = 24 }; /* between words behind a bar and the column of values */

static uint32_t key_entries(const struct canvas *canvas, const struct row_chart *chart,
                            struct key_entry *entries)
{
    static const char *const signs[ROW_MARKS] = { "\u25cb", "\u25cf" }; /* open, filled circle */
    static const char stroke[] = "\u2503";
    uint32_t count = 0;
    if (canvas->cells && chart->lines[0]) return 0;
    for (uint32_t i = 0; i < chart->segment_count; i++)
        if (chart->segment_names[i])
            entries[count++] =
                (struct key_entry){ .name = chart->segment_names[i], .fill = &chart->fills[i] };
    for (uint32_t i = 0; i < chart->mark_count; i++) {
        if (!chart->mark_names[i]) continue;
        entries[count] = (struct key_entry){ .name = chart->mark_names[i] };
        snprintf(entries[count++].sign, sizeof entries->sign, "%s",
                 chart->ticks ? stroke : signs[i]);
    }
    for (uint32_t i = 0; i < LIMIT_LAYOUTS && chart->lines[i]; i++)
        entries[count++] =
            (struct key_entry){ .name = chart->groups[0].rows[i].name, .line = chart->lines[i] };
    return count;
}

static double widest_name(const struct canvas *canvas, const struct row_chart *chart)
{
    double widest = 0;
    for (uint32_t g = 0; g < chart->group_count; g++)
        for (uint32_t r = 0; r < chart->groups[g].row_count; r++)
            widest = fmax(
                widest, canvas_text_width(canvas, TEXT_BODY, false, chart->groups[g].rows[r].name));
    return widest;
}

static double widest_value(const struct canvas *canvas, const struct row_chart *chart)
{
    double widest = canvas_text_width(canvas, TEXT_BODY, false, chart->value_heading);
    for (uint32_t g = 0; g < chart->group_count; g++)
        for (uint32_t r = 0; r < chart->groups[g].row_count; r++) {
            const struct row *row = &chart->groups[g].rows[r];
            widest = fmax(widest, canvas_text_width(canvas, TEXT_BODY, row->bold, row->value));
        }
    return widest;
}

static double widest_remark(const struct canvas *canvas, const struct row_chart *chart)
{
    double widest = 0;
    for (uint32_t g = 0; g < chart->group_count; g++)
        for (uint32_t r = 0; r < chart->groups[g].row_count; r++)
            widest = fmax(widest, canvas_text_width(canvas, TEXT_SMALL, false,
                                                    chart->groups[g].rows[r].remark));
    return widest;
}

static double widest_heading(const struct canvas *canvas, const struct row_chart *chart)
{
    double widest = 0;
    for (uint32_t g = 0; g < chart->group_count; g++)
        widest = fmax(widest, canvas_text_width(canvas, TEXT_BODY, true, chart->groups[g].heading));
    return widest;
}

/* Distance of a value from the start of the bar. */
static double place(const struct row_chart *chart, double bar, double value)
{
    return (value - chart->axis.min) / (chart->axis.max - chart->axis.min) * bar;
}

/* Where words beside an end of a bar end, or begin. */
static double end_place(const struct canvas *canvas, const struct row_chart *chart, double bar,
                        const struct row *row, int i)
{
    const double sign = i == 0 ? -1 : 1, gap = 5;
    const double zero = chart->zero_name ? place(chart, bar, 0) : -1e9;
    const double x = place(chart, bar, row->end[i].at) + sign * gap;
    const double after = sign * (zero - x); /* the line at 0 lies so far behind their start */
    const double width = canvas_text_width(canvas, TEXT_SMALL, false, row->end[i].text);
    return after > -gap && after < width + 2 ? zero + sign * gap : x;
}

/* How far words stick out on each side of the bar. */
static void stick_out(const struct canvas *canvas, const struct row_chart *chart, double bar,
                      double out[2])
{
    out[0] = out[1] = 0;
    for (uint32_t g = 0; g < chart->group_count && !canvas->cells; g++)
        for (uint32_t r = 0; r < chart->groups[g].row_count; r++)
            for (int i = 0; i < 2; i++) {
                const struct row *row = &chart->groups[g].rows[r];
                if (!row->end[i].text[0]) continue;
                const double x = end_place(canvas, chart, bar, row, i);
                const double width = canvas_text_width(canvas, TEXT_SMALL, false, row->end[i].text);
                out[i] = fmax(out[i], i == 0 ? width - x + 8 : x + width - bar);
            }
}

static struct geometry measure(struct canvas *canvas, const struct row_chart *chart)
{
    const bool cells = canvas->cells;
    const double margin = frame_margin(canvas), space = cells ? 1 : 10;
    const double names =
        fmax(widest_name(canvas, chart), chart->above.height > 0 && !cells ? 70 : 0);
    const double values = widest_value(canvas, chart);
    const double fixed = 2 * margin + names + 2 * space + values;
    double bar = fmax(canvas->width - fixed, cells ? CELLS_BAR_MIN : 420);
    if (cells && bar > CELLS_BAR_MAX) bar = CELLS_BAR_MAX;
    bar = fmax(bar, widest_remark(canvas, chart) - values); /* it runs on over the values */
    double out[2];
    stick_out(canvas, chart, bar, out);
    if (!cells && bar > 420) bar = fmax(bar - out[0] - out[1], 420);
    stick_out(canvas, chart, bar, out);
    if (!cells && chart->zero_name) out[1] += ENDS_GAP_PX;
    struct geometry at = { .width = fmax(fixed + out[0] + bar + out[1], cells ? 72 : 860),
                           .row = cells ? 1 : ROW_PX,
                           .heading = cells ? 1 : HEADING_PX,
                           .gap = cells ? 0 : 8 };
    at.width = fmax(at.width, 2 * margin + widest_heading(canvas, chart));
    at.names_x = margin + names;
    at.bar_x0 = at.names_x + space + out[0];
    at.bar_x1 = at.bar_x0 + bar;
    at.values_x = at.bar_x1 + out[1] + space;
    struct key_entry entries[KEY_ENTRIES];
    at.key_y = frame_header(canvas, &chart->frame, at.width, false);
    at.panel_y0 =
        key_draw(canvas, entries, key_entries(canvas, chart, entries), at.key_y, at.width, false);
    if (chart->above.height > 0 && !cells) {
        at.above = (struct box){ at.bar_x0, at.panel_y0 + 22, at.bar_x1,
                                 at.panel_y0 + 22 + chart->above.height };
        at.panel_y0 = at.above.y1 + 30;
    }
    at.panel_y0 += canvas_line_height(canvas, TEXT_BODY); /* heading of the values */
    double y = at.panel_y0;
    for (uint32_t g = 0; g < chart->group_count; g++)
        y += (chart->groups[g].heading[0] ? at.heading : 0) + at.row * chart->groups[g].row_count +
             at.gap;
    at.panel_y1 = y;
    at.axis_y = y + (cells ? 0 : 4);
    at.footer_y = axis_below(canvas, &chart->axis, at.bar_x0, at.bar_x1, at.axis_y, false);
    at.height = frame_footer(canvas, &chart->frame, at.footer_y, at.width, false);
    return at;
}

/* Words beside the ends of a bar, moved aside where the line at 0 would cross them. */
static void draw_ends(struct canvas *canvas, const struct row_chart *chart,
                      const struct geometry *at, const struct row *row, double y)
{
    for (int i = 0; i < 2; i++)
        if (row->end[i].text[0])
            canvas_text(canvas,
                        at->bar_x0 + end_place(canvas, chart, at->bar_x1 - at->bar_x0, row, i), y,
                        i == 0 ? ALIGN_RIGHT : ALIGN_LEFT, TEXT_SMALL, false, row->end[i].text);
}

/* The name of the line at 0, above it but inside the axis. */
static void draw_zero_name(struct canvas *canvas, const struct row_chart *chart,
                           const struct geometry *at)
{
    const double half =
        canvas_text_width(canvas, TEXT_BODY, true, chart->zero_name) / 2 + (canvas->cells ? 1 : 0);
    const double x = at->bar_x0 + fmin(fmax(place(chart, at->bar_x1 - at->bar_x0, 0), half),
                                       at->bar_x1 - at->bar_x0 - half);
    canvas_text(canvas, x, canvas->cells ? at->panel_y0 - 1 : at->panel_y0 - 9, ALIGN_CENTER,
                TEXT_BODY, true, chart->zero_name);
}

/* Names, values and headings. */
static void draw_words(struct canvas *canvas, const struct row_chart *chart,
                       const struct geometry *at)
{
    double y = at->panel_y0;
    const double half = canvas->cells ? 0 : at->row / 2;
    canvas_text(canvas, at->values_x, canvas->cells ? y - 1 : y - 9, ALIGN_LEFT, TEXT_BODY, false,
                chart->value_heading);
    if (chart->zero_name) draw_zero_name(canvas, chart, at);
    for (uint32_t g = 0; g < chart->group_count; g++) {
        const struct row_group *group = &chart->groups[g];
        if (group->heading[0]) {
            canvas_text(canvas, frame_margin(canvas), canvas->cells ? y : y + at->heading / 2 + 1,
                        ALIGN_LEFT, TEXT_BODY, true, group->heading);
            y += at->heading;
        }
        for (uint32_t r = 0; r < group->row_count; r++, y += at->row) {
            const struct row *row = &group->rows[r];
            canvas_text(canvas, at->names_x, y + half, ALIGN_RIGHT, TEXT_BODY, false, row->name);
            canvas_text(canvas, at->values_x, y + half, ALIGN_LEFT, TEXT_BODY, row->bold,
                        row->value);
            canvas_text(canvas, at->bar_x0 + (canvas->cells ? 0 : 4), y + half, ALIGN_LEFT,
                        TEXT_SMALL, false, row->remark);
            if (!canvas->cells) draw_ends(canvas, chart, at, row, y + half);
        }
        y += at->gap;
    }
}

void rows_each(const struct row_chart *chart, const struct geometry *at, row_visit *visit,
               void *with)
{
    double y = 0;
    for (uint32_t g = 0; g < chart->group_count; g++) {
        const struct row_group *group = &chart->groups[g];
        y += group->heading[0] ? at->heading : 0;
        for (uint32_t r = 0; r < group->row_count; r++, y += at->row)
            visit(chart, &group->rows[r], y + at->row / 2, with);
        y += at->gap;
    }
}

struct writer {
    FILE *data;
    const struct canvas *canvas;
    double bar;      /* length of the axis */
    uint32_t number; /* of the segment or mark */
    uint32_t written;
};

static void write_segment(const struct row_chart *chart, const struct row *row, double y,
                          void *with)
{
    struct writer *writer = with;
    double x = chart->axis.min;
    for (uint32_t i = 0; i < writer->number; i++) x += row->segment[i];
    const double end = x + row->segment[writer->number];
    if (!(row->segment[writer->number] > 0)) return;
    fprintf(writer->data, "%.9g %.9g %.9g %.9g %.9g %.9g\n", x, y, x, end, y - 7, y + 7);
    writer->written++;
}

static void write_mark(const struct row_chart *chart, const struct row *row, double y, void *with)
{
    (void)chart;
    struct writer *writer = with;
    const struct row_mark *mark = &row->mark[writer->number];
    if (!mark->present) return;
    fprintf(writer->data, "%.9g %.9g %.9g %.9g\n", mark->at, y, mark->whisker ? mark->lo : mark->at,
            mark->whisker ? mark->hi : mark->at);
    writer->written++;
}

static void write_join(const struct row_chart *chart, const struct row *row, double y, void *with)
{
    struct writer *writer = with;
    const double from = chart->stems ? chart->axis.min : row->mark[0].at;
    const struct row_mark *to = &row->mark[chart->stems ? 0 : 1];
    if (!row->mark[0].present || !to->present) return;
    fprintf(writer->data, "%.9g %.9g %.9g 0\n", from, y, to->at - from);
    writer->written++;
}

/* Whether a line at x, from the start of the bar, would cross words beside an end. */
static bool crosses_ends(const struct writer *writer, const struct row_chart *chart,
                         const struct row *row, double x)
{
    bool crosses = false;
    for (int i = 0; i < 2; i++) {
        const char *text = row->end[i].text;
        if (!*text) continue;
        const double from = end_place(writer->canvas, chart, writer->bar, row, i);
        const double width = canvas_text_width(writer->canvas, TEXT_SMALL, false, text);
        const double left = i == 0 ? from - width : from;
        crosses |= x > left - 2 && x < left + width + 2;
    }
    return crosses;
}

/* Pieces of grid line behind the rows, so that none crosses a heading, or words beside a bar. */
static void write_grid(const struct row_chart *chart, const struct row *row, double y, void *with)
{
    struct writer *writer = with;
    if (row->remark[0]) return; /* words stand there */
    for (uint32_t i = 0; i < chart->axis.tick_count; i++) {
        const double at = chart->axis.ticks[i].at;
        if (crosses_ends(writer, chart, row, place(chart, writer->bar, at))) continue;
        fprintf(writer->data, "%.9g %.9g 0 %d\n", at, y - ROW_PX / 2.0, ROW_PX);
        writer->written++;
    }
}

static void write_zero(const struct row_chart *chart, const struct row *row, double y, void *with)
{
    (void)chart;
    struct writer *writer = with;
    if (row->remark[0]) return;
    fprintf(writer->data, "0 %.9g 0 %d\n", y - ROW_PX / 2.0, ROW_PX);
    writer->written++;
}

static void write_tick(const struct row_chart *chart, const struct row *row, double y, void *with)
{
    (void)chart;
    struct writer *writer = with;
    if (!row->mark[0].present) return;
    fprintf(writer->data, "%.9g %.9g 0 18\n", row->mark[0].at, y - 9);
    writer->written++;
}

/* Writes one data file; false when it holds nothing. */
static bool write_data(struct canvas *canvas, const struct row_chart *chart,
                       const struct geometry *at, row_visit *visit, uint32_t number, char name[16])
{
    struct writer writer = { canvas_data(canvas, name), canvas, at->bar_x1 - at->bar_x0, number,
                             0 };
    if (!writer.data) return false;
    rows_each(chart, at, visit, &writer);
    canvas_data_close(canvas, writer.data);
    return writer.written > 0;
}

static void plot_segments(struct canvas *canvas, const struct row_chart *chart,
                          const struct geometry *at)
{
    char name[16];
    for (uint32_t i = 0; i < chart->segment_count; i++) {
        const struct fill *fill = &chart->fills[i];
        if (!fill->color) continue; /* a space before the next segment */
        if (!write_data(canvas, chart, at, write_segment, i, name)) continue;
        fprintf(canvas->script,
                ", '%s' with boxxyerror fillstyle solid 1 border rgb '#4d4d4d' linewidth 0.5"
                " fillcolor rgb '%s'",
                name, fill->color);
        if (fill->pattern)
            fprintf(canvas->script,
                    ", '%s' with boxxyerror fillstyle transparent pattern %d noborder fillcolor"
                    " rgb '%s'",
                    name, fill->pattern, fill->hatch);
    }
}

static void plot_marks(struct canvas *canvas, const struct row_chart *chart,
                       const struct geometry *at)
{
    char name[16];
    if ((chart->join_marks || chart->stems) && write_data(canvas, chart, at, write_join, 0, name))
        fprintf(canvas->script, ", '%s' with vectors nohead linecolor rgb '#9a9a9a' linewidth 1",
                name);
    if (chart->ticks && write_data(canvas, chart, at, write_tick, 0, name))
        fprintf(canvas->script, ", '%s' with vectors nohead linecolor rgb '#111111' linewidth 3",
                name);
    for (uint32_t i = 0; i < chart->mark_count && !chart->ticks; i++) {
        if (!write_data(canvas, chart, at, write_mark, i, name)) continue;
        fprintf(canvas->script,
                ", '%s' with xerrorbars pointtype 7 pointsize %s linewidth 1.4"
                " linecolor rgb '#1a1a1a'",
                name, chart->segment_count && !chart->stems ? "0.3" : "0.75");
        if (i == 0 && chart->mark_count > 1) /* an open circle: white inside */
            fprintf(canvas->script,
                    ", '%s' using 1:2 with points pointtype 7 pointsize 0.5 linecolor rgb"
                    " '#ffffff'",
                    name);
    }
}

static void draw_panel(struct canvas *canvas, const struct row_chart *chart,
                       const struct geometry *at)
{
    canvas_panel(canvas, at->bar_x0, at->panel_y0, at->bar_x1, at->panel_y1);
    char name[16];
    fprintf(canvas->script, "set border 1 linecolor rgb '#4d4d4d'\nset bars 0.5\n");
    fprintf(canvas->script, "set xrange [%.9g:%.9g]\nset yrange [%.9g:0]\nplot NaN notitle",
            chart->axis.min, chart->axis.max, at->panel_y1 - at->panel_y0);
    if (write_data(canvas, chart, at, write_grid, 0, name))
        fprintf(canvas->script, ", '%s' with vectors nohead linecolor rgb '#d0d0d0' linewidth 0.8",
                name);
    plot_segments(canvas, chart, at);
    if (chart->zero_name && write_data(canvas, chart, at, write_zero, 0, name))
        fprintf(canvas->script, ", '%s' with vectors nohead linecolor rgb '#000000' linewidth 1.2",
                name);
    plot_marks(canvas, chart, at);
    fprintf(canvas->script, "\n");
}

void row_mark(struct row *row, const char *word)
{
    const size_t used = strlen(row->value);
    snprintf(row->value + used, sizeof row->value - used, " %s", word);
}

void row_mark_best(struct row *row)
{
    row_mark(row, "best");
    row->bold = true;
}

bool rows_draw(struct canvas *canvas, const struct row_chart *chart)
{
    const struct geometry at = measure(canvas, chart);
    struct key_entry entries[KEY_ENTRIES];
    if (!canvas_open(canvas, at.width, at.height)) return false;
    frame_header(canvas, &chart->frame, at.width, true);
    key_draw(canvas, entries, key_entries(canvas, chart, entries), at.key_y, at.width, true);
    draw_words(canvas, chart, &at);
    axis_below(canvas, &chart->axis, at.bar_x0, at.bar_x1, at.axis_y, true);
    frame_footer(canvas, &chart->frame, at.footer_y, at.width, true);
    if (canvas->cells) {
        rows_paint_cells(canvas, chart, &at);
        canvas_flush(canvas);
    } else {
        if (chart->above.height > 0) {
            struct axis ticks = chart->axis;
            ticks.label[0] = '\0'; /* it stands below the rows */
            axis_below(canvas, &ticks, at.above.x0, at.above.x1, at.above.y1 + 4, true);
            chart->above.words(canvas, &at.above, chart->above.with);
        }
        canvas_flush(canvas);
        if (chart->above.height > 0) {
            canvas_panel(canvas, at.above.x0, at.above.y0, at.above.x1, at.above.y1);
            chart->above.plot(canvas, &chart->axis, chart->above.with);
        }
        draw_panel(canvas, chart, &at);
    }
    return canvas_close(canvas);
}
