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

/* Servers written inline: asymmetric ones of 4 and 6 GPUs (C115), a mesh of unequal pairs and a ring (C118), a table. */
static void inside_of_servers(void **state)
{
    (void)state;
    char table[FILE_PATH_BYTES], text[4096];
    static const char matrix[] = "\tGPU0\tGPU1\tNIC0\nGPU0\tX\tNV2\tSYS\nGPU1\tNV2\tX\tPXB\n"
                                 "NIC0\tSYS\tPXB\tX\n";
    file_with(table, matrix, strlen(matrix));
    snprintf(text, sizeof text,
             HEAD
             "  - name: lab\n    fabric: {link: ib-ndr400}\n    servers:\n"
             "      - {count: 1, type: {gpu: x, gpus: 4, nics: 1, nic: 10 GB/s, scaleup: 60 GB/s,\n"
             "         pcie: [(GPU0 GPU1 NIC0) GPU2, GPU3], nvlink: ['0,2,0,1', '2,0,1,0', "
             "'0,1,0,2', '1,0,2,0'],\n"
             "         nvlink_links: 3, p2p_max_class: PHB}}\n"
             "      - {count: 1, type: {gpu: x, gpus: 6, nics: 2, nic: 10 GB/s, scaleup: 24 GB/s,\n"
             "         sockets: 1, pcie_switches: 3, nvlink: none, gdr_max_class: PIX}}\n"
             "      - {count: 1, type: {gpu: x, gpus: 2, nics: 1, nic: 10 GB/s, scaleup: 40 GB/s, "
             "matrix: %s}}\n"
             "      - {count: 1, type: {like: dgx-1-v100, gpus: 4}}\n"
             "      - {count: 18, type: {like: gb200-nvl72-tray, nvlink_domain: 18}}\n",
             table);
    read_good(text);
    unlink(table);
    const struct server_group *groups = scenario.layouts[0].groups;
    const struct server_tree *four = &groups[0].server.tree, *six = &groups[1].server.tree;
    assert_int_equal(four->sockets, 2);
    assert_int_equal(tree_gpu_path(four, 0, 1), LINK_NVL);
    assert_int_equal(tree_gpu_path(four, 0, 2), LINK_PHB);
    assert_int_equal(tree_gpu_path(four, 1, 3), LINK_SYS);
    assert_int_equal(four->nvlinks[0][3], 1);
    assert_true(groups[0].server.nvlink_bytes_per_s == 20e9); /* 60 over 3 links */
    assert_int_equal(groups[0].server.p2p_max, LINK_PHB);
    assert_int_equal(tree_gpu_path(six, 0, 1), LINK_PIX);
    assert_int_equal(tree_gpu_path(six, 1, 2), LINK_PHB);
    assert_int_equal(tree_nic_path(six, 2, 0), LINK_PHB);
    assert_int_equal(groups[1].server.gdr_max, LINK_PIX);
    const struct server_tree *read = &groups[2].server.tree;
    assert_true(read->nvlinks[0][1] == 2 && tree_nic_path(read, 1, 0) == LINK_PXB);
    /* half a DGX-1 is no cube mesh: its GPUs are joined as if by a switch */
    assert_true(groups[3].server.tree.nvswitch && groups[3].server.tree.gpus == 4);
    assert_int_equal(groups[4].server.domain_servers, 18);
    resolved_has("layouts.lab.servers[1].type.pcie_uplink: 48 GB/s  # default: as gpu_pcie");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_groups),
        cmocka_unit_test(one_kind_of_server_has_no_groups),
        cmocka_unit_test(groups_of_one_type_are_not_mixed),
        cmocka_unit_test(links_and_cores_of_gpus),
        cmocka_unit_test(kubernetes_words),
        cmocka_unit_test(inside_of_servers),
    };
    const int failed = cmocka_run_group_tests_name("scenario, servers", tests, NULL, NULL);
    scenario_clear(&scenario);
    return failed;
}
