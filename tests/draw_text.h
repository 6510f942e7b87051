/* draw_text.h - a text written of words drawn at random, the same for each seed. Header only; include it behind cmocka.h. */
#ifndef GPUPLAN_TESTS_DRAW_TEXT_H
#define GPUPLAN_TESTS_DRAW_TEXT_H

#include "base/philox.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DRAWN_BYTES = 1 << 15 };

static uint64_t draw_key, draw_count;
static char drawn_text[DRAWN_BYTES];
static size_t drawn_used;

/* An empty text, and the draws of this seed from the first on. */
static inline void text_begin(const char *purpose, uint64_t seed)
{
    drawn_used = 0;
    draw_count = 0;
    draw_key = stream_key(seed, 0, purpose);
}

static inline uint32_t below(uint32_t count)
{
    const uint32_t drawn = (uint32_t)(stream_uniform(draw_key, 0, draw_count++) * count);
    return drawn < count ? drawn : count - 1;
}

static inline bool chance(uint32_t percent) { return below(100) < percent; }

__attribute__((format(printf, 1, 2))) static inline void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    drawn_used += (size_t)vsnprintf(drawn_text + drawn_used, DRAWN_BYTES - drawn_used, format, args);
    va_end(args);
    assert_true(drawn_used < DRAWN_BYTES);
}

/* One of "a|b|c". Several may stand in one line. */
static inline const char *one_of(const char *words)
{
    static char some[8][128];
    static uint32_t turn;
    char *const word = some[turn++ % 8];
    uint32_t count = 1;
    for (const char *at = words; *at; at++) count += *at == '|';
    const char *at = words;
    for (uint32_t skip = below(count); skip > 0; skip--) at = strchr(at, '|') + 1;
    const int bytes = (int)strcspn(at, "|");
    assert_true(bytes < (int)sizeof some[0]);
    snprintf(word, sizeof some[0], "%.*s", bytes, at);
    return word;
}

#endif
