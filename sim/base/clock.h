/* clock.h - simulation time: int64_t nanoseconds since the first submission. */
#ifndef GPUPLAN_BASE_CLOCK_H
#define GPUPLAN_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_S    INT64_C(1000000000)
#define NS_PER_HOUR (3600 * NS_PER_S)
#define NS_PER_DAY  (86400 * NS_PER_S)
#define TIME_NEVER  INT64_MAX

/* Seconds to nanoseconds, rounded to nearest, clamped to [0, TIME_NEVER]. NaN gives TIME_NEVER. */
static inline int64_t ns_from_s(double s)
{
    if (!(s < 9.2e9)) return TIME_NEVER;
    if (s <= 0) return 0;
    return (int64_t)(s * 1e9 + 0.5);
}

static inline double s_from_ns(int64_t ns) { return (double)ns / 1e9; }

/* a + b, clamped to TIME_NEVER. a, b >= 0. */
static inline int64_t time_add(int64_t a, int64_t b)
{
    return a > TIME_NEVER - b ? TIME_NEVER : a + b;
}

#endif
