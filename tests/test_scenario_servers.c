/* test_scenario_servers.c - groups of servers in a layout, and what a scheduler knows about their nodes.
 *
 * Wrong ones, with their messages, are in tests/bad. */
#include "tests/scenario_texts.h"

#include "spec/node_names.h"

#define HEAD                                                                                       \
    "gpuplan: 1\nname: groups\nworkload: {communication: none}\nscheduler: {kind: slurm}\n"        \
    "allow_different: [gpu]\nlayouts:\n"

static void three_groups(void **state)
{
    (void)state;
    read_good(
        HEAD
        "  - name: lab\n"
        "    fabric: {link: ib-ndr400}\n"
        "    servers:\n"
        "      - {type: {gpus: 0, cores: 16, memory: 64 GiB}, count: 3, names: \"c[0-1],login\"}\n"
        "      - {type: hgx-h100-8, count: 2, names: \"n[00-01]\", features: [ib, h100], weight: "
        "7,\n"
        "         gpu_type: h100, cores: 32, memory: 1 TB, sockets: 4, sharing: {kind: shard, "
        "per_gpu: 4}}\n"
        "      - {type: hgx-a100-4, count: 1, nodes_per_server: 2}\n");
    const struct layout *layout = &scenario.layouts[0];
    assert_int_equal(layout->group_count, 3);
    assert_int_equal(layout->server_count, 6);
    assert_string_equal(layout->server.id, "hgx-h100-8"); /* the first group with GPUs */
    const struct server_group *cpu = &layout->groups[0], *big = &layout->groups[1];
    assert_int_equal(cpu->server.gpus, 0);
    assert_int_equal(cpu->server.cores, 16);
    assert_true(cpu->server.memory_bytes == UINT64_C(64) << 30);
    assert_int_equal(cpu->weight, 1);
    assert_int_equal(cpu->sockets, 2);
    assert_string_equal(big->features, "ib,h100");
    assert_string_equal(big->gpu_type, "h100");
    assert_int_equal(big->weight, 7);
    assert_int_equal(big->sockets, 4);
    assert_int_equal(big->server.cores, 32); /* the catalog's 112 is overwritten */
    assert_true(big->server.memory_bytes == UINT64_C(1000000000000));
    assert_int_equal(big->sharing, SHARING_SHARD);
    assert_int_equal(big->shares_per_gpu, 4);
    assert_int_equal(layout->groups[2].nodes_per_server, 2);
    assert_int_equal(layout_nodes(layout), 3 + 2 + 2);
    char name[LIMIT_NAME_BYTES];
    node_name(layout, 2, name);
    assert_string_equal(name, "login");
    node_name(layout, 4, name);
    assert_string_equal(name, "n01");
    assert_false(scenario.tornado); /* by default, for the types are mixed */
    resolved_has("layouts.lab.servers[1].cores: 32  # ");
    resolved_has("verdict.tornado: false  # default: servers of several types are mixed\n");
}

static void one_kind_of_server_has_no_groups(void **state)
{
    (void)state;
    read_good(
        HEAD "  - {name: lab, servers: {type: hgx-h100-8, count: 5}, fabric: {link: ib-ndr400}}\n");
    assert_null(scenario.layouts[0].groups);
    assert_int_equal(scenario.layouts[0].group_count, 0);
    assert_int_equal(scenario.layouts[0].server_count, 5);
    assert_true(scenario.tornado);
}

static void groups_of_one_type_are_not_mixed(void **state)
{
    (void)state;
    read_good("gpuplan: 1\nname: one_type\nfailures: llama3\nlayouts:\n"
              "  - name: lab\n    fabric: {link: ib-ndr400}\n    servers:\n"
              "      - {type: hgx-h100-8, count: 2, names: \"a[1-2]\"}\n"
              "      - {type: hgx-h100-8, count: 3, names: \"b[1-3]\"}\n");
    assert_int_equal(scenario.layouts[0].group_count, 2);
    assert_int_equal(scenario.layouts[0].server_count, 5);
    assert_true(scenario.tornado);
}

/* The lines of gres.conf of a node of four GPUs, two and two. */
static void links_and_cores_of_gpus(void **state)
{
    (void)state;
    read_good(HEAD "  - name: lab\n    fabric: {link: ib-ndr400}\n"
                   "    servers: {type: hgx-h100-4, count: 2, cores: 16,\n"
                   "      links: [\"-1,4,2,2\", \"4,-1,2,2\", \"2,2,-1,4\", \"2,2,4,-1\"],\n"
                   "      gpu_cores: [0-7, 0-7, 8-15, 8-15]}\n");
    const struct server_group *group = &scenario.layouts[0].groups[0];
    assert_int_equal(scenario.layouts[0].group_count, 1);
    assert_int_equal(group->link_score[0][0], -1);
    assert_int_equal(group->link_score[0][1], 4);
    assert_int_equal(group->link_score[3][2], 4);
    assert_int_equal(group->link_score[3][1], 2);
    assert_int_equal(group->core_first[2], 8);
    assert_int_equal(group->core_last[2], 15);
    assert_int_equal(group->core_last[1], 7);
}

static void kubernetes_words(void **state)
{
    (void)state;
    read_good("gpuplan: 1\nname: kube\nscheduler: {kind: kubernetes}\nlayouts:\n"
              "  - name: lab\n    fabric: {link: ib-ndr400}\n"
              "    servers: {type: hgx-h100-4, count: 2, labels: {zone: a, pool: gpu},\n"
              "      taints: [\"gpu=yes:NoSchedule\", \"spot:PreferNoSchedule\"],\n"
              "      sharing: {kind: mig_single, profile: 1g.10gb}}\n");
    const struct server_group *group = &scenario.layouts[0].groups[0];
    assert_int_equal(scenario.kind, KIND_KUBERNETES);
    assert_string_equal(group->labels, "zone=a,pool=gpu");
    assert_string_equal(group->taints, "gpu=yes:NoSchedule,spot:PreferNoSchedule");
    assert_string_equal(group->mig, "1g.10gb");
    assert_null(strstr(scenario.resolved, "scheduler.plain")); /* of another kind */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_groups),
        cmocka_unit_test(one_kind_of_server_has_no_groups),
        cmocka_unit_test(groups_of_one_type_are_not_mixed),
        cmocka_unit_test(links_and_cores_of_gpus),
        cmocka_unit_test(kubernetes_words),
    };
    const int failed = cmocka_run_group_tests_name("scenario, servers", tests, NULL, NULL);
    scenario_clear(&scenario);
    return failed;
}
