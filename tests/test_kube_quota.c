/* test_kube_quota.c - policy/kube_quota: quota, borrowing and lending by hand; targets that are legal, enough and needed. */
#include "policy/kube_quota.h"

#include "tests/near.h"

enum { QUEUES = 4, JOBS = 24 };

static struct kube_account account(int64_t gpus, uint32_t cohort)
{
    return (struct kube_account){ .nominal = { { INT64_MAX, INT64_MAX, gpus } },
                                  .borrowing_gpus = INT64_MAX,
                                  .lending_gpus = INT64_MAX,
                                  .cohort = cohort };
}

static struct kube_bill gpus(int64_t count)
{
    return (struct kube_bill){ { 0, 0, count } };
}

static void use(struct kube_account *to, int64_t count)
{
    const struct kube_bill bill = gpus(count);
    kube_quota_change(to, &bill, 1);
}

static enum kube_fit_mode fit(const struct kube_account *accounts, uint32_t queue, int64_t count)
{
    const struct kube_bill bill = gpus(count);
    return kube_quota_fit(accounts, 3, queue, &bill);
}

/* Three queues of 8 GPUs, two of one cohort. */
static void quota_by_hand(void **state)
{
    (void)state;
    struct kube_account queues[3] = { account(8, 0), account(8, 0), account(8, KUBE_NO_COHORT) };
    assert_int_equal(fit(queues, 0, 8), QUOTA_FITS);
    assert_int_equal(fit(queues, 0, 9), QUOTA_BORROWS);
    assert_int_equal(fit(queues, 0, 16), QUOTA_BORROWS);
    assert_int_equal(fit(queues, 0, 17), QUOTA_EXCEEDED);
    assert_int_equal(fit(queues, 2, 9), QUOTA_EXCEEDED); /* alone */
    queues[0].borrowing_gpus = 4;
    assert_int_equal(fit(queues, 0, 12), QUOTA_BORROWS);
    assert_int_equal(fit(queues, 0, 13), QUOTA_EXCEEDED);
    queues[1].lending_gpus = 3; /* it keeps 5 to itself */
    assert_int_equal(fit(queues, 0, 11), QUOTA_BORROWS);
    assert_int_equal(fit(queues, 0, 12), QUOTA_EXCEEDED);
    use(&queues[1], 5); /* what it keeps: nothing of it was lent */
    assert_int_equal(fit(queues, 0, 11), QUOTA_BORROWS);
    use(&queues[1], 1);
    assert_int_equal(fit(queues, 0, 11), QUOTA_EXCEEDED);
    /* Its own quota may be in use by the other: then it does not fit although it is within its nominal. */
    struct kube_account lent[3] = { account(8, 0), account(8, 0), account(0, 0) };
    use(&lent[0], 12);
    assert_int_equal(fit(lent, 1, 4), QUOTA_FITS);
    assert_int_equal(fit(lent, 1, 5), QUOTA_EXCEEDED);
}

static void what_can_ever_fit(void **state)
{
    (void)state;
    struct kube_account queues[3] = { account(8, 0), account(8, 0), account(8, KUBE_NO_COHORT) };
    use(&queues[1], 8);
    queues[0].borrowing_gpus = 6;
    const struct kube_bill fourteen = gpus(14), fifteen = gpus(15);
    assert_true(kube_quota_ever(queues, 3, 0, &fourteen));
    assert_false(kube_quota_ever(queues, 3, 0, &fifteen));
    assert_false(kube_quota_ever(queues, 3, 2, &fourteen));
}

static uint32_t targets_of(struct kube_account *accounts, const struct kube_asking *asking,
                           const struct kube_admitted *jobs, uint32_t count, uint32_t *targets)
{
    uint32_t order[JOBS], spare[JOBS];
    uint64_t key[JOBS];
    return kube_quota_targets(accounts, QUEUES, asking, jobs, count, targets, order, spare, key);
}

/* Queue 0 lent its 8 to queue 1, which runs jobs of 4. Reclaim takes the latest of the lowest priority. */
static void reclaim_takes_the_latest_of_the_lowest(void **state)
{
    (void)state;
    struct kube_account queues[QUEUES] = { account(8, 0), account(8, 0), account(0, 0),
                                           account(0, 0) };
    queues[0].reclaim = KUEUE_ANY;
    use(&queues[1], 16);
    const struct kube_admitted jobs[] = { { gpus(4), 1, 0, 5, 0, 0 },
                                          { gpus(4), 1, 1, 5, 1, 0 },
                                          { gpus(4), 1, 2, 9, 2, 0 },
                                          { gpus(4), 1, 3, 5, 3, 0 } };
    uint32_t targets[JOBS];
    struct kube_asking asking = { .bill = gpus(4), .queue = 0 };
    assert_int_equal(targets_of(queues, &asking, jobs, 4, targets), 1);
    assert_int_equal(targets[0], 3);
    asking.bill = gpus(8);
    assert_int_equal(targets_of(queues, &asking, jobs, 4, targets), 2);
    assert_int_equal(targets[0], 3);
    assert_int_equal(targets[1], 1);
    asking.bill = gpus(9); /* more than its own: it may not borrow and evict at once */
    assert_int_equal(targets_of(queues, &asking, jobs, 4, targets), 0);
    queues[0].reclaim = KUEUE_LOWER_PRIORITY;
    asking.bill = gpus(4);
    assert_int_equal(targets_of(queues, &asking, jobs, 4, targets), 0);
    asking.priority = 6;
    assert_int_equal(targets_of(queues, &asking, jobs, 4, targets), 1);
}

/* A small job that is taken first is given back when a larger one turns out to do alone. */
static void who_is_not_needed_stays(void **state)
{
    (void)state;
    struct kube_account queues[QUEUES] = { account(8, KUBE_NO_COHORT), account(0, 1), account(0, 2),
                                           account(0, 3) };
    queues[0].within = KUEUE_LOWER_PRIORITY;
    use(&queues[0], 8);
    const struct kube_admitted jobs[] = { { gpus(6), 0, 0, 2, 0, 0 }, { gpus(2), 0, 1, 1, 1, 0 } };
    const struct kube_asking asking = { .bill = gpus(6), .queue = 0, .priority = 3 };
    uint32_t targets[JOBS];
    assert_int_equal(targets_of(queues, &asking, jobs, 2, targets), 1);
    assert_int_equal(targets[0], 0);
    assert_int_equal(queues[0].used.of[KUBE_GPU], 8); /* the books are as before */
}

static bool may_take(const struct kube_account *accounts, const struct kube_asking *asking,
                     const struct kube_admitted *job)
{
    const bool own = job->queue == asking->queue;
    const enum kueue_preempt rule =
        own ? accounts[asking->queue].within : accounts[asking->queue].reclaim;
    if (rule == KUEUE_ANY) return true;
    if (rule == KUEUE_NEVER) return false;
    if (job->priority < asking->priority) return true;
    return rule == KUEUE_LOWER_OR_NEWER_EQUAL && job->priority == asking->priority &&
           job->submit_ns > asking->submit_ns;
}

static void any_targets(void **state)
{
    (void)state;
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct kube_account queues[QUEUES];
        for (uint32_t q = 0; q < QUEUES; q++) {
            queues[q] = account(any_count(seed, 10 + q, 0, 12),
                                any(seed, 20 + q) < 0.8 ? 0 : KUBE_NO_COHORT);
            queues[q].within = (enum kueue_preempt)any_count(seed, 30 + q, 0, 2);
            queues[q].reclaim = (enum kueue_preempt)any_count(seed, 40 + q, 0, 3);
            queues[q].borrow_within = any(seed, 50 + q) < 0.3 ? KUEUE_LOWER_PRIORITY : KUEUE_NEVER;
            if (any(seed, 60 + q) < 0.3) queues[q].borrowing_gpus = any_count(seed, 70 + q, 0, 6);
        }
        struct kube_admitted jobs[JOBS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < JOBS; i++) {
            const struct kube_bill bill = gpus(any_count(seed, 100 + i, 1, 5));
            const uint32_t q = any_count(seed, 200 + i, 0, QUEUES - 1);
            if (kube_quota_fit(queues, QUEUES, q, &bill) == QUOTA_EXCEEDED) continue;
            kube_quota_change(&queues[q], &bill, 1);
            jobs[count] = (struct kube_admitted){ bill,  q,
                                                  count, (int32_t)any_count(seed, 300 + i, 0, 3),
                                                  count, any_count(seed, 400 + i, 0, 9) };
            count++;
        }
        const struct kube_asking asking = { gpus(any_count(seed, 1, 1, 8)),
                                            any_count(seed, 2, 0, QUEUES - 1),
                                            (int32_t)any_count(seed, 3, 0, 4),
                                            any_count(seed, 4, 0, 9) };
        if (kube_quota_fit(queues, QUEUES, asking.queue, &asking.bill) != QUOTA_EXCEEDED) continue;
        uint32_t targets[JOBS];
        const uint32_t chosen = targets_of(queues, &asking, jobs, count, targets);
        found += chosen > 0;
        for (uint32_t t = 0; t < chosen; t++) {
            CHECK(may_take(queues, &asking, &jobs[targets[t]]), "seed %lu: target %u", seed,
                  targets[t]);
            kube_quota_change(&queues[jobs[targets[t]].queue], &jobs[targets[t]].bill, -1);
        }
        const enum kube_fit_mode mode = kube_quota_fit(queues, QUEUES, asking.queue, &asking.bill);
        if (chosen) CHECK(mode != QUOTA_EXCEEDED, "seed %lu: not enough", seed);
    }
    CHECK(found > 300, "only %u had targets", found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quota_by_hand),
        cmocka_unit_test(what_can_ever_fit),
        cmocka_unit_test(reclaim_takes_the_latest_of_the_lowest),
        cmocka_unit_test(who_is_not_needed_stays),
        cmocka_unit_test(any_targets),
    };
    return cmocka_run_group_tests_name("kube_quota", tests, NULL, NULL);
}
