/* assert.h - checks of our own reasoning, on in every build.
 *
 * A failed one prints file and line, the condition, and the simulated time, event and seed that
 * the thread last announced, so that the crash can be replayed; then it aborts. Input of users is
 * never checked with it. */
#ifndef GPUPLAN_BASE_ASSERT_H
#define GPUPLAN_BASE_ASSERT_H

#include <stdint.h>

#define ASSERT(condition)                                                                          \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) assert_failed(__FILE__, __LINE__, #condition);      \
    } while (0)

/* What the calling thread is doing. event is borrowed: a constant text, or NULL for "none". */
void assert_context(int64_t time_ns, const char *event, uint64_t seed);

_Noreturn void assert_failed(const char *file, int line, const char *condition);

#endif
