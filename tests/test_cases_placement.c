/* test_cases_placement.c - what users of such tools reported about placement, gangs, fragmentation and density, as scenarios that
 * are read and run as any other. Right answers are worked by hand above each case; a row bears the report's number. */
#include "scenario_run.h"

#include "tests/rows.h"

enum { STARTS_MOST = 24 };

struct placed_case {
    const char *name, *scheduler, *servers, *jobs;
    struct start starts[STARTS_MOST];
};

#define LIST(...)          "  servers:\n" __VA_ARGS__
#define H100(count, names) "  - {type: hgx-h100-8, count: " #count ", names: '" names "'}\n"
#define SLURM_OLD                                                                                  \
    "scheduler: {kind: slurm, slurm: {compat: '22.05', SchedulerParameters: "                      \
    "'bf_interval=1,sched_interval=1'"
#define SLURM                                                                                      \
    "scheduler: {kind: slurm, slurm: {SchedulerParameters: 'bf_interval=1,sched_interval=1'"
#define KUBE "scheduler: {kind: kubernetes, kubernetes: {"
#define PACK                                                                                       \
    "profile: {NodeResourcesFit: {scoringStrategy: {type: MostAllocated, "                         \
    "resources: [{name: nvidia.com/gpu, weight: 5}]}}}"
/* Four GPUs of one socket, the pairs 0 and 2, 1 and 3 are linked best. */
#define LINKED                                                                                     \
    "  - {type: hgx-h100-4, count: 1, names: 'n0', cores: 16, sockets: 1, gpu_cores: [0-15, "      \
    "0-15, 0-15, 0-15], "                                                                          \
    "links: ['-1,1,4,1', '1,-1,1,4', '4,1,-1,1', '1,4,1,-1']}\n"
#define POD(id, at, gpus)                                                                          \
    "- {id: " id ", at: " at ", run: 1h, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: " #gpus  \
    "}}\n"
#define PODS(id, at, count, gpus, rest)                                                            \
    "- {id: " id ", at: " at ", run: 1h, pods: " #count                                            \
    ", resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: " #gpus "}" rest "}\n"

/* clang-format off */
static const struct placed_case cases[] = {
    /* C076: job a holds GPU 0. Of 1, 2 and 3 the best linked pair is 1 and 3; the lowest would be 1 and 2. */
    { "C076 linked GPUs, slurm 22.05", SLURM_OLD "}}\n", LINKED,
      "- {id: a, run: 1h, nodes: 1, gpus_per_node: 1}\n- {id: b, at: 10s, run: 1h, nodes: 1, gpus_per_node: 2}\n",
      { { "a", 0, "n0:0" }, { "b", 10, "n0:1,3" } } },
    { "C076 linked GPUs, slurm 26.05, --gpus", SLURM "}}\n", LINKED,
      "- {id: a, run: 1h, nodes: 1, gpus: 1}\n- {id: b, at: 10s, run: 1h, nodes: 1, gpus: 2}\n",
      { { "a", 0, "n0:0" }, { "b", 10, "n0:1,3" } } },
    { "C076 linked GPUs, kubernetes", KUBE "}}\n", LINKED, POD("a", "0s", 1) POD("b", "10s", 2),
      { { "a", 0, "n0:0" }, { "b", 10, "n0:1,3" } } },

    /* C062: one node of the first leaf is taken; 4 nodes fit under the second leaf, 3 stay in the first. */
    { "C062 under one leaf, topology/tree", SLURM ", TopologyPlugin: topology/tree, topology: [{SwitchName: s0, Nodes: 'n[0-3]'}, "
      "{SwitchName: s1, Nodes: 'n[4-7]'}, {SwitchName: top, Switches: 's[0-1]'}]}}\n", H100(8, "n[0-7]"),
      "- {id: one, run: 1h, nodes: 1, gpus_per_node: 8}\n- {id: four, at: 5s, run: 1h, nodes: 4, gpus_per_node: 8}\n"
      "- {id: three, at: 9s, run: 1h, nodes: 3, gpus_per_node: 8}\n",
      { { "one", 0, "n0" }, { "four", 5, "n4 n5 n6 n7" }, { "three", 9, "n1 n2 n3" } } },
    /* C063: leaves of two nodes, one node of the first taken: 4 workers are 2 + 2, not 1 + 2 + 1. */
    { "C063 two leaves of two, topology/tree", SLURM ", TopologyPlugin: topology/tree, topology: [{SwitchName: s0, Nodes: 'n[0-1]'}, "
      "{SwitchName: s1, Nodes: 'n[2-3]'}, {SwitchName: s2, Nodes: 'n[4-5]'}, {SwitchName: top, Switches: 's[0-2]'}]}}\n", H100(6, "n[0-5]"),
      "- {id: one, run: 1h, nodes: 1, gpus_per_node: 8}\n- {id: four, at: 5s, run: 1h, nodes: 4, gpus_per_node: 8}\n",
      { { "one", 0, "n0" }, { "four", 5, "n2 n3 n4 n5" } } },
    { "C063 two racks of two, kueue", KUBE "gang: kueue, clusterQueues: [{name: q}], "
      "topology: [{name: rack, nodes: 2}, {name: host, nodes: 1}], " PACK "}}\n", H100(6, "n[0-5]"),
      PODS("one", "0s", 1, 8, ", queue: q, topology: {preferred: rack}")
      PODS("four", "5s", 4, 8, ", queue: q, topology: {preferred: rack}"),
      { { "one", 0, "n0" }, { "four", 5, "n2 n3 n4 n5" } } },
    /* C069: two nodes are free in the first rack (the fuller one), four in the second: a gang of 3 goes to the second. */
    { "C069 the rack that holds the gang, kueue", KUBE "gang: kueue, clusterQueues: [{name: q}], "
      "topology: [{name: rack, nodes: 4}, {name: host, nodes: 1}], " PACK "}}\n", H100(8, "n[0-7]"),
      PODS("two", "0s", 2, 8, ", queue: q, topology: {required: rack}")
      PODS("three", "5s", 3, 8, ", queue: q, topology: {required: rack}"),
      { { "two", 0, "n0 n1" }, { "three", 5, "n4 n5 n6" } } },
    /* C070: 32 nodes over domains of 18: 16 + 16. */
    { "C070 16 and 16 of 18, topology/block", SLURM ", TopologyPlugin: topology/block, BlockSizes: [18, 36], "
      "topology: [{BlockName: b0, Nodes: 'n[00-17]'}, {BlockName: b1, Nodes: 'n[18-35]'}]}}\n", H100(36, "n[00-35]"),
      "- {id: job, run: 1h, nodes: 32, gpus_per_node: 8, segment: 16}\n",
      { { "job", 0, "n00 n01 n02 n03 n04 n05 n06 n07 n08 n09 n10 n11 n12 n13 n14 n15 "
                    "n18 n19 n20 n21 n22 n23 n24 n25 n26 n27 n28 n29 n30 n31 n32 n33" } } },
    /* C072: three blocks of 17, 36 nodes in segments of 12: 12 + 12 + 12. */
    { "C072 three times 12 of 17, topology/block", SLURM ", TopologyPlugin: topology/block, BlockSizes: [17, 34, 68], topology: ["
      "{BlockName: b0, Nodes: 'n[00-16]'}, {BlockName: b1, Nodes: 'n[17-33]'}, {BlockName: b2, Nodes: 'n[34-50]'}]}}\n", H100(51, "n[00-50]"),
      "- {id: job, run: 1h, nodes: 36, gpus_per_node: 8, segment: 12}\n",
      { { "job", 0, "n00 n01 n02 n03 n04 n05 n06 n07 n08 n09 n10 n11 "
                    "n17 n18 n19 n20 n21 n22 n23 n24 n25 n26 n27 n28 "
                    "n34 n35 n36 n37 n38 n39 n40 n41 n42 n43 n44 n45" } } },
    /* C073: while n40 is down the last block has 16 nodes and a job of 17 takes the later of the two whole ones; when n40 is back, the
     * last block is whole again and is the later one. */
    { "C073 a node that returns is in its block, topology/block", "events: [{at: 1s, node_down: n40}, {at: 60s, node_up: n40}]\n"
      SLURM ", ReturnToService: 1, TopologyPlugin: topology/block, BlockSizes: [17, 34, 68], topology: ["
      "{BlockName: b0, Nodes: 'n[00-16]'}, {BlockName: b1, Nodes: 'n[17-33]'}, {BlockName: b2, Nodes: 'n[34-50]'}]}}\n", H100(51, "n[00-50]"),
      "- {id: during, at: 10s, run: 20s, time: 1m, nodes: 17, gpus_per_node: 8}\n- {id: after, at: 100s, run: 1h, nodes: 17, gpus_per_node: 8}\n",
      { { "during", 10, "n17 n18 n19 n20 n21 n22 n23 n24 n25 n26 n27 n28 n29 n30 n31 n32 n33" },
        { "after", 100, "n34 n35 n36 n37 n38 n39 n40 n41 n42 n43 n44 n45 n46 n47 n48 n49 n50" } } },

    /* C058: 4 GPUs are free on n0 and 2 on n1: a job of 2 takes the 2. */
    { "C058 the tight node, kubernetes", KUBE PACK "}}\n", H100(2, "n[0-1]"),
      POD("six", "0s", 6) POD("four", "1s", 4) POD("two", "2s", 2),
      { { "six", 0, "n0" }, { "four", 1, "n1" }, { "two", 2, "n0" } } },
    { "C058 the tight node, plain", "scheduler: {kind: plain, plain: {placement: pack}}\n", H100(2, "n[0-1]"),
      "- {id: six, run: 1h, gpus: 6}\n- {id: four, at: 1s, run: 1h, gpus: 4}\n- {id: two, at: 2s, run: 1h, gpus: 2}\n",
      { { "six", 0, "n0" }, { "four", 1, "n1" }, { "two", 2, "n0" } } },
    /* C056: one GPU is free on each of 8 nodes: a job of a whole node waits the hour, one of a GPU on each node runs. */
    { "C056 one on each of 8 is no node, slurm", SLURM ", DefMemPerGPU: 1000}}\n", H100(8, "n[0-7]"),
      "- {id: wide, run: 1h, time: 1h, nodes: 8, gpus_per_node: 7}\n- {id: box, at: 5s, run: 1h, time: 1h, nodes: 1, gpus_per_node: 8}\n"
      "- {id: thin, at: 9s, run: 50m, time: 50m, nodes: 8, gpus_per_node: 1}\n",
      { { "wide", 0, NULL }, { "box", 3600, NULL }, { "thin", 9, "n0 n1 n2 n3 n4 n5 n6 n7" } } },
    { "C056 one on each of 8 is no node, kubernetes", KUBE "}}\n", H100(8, "n[0-7]"),
      PODS("wide", "0s", 8, 7, "") POD("box", "5s", 8) "- {id: thin, at: 9s, run: 50m, pods: 8, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}\n",
      { { "wide", 0, NULL }, { "box", 3600, NULL }, { "thin", 9, "n0 n1 n2 n3 n4 n5 n6 n7" } } },
    /* C056: a gang of 10 nodes waits for one; those that end before it would start use the nine. */
    { "C056 a waiting gang holds nothing, slurm", SLURM "}}\n", H100(10, "n[0-9]"),
      "- {id: one, run: 1h, time: 1h, nodes: 1, gpus_per_node: 8}\n- {id: gang, at: 5s, run: 1h, time: 1h, nodes: 10, gpus_per_node: 8}\n"
      "- {id: nine, at: 9s, run: 50m, time: 50m, nodes: 9, gpus_per_node: 8}\n",
      { { "one", 0, "n0" }, { "gang", 3600, NULL }, { "nine", 9, NULL } } },
    { "C056 a waiting gang holds nothing, coscheduling", KUBE "gang: coscheduling}}\n", H100(10, "n[0-9]"),
      POD("one", "0s", 8) PODS("gang", "5s", 10, 8, "") "- {id: nine, at: 9s, run: 50m, pods: 9, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}}\n",
      { { "one", 0, NULL }, { "gang", 3600, NULL }, { "nine", 9, NULL } } },
    /* C054: one node of 8 and two of 4: a job of 8 on one node has one place, and only one. */
    { "C054 one by eight, slurm", SLURM "}}\n",
      "  - {type: hgx-h100-4, count: 2, names: 'f[0-1]'}\n  - {type: hgx-h100-8, count: 1, names: 'e0'}\n",
      "- {id: a, run: 1h, time: 1h, nodes: 1, gpus_per_node: 8}\n- {id: b, at: 9s, run: 1h, time: 1h, nodes: 1, gpus_per_node: 8}\n",
      { { "a", 0, "e0" }, { "b", 3600, "e0" } } },
    { "C054 one by eight, kubernetes", KUBE "}}\n",
      "  - {type: hgx-h100-4, count: 2, names: 'f[0-1]'}\n  - {type: hgx-h100-8, count: 1, names: 'e0'}\n",
      POD("a", "0s", 8) POD("b", "9s", 8), { { "a", 0, "e0" }, { "b", 3600, "e0" } } },
};
/* clang-format on */

static void run_case(void **state)
{
    const struct placed_case *row = *state;
    struct stored_run run;
    run_lab(&run, row->scheduler, row->servers, row->jobs);
    check_starts(&run, row->starts, STARTS_MOST, 3);
    scenario_forget(&run);
}

/* ---- C060: single GPUs on 33 racks ------------------------------------------------------------------- */

/* 33 racks of 18 nodes of 4 GPUs. 150 pods of one GPU, one a second, fill two racks (144) and a part of a third: 30 racks stay
 * whole, and a gang of a whole rack starts at once. */
static void c060_few_racks(void **state)
{
    static char jobs[TEXT_BYTES];
    size_t at = 0;
    for (int j = 0; j < 150; j++)
        at +=
            (size_t)snprintf(jobs + at, sizeof jobs - at,
                             "- {id: j%d, at: %ds, run: 1h, queue: q, topology: {preferred: rack}, "
                             "resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}\n",
                             j, j);
    snprintf(jobs + at, sizeof jobs - at,
             "- {id: gang, at: 200s, run: 1h, queue: q, pods: 18, topology: {required: rack}, "
             "resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 4}}\n");
    (void)state;
    struct stored_run run;
    run_lab(&run,
            KUBE "gang: kueue, clusterQueues: [{name: q}], topology: [{name: rack, nodes: 18}, "
                 "{name: host, nodes: 1}]}}\n",
            "  - {type: gb200-nvl72-tray, count: 594, names: 'n[000-593]'}\n", jobs);
    assert_int_equal(number_of(&run,
                               "SELECT count(DISTINCT server / 18) FROM allocation JOIN job"
                               " USING(layout_id, replica, serial) WHERE id <> 'gang'",
                               -1),
                     3);
    assert_int_equal(
        number_of(&run, "SELECT count(*) FROM job WHERE first_start_ns - submit_ns > 3000000000",
                  -1),
        0);
    scenario_forget(&run);
}

/* ---- C067: what a victim holds, and which one helps ----------------------------------------------------- */

/* A node of 8 GPUs and 800 GB; `heavy` has 600 GB and one GPU, `light` 10 GB and one GPU, both of priority 0. `first` (priority 9)
 * wants one GPU and 300 GB: six GPUs are free, its memory is not. `heavy` goes, not `light`, and it starts when the grace period
 * of 30 s is over, not before: what is being released is not free. */
static void c067_the_victim_that_helps(void **state)
{
    (void)state;
    struct stored_run run;
    run_lab(&run, KUBE "terminationGracePeriodSeconds: 30}}\n",
            "  - {type: hgx-h100-8, count: 1, cores: 64, memory: 800 GB, names: n0}\n",
            "- {id: heavy, run: 1h, resources: {cpu: 1, memory: 600G, nvidia.com/gpu: 1}}\n"
            "- {id: light, at: 5s, run: 1h, resources: {cpu: 1, memory: 10G, nvidia.com/gpu: 1}}\n"
            "- {id: first, at: 100s, run: 10m, priority: 9, resources: {cpu: 1, memory: 300G, "
            "nvidia.com/gpu: 1}}\n");
    check_starts(&run,
                 (const struct start[]){
                     { "heavy", 0, "n0" }, { "light", 5, "n0" }, { "first", 130, "n0" } },
                 3, 3);
    assert_int_equal(job_number(&run, "attempts", "light", -1), 1);
    assert_int_equal(job_number(&run, "attempts", "heavy", -1), 2);
    scenario_forget(&run);
}

/* ---- C065: halves of GPUs ---------------------------------------------------------------------------- */

struct halves {
    const char *name, *scheduler, *sharing;
    const char
        *asks; /* of one job                                                                 */
    const char
        *bulk; /* all at once as one job, or NULL                                            */
};

/* clang-format off */
#define HALF_POD  "resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}"
#define HALF_QUEUED "queue: q, " HALF_POD
#define BULK(rest) "- {id: all, run: 1h, pods: 16, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}" rest "}\n"
#define HALF_SHARE "gpu_milli: 500"
static const struct halves halves[] = {
    { "plain pack", "scheduler: {kind: plain, plain: {placement: pack}}\n", "share", HALF_SHARE, NULL },
    { "plain spread", "scheduler: {kind: plain, plain: {placement: spread}}\n", "share", HALF_SHARE, NULL },
    { "plain best_fit", "scheduler: {kind: plain, plain: {placement: best_fit}}\n", "share", HALF_SHARE, NULL },
    { "plain random", "scheduler: {kind: plain, plain: {placement: random}}\n", "share", HALF_SHARE, NULL },
    { "plain dot_product", "scheduler: {kind: plain, plain: {placement: dot_product}}\n", "share", HALF_SHARE, NULL },
    { "plain fgd", "scheduler: {kind: plain, plain: {placement: fgd}}\n", "share", HALF_SHARE, NULL },
    { "time slices", KUBE "}}\n", "{kind: time_slice, per_gpu: 2}", HALF_POD, BULK("") },
    { "mps", KUBE "}}\n", "{kind: mps, per_gpu: 2}", HALF_POD, BULK("") },
    { "mps, coscheduling", KUBE "gang: coscheduling}}\n", "{kind: mps, per_gpu: 2}", HALF_POD, BULK("") },
    { "mps, volcano", KUBE "gang: volcano, clusterQueues: [{name: q}]}}\n", "{kind: mps, per_gpu: 2}", HALF_QUEUED, BULK(", queue: q") },
    { "mps, kueue", KUBE "gang: kueue, clusterQueues: [{name: q}]}}\n", "{kind: mps, per_gpu: 2}", HALF_QUEUED, BULK(", queue: q") },
    { "time slices, kai", KUBE "gang: kai, clusterQueues: [{name: q}]}}\n", "{kind: time_slice, per_gpu: 2}", HALF_QUEUED, BULK(", queue: q") },
    { "slurm shards", SLURM "}}\n", "{kind: shard, per_gpu: 2}",
      "time: 2h, ntasks: 1, mem: 1G, gres: 'shard:1'", NULL },
};
/* clang-format on */

/* Two per card, on each of the 8 cards: 16 halves fill 8 GPUs exactly, so that a card with three or one leaves a job out. */
static void check_halves(const struct halves *way, const char *jobs, int64_t submitted_last_s,
                         bool is_bulk)
{
    char servers[256];
    struct stored_run run;
    snprintf(servers, sizeof servers,
             "  - {type: hgx-h100-4, count: 2, names: 'n[0-1]', sharing: %s}\n", way->sharing);
    run_lab(&run, way->scheduler, servers, jobs);
    for (int j = 0; j < 16 && !is_bulk; j++) {
        char id[16];
        snprintf(id, sizeof id, "j%d", j);
        const int64_t submit_s = submitted_last_s * j / 15, at_s = job_start_s(&run, id);
        if (at_s < submit_s || at_s > submit_s + 3) fail_msg("%s starts at %d", id, (int)at_s);
    }
    for (int card = 0; card < 8; card++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM allocation WHERE server = %d AND gpu_mask >> %d & 1",
                 card / 4, card % 4);
        assert_int_equal(number_of(&run, sql, -1), is_bulk ? 1 : 2);
    }
    if (is_bulk) { /* all of all 8 GPUs */
        assert_true(job_start_s(&run, "all") <= 3);
        assert_int_equal(
            number_of(&run,
                      "SELECT (sum(gpu_s) + 1800) / 3600 FROM ledger_run WHERE account IN"
                      " ('compute', 'startup')",
                      -1),
            8);
    }
    scenario_forget(&run);
}

static void c065_halves(void **state)
{
    const struct halves *way = *state;
    static char jobs[TEXT_BYTES];
    for (int gap_s = 0; gap_s <= 10; gap_s += 10) { /* in bulk, then one by one */
        size_t at = 0;
        for (int j = 0; j < 16; j++)
            at += (size_t)snprintf(jobs + at, sizeof jobs - at,
                                   "- {id: j%d, at: %ds, run: 1h, %s}\n", j, j * gap_s, way->asks);
        check_halves(way, jobs, 15 * gap_s, false);
    }
    if (way->bulk) check_halves(way, way->bulk, 0, true);
}

/* ---- C075: nothing holds 8 GPUs a node to be the rule -------------------------------------------------- */

static const struct {
    const char *name, *scheduler;
    bool pods;
} kinds[] = {
    { "plain", "scheduler: {kind: plain, plain: {order: fcfs}}\n", false },
    { "slurm", SLURM_OLD ", DefMemPerGPU: 1000}}\n", false },
    { "kubernetes", KUBE PACK "}}\n", true },
};

/* Three boxes of g GPUs: a job of two whole boxes, one of g - 1 and one of 1, which share the third. One of g + 1 on a node has
 * no place; one of a whole box waits for the hour to end. */
static void c075_any_box(void **state)
{
    const uint32_t gpus = (uint32_t)(rows_number(state) % 100),
                   kind = (uint32_t)(rows_number(state) / 100);
    char servers[512], jobs[2048];
    snprintf(
        servers, sizeof servers,
        gpus == 4
            ? "  - {type: gb200-nvl72-tray, count: 3, names: 'n[0-2]'}\n"
            : "  - {type: {like: hgx-h100-8, gpus: %u, nics: %u}, count: 3, names: 'n[0-2]'}\n",
        gpus, gpus);
    const struct {
        const char *id;
        int at_s, nodes;
        uint32_t gpus;
    } list[] = { { "two", 0, 2, gpus },
                 { "most", 2, 1, gpus - 1 },
                 { "one", 4, 1, 1 },
                 { "more", 6, 1, gpus + 1 },
                 { "box", 8, 1, gpus } };
    size_t at = 0;
    for (size_t j = 0; j < sizeof list / sizeof *list; j++)
        at += (size_t)snprintf(
            jobs + at, sizeof jobs - at,
            kinds[kind].pods
                ? "- {id: %s, at: %ds, run: 1h, pods: %d, resources: {cpu: 1, memory: 1Gi, "
                  "nvidia.com/gpu: %u}}\n"
                : "- {id: %s, at: %ds, run: 1h, time: 1h, nodes: %d, gpus_per_node: %u}\n",
            list[j].id, list[j].at_s, list[j].nodes, list[j].gpus);
    const struct start starts[] = { { "two", 0, "n0 n1" }, { "most", 2, "n2" },
                                    { "one", 4, "n2" },    { "more", REFUSED, NULL },
                                    { "box", 3600, NULL }, { 0 } };
    struct stored_run run;
    run_lab(&run, kinds[kind].scheduler, servers, jobs);
    assert_int_equal(number_of(&run, "SELECT gpus FROM layout", -1), 3 * gpus);
    check_starts(&run, starts, 6, 3);
    scenario_forget(&run);
}

/* ---- C077: gangs --------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *name, *scheduler, *rest;
    bool is_held; /* without a rule both gangs stand with 5 of 10 nodes, and nobody starts */
} gangs[] = {
    { "kubernetes without a rule", KUBE "}}\n", "", true },
    { "coscheduling", KUBE "gang: coscheduling}}\n", "", false },
    { "volcano", KUBE "gang: volcano, clusterQueues: [{name: q}]}}\n", ", queue: q", false },
    { "kueue", KUBE "gang: kueue, clusterQueues: [{name: q, quota: 80}]}}\n", ", queue: q", false },
    { "kai", KUBE "gang: kai, clusterQueues: [{name: q}]}}\n", ", queue: q", false },
};
/* clang-format on */

/* Kueue's rule is its quota: what the nodes hold, 80. Two gangs of 6 of 10 nodes, submitted together. With a rule the first starts at once, the second when it has ended. A pod
 * of a few cores lasts for a day, so that the run goes on. */
static void c077_gangs(void **state)
{
    const size_t g = rows_number(state);
    char jobs[1024];
    struct stored_run run;
    size_t at = (size_t)snprintf(jobs, sizeof jobs,
                                 "- {id: day, run: 24h%s, resources: {cpu: 1, memory: 1Gi}}\n",
                                 gangs[g].rest);
    for (int j = 0; j < 2; j++)
        at += (size_t)snprintf(jobs + at, sizeof jobs - at,
                               "- {id: g%d, run: 1h, pods: 6%s, resources: {cpu: 1, memory: 1Gi, "
                               "nvidia.com/gpu: 8}}\n",
                               j, gangs[g].rest);
    run_lab(&run, gangs[g].scheduler, H100(10, "n[0-9]"), jobs);
    if (gangs[g].is_held) {
        assert_int_equal(job_start_s(&run, "g0"), NEVER);
        assert_int_equal(job_start_s(&run, "g1"), NEVER);
        assert_true(account_s(&run, "held") > 79 * 86400);
    } else {
        assert_true(job_start_s(&run, "g0") >= 0 && job_start_s(&run, "g0") <= 3);
        const int64_t second_s = job_start_s(&run, "g1");
        assert_true(second_s >= 3600 && second_s <= 3603);
        assert_int_equal(account_s(&run, "held"), 0);
    }
    scenario_forget(&run);
}

/* ---- C078: how many nodes more? ------------------------------------------------------------------------ */

/* Five pods of 3 GPUs, two to a node of 8: three nodes, of the ten that the group may have, are ordered at the first scan and none
 * later; three of 4 GPUs on their own fit two. */
static void c078_exactly_what_fits(void **state)
{
    const uint32_t pods = (uint32_t)(rows_number(state) / 100),
                   gpus = (uint32_t)(rows_number(state) / 10 % 10),
                   nodes = (uint32_t)(rows_number(state) % 10);
    char jobs[2048];
    size_t at = 0;
    for (uint32_t j = 0; j < pods; j++)
        at += (size_t)snprintf(
            jobs + at, sizeof jobs - at,
            "- {id: j%u, run: 1h, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: %u}}\n", j,
            gpus);
    struct stored_run run;
    run_lab(&run, KUBE "autoscaler: {groups: [{group: pool, min: 0, max: 10, provision: 2m}]}}}\n",
            "  - {type: hgx-h100-8, count: 10, name: pool, names: 'n[0-9]'}\n", jobs);
    assert_int_equal(number_of(&run, "SELECT count(DISTINCT server) FROM allocation", -1), nodes);
    assert_int_equal(
        number_of(&run, "SELECT count(DISTINCT first_start_ns / 60000000000) FROM job", -1), 1);
    /* From 130 s (scan at 10 s, 2 min) to 3730 s the others are not there: capacity - gone = the nodes that were ordered. */
    const int64_t end_s = number_of(&run, "SELECT run_end_ns / 1000000000 FROM replica", -1);
    const int64_t gone_s = account_s(&run, "draining") + account_s(&run, "down");
    const int64_t there_s = 80 * end_s - gone_s;
    assert_true(there_s >= (int64_t)nodes * 8 * 3600 && there_s <= (int64_t)nodes * 8 * 3700);
    scenario_forget(&run);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        rows_add(&rows, run_case, &cases[i], "%s", cases[i].name);
    rows_add(&rows, c060_few_racks, NULL, "C060 150 single GPUs fill 3 of 33 racks, kueue");
    rows_add(&rows, c067_the_victim_that_helps, NULL, "C067 the victim that helps, kubernetes");
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        rows_add(&rows, c065_halves, &halves[i], "C065 16 halves on 8 GPUs, %s", halves[i].name);
    static const uint32_t boxes[] = { 2, 3, 4, 5, 6, 8, 10, 16 };
    for (uintptr_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
            rows_add(&rows, c075_any_box, (const void *)(100 * kind + boxes[b]),
                     "C075 boxes of %u, %s", boxes[b], kinds[kind].name);
    for (uintptr_t g = 0; g < sizeof gangs / sizeof *gangs; g++)
        rows_add(&rows, c077_gangs, (const void *)g, "C077 two gangs, %s", gangs[g].name);
    rows_add(&rows, c078_exactly_what_fits, (const void *)(uintptr_t)533,
             "C078 5 pods of 3 GPUs: 3 nodes");
    rows_add(&rows, c078_exactly_what_fits, (const void *)(uintptr_t)342,
             "C078 3 pods of 4 GPUs: 2 nodes");
    rows_add(&rows, c078_exactly_what_fits, (const void *)(uintptr_t)787,
             "C078 7 pods of 8 GPUs: 7 nodes");
    return rows_run("cases placement", &rows);
}
