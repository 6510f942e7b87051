/* test_kueue.c - Kueue in the engine: quota, order, reclaim, topology; random runs with the books checked. */
#include "kube_runs.h"

#include "near.h"

static struct kube_cluster_queue queues[4];

static struct kube_cluster_queue *queue_of(uint32_t q, const char *name, int64_t gpus)
{
    queues[q] = (struct kube_cluster_queue){ .nominal_gpus = gpus,
                                             .nominal_cpu_milli = INT64_MAX,
                                             .nominal_memory_bytes = INT64_MAX,
                                             .borrowing_gpus = INT64_MAX,
                                             .lending_gpus = INT64_MAX,
                                             .capability_gpus = INT64_MAX,
                                             .limit_gpus = INT64_MAX,
                                             .weight = 1,
                                             .over_quota_weight = 1 };
    snprintf(queues[q].name, sizeof queues[q].name, "%s", name);
    snprintf(queues[q].cohort, sizeof queues[q].cohort, "all");
    return &queues[q];
}

static void kueue_fixture(struct fixture *fixture, uint32_t jobs, uint32_t nodes,
                          uint32_t queue_count)
{
    kube_fixture(fixture, jobs);
    fixture_layout(fixture, "nodes", nodes, 8);
    fixture->scenario.kube.gang = GANG_KUEUE;
    fixture->scenario.kube.queues = queues;
    fixture->scenario.kube.queue_count = queue_count;
}

static struct ask *queued_job(struct fixture *fixture, uint32_t row, double submit_s,
                              double duration_s, uint32_t pods, const char *queue)
{
    fixture->jobs.words[row].queue = kube_text(fixture, queue);
    return kube_job(fixture, row, submit_s, duration_s, pods, 8);
}

/* Team a borrows all of b's nodes; b takes its own back from the latest of a, after the grace period of 30 s. */
static void reclaim_of_what_was_lent(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kueue_fixture(&fixture, 5, 4, 2);
    queue_of(0, "a", 16);
    queue_of(1, "b", 16)->reclaim_within_cohort = KUEUE_ANY;
    for (uint32_t row = 0; row < 4; row++) queued_job(&fixture, row, row, 1000, 1, "a");
    queued_job(&fixture, 4, 100, 500, 2, "b");
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 4), 130, 1e-9);
    for (uint32_t row = 0; row < 4; row++)
        assert_int_equal(kube_row(&result, row)->attempts, row < 2 ? 1 : 2);
    CHECK_NEAR(kube_end_s(&result, 2), 1630, 1e-9); /* behind b, from the beginning */
    kube_done(&fixture, &result);
}

/* Without reclaim b waits; with a borrowing limit of one node a cannot take more. */
static void no_reclaim_and_a_limit(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        struct fixture fixture;
        struct replica_result result;
        kueue_fixture(&fixture, 5, 4, 2);
        if (limit)
            queue_of(0, "a", 16)->borrowing_gpus = 8;
        else
            queue_of(0, "a", 16);
        queue_of(1, "b", 16);
        for (uint32_t row = 0; row < 4; row++)
            queued_job(&fixture, row, row, 1000 * (row + 1), 1, "a");
        queued_job(&fixture, 4, 100, 500, 2, "b");
        kube_run(&fixture, &result);
        /* Two nodes are free when the first of a has ended, or the second; b need not borrow and goes first. */
        CHECK_NEAR(kube_start_s(&result, 4), limit ? 1000 : 2001, 1e-9);
        CHECK_NEAR(kube_start_s(&result, 3), limit ? 1500 : 3, 1e-9);
        kube_done(&fixture, &result);
    }
}

/* A job of 3 nodes behind one that runs: BestEffortFIFO lets the small one pass, StrictFIFO does not. */
static void strict_fifo_blocks(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        struct fixture fixture;
        struct replica_result result;
        kueue_fixture(&fixture, 3, 4, 1);
        queue_of(0, "a", 24)->strategy = strict ? STRICT_FIFO : BEST_EFFORT_FIFO;
        queued_job(&fixture, 0, 0, 1000, 1, "a");
        queued_job(&fixture, 1, 10, 1000, 3, "a");
        queued_job(&fixture, 2, 20, 100, 1, "a");
        kube_run(&fixture, &result);
        CHECK_NEAR(kube_start_s(&result, 2), strict ? 2000 : 20, 1e-9);
        CHECK_NEAR(kube_start_s(&result, 1), 1000, 1e-9);
        kube_done(&fixture, &result);
    }
}

/* One node is left of the cohort; the job that need not borrow gets it although the other is older. */
static void who_need_not_borrow_goes_first(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kueue_fixture(&fixture, 4, 2, 2);
    queue_of(0, "a", 8);
    queue_of(1, "b", 8);
    queued_job(&fixture, 0, 0, 100, 1, "a");
    queued_job(&fixture, 1, 0, 5000, 1, "a"); /* borrows */
    queued_job(&fixture, 2, 10, 100, 1, "a");
    queued_job(&fixture, 3, 20, 100, 1, "b");
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 3), 100, 1e-9);
    CHECK_NEAR(kube_start_s(&result, 2), 200, 1e-9);
    kube_done(&fixture, &result);
}

static void never_admitted(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kueue_fixture(&fixture, 3, 4, 1);
    queue_of(0, "a", 16);
    queued_job(&fixture, 0, 0, 100, 3, "a");
    queued_job(&fixture, 1, 0, 100, 1, "b");
    queued_job(&fixture, 2, 0, 100, 2, "a")->topology_required = kube_text(&fixture, "rack");
    kube_run(&fixture, &result);
    assert_string_equal(kube_row(&result, 0)->reason,
                        "insufficient quota in ClusterQueue, request > maximum capacity");
    assert_string_equal(kube_row(&result, 1)->reason, "LocalQueue does not exist");
    assert_string_equal(kube_row(&result, 2)->reason, "topology level does not exist");
    kube_done(&fixture, &result);
}

/* Racks of 4 nodes, three of the first are taken, one of the second. A job of 3 that requires a rack gets the second; without the
 * wish its pods go anywhere. C054: 8 nodes are free in all, no rack holds 8. */
static void a_required_rack(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kueue_fixture(&fixture, 4, 12, 1);
    struct kube_spec *spec = &fixture.scenario.kube;
    spec->level_count = 1;
    spec->level_nodes[0] = 4;
    snprintf(spec->levels[0], sizeof spec->levels[0], "rack");
    queue_of(0, "a", 96);
    const uint32_t rack = kube_text(&fixture, "rack");
    queued_job(&fixture, 0, 0, 1000, 3, "a")->topology_required =
        rack; /* all are free: the first rack */
    queued_job(&fixture, 1, 1, 1000, 4, "a")->topology_required = rack; /* the second rack */
    queued_job(&fixture, 2, 2, 1000, 1, "a")->topology_required =
        rack; /* the tightest: the rest of the first */
    queued_job(&fixture, 3, 3, 1000, 4, "a")->topology_required = rack;
    kube_run(&fixture, &result);
    assert_int_equal(kube_nodes_used(&result, 0, 0), 0x007);
    assert_int_equal(kube_nodes_used(&result, 1, 0), 0x0f0);
    assert_int_equal(kube_nodes_used(&result, 2, 0), 0x008);
    assert_int_equal(kube_nodes_used(&result, 3, 0), 0xf00);
    kube_done(&fixture, &result);
}

/* Two nodes free in each of two racks: required waits for a whole rack, preferred takes the four. */
static void preferred_does_not_wait(void **state)
{
    (void)state;
    for (int preferred = 0; preferred < 2; preferred++) {
        struct fixture fixture;
        struct replica_result result;
        kueue_fixture(&fixture, 3, 8, 1);
        struct kube_spec *spec = &fixture.scenario.kube;
        spec->level_count = 1;
        spec->level_nodes[0] = 4;
        snprintf(spec->levels[0], sizeof spec->levels[0], "rack");
        queue_of(0, "a", 64);
        const uint32_t rack = kube_text(&fixture, "rack");
        queued_job(&fixture, 0, 0, 1000, 2, "a")->topology_required = rack;
        struct ask *blocker =
            queued_job(&fixture, 1, 0, 2000, 3, "a"); /* does not fit beside it: the other rack */
        blocker->topology_required = rack;
        struct ask *ask = queued_job(&fixture, 2, 10, 100, 3, "a");
        if (preferred)
            ask->topology_preferred = rack;
        else
            ask->topology_required = rack;
        kube_run(&fixture, &result);
        CHECK_NEAR(kube_start_s(&result, 2), preferred ? 10 : 1000, 1e-9);
        kube_done(&fixture, &result);
    }
}

/* Quota is there, nodes are not: without a topology request an admitted gang holds what it has (S11 behind Kueue). */
static void admitted_is_not_placed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kueue_fixture(&fixture, 2, 4, 1);
    queue_of(0, "a", 64); /* more than there is */
    queued_job(&fixture, 0, 0, 1000, 2, "a");
    queued_job(&fixture, 1, 10, 100, 4, "a");
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_account_s(&result, ACC_HELD), 2 * 8 * 990.0, 1e-9);
    kube_done(&fixture, &result);
}

/* ---- any cluster ------------------------------------------------------------------------------- */

enum { SEEDS = 300, JOBS = 40 };

static void any_queues(uint64_t seed)
{
    for (uint32_t q = 0; q < 3; q++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", q);
        struct kube_cluster_queue *queue = queue_of(q, name, 8 * any_count(seed, 20 + q, 1, 4));
        if (any(seed, 30 + q) < 0.2) queue->cohort[0] = 0;
        queue->strategy = any(seed, 40 + q) < 0.5 ? STRICT_FIFO : BEST_EFFORT_FIFO;
        queue->within_cluster_queue = (enum kueue_preempt)any_count(seed, 50 + q, 0, 2);
        queue->reclaim_within_cohort = (enum kueue_preempt)any_count(seed, 60 + q, 0, 3);
        queue->borrow_within_cohort = any(seed, 70 + q) < 0.3 ? KUEUE_LOWER_PRIORITY : KUEUE_NEVER;
        if (any(seed, 80 + q) < 0.3) queue->borrowing_gpus = 8;
        if (any(seed, 90 + q) < 0.3) queue->lending_gpus = 8;
    }
}

static void any_job(struct fixture *fixture, uint32_t row, uint64_t seed)
{
    char name[8];
    snprintf(name, sizeof name, "q%u", any_count(seed, 200 + row, 0, 2));
    struct ask *ask = kube_job(fixture, row, row * 30, any_between(seed, 300 + row, 1, 900),
                               any_count(seed, 400 + row, 1, 4), any_count(seed, 500 + row, 1, 8));
    fixture->jobs.words[row].queue = kube_text(fixture, name);
    fixture->jobs.words[row].priority = (int32_t)any_count(seed, 600 + row, 0, 3);
    fixture->jobs.words[row].exit_code = any(seed, 700 + row) < 0.1;
    const double wish = any(seed, 800 + row);
    if (wish < 0.2)
        ask->topology_required = kube_text(fixture, "rack");
    else if (wish < 0.4)
        ask->topology_preferred = kube_text(fixture, "rack");
    else if (wish < 0.5)
        ask->topology_unconstrained = true;
}

static void any_run_closes(void **state)
{
    (void)state;
    uint64_t finished = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture fixture;
        struct replica_result result;
        kueue_fixture(&fixture, JOBS, any_count(seed, 1, 4, 8), 3);
        struct scenario *scenario = &fixture.scenario;
        any_queues(seed);
        kube_random_run(scenario, seed, any_count(seed, 2, 1, 4), any(seed, 3) < 0.5);
        for (uint32_t row = 0; row < JOBS; row++) any_job(&fixture, row, seed);
        kube_run(&fixture, &result);
        finished += result.jobs_end[END_FINISHED];
        kube_done(&fixture, &result);
    }
    CHECK(finished > SEEDS * JOBS / 2, "only %lu jobs finished", finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reclaim_of_what_was_lent),
        cmocka_unit_test(no_reclaim_and_a_limit),
        cmocka_unit_test(strict_fifo_blocks),
        cmocka_unit_test(who_need_not_borrow_goes_first),
        cmocka_unit_test(never_admitted),
        cmocka_unit_test(a_required_rack),
        cmocka_unit_test(preferred_does_not_wait),
        cmocka_unit_test(admitted_is_not_placed),
        cmocka_unit_test(any_run_closes),
    };
    return cmocka_run_group_tests_name("kueue", tests, NULL, NULL);
}
