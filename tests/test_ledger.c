/* test_ledger.c - ledger/ledger against a level written out for every nanosecond. */
#include "ledger/ledger.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

/* A short run: END ns in bins of BIN ns; capacity in units. */
enum { END = 700, BIN = 37, CAPACITY = 5000, CELLS_USED = 12, MOVES = 400 };

/* Cells spread over accounts and classes; the first is where all capacity starts. */
static uint32_t cell_of(uint32_t i)
{
    return i == 0 ? ledger_cell(ACC_NO_DEMAND, CLASS_NONE)
                  : ledger_cell((enum account)(i * 7 % ACCOUNTS), (enum size_class)(i % CLASSES));
}

static int64_t level[END][CELLS_USED];

/* A move that leaves no level negative from its time on. */
static bool move_is_legal(uint32_t from, int64_t units, int64_t at)
{
    for (int64_t t = at; t < END; t++)
        if (level[t][from] < units) return false;
    return true;
}

static void random_moves(struct ledger *ledger, uint64_t seed)
{
    memset(level, 0, sizeof level);
    for (int64_t t = 0; t < END; t++) level[t][0] = CAPACITY;
    for (uint64_t i = 0; i < MOVES; i++) {
        const uint32_t from = any_count(seed, 5 * i, 0, CELLS_USED - 1),
                       to = any_count(seed, 5 * i + 1, 0, CELLS_USED - 1);
        /* In no order of time: moves into the past and the future, and at bin edges. */
        int64_t at = any_count(seed, 5 * i + 2, 0, END - 1);
        if (i % 5 == 0) at -= at % BIN;
        const int64_t units = any_count(seed, 5 * i + 3, 0, from == 0 ? 900 : 300);
        if (!move_is_legal(from, units, at)) continue;
        ledger_move(ledger, cell_of(from), cell_of(to), units, at);
        for (int64_t t = at; t < END; t++) {
            level[t][from] -= units;
            level[t][to] += units;
        }
    }
}

static int64_t integral(uint32_t cell, int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (int64_t t = from; t < to; t++) sum += level[t][cell];
    return sum;
}

static void like_every_nanosecond(void **state)
{
    const uint64_t seed = rows_number(state);
    struct ledger ledger;
    assert_true(ledger_init(&ledger, CAPACITY, BIN));
    random_moves(&ledger, seed);
    for (uint32_t i = 0; i < CELLS_USED; i++)
        assert_int_equal(ledger.level[cell_of(i)], level[END - 1][i]);
    struct replica_result result = { .window_start_ns = 3 * BIN, .window_end_ns = 11 * BIN };
    assert_true(ledger_close(&ledger, END, &result));
    assert_true(result.closure_error == 0);
    assert_int_equal(result.bin_count, (END + BIN - 1) / BIN);
    int128 all = 0, window = 0;
    for (uint32_t i = 0; i < CELLS_USED; i++) {
        const uint32_t account = cell_of(i) / CLASSES, class = cell_of(i) % CLASSES;
        assert_true(result.ledger_all[account][class] == integral(i, 0, END));
        assert_true(result.ledger[account][class] == integral(i, 3 * BIN, 11 * BIN));
        all += result.ledger_all[account][class];
        window += result.ledger[account][class];
    }
    assert_true(all == (int128)CAPACITY * END);
    assert_true(window == (int128)CAPACITY * 8 * BIN);
    for (uint32_t b = 0; b < result.bin_count; b++) {
        int64_t want[ACCOUNTS] = { 0 };
        const int64_t from = (int64_t)b * BIN, to = from + BIN < END ? from + BIN : END;
        assert_int_equal(result.bin_start_ns[b], from);
        for (uint32_t i = 0; i < CELLS_USED; i++)
            want[cell_of(i) / CLASSES] += integral(i, from, to);
        for (uint32_t account = 0; account < ACCOUNTS; account++)
            assert_true(result.bins[(uint64_t)b * ACCOUNTS + account] == want[account]);
    }
    assert_int_equal(result.bin_start_ns[result.bin_count], END);
    replica_result_clear(&result);
    ledger_clear(&ledger);
}

/* 800,000 GPUs for a century: integrals far beyond 64 bits stay exact. */
static void large_numbers(void **state)
{
    (void)state;
    const int64_t year = 365 * INT64_C(86400000000000), capacity = 800000 * UNITS_PER_GPU;
    struct ledger ledger;
    assert_true(ledger_init(&ledger, capacity, year));
    ledger_move(&ledger, ledger_cell(ACC_NO_DEMAND, CLASS_NONE), ledger_cell(ACC_COMPUTE, CLASS_1),
                capacity, 1);
    struct replica_result result = { .window_end_ns = 100 * year };
    assert_true(ledger_close(&ledger, 100 * year, &result));
    assert_true(result.closure_error == 0);
    assert_true(result.ledger[ACC_COMPUTE][CLASS_1] == (int128)capacity * (100 * year - 1));
    assert_true(result.ledger[ACC_NO_DEMAND][CLASS_NONE] == capacity);
    replica_result_clear(&result);
    ledger_clear(&ledger);
}

/* A run of no length has no bins and closes. */
static void empty_run(void **state)
{
    (void)state;
    struct ledger ledger;
    struct replica_result result = { 0 };
    assert_true(ledger_init(&ledger, 8 * UNITS_PER_GPU, 1000));
    assert_true(ledger_close(&ledger, 0, &result));
    assert_int_equal(result.bin_count, 0);
    assert_true(result.closure_error == 0);
    replica_result_clear(&result);
    ledger_clear(&ledger);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, large_numbers, NULL, "800,000 GPUs for a century");
    rows_add(&rows, empty_run, NULL, "a run of no length");
    for (uintptr_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, like_every_nanosecond, (void *)seed, "400 moves by the nanosecond, seed %u",
                 (unsigned)seed);
    return rows_run("ledger", &rows);
}
