/* test_scenario_kube.c - `scheduler.kubernetes`, `.static` and `.defragmentation`, in the words of their own files.
 *
 * Wrong ones, with their messages, are in tests/bad. */
#include "tests/scenario_texts.h"

#include "base/clock.h"
#include "spec/jobs.h"

#define LAYOUT                                                                                     \
    "layouts:\n  - name: lab\n    fabric: {link: ib-ndr400}\n    servers:\n"                       \
    "      - {type: hgx-h100-8, count: 4, name: big}\n      - {type: hgx-h100-8, count: 8, name: " \
    "small}\n"
#define HEAD "gpuplan: 1\nname: kube\nscheduler:\n  kind: kubernetes\n"

static const struct kube_spec *read_kube(const char *keys)
{
    static char text[8192];
    snprintf(text, sizeof text, HEAD "  kubernetes:\n%s" LAYOUT, keys);
    read_good(text);
    return &scenario.kube;
}

static void defaults_are_those_of_the_spec(void **state)
{
    (void)state;
    struct kube_spec want;
    kube_defaults(&want);
    read_good(HEAD LAYOUT);
    const unsigned char *a = (const unsigned char *)&scenario.kube,
                        *b = (const unsigned char *)&want;
    for (size_t i = 0; i < sizeof want; i++)
        if (a[i] != b[i]) fail_msg("byte %zu differs: %d, %d", i, a[i], b[i]);
}

static void profiles(void **state)
{
    (void)state;
    const struct kube_profile *profile =
        &read_kube(
             "    profile:\n"
             "      NodeResourcesFit:\n"
             "        scoringStrategy:\n"
             "          type: RequestedToCapacityRatio\n"
             "          resources: [{name: nvidia.com/gpu, weight: 5}, {name: cpu}]\n"
             "          requestedToCapacityRatio:\n"
             "            shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]\n"
             "      NodeResourcesBalancedAllocation: [{name: cpu}, {name: nvidia.com/gpu}]\n"
             "      balancedAllocation: absolute\n"
             "      weights: {NodeResourcesFit: 7, TaintToleration: 0}\n"
             "      percentageOfNodesToScore: 30\n")
             ->profile;
    assert_int_equal(profile->strategy, FIT_REQUESTED_TO_CAPACITY);
    assert_true(profile->fit_weight[KUBE_GPU] == 5 && profile->fit_weight[KUBE_CPU] == 1);
    assert_int_equal(profile->fit_weight[KUBE_MEMORY], 0); /* only what is named */
    assert_int_equal(profile->shape_count, 2);
    assert_true(profile->shape[1].utilization == 100 && profile->shape[1].score == 10);
    assert_true(profile->balanced_resource[KUBE_GPU] && !profile->balanced_resource[KUBE_MEMORY]);
    assert_int_equal(profile->balanced, BALANCED_ABSOLUTE);
    assert_true(profile->weight_fit == 7 && profile->weight_taint == 0 &&
                profile->weight_affinity == 2);
    assert_int_equal(profile->percentage_of_nodes_to_score, 30);
    assert_int_equal(
        read_kube("    profile: {NodeResourcesFit: {scoringStrategy: MostAllocated}}\n")
            ->profile.strategy,
        FIT_MOST_ALLOCATED);
}

static void times_and_policies(void **state)
{
    (void)state;
    const struct kube_spec *kube =
        read_kube("    preemption: false\n    terminationGracePeriodSeconds: 5\n    "
                  "podMaxBackoffSeconds: 20\n"
                  "    topologyManagerPolicy: single-numa-node\n    gang: coscheduling\n    "
                  "backoffLimit: 3\n"
                  "    nodeMonitorGracePeriod: 40s\n    tolerationSeconds: 60\n    "
                  "podReplacementPolicy: Failed\n"
                  "    operator: {plugin_ready: 90s, driver_upgrade_every: "
                  "30d, driver_upgrade: 10m}\n"
                  "    binpack: {weight: 2.5, resources: [{name: nvidia.com/gpu, weight: 3}]}\n");
    assert_false(kube->preemption || kube->replace_terminating);
    assert_true(kube->grace_ns == 5 * NS_PER_S && kube->backoff_most_ns == 20 * NS_PER_S);
    assert_int_equal(kube->topology_manager, TM_SINGLE_NUMA_NODE);
    assert_int_equal(kube->gang, GANG_COSCHEDULING);
    assert_true(kube->node_monitor_grace_ns == 40 * NS_PER_S &&
                kube->toleration_ns == 60 * NS_PER_S);
    assert_int_equal(kube->backoff_limit, 3);
    assert_true(kube->plugin_ready_ns == 90 * NS_PER_S &&
                kube->driver_upgrade_ns == 600 * NS_PER_S);
    assert_true(kube->driver_upgrade_every_ns == 30 * NS_PER_DAY);
    assert_true(kube->binpack_weight == 2.5 && kube->binpack_resource[KUBE_GPU] == 3);
}

static void queues_and_levels(void **state)
{
    (void)state;
    const struct kube_spec *kube = read_kube(
        "    gang: kueue\n    topology: [{name: block, nodes: 8}, {name: rack, nodes: 4}, {name: "
        "host, nodes: 1}]\n"
        "    clusterQueues:\n"
        "      - name: a\n        cohort: all\n        queueingStrategy: StrictFIFO\n"
        "        resources: [{name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 4, "
        "lendingLimit: 0},\n"
        "                    {name: cpu, nominalQuota: 500m}, {name: memory, nominalQuota: 64Gi}]\n"
        "        preemption: {withinClusterQueue: LowerOrNewerEqualPriority, reclaimWithinCohort: "
        "Any,\n"
        "                     borrowWithinCohort: LowerPriority}\n"
        "      - {name: b, weight: 3, capability: 16, quota: 5, overQuotaWeight: 2, limit: 9, "
        "priority: -4}\n");
    assert_int_equal(kube->level_count, 3);
    assert_string_equal(kube->levels[1], "rack");
    assert_int_equal(kube->level_nodes[1], 4);
    assert_int_equal(kube->queue_count, 2);
    const struct kube_cluster_queue *a = &kube->queues[0], *b = &kube->queues[1];
    assert_string_equal(a->cohort, "all");
    assert_true(a->nominal_gpus == 8 && a->borrowing_gpus == 4 && a->lending_gpus == 0);
    assert_true(a->nominal_cpu_milli == 500 && a->nominal_memory_bytes == INT64_C(64) << 30);
    assert_int_equal(a->strategy, STRICT_FIFO);
    assert_int_equal(a->within_cluster_queue, KUEUE_LOWER_OR_NEWER_EQUAL);
    assert_int_equal(a->reclaim_within_cohort, KUEUE_ANY);
    assert_int_equal(a->borrow_within_cohort, KUEUE_LOWER_PRIORITY);
    assert_true(a->limit_gpus == INT64_MAX && a->weight == 1);
    assert_true(b->nominal_gpus == 5 && b->nominal_cpu_milli == INT64_MAX &&
                b->borrowing_gpus == INT64_MAX);
    assert_true(b->weight == 3 && b->capability_gpus == 16 && b->over_quota_weight == 2);
    assert_true(b->limit_gpus == 9 && b->priority == -4);
}

static void autoscaler(void **state)
{
    (void)state;
    const struct kube_spec *kube = read_kube(
        "    autoscaler: {expander: price, scanInterval: 30s, scaleDownUtilizationThreshold: 0.4,\n"
        "      groups: [{group: big, min: 1, max: 3, provision: 5m, price: 12.5, priority: 9},\n"
        "               {group: small, provision: 90s}]}\n");
    assert_true(kube->autoscaler);
    assert_int_equal(kube->expander, EXPAND_PRICE);
    assert_true(kube->scan_ns == 30 * NS_PER_S && kube->utilization_threshold == 0.4);
    assert_true(kube->unneeded_ns == 600 * NS_PER_S); /* not said */
    assert_int_equal(kube->group_count, 2);
    assert_string_equal(kube->groups[0].group, "big");
    assert_true(kube->groups[0].min == 1 && kube->groups[0].max == 3 &&
                kube->groups[0].price == 12.5);
    assert_true(kube->groups[0].provision_ns == 300 * NS_PER_S && kube->groups[0].priority == 9);
    assert_true(kube->groups[1].min == 0 && kube->groups[1].max == 0); /* all of the group */
    assert_string_equal(scenario.layouts[0].groups[1].name, "small");
}

static void teams(void **state)
{
    (void)state;
    read_good(
        "gpuplan: 1\nname: static\nscheduler: {kind: static, static: {teams: [{name: vision, "
        "share: 3},\n"
        "  {name: speech}]}, defragmentation: {every: 1h, cost: 90s, gpus_most: 4}}\n"
        "layouts:\n  - {name: lab, servers: {type: hgx-h100-8, count: 4}, fabric: {link: "
        "ib-ndr400}}\n"
        "jobs:\n  - {run: 1m, gpus: 8, team: vision}\n  - {run: 1m, gpus: 8, user: speech}\n");
    assert_int_equal(scenario.team_count, 2);
    assert_true(scenario.teams[0].share == 3 && scenario.teams[1].share == 1);
    assert_int_equal(scenario.teams[1].servers, 0);
    assert_true(scenario.moves.every_ns == NS_PER_HOUR && scenario.moves.cost_ns == 90 * NS_PER_S);
    assert_true(scenario.moves.gpus_most == 4 && scenario.moves.moves_most == 0);
    assert_string_equal(scenario.jobs->text + scenario.jobs->words[1].team, "speech");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_spec),
        cmocka_unit_test(profiles),
        cmocka_unit_test(times_and_policies),
        cmocka_unit_test(queues_and_levels),
        cmocka_unit_test(autoscaler),
        cmocka_unit_test(teams),
    };
    const int failed = cmocka_run_group_tests_name("scenario, kubernetes", tests, NULL, NULL);
    scenario_clear(&scenario);
    return failed;
}
