/* columns.h - columns that grow, and sets of rows that are listed in order. */
#ifndef GPUPLAN_NETWORK_COLUMNS_H
#define GPUPLAN_NETWORK_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rows with room for more of them, or as they were with *ok false. */
void *column_resize(void *rows, uint32_t room, size_t item_bytes, bool *ok);

/* Bits, and a bit for each word of bits. */
struct row_set {
    uint64_t *words, *summary;
    uint32_t rows; /* room */
};

bool row_set_grow(struct row_set *set, uint32_t rows); /* room for rows 0 to rows - 1; false when memory is out */
uint32_t row_set_take(struct row_set *set, uint32_t *list); /* lists the rows ascending and empties the set */
void row_set_clear(struct row_set *set);                    /* frees */

static inline void row_set_add(struct row_set *set, uint32_t row)
{
    set->words[row / 64] |= UINT64_C(1) << row % 64;
    set->summary[row / 4096] |= UINT64_C(1) << row / 64 % 64;
}

#endif
