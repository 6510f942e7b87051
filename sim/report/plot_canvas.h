/* plot_canvas.h - one picture as a gnuplot script: places text and boxes, and quotes user text.
 *
 * Positions are in units of the canvas from its upper left corner: pixels at 96 dpi for pictures,
 * character cells for the terminal. User text enters a script only through canvas_text, inside
 * single quotes without an apostrophe or anything that is not printable (P87, P89); everything else
 * in a script is a constant of the program or a number. Every terminal is `noenhanced` (P88). */
#ifndef GPUPLAN_REPORT_PLOT_CANVAS_H
#define GPUPLAN_REPORT_PLOT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF, PLOT_TERM, PLOT_FORMATS };

enum text_size { TEXT_TITLE, TEXT_LEAD, TEXT_BODY, TEXT_SMALL };
enum align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

/* How an area is filled: it must differ from its neighbours in lightness or hatching, since it is
 * printed in grey too; the glyph fills it on a terminal. */
struct fill {
    const char *color; /* "#rrggbb"                                        */
    int pattern;       /* gnuplot's hatching on top of it, 0 = none        */
    const char *hatch; /* colour of the hatching                           */
    char glyph;
};

struct canvas {
    FILE *script;     /* owned until canvas_close; its errors are sticky  */
    char folder[256]; /* private folder of script and data, borrowed name */
    enum plot_format format;
    bool cells;           /* units are character cells, not pixels            */
    double width, height; /* whole canvas; set by canvas_open                 */
    unsigned tags;        /* labels and objects made so far: gnuplot's tags   */
    unsigned data_files;
    bool data_lost; /* a data file could not be made or written            */
};

/* How a line and its points are drawn: they must be told apart without colour. */
struct line_style {
    const char *color, *dashes; /* gnuplot's dash type */
    int point;                  /* gnuplot's point type, 0 = none */
};

struct box {
    double x0, y0, x1, y1;
};

enum { TEXT_LINE_BYTES = 1024, TEXT_LINES_MAX = 8 };
struct text_lines {
    char line[TEXT_LINES_MAX][TEXT_LINE_BYTES];
    uint32_t count;
};

/* Sizes of the canvas' kind, usable before canvas_open. */
double canvas_line_height(const struct canvas *canvas, enum text_size size);

/* Width of `text` in canvas units: of DejaVu Sans, an upper estimate for what is not ASCII. */
double canvas_text_width(const struct canvas *canvas, enum text_size size, bool bold,
                         const char *text);

/* Breaks text into lines no wider than max_width, at spaces where it can, else anywhere. What does
 * not fit in TEXT_LINES_MAX lines ends in "...". */
void canvas_wrap(const struct canvas *canvas, enum text_size size, bool bold, const char *text,
                 double max_width, struct text_lines *lines);

/* Starts the script. format and folder are set by the caller; false when it cannot be made. */
bool canvas_open(struct canvas *canvas, double width, double height);

/* Ends the script; false when anything written to it or to its data was lost. */
bool canvas_close(struct canvas *canvas);

/* Text whose middle line is at y. */
void canvas_text(struct canvas *canvas, double x, double y, enum align align, enum text_size size,
                 bool bold, const char *text);
void canvas_vertical_text(struct canvas *canvas, double x, double y, const char *text);
/* All lines, the first in the middle of the line that begins at y; returns the y below them. */
double canvas_lines(struct canvas *canvas, double x, double y, enum text_size size, bool bold,
                    const struct text_lines *lines);
/* A filled box; on a terminal a run of its glyph. */
void canvas_box(struct canvas *canvas, double x0, double y0, double x1, double y1,
                const struct fill *fill);

/* A piece of line with a point in its middle; nothing on a terminal. */
void canvas_line(struct canvas *canvas, double x0, double x1, double y,
                 const struct line_style *style);

/* A thin line between any two points; nothing on a terminal. Boxes that are placed later lie on top of it. */
void canvas_edge(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 const struct line_style *style);

/* Writes what was placed so far and forgets it, so that later plots do not repeat it. */
void canvas_flush(struct canvas *canvas);

/* A new data file in the folder; NULL on failure. Its name, to be used in the script, in `name`. */
FILE *canvas_data(struct canvas *canvas, char name[16]);
void canvas_data_close(struct canvas *canvas, FILE *data);

/* Sets margins so that the next plot's axes enclose this box. */
void canvas_panel(struct canvas *canvas, double x0, double y0, double x1, double y1);

/* Escapes user text into `out` so that only printable UTF-8 is left that XML allows as well. */
void canvas_clean(const char *text, size_t text_bytes, char *out, size_t out_bytes);

#endif
