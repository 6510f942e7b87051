/* plot_rows.h - a chart of horizontal rows in groups, like a table that carries bars: the name of
 * each layout left of its bar, its number and interval right of it. Nothing has to be looked up in
 * a key by colour, names of any length stay whole, and the order is the order of reading. */
#ifndef GPUPLAN_REPORT_PLOT_ROWS_H
#define GPUPLAN_REPORT_PLOT_ROWS_H

#include "base/limits.h"
#include "report/plot_frame.h"

enum { ROW_SEGMENTS = 14, ROW_MARKS = 2, ROW_GROUPS = LIMIT_LAYOUTS, ROWS_MAX = LIMIT_LAYOUTS };

/* A point with its whisker, in axis units. Absent when there is nothing to show. */
struct row_mark {
    bool present, whisker;
    double at, lo, hi;
};

/* Words beside an end of a bar. */
struct row_end {
    double at;     /* in axis units                */
    char text[24]; /* "" = none                    */
};

struct row {
    const char *name;             /* borrowed, escaped                                   */
    double segment[ROW_SEGMENTS]; /* lengths in axis units, stacked from axis.min        */
    struct row_mark mark[ROW_MARKS];
    struct row_end end[2]; /* words that end left of [0].at, and begin right of [1].at */
    char value[128]; /* right of the bar                                    */
    bool bold;       /* the value is the best of its group, beyond chance   */
    char remark[96]; /* in place of bar and value: why there is none        */
};

struct row_group {
    char heading[8 * LIMIT_NAME_BYTES + 128]; /* "" = none                    */
    uint32_t row_count;
    struct row rows[ROWS_MAX];
};

/* A panel above the rows with the same horizontal axis; height 0 = none, and none on a terminal.
 * Both calls get `with`: words places text, plot writes the plot command for the panel. */
struct row_above {
    double height;
    void (*words)(struct canvas *canvas, const struct box *box, const void *with);
    void (*plot)(struct canvas *canvas, const struct axis *axis, const void *with);
    const void *with;
};

struct row_chart {
    struct frame frame; /* title, finding, footer                              */
    char value_heading[96];
    uint32_t segment_count; /* in use, with the fills and names of the key         */
    struct fill fills[ROW_SEGMENTS];
    const char *segment_names[ROW_SEGMENTS]; /* NULL: not in the key                       */
    uint32_t mark_count;
    const char *mark_names[ROW_MARKS]; /* NULL: not in the key                       */
    bool join_marks;                   /* a line from the first mark to the second            */
    bool stems;                        /* a line from the axis to the first mark */
    bool ticks;            /* the first mark is an upright stroke, without whisker */
    const char *zero_name; /* name of a line at 0 through all rows; NULL = no line */
    const struct line_style *lines[LIMIT_LAYOUTS]; /* of the panel above, for the key, by row */
    struct row_above above;
    struct axis axis;
    uint32_t group_count;
    struct row_group groups[ROW_GROUPS];
};

/* Says beside the row that it is the best of its group, beyond chance. */
void row_mark_best(struct row *row);

/* Puts a word behind the row's value. */
void row_mark(struct row *row, const char *word);

/* Draws the chart. canvas->width is the width wished for and grows with the longest name and
 * value. Returns false when the script cannot be made. */
bool rows_draw(struct canvas *canvas, const struct row_chart *chart);

#endif
