/* test_sort.c - base/sort: ascending and stable, checked for hundreds of seeds, sizes and key
 * shapes. */
#include "base/sort.h"

#include "base/philox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COUNT_MAX = 3000, SEEDS = 300 };

static const uint32_t sizes[] = { 0, 1, 2, 47, 48, 49, 255, 256, 257, 1000, COUNT_MAX };

/* Keys that collide, keys that differ in one byte only, keys over all of the range. */
static uint64_t key_of(uint64_t seed, uint64_t row)
{
    const uint64_t x = stream_draw(seed, 0, row).x1;
    switch (seed % 4) {
    case 0:
        return x;
    case 1:
        return x % 7;
    case 2:
        return (x & 0xff) << 40;
    default:
        return x >> (x % 64);
    }
}

static void rows_ascend_and_stay_stable(void **state)
{
    (void)state;
    static uint32_t order[COUNT_MAX], spare[COUNT_MAX];
    static uint64_t key[COUNT_MAX];
    static unsigned char seen[COUNT_MAX];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const uint32_t count = sizes[seed % (sizeof sizes / sizeof *sizes)];
        for (uint32_t i = 0; i < count; i++) {
            order[i] = i;
            seen[i] = 0;
            key[i] = key_of(seed, i);
        }
        sort_rows(order, spare, count, key);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(order[i] < count && !seen[order[i]]);
            seen[order[i]] = 1;
            if (i == 0) continue;
            assert_true(key[order[i - 1]] <= key[order[i]]);
            if (key[order[i - 1]] == key[order[i]]) assert_true(order[i - 1] < order[i]);
        }
    }
}

/* Sorting by the minor key first and by the major key after gives the order by both: only if equal
 * keys stay. */
static void two_keys_in_two_passes(void **state)
{
    (void)state;
    static uint32_t order[COUNT_MAX], spare[COUNT_MAX];
    static uint64_t major[COUNT_MAX], minor[COUNT_MAX];
    for (uint32_t i = 0; i < COUNT_MAX; i++) {
        order[i] = COUNT_MAX - 1 - i; /* starts from any permutation */
        major[i] = stream_draw(1, 0, i).x1 % 20;
        minor[i] = stream_draw(1, 1, i).x1 % 20;
    }
    sort_rows(order, spare, COUNT_MAX, minor);
    sort_rows(order, spare, COUNT_MAX, major);
    for (uint32_t i = 1; i < COUNT_MAX; i++) {
        const uint32_t a = order[i - 1], b = order[i];
        assert_true(major[a] < major[b] || (major[a] == major[b] && minor[a] <= minor[b]));
        if (major[a] == major[b] && minor[a] == minor[b]) assert_true(a > b);
    }
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void integers_match_the_c_library(void **state)
{
    (void)state;
    static int64_t ours[COUNT_MAX], theirs[COUNT_MAX], spare[COUNT_MAX];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const uint32_t count = sizes[seed % (sizeof sizes / sizeof *sizes)];
        for (uint32_t i = 0; i < count; i++)
            ours[i] = theirs[i] = (int64_t)key_of(seed, i) * (seed % 2 && i % 2 ? -1 : 1);
        sort_int64(ours, spare, count);
        qsort(theirs, count, sizeof *theirs, ascending);
        for (uint32_t i = 0; i < count; i++) assert_true(ours[i] == theirs[i]);
    }
}

static void extremes(void **state)
{
    (void)state;
    int64_t values[60], spare[60];
    for (int i = 0; i < 60; i++) values[i] = i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : -1;
    sort_int64(values, spare, 60);
    assert_true(values[0] == INT64_MIN && values[19] == INT64_MIN && values[20] == -1);
    assert_true(values[40] == INT64_MAX && values[59] == INT64_MAX);
    assert_true(sort_key_int64(-1) < sort_key_int64(0) && sort_key_int64(INT64_MIN) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_ascend_and_stay_stable),
        cmocka_unit_test(two_keys_in_two_passes),
        cmocka_unit_test(integers_match_the_c_library),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
