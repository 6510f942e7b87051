/* moves.h - what flips the verdict: each assumption moved by itself (tables setting and tornado), and whether the
 * verdict holds.
 *
 * The runs of a move share their luck with the first replicas of the scenario as written, so what a move shifts is told
 * by pairs and added to what all replicas know (shifted_ci). Numbers only; moves_text.h puts them into words. */
#ifndef GPUPLAN_REPORT_MOVES_H
#define GPUPLAN_REPORT_MOVES_H

#include "report/compare.h"

enum { MOVES_MAX = 32 }; /* more than the reader takes                                           */

/* What a move does to one of the two headlines, in order of weight. */
enum turn {
    TURN_NONE,    /* not judged: no such jobs, or a layout is asked for more than it has          */
    TURN_HOLDS,
    TURN_TOLD,    /* layouts that could not be told apart now can                                 */
    TURN_UNKNOWN, /* too few replicas: a difference can no longer be told, but neither can its shift */
    TURN_UNTOLD,  /* turns: a difference that could be told no longer can, for the move shifts it */
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
    double needs;               /* effective load; NAN when it is not stored                      */
};

struct move {
    char axis[16];              /* name of enum axis                                              */
    double factor;
    const char *mark;           /* how well the assumption is known: "published", "derived", "assumed", "stated" (in the
                                   scenario), "trace" (as good as the user's trace)               */
    uint32_t pairs;             /* replicas of the best layout that ran under it; 0 = not computed */
    struct moved_layout *layouts; /* [comparison->layout_count]; those of the first slack are filled */
    struct interval lead;       /* yield of best minus rival, at conf_any                         */
    struct interval shift;      /* of the lead against the scenario as written, over the pairs, at conf */
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

/* "not judged", "holds", "told", "unknown", "not told", "turns". */
const char *turn_name(enum turn turn);

#endif
