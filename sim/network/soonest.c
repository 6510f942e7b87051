/* soonest.c - see the header. */
#include "network/soonest.h"

#include <math.h>
#include <stdlib.h>

bool soonest_grow(struct soonest *soonest, uint32_t rows)
{
    if (rows <= soonest->rows) return true;
    const uint32_t blocks = (rows + SOONEST_BLOCK - 1) / SOONEST_BLOCK * 2;
    const uint32_t room = blocks * SOONEST_BLOCK;
    bool ok = row_set_grow(&soonest->stale, blocks);
    soonest->time = column_resize(soonest->time, room, sizeof *soonest->time, &ok);
    soonest->least = column_resize(soonest->least, blocks, sizeof *soonest->least, &ok);
    soonest->list = column_resize(soonest->list, blocks, sizeof *soonest->list, &ok);
    if (!ok) return false;
    for (uint32_t row = soonest->rows; row < room; row++) soonest->time[row] = INFINITY;
    for (uint32_t block = soonest->rows / SOONEST_BLOCK; block < blocks; block++)
        soonest->least[block] = INFINITY;
    soonest->rows = room;
    return true;
}

void soonest_clear(struct soonest *soonest)
{
    free(soonest->time);
    free(soonest->least);
    free(soonest->list);
    row_set_clear(&soonest->stale);
    *soonest = (struct soonest){ 0 };
}

/* Of a multiple of four, as four runs side by side: a single one would wait for itself. */
static double least_of(const double *time, uint32_t count)
{
    double least[4] = { INFINITY, INFINITY, INFINITY, INFINITY };
    for (uint32_t i = 0; i < count; i += 4)
        for (uint32_t k = 0; k < 4; k++) least[k] = time[i + k] < least[k] ? time[i + k] : least[k];
    const double left = least[0] < least[1] ? least[0] : least[1];
    const double right = least[2] < least[3] ? least[2] : least[3];
    return left < right ? left : right;
}

double soonest_time(struct soonest *soonest)
{
    const uint32_t stale = row_set_take(&soonest->stale, soonest->list);
    for (uint32_t i = 0; i < stale; i++) {
        const uint32_t block = soonest->list[i];
        soonest->least[block] = least_of(soonest->time + block * SOONEST_BLOCK, SOONEST_BLOCK);
    }
    double least = INFINITY;
    for (uint32_t block = 0; block < soonest->rows / SOONEST_BLOCK; block++)
        if (soonest->least[block] < least) least = soonest->least[block];
    return least;
}

uint32_t soonest_until(const struct soonest *soonest, double until, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t block = 0; block < soonest->rows / SOONEST_BLOCK; block++) {
        if (!(soonest->least[block] <= until)) continue;
        const uint32_t first = block * SOONEST_BLOCK;
        for (uint32_t row = first; row < first + SOONEST_BLOCK; row++)
            if (soonest->time[row] <= until) list[count++] = row;
    }
    return count;
}
