/* test_fragmentation.c - models/fragmentation: by hand, and the bounds of any node. */
#include "models/fragmentation.h"

#include "tests/near.h"

static void by_hand(void **state)
{
    (void)state;
    const double shares[] = { 1, 1, 0.25 };
    const struct frag_node node = { 16, shares, 3 };
    /* Two whole GPUs fit, the quarter is left over; three do not, all 2.25 are useless; 0.5 leaves the quarter. */
    const struct frag_task two = { 1, 16, 2 }, three = { 1, 16, 3 }, half = { 1, 1, 0.5 };
    CHECK_NEAR(fragment_of_node(&node, &two, 1), 0.25, 1e-15);
    CHECK_NEAR(fragment_of_node(&node, &three, 1), 2.25, 1e-15);
    CHECK_NEAR(fragment_of_node(&node, &half, 1), 0.25, 1e-15);
    const struct usable_free sum = usable_free((uint32_t[]){ 8, 5, 3 }, 3, 4);
    assert_true(sum.free == 16 && sum.usable == 12 && sum.stranded == 4);
    assert_true(usable_free(NULL, 0, 4).free == 0);
}

/* Between nothing and all that is free; a task of no cores and a sliver of a GPU wastes nothing. */
static void bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        double shares[8], free_share = 0;
        const uint32_t gpus = any_count(seed, 0, 1, 8);
        for (uint32_t i = 0; i < gpus; i++)
            free_share += shares[i] =
                any(seed, 10 + i) < 0.5 ? 1 : floor(any(seed, 20 + i) * 10) / 10;
        const struct frag_node node = { any_between(seed, 1, 0, 64), shares, gpus };
        const struct frag_task task = { 1, any_between(seed, 2, 0, 64),
                                        seed % 2 ? any_count(seed, 3, 1, 8) : any(seed, 3) };
        const double fragment = fragment_of_node(&node, &task, 1);
        CHECK(fragment >= 0 && fragment <= free_share, "seed %lu: %g of %g", seed, fragment,
              free_share);
        const struct frag_task sliver = { 1, 0, 1e-6 };
        assert_true(fragment_of_node(&node, &sliver, 1) == 0);
        assert_true(fragments(&node, 1, &task, 1).ratio <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests_name("fragmentation", tests, NULL, NULL);
}
