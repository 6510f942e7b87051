/* test_kube_parts.c - policy/kube_parts: thousandths by hand, and against GPUs kept one by one. */
#include "policy/kube_parts.h"

#include "tests/near.h"

/* Of 100, 250 and 700 left and one whole GPU: 200 goes to the 250, 700 fills the 700, 800 opens the whole one, 300 then fits
 * nowhere. */
static void the_tightest_gpu_first(void **state)
{
    (void)state;
    struct kube_open open = { { 0 } };
    uint16_t whole = 1;
    kube_open_add(&open, 700);
    kube_open_add(&open, 100);
    kube_open_add(&open, 250);
    assert_int_equal(kube_open_largest(&open, 0), 700);
    assert_int_equal(kube_open_largest(&open, whole), 1000);
    assert_int_equal(kube_open_places(&open, whole, 100), 10 + 1 + 2 + 7);
    assert_int_equal(kube_open_places(&open, whole, 400), 2 + 1);
    static const uint32_t milli[] = { 200, 700, 800 };
    static const uint16_t left[3][4] = { { 50, 100, 700 }, { 50, 100 }, { 50, 100, 200 } };
    for (int i = 0; i < 3; i++) {
        assert_true(kube_open_take(&open, &whole, milli[i]));
        assert_memory_equal(open.left, left[i], sizeof left[i]);
    }
    assert_int_equal(whole, 0);
    assert_false(kube_open_take(&open, &whole, 300));
    assert_memory_equal(open.left, left[2], sizeof left[2]);
    assert_int_equal(kube_open_largest(&open, 0), 200);
}

/* Three GPUs, of which 500, 400 and nothing are used: two GPUs do not fit, one does; of parts of 500 there are 1 + 1 + 2, of 600 0 +
 * 1 + 1. With the whole one kept for somebody one GPU does not fit, and 600 does once. */
static void what_fits_beside_others(void **state)
{
    (void)state;
    struct kube_gpus gpus = { .in_service = 0x15 };
    kube_gpus_change(&gpus, 0x11, 300, +1);
    kube_gpus_change(&gpus, 0x01, 200, +1);
    kube_gpus_change(&gpus, 0x10, 100, +1);
    kube_gpus_change(&gpus, 0x08, 1000, +1); /* broken */
    assert_true(kube_gpus_fit(&gpus, 1, 0));
    assert_false(kube_gpus_fit(&gpus, 2, 0));
    gpus.own = 3;
    assert_true(kube_gpus_fit(&gpus, 0, 500));
    assert_false(kube_gpus_fit(&gpus, 0, 600));
    gpus.own = 1;
    assert_true(kube_gpus_fit(&gpus, 0, 600));
    gpus.own = 0;
    gpus.reserved = 1;
    assert_false(kube_gpus_fit(&gpus, 1, 0));
    assert_true(kube_gpus_fit(&gpus, 0, 600));
    gpus.own = 1;
    assert_false(kube_gpus_fit(&gpus, 0, 600));
    kube_gpus_change(&gpus, 0x01, 500, -1);
    assert_true(kube_gpus_fit(&gpus, 1, 0));
}

/* The same choices as a search over GPUs of their own; the places are those that a copy really gives. */
static void as_if_gpus_were_kept_one_by_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct kube_open open = { { 0 } };
        const uint32_t gpus = any_count(seed, 1, 1, 8);
        uint16_t whole = (uint16_t)gpus;
        uint32_t left[8];
        for (uint32_t g = 0; g < gpus; g++) left[g] = 1000;
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t milli = any_count(seed, 10 + i, 1, 999);
            struct kube_open copy = open;
            uint16_t copy_whole = whole;
            uint32_t places = 0;
            while (kube_open_take(&copy, &copy_whole, milli)) places++;
            assert_int_equal(kube_open_places(&open, whole, milli), places);
            uint32_t best = gpus;
            for (uint32_t g = 0; g < gpus; g++)
                if (left[g] >= milli && (best == gpus || left[g] < left[best])) best = g;
            assert_int_equal(kube_open_take(&open, &whole, milli), best < gpus);
            if (best < gpus) left[best] -= milli;
            uint32_t sum = 0, is = 1000u * whole;
            for (uint32_t g = 0; g < gpus; g++) sum += left[g];
            for (uint32_t g = 0; g < KUBE_NODE_GPUS && open.left[g]; g++) is += open.left[g];
            assert_int_equal(is, sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tightest_gpu_first),
        cmocka_unit_test(what_fits_beside_others),
        cmocka_unit_test(as_if_gpus_were_kept_one_by_one),
    };
    return cmocka_run_group_tests_name("kube_parts", tests, NULL, NULL);
}
