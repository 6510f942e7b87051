/* fullest.h - how many flows the fullest of many cables holds on average, where a hash spreads them (MODELS 4.5).
 *
 * Flows leave many leaves, over k cables each; a collective in lock step waits for the fullest cable of all of them:
 *
 *     P(all <= m) = product over leaves of P(max of one <= m)        E = sum over m of 1 - P(all <= m)
 *
 * The laws of one leaf are worked out once by number of flows. Beyond ECMP_FLOWS_MAX of them the load grows in proportion,
 * which is a little too much.
 * Tests: tests/test_fullest.c */
#ifndef GPUPLAN_NETWORK_FULLEST_H
#define GPUPLAN_NETWORK_FULLEST_H

#include "models/contention.h"

#include <stdbool.h>

struct fullest_law;

struct fullest {
    uint32_t cables;           /* k >= 1 of each leaf */
    struct fullest_law *of[ECMP_FLOWS_MAX + 1]; /* by flows; NULL: not known yet */
};

/* So many leaves that so many flows leave by hash each. */
struct fullest_leaves {
    uint32_t leaves, flows;
};

void fullest_clear(struct fullest *fullest); /* takes a zeroed one */

enum { FULLEST_KINDS = 32 };

/* Mean of max(least, flows on the fullest cable of all leaves of all kinds), count <= FULLEST_KINDS; a kind without leaves or flows is
 * none. False when memory is out. */
bool fullest_mean(struct fullest *fullest, const struct fullest_leaves *kinds, uint32_t count,
                  double least, double *mean);

#endif
