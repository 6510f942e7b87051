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

/* The lowest `count` of the bits set, or all. */
static inline uint32_t bits_lowest(uint32_t mask, uint32_t count)
{
    uint32_t rest = mask;
    for (; count > 0 && rest; count--) rest &= rest - 1;
    return mask & ~rest;
}

/* The number of bits set in each byte, and the sum of bytes. Up to 31 of the former may be added before. */
static inline uint64_t bits_of_bytes(uint64_t mask)
{
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    return (mask + (mask >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
}

static inline uint32_t bits_sum_bytes(uint64_t bytes)
{
    const uint64_t even = bytes & UINT64_C(0x00FF00FF00FF00FF),
                   odd = bytes >> 8 & UINT64_C(0x00FF00FF00FF00FF);
    return (uint32_t)((even + odd) * UINT64_C(0x0001000100010001) >> 48);
}

static inline int bits_count_64(uint64_t mask)
{
    return (int)(bits_of_bytes(mask) * UINT64_C(0x0101010101010101) >> 56);
}

#endif
