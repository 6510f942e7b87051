/* soonest.h - the least of many times that change many at once: times in blocks, the least of each block.
 *
 * A heap pays a logarithm for each time that moves; when one event moves thousands, as the end of a flow does, it is cheaper
 * to note the block and find its least once. */
#ifndef GPUPLAN_NETWORK_SOONEST_H
#define GPUPLAN_NETWORK_SOONEST_H

#include "network/columns.h"

enum { SOONEST_BLOCK = 64 };

struct soonest {
    double *time;         /* [rows], INFINITY for none */
    double *least;        /* [rows / SOONEST_BLOCK]    */
    uint32_t *list;       /* [rows / SOONEST_BLOCK]    */
    struct row_set stale; /* blocks whose least is to be found */
    uint32_t rows;
};

bool soonest_grow(struct soonest *soonest, uint32_t rows); /* false when memory is out */
void soonest_clear(struct soonest *soonest);               /* frees */

static inline void soonest_set(struct soonest *soonest, uint32_t row, double time)
{
    soonest->time[row] = time;
    row_set_add(&soonest->stale, row / SOONEST_BLOCK);
}

double soonest_time(struct soonest *soonest); /* INFINITY when there is none */

/* The rows with a time up to `until`, ascending; list has room for all rows. As of the last soonest_time. */
uint32_t soonest_until(const struct soonest *soonest, double until, uint32_t *list);

#endif
