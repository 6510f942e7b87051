/* test_kube_fractions.c - thousandths of GPUs under KAI: which GPU a part gets, that parts of a GPU never pass a whole one, quotas,
 * and who is evicted. Cores and memory are small, so that only GPUs run out. */
#include "kube_runs.h"

#include "near.h"

static void kai_fixture(struct fixture *fixture, uint32_t jobs, uint32_t nodes, uint32_t gpus)
{
    kube_fixture(fixture, jobs);
    fixture_layout(fixture, "node", nodes, gpus);
    fixture->scenario.kube.gang = GANG_KAI;
}

/* A job of pods of so many thousandths, 1000 = a GPU. */
static struct ask *part_job(struct fixture *fixture, uint32_t row, double submit_s,
                            double duration_s, uint32_t pods, uint32_t milli)
{
    struct ask *ask = kube_job(fixture, row, submit_s, duration_s, pods, milli / 1000);
    ask->gpu_milli = milli % 1000;
    ask->pod_cpu_milli = 100;
    ask->pod_memory_bytes = UINT64_C(1) << 30;
    return ask;
}

/* Parts of all jobs by GPU of a node, over the whole run. */
static uint32_t parts_on(const struct replica_result *result, uint32_t node, uint32_t bit)
{
    const struct allocation_row *rows = LOG_ITEMS(&result->allocations, struct allocation_row);
    uint32_t count = 0;
    for (uint64_t i = 0; i < result->allocations.count; i++)
        count += rows[i].server == node && rows[i].gpu_mask >> bit & 1;
    return count;
}

static struct allocation_row place_of_job(const struct replica_result *result, uint32_t row)
{
    const struct allocation_row *rows = LOG_ITEMS(&result->allocations, struct allocation_row);
    const uint32_t serial = kube_row(result, row)->serial;
    for (uint64_t i = 0; i < result->allocations.count; i++)
        if (rows[i].serial == serial) return rows[i];
    fail_msg("job %u has no place", row);
    return rows[0];
}

/* C065: 16 halves on 8 GPUs are two a card, as one gang of 16 pods, as 16 jobs at once and one by one. */
static void sixteen_halves_on_eight(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct fixture fixture;
        struct replica_result result;
        const uint32_t jobs = way ? 16 : 1;
        kai_fixture(&fixture, jobs, 1, 8);
        for (uint32_t row = 0; row < jobs; row++)
            part_job(&fixture, row, way == 2 ? row : 0, 100, 16 / jobs, 500);
        kube_run(&fixture, &result);
        for (uint32_t row = 0; row < jobs; row++)
            CHECK_NEAR(kube_start_s(&result, row), way == 2 ? row : 0, 1e-9);
        for (uint32_t bit = 0; bit < 8; bit++) assert_int_equal(parts_on(&result, 0, bit), 2);
        kube_done(&fixture, &result);
    }
}

/* Two nodes of two GPUs. 600 opens a GPU on some node, 300 joins it, 500 opens the other one of that node since the fuller
 * node goes first; of the 100 and 500 left 200 fits the latter and 100 the former. A pod of two GPUs has the other node. */
static void fullest_shared_gpu_first(void **state)
{
    (void)state;
    static const uint32_t milli[] = { 600, 300, 500, 200, 100, 2000 };
    static const uint32_t bit[] = { 0, 0, 1, 1, 0 };
    struct fixture fixture;
    struct replica_result result;
    kai_fixture(&fixture, 6, 2, 2);
    for (uint32_t row = 0; row < 6; row++) part_job(&fixture, row, row, 100, 1, milli[row]);
    kube_run(&fixture, &result);
    const uint32_t node = place_of_job(&result, 0).server;
    for (uint32_t row = 0; row < 5; row++) {
        CHECK_NEAR(kube_start_s(&result, row), row, 1e-9);
        assert_int_equal(place_of_job(&result, row).server, node);
        assert_int_equal(place_of_job(&result, row).gpu_mask, 1u << bit[row]);
    }
    CHECK_NEAR(kube_start_s(&result, 5), 5, 1e-9);
    assert_int_equal(place_of_job(&result, 5).server, 1 - node);
    kube_done(&fixture, &result);
}

/* 700 and 700 do not share: the second has a GPU of its own, the third waits for the end of the first at 100 s. A pod of two
 * GPUs waits until all parts are gone, at 198 s. Parts count as what they are: 0.7 GPU of 100, 99 and 98 s. */
static void a_gpu_is_whole_again(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kai_fixture(&fixture, 4, 1, 2);
    for (uint32_t row = 0; row < 3; row++) part_job(&fixture, row, row, 100 - row, 1, 700);
    part_job(&fixture, 3, 3, 10, 1, 2000);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 1), 1, 1e-9);
    CHECK_NEAR(kube_start_s(&result, 2), 100, 1e-9);
    CHECK_NEAR(kube_start_s(&result, 3), 198, 1e-9);
    CHECK_NEAR(kube_account_s(&result, ACC_COMPUTE), 0.7 * (100 + 99 + 98) + 2 * 10, 1);
    kube_done(&fixture, &result);
}

static struct kube_cluster_queue queues[2];

/* Queues q0 and q1 that are sure of one GPU each. */
static void give_queues(struct fixture *fixture, uint32_t count)
{
    for (uint32_t q = 0; q < count; q++) {
        queues[q] = (struct kube_cluster_queue){ .nominal_gpus = 1,
                                                 .nominal_cpu_milli = INT64_MAX,
                                                 .nominal_memory_bytes = INT64_MAX,
                                                 .limit_gpus = INT64_MAX,
                                                 .capability_gpus = INT64_MAX,
                                                 .weight = 1,
                                                 .over_quota_weight = 1 };
        snprintf(queues[q].name, sizeof queues[q].name, "q%u", q);
    }
    fixture->scenario.kube.queues = queues;
    fixture->scenario.kube.queue_count = count;
}

/* A limit of one GPU is two halves: the third waits. */
static void halves_count_as_halves(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kai_fixture(&fixture, 3, 1, 8);
    give_queues(&fixture, 1);
    queues[0].limit_gpus = 1;
    for (uint32_t row = 0; row < 3; row++) part_job(&fixture, row, 0, 100, 1, 500);
    kube_run(&fixture, &result);
    uint32_t at_once = 0;
    for (uint32_t row = 0; row < 3; row++) at_once += kube_start_s(&result, row) == 0;
    assert_int_equal(at_once, 2);
    kube_done(&fixture, &result);
}

/* One node of two GPUs, full of four halves of a queue that is sure of one GPU. At 10 s the other queue, sure of one too, asks for
 * a half: one job goes; for a GPU: the two of one card go, and it starts when their 30 s of grace are over. */
static void reclaim_takes_what_is_needed(void **state)
{
    (void)state;
    for (uint32_t milli = 500; milli <= 1000; milli += 500) {
        struct fixture fixture;
        struct replica_result result;
        kai_fixture(&fixture, 5, 1, 2);
        give_queues(&fixture, 2);
        for (uint32_t row = 0; row < 5; row++) {
            part_job(&fixture, row, row < 4 ? row : 10, 1000, 1, row < 4 ? 500 : milli);
            fixture.jobs.words[row].queue = kube_text(&fixture, row < 4 ? "q0" : "q1");
        }
        kube_run(&fixture, &result);
        uint32_t evicted = 0;
        for (uint32_t row = 0; row < 4; row++) evicted += kube_row(&result, row)->attempts > 1;
        assert_int_equal(evicted, milli / 500);
        CHECK_NEAR(kube_start_s(&result, 4), 40, 1e-9);
        kube_done(&fixture, &result);
    }
}

/* Parts of GPUs that are time-sliced already are for nobody. */
static void not_from_replicas(void **state)
{
    (void)state;
    static struct server_group groups[2];
    struct fixture fixture;
    struct replica_result result;
    kai_fixture(&fixture, 2, 2, 2);
    for (int g = 0; g < 2; g++)
        groups[g] = (struct server_group){
            .server = fixture_server(2), .count = 1, .nodes_per_server = 1, .sockets = 1
        };
    groups[0].sharing = SHARING_TIME_SLICE;
    groups[0].shares_per_gpu = 4;
    fixture.scenario.layouts[0].groups = groups;
    fixture.scenario.layouts[0].group_count = 2;
    part_job(&fixture, 0, 0, 100, 4, 600); /* two GPUs take one each: never all four */
    part_job(&fixture, 1, 1, 100, 4, 500);
    kube_run(&fixture, &result);
    assert_int_equal(kube_row(&result, 0)->end, END_REJECTED);
    CHECK_NEAR(kube_start_s(&result, 1), 1, 1e-9);
    assert_int_equal(parts_on(&result, 1, 0), 2);
    assert_int_equal(parts_on(&result, 1, 1), 2);
    kube_done(&fixture, &result);
}

/* A topology request counts the places for parts: six of 400 are three GPUs of two, in one rack of two nodes of two GPUs; eight fill the other rack. */
static void places_of_a_rack(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kai_fixture(&fixture, 3, 4, 2);
    fixture.scenario.kube.level_count = 1;
    fixture.scenario.kube.level_nodes[0] = 2;
    snprintf(fixture.scenario.kube.levels[0], sizeof fixture.scenario.kube.levels[0], "rack");
    for (uint32_t row = 0; row < 2; row++)
        part_job(&fixture, row, row, 100, 8 - 2 * row, 400)->topology_required =
            kube_text(&fixture, "rack");
    part_job(&fixture, 2, 2, 100, 1, 1000);
    kube_run(&fixture, &result);
    const uint64_t first = kube_nodes_used(&result, 0, 0), second = kube_nodes_used(&result, 1, 0);
    assert_int_equal(first & second, 0);
    assert_int_equal(first | second, 0xf);
    CHECK_NEAR(kube_start_s(&result, 0), 0, 1e-9);
    CHECK_NEAR(kube_start_s(&result, 1), 1, 1e-9);
    CHECK_NEAR(kube_start_s(&result, 2), 2, 1e-9); /* the fourth GPU of the rack of six is whole */
    kube_done(&fixture, &result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_halves_on_eight),
        cmocka_unit_test(fullest_shared_gpu_first),
        cmocka_unit_test(a_gpu_is_whole_again),
        cmocka_unit_test(halves_count_as_halves),
        cmocka_unit_test(reclaim_takes_what_is_needed),
        cmocka_unit_test(not_from_replicas),
        cmocka_unit_test(places_of_a_rack),
    };
    return cmocka_run_group_tests_name("kube_fractions", tests, NULL, NULL);
}
