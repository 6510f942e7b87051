/* sort.h - stable radix sort of rows by a 64-bit key. qsort is not used: its order of equal keys
 * depends on the C library. */
#ifndef GPUPLAN_BASE_SORT_H
#define GPUPLAN_BASE_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Orders order[count], a permutation of rows, by key[order[i]] ascending; equal keys keep their
 * order. spare[count] is scratch. Keys compare as unsigned; use sort_key_int64 for signed ones. */
void sort_rows(uint32_t *order, uint32_t *spare, uint32_t count, const uint64_t *key);

/* Sorts values[count] ascending; spare[count] is scratch. */
void sort_int64(int64_t *values, int64_t *spare, uint32_t count);

static inline uint64_t sort_key_int64(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

#endif
