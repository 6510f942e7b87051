/* int128.h - exact products, quotients and sums of large integers.
 *
 * The ledger's integrals and the progress of jobs live here: all of it is exact. */
#ifndef GPUPLAN_BASE_INT128_H
#define GPUPLAN_BASE_INT128_H

#include <stdint.h>

typedef __int128 int128;
typedef unsigned __int128 uint128;

/* ceil(a * b / c), saturated to INT64_MAX. a, b >= 0, c > 0. */
static inline int64_t muldiv_ceil(int64_t a, int64_t b, int64_t c)
{
    const uint128 quotient = ((uint128)(uint64_t)a * (uint64_t)b + (uint64_t)c - 1) / (uint64_t)c;
    return quotient > (uint128)INT64_MAX ? INT64_MAX : (int64_t)quotient;
}

/* floor(a * b / c), saturated to INT64_MAX. a, b >= 0, c > 0. */
static inline int64_t muldiv_floor(int64_t a, int64_t b, int64_t c)
{
    const uint128 quotient = (uint128)(uint64_t)a * (uint64_t)b / (uint64_t)c;
    return quotient > (uint128)INT64_MAX ? INT64_MAX : (int64_t)quotient;
}

/* floor(a / b) for any sign of a, b > 0. */
static inline int128 int128_floor_div(int128 a, int128 b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

#endif
