/* test_gpu_group.c - models/gpu_group against every division counted naively, and by hand. */
#include "models/gpu_group.h"

#include "base/bits.h"
#include "tests/near.h"

/* Two sockets of two pairs: NVLink in a pair, 20 in a socket, 10 across. */
static void fill_pairs(int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH], uint32_t gpus)
{
    for (uint32_t a = 0; a < gpus; a++)
        for (uint32_t b = 0; b < gpus; b++)
            score[a][b] = (int16_t)(a / 2 == b / 2 ? 450 : a / 4 == b / 4 ? 20 : 10);
}

static void pairs_by_hand(void **state)
{
    (void)state;
    int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH] = { { 0 } };
    fill_pairs(score, 16);
    assert_int_equal(gpu_group_preferred(score, 0xff, 0, 2), 0x03);
    assert_int_equal(gpu_group_preferred(score, 0xfe, 0, 2), 0x0c); /* the pair of 0 is broken */
    assert_int_equal(gpu_group_preferred(score, 0xff, 0x20, 2), 0x30);
    assert_int_equal(gpu_group_preferred(score, 0xff, 0x21, 2), 0x21); /* must, at any price */
    assert_int_equal(gpu_group_preferred(score, 0xf3, 0, 4), 0xf0);
    assert_int_equal(gpu_group_preferred(score, 0x01, 0, 1), 0x01);
    assert_int_equal(gpu_group_preferred(score, 0x0f, 0, 4), 0x0f);
    assert_int_equal(gpu_group_preferred(score, 0xffff, 0, 2), 0x03);
    assert_int_equal(gpu_group_preferred(score, 0x03, 0, 3), 0);    /* too few */
    assert_int_equal(gpu_group_preferred(score, 0x03, 0x04, 2), 0); /* must is not free */
    assert_int_equal(gpu_group_preferred(score, 0xff, 0x07, 2), 0); /* must is too much */
    assert_int_equal(gpu_group_preferred(score, 0xff, 0, 0), 0);
}

/* The best single group is (1, 2) of 30; taking it leaves (0, 3) of 0. The best division is (0, 1), (2, 3) of 40. */
static void the_sum_counts_not_the_best_group(void **state)
{
    (void)state;
    int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH] = { { 0 } };
    score[0][1] = score[1][0] = score[2][3] = score[3][2] = 20;
    score[1][2] = score[2][1] = 30;
    assert_int_equal(gpu_group_preferred(score, 0xf, 0, 2), 0x3);
}

struct naive {
    const int16_t (*score)[GPU_GROUP_WIDTH];
    uint32_t must, size;
    int32_t best_sum;
    uint32_t best_group;
    bool found;
};

/* Divisions in order of their groups' GPUs, the first group first; a short group stands behind the longer
 * one that begins alike. Written as the plugin's loops are: choose the rest of the group one GPU at a time. */
static void naive_group(struct naive *naive, uint32_t left, uint32_t group, uint32_t next,
                        int32_t sum, uint32_t *groups, uint32_t group_count)
{
    const uint32_t have = (uint32_t)bits_count(group), size = naive->size;
    const uint32_t rest = (uint32_t)bits_count(left | group) % size;
    if (!left && !group) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < group_count; i++)
            if ((uint32_t)bits_count(groups[i]) == size && !(naive->must & ~groups[i]) &&
                (!best ||
                 gpu_group_score(naive->score, groups[i]) > gpu_group_score(naive->score, best)))
                best = groups[i];
        if (!best || (naive->found && sum <= naive->best_sum)) return;
        naive->found = true;
        naive->best_sum = sum;
        naive->best_group = best;
        return;
    }
    if (!group) {
        const uint32_t lowest = left & (~left + 1);
        naive_group(naive, left & ~lowest, lowest, (uint32_t)__builtin_ctz(lowest) + 1, sum, groups,
                    group_count);
        return;
    }
    if (have < size)
        for (uint32_t bit = next; bit < 32; bit++)
            if (left >> bit & 1)
                naive_group(naive, left & ~(1u << bit), group | 1u << bit, bit + 1, sum, groups,
                            group_count);
    if (have == size || have == rest) {
        groups[group_count] = group;
        naive_group(naive, left, 0, 0, sum + gpu_group_score(naive->score, group), groups,
                    group_count + 1);
    }
}

static void same_as_every_division(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH] = { { 0 } };
        const uint32_t gpus = any_count(seed, 0, 1, 8), alike = any_count(seed, 1, 2, 40);
        uint64_t which = 10;
        for (uint32_t a = 0; a < gpus; a++)
            for (uint32_t b = 0; b < a; b++)
                score[a][b] = score[b][a] = (int16_t)any_count(seed, which++, 0, alike);
        const uint32_t available = any_count(seed, 2, 1, (1u << gpus) - 1);
        const uint32_t must = any(seed, 3) < 0.6 ? 0 : available & any_count(seed, 4, 0, 255);
        const uint32_t size = any_count(seed, 5, 1, (uint32_t)bits_count(available));
        struct naive naive = { .score = score, .must = must, .size = size };
        uint32_t groups[32];
        if ((uint32_t)bits_count(must) <= size) naive_group(&naive, available, 0, 0, 0, groups, 0);
        const uint32_t got = gpu_group_preferred(score, available, must, size);
        const uint32_t want = naive.found ? naive.best_group : 0;
        CHECK(got == want, "seed %lu: of %#x with %#x %u: got %#x, want %#x", seed, available, must,
              size, got, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_by_hand),
        cmocka_unit_test(the_sum_counts_not_the_best_group),
        cmocka_unit_test(same_as_every_division),
    };
    return cmocka_run_group_tests_name("gpu_group", tests, NULL, NULL);
}
