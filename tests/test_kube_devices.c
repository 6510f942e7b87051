/* test_kube_devices.c - GPUs inside a node under Kubernetes: linked ones together, time slices, MIG. */
#include "kube_runs.h"

#include "near.h"

static struct server_group group;

static void shared_fixture(struct fixture *fixture, uint32_t jobs, uint32_t nodes, uint32_t gpus,
                           enum sharing sharing)
{
    kube_fixture(fixture, jobs);
    struct layout *layout = fixture_layout(fixture, "shared", nodes, gpus);
    group = (struct server_group){
        .server = fixture_server(gpus), .count = nodes, .nodes_per_server = 1, .sharing = sharing
    };
    layout->groups = &group;
    layout->group_count = 1;
}

static void cut(const char *profile, uint32_t sevenths, uint8_t first, uint8_t slices)
{
    struct gpu_cut *at = &group.cuts[group.cut_count++];
    *at = (struct gpu_cut){ .units = 1008000 / 7 * sevenths,
                            .slice_first = first,
                            .slice_count = slices };
    snprintf(at->profile, sizeof at->profile, "%s", profile);
}

/* A job of one pod of one part; cores and memory are small, so that only parts run out. */
static struct ask *small_job(struct fixture *fixture, uint32_t row, double submit_s, uint32_t gpus)
{
    struct ask *ask = kube_job(fixture, row, submit_s, 100, 1, gpus);
    ask->pod_cpu_milli = 100;
    ask->pod_memory_bytes = UINT64_C(1) << 30;
    return ask;
}

static uint32_t started_at(const struct replica_result *result, uint32_t jobs, double at_s)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < jobs; row++) count += kube_start_s(result, row) == at_s;
    return count;
}

/* Jobs of the mask's GPU, by bit. */
static uint32_t jobs_on_gpu(const struct replica_result *result, uint32_t bit)
{
    const struct allocation_row *rows = LOG_ITEMS(&result->allocations, struct allocation_row);
    uint32_t count = 0;
    for (uint64_t i = 0; i < result->allocations.count; i++) count += rows[i].gpu_mask >> bit & 1;
    return count;
}

/* Two GPUs of four replicas each: eight pods of one nvidia.com/gpu run, four on each GPU; the ninth waits. */
static void replicas_of_time_slicing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 9, 1, 2, SHARING_TIME_SLICE);
    group.shares_per_gpu = 4;
    for (uint32_t row = 0; row < 9; row++) small_job(&fixture, row, 0, 1);
    kube_run(&fixture, &result);
    assert_int_equal(started_at(&result, 9, 0), 8);
    assert_int_equal(started_at(&result, 9, 100), 1);
    assert_int_equal(jobs_on_gpu(&result, 0) + jobs_on_gpu(&result, 1), 9);
    assert_true(jobs_on_gpu(&result, 0) >= 4 && jobs_on_gpu(&result, 1) >= 4);
    kube_done(&fixture, &result);
}

/* More than one replica for one pod is refused, as the device plugin does with failRequestsGreaterThanOne. */
static void no_pod_gets_two_parts(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 1, 2, 2, SHARING_TIME_SLICE);
    group.shares_per_gpu = 4;
    small_job(&fixture, 0, 0, 2);
    kube_run(&fixture, &result);
    assert_int_equal(kube_row(&result, 0)->end, END_REJECTED);
    assert_string_equal(kube_row(&result, 0)->reason,
                        "UnexpectedAdmissionError: more than one part of a shared GPU "
                        "(failRequestsGreaterThanOne)");
    kube_done(&fixture, &result);
}

/* One GPU cut into seven 1g: they are called nvidia.com/gpu under strategy single. */
static void mig_of_one_profile(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 8, 1, 1, SHARING_MIG_SINGLE);
    snprintf(group.mig, sizeof group.mig, "1g.5gb");
    for (uint8_t slice = 0; slice < 7; slice++) cut("1g.5gb", 1, slice, 1);
    for (uint32_t row = 0; row < 8; row++) small_job(&fixture, row, 0, 1);
    kube_run(&fixture, &result);
    assert_int_equal(started_at(&result, 8, 0), 7);
    assert_int_equal(started_at(&result, 8, 100), 1);
    kube_done(&fixture, &result);
}

/* Two GPUs cut into 3g, 2g and 1g: two of each by name run; a plain nvidia.com/gpu is offered by no node. */
static void mig_by_name(void **state)
{
    (void)state;
    static const char *const profiles[] = { "3g.20gb", "2g.10gb", "1g.5gb" };
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 11, 1, 2, SHARING_MIG_MIXED);
    cut("3g.20gb", 3, 4, 4);
    cut("2g.10gb", 2, 0, 2);
    cut("1g.5gb", 1, 2, 1);
    for (uint32_t row = 0; row < 9; row++) {
        struct ask *ask = small_job(&fixture, row, 0, 0);
        ask->pod_gpus = 1;
        ask->instance = kube_text(&fixture, profiles[row % 3]);
    }
    small_job(&fixture, 9, 0, 1);
    struct ask *unknown = small_job(&fixture, 10, 0, 0);
    unknown->pod_gpus = 1;
    unknown->instance = kube_text(&fixture, "7g.40gb");
    kube_run(&fixture, &result);
    for (uint32_t row = 0; row < 9; row++)
        CHECK_NEAR(kube_start_s(&result, row), row < 6 ? 0 : 100, 1e-12);
    assert_string_equal(kube_row(&result, 9)->reason,
                        "0 nodes are available: Insufficient nvidia.com/gpu");
    assert_string_equal(kube_row(&result, 10)->reason,
                        "0 nodes are available: Insufficient nvidia.com/mig");
    kube_done(&fixture, &result);
}

/* A more important pod evicts the one that holds the only 3g, not those of other profiles. */
static void preemption_of_an_instance(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 3, 1, 1, SHARING_MIG_MIXED);
    cut("3g.20gb", 3, 4, 4);
    cut("2g.10gb", 2, 0, 2);
    for (uint32_t row = 0; row < 3; row++) {
        struct ask *ask = small_job(&fixture, row, row * 10, 0);
        ask->pod_gpus = 1;
        ask->instance = kube_text(&fixture, row == 1 ? "2g.10gb" : "3g.20gb");
    }
    fixture.jobs.words[2].priority = 1;
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 2), 50, 1e-12);
    assert_int_equal(kube_row(&result, 0)->attempts, 2);
    assert_int_equal(kube_row(&result, 1)->attempts, 1);
    kube_done(&fixture, &result);
}

/* Two pods with a 3g instance each, which meet in host memory at 0.8 of their slot: 2 steps of 3.4 us and a buffer of 1 GB
 * over 0.8 x 24 GB/s, against 370.8 GB/s of two whole GPUs, of whose compute time kappa is a half. Three sevenths of a GPU
 * compute 7/3 as long. */
static void instances_meet_in_host_memory(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 1, 1, 2, SHARING_MIG_MIXED);
    struct scenario *scenario = &fixture.scenario;
    scenario->recorded_none = true;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.scale = 1;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] =
        (struct mix_entry){ .profile = { .kappa_one = 0.5, .kappa_many = 0.5, .size_bytes = 1e9 },
                            .weight = 1,
                            .gpus_min = 1,
                            .gpus_max = UINT32_MAX };
    struct server_type *server = &scenario->layouts[0].server;
    server->gpu_pcie_bytes_per_s = server->uplink_bytes_per_s = 24e9;
    cut("3g.40gb", 3, 4, 4);
    struct ask *ask = kube_job(&fixture, 0, 0, 100, 2, 0);
    ask->pod_cpu_milli = 100;
    ask->pod_memory_bytes = UINT64_C(1) << 30;
    ask->pod_gpus = 1;
    ask->instance = kube_text(&fixture, "3g.40gb");
    kube_run(&fixture, &result);
    const double ratio = (2 * 3.4e-6 + 1e9 / (0.8 * 24e9)) / (2 * 3.4e-6 + 1e9 / 370.8e9);
    CHECK_NEAR(kube_end_s(&result, 0), 100 * (1 + 0.5 * 3 / 7 * ratio), 1e-8);
    kube_done(&fixture, &result);
}

/* Pairs (0, 2) and (1, 3) are linked: a pod of two gets a pair, although 0 and 1 are the lowest. */
static void linked_gpus_together(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    shared_fixture(&fixture, 2, 1, 4, SHARING_NONE);
    for (int a = 0; a < 4; a++) group.link_score[a][(a + 2) % 4] = 4;
    for (uint32_t row = 0; row < 2; row++) kube_job(&fixture, row, row, 100, 1, 2);
    kube_run(&fixture, &result);
    const struct allocation_row *rows = LOG_ITEMS(&result.allocations, struct allocation_row);
    assert_int_equal(result.allocations.count, 2);
    assert_int_equal(rows[0].gpu_mask, 0x5);
    assert_int_equal(rows[1].gpu_mask, 0xa);
    kube_done(&fixture, &result);
}

enum { SEEDS = 150, JOBS = 40 };

static void any_run_closes(void **state)
{
    (void)state;
    static const enum sharing kinds[] = { SHARING_TIME_SLICE, SHARING_MPS, SHARING_MIG_SINGLE,
                                          SHARING_MIG_MIXED };
    static const enum kube_gang gangs[] = { GANG_NONE, GANG_COSCHEDULING, GANG_VOLCANO, GANG_KAI };
    uint64_t finished = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture fixture;
        struct replica_result result;
        const enum sharing kind = kinds[seed % 4];
        shared_fixture(&fixture, JOBS, any_count(seed, 1, 1, 3), any_count(seed, 2, 1, 4), kind);
        struct scenario *scenario = &fixture.scenario;
        scenario->seed = seed;
        scenario->horizon_ns = 2 * NS_PER_HOUR;
        scenario->curve_bin_ns = NS_PER_HOUR;
        scenario->kube.gang = gangs[any_count(seed, 3, 0, 3)];
        scenario->kube.topology_manager =
            (enum topology_manager)any_count(seed, 6, TM_NONE, TM_SINGLE_NUMA_NODE);
        if (kind == SHARING_TIME_SLICE || kind == SHARING_MPS)
            group.shares_per_gpu = any_count(seed, 4, 1, 6);
        else if (kind == SHARING_MIG_SINGLE) {
            snprintf(group.mig, sizeof group.mig, "2g");
            for (uint8_t i = 0; i < 3; i++) cut("2g", 2, (uint8_t)(2 * i), 2);
        } else {
            cut("3g", 3, 4, 4);
            cut("1g", 1, 0, 1);
            cut("1g", 1, 1, 1);
        }
        if (any(seed, 5) < 0.5)
            scenario->failures.component[COMPONENT_GPU] = (struct component_failures){
                .law = LAW_EXPONENTIAL, .mean_s = 9000, .repair_median_s = 600, .repair_p95_s = 3000
            };
        for (uint32_t row = 0; row < JOBS; row++) {
            struct ask *ask =
                kube_job(&fixture, row, row * 20, any_between(seed, 100 + row, 1, 400),
                         any_count(seed, 200 + row, 1, 3), 1);
            ask->pod_cpu_milli = any_count(seed, 300 + row, 0, 4000);
            ask->pod_memory_bytes = (uint64_t)any_count(seed, 400 + row, 0, 4) << 30;
            fixture.jobs.words[row].priority = (int32_t)any_count(seed, 500 + row, 0, 2);
            if (kind == SHARING_MIG_MIXED) {
                ask->instance = kube_text(&fixture, any(seed, 600 + row) < 0.5 ? "3g" : "1g");
                fixture.jobs.gpus[row] = 0;
            }
        }
        kube_run(&fixture, &result);
        finished += result.jobs_end[END_FINISHED];
        kube_done(&fixture, &result);
    }
    CHECK(finished > SEEDS * JOBS / 3, "only %lu jobs finished", finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_of_time_slicing),
        cmocka_unit_test(no_pod_gets_two_parts),
        cmocka_unit_test(mig_of_one_profile),
        cmocka_unit_test(mig_by_name),
        cmocka_unit_test(preemption_of_an_instance),
        cmocka_unit_test(instances_meet_in_host_memory),
        cmocka_unit_test(linked_gpus_together),
        cmocka_unit_test(any_run_closes),
    };
    return cmocka_run_group_tests_name("kube_devices", tests, NULL, NULL);
}
