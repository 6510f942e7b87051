/* bits.h - counts of bits in a mask of GPUs, without a call into the compiler's library. */
#ifndef GPUPLAN_BASE_BITS_H
#define GPUPLAN_BASE_BITS_H

#include <stdint.h>

/* Number of bits set: pairs, then fours, then the sum of the bytes by one product. */
static inline int bits_count(uint32_t mask)
{
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    mask = (mask + (mask >> 4)) & 0x0F0F0F0Fu;
    return (int)(mask * 0x01010101u >> 24);
}

static inline int bits_count_64(uint64_t mask)
{
    return bits_count((uint32_t)mask) + bits_count((uint32_t)(mask >> 32));
}

#endif
