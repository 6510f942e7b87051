/* test_blast.c - models/blast: mixes and layouts by hand, and the same GPUs in ever smaller servers. */
#include "models/blast.h"

#include "tests/near.h"

static void mix_by_hand(void **state)
{
    (void)state;
    /* 9 events take 1 GPU, 1 takes 8: mean 1.7, nine tenths take one. */
    const struct blast_class mix[] = { { 1, 0.1, 8 }, { 9, 0.1, 1 } };
    CHECK_NEAR(blast_rate_per_s(mix, 2), 1, 1e-14);
    CHECK_NEAR(blast_mean_gpus(mix, 2), 1.7, 1e-14);
    assert_true(blast_quantile_gpus(mix, 2, 0) == 1 && blast_quantile_gpus(mix, 2, 0.9) == 1);
    assert_true(blast_quantile_gpus(mix, 2, 0.901) == 8 && blast_quantile_gpus(mix, 2, 1) == 8);
}

static void layout_by_hand(void **state)
{
    (void)state;
    /* Two servers of four: 4 * 0.01 * 5 + 0.06 * 5 = 0.5 down per up, so a third of the time down. */
    const struct layout_blast blast =
        layout_blast(&(struct blast_layout){ 8, 4, 0.01, 0.06, 5, 5 });
    assert_int_equal(blast.servers, 2);
    CHECK_NEAR(blast.unavailable, 1.0 / 3, 1e-14);
    CHECK_NEAR(blast.down_mean, 8.0 / 3, 1e-14);
    CHECK_NEAR(blast.down_sd, 4 * sqrt(2.0 * 2 / 9), 1e-14);
    CHECK_NEAR(blast.events_per_s, 2 * 0.1 * 2 / 3, 1e-14);
    CHECK_NEAR(blast.all_up, 4.0 / 9, 1e-14);
    assert_true(blast.down_q95 == 8); /* P(at most one down) = 8/9 */
}

/* With faults of GPUs only, smaller servers lose fewer GPUs on average and less at once, and events keep their number. */
static void smaller_servers_lose_less(void **state)
{
    (void)state;
    struct layout_blast last = { .down_mean = INFINITY, .down_sd = INFINITY, .down_q95 = INFINITY };
    for (uint32_t g = 16; g >= 1; g /= 2) {
        const struct layout_blast blast =
            layout_blast(&(struct blast_layout){ 960, g, 2e-5, 0, 24, 0 });
        assert_true(blast.down_mean < last.down_mean && blast.down_sd < last.down_sd);
        assert_true(blast.down_q95 <= last.down_q95);
        CHECK_NEAR(blast.events_per_s / (1 - blast.unavailable), 960 * 2e-5, 1e-12);
        last = blast;
    }
}

static void nothing_fails(void **state)
{
    (void)state;
    const struct layout_blast blast = layout_blast(&(struct blast_layout){ 64, 8, 0, 0, 24, 48 });
    assert_true(blast.down_mean == 0 && blast.events_per_s == 0 && blast.all_up == 1);
    assert_true(blast.down_q95 == 0 && blast.unavailable == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mix_by_hand),
        cmocka_unit_test(layout_by_hand),
        cmocka_unit_test(smaller_servers_lose_less),
        cmocka_unit_test(nothing_fails),
    };
    return cmocka_run_group_tests_name("blast", tests, NULL, NULL);
}
