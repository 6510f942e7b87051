/* near.h - numbers that must agree, and random inputs, for the tests of the models. */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include "base/philox.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails with both numbers when |got - want| > rtol |want|. want 0 asks for 0. */
#define CHECK_NEAR(got, want, rtol)                                                                \
    do {                                                                                           \
        const double got_ = (got), want_ = (want);                                                 \
        if (!(fabs(got_ - want_) <= (rtol)*fabs(want_)))                                           \
            fail_msg("%s = %.17g, want %.17g", #got, got_, want_);                                 \
    } while (0)

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) fail_msg(__VA_ARGS__);                                                   \
    } while (0)

/* Uniform in (0, 1): number `which` of a seed. */
static inline double any(uint64_t seed, uint64_t which) { return stream_uniform(seed, 0, which); }
static inline double any_between(uint64_t seed, uint64_t which, double low, double high)
{
    return low + (high - low) * any(seed, which);
}
/* Spread evenly over the orders of magnitude. */
static inline double any_scale(uint64_t seed, uint64_t which, double low, double high)
{
    return low * pow(high / low, any(seed, which));
}
static inline uint32_t any_count(uint64_t seed, uint64_t which, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(any(seed, which) * (high - low + 1.0));
}

#endif
