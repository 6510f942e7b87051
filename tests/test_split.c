/* test_split.c - ledger/split: levels by hand, and never a unit too many or too few. */
#include "ledger/split.h"

#include "tests/near.h"
#include "tests/rows.h"

static const struct {
    const char *name;
    uint32_t gpus, held;
    struct step_shares shares;
    int64_t compute, intra, inter, checkpoint, unused; /* wanted */
} cases[] = {
    { "compute alone", 1, 1, { 0 }, 1008000, 0, 0, 0, 0 },
    { "a third, a fifth, a seventh",
      3,
      3,
      { .intra = 336000, .inter = 201600, .checkpoint = 144000 },
      3 * 326400,
      3 * 336000,
      3 * 201600,
      3 * 144000,
      0 },
    { "twelve on two servers of eight",
      12,
      16,
      { .inter = 8 },
      12 * 1007992,
      0,
      96,
      0,
      4 * 1008000 },
    { "more than all: the first take it",
      1,
      1,
      { .intra = 1000000, .inter = 700000, .checkpoint = 500000 },
      0,
      1000000,
      8000,
      0,
      0 },
    { "all of it checkpoint", 2, 2, { .checkpoint = 1008000 }, 0, 0, 0, 2016000, 0 },
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    int64_t levels[ACC_HELD_END];
    step_split(cases[c].gpus * UNITS_PER_GPU, cases[c].held * UNITS_PER_GPU, &cases[c].shares,
               levels);
    assert_int_equal(levels[ACC_COMPUTE], cases[c].compute);
    assert_int_equal(levels[ACC_STALL_INTRA], cases[c].intra);
    assert_int_equal(levels[ACC_STALL_INTER], cases[c].inter);
    assert_int_equal(levels[ACC_CHECKPOINT], cases[c].checkpoint);
    assert_int_equal(levels[ACC_UNUSED], cases[c].unused);
}

/* Sum, order and caps for any shares. */
static void keeps_the_sum(void **state)
{
    const uint64_t seed = rows_number(state);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint32_t gpus = any_count(seed, 10 * i, 1, 4096),
                       held = gpus + any_count(seed, 10 * i + 1, 0, 7);
        uint32_t share[7];
        for (uint64_t k = 0; k < 7; k++)
            share[k] = any(seed, 10 * i + 2) < 0.5 ? any_count(seed, 10 * i + 3 + k, 0, 140000)
                                                   : any_count(seed, 10 * i + 3 + k, 0, 1008000);
        const struct step_shares shares = { share[0], share[1], share[2], share[3],
                                            share[4], share[5], share[6], share[6] / 2 };
        int64_t levels[ACC_HELD_END], sum = 0;
        step_split(gpus * UNITS_PER_GPU, held * UNITS_PER_GPU, &shares, levels);
        for (int account = 0; account < ACC_HELD_END; account++) {
            assert_true(levels[account] >= 0);
            sum += levels[account];
        }
        assert_int_equal(sum, held * UNITS_PER_GPU);
        static const enum account order[] = { ACC_STALL_INTRA,      ACC_STALL_INTER,
                                              ACC_STALL_CONTENTION, ACC_STALL_DATA,
                                              ACC_STRAGGLER,        ACC_BUBBLE,
                                              ACC_CHECKPOINT };
        int64_t left = gpus * UNITS_PER_GPU;
        for (int k = 0; k < 7; k++) {
            const int64_t asked = (int64_t)gpus * share[k];
            assert_int_equal(levels[order[k]], asked < left ? asked : left);
            left -= levels[order[k]];
        }
        const int64_t overhead = left * (share[6] / 2) / UNITS_PER_GPU; /* of the rest */
        assert_int_equal(levels[ACC_OVERHEAD], overhead);
        assert_int_equal(levels[ACC_COMPUTE], left - overhead);
    }
}

/* The unit: sevenths, eighths, thousandths and millionths are whole (MIG slices, shares). */
static void unit_divides(void **state)
{
    (void)state;
    static const int64_t parts[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 56, 63, 100, 1000 };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(UNITS_PER_GPU % parts[i], 0);
    assert_int_equal(UNITS_PER_GPU, 128 * 9 * 125 * 7);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    rows_add(&rows, unit_divides, NULL, "the unit holds sevenths, eighths, thousandths");
    for (uintptr_t seed = 1; seed <= 10; seed++)
        rows_add(&rows, keeps_the_sum, (void *)seed, "1,000 splits keep the sum, seed %u",
                 (unsigned)seed);
    return rows_run("split", &rows);
}
