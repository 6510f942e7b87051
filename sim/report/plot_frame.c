/* plot_frame.c - see plot_frame.h. */
#include "report/plot_frame.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

double frame_margin(const struct canvas *canvas)
{
    return canvas->cells ? 0 : 16;
}

void frame_note(struct frame *frame, const char *format, ...)
{
    if (frame->note_count == FRAME_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(frame->notes[frame->note_count++], TEXT_LINE_BYTES, format, arguments);
    va_end(arguments);
}

/* One paragraph wrapped to width; returns the y below it. */
static double paragraph(struct canvas *canvas, enum text_size size, bool bold, const char *text,
                        double y, double width, bool draw)
{
    struct text_lines lines;
    const double x = frame_margin(canvas);
    canvas_wrap(canvas, size, bold, text, width - 2 * x, &lines);
    if (draw) return canvas_lines(canvas, x, y, size, bold, &lines);
    return y + lines.count * canvas_line_height(canvas, size);
}

double frame_header(struct canvas *canvas, const struct frame *frame, double width, bool draw)
{
    double y = canvas->cells ? 0 : 12;
    y = paragraph(canvas, TEXT_TITLE, true, frame->title, y, width, draw);
    for (uint32_t i = 0; i < frame->note_count; i++)
        y = paragraph(canvas, TEXT_LEAD, i == 0, frame->notes[i], y, width, draw);
    return y + (canvas->cells ? 1 : 10);
}

double frame_footer(struct canvas *canvas, const struct frame *frame, double y, double width,
                    bool draw)
{
    y = paragraph(canvas, TEXT_SMALL, false, frame->footer, y + (canvas->cells ? 0 : 8), width,
                  draw);
    return y + (canvas->cells ? 0 : 10);
}

double key_draw(struct canvas *canvas, const struct key_entry *entries, uint32_t count, double y,
                double width, bool draw)
{
    const double line = canvas->cells ? 1 : 24, box = canvas->cells ? 2 : 26;
    const double gap = canvas->cells ? 1 : 7, between = canvas->cells ? 2 : 20;
    const double left = frame_margin(canvas);
    double x = left;
    for (uint32_t i = 0; i < count; i++) {
        const double text = canvas_text_width(canvas, TEXT_BODY, false, entries[i].name);
        if (x > left && x + box + gap + text > width - left) {
            x = left;
            y += line;
        }
        const double middle = canvas->cells ? y : y + line / 2;
        if (draw && entries[i].fill)
            canvas_box(canvas, x, canvas->cells ? y : middle - 7, x + box, middle + 7,
                       entries[i].fill);
        else if (draw && entries[i].line)
            canvas_line(canvas, x, x + box, middle, entries[i].line);
        else if (draw)
            canvas_text(canvas, x + box / 2, middle, ALIGN_CENTER, TEXT_BODY, false,
                        entries[i].sign);
        if (draw)
            canvas_text(canvas, x + box + gap, middle, ALIGN_LEFT, TEXT_BODY, false,
                        entries[i].name);
        x += box + gap + text + between;
    }
    return count == 0 ? y : y + line + (canvas->cells ? 1 : 6);
}

void axis_tick(struct axis *axis, double at, const char *text)
{
    if (axis->tick_count == AXIS_TICKS) return;
    axis->ticks[axis->tick_count].at = at;
    snprintf(axis->ticks[axis->tick_count++].text, sizeof axis->ticks->text, "%s", text);
}

void axis_linear(struct axis *axis, double min, double max, uint32_t wanted)
{
    static const double steps[] = { 1, 2, 5, 10 };
    const double raw = (max - min) / wanted;
    const double decade = pow(10, floor(log10(raw)));
    double step = 10 * decade;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * decade >= raw * (1 - 1e-9)) {
            step = steps[i] * decade;
            break;
        }
    const int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    axis->min = min;
    axis->max = max;
    axis->tick_count = 0;
    for (double k = ceil(min / step - 1e-9); k * step <= max + step * 1e-9; k++) {
        char text[16];
        snprintf(text, sizeof text, "%.*f", decimals, k * step == 0 ? 0.0 : k * step);
        axis_tick(axis, k * step, text);
    }
}

static double axis_place(const struct axis *axis, double at, double from, double to)
{
    return from + (at - axis->min) / (axis->max - axis->min) * (to - from);
}

double axis_below(struct canvas *canvas, const struct axis *axis, double x0, double x1, double y,
                  bool draw)
{
    const double gap = canvas->cells ? 1 : 8, line = canvas_line_height(canvas, TEXT_BODY);
    double taken = -1e9;
    for (uint32_t i = 0; draw && i < axis->tick_count; i++) {
        const double x = axis_place(axis, axis->ticks[i].at, x0, x1);
        const double half = canvas_text_width(canvas, TEXT_BODY, false, axis->ticks[i].text) / 2;
        if (x - half < taken + gap) continue;
        canvas_text(canvas, x, canvas->cells ? y : y + line / 2, ALIGN_CENTER, TEXT_BODY, false,
                    axis->ticks[i].text);
        taken = x + half;
    }
    y += line;
    if (!axis->label[0]) return y;
    if (draw)
        canvas_text(canvas, (x0 + x1) / 2, canvas->cells ? y : y + line / 2, ALIGN_CENTER,
                    TEXT_BODY, false, axis->label);
    return y + line;
}

void axis_left(struct canvas *canvas, const struct axis *axis, double x, double y0, double y1)
{
    for (uint32_t i = 0; i < axis->tick_count; i++)
        canvas_text(canvas, x, axis_place(axis, axis->ticks[i].at, y1, y0), ALIGN_RIGHT, TEXT_BODY,
                    false, axis->ticks[i].text);
}

void axis_grid(struct canvas *canvas, const struct axis *axis, char letter)
{
    fprintf(canvas->script,
            "set grid %ctics back linetype 1 linecolor rgb '#d0d0d0' linewidth 0.8\n", letter);
    fprintf(canvas->script, "set %ctics scale 0 (", letter);
    for (uint32_t i = 0; i < axis->tick_count; i++)
        fprintf(canvas->script, "%s'' %.9g", i ? ", " : "", axis->ticks[i].at);
    fprintf(canvas->script, ")\n");
}
