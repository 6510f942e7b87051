/* test_kube_autoscaler.c - the cluster autoscaler in the engine: growth, expanders, shrinking, giving up. */
#include "kube_runs.h"

#include "near.h"

static struct server_group groups[2];
static struct kube_group scaled[2];

/* Nodes of 8 GPUs in up to two groups, "one" and "two"; each has `min` nodes at first and comes after 120 s. */
static void scaled_fixture(struct fixture *fixture, uint32_t jobs, uint32_t group_count,
                           uint32_t nodes, uint32_t min)
{
    static const char *const names[] = { "one", "two" };
    kube_fixture(fixture, jobs);
    struct layout *layout = fixture_layout(fixture, "scaled", nodes * group_count, 8);
    for (uint32_t g = 0; g < group_count; g++) {
        groups[g] = (struct server_group){ .server = fixture_server(8),
                                           .count = nodes,
                                           .nodes_per_server = 1 };
        snprintf(groups[g].name, sizeof groups[g].name, "%s", names[g]);
        scaled[g] = (struct kube_group){ .min = min, .provision_ns = 120 * NS_PER_S };
        snprintf(scaled[g].group, sizeof scaled[g].group, "%s", names[g]);
    }
    layout->groups = groups;
    layout->group_count = group_count;
    struct kube_spec *spec = &fixture->scenario.kube;
    spec->autoscaler = true;
    spec->groups = scaled;
    spec->group_count = group_count;
}

/* One node of four is there. A job of a whole node at 5 s waits for the scan at 10 s and the provisioning of 120 s. The
 * node is idle from 230 s on, which the scan of that instant sees, and goes at 830 s. */
static void grows_and_shrinks(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    scaled_fixture(&fixture, 2, 1, 4, 1);
    kube_job(&fixture, 0, 0, 2000, 1, 8);
    kube_job(&fixture, 1, 5, 100, 1, 8);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 0), 0, 0);
    CHECK_NEAR(kube_start_s(&result, 1), 130, 1e-12);
    CHECK_NEAR(kube_account_s(&result, ACC_DRAINING), 24 * 2000.0 - 8 * 700.0, 1e-12);
    kube_done(&fixture, &result);
}

/* Three jobs of whole nodes come together: three nodes are ordered at one scan, not one a scan; `max` allows two of them. */
static void orders_what_is_needed(void **state)
{
    (void)state;
    for (uint32_t most = 0; most < 4; most += 3) {
        struct fixture fixture;
        struct replica_result result;
        scaled_fixture(&fixture, 3, 1, 6, 0);
        scaled[0].max = most ? 2 : 0;
        for (uint32_t row = 0; row < 3; row++) kube_job(&fixture, row, 1, 100, 1, 8);
        kube_run(&fixture, &result);
        uint32_t together = 0;
        for (uint32_t row = 0; row < 3; row++) together += kube_start_s(&result, row) == 130;
        assert_int_equal(together, most ? 2 : 3);
        kube_done(&fixture, &result);
    }
}

/* Which of two groups grows for a job: by priority, by price, by waste (the second has twice the cores), by pods (the second
 * has one node only). Nodes 0 to 3 are of the first, 4 to 7 of the second. */
static void expanders(void **state)
{
    (void)state;
    static const enum kube_expander all[] = { EXPAND_PRIORITY, EXPAND_PRICE, EXPAND_LEAST_WASTE,
                                              EXPAND_MOST_PODS };
    for (int e = 0; e < 4; e++) {
        struct fixture fixture;
        struct replica_result result;
        scaled_fixture(&fixture, 2, 2, 4, 0);
        fixture.scenario.kube.expander = all[e];
        if (all[e] == EXPAND_PRIORITY) scaled[1].priority = 5;
        if (all[e] == EXPAND_PRICE) scaled[0].price = 30, scaled[1].price = 20;
        if (all[e] == EXPAND_LEAST_WASTE) groups[1].server.cores *= 2;
        if (all[e] == EXPAND_MOST_PODS) scaled[1].max = 1;
        for (uint32_t row = 0; row < 2; row++) kube_job(&fixture, row, 1, 100, 1, 8);
        kube_run(&fixture, &result);
        const bool second = kube_nodes_used(&result, 0, 0) >= 0x10;
        assert_int_equal(second, all[e] == EXPAND_PRIORITY || all[e] == EXPAND_PRICE);
        kube_done(&fixture, &result);
    }
}

/* Behind job 1 both nodes are used by a quarter, the first one from the beginning. At 610 s, ten minutes after the growth, it
 * goes: job 0 fits beside job 2, has 30 s to end, and starts anew on the other node. */
static void moves_what_is_left(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    scaled_fixture(&fixture, 3, 1, 2, 1);
    kube_job(&fixture, 0, 0, 5000, 1, 2);
    kube_job(&fixture, 1, 1, 100, 1, 8);
    kube_job(&fixture, 2, 231, 3000, 1, 2); /* the default spreads: the empty node */
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 1), 130, 1e-12);
    assert_int_equal(kube_nodes_used(&result, 2, 0), 2);
    assert_int_equal(kube_row(&result, 2)->attempts, 1);
    assert_int_equal(kube_nodes_used(&result, 0, 0), 1);
    assert_int_equal(kube_nodes_used(&result, 0, 1), 2);
    CHECK_NEAR(kube_end_s(&result, 0), 640 + 5000, 1e-12);
    kube_done(&fixture, &result);
}

/* 20 minutes are more than maxNodeProvisionTime: the node never comes. */
static void gives_up(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    scaled_fixture(&fixture, 1, 1, 2, 0);
    fixture.scenario.horizon_ns = 3 * NS_PER_HOUR;
    fixture.scenario.curve_bin_ns = NS_PER_HOUR;
    scaled[0].provision_ns = 1200 * NS_PER_S;
    kube_job(&fixture, 0, 0, 100, 1, 8);
    kube_run(&fixture, &result);
    assert_int_equal(result.jobs_end[END_QUEUED], result.jobs_submitted);
    kube_done(&fixture, &result);
}

enum { SEEDS = 200, JOBS = 30 };

static void any_run_closes(void **state)
{
    (void)state;
    uint64_t finished = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture fixture;
        struct replica_result result;
        scaled_fixture(&fixture, JOBS, any_count(seed, 1, 1, 2), any_count(seed, 2, 2, 4),
                       any_count(seed, 3, 0, 1));
        struct scenario *scenario = &fixture.scenario;
        struct kube_spec *spec = &scenario->kube;
        scenario->seed = seed;
        scenario->horizon_ns = 3 * NS_PER_HOUR;
        scenario->curve_bin_ns = NS_PER_HOUR;
        static const enum kube_gang gangs[] = { GANG_NONE, GANG_COSCHEDULING, GANG_VOLCANO,
                                                GANG_KAI };
        spec->gang = gangs[seed % 4];
        spec->expander = (enum kube_expander)any_count(seed, 4, 0, 4);
        spec->unneeded_ns = any_count(seed, 5, 0, 600) * NS_PER_S;
        spec->delay_after_add_ns = any_count(seed, 6, 0, 600) * NS_PER_S;
        spec->grace_ns = any_count(seed, 7, 0, 1) * 30 * NS_PER_S;
        for (int g = 0; g < 2; g++)
            scaled[g].provision_ns = any_count(seed, 8 + (uint64_t)g, 0, 1000) * NS_PER_S;
        if (any(seed, 10) < 0.5)
            scenario->failures.component[COMPONENT_SERVER] = (struct component_failures){
                .law = LAW_EXPONENTIAL, .mean_s = 9000, .repair_median_s = 600, .repair_p95_s = 3000
            };
        for (uint32_t row = 0; row < JOBS; row++) {
            kube_job(&fixture, row, row * 100, any_between(seed, 100 + row, 1, 900),
                     any_count(seed, 200 + row, 1, 2), any_count(seed, 300 + row, 0, 8));
            fixture.jobs.words[row].priority = (int32_t)any_count(seed, 400 + row, 0, 2);
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
        cmocka_unit_test(grows_and_shrinks), cmocka_unit_test(orders_what_is_needed),
        cmocka_unit_test(expanders),         cmocka_unit_test(moves_what_is_left),
        cmocka_unit_test(gives_up),          cmocka_unit_test(any_run_closes),
    };
    return cmocka_run_group_tests_name("kube_autoscaler", tests, NULL, NULL);
}
