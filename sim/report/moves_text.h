/* moves_text.h - what flips the verdict, in words and as a table. */
#ifndef GPUPLAN_REPORT_MOVES_TEXT_H
#define GPUPLAN_REPORT_MOVES_TEXT_H

#include "report/moves.h"

#include <stdio.h>

/* One line: which moves turn the verdict and which do not, what moves it most; or that this has not been computed. */
void moves_sentences(const struct moves *moves, FILE *out);

/* One line per move: mark, whether the verdict holds, yield of each layout and its difference to the baseline; below,
 * the same for completion. At most 100 columns: three layouts beside the baseline, then the next three. Nothing when no
 * move was run. */
void moves_table(const struct moves *moves, FILE *out);

#endif
