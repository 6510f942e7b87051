/* test_queueing.c - models/queueing: the queues agree where they meet, and keep what any queue keeps. */
#include "models/queueing.h"

#include "tests/near.h"

/* M/M/1 is M/M/c with one server, M/G/1 with cv 1, M/G/c with cv 1, and M/M/c/K with endless room. */
static void special_cases_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const double mu = any_scale(seed, 0, 1e-4, 10),
                     lambda = mu * any_between(seed, 1, 0.05, 0.9);
        const struct queue_means mm1 = queue_mm1(lambda, mu);
        CHECK_NEAR(queue_mmc(lambda, mu, 1).wait_s, mm1.wait_s, 1e-12);
        CHECK_NEAR(queue_mmc(lambda, mu, 1).wait_prob, mm1.load, 1e-12);
        CHECK_NEAR(queue_mg1(lambda, 1 / mu, 1).wait_s, mm1.wait_s, 1e-12);
        CHECK_NEAR(queue_mgc(lambda, 1 / mu, 1, 1, 1).wait_s, mm1.wait_s, 1e-12);
        CHECK_NEAR(queue_mmck(lambda, mu, 1, 2000).system_length, mm1.system_length, 1e-9);
        CHECK_NEAR(queue_mmck(lambda, mu, 7, 7).refused, erlang_b(lambda / mu, 7), 1e-12);
        CHECK_NEAR(queue_mmc_tail(lambda, mu, 1, 3 / mu).response, exp(-(mu - lambda) * 3 / mu),
                   1e-11);
    }
}

/* Little's law, waiting under waiting-or-served, and fewer waits with one server more. */
static void laws_of_queues(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const uint32_t c = any_count(seed, 0, 1, 300);
        const double lambda = c * any_between(seed, 1, 0.05, 0.98);
        const struct queue_means mmc = queue_mmc(lambda, 1, c);
        CHECK_NEAR(mmc.system_length, mmc.queue_length + lambda, 1e-9);
        CHECK_NEAR(mmc.queue_length, lambda * mmc.wait_s, 1e-12);
        assert_true(queue_mmc(lambda, 1, c + 1).wait_s < mmc.wait_s);
        assert_true(erlang_b(lambda, c) < erlang_c(lambda, c));
        /* the mean wait is the integral of its tail: C/(c mu - lambda) */
        const struct queue_tail now = queue_mmc_tail(lambda, 1, c, 0);
        CHECK_NEAR(now.wait, mmc.wait_prob, 1e-12);
        CHECK_NEAR(now.response, 1, 1e-12);
    }
}

/* Response tail next to its singular point c - 1 - a = 0: no jump. */
static void tail_is_smooth(void **state)
{
    (void)state;
    const double at = queue_mmc_tail(3, 1, 4, 2).response;
    CHECK_NEAR(queue_mmc_tail(3 + 1e-9, 1, 4, 2).response, at, 1e-7);
    CHECK_NEAR(queue_mmc_tail(3 - 1e-9, 1, 4, 2).response, at, 1e-7);
}

/* With one class of one-GPU jobs the recursion is Erlang's; work that is accepted is what is busy. */
static void loss_system(void **state)
{
    (void)state;
    static double occupancy[4001];
    double refused[3];
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const uint32_t capacity = any_count(seed, 0, 8, 4000);
        const struct loss_class one = { 1, any_between(seed, 1, 0.1, 1.5) * capacity };
        const double busy = kaufman_roberts(capacity, &one, 1, occupancy, refused);
        CHECK_NEAR(refused[0], erlang_b(one.offered, capacity), 1e-9);
        CHECK_NEAR(busy, one.offered * (1 - refused[0]), 1e-9);

        const struct loss_class mix[] = { { 1, 0.3 * capacity },
                                          { 2, 0.2 * capacity },
                                          { 8, 0.05 * capacity } };
        double accepted = 0;
        const double mixed = kaufman_roberts(capacity, mix, 3, occupancy, refused);
        for (int i = 0; i < 3; i++) accepted += mix[i].gpus * mix[i].offered * (1 - refused[i]);
        CHECK_NEAR(mixed, accepted, 1e-9);
        assert_true(refused[0] < refused[1] && refused[1] < refused[2]);
    }
    /* A job of the whole pool runs alone; one that is larger never runs. */
    const struct loss_class whole[] = { { 4, 1 }, { 5, 1 } };
    kaufman_roberts(4, whole, 2, occupancy, refused);
    CHECK_NEAR(refused[0], 0.5, 1e-15);
    assert_true(refused[1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_cases_agree),
        cmocka_unit_test(laws_of_queues),
        cmocka_unit_test(tail_is_smooth),
        cmocka_unit_test(loss_system),
    };
    return cmocka_run_group_tests_name("queueing", tests, NULL, NULL);
}
