/* test_cases_topology.c - what users of such tools reported about topologies: blocks with missing nodes, and topologies of 10,000
 * nodes. Scenarios that are read and run as any other; a row bears the report's number. */
#include "scenario_run.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <sys/resource.h>

/* ---- C074: blocks with missing nodes ------------------------------------------------------------------- */

#define BLOCK_JOBS                                                                                 \
    "- {id: a, run: 1h, time: 2h, nodes: 3, gpus_per_node: 8}\n"                                   \
    "- {id: b, at: 9s, run: 1h, time: 2h, nodes: 2, gpus_per_node: 8}\n"                           \
    "- {id: c, at: 20s, run: 1h, time: 2h, nodes: 6, gpus_per_node: 8, segment: 2}\n"              \
    "- {id: d, at: 30s, run: 10m, time: 20m, nodes: 4, gpus_per_node: 8, segment: 4}\n"            \
    "- {id: e, at: 40s, run: 10m, time: 20m, nodes: 1, gpus_per_node: 8}\n"                        \
    "- {id: f, at: 50s, run: 10m, time: 20m, nodes: 10, gpus_per_node: 8}\n"

/* Three blocks of nominally 4 nodes; of the last one node is missing. Once it is left out of the list, once it is there and down
 * from the beginning: all jobs start at the same seconds on the same nodes.
 *
 * By hand: a (3 nodes, blocks have 4 4 3) takes the tightest that fits, n08-n10; b (2 nodes, 4 4 0) the later of two alike, n04 n05;
 * e passes on what is left. */
static void c074_short_blocks(void **state)
{
    (void)state;
    static const char *const jobs[] = { "a", "b", "c", "d", "e", "f" };
    int64_t starts_s[6];
    char places[6][PLACE_BYTES];
    for (int padded = 0; padded < 2; padded++) {
        char words[512], scheduler[1024], servers[256];
        struct stored_run run;
        snprintf(words, sizeof words,
                 ", TopologyPlugin: topology/block, BlockSizes: [4, 8, 16], topology: [{BlockName: "
                 "b0, Nodes: 'n[00-03]'},"
                 " {BlockName: b1, Nodes: 'n[04-07]'}, {BlockName: b2, Nodes: '%s'}]",
                 padded ? "n[08-11]" : "n[08-10]");
        snprintf(scheduler, sizeof scheduler,
                 "%sscheduler: {kind: slurm, slurm: {SchedulerParameters: "
                 "'bf_interval=1,sched_interval=1'%s}}\n",
                 padded ? "events: [{at: 0s, node_down: n11}]\n" : "", words);
        snprintf(servers, sizeof servers, "  - {type: hgx-h100-8, count: %d, names: '%s'}\n",
                 padded ? 12 : 11, padded ? "n[00-11]" : "n[00-10]");
        run_lab(&run, scheduler, servers, BLOCK_JOBS);
        for (int j = 0; j < 6; j++) {
            char place[PLACE_BYTES];
            const int64_t at_s = job_start_s(&run, jobs[j]);
            job_place(&run, jobs[j], false, place);
            if (padded) {
                if (at_s != starts_s[j] || strcmp(place, places[j]))
                    fail_msg("%s: %d s on '%s'; padded %d s on '%s'", jobs[j], (int)starts_s[j],
                             places[j], (int)at_s, place);
            } else {
                starts_s[j] = at_s;
                memcpy(places[j], place, sizeof place);
            }
        }
        check_starts(
            &run, (const struct start[]){ { "a", 0, "n08 n09 n10" }, { "b", 9, "n04 n05" } }, 2, 3);
        scenario_forget(&run);
    }
}

/* ---- C079: a topology of 10,000 nodes ------------------------------------------------------------------ */

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

/* 100 jobs on `nodes` nodes in leaves or blocks of 100: of 1 to 50 nodes, each in one leaf, or `wide` times as many, which queue for
 * 50,000 nodes; the CPU time that it takes. */
static double time_of(uint32_t nodes, const char *plugin, bool is_block, uint32_t wide)
{
    static char topology[TEXT_BYTES / 2], jobs[TEXT_BYTES / 4], scheduler[TEXT_BYTES / 2 + 512];
    char servers[128];
    size_t at = 0;
    const uint32_t leaves = nodes / 100;
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
        at += (size_t)snprintf(topology + at, sizeof topology - at,
                               is_block ? "{BlockName: s%02u, Nodes: 'n[%05u-%05u]'}, "
                                        : "{SwitchName: s%02u, Nodes: 'n[%05u-%05u]'}, ",
                               leaf, 100 * leaf, 100 * leaf + 99);
    if (is_block)
        topology[at - 2] = 0;
    else
        snprintf(topology + at, sizeof topology - at, "{SwitchName: top, Switches: 's[00-%02u]'}",
                 leaves - 1);
    snprintf(scheduler, sizeof scheduler,
             "scheduler: {kind: slurm, slurm: {SchedulerParameters: 'default_queue_depth=1000', "
             "TopologyPlugin: "
             "%s%s, topology: [%s]}}\n",
             plugin, is_block ? ", BlockSizes: [100]" : "", topology);
    snprintf(servers, sizeof servers, "  - {type: hgx-h100-8, count: %u, names: 'n[00000-%05u]'}\n",
             nodes, nodes - 1);
    at = 0;
    for (uint32_t j = 0; j < 100; j++)
        at += (size_t)snprintf(
            jobs + at, sizeof jobs - at,
            "- {id: j%u, at: %us, run: 10m, time: 20m, nodes: %u, gpus_per_node: 8}\n", j, 7 * j,
            wide * (1 + 7 * j % 50));
    struct stored_run run;
    const double before_s = cpu_s();
    run_lab(&run, scheduler, servers, jobs);
    const double took_s = cpu_s() - before_s;
    assert_int_equal(number_of(&run, "SELECT jobs_finished FROM replica", -1), 100);
    /* Of jobs of up to 50 nodes none spans two leaves while there is room in one. */
    if (wide == 1 && nodes == 10000) /* where all have room */
        assert_int_equal(
            number_of(&run,
                      "SELECT count(*) FROM (SELECT serial FROM allocation GROUP BY serial, attempt"
                      " HAVING min(server) / 100 <> max(server) / 100)",
                      -1),
            0);
    scenario_forget(&run);
    return took_s;
}

/* Five times the nodes may cost five times the work of a pass, for jobs five times as wide once more; a freeze (every subset, or
 * every pair of nodes a pass) would be far beyond. */
static void c079_topology_at_scale(void **state)
{
    const bool is_block = rows_number(state) % 2, is_wide = rows_number(state) / 2;
    const char *plugin = is_block ? "topology/block" : "topology/tree";
    const double small_s = time_of(2000, plugin, is_block, is_wide ? 4 : 1),
                 large_s = time_of(10000, plugin, is_block, is_wide ? 20 : 1);
    CHECK(large_s < 5 + 50 * small_s, "10,000 nodes take %.2f s of CPU, 2,000 take %.2f s", large_s,
          small_s);
    if (getenv("GPUPLAN_SHOW") != NULL) printf("%s: %.3f s, %.3f s\n", plugin, small_s, large_s);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, c074_short_blocks, NULL, "C074 short blocks are as padded ones");
    for (uintptr_t t = 0; t < 4; t++)
        rows_add(&rows, c079_topology_at_scale, (const void *)t,
                 "C079 10,000 nodes, topology/%s, %s jobs", t % 2 ? "block" : "tree",
                 t / 2 ? "wide" : "narrow");
    return rows_run("cases topology", &rows);
}
