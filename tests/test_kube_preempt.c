/* test_kube_preempt.c - policy/kube_preempt: victims by hand, and no victim that could have stayed. */
#include "policy/kube_preempt.h"

#include "tests/near.h"

enum { MOST = 16 };

static struct kube_running pod(int64_t gpus, int32_t priority, int64_t start_s)
{
    return (struct kube_running){ .request = { { [KUBE_GPU] = gpus } },
                                  .start_ns = start_s * 1000000000,
                                  .priority = priority,
                                  .budget = KUBE_NO_BUDGET };
}

static struct kube_loss victims_of(int64_t gpus, const struct kube_running *pods, uint32_t count,
                                   int64_t wanted, int32_t priority, const int32_t *allowed,
                                   uint32_t *victims)
{
    uint32_t spare[3 * MOST];
    const struct kube_amounts allocatable = { { [KUBE_GPU] = gpus } };
    const struct kube_amounts request = { { [KUBE_GPU] = wanted } };
    return kube_victims(&allocatable, NULL, pods, count, &request, priority, allowed, victims,
                        spare);
}

/* 8 GPUs: 2 of priority 5, 2 of 5 started later, 4 of 9. A pod of 4 and priority 9 takes the two of 5; one of 2
 * spares the older of the two. */
static void the_more_important_stay(void **state)
{
    (void)state;
    const struct kube_running pods[] = { pod(2, 5, 20), pod(2, 5, 10), pod(4, 9, 30) };
    uint32_t victims[MOST];
    struct kube_loss loss = victims_of(8, pods, 3, 4, 9, NULL, victims);
    assert_true(loss.possible);
    assert_int_equal(loss.victim_count, 2);
    assert_int_equal(victims[0], 1);
    assert_int_equal(victims[1], 0);
    assert_int_equal(loss.priority_sum, 10 + 2 * (INT64_C(1) << 31));
    assert_int_equal(loss.top_start_ns, INT64_C(10) * 1000000000);
    loss = victims_of(8, pods, 3, 2, 9, NULL, victims);
    assert_int_equal(loss.victim_count, 1);
    assert_int_equal(victims[0], 0);
    assert_false(victims_of(8, pods, 3, 5, 9, NULL, victims).possible);
    assert_false(
        victims_of(8, pods, 3, 1, 5, NULL, victims).possible); /* equal priority is not lower */
}

/* Four pods of 2 GPUs and priority 1, two of them under a budget that allows one disruption: the budget is spent on the older,
 * the younger would break it, so it comes back first. */
static void budgets_are_spared_first(void **state)
{
    (void)state;
    struct kube_running pods[] = { pod(2, 1, 1), pod(2, 1, 2), pod(2, 1, 3), pod(2, 1, 4) };
    pods[2].budget = pods[3].budget = 0;
    const int32_t one = 1, none = 0;
    uint32_t victims[MOST];
    struct kube_loss loss = victims_of(8, pods, 4, 4, 9, &one, victims);
    assert_int_equal(loss.violations, 0); /* 3 comes back first, then 0 */
    assert_int_equal(loss.victim_count, 2);
    assert_int_equal(victims[0], 1);
    assert_int_equal(victims[1], 2);
    loss = victims_of(8, pods, 4, 6, 9, &none, victims);
    assert_int_equal(loss.violations, 1); /* 2 comes back, 3 cannot */
    assert_int_equal(loss.victim_count, 3);
    assert_int_equal(victims[2], 3);
}

/* Each rule alone decides, in this order. */
static void the_least_loss(void **state)
{
    (void)state;
    const struct kube_loss base = { true, 1, 3, 100, 1000, 50 };
    struct kube_loss other = base;
    assert_false(kube_loss_is_less(&other, &base));
    other.top_start_ns = 60; /* later */
    assert_true(kube_loss_is_less(&other, &base));
    other.victim_count = 4;
    assert_false(kube_loss_is_less(&other, &base));
    other.priority_sum = 999;
    assert_true(kube_loss_is_less(&other, &base));
    other.top_priority = 101;
    assert_false(kube_loss_is_less(&other, &base));
    other.violations = 0;
    assert_true(kube_loss_is_less(&other, &base));
}

/* The pod fits without its victims, not with any one of them besides, and none is of its priority or above. */
static void no_victim_could_have_stayed(void **state)
{
    (void)state;
    uint32_t seen = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct kube_running pods[MOST];
        const uint32_t count = any_count(seed, 0, 1, MOST);
        int64_t total = 0, freed = 0;
        for (uint32_t i = 0; i < count; i++) {
            pods[i] = pod(any_count(seed, 10 + i, 0, 4), (int32_t)any_count(seed, 40 + i, 0, 3),
                          any_count(seed, 70 + i, 0, 5));
            total += pods[i].request.of[KUBE_GPU];
        }
        const int64_t gpus = total + any_count(seed, 1, 0, 2), wanted = any_count(seed, 2, 1, 8);
        uint32_t victims[MOST];
        const struct kube_loss loss = victims_of(gpus, pods, count, wanted, 2, NULL, victims);
        if (!loss.possible) continue;
        seen += loss.victim_count > 0;
        for (uint32_t v = 0; v < loss.victim_count; v++)
            freed += pods[victims[v]].request.of[KUBE_GPU];
        CHECK(gpus - total + freed >= wanted, "seed %lu: it does not fit", seed);
        for (uint32_t v = 0; v < loss.victim_count; v++) {
            const struct kube_running *victim = &pods[victims[v]];
            CHECK(victim->priority < 2, "seed %lu: too important a victim", seed);
            CHECK(gpus - total + freed - victim->request.of[KUBE_GPU] < wanted,
                  "seed %lu: victim %u could stay", seed, victims[v]);
            if (v > 0)
                CHECK(!kube_more_important(victim, &pods[victims[v - 1]]), "seed %lu: order", seed);
        }
    }
    CHECK(seen > 500, "only %u of the nodes had victims", seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_more_important_stay),
        cmocka_unit_test(budgets_are_spared_first),
        cmocka_unit_test(the_least_loss),
        cmocka_unit_test(no_victim_could_have_stayed),
    };
    return cmocka_run_group_tests_name("kube_preempt", tests, NULL, NULL);
}
