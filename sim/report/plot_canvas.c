/* plot_canvas.c - see plot_canvas.h. */
#include "report/plot_canvas.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

static const struct {
    double px, line_px; /* height of the letters' box; from line to line */
} sizes[] = {
    [TEXT_TITLE] = { 20, 28 },
    [TEXT_LEAD] = { 14, 20 },
    [TEXT_BODY] = { 13, 19 },
    [TEXT_SMALL] = { 12, 17 },
};

/* PNG is drawn larger than its nominal size, so that small text stays sharp. */
static const double png_zoom = 1.5;

double canvas_line_height(const struct canvas *canvas, enum text_size size)
{
    return canvas->cells ? 1 : sizes[size].line_px;
}

/* Widths of the printable ASCII characters of DejaVu Sans in hundredths of an em (its hmtx table);
 * others are taken as wide as they can be. */
static const uint8_t ascii_width[95] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
};
static const double bold_factor = 1.12; /* of a text of mixed letters, DejaVu Sans Bold */

static double character_em(unsigned char c)
{
    return c >= 0x20 && c < 0x7f ? ascii_width[c - 0x20] / 100.0 : 1.0;
}

double canvas_text_width(const struct canvas *canvas, enum text_size size, bool bold,
                         const char *text)
{
    double em = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c & 0xc0) == 0x80) continue; /* later bytes of a character */
        em += canvas->cells ? 1 : character_em(*c);
    }
    if (canvas->cells) return em;
    return em * sizes[size].px * (bold ? bold_factor : 1.0);
}

/* Bytes of the longest start of `text` that is no wider than max_width; at least one character. */
static size_t line_bytes(const struct canvas *canvas, enum text_size size, bool bold,
                         const char *text, double max_width)
{
    char part[TEXT_LINE_BYTES];
    size_t fits = 0, space = 0;
    for (size_t i = 1; i < TEXT_LINE_BYTES; i++) {
        if ((text[i] & 0xc0) == 0x80) continue; /* inside a character */
        memcpy(part, text, i);
        part[i] = '\0';
        if (fits > 0 && canvas_text_width(canvas, size, bold, part) > max_width) break;
        fits = i;
        if (text[i] == ' ') space = i;
        if (text[i] == '\0') return i;
    }
    return space > 0 ? space : fits;
}

void canvas_wrap(const struct canvas *canvas, enum text_size size, bool bold, const char *text,
                 double max_width, struct text_lines *lines)
{
    lines->count = 0;
    while (*text && lines->count < TEXT_LINES_MAX) {
        const size_t bytes = line_bytes(canvas, size, bold, text, max_width);
        char *line = lines->line[lines->count++];
        memcpy(line, text, bytes);
        line[bytes] = '\0';
        text += bytes;
        while (*text == ' ') text++;
        if (*text && lines->count == TEXT_LINES_MAX)
            memcpy(line + (bytes > 3 ? bytes - 3 : 0), "...", 4);
    }
}

void canvas_clean(const char *text, size_t text_bytes, char *out, size_t out_bytes)
{
    text_escape(text, text_bytes, out, out_bytes);
    /* U+FFFE and U+FFFF are well-formed UTF-8, but no characters of XML. */
    for (char *c = out; (c = strstr(c, "\xef\xbf")) != NULL; c += 3)
        if ((unsigned char)c[2] >= 0xbe) memcpy(c, "???", 3);
}

/* Writes text so that gnuplot reads it as nothing but text: pieces in single quotes, in which it
 * knows no back-ticks and no escapes, joined at each apostrophe by one of ours in double quotes.
 * Doubling the apostrophe is not enough: gnuplot 5.4.4 takes a text that begins with one, or holds
 * two in a row, for several tokens (seen). */
static void put_quoted(FILE *script, const char *text)
{
    putc('\'', script);
    for (const char *c = text; *c; c++) {
        ASSERT((unsigned char)*c >= 0x20 && *c != 0x7f);
        if (*c == '\'')
            fputs("'.\"'\".'", script);
        else
            putc(*c, script);
    }
    putc('\'', script);
}

static void put_terminal(const struct canvas *canvas)
{
    const double w = canvas->width, h = canvas->height;
    switch (canvas->format) {
    case PLOT_SVG:
        fprintf(canvas->script,
                "set terminal svg size %.0f,%.0f fixed font 'DejaVu Sans,13' noenhanced"
                " background '#ffffff'\n",
                w, h);
        break;
    case PLOT_PNG:
        fprintf(canvas->script,
                "set terminal pngcairo size %.0f,%.0f font 'DejaVu Sans,%.2f' linewidth %.2f"
                " pointscale %.2f noenhanced background '#ffffff'\n",
                w * png_zoom, h * png_zoom, 13 * 0.75 * png_zoom, png_zoom, png_zoom);
        break;
    case PLOT_PDF: /* its default fontscale is 0.5; at 0.75 a point is a point (measured) */
        fprintf(canvas->script,
                "set terminal pdfcairo size %.4fin,%.4fin font 'DejaVu Sans,%.2f' fontscale 0.75"
                " noenhanced background '#ffffff'\n",
                w / 96, h / 96, 13 * 0.75);
        break;
    default:
        fprintf(canvas->script, "set terminal dumb noenhanced size %.0f,%.0f mono\n", w, h);
        break;
    }
}

bool canvas_open(struct canvas *canvas, double width, double height)
{
    char path[sizeof canvas->folder + 16];
    snprintf(path, sizeof path, "%s/script.gp", canvas->folder);
    canvas->width = width;
    canvas->height = height;
    canvas->tags = canvas->data_files = 0;
    canvas->data_lost = false;
    canvas->script = fopen(path, "wxe");
    if (!canvas->script) return false;
    fprintf(canvas->script, "set encoding utf8\n");
    put_terminal(canvas);
    fprintf(canvas->script, "set output 'picture'\nset multiplot\nset border 0\nunset tics\n"
                            "unset key\n");
    return true;
}

bool canvas_close(struct canvas *canvas)
{
    fprintf(canvas->script, "unset multiplot\nset output\n");
    const bool lost = ferror(canvas->script) != 0;
    const bool closed = fclose(canvas->script) == 0;
    canvas->script = NULL;
    return closed && !lost && !canvas->data_lost;
}

/* " at screen x,y" or the cell of a terminal, whose rows count from the bottom. */
static void put_position(struct canvas *canvas, double x, double y)
{
    if (canvas->cells)
        fprintf(canvas->script, " at character %.0f,%.0f", x, canvas->height - 1 - y);
    else
        fprintf(canvas->script, " at screen %.6f,%.6f", x / canvas->width, 1 - y / canvas->height);
}

static void put_font(struct canvas *canvas, enum text_size size, bool bold)
{
    double points = sizes[size].px;
    if (canvas->format == PLOT_PNG) points *= 0.75 * png_zoom;
    if (canvas->format == PLOT_PDF) points *= 0.75;
    if (!canvas->cells)
        fprintf(canvas->script, " font 'DejaVu Sans%s,%.2f'", bold ? ":Bold" : "", points);
}

void canvas_text(struct canvas *canvas, double x, double y, enum align align, enum text_size size,
                 bool bold, const char *text)
{
    static const char *const words[] = { "left", "center", "right" };
    if (!*text) return; /* gnuplot takes an empty label for none, but counts its tag */
    fprintf(canvas->script, "set label %u ", ++canvas->tags);
    put_quoted(canvas->script, text);
    put_position(canvas, x, y);
    fprintf(canvas->script, " %s", words[align]);
    put_font(canvas, size, bold);
    fprintf(canvas->script, " tc rgb '#1a1a1a' front\n");
}

void canvas_vertical_text(struct canvas *canvas, double x, double y, const char *text)
{
    fprintf(canvas->script, "set label %u ", ++canvas->tags);
    put_quoted(canvas->script, text);
    put_position(canvas, x, y);
    fprintf(canvas->script, " center rotate by 90");
    put_font(canvas, TEXT_BODY, false);
    fprintf(canvas->script, " tc rgb '#1a1a1a' front\n");
}

double canvas_lines(struct canvas *canvas, double x, double y, enum text_size size, bool bold,
                    const struct text_lines *lines)
{
    const double height = canvas_line_height(canvas, size);
    for (uint32_t i = 0; i < lines->count; i++, y += height)
        canvas_text(canvas, x, canvas->cells ? y : y + height / 2, ALIGN_LEFT, size, bold,
                    lines->line[i]);
    return y;
}

/* The style is a constant of this file: "solid 1", or a hatching over what is below it. */
static void put_rectangle(struct canvas *canvas, const double box[4], const char *color,
                          int pattern)
{
    fprintf(canvas->script,
            "set object %u rectangle from screen %.6f,%.6f to screen %.6f,%.6f"
            " fillcolor rgb '%s' fillstyle ",
            ++canvas->tags, box[0] / canvas->width, 1 - box[1] / canvas->height,
            box[2] / canvas->width, 1 - box[3] / canvas->height, color);
    if (pattern)
        fprintf(canvas->script, "transparent pattern %d noborder\n", pattern);
    else
        fprintf(canvas->script, "solid 1 border rgb '#4d4d4d' linewidth 0.6\n");
}

void canvas_box(struct canvas *canvas, double x0, double y0, double x1, double y1,
                const struct fill *fill)
{
    if (canvas->cells) {
        char run[256];
        const double wanted = x1 - x0;
        const size_t bytes = wanted < 1 ? 0 : wanted > 255 ? 255 : (size_t)wanted;
        memset(run, fill->glyph, bytes);
        run[bytes] = '\0';
        canvas_text(canvas, x0, y0, ALIGN_LEFT, TEXT_BODY, false, run);
        return;
    }
    const double box[4] = { x0, y0, x1, y1 };
    put_rectangle(canvas, box, fill->color, 0);
    if (fill->pattern) put_rectangle(canvas, box, fill->hatch, fill->pattern);
}

void canvas_line(struct canvas *canvas, double x0, double x1, double y,
                 const struct line_style *style)
{
    if (canvas->cells) return;
    const double height = 1 - y / canvas->height;
    fprintf(canvas->script,
            "set arrow %u from screen %.6f,%.6f to screen %.6f,%.6f nohead linewidth 2"
            " linecolor rgb '%s' dashtype %s\n",
            ++canvas->tags, x0 / canvas->width, height, x1 / canvas->width, height, style->color,
            style->dashes);
    if (!style->point) return;
    fprintf(canvas->script,
            "set label %u '' at screen %.6f,%.6f point pointtype %d pointsize 0.9"
            " linecolor rgb '%s'\n",
            ++canvas->tags, (x0 + x1) / 2 / canvas->width, height, style->point, style->color);
}

void canvas_edge(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 const struct line_style *style)
{
    if (canvas->cells) return;
    fprintf(canvas->script,
            "set arrow %u from screen %.6f,%.6f to screen %.6f,%.6f nohead back linewidth 0.7"
            " linecolor rgb '%s' dashtype %s\n",
            ++canvas->tags, x0 / canvas->width, 1 - y0 / canvas->height, x1 / canvas->width,
            1 - y1 / canvas->height, style->color, style->dashes);
}

void canvas_panel(struct canvas *canvas, double x0, double y0, double x1, double y1)
{
    const double w = canvas->width, h = canvas->height;
    fprintf(canvas->script,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
            "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
            x0 / w, x1 / w, 1 - y0 / h, 1 - y1 / h);
}

void canvas_flush(struct canvas *canvas)
{
    canvas_panel(canvas, 0, 0, canvas->width, canvas->height);
    fprintf(canvas->script,
            "plot [0:1][0:1] NaN notitle\nunset label\nunset object\nunset arrow\n");
    canvas->tags = 0;
}

FILE *canvas_data(struct canvas *canvas, char name[16])
{
    char path[sizeof canvas->folder + 16];
    snprintf(name, 16, "data%u", canvas->data_files++);
    snprintf(path, sizeof path, "%s/%s", canvas->folder, name);
    FILE *data = fopen(path, "wxe");
    if (!data) canvas->data_lost = true;
    return data;
}

void canvas_data_close(struct canvas *canvas, FILE *data)
{
    const bool lost = ferror(data) != 0;
    if (fclose(data) != 0 || lost) canvas->data_lost = true;
}
