/* test_score.c - policy/score: scores worked by hand, and the fragment against the model's own. */
#include "policy/score.h"

#include "models/fragmentation.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>

/* The largest node of openb: 8 GPUs, 128 cores. */
static const struct score_scale scale = { .gpus = 8, .cores_milli = 128000 };

/* 8 GPUs, 2.6 of them free as 1 + 1 + 0.6; 64 cores free. */
static const struct score_node half_full = {
    .gpus = 8,
    .cores_milli_free = 64000,
    .memory_free = UINT64_C(256) << 30,
    .kinds = 1,
    .milli_free = { 1000, 1000, 600 },
};

static const struct score_node empty8 = { .gpus = 8,
                                          .cores_milli_free = 96000,
                                          .milli_free = { 1000, 1000, 1000, 1000, 1000, 1000, 1000,
                                                          1000 } };
static const struct score_node empty2 = { .gpus = 2,
                                          .cores_milli_free = 104000,
                                          .milli_free = { 1000, 1000 } };

static const struct score_ask half_gpu = { .share_milli = 500, .cores_milli = 16000 };
static const struct score_ask most_gpu = { .share_milli = 700, .cores_milli = 4000 };
static const struct score_ask two_gpus = { .gpus = 2, .cores_milli = 32000 };
static const struct score_ask no_gpus = { .cores_milli = 8000 };

/* (64 - 16)/128 = 0.375 and (2.6 - 0.5)/8 = 0.2625: 100 (1 - 0.6375/2) = 68.1;
 * (64 - 32)/128 = 0.25 and 0.6/8 = 0.075: 83.75; (96 - 32)/128 = 0.5 and 6/8: 37.5;
 * (64 - 8)/128 = 0.4375 and 2.6/8 = 0.325: 61.9. */
static void best_fit_by_hand(void **state)
{
    (void)state;
    assert_int_equal(score_best_fit(&half_full, &half_gpu, scale), 68);
    assert_int_equal(score_best_fit(&half_full, &two_gpus, scale), 83);
    assert_int_equal(score_best_fit(&empty8, &two_gpus, scale), 37);
    assert_int_equal(score_best_fit(&half_full, &no_gpus, scale), 61);
}

/* 0.5 * 0.125 + 0.325 * 0.0625 = 0.0828: 95.86; 0.5 * 0.25 + 0.325 * 0.25 = 0.206: 89.69;
 * 0.75 * 0.25 + 1 * 0.25 = 0.4375: 78.1; 0.5 * 0.0625 = 0.03125: 98.4. */
static void dot_product_by_hand(void **state)
{
    (void)state;
    assert_int_equal(score_dot_product(&half_full, &half_gpu, scale), 95);
    assert_int_equal(score_dot_product(&half_full, &two_gpus, scale), 89);
    assert_int_equal(score_dot_product(&empty8, &two_gpus, scale), 78);
    assert_int_equal(score_dot_product(&half_full, &no_gpus, scale), 98);
}

/* 25 (8 - 2.6)/8 = 16.9 for fullness. */
static void clustering_by_hand(void **state)
{
    (void)state;
    struct score_node node = half_full;
    assert_int_equal(score_clustering(&node, &half_gpu, scale), 75 + 16);
    assert_int_equal(score_clustering(&node, &two_gpus, scale), 0 + 16);
    node.kinds = score_kind(&half_gpu) | score_kind(&two_gpus);
    assert_int_equal(score_clustering(&node, &half_gpu, scale), 50 + 16);
    assert_int_equal(score_clustering(&node, &two_gpus, scale), 50 + 16);
    assert_int_equal(score_clustering(&empty8, &two_gpus, scale), 25);
    assert_int_equal(score_clustering(&empty2, &two_gpus, scale), 25 + 18);
    assert_int_equal(score_clustering(&node, &no_gpus, scale), 0);
}

/* The share of 0.5 goes on the GPU with 0.6 left: 100 - 60/10. That of 0.7 needs an untouched GPU: 50 - 1; two
 * whole ones 50 - 2. Empty nodes: 33 less their GPUs. */
static void packing_by_hand(void **state)
{
    (void)state;
    assert_int_equal(score_packing(&half_full, &half_gpu), 94);
    assert_int_equal(score_packing(&half_full, &most_gpu), 49);
    assert_int_equal(score_packing(&half_full, &two_gpus), 48);
    assert_int_equal(score_packing(&empty8, &two_gpus), 33 - 8);
    assert_int_equal(score_packing(&empty2, &half_gpu), 33 - 2);
    assert_int_equal(score_packing(&half_full, &no_gpus), 0);
}

static void what_fits(void **state)
{
    (void)state;
    assert_true(score_fits(&half_full, &half_gpu));
    assert_true(score_fits(&half_full, &two_gpus));
    assert_false(score_fits(&half_full, &(struct score_ask){ .gpus = 3 }));
    assert_false(score_fits(&half_full, &(struct score_ask){ .gpus = 1, .cores_milli = 64001 }));
    assert_true(score_fits(&half_full, &(struct score_ask){ .gpus = 1, .cores_milli = 64000 }));
    assert_false(score_fits(
        &half_full, &(struct score_ask){ .gpus = 1, .memory_bytes = half_full.memory_free + 1 }));
    const struct score_node last = { .gpus = 2, .milli_free = { 0, 499 } };
    assert_false(score_fits(&last, &(struct score_ask){ .share_milli = 500 }));
    assert_true(score_fits(&last, &(struct score_ask){ .share_milli = 499 }));
}

static void which_gpu(void **state)
{
    (void)state;
    assert_int_equal(score_tightest_gpu(&half_full, 500), 2);
    assert_int_equal(score_tightest_gpu(&half_full, 600), 2);
    assert_int_equal(score_tightest_gpu(&half_full, 601), 0);
    for (uint64_t nth = 0; nth < 6; nth++) {
        assert_int_equal(score_any_gpu(&half_full, 500, nth), nth % 3);
        assert_int_equal(score_any_gpu(&half_full, 700, nth), nth % 2);
    }
}

/* The mix of MODELS 6.2: of ten jobs five ask for a GPU and 8 cores, three for four and 16, two for half a GPU and 4. */
static const struct score_task tasks[] = {
    { .ask = { .gpus = 1, .cores_milli = 8000 }, .groups = UINT64_MAX, .count = 5 },
    { .ask = { .gpus = 4, .cores_milli = 16000 }, .groups = UINT64_MAX, .count = 3 },
    { .ask = { .share_milli = 500, .cores_milli = 4000 }, .groups = UINT64_MAX, .count = 2 },
};
static const struct score_node worked = { .gpus = 4,
                                          .cores_milli_free = 32000,
                                          .milli_free = { 1000, 1000, 500, 0 } };

static struct score_mix mix_of_ten(void)
{
    struct score_mix mix;
    score_mix_init(&mix, tasks, 3, 10);
    return mix;
}

/* Before: 5 * 0.5 (one GPU asked, half of one too small) + 3 * 2.5 (four do not fit) = 10.
 * Half a GPU: on an untouched one 5 * 1.0 + 3 * 2.0 = 11: the fall is -0.1 GPU of ten jobs' sum, score 47.5; on the
 * half free one 3 * 2.0 = 6: fall 0.4, score 59.9. A whole one: 5 * 0.5 + 3 * 1.5 = 7: fall 0.3, score 57.4. */
static void fgd_by_hand(void **state)
{
    (void)state;
    const struct score_mix mix = mix_of_ten();
    const int64_t fragment = score_fragment(&worked, &mix);
    assert_int_equal(fragment, 10 * 1000);
    uint32_t gpu = 99;
    const struct score_ask half = { .share_milli = 500, .cores_milli = 4000 };
    assert_int_equal(score_fgd(&worked, &half, &mix, fragment, &gpu), 59);
    assert_int_equal(gpu, 2);
    const struct score_ask one = { .gpus = 1, .cores_milli = 8000 };
    assert_int_equal(score_fgd(&worked, &one, &mix, fragment, &gpu), 57);
    struct score_node whole = worked; /* 3 * 2.0 = 6, then 5 * 0.5 + 3 * 1.5 = 7: a fall of -0.1 */
    whole.milli_free[2] = 0;
    assert_int_equal(score_fgd(&whole, &half, &mix, score_fragment(&whole, &mix), &gpu), 47);
    assert_int_equal(gpu, 0);
}

/* A task whose group the node does not belong to cannot use it at all. */
static void other_groups_are_useless(void **state)
{
    (void)state;
    const struct score_task picky = { .ask = { .gpus = 1 },
                                      .groups = UINT64_C(1) << 3,
                                      .count = 7 };
    struct score_mix mix;
    score_mix_init(&mix, &picky, 1, 7);
    struct score_node node = worked;
    assert_int_equal(score_fragment(&node, &mix), 7 * 2500);
    node.group = 3;
    assert_int_equal(score_fragment(&node, &mix), 7 * 500);
}

/* Scores are the logistic function of libm, rounded down, away from its steps. */
static void falls_are_logistic(void **state)
{
    const uint64_t seed = rows_number(state);
    const struct score_task task = { .ask = { .gpus = 1 }, .groups = 1, .count = 1000003 };
    struct score_mix mix;
    score_mix_init(&mix, &task, 1, 1000003);
    for (uint64_t i = 0; i < 200; i++) {
        /* One GPU of the only kind of job is taken: the fall is that of what is written as fragment. */
        const double fall = any_between(seed, i, -6.0, 6.0);
        const double score = 100.0 / (1.0 + exp(-fall));
        if (fabs(score - round(score)) < 1e-4) continue;
        const struct score_node node = { .gpus = 1, .milli_free = { 1000 } };
        uint32_t gpu = 0;
        const int64_t fragment = (int64_t)llround(fall * 1000.0 * 1000003.0);
        assert_int_equal(score_fgd(&node, &task.ask, &mix, fragment, &gpu), (int)score);
    }
}

/* Any node, any mix: the sum in thousandths is that of models/fragmentation.c. */
static void fragment_is_the_models(void **state)
{
    const uint64_t seed = rows_number(state);
    struct score_task any_tasks[8];
    struct frag_task model_tasks[8];
    uint64_t weight = 0;
    for (uint32_t t = 0; t < 8; t++) {
        struct score_ask ask = { .cores_milli = any_count(seed, 10 * t, 0, 40) * 1000 };
        const uint32_t pick = any_count(seed, 10 * t + 1, 0, 3);
        if (pick == 0) ask.share_milli = any_count(seed, 10 * t + 2, 1, 999);
        if (pick == 1) ask.gpus = any_count(seed, 10 * t + 2, 1, 8);
        if (pick == 2) ask.gpus = 1;
        any_tasks[t] = (struct score_task){ ask, UINT64_MAX, any_count(seed, 10 * t + 3, 1, 900) };
        weight += any_tasks[t].count;
        model_tasks[t] = (struct frag_task){ .weight = any_tasks[t].count,
                                             .cores = ask.cores_milli / 1000.0,
                                             .gpus = ask.gpus + ask.share_milli / 1000.0 };
    }
    struct score_mix mix;
    score_mix_init(&mix, any_tasks, 8, weight);
    struct score_node node = { .gpus = any_count(seed, 200, 1, 8) };
    double gpu_free[8];
    node.cores_milli_free = any_count(seed, 201, 0, 64) * 1000;
    for (uint32_t i = 0; i < node.gpus; i++) {
        const uint32_t pick = any_count(seed, 210 + 2 * i, 0, 2);
        node.milli_free[i] =
            (uint16_t)(pick ? (pick - 1) * 1000 : any_count(seed, 211 + 2 * i, 1, 999));
        gpu_free[i] = node.milli_free[i] / 1000.0;
    }
    const struct frag_node model_node = { node.cores_milli_free / 1000.0, gpu_free, node.gpus };
    CHECK_NEAR(score_fragment(&node, &mix) / 1000.0, fragment_of_node(&model_node, model_tasks, 8),
               1e-12);
}

int main(void)
{
    static const struct CMUnitTest by_hand[] = {
        cmocka_unit_test(best_fit_by_hand),   cmocka_unit_test(dot_product_by_hand),
        cmocka_unit_test(clustering_by_hand), cmocka_unit_test(packing_by_hand),
        cmocka_unit_test(what_fits),          cmocka_unit_test(which_gpu),
        cmocka_unit_test(fgd_by_hand),        cmocka_unit_test(other_groups_are_useless),
    };
    struct rows rows = { 0 };
    for (uint64_t seed = 1; seed <= 20; seed++)
        rows_add(&rows, falls_are_logistic, (const void *)(uintptr_t)seed,
                 "falls are logistic, seed %" PRIu64, seed);
    for (uint64_t seed = 1; seed <= 100; seed++)
        rows_add(&rows, fragment_is_the_models, (const void *)(uintptr_t)seed,
                 "the fragment is the model's, seed %" PRIu64, seed);
    return cmocka_run_group_tests_name("score", by_hand, NULL, NULL) +
           rows_run("score over seeds", &rows);
}
