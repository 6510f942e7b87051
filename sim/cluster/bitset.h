/* bitset.h - a set of rows with two summary levels: first and next member in a few steps.
 *
 * 64 rows a word, 64 words a bit of the first summary, 64 of those a bit of the second: a set of
 * 800,000 nodes is searched through 4 words of the top level. */
#ifndef GPUPLAN_CLUSTER_BITSET_H
#define GPUPLAN_CLUSTER_BITSET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define BITSET_NONE UINT32_MAX

struct bitset {
    uint64_t *level[3]; /* owned by the arena       */
    uint32_t words[3];
    uint32_t count; /* members                  */
};

bool bitset_init(struct bitset *set, struct arena *arena, uint32_t rows); /* false: memory is out */

void bitset_add(struct bitset *set, uint32_t row);    /* must not be a member */
void bitset_remove(struct bitset *set, uint32_t row); /* must be a member     */

static inline bool bitset_has(const struct bitset *set, uint32_t row)
{
    return set->level[0][row / 64] >> (row % 64) & 1;
}

/* The first member >= row, or BITSET_NONE. */
uint32_t bitset_next(const struct bitset *set, uint32_t row);

/* The last member <= row, or BITSET_NONE. */
uint32_t bitset_previous(const struct bitset *set, uint32_t row);

#endif
