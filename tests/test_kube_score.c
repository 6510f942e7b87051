/* test_kube_score.c - policy/kube_score: points worked by hand, and what must hold for any node. */
#include "policy/kube_score.h"

#include "tests/near.h"

#define GIB (INT64_C(1) << 30)

/* A node of 96 cores, 768 GiB and 8 GPUs, half of which are used with 12 cores and 96 GiB. */
static const struct kube_room half = {
    .allocatable = { { [KUBE_CPU] = 96000, [KUBE_MEMORY] = 768 * GIB, [KUBE_GPU] = 8 } },
    .used = { { [KUBE_CPU] = 12000, [KUBE_MEMORY] = 96 * GIB, [KUBE_GPU] = 4 } },
    .counted = { { [KUBE_CPU] = 12000, [KUBE_MEMORY] = 96 * GIB, [KUBE_GPU] = 4 } },
};
static const struct kube_amounts one = {
    { [KUBE_CPU] = 8000, [KUBE_MEMORY] = 64 * GIB, [KUBE_GPU] = 1 }
};

static int64_t fit_of(enum fit_strategy strategy, int64_t cpu, int64_t memory, int64_t gpu)
{
    const struct kube_fit fit = {
        .strategy = strategy,
        .weight = { [KUBE_CPU] = cpu, [KUBE_MEMORY] = memory, [KUBE_GPU] = gpu },
        .shape_count = 3,
        .shape = { { 10, 20 }, { 50, 100 }, { 90, 0 } }
    };
    return kube_score_fit(&fit, &half, &one);
}

/* cpu: 20000 of 96000 = 20.8 %; memory: 160 of 768 GiB = 20.8 %; GPUs: 5 of 8 = 62.5 %. */
static void fit_by_hand(void **state)
{
    (void)state;
    assert_int_equal(fit_of(FIT_LEAST_ALLOCATED, 1, 1, 0), 79);
    assert_int_equal(fit_of(FIT_LEAST_ALLOCATED, 0, 0, 1), 37); /* 3/8 */
    assert_int_equal(fit_of(FIT_MOST_ALLOCATED, 1, 1, 5), 50);  /* (20 + 20 + 5*62)/7 */
    assert_int_equal(fit_of(FIT_MOST_ALLOCATED, 0, 0, 0), 0);
    /* Shape: 20 % -> 20 + 80*10/40 = 40; 62 % -> 100 - 100*12/40 = 70; (40 + 40 + 3*70)/5 = 58. */
    assert_int_equal(fit_of(FIT_REQUESTED_TO_CAPACITY, 1, 1, 3), 58);
    assert_int_equal(fit_of(FIT_REQUESTED_TO_CAPACITY, 1, 0, 1), 55);
}

/* A resource of zero points is left out of the mean, and the quotient is rounded to nearest. */
static void shape_leaves_zeros_out_and_rounds(void **state)
{
    (void)state;
    const struct kube_fit fit = { .strategy = FIT_REQUESTED_TO_CAPACITY,
                                  .weight = { [KUBE_CPU] = 9, [KUBE_MEMORY] = 1, [KUBE_GPU] = 1 },
                                  .shape_count = 2,
                                  .shape = { { 0, 0 }, { 100, 100 } } };
    struct kube_room room = half;
    room.counted = (struct kube_amounts){ { [KUBE_MEMORY] = 128 * GIB, [KUBE_GPU] = 4 } };
    const struct kube_amounts request = {
        { [KUBE_CPU] = 900, [KUBE_MEMORY] = 64 * GIB, [KUBE_GPU] = 1 }
    };
    /* cpu 0 %, left out; memory 25 %, GPUs 62 %: 43.5 rounds to 44. */
    assert_int_equal(kube_score_fit(&fit, &room, &request), 44);
}

/* Pods without requests count 100 milli-CPU and 200 MiB in the fit and nothing in the balance. */
static void pods_without_requests(void **state)
{
    (void)state;
    const struct kube_amounts none = { { [KUBE_GPU] = 1 } };
    const struct kube_amounts counted = kube_counted(&none);
    assert_int_equal(counted.of[KUBE_CPU], 100);
    assert_int_equal(counted.of[KUBE_MEMORY], 200 << 20);
    const struct kube_scoring scoring = { .balanced = 1u << KUBE_CPU | 1u << KUBE_MEMORY };
    assert_int_equal(kube_score_balanced(&scoring, &half, &none), 0);
}

/* After placing: fractions 0.9, 0.5; deviation 0.2; before: 0.5 and 0.5, 100 points. */
static void balance_by_hand(void **state)
{
    (void)state;
    const struct kube_room room = { .allocatable = { { 1000, 1000, 8 } },
                                    .used = { { 500, 500, 8 } } };
    const struct kube_amounts request = { { [KUBE_CPU] = 400 } };
    struct kube_scoring scoring = { .balanced = 1u << KUBE_CPU | 1u << KUBE_MEMORY };
    assert_int_equal(kube_score_balanced(&scoring, &room, &request), 80);
    scoring.version = BALANCED_DELTA; /* 50 + (50 + 80 - 100)/2 */
    assert_int_equal(kube_score_balanced(&scoring, &room, &request), 65);
    /* Three resources: 0.9, 0.5 and GPUs left out, since none is requested: still two. */
    scoring = (struct kube_scoring){ .balanced = 7 };
    assert_int_equal(kube_score_balanced(&scoring, &room, &request), 80);
    /* 0.2, 0.5 and 0.8: the deviation of the population is sqrt(0.06) = 0.2449. */
    const struct kube_room empty = { .allocatable = { { 1000, 1000, 10 } } };
    const struct kube_amounts three = { { 200, 500, 8 } };
    assert_int_equal(kube_score_balanced(&scoring, &empty, &three), 75);
}

/* Two soft taints, one of them tolerated; preferred terms of 80 and 20. */
static void scaled_points(void **state)
{
    (void)state;
    const struct kube_taint taints[] = { { "spot", "", TAINT_PREFER_NO_SCHEDULE },
                                         { "old", "", TAINT_PREFER_NO_SCHEDULE },
                                         { "hard", "", TAINT_NO_SCHEDULE } };
    const struct kube_label label = { "disk", "ssd" };
    const struct kube_facts facts = {
        .labels = &label, .label_count = 1, .taints = taints, .taint_count = 3
    };
    const struct kube_toleration spot = { "spot", "", true, TAINT_ANY };
    const char *const ssd[] = { "ssd" };
    const struct kube_expression disk = { "disk", LABEL_IN, ssd, 1 },
                                 gone = { "disk", LABEL_NOT_EXISTS, NULL, 0 };
    const struct kube_term terms[] = { { &disk, 1, 80 }, { &gone, 1, 20 } };
    const struct kube_wish wish = {
        .tolerations = &spot, .toleration_count = 1, .preferred = terms, .preferred_count = 2
    };
    assert_int_equal(kube_raw_taints(&facts, &wish), 1);
    assert_int_equal(kube_raw_affinity(&facts, &wish), 80);
    assert_int_equal(kube_scaled_taints(1, 3), 67); /* 100 - 33 */
    assert_int_equal(kube_scaled_taints(0, 0), 100);
    assert_int_equal(kube_scaled_affinity(80, 100), 80);
    assert_int_equal(kube_scaled_affinity(0, 0), 0);
}

/* For any node that the pod fits: points are 0 .. 100, and what Least gives Most takes, up to truncation. */
static void points_stay_in_range(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct kube_room room = { 0 };
        struct kube_amounts request = { { 0 } };
        struct kube_fit fit = { 0 };
        for (uint32_t r = 0; r < 3; r++) {
            room.allocatable.of[r] = any_count(seed, 10 + r, 1, 1u << 30);
            room.used.of[r] = any_count(seed, 20 + r, 0, (uint32_t)room.allocatable.of[r]);
            request.of[r] = any_count(seed, 30 + r, 1, (uint32_t)room.allocatable.of[r]);
            if (request.of[r] > room.allocatable.of[r] - room.used.of[r])
                room.used.of[r] = room.allocatable.of[r] - request.of[r];
            fit.weight[r] = any_count(seed, 40 + r, 1, 9);
        }
        room.counted = room.used;
        const int64_t least = kube_score_fit(&fit, &room, &request);
        fit.strategy = FIT_MOST_ALLOCATED;
        const int64_t most = kube_score_fit(&fit, &room, &request);
        CHECK(least >= 0 && most >= 0, "seed %lu: negative", seed);
        CHECK(least + most <= 100 && least + most >= 98, "seed %lu: %ld + %ld", seed, least, most);
        const struct kube_scoring scoring = { .balanced = any_count(seed, 50, 1, 7) };
        const int64_t balanced = kube_score_balanced(&scoring, &room, &request);
        CHECK(balanced >= 50 && balanced <= 100, "seed %lu: balance %ld", seed, balanced);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_by_hand),
        cmocka_unit_test(shape_leaves_zeros_out_and_rounds),
        cmocka_unit_test(pods_without_requests),
        cmocka_unit_test(balance_by_hand),
        cmocka_unit_test(scaled_points),
        cmocka_unit_test(points_stay_in_range),
    };
    return cmocka_run_group_tests_name("kube_score", tests, NULL, NULL);
}
