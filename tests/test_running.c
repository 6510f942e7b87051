/* test_running.c - cluster/running against a sorted array. */
#include "cluster/running.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

enum { ROWS = 3000 };

struct sorted {
    struct running_entry entries[ROWS];
    uint32_t count;
};

static bool before(const struct running_entry *a, const struct running_entry *b)
{
    return a->expected_end_ns != b->expected_end_ns ? a->expected_end_ns < b->expected_end_ns
                                                    : a->live < b->live;
}

static void sorted_add(struct sorted *sorted, struct running_entry entry)
{
    uint32_t at = sorted->count++;
    for (; at > 0 && before(&entry, &sorted->entries[at - 1]); at--)
        sorted->entries[at] = sorted->entries[at - 1];
    sorted->entries[at] = entry;
}

static struct running_entry sorted_take(struct sorted *sorted, uint32_t at)
{
    const struct running_entry entry = sorted->entries[at];
    memmove(&sorted->entries[at], &sorted->entries[at + 1], (--sorted->count - at) * sizeof entry);
    return entry;
}

static void same_order(const struct running *running, const struct sorted *sorted)
{
    struct running_place place = { 0 };
    for (uint32_t i = 0; i < sorted->count; i++) {
        const struct running_entry *entry = running_at(running, place);
        assert_non_null(entry);
        assert_int_equal(entry->expected_end_ns, sorted->entries[i].expected_end_ns);
        assert_int_equal(entry->live, sorted->entries[i].live);
        place = running_next(running, place);
    }
    assert_null(running_at(running, place));
    uint32_t count = 0;
    for (uint32_t b = 0; b < running->block_count; b++) {
        uint32_t gpus = 0;
        const struct running_block *block = running->blocks[b];
        assert_true(block->count > 0 && block->count <= RUNNING_BLOCK);
        for (uint32_t e = 0; e < block->count; e++) gpus += block->entries[e].gpus;
        assert_int_equal(block->gpus, gpus);
        count += block->count;
    }
    assert_int_equal(count, sorted->count);
}

static void same_answers(const struct running *running, const struct sorted *sorted, int64_t end_ns)
{
    uint32_t behind = 0;
    while (behind < sorted->count && sorted->entries[behind].expected_end_ns <= end_ns) behind++;
    const struct running_entry *entry = running_at(running, running_behind(running, end_ns));
    if (behind < sorted->count) {
        assert_non_null(entry);
        assert_int_equal(entry->live, sorted->entries[behind].live);
    } else
        assert_null(entry);
    const struct running_entry *last = running_last_until(running, end_ns);
    if (behind > 0) {
        assert_non_null(last);
        assert_int_equal(last->live, sorted->entries[behind - 1].live);
    } else
        assert_null(last);
}

/* Grows to some thousand entries and shrinks to none, twice; ends from a range that gives ties. */
static void like_sorted(void **state)
{
    const uint64_t seed = rows_number(state);
    const uint32_t range = seed % 2 ? 200 : 1000000;
    struct running running;
    running_init(&running);
    struct sorted *sorted = calloc(1, sizeof *sorted);
    uint32_t next_live = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        const bool growing = i / 2500 % 2 == 0;
        if (sorted->count < ROWS && any(seed, 4 * i) < (growing ? 0.9 : 0.05)) {
            const struct running_entry entry = { .expected_end_ns =
                                                     any_count(seed, 4 * i + 1, 0, range),
                                                 .live = next_live++,
                                                 .gpus = any_count(seed, 4 * i + 2, 1, 64) };
            assert_true(running_add(&running, entry));
            sorted_add(sorted, entry);
        } else if (sorted->count) {
            const uint32_t at = any_count(seed, 4 * i + 1, 0, sorted->count - 1);
            running_remove(&running, sorted_take(sorted, at));
        }
        same_answers(&running, sorted, any_count(seed, 4 * i + 3, 0, range));
        if (i % 50 == 0) same_order(&running, sorted);
    }
    same_answers(&running, sorted, INT64_MAX);
    same_answers(&running, sorted, -1);
    while (sorted->count) running_remove(&running, sorted_take(sorted, sorted->count / 2));
    same_order(&running, sorted);
    running_clear(&running);
    free(sorted);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= 6; seed++)
        rows_add(&rows, like_sorted, (void *)seed, "10,000 changes like a sorted array, seed %u",
                 (unsigned)seed);
    return rows_run("running", &rows);
}
