/* plot_moves.h - what each moved assumption does to the verdict on yield, layout by layout: numbers
 * only, plot_tornado.c draws them.
 *
 * The verdict on a layout is its difference in yield (useful part of held GPU-hours, all jobs) to the
 * best layout. Intervals (moved_ci) and rules are those by which moves.h judges a move as a whole. */
#ifndef GPUPLAN_REPORT_PLOT_MOVES_H
#define GPUPLAN_REPORT_PLOT_MOVES_H

#include "report/plot_data.h"

enum { ASSUMPTIONS_MAX = 16, BAR_MOVES = 4 /* of one assumption */ };

/* What a move does to the verdict on a layout. The last two turn it. */
enum fate {
    FATE_NOT_RUN,
    FATE_HOLDS,   /* told as before, or not told as before                               */
    FATE_TOLD,    /* could not be told from the best, and now can                        */
    FATE_UNKNOWN, /* can not be told any more, over fewer replicas than as written          */
    FATE_UNTOLD,  /* can not be told from the best any more, over as many replicas       */
    FATE_AHEAD,   /* is ahead of what was the best, beyond chance                        */
    FATES
};
bool fate_turns(enum fate fate);

/* An assumption, with the settings that move it. */
struct assumption {
    const char *axis; /* borrowed from the data, escaped                                  */
    uint32_t settings[BAR_MOVES], move_count;
};

/* One assumption against one layout. */
struct plot_bar {
    uint32_t assumption; /* row in the list of assumptions                                   */
    struct estimate moved[BAR_MOVES]; /* layout minus reference                              */
    enum fate fate[BAR_MOVES];
    double lo, hi; /* least and greatest mean, the scenario as written included        */
    bool known;    /* a move was run                                                   */
};

struct plot_moved {
    uint32_t layout;                        /* row in the data's layouts                     */
    struct estimate as_written;             /* layout minus reference                        */
    bool told;                              /* it can be told from 0                         */
    struct plot_bar bars[ASSUMPTIONS_MAX]; /* [assumption_count], the longest first         */
};

struct plot_moves {
    uint32_t reference; /* row in the data's layouts: the best as written                    */
    uint32_t assumption_count;
    struct assumption assumptions[ASSUMPTIONS_MAX];
    uint32_t layout_count; /* all but the reference                                            */
    struct plot_moved layouts[LIMIT_LAYOUTS];
    uint32_t replicas; /* of each move, at most; 0: nothing was run                        */
    bool any_told;
    uint32_t rival;    /* row in layouts: the nearest that is told from the reference, or else of all */
    uint32_t main;     /* assumption that turns the verdict, else that shifts the rival most     */
    uint32_t shown;    /* row in layouts on which it does so                                     */
};

void plot_moves_make(struct plot_moves *moves, const struct plot_data *data);

#endif
