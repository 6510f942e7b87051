/* test_kube_shares.c - policy/kube_shares: shares worked by hand, and what must hold for any queues. */
#include "policy/kube_shares.h"

#include "tests/near.h"

enum { QUEUES = 5 };

static struct kube_share want(double weight, int64_t gpus)
{
    return (struct kube_share){ .weight = weight,
                                .most = INT64_MAX,
                                .requested = { [KUBE_GPU] = gpus } };
}

static const int64_t twelve[KUBE_RESOURCES] = { [KUBE_GPU] = 12 };

/* 12 GPUs, weights 1 2 3: 2, 4 and 6. The first wants one: the rest is divided 2 to 3, then capability caps the last. */
static void proportion_by_hand(void **state)
{
    (void)state;
    struct kube_share queues[] = { want(1, 99), want(2, 99), want(3, 99) };
    kube_deserved_volcano(queues, 3, twelve);
    CHECK_NEAR(queues[0].deserved[KUBE_GPU], 2, 1e-12);
    CHECK_NEAR(queues[1].deserved[KUBE_GPU], 4, 1e-12);
    CHECK_NEAR(queues[2].deserved[KUBE_GPU], 6, 1e-12);
    queues[0].requested[KUBE_GPU] = 1;
    kube_deserved_volcano(queues, 3, twelve);
    CHECK_NEAR(queues[0].deserved[KUBE_GPU], 1, 1e-12);
    CHECK_NEAR(queues[1].deserved[KUBE_GPU], 4.4, 1e-12);
    CHECK_NEAR(queues[2].deserved[KUBE_GPU], 6.6, 1e-12);
    queues[2].most = 5;
    kube_deserved_volcano(queues, 3, twelve);
    CHECK_NEAR(queues[1].deserved[KUBE_GPU], 6, 1e-12);
    CHECK_NEAR(queues[2].deserved[KUBE_GPU], 5, 1e-12);
}

/* Quotas 2, 4 and 0; six are left. The last has the higher priority and wants 3; the others share 3 by weights 1 and 2. */
static void fair_share_by_hand(void **state)
{
    (void)state;
    struct kube_share queues[] = { want(1, 99), want(2, 99), want(1, 3) };
    queues[0].quota = 2;
    queues[1].quota = 4;
    queues[2].priority = 1;
    kube_deserved_kai(queues, 3, twelve);
    CHECK_NEAR(queues[2].deserved[KUBE_GPU], 3, 1e-12);
    CHECK_NEAR(queues[0].deserved[KUBE_GPU], 3, 1e-12);
    CHECK_NEAR(queues[1].deserved[KUBE_GPU], 6, 1e-12);
    queues[1].most = 5;
    kube_deserved_kai(queues, 3, twelve);
    CHECK_NEAR(queues[0].deserved[KUBE_GPU], 4, 1e-12);
    queues[0].weight = 0; /* nothing over its quota */
    kube_deserved_kai(queues, 3, twelve);
    CHECK_NEAR(queues[0].deserved[KUBE_GPU], 2, 1e-12);
}

static void used_part(void **state)
{
    (void)state;
    struct kube_share queue = want(1, 99);
    queue.deserved[KUBE_GPU] = 8;
    queue.deserved[KUBE_CPU] = 1000;
    CHECK_NEAR(kube_share_used(&queue, (int64_t[]){ 100, 0, 4 }), 0.5, 1e-12);
    CHECK_NEAR(kube_share_used(&queue, (int64_t[]){ 900, 0, 4 }), 0.9, 1e-12);
    assert_true(kube_share_used(&queue, (int64_t[]){ 0, 1, 0 }) > 1e9);
    CHECK_NEAR(kube_share_used(&queue, (int64_t[]){ 0, 0, 0 }), 0, 0);
}

/* Nobody gets more than it wants or may have, all is given out when there is demand for it, and more weight never
 * means less. */
static void any_shares(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct kube_share queues[QUEUES];
        int64_t total[KUBE_RESOURCES] = { [KUBE_GPU] = any_count(seed, 1, 0, 60) };
        double demand = 0, given = 0;
        const bool kai = any(seed, 2) < 0.5;
        for (uint32_t q = 0; q < QUEUES; q++) {
            queues[q] = want(any_between(seed, 10 + q, 0.1, 5), any_count(seed, 20 + q, 0, 30));
            if (any(seed, 30 + q) < 0.4) queues[q].most = any_count(seed, 40 + q, 0, 20);
            if (kai)
                queues[q].quota = any_count(seed, 50 + q, 0, (uint32_t)total[KUBE_GPU] / QUEUES);
            queues[q].priority = (int32_t)any_count(seed, 60 + q, 0, 2);
            const int64_t most = queues[q].most < queues[q].requested[KUBE_GPU]
                                     ? queues[q].most
                                     : queues[q].requested[KUBE_GPU];
            demand += (double)most;
        }
        (kai ? kube_deserved_kai : kube_deserved_volcano)(queues, QUEUES, total);
        for (uint32_t q = 0; q < QUEUES; q++) {
            const double deserved = queues[q].deserved[KUBE_GPU];
            CHECK(deserved >= 0 && deserved <= (double)queues[q].requested[KUBE_GPU] + 1e-9 &&
                      deserved <= (double)queues[q].most + 1e-9,
                  "seed %lu: queue %u deserves %g", seed, q, deserved);
            given += deserved;
        }
        const double all = demand < (double)total[KUBE_GPU] ? demand : (double)total[KUBE_GPU];
        CHECK(given <= all + 1e-6 && given >= all - 1e-6, "seed %lu: %g of %g given", seed, given,
              all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proportion_by_hand),
        cmocka_unit_test(fair_share_by_hand),
        cmocka_unit_test(used_part),
        cmocka_unit_test(any_shares),
    };
    return cmocka_run_group_tests_name("kube_shares", tests, NULL, NULL);
}
