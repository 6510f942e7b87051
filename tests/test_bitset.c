/* test_bitset.c - cluster/bitset against an array of flags. */
#include "cluster/bitset.h"

#include "tests/near.h"
#include "tests/rows.h"

/* Sizes around the edges of a word, of 64 words and of 4,096 words. */
static const uint32_t sizes[] = { 1, 63, 64, 65, 4095, 4096, 4097, 262143, 262145, 800000 };

static uint32_t scan(const uint8_t *flag, uint32_t rows, uint32_t from)
{
    for (uint32_t row = from; row < rows; row++)
        if (flag[row]) return row;
    return BITSET_NONE;
}

static uint32_t scan_back(const uint8_t *flag, uint32_t rows, uint32_t from)
{
    for (uint32_t row = from < rows ? from + 1 : rows; row-- > 0;)
        if (flag[row]) return row;
    return BITSET_NONE;
}

static void like_flags(void **state)
{
    const uint32_t rows = (uint32_t)rows_number(state);
    struct arena *arena = arena_create(1u << 24);
    struct bitset set;
    assert_true(bitset_init(&set, arena, rows));
    uint8_t *flag = calloc(rows, 1);
    assert_non_null(flag);
    uint32_t members = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        /* Half of the changes fall into one place, so that words fill and empty. */
        const uint32_t most = any(rows, 4 * i) < 0.5 && rows > 100 ? 100 : rows;
        const uint32_t row = any_count(rows, 4 * i + 1, 0, most - 1);
        if (flag[row])
            bitset_remove(&set, row);
        else
            bitset_add(&set, row);
        flag[row] = !flag[row];
        members += flag[row] ? 1u : UINT32_MAX;
        assert_int_equal(set.count, members);
        assert_int_equal(bitset_has(&set, row), flag[row]);
        if (i % 16 && rows > 5000) continue; /* scans of large sets are what takes the time */
        const uint32_t from = any_count(rows, 4 * i + 2, 0, rows - 1);
        assert_int_equal(bitset_next(&set, from), scan(flag, rows, from));
        assert_int_equal(bitset_next(&set, 0), scan(flag, rows, 0));
        assert_int_equal(bitset_next(&set, rows), BITSET_NONE);
        assert_int_equal(bitset_previous(&set, from), scan_back(flag, rows, from));
        assert_int_equal(bitset_previous(&set, UINT32_MAX), scan_back(flag, rows, UINT32_MAX));
    }
    for (uint32_t row = bitset_next(&set, 0); row != BITSET_NONE;
         row = bitset_next(&set, row + 1)) {
        assert_true(flag[row]);
        members--;
    }
    assert_int_equal(members, 0);
    free(flag);
    arena_destroy(arena);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        rows_add(&rows, like_flags, (void *)(uintptr_t)sizes[i], "set of %u rows", sizes[i]);
    return rows_run("bitset", &rows);
}
