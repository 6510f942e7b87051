/* plot_frame.h - what surrounds every picture: title, finding, key, axes and footer. */
#ifndef GPUPLAN_REPORT_PLOT_FRAME_H
#define GPUPLAN_REPORT_PLOT_FRAME_H

#include "report/plot_canvas.h"

#include <stdint.h>

enum { FRAME_NOTES = 6, AXIS_TICKS = 24 };

/* The words of a picture, escaped. A reader who sees nothing else must learn the answer. */
struct frame {
    char title[160];                          /* the question                             */
    char notes[FRAME_NOTES][TEXT_LINE_BYTES]; /* the finding, with value, unit, interval  */
    uint32_t note_count;
    char footer[TEXT_LINE_BYTES]; /* where the numbers come from              */
};

/* Adds a note; what is beyond FRAME_NOTES is left out. */
void frame_note(struct frame *frame, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Title and notes from the top of the canvas; returns the y below them. draw = false measures. */
double frame_header(struct canvas *canvas, const struct frame *frame, double width, bool draw);
/* The footer from y on; returns the y below it. */
double frame_footer(struct canvas *canvas, const struct frame *frame, double y, double width,
                    bool draw);
/* Left margin of everything, in units of the canvas. */
double frame_margin(const struct canvas *canvas);

/* A key whose entries wrap at `width`; returns the y below it. draw = false measures. */
struct key_entry {
    const char *name;              /* escaped                                           */
    const struct fill *fill;       /* a box of this, or                                 */
    const struct line_style *line; /* a line of this, or                          */
    char sign[8];                  /* this sign                                         */
};
double key_draw(struct canvas *canvas, const struct key_entry *entries, uint32_t count, double y,
                double width, bool draw);

struct axis {
    double min, max; /* linear: a logarithmic chart hands in logarithms   */
    uint32_t tick_count;
    struct {
        double at;
        char text[16];
    } ticks[AXIS_TICKS];
    char label[128];
};

/* An axis from min to max > min with ticks at round values, `wanted` of them or fewer. */
void axis_linear(struct axis *axis, double min, double max, uint32_t wanted);
void axis_tick(struct axis *axis, double at, const char *text);

/* Places the tick texts of a horizontal axis between x0 and x1 around y, leaving out those that
 * would touch, and its label below them; returns the y below that. draw = false measures. */
double axis_below(struct canvas *canvas, const struct axis *axis, double x0, double x1, double y,
                  bool draw);
/* Places the tick texts of a vertical axis from y0 (top) to y1 (bottom), ending at x. */
void axis_left(struct canvas *canvas, const struct axis *axis, double x, double y0, double y1);
/* Grid lines of the next plot at the ticks. letter: 'x' or 'y'. */
void axis_grid(struct canvas *canvas, const struct axis *axis, char letter);

#endif
