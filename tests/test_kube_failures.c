/* test_kube_failures.c - jobs and nodes that fail under Kubernetes, and what the GPU Operator does to nodes. */
#include "kube_runs.h"

#include "near.h"

/* backoffLimit 2: two restarts, after 10 s and 20 s, then it has failed. */
static void a_failing_job_gives_up(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 1);
    fixture_layout(&fixture, "one", 1, 8);
    fixture.scenario.kube.backoff_limit = 2;
    kube_job(&fixture, 0, 0, 100, 1, 8);
    fixture.jobs.words[0].exit_code = 1;
    kube_run(&fixture, &result);
    assert_int_equal(kube_row(&result, 0)->attempts, 3);
    CHECK_NEAR(kube_end_s(&result, 0), 330, 1e-9);
    kube_done(&fixture, &result);
}

/* A silent node is tainted after 50 s and its pods are evicted after 300 s more. */
static void a_silent_node_is_noticed_late(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 20);
    fixture_layout(&fixture, "four", 4, 8);
    for (uint32_t row = 0; row < 20; row++) kube_job(&fixture, row, row * 100, 3600, 1, 8);
    fixture.scenario.failures.component[COMPONENT_SERVER] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 8000, .repair_median_s = 600, .repair_p95_s = 3000
    };
    kube_run(&fixture, &result);
    const struct attempt_row *rows = LOG_ITEMS(&result.attempts, struct attempt_row);
    uint32_t failed = 0;
    for (uint64_t i = 0; i < result.attempts.count; i++) {
        if (rows[i].end != ATTEMPT_FAILED) continue;
        CHECK_NEAR((double)(rows[i].end_ns - rows[i].fault_ns) / NS_PER_S, 350, 1e-9);
        failed++;
    }
    CHECK(failed >= 3, "only %u attempts failed", failed);
    kube_done(&fixture, &result);
}

/* The node is down from 100 s to 200 s, its device plugin is up at 260 s. */
static void a_node_is_back_with_its_plugin(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 1);
    fixture_layout(&fixture, "one", 1, 8);
    fixture.scenario.kube.plugin_ready_ns = 60 * NS_PER_S;
    kube_job(&fixture, 0, 0, 1000, 1, 8);
    static struct user_event events[2];
    for (int up = 0; up < 2; up++) {
        events[up] = (struct user_event){ .at_ns = (up + 1) * 100 * NS_PER_S,
                                          .action = up ? ACTION_NODE_UP : ACTION_NODE_DOWN };
        snprintf(events[up].target, sizeof events[up].target, "one-0");
    }
    fixture.scenario.events = events;
    fixture.scenario.event_count = 2;
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_end_s(&result, 0), 1260, 1e-9);
    kube_done(&fixture, &result);
}

/* Two nodes, an upgrade of 100 s every hour: the job on the first runs to its end at 4000 s, then that node is out until
 * 4100 s and the second until 4200 s. A job of both nodes that comes at 3700 s waits for all of it. */
static void drivers_are_upgraded_node_by_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    kube_fixture(&fixture, 3);
    fixture_layout(&fixture, "two", 2, 8);
    fixture.scenario.kube.gang = GANG_COSCHEDULING;
    fixture.scenario.kube.driver_upgrade_every_ns = 3600 * NS_PER_S;
    fixture.scenario.kube.driver_upgrade_ns = 100 * NS_PER_S;
    kube_job(&fixture, 0, 0, 4000, 1, 8);
    kube_job(&fixture, 1, 0, 4000, 1, 8);
    kube_job(&fixture, 2, 3700, 50, 2, 8);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 2), 4200, 1e-9);
    kube_done(&fixture, &result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_job_gives_up),
        cmocka_unit_test(a_silent_node_is_noticed_late),
        cmocka_unit_test(a_node_is_back_with_its_plugin),
        cmocka_unit_test(drivers_are_upgraded_node_by_node),
    };
    return cmocka_run_group_tests_name("kube_failures", tests, NULL, NULL);
}
