/* test_virtual_nodes.c - servers that host several nodes: GPUs and NICs belong to one node each, and fail as its own. */
#include "fixture.h"

#include "cluster/paths.h"
#include "cluster/vm.h"
#include "tests/near.h"
#include "tests/rows.h"

#include "books_probe.h"

enum { SERVERS = 4, PARTS = 2, NODES = SERVERS * PARTS };

static uint32_t outs_seen[NODES];

static void probe(const struct run *run)
{
    books_probe(run);
    for (uint32_t node = 0; node < NODES; node++) outs_seen[node] += run->cluster.outs[node] > 0;
}

/* Four servers of eight GPUs and eight NICs, each cut into two nodes; nothing but links breaks: 32 of them, each every
 * 100 h in the mean, so that in 100 days each node loses one about 100 times. */
static void links_break_in_every_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, 1);
    struct layout *layout = fixture_layout(&fixture, "hall", SERVERS, 8);
    layout->groups = calloc(1, sizeof *layout->groups);
    layout->group_count = 1;
    layout->groups[0].server = layout->server;
    layout->groups[0].count = SERVERS;
    layout->groups[0].nodes_per_server = PARTS;
    fixture_job(&fixture, 0, 0, 3600, 0, 8);
    fixture.scenario.horizon_ns = 100 * NS_PER_DAY;
    fixture.scenario.failures.component[COMPONENT_LINK] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 100 * 3600, .repair_median_s = 3600, .repair_p95_s = 3600
    };
    fixture_ready(&fixture);
    run_probe = probe;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    run_probe = NULL;
    for (uint32_t node = 0; node < NODES; node++) assert_true(outs_seen[node] > 20);
    replica_result_clear(&result);
    scenario_clear(&fixture.scenario);
    fixture_clear(&fixture);
}

/* A server of eight GPUs, PCIe 24 GB/s, cut into machines of four or two. What a ring in one machine carries:
 *   kept: as the server, 240. split behind switches: the same.
 *   split of a mesh (12 links of 20 GB/s, none left over for 8 GPUs: 14 here, 2 a pair): 4 GPUs have 3 x 2 links, 120;
 *   split of the cube mesh: GPUs 0 to 3 have 1 + 1 + 2 links, 80; of two GPUs 0 and 1 one link, 20.
 *   off: over PCIe through the root complex, 24/1.2 = 20; no peer access there: 0.8 x 24 / 1.05. */
static const struct share {
    const char *name;
    enum nvlink_kind kind;
    uint32_t links, parts;
    struct vm_rules vm;
    double want;
} shares[] = {
    { "kept", NVLINK_SWITCH, 12, 2, { .nvlink = VM_NVLINK_KEPT }, 240e9 },
    { "split behind switches", NVLINK_SWITCH, 12, 2, { .nvlink = VM_NVLINK_SPLIT }, 240e9 },
    { "split of a mesh", NVLINK_MESH, 14, 2, { .nvlink = VM_NVLINK_SPLIT }, 120e9 },
    { "split of a cube mesh", NVLINK_CUBE_MESH, 6, 2, { .nvlink = VM_NVLINK_SPLIT }, 80e9 },
    { "two of a cube mesh", NVLINK_CUBE_MESH, 6, 4, { .nvlink = VM_NVLINK_SPLIT }, 20e9 },
    { "off", NVLINK_SWITCH, 12, 2, { .nvlink = VM_NVLINK_OFF, .p2p_max = LINK_PHB }, 20e9 },
    { "off, no peer access",
      NVLINK_SWITCH,
      12,
      2,
      { .nvlink = VM_NVLINK_OFF, .p2p_max = LINK_PXB, .staged_overhead_frac = 0.05 },
      0.8 * 24e9 / 1.05 },
};

static void scaleup_of_machines(void **state)
{
    const struct share *row = *state;
    struct server_type server = fixture_server(8);
    const char *why;
    tree_plain(&server.tree, 8, 8, 2, 8);
    assert_true(tree_nvlinks(&server.tree, row->kind, row->links, &why));
    server.scaleup_bytes_per_s = 240e9;
    server.nvlink_bytes_per_s = 20e9;
    server.gpu_pcie_bytes_per_s = server.uplink_bytes_per_s = 24e9;
    server.socket_link_bytes_per_s = 22e9;
    CHECK_NEAR(vm_scaleup_bytes_per_s(&server, &row->vm, row->parts), row->want, 1e-12);
    CHECK_NEAR(vm_nic_bytes_per_s(&server, 48.5e9, row->parts), 24e9 / row->parts, 1e-12);
}

/* In each machine of four one NVLink of 50 GB/s joins 0 with 2, 2 with 1, 1 with 3 and 3 with 0: a ring, though not in order. */
static void rings_of_machines_take_the_best_order(void **state)
{
    (void)state;
    struct server_type server = fixture_server(8);
    const struct vm_rules vm = { .nvlink = VM_NVLINK_SPLIT, .p2p_max = LINK_PHB };
    static const uint32_t order[] = { 0, 2, 1, 3 };
    tree_plain(&server.tree, 8, 8, 2, 8);
    server.nvlink_bytes_per_s = 50e9;
    server.gpu_pcie_bytes_per_s = server.uplink_bytes_per_s = 24e9;
    for (uint32_t first = 0; first < 8; first += 4)
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t a = first + order[i], b = first + order[(i + 1) % 4];
            server.tree.nvlinks[a][b] = server.tree.nvlinks[b][a] = 1;
        }
    CHECK_NEAR(vm_scaleup_bytes_per_s(&server, &vm, 2), 50e9, 1e-12);
}

/* MODELS 1.3: GPUs of two machines meet over NICs, unless these share NVLinks; slices of one GPU over the host, at 0.8 of a slot. */
static void who_meets_how(void **state)
{
    (void)state;
    struct server_type server = fixture_server(8);
    const char *why;
    tree_plain(&server.tree, 8, 8, 2, 8);
    assert_true(tree_nvlinks(&server.tree, NVLINK_SWITCH, 12, &why));
    server.gpu_pcie_bytes_per_s = server.uplink_bytes_per_s = 24e9;
    struct vm_rules vm = { .nvlink = VM_NVLINK_OFF, .p2p_max = LINK_PHB };
    assert_false(vm_apart(&server, &vm, 4, 2, 3));
    assert_true(vm_apart(&server, &vm, 4, 1, 2));
    const struct server_type inside = vm_inside(&server, &vm);
    assert_int_equal(tree_gpu_path(&inside.tree, 0, 1), LINK_PHB);
    assert_int_equal(tree_gpu_path(&server.tree, 0, 1), LINK_NVL);
    vm = (struct vm_rules){ .nvlink = VM_NVLINK_KEPT, .shared_nvlink = true };
    assert_false(vm_apart(&server, &vm, 4, 1, 2));
    CHECK_NEAR(path_slices_bytes_per_s(&server), 0.8 * 24e9, 1e-12);
}

/* 10,000 s of computing take 2 % longer on a virtual machine, and the ledger has these 200 s of 4 GPUs as overhead: a
 * part of 1/51 of 10,200 s, 19,765 of 1,008,000 units. */
static void overhead_is_an_account(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, 1);
    struct layout *layout = fixture_layout(&fixture, "hall", 1, 8);
    layout->groups = calloc(1, sizeof *layout->groups);
    layout->group_count = 1;
    layout->groups[0] = (struct server_group){ .server = layout->server,
                                               .count = 1,
                                               .nodes_per_server = 2,
                                               .vm = { .compute_overhead_frac = 0.02 } };
    fixture_job(&fixture, 0, 0, 10000, 0, 4);
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    CHECK_NEAR(s_from_ns(result.run_end_ns), 10200, 1e-8);
    const double held = fixture_metric(&result, "share_compute", CLASS_NONE, -1) +
                        fixture_metric(&result, "share_overhead", CLASS_NONE, -1);
    CHECK_NEAR(fixture_metric(&result, "share_overhead", CLASS_NONE, -1) / held, 19765 / 1008000.0,
               1e-9);
    replica_result_clear(&result);
    scenario_clear(&fixture.scenario);
    fixture_clear(&fixture);
}

/* A job on two or four machines, two of a server, without latency: with a NIC of the first at a quarter from the start, what all
 * NICs of it carry in lock step, its communication takes four times as long. T = D (1 + kappa r). */
static double ends_s(uint32_t machines, double factor)
{
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, 1);
    struct scenario *scenario = &fixture.scenario;
    scenario->recorded_none = true;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] =
        (struct mix_entry){ .profile = { .kappa_one = 1, .kappa_many = 1, .size_bytes = 1e9 },
                            .weight = 1,
                            .gpus_min = 1,
                            .gpus_max = UINT32_MAX };
    struct layout *layout = fixture_layout(&fixture, "hall", 2, 8);
    layout->server.scaleup_hop_s = layout->fabric.link.hop_s = 0;
    layout->groups = calloc(1, sizeof *layout->groups);
    layout->group_count = 1;
    layout->groups[0] =
        (struct server_group){ .server = layout->server, .count = 2, .nodes_per_server = 2 };
    static struct user_event slow = { .action = ACTION_NIC_DEGRADE, .target = "hall-0:0" };
    slow.factor = factor;
    scenario->events = &slow;
    scenario->event_count = 1;
    fixture_job(&fixture, 0, 0, 10000, 0, 4 * machines);
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double end_s = s_from_ns(result.run_end_ns);
    replica_result_clear(&result);
    scenario->events = NULL;
    scenario_clear(scenario);
    fixture_clear(&fixture);
    return end_s;
}

static void machines_meet_at_the_leaf(void **state)
{
    const uint32_t machines = (uint32_t)rows_number(state);
    const double whole_s = ends_s(machines, 1), slow_s = ends_s(machines, 0.25);
    assert_true(whole_s > 11000);
    CHECK_NEAR(slow_s - 10000, 4 * (whole_s - 10000), 1e-8);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, links_break_in_every_node, NULL, "links break in every node");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        rows_add(&rows, scaleup_of_machines, &shares[i], "scale-up: %s", shares[i].name);
    rows_add(&rows, rings_of_machines_take_the_best_order, NULL, "the best order of a machine");
    rows_add(&rows, who_meets_how, NULL, "machines over NICs, slices over the host");
    rows_add(&rows, overhead_is_an_account, NULL, "overhead is an account");
    rows_add(&rows, machines_meet_at_the_leaf, (void *)2, "two machines of one server");
    rows_add(&rows, machines_meet_at_the_leaf, (void *)4, "four machines on two servers");
    return rows_run("virtual nodes", &rows);
}
