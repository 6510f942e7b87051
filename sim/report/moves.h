/* moves.h - what flips the verdict: each assumption moved by itself (tables setting and tornado), and whether the
 * verdict holds.
 *
 * A move that ran in all replicas of the scenario as written is judged by its own values. One that ran in fewer shares
 * their luck: the pairs tell how far it shifts a value, and the shift is added to what all replicas know (moved_ci).
 *
 * One rule judges every difference that the headline rests on (the best layout minus each other for yield, each layout
 * against the baseline for completion). The move turns the headline when a difference that is told as written is told
 * with the other sign, when the best is behind another that is told, or when, with as many replicas as were run as
 * written, a told difference no longer is. With fewer replicas the last means that they are too few to tell. Numbers
 * only; moves_text.h puts them into words. */
#ifndef GPUPLAN_REPORT_MOVES_H
#define GPUPLAN_REPORT_MOVES_H

#include "report/compare.h"

enum { MOVES_MAX = 32 }; /* more than the reader takes                                           */

/* What a move does to one of the two headlines, in order of weight. */
enum turn {
    TURN_NONE,    /* not judged: no such jobs                                                     */
    TURN_SATURATED, /* not judged: a layout is asked for more than it has                         */
    TURN_HOLDS,
    TURN_TOLD,    /* as written no layout could be told from the best; now one can                */
    TURN_UNKNOWN, /* a difference can no longer be told, over fewer replicas than as written      */
    TURN_UNTOLD,  /* turns: a difference can no longer be told, over as many replicas             */
    TURN_OTHER,   /* turns: the other layout is ahead, beyond its interval                        */
};

/* One headline under one move. */
struct turned {
    enum turn turn;
    uint32_t layout; /* the one that turns it (TURN_TOLD: the one now ahead); LAYOUT_NONE without one */
};

/* One layout under one move. Half widths are NAN with fewer than 2 pairs, unless the run is exact. */
struct moved_layout {
    struct interval yield;      /* of a held GPU-hour, at comparison->conf                        */
    struct interval difference; /* of yields to the baseline, at conf_difference; n = 0 without one */
    struct interval later;      /* completion of jobs of 16 GPUs and more relative to the baseline, at conf_difference;
                                   n = 0 when it is not judged                                    */
    double needs;               /* comparison_needs; NAN when it is not stored                    */
};

struct move {
    char axis[16];              /* name of enum axis                                              */
    double factor;
    const char *mark;           /* how well the assumption is known: "published", "derived", "assumed", "stated" (in the
                                   scenario), "trace" (as good as the user's trace)               */
    uint32_t pairs;             /* replicas of the best layout that ran under it; 0 = not computed */
    struct moved_layout *layouts; /* [comparison->layout_count]; those of the first slack are filled */
    struct interval lead;       /* yield of best minus rival, at conf_any; n = 0 without one      */
    struct turned yield, large;
};

struct moves {
    const struct comparison *c; /* borrowed until moves_clear                                     */
    struct move *rows;          /* [count] one per setting but 0                                  */
    uint32_t count;
    uint32_t best, rival;       /* as written: the best yield of the first slack, and the next that can be told from it,
                                   else the next; LAYOUT_NONE without one                          */
    struct interval lead;       /* as written: best minus rival                                   */
    bool all_near;              /* as written no layout can be told from the best                 */
};

/* Judges every move of the database. Cleared by moves_clear, also after a failure. */
enum status moves_build(const struct comparison *comparison, struct moves *moves,
                        struct diag *diag);
void moves_clear(struct moves *moves);

/* Whether the turn is one of the verdict. */
bool turn_turns(enum turn turn);

/* "not judged", "saturated", "holds", "told", "cannot tell", "not told", "turns". */
const char *turn_name(enum turn turn);

#endif
