/* assert.c - the last words of a program that found itself wrong. */
#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local struct {
    int64_t time_ns;
    const char *event;
    uint64_t seed;
} context;

void assert_context(int64_t time_ns, const char *event, uint64_t seed)
{
    context.time_ns = time_ns;
    context.event = event;
    context.seed = seed;
}

void assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr,
            "%s:%d: assertion failed: %s\n"
            "    at %" PRId64 " ns, event %s, seed %" PRIu64 "; please report this line\n",
            file, line, condition, context.time_ns, context.event ? context.event : "none",
            context.seed);
    fflush(stderr);
    abort();
}
