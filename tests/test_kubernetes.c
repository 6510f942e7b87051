/* test_kubernetes.c - the Kubernetes scheduler in the engine: hand-made schedules, and random ones with the books checked. */
#include "kube_runs.h"

#include "near.h"

/* Two jobs submitted at once, each wants 6 of 10 nodes. Their pods take turns: 5 and 5, and nobody starts, ever. */
static void s11_two_gangs_deadlock_without_a_rule(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 3);
    fixture_layout(&fixture, "ten", 10, 8);
    for (uint32_t row = 0; row < 2; row++) kube_job(&fixture, row, 0, 3600, 6, 8);
    kube_job(&fixture, 2, 0, 86400, 1, 0)->pod_cpu_milli =
        0; /* a day in which something could happen */
    fixture.jobs.asks[2].pod_memory_bytes = 0;
    kube_run(&fixture, &result);
    assert_int_equal(result.jobs_end[END_QUEUED], 2);
    assert_true(kube_start_s(&result, 0) < 0 && kube_start_s(&result, 1) < 0);
    CHECK_NEAR(kube_account_s(&result, ACC_HELD), 80 * 86400.0, 1e-9);
    kube_done(&fixture, &result);
}

/* With the rule the first has all its nodes at once, the second follows, and nothing is held idle. */
static void s11_coscheduling_has_no_deadlock(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 2);
    fixture_layout(&fixture, "ten", 10, 8);
    fixture.scenario.kube.gang = GANG_COSCHEDULING;
    for (uint32_t row = 0; row < 2; row++) kube_job(&fixture, row, 0, 3600, 6, 8);
    kube_run(&fixture, &result);
    assert_int_equal(result.jobs_end[END_FINISHED], 2);
    CHECK_NEAR(kube_start_s(&result, 0), 0, 0);
    CHECK_NEAR(kube_start_s(&result, 1), 3600, 1e-9);
    CHECK_NEAR(kube_account_s(&result, ACC_HELD), 0, 0);
    kube_done(&fixture, &result);
}

/* C056: a gang of 100 nodes with 99 there. Without a rule 99 stand idle until the last is free; with it none does. */
static void c056_a_gang_does_not_hold(void **state)
{
    (void)state;
    for (int gang = 0; gang < 2; gang++) {
        struct fixture fixture;
        struct replica_result result;
        kube_fixture(&fixture, 2);
        fixture_layout(&fixture, "hundred", 100, 8);
        fixture.scenario.kube.gang = gang ? GANG_COSCHEDULING : GANG_NONE;
        kube_job(&fixture, 0, 0, 1000, 1, 8);
        kube_job(&fixture, 1, 10, 500, 100, 8);
        kube_run(&fixture, &result);
        CHECK_NEAR(kube_start_s(&result, 1), 1000, 1e-9);
        CHECK_NEAR(kube_account_s(&result, ACC_HELD), gang ? 0 : 99 * 8 * 990.0, 1e-9);
        kube_done(&fixture, &result);
    }
}

/* C054, C056: eight free GPUs, one on each of eight nodes: a pod of eight is refused, eight pods of one run. */
static void c054_free_gpus_are_not_a_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 2);
    fixture_layout(&fixture, "ones", 8, 1);
    kube_job(&fixture, 0, 0, 100, 1, 8);
    kube_job(&fixture, 1, 0, 100, 8, 1);
    kube_run(&fixture, &result);
    assert_int_equal(kube_row(&result, 0)->end, END_REJECTED);
    assert_string_equal(kube_row(&result, 0)->reason,
                        "0 nodes are available: Insufficient nvidia.com/gpu");
    CHECK_NEAR(kube_end_s(&result, 1), 100, 1e-9);
    kube_done(&fixture, &result);
}

/* C058: a job of 2 on nodes with 4 and 2 free takes the 2 under MostAllocated over GPUs, either under the default. */
static void c058_most_allocated_takes_the_tight_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 3);
    fixture_layout(&fixture, "two", 2, 8);
    struct kube_profile *profile = &fixture.scenario.kube.profile;
    profile->strategy = FIT_MOST_ALLOCATED;
    profile->fit_weight[KUBE_GPU] = 5;
    kube_job(&fixture, 0, 0, 1000, 1, 6);
    kube_job(&fixture, 1, 1, 1000, 1, 4);
    kube_job(&fixture, 2, 2, 1000, 1, 2);
    kube_run(&fixture, &result);
    assert_true(kube_nodes_used(&result, 0, 0) != kube_nodes_used(&result, 1, 0));
    assert_int_equal(kube_nodes_used(&result, 2, 0), kube_nodes_used(&result, 0, 0));
    kube_done(&fixture, &result);
}

/* Whole nodes that are free while small jobs run: the default spreads by cores and breaks every node, MostAllocated keeps them. */
static void the_default_fragments_more(void **state)
{
    (void)state;
    double wait_s[2];
    for (int most = 0; most < 2; most++) {
        struct fixture fixture;
        struct replica_result result;
        kube_fixture(&fixture, 9);
        fixture_layout(&fixture, "eight", 8, 8);
        struct kube_profile *profile = &fixture.scenario.kube.profile;
        if (most) {
            profile->strategy = FIT_MOST_ALLOCATED;
            profile->fit_weight[KUBE_GPU] = 5;
        }
        for (uint32_t row = 0; row < 8; row++) kube_job(&fixture, row, row, 5000, 1, 1);
        kube_job(&fixture, 8, 100, 1000, 1, 8);
        kube_run(&fixture, &result);
        wait_s[most] = kube_start_s(&result, 8) - 100;
        kube_done(&fixture, &result);
    }
    CHECK_NEAR(wait_s[1], 0, 0);
    CHECK_NEAR(wait_s[0], 4900, 0.01); /* the first node that is whole again */
}

/* Over random mixes of small pods and whole nodes: free GPUs that are of no use to those who wait. */
static double fragmented_s(uint64_t seed, bool most)
{
    enum { MIX = 120 };
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, MIX);
    fixture_layout(&fixture, "mix", 16, 8);
    fixture.scenario.seed = seed;
    fixture.scenario.kube.gang = GANG_COSCHEDULING;
    struct kube_profile *profile = &fixture.scenario.kube.profile;
    if (most) {
        profile->strategy = FIT_MOST_ALLOCATED;
        profile->fit_weight[KUBE_GPU] = 5;
    }
    for (uint32_t row = 0; row < MIX; row++)
        kube_job(&fixture, row, row * 60, any_between(seed, 100 + row, 500, 4000), 1,
                 any(seed, 300 + row) < 0.7 ? any_count(seed, 500 + row, 1, 2) : 8);
    kube_run(&fixture, &result);
    const double fragmented = kube_account_s(&result, ACC_FRAGMENTED);
    kube_done(&fixture, &result);
    return fragmented;
}

static void the_default_fragments_at_least_as_much(void **state)
{
    (void)state;
    double of_default = 0, of_most = 0;
    uint32_t better = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const double spread = fragmented_s(seed, false), packed = fragmented_s(seed, true);
        of_default += spread;
        of_most += packed;
        better += packed <= spread;
    }
    CHECK(of_default > 1.2 * of_most, "%g GPU-s fragmented by default, %g by MostAllocated",
          of_default, of_most);
    CHECK(better >= 36, "MostAllocated fragments no more in only %u of 40 mixes", better);
}

/* A pod that does not fit never blocks a smaller one behind it. */
static void small_pods_overtake(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 3);
    fixture_layout(&fixture, "one", 1, 8);
    kube_job(&fixture, 0, 0, 1000, 1, 4);
    kube_job(&fixture, 1, 10, 1000, 1, 8);
    kube_job(&fixture, 2, 20, 5000, 1, 4);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 2), 20, 0);
    CHECK_NEAR(kube_start_s(&result, 1), 5020, 1e-9);
    kube_done(&fixture, &result);
}

/* The pod of 8 fails at 10 s and sleeps for 1 s. At 10.5 s the node is free; it is tried at 11 s. */
static void backoff_delays_a_retry(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 2);
    fixture_layout(&fixture, "one", 1, 8);
    kube_job(&fixture, 0, 0, 10.5, 1, 8);
    kube_job(&fixture, 1, 10, 100, 1, 8);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 1), 11, 1e-9);
    kube_done(&fixture, &result);
}

/* The more important job has its nodes when the grace period of 30 s is over; until then they count as used (C067). The victim
 * loses its work and starts again behind it. */
static void preemption_after_the_grace_period(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 4);
    fixture_layout(&fixture, "two", 2, 8);
    kube_job(&fixture, 0, 0, 1000, 1, 8);
    kube_job(&fixture, 1, 1, 1000, 1, 8);
    kube_job(&fixture, 2, 100, 500, 1, 8);
    kube_job(&fixture, 3, 110, 50, 1, 8);
    fixture.jobs.words[2].priority = 10;
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 2), 130, 1e-9);
    assert_int_equal(kube_row(&result, 0)->attempts, 1); /* it is older: the other one goes */
    assert_int_equal(kube_row(&result, 1)->attempts, 2);
    CHECK_NEAR(kube_end_s(&result, 0), 1000, 1e-9);
    CHECK_NEAR(kube_account_s(&result, ACC_LOST), 8 * 129.0, 1e-9);
    kube_done(&fixture, &result);
}

/* Two nodes of eight GPUs, each with jobs of different priority: the node with the lower top priority is emptied. */
static void preemption_takes_the_least_important_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 3);
    fixture_layout(&fixture, "two", 2, 8);
    kube_job(&fixture, 0, 0, 1000, 1, 8);
    kube_job(&fixture, 1, 0, 1000, 1, 8);
    kube_job(&fixture, 2, 100, 500, 1, 8);
    fixture.jobs.words[0].priority = 3;
    fixture.jobs.words[1].priority = 5;
    fixture.jobs.words[2].priority = 10;
    kube_run(&fixture, &result);
    assert_int_equal(kube_row(&result, 0)->attempts, 2);
    assert_int_equal(kube_row(&result, 1)->attempts, 1);
    assert_int_equal(kube_nodes_used(&result, 2, 0), kube_nodes_used(&result, 0, 0));
    kube_done(&fixture, &result);
}

/* A gang of two nodes preempts both at once, not one after the other; one that could have only one of them preempts none. */
static void a_gang_preempts_all_or_nothing(void **state)
{
    (void)state;
    for (int enough = 0; enough < 2; enough++) {
        struct fixture fixture;
        struct replica_result result;
        kube_fixture(&fixture, 3);
        fixture_layout(&fixture, "two", 2, 8);
        fixture.scenario.kube.gang = GANG_COSCHEDULING;
        kube_job(&fixture, 0, 0, 1000, 1, 8);
        kube_job(&fixture, 1, 0, 2000, 1, 8);
        kube_job(&fixture, 2, 100, 500, 2, 8);
        fixture.jobs.words[1].priority = enough ? 0 : 10;
        fixture.jobs.words[2].priority = 10;
        kube_run(&fixture, &result);
        CHECK_NEAR(kube_start_s(&result, 2), enough ? 130 : 2000, 1e-9);
        assert_int_equal(kube_row(&result, 0)->attempts, enough ? 2 : 1);
        kube_done(&fixture, &result);
    }
}

/* Taints keep pods off, tolerations let them on; a selector binds them to a group. */
static void groups_of_nodes(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 4);
    struct layout *layout = fixture_layout(&fixture, "mixed", 2, 8);
    static struct server_group groups[2];
    for (int g = 0; g < 2; g++) {
        groups[g] =
            (struct server_group){ .server = fixture_server(8), .count = 1, .nodes_per_server = 1 };
        snprintf(groups[g].labels, sizeof groups[g].labels, "gpu=%s", g ? "h100" : "a100");
    }
    snprintf(groups[1].taints, sizeof groups[1].taints, "team=red:NoSchedule");
    layout->groups = groups;
    layout->group_count = 2;
    kube_job(&fixture, 0, 0, 100, 1, 8);
    kube_job(&fixture, 1, 1, 100, 1, 8); /* waits for the only node without a taint */
    kube_job(&fixture, 2, 2, 100, 1, 8)->tolerations = kube_text(&fixture, "team=red");
    struct ask *bound = kube_job(&fixture, 3, 3, 100, 1, 8);
    bound->node_selector = kube_text(&fixture, "gpu=h100");
    bound->tolerations = fixture.jobs.asks[2].tolerations;
    kube_run(&fixture, &result);
    assert_int_equal(kube_nodes_used(&result, 0, 0), 1);
    CHECK_NEAR(kube_start_s(&result, 1), 100, 1e-9);
    assert_int_equal(kube_nodes_used(&result, 2, 0), 2);
    assert_int_equal(kube_nodes_used(&result, 3, 0), 2);
    CHECK_NEAR(kube_start_s(&result, 3), 102, 1e-9);
    kube_done(&fixture, &result);
}

/* A pod of one GPU and all cores leaves seven GPUs that nobody can use; a job without words takes its share of the cores. */
static void cores_strand_gpus(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 3);
    fixture_layout(&fixture, "one", 1, 8);
    kube_job(&fixture, 0, 0, 100, 1, 1)->pod_cpu_milli = 128000;
    fixture_job(&fixture, 1, 1, 100, 0, 1);
    fixture_job(&fixture, 2, 200, 100, 0, 7);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 1), 100, 1e-9);
    CHECK_NEAR(kube_start_s(&result, 2), 200, 1e-9);
    kube_done(&fixture, &result);
}

/* ---- any cluster ------------------------------------------------------------------------------- */

enum { SEEDS = 300, JOBS = 40 };

static void any_words(struct fixture *fixture, uint32_t row, uint64_t seed)
{
    const double at_s = row * 40.0 + (any(seed, 300 + row) < 0.3 ? -40.0 : 0);
    const uint32_t gpus = any_count(seed, 400 + row, 0, 8), pods = any_count(seed, 500 + row, 1, 4);
    if (any(seed, 600 + row) < 0.3)
        fixture_job(fixture, row, at_s < 0 ? 0 : at_s, any_between(seed, 700 + row, 1, 900), 0,
                    any_count(seed, 800 + row, 1, 20));
    else
        kube_job(fixture, row, at_s < 0 ? 0 : at_s, any_between(seed, 700 + row, 1, 900), pods,
                 gpus)
            ->pod_cpu_milli = any_count(seed, 900 + row, 0, 60000);
    if (any(seed, 1) < 0.6)
        fixture->jobs.words[row].priority = (int32_t)any_count(seed, 1000 + row, 0, 3);
    fixture->jobs.words[row].hold = any(seed, 1100 + row) < 0.05;
    if (any(seed, 1200 + row) < 0.1) fixture->jobs.words[row].exit_code = 1;
}

static void any_events(struct scenario *scenario, uint64_t seed)
{
    static struct user_event events[24];
    scenario->events = events;
    scenario->event_count = 24;
    for (uint32_t i = 0; i < 24; i++) {
        events[i] = (struct user_event){ .at_ns = (i + 1) * 70 * NS_PER_S,
                                         .action = (enum user_action)any_count(seed, 2000 + i, 0,
                                                                               ACTIONS - 1) };
        if (events[i].action <= ACTION_RESUME)
            sprintf(events[i].target, "any-%u", any_count(seed, 2100 + i, 0, 3));
        else if (events[i].action <= ACTION_GPU_REPAIR)
            sprintf(events[i].target, "any-%u:%u", any_count(seed, 2100 + i, 0, 3),
                    any_count(seed, 2200 + i, 0, 3));
        else
            sprintf(events[i].target, "j%u", any_count(seed, 2300 + i, 0, JOBS - 1));
    }
}

static void any_cluster(uint64_t seed, struct fixture *fixture)
{
    kube_fixture(fixture, JOBS);
    struct scenario *scenario = &fixture->scenario;
    scenario->seed = seed;
    scenario->horizon_ns = 2 * NS_PER_HOUR;
    scenario->curve_bin_ns = NS_PER_HOUR;
    scenario->shape = any(seed, 2) < 0.7 ? SHAPE_MODEL : SHAPE_FREE;
    struct layout *layout =
        fixture_layout(fixture, "any", any_count(seed, 3, 2, 5), any(seed, 4) < 0.5 ? 8 : 4);
    layout->fabric.link.switch_ports = 64;
    scenario->kube.gang = any(seed, 5) < 0.5 ? GANG_NONE : GANG_COSCHEDULING;
    scenario->kube.profile.strategy = (enum fit_strategy)any_count(seed, 6, 0, 1);
    scenario->kube.profile.fit_weight[KUBE_GPU] = any_count(seed, 7, 0, 5);
    scenario->kube.replace_terminating = any(seed, 8) < 0.5;
    scenario->kube.grace_ns = any_count(seed, 9, 0, 60) * NS_PER_S;
    if (any(seed, 12) < 0.3) scenario->kube.plugin_ready_ns = 100 * NS_PER_S;
    if (any(seed, 13) < 0.3) {
        scenario->kube.driver_upgrade_every_ns = 1000 * NS_PER_S;
        scenario->kube.driver_upgrade_ns = 30 * NS_PER_S;
    }
    if (any(seed, 10) < 0.6) any_events(scenario, seed);
    if (any(seed, 11) < 0.4)
        scenario->failures.component[COMPONENT_SERVER] = (struct component_failures){
            .law = LAW_EXPONENTIAL, .mean_s = 5000, .repair_median_s = 600, .repair_p95_s = 3000
        };
    for (uint32_t row = 0; row < JOBS; row++) any_words(fixture, row, seed);
    for (uint32_t row = 1; row < JOBS; row++) /* rows are in submit order */
        if (fixture->jobs.submit_ns[row] < fixture->jobs.submit_ns[row - 1])
            fixture->jobs.submit_ns[row] = fixture->jobs.submit_ns[row - 1];
}

static void any_run_closes(void **state)
{
    (void)state;
    uint64_t finished = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture fixture;
        struct replica_result result;
        any_cluster(seed, &fixture);
        kube_run(&fixture, &result);
        uint64_t ended = 0;
        for (int end = 0; end < JOB_ENDS; end++) ended += result.jobs_end[end];
        CHECK(ended == result.jobs_submitted, "seed %lu: jobs", seed);
        finished += result.jobs_end[END_FINISHED];
        kube_done(&fixture, &result);
    }
    CHECK(finished > SEEDS * JOBS / 4, "only %lu jobs finished", finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(s11_two_gangs_deadlock_without_a_rule),
        cmocka_unit_test(s11_coscheduling_has_no_deadlock),
        cmocka_unit_test(c056_a_gang_does_not_hold),
        cmocka_unit_test(c054_free_gpus_are_not_a_node),
        cmocka_unit_test(c058_most_allocated_takes_the_tight_node),
        cmocka_unit_test(the_default_fragments_more),
        cmocka_unit_test(the_default_fragments_at_least_as_much),
        cmocka_unit_test(small_pods_overtake),
        cmocka_unit_test(backoff_delays_a_retry),
        cmocka_unit_test(preemption_after_the_grace_period),
        cmocka_unit_test(preemption_takes_the_least_important_node),
        cmocka_unit_test(a_gang_preempts_all_or_nothing),
        cmocka_unit_test(groups_of_nodes),
        cmocka_unit_test(cores_strand_gpus),
        cmocka_unit_test(any_run_closes),
    };
    return cmocka_run_group_tests_name("kubernetes", tests, NULL, NULL);
}
