/* sort.c - byte-wise radix sort, least significant byte first; insertion sort for short rows. */
#include "base/sort.h"

#include <stddef.h>
#include <string.h>

enum {
    KEY_BYTES = 8,
    BYTE_VALUES = 256,
    SHORT_COUNT = 48, /* below this the 16 KiB of counters cost more than the comparisons */
};

struct counters {
    uint32_t of[KEY_BYTES][BYTE_VALUES]; /* how many keys hold this value at this byte */
};

static unsigned byte_at(uint64_t key, int byte)
{
    return (unsigned)(key >> (8 * byte)) & 0xffu;
}

static void count_key(struct counters *counters, uint64_t key)
{
    for (int byte = 0; byte < KEY_BYTES; byte++) counters->of[byte][byte_at(key, byte)]++;
}

/* Turns the counts of one byte into first places. False when all keys agree on that byte: nothing
 * to move. */
static bool places_from_counts(uint32_t place[BYTE_VALUES], uint32_t count, uint64_t any_key,
                               int byte)
{
    if (place[byte_at(any_key, byte)] == count) return false;
    uint32_t next = 0;
    for (int value = 0; value < BYTE_VALUES; value++) {
        const uint32_t here = place[value];
        place[value] = next;
        next += here;
    }
    return true;
}

static void insert_rows(uint32_t *order, uint32_t count, const uint64_t *key)
{
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t row = order[i];
        uint32_t to = i;
        for (; to > 0 && key[order[to - 1]] > key[row]; to--) order[to] = order[to - 1];
        order[to] = row;
    }
}

void sort_rows(uint32_t *order, uint32_t *spare, uint32_t count, const uint64_t *key)
{
    if (count < SHORT_COUNT) {
        insert_rows(order, count, key);
        return;
    }
    struct counters counters = { 0 };
    for (uint32_t i = 0; i < count; i++) count_key(&counters, key[order[i]]);

    uint32_t *from = order, *to = spare;
    for (int byte = 0; byte < KEY_BYTES; byte++) {
        uint32_t *place = counters.of[byte];
        if (!places_from_counts(place, count, key[from[0]], byte)) continue;
        for (uint32_t i = 0; i < count; i++) to[place[byte_at(key[from[i]], byte)]++] = from[i];
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) memcpy(order, from, (size_t)count * sizeof *order);
}

static void insert_int64(int64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const int64_t value = values[i];
        uint32_t to = i;
        for (; to > 0 && values[to - 1] > value; to--) values[to] = values[to - 1];
        values[to] = value;
    }
}

void sort_int64(int64_t *values, int64_t *spare, uint32_t count)
{
    if (count < SHORT_COUNT) {
        insert_int64(values, count);
        return;
    }
    struct counters counters = { 0 };
    for (uint32_t i = 0; i < count; i++) count_key(&counters, sort_key_int64(values[i]));

    int64_t *from = values, *to = spare;
    for (int byte = 0; byte < KEY_BYTES; byte++) {
        uint32_t *place = counters.of[byte];
        if (!places_from_counts(place, count, sort_key_int64(from[0]), byte)) continue;
        for (uint32_t i = 0; i < count; i++)
            to[place[byte_at(sort_key_int64(from[i]), byte)]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values) memcpy(values, from, (size_t)count * sizeof *values);
}
