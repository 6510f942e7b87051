/* test_kube_batch.c - Volcano and KAI in the engine: cycles, gangs, shares, reclaim, topology; random runs with the books
 * checked. */
#include "kube_runs.h"

#include "near.h"

static struct kube_cluster_queue queues[4];

static struct kube_cluster_queue *queue_of(uint32_t q, const char *name)
{
    queues[q] = (struct kube_cluster_queue){ .nominal_gpus = 0,
                                             .nominal_cpu_milli = INT64_MAX,
                                             .nominal_memory_bytes = INT64_MAX,
                                             .borrowing_gpus = INT64_MAX,
                                             .lending_gpus = INT64_MAX,
                                             .capability_gpus = INT64_MAX,
                                             .limit_gpus = INT64_MAX,
                                             .weight = 1,
                                             .over_quota_weight = 1 };
    snprintf(queues[q].name, sizeof queues[q].name, "%s", name);
    return &queues[q];
}

static void batch_fixture(struct fixture *fixture, enum kube_gang gang, uint32_t jobs,
                          uint32_t nodes, uint32_t queue_count)
{
    kube_fixture(fixture, jobs);
    fixture_layout(fixture, "nodes", nodes, 8);
    fixture->scenario.kube.gang = gang;
    fixture->scenario.kube.queues = queues;
    fixture->scenario.kube.queue_count = queue_count;
}

/* Queues are written for both systems here; each keeps its own words. */
static void batch_run(struct fixture *fixture, struct replica_result *result)
{
    const bool kai = fixture->scenario.kube.gang == GANG_KAI;
    if (kai) fixture->scenario.kube.binpack_weight = 0;
    for (uint32_t q = 0; q < fixture->scenario.kube.queue_count; q++) {
        if (kai) {
            queues[q].capability_gpus = INT64_MAX;
            queues[q].weight = 1;
        } else {
            queues[q].nominal_gpus = queues[q].limit_gpus = INT64_MAX;
            queues[q].over_quota_weight = 1;
            queues[q].priority = 0;
        }
    }
    kube_run(fixture, result);
}

static struct ask *queued_job(struct fixture *fixture, uint32_t row, double submit_s,
                              double duration_s, uint32_t pods, uint32_t gpus, const char *queue)
{
    if (queue) fixture->jobs.words[row].queue = kube_text(fixture, queue);
    return kube_job(fixture, row, submit_s, duration_s, pods, gpus);
}

static const enum kube_gang both[] = { GANG_VOLCANO, GANG_KAI };

/* Decisions fall on whole seconds: a job that comes at 0.3 s starts at 1 s, one that could follow at 11.5 s at 12 s. */
static void one_cycle_a_second(void **state)
{
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct fixture fixture;
        struct replica_result result;
        batch_fixture(&fixture, both[g], 3, 1, 0);
        queued_job(&fixture, 0, 0, 0.1, 1, 1, NULL);
        queued_job(&fixture, 1, 0.3, 10.5, 1, 8, NULL);
        queued_job(&fixture, 2, 5, 10, 1, 8, NULL);
        batch_run(&fixture, &result);
        CHECK_NEAR(kube_start_s(&result, 0), 0, 0);
        CHECK_NEAR(kube_start_s(&result, 1), 1, 1e-12);
        CHECK_NEAR(kube_start_s(&result, 2), 12, 1e-12);
        kube_done(&fixture, &result);
    }
}

/* S11: two gangs of more than half of the cluster, at once. */
static void gangs_do_not_deadlock(void **state)
{
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct fixture fixture;
        struct replica_result result;
        batch_fixture(&fixture, both[g], 2, 10, 0);
        for (uint32_t row = 0; row < 2; row++) queued_job(&fixture, row, 0, 3600, 6, 8, NULL);
        batch_run(&fixture, &result);
        CHECK_NEAR(kube_start_s(&result, 1), 3600, 1e-12);
        CHECK_NEAR(kube_account_s(&result, ACC_HELD), 0, 0);
        kube_done(&fixture, &result);
    }
}

/* Volcano: two queues of weights 1 and 3 over 4 nodes, both want all: one node and three, also in the order a, a, a, a, b, b. */
static void volcano_divides_by_weight(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    batch_fixture(&fixture, GANG_VOLCANO, 8, 4, 2);
    queue_of(0, "a");
    queue_of(1, "b")->weight = 3;
    for (uint32_t row = 0; row < 8; row++)
        queued_job(&fixture, row, 0, 1000, 1, 8, row < 4 ? "a" : "b");
    batch_run(&fixture, &result);
    uint32_t at_once[2] = { 0, 0 };
    for (uint32_t row = 0; row < 8; row++) at_once[row / 4] += kube_start_s(&result, row) == 0;
    assert_int_equal(at_once[0], 1);
    assert_int_equal(at_once[1], 3);
    kube_done(&fixture, &result);
}

/* Alone, queue a has all; when b comes it takes its half back, single pods, after the grace period of 30 s. */
static void volcano_reclaims(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    batch_fixture(&fixture, GANG_VOLCANO, 6, 4, 2);
    queue_of(0, "a");
    queue_of(1, "b");
    for (uint32_t row = 0; row < 4; row++) queued_job(&fixture, row, row, 1000, 1, 8, "a");
    for (uint32_t row = 4; row < 6; row++) queued_job(&fixture, row, 100, 500, 1, 8, "b");
    batch_run(&fixture, &result);
    uint32_t evicted = 0;
    for (uint32_t row = 0; row < 4; row++) evicted += kube_row(&result, row)->attempts == 2;
    assert_int_equal(evicted, 2);
    for (uint32_t row = 4; row < 6; row++) CHECK_NEAR(kube_start_s(&result, row), 130, 1e-12);
    kube_done(&fixture, &result);
}

/* A gang is not broken: its minAvailable protects it, b waits. */
static void volcano_spares_gangs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    batch_fixture(&fixture, GANG_VOLCANO, 2, 4, 2);
    queue_of(0, "a");
    queue_of(1, "b");
    queued_job(&fixture, 0, 0, 1000, 4, 8, "a");
    queued_job(&fixture, 1, 100, 500, 1, 8, "b");
    batch_run(&fixture, &result);
    assert_int_equal(kube_row(&result, 0)->attempts, 1);
    CHECK_NEAR(kube_start_s(&result, 1), 1000, 1e-12);
    kube_done(&fixture, &result);
}

/* binpack outweighs the profile's spread: 4 GPUs go beside 2 on one node. */
static void volcano_binpacks(void **state)
{
    (void)state;
    for (int pack = 0; pack < 2; pack++) {
        struct fixture fixture;
        struct replica_result result;
        batch_fixture(&fixture, GANG_VOLCANO, 2, 2, 0);
        fixture.scenario.kube.binpack_weight = pack ? 10 : 0;
        fixture.scenario.kube.binpack_resource[KUBE_GPU] = 1;
        queued_job(&fixture, 0, 0, 1000, 1, 2, NULL);
        queued_job(&fixture, 1, 1, 1000, 1, 4, NULL);
        batch_run(&fixture, &result);
        const bool same = kube_nodes_used(&result, 0, 0) == kube_nodes_used(&result, 1, 0);
        assert_int_equal(same, pack);
        kube_done(&fixture, &result);
    }
}

/* KAI: a has no quota and holds all 4 nodes as one gang; b's quota is 2 nodes: its job of 2 stops the gang whole. */
static void kai_reclaims_whole_gangs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    batch_fixture(&fixture, GANG_KAI, 2, 4, 2);
    queue_of(0, "a");
    queue_of(1, "b")->nominal_gpus = 16;
    queued_job(&fixture, 0, 0, 1000, 4, 8, "a");
    queued_job(&fixture, 1, 100, 500, 2, 8, "b");
    batch_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 1), 130, 1e-12);
    assert_int_equal(kube_row(&result, 0)->attempts, 2);
    kube_done(&fixture, &result);
}

/* The queue below its share goes first; a limit holds even when GPUs are free. */
static void kai_orders_by_share_and_keeps_limits(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    batch_fixture(&fixture, GANG_KAI, 5, 4, 2);
    queue_of(0, "a")->nominal_gpus = 16;
    queue_of(1, "b")->nominal_gpus = 16;
    queues[1].limit_gpus = 16;
    for (uint32_t row = 0; row < 4; row++) queued_job(&fixture, row, 0, 1000, 1, 8, "b");
    queued_job(&fixture, 4, 0, 1000, 1, 8, "a");
    batch_run(&fixture, &result);
    uint32_t at_once = 0;
    for (uint32_t row = 0; row < 4; row++) at_once += kube_start_s(&result, row) == 0;
    assert_int_equal(at_once, 2);
    CHECK_NEAR(kube_start_s(&result, 4), 0, 0);
    kube_done(&fixture, &result);
}

/* C062, C069: racks of 2 nodes; a gang of 2 goes to the rack that holds it, not to the fuller one that does not. */
static void kai_takes_the_fullest_domain_that_fits(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    batch_fixture(&fixture, GANG_KAI, 2, 6, 0);
    struct kube_spec *spec = &fixture.scenario.kube;
    spec->level_count = 1;
    spec->level_nodes[0] = 2;
    snprintf(spec->levels[0], sizeof spec->levels[0], "rack");
    const uint32_t rack = kube_text(&fixture, "rack");
    queued_job(&fixture, 0, 0, 1000, 1, 4, NULL)->topology_required = rack;
    queued_job(&fixture, 1, 1, 1000, 2, 8, NULL)->topology_required = rack;
    batch_run(&fixture, &result);
    assert_int_equal(kube_nodes_used(&result, 0, 0), 0x01);
    assert_int_equal(kube_nodes_used(&result, 1, 0), 0x0c);
    kube_done(&fixture, &result);
}

/* A queue that is not there, and more than a queue may ever have. */
static void refused_at_submit(void **state)
{
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct fixture fixture;
        struct replica_result result;
        batch_fixture(&fixture, both[g], 3, 4, 1);
        queue_of(0, "a");
        queues[0].limit_gpus = queues[0].capability_gpus = 16;
        queued_job(&fixture, 0, 0, 100, 1, 8, "b");
        queued_job(&fixture, 1, 0, 100, 3, 8, "a");
        queued_job(&fixture, 2, 0, 100, 1, 64, "a");
        batch_run(&fixture, &result);
        assert_string_equal(kube_row(&result, 0)->reason, "the queue does not exist");
        assert_string_equal(kube_row(&result, 1)->reason,
                            "the job asks for more than its queue may have");
        assert_string_equal(kube_row(&result, 2)->reason,
                            "0 nodes are available: Insufficient nvidia.com/gpu");
        kube_done(&fixture, &result);
    }
}

/* ---- any cluster ------------------------------------------------------------------------------- */

enum { SEEDS = 300, JOBS = 40 };

static void any_queues(uint64_t seed)
{
    for (uint32_t q = 0; q < 3; q++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", q);
        struct kube_cluster_queue *queue = queue_of(q, name);
        queue->nominal_gpus = 8 * any_count(seed, 20 + q, 0, 3);
        queue->weight = queue->over_quota_weight = any_count(seed, 30 + q, 1, 5);
        queue->priority = (int32_t)any_count(seed, 40 + q, 0, 1);
        if (any(seed, 50 + q) < 0.3)
            queue->limit_gpus = queue->capability_gpus = 8 * any_count(seed, 60 + q, 1, 4);
    }
}

static void any_job(struct fixture *fixture, uint32_t row, uint64_t seed)
{
    char name[8];
    snprintf(name, sizeof name, "q%u", any_count(seed, 200 + row, 0, 2));
    struct ask *ask =
        queued_job(fixture, row, row * 29.3, any_between(seed, 300 + row, 1, 900),
                   any_count(seed, 400 + row, 1, 4), any_count(seed, 500 + row, 0, 8), name);
    fixture->jobs.words[row].priority = (int32_t)any_count(seed, 600 + row, 0, 3);
    fixture->jobs.words[row].exit_code = any(seed, 700 + row) < 0.1;
    fixture->jobs.words[row].hold = any(seed, 750 + row) < 0.05;
    if (any(seed, 760 + row) < 0.2) fixture->jobs.words[row].min_member = 1;
    const double wish = any(seed, 800 + row);
    if (wish < 0.2)
        ask->topology_required = kube_text(fixture, "rack");
    else if (wish < 0.4)
        ask->topology_preferred = kube_text(fixture, "rack");
}

static void any_run_closes(void **state)
{
    (void)state;
    uint64_t finished = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture fixture;
        struct replica_result result;
        batch_fixture(&fixture, both[seed % 2], JOBS, any_count(seed, 1, 4, 8), 3);
        struct scenario *scenario = &fixture.scenario;
        any_queues(seed);
        kube_random_run(scenario, seed, any_count(seed, 2, 1, 4), any(seed, 3) < 0.5);
        scenario->kube.binpack_weight = any_count(seed, 4, 0, 5);
        scenario->kube.binpack_resource[KUBE_GPU] = 1;
        for (uint32_t row = 0; row < JOBS; row++) any_job(&fixture, row, seed);
        batch_run(&fixture, &result);
        finished += result.jobs_end[END_FINISHED];
        kube_done(&fixture, &result);
    }
    CHECK(finished > SEEDS * JOBS / 3, "only %lu jobs finished", finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cycle_a_second),
        cmocka_unit_test(gangs_do_not_deadlock),
        cmocka_unit_test(volcano_divides_by_weight),
        cmocka_unit_test(volcano_reclaims),
        cmocka_unit_test(volcano_spares_gangs),
        cmocka_unit_test(volcano_binpacks),
        cmocka_unit_test(kai_reclaims_whole_gangs),
        cmocka_unit_test(kai_orders_by_share_and_keeps_limits),
        cmocka_unit_test(kai_takes_the_fullest_domain_that_fits),
        cmocka_unit_test(refused_at_submit),
        cmocka_unit_test(any_run_closes),
    };
    return cmocka_run_group_tests_name("kube_batch", tests, NULL, NULL);
}
