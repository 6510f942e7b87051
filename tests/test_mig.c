/* test_mig.c - models/mig: every way to cut a GPU. */
#include "models/mig.h"

#include "tests/near.h"

#include <string.h>

/* By hand: sets that fit seven compute slices, and whether they have a place. */
static void sets_by_hand(void **state)
{
    (void)state;
    /*                                     1g 2g 3g 4g 7g */
    assert_true(mig_fit((uint32_t[]){ 7, 0, 0, 0, 0 }));
    assert_false(mig_fit((uint32_t[]){ 8, 0, 0, 0, 0 }));
    assert_true(mig_fit((uint32_t[]){ 0, 0, 2, 0, 0 }));
    assert_false(mig_fit((uint32_t[]){ 1, 0, 2, 0, 0 })); /* 3g takes four memory slices */
    assert_true(mig_fit((uint32_t[]){ 0, 0, 1, 1, 0 }));
    assert_true(mig_fit((uint32_t[]){ 3, 0, 0, 1, 0 }));
    assert_false(
        mig_fit((uint32_t[]){ 0, 2, 0, 1, 0 })); /* behind 4g only one start of 2g is left */
    assert_true(mig_fit((uint32_t[]){ 0, 0, 0, 0, 1 }));
    assert_false(mig_fit((uint32_t[]){ 0, 0, 0, 0, 2 }));
    assert_true(mig_fit((uint32_t[]){ 0, 0, 0, 0, 0 }));
    assert_false(mig_fit((uint32_t[]){ UINT32_MAX, 0, 0, 0, 0 }));
}

/* A100 of 40 GB with the profile of doubled memory, and A30. */
static const struct mig_gpu a100 = { .compute_slices = 7,
                                     .memory_slices = 8,
                                     .profile_count = 6,
                                     .profiles = { { 1, 1, 0x7f, 7 },
                                                   { 1, 2, 0x55, 4 },
                                                   { 2, 2, 0x15, 3 },
                                                   { 3, 4, 0x11, 2 },
                                                   { 4, 4, 0x01, 1 },
                                                   { 7, 8, 0x01, 1 } } };
static const struct mig_gpu a30 = { .compute_slices = 4,
                                    .memory_slices = 4,
                                    .profile_count = 3,
                                    .profiles = {
                                        { 1, 1, 0x0f, 4 }, { 2, 2, 0x05, 2 }, { 4, 4, 0x01, 1 } } };

/* The figures that NVIDIA's tables of legal layouts give: 19 on an A100, 5 on an A30. The other two were counted
 * by a program of another language that looks at every subset of the placements. */
static void all_layouts(void **state)
{
    (void)state;
    const struct mig_census plain = mig_census(&mig_plain);
    assert_int_equal(plain.full, 19);
    assert_int_equal(plain.multisets, 14);
    assert_int_equal(plain.placements, 298);
    const struct mig_census doubled = mig_census(&a100);
    assert_int_equal(doubled.full, 78);
    assert_int_equal(doubled.multisets, 38);
    assert_int_equal(doubled.placements, 723);
    const struct mig_census small = mig_census(&a30);
    assert_int_equal(small.full, 5);
    assert_int_equal(small.multisets, 4);
    assert_int_equal(small.placements, 26);
}

/* Whether some subset of all placements is such a set: the naive twin of mig_fits. */
static bool naive_fits(const struct mig_gpu *gpu, const uint32_t *counts)
{
    struct {
        uint32_t profile, mask;
    } places[32];
    uint32_t count = 0;
    for (uint32_t p = 0; p < gpu->profile_count; p++)
        for (uint32_t s = 0; s < gpu->memory_slices; s++)
            if (gpu->profiles[p].starts >> s & 1) {
                places[count].profile = p;
                places[count++].mask = ((1u << gpu->profiles[p].memory) - 1) << s;
            }
    for (uint32_t set = 0; set < 1u << count; set++) {
        uint32_t taken = 0, compute = 0, made[MIG_KINDS_MOST] = { 0 };
        bool legal = true;
        for (uint32_t i = 0; i < count && legal; i++) {
            if (!(set >> i & 1)) continue;
            legal = !(taken & places[i].mask);
            taken |= places[i].mask;
            compute += gpu->profiles[places[i].profile].compute;
            made[places[i].profile]++;
        }
        if (!legal || compute > gpu->compute_slices) continue;
        if (!memcmp(made, counts, gpu->profile_count * sizeof *counts)) return true;
    }
    return false;
}

static void same_as_every_subset(void **state)
{
    (void)state;
    uint32_t fit = 0;
    for (uint32_t code = 0; code < 8 * 4 * 3 * 2 * 2; code++) {
        const uint32_t counts[MIG_PROFILES] = { code % 8, code / 8 % 4, code / 32 % 3,
                                                code / 96 % 2, code / 192 };
        CHECK(mig_fit(counts) == naive_fits(&mig_plain, counts), "set %u", code);
        fit += mig_fit(counts);
    }
    CHECK(fit > 30, "only %u sets fit", fit);
}

/* A 1g on an empty GPU: at 0, 1, 2 or 3 it destroys the 4g but leaves a 3g at 4, at 4, 5 or 6 it leaves the 4g at 0. */
static void a_new_instance_spares_the_largest(void **state)
{
    (void)state;
    struct mig_state gpu = { 0 };
    assert_int_equal(mig_start(&mig_plain, &gpu, 0), 4);
    mig_make(&mig_plain, &gpu, 0, 4);
    assert_int_equal(mig_start(&mig_plain, &gpu, 0), 5); /* 4 is taken, 5 and 6 spare the 4g */
    assert_int_equal(mig_start(&mig_plain, &gpu, 3), 0);
    mig_make(&mig_plain, &gpu, 3, 0);
    assert_int_equal(mig_start(&mig_plain, &gpu, 4), MIG_NO_START);
    mig_unmake(&mig_plain, &gpu, 0, 4);
    assert_int_equal(mig_start(&mig_plain, &gpu, 2), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_by_hand),
        cmocka_unit_test(all_layouts),
        cmocka_unit_test(same_as_every_subset),
        cmocka_unit_test(a_new_instance_spares_the_largest),
    };
    return cmocka_run_group_tests_name("mig", tests, NULL, NULL);
}
