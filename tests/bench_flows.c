/* bench_flows.c - what max-min rates cost: flows drained per second, one change among many flows, jobs on a cluster.
 *
 * Each line: what, flows, seconds of processor time, flows (changes) a second, the promise. Everything is drawn with fixed
 * seeds, so that the work is the same on every machine. bench_flows [PART]: one part only. */
#include "base/philox.h"
#include "network/flow_net.h"
#include "network/transfers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t pick(uint64_t seed, uint64_t which, uint64_t draw, uint32_t count)
{
    return (uint32_t)(stream_uniform(seed, which, draw) * count);
}

/* ---- fabrics -------------------------------------------------------------------------------------- */

/* Hosts under leaves, every leaf on every spine, paths by destination; one leaf is a star. */
struct fabric {
    uint32_t hosts, hosts_per_leaf, spines;
    uint32_t up, down, leaf_up, leaf_down; /* first link of each kind */
};

static struct fabric build_fabric(struct flow_net *net, uint32_t hosts, uint32_t per_leaf,
                                  uint32_t spines)
{
    struct fabric fabric = { .hosts = hosts, .hosts_per_leaf = per_leaf, .spines = spines };
    const uint32_t trunks = hosts / per_leaf * spines;
    for (uint32_t h = 0; h < 2 * hosts; h++) flow_net_link(net, 12.5e9);
    fabric.down = hosts;
    fabric.leaf_up = 2 * hosts;
    fabric.leaf_down = fabric.leaf_up + trunks;
    for (uint32_t t = 0; t < 2 * trunks; t++) flow_net_link(net, 12.5e9);
    return fabric;
}

static uint32_t route(const struct fabric *fabric, uint32_t from, uint32_t to,
                      struct flow_use uses[4])
{
    const uint32_t leaf = from / fabric->hosts_per_leaf, leaf_to = to / fabric->hosts_per_leaf;
    const uint32_t spine = fabric->spines ? to % fabric->spines : 0;
    uses[0] = (struct flow_use){ fabric->up + from, 1 };
    uses[1] = (struct flow_use){ fabric->down + to, 1 };
    if (leaf == leaf_to) return 2;
    uses[2] = (struct flow_use){ fabric->leaf_up + leaf * fabric->spines + spine, 1 };
    uses[3] = (struct flow_use){ fabric->leaf_down + leaf_to * fabric->spines + spine, 1 };
    return 4;
}

static uint32_t random_route(const struct fabric *fabric, uint64_t seed, uint64_t flow,
                             struct flow_use uses[4])
{
    const uint32_t from = pick(seed, flow, 0, fabric->hosts);
    const uint32_t to = (from + 1 + pick(seed, flow, 1, fabric->hosts - 1)) % fabric->hosts;
    return route(fabric, from, to, uses);
}

/* ---- draining ------------------------------------------------------------------------------------- */

static void report(const char *what, uint32_t count, double took_s, const char *promise)
{
    printf("%-34s %9u %9.3f s %12.0f/s   %s\n", what, count, took_s, count / took_s, promise);
}

/* All at once, sizes of 1 to 100 MB; flows of every seed come to about a tenth of a second at least. */
static void drain(const char *what, uint32_t hosts, uint32_t per_leaf, uint32_t spines,
                  uint32_t count, const char *promise)
{
    double took_s = 0;
    uint32_t done = 0;
    uint64_t rates = 0;
    for (uint64_t seed = 1; took_s < 0.1; seed++) {
        struct flow_net *net = flow_net_create();
        struct transfers *transfers = transfers_create(net);
        const struct fabric fabric = build_fabric(net, hosts, per_leaf, spines);
        for (uint32_t f = 0; f < count; f++) {
            struct flow_use uses[4];
            const uint32_t links = random_route(&fabric, seed, f, uses);
            const double size = 1e6 + 99e6 * stream_uniform(seed, f, 2);
            transfers_add(transfers, &(struct transfer){ 0, 0, size, 1, INFINITY, uses, links });
        }
        const double from_s = cpu_s();
        if (!transfers_run(transfers)) exit(1);
        took_s += cpu_s() - from_s;
        done += count;
        rates += transfers_cost(transfers).rates;
        transfers_destroy(transfers);
        flow_net_destroy(net);
    }
    report(what, done, took_s, promise);
    printf("%34s %9.1f rates changed at each end\n", "", (double)rates / done);
}

static void drains(void)
{
    drain("star of 32 hosts, 1,000 flows", 32, 32, 0, 1000, "");
    drain("star of 100 hosts, 1,000 flows", 100, 100, 0, 1000, "500,000/s");
    drain("star of 1,000 hosts, 1,000 flows", 1000, 1000, 0, 1000, "500,000/s");
    drain("star of 100 hosts, 10,000 flows", 100, 100, 0, 10000, "5,000/s");
    drain("star of 1,000 hosts, 10,000 flows", 1000, 1000, 0, 10000, "5,000/s");
    drain("fat tree of 1,024 hosts, 10,000", 1024, 32, 16, 10000, "3,000/s");
    drain("fat tree of 256 hosts, 10,000", 256, 16, 8, 10000, "3,000/s");
}

static void drain_many(void)
{
    drain("star of 1,000 hosts, 100,000 flows", 1000, 1000, 0, 100000, "600 s");
    drain("fat tree of 1,024 hosts, 100,000", 1024, 32, 16, 100000, "600 s");
}

/* ---- ring all-reduce, flow by flow ------------------------------------------------------------------ */

static void ring(void)
{
    enum { HOSTS = 512, STEPS = 2 * (HOSTS - 1) };
    struct flow_net *net = flow_net_create();
    struct transfers *transfers = transfers_create(net);
    const struct fabric fabric = build_fabric(net, HOSTS, HOSTS, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < HOSTS; rank++) {
            struct flow_use uses[4];
            const uint32_t links = route(&fabric, rank, (rank + 1) % HOSTS, uses);
            const uint32_t flow = transfers_add(
                transfers, &(struct transfer){ 0, 0, 1 << 21, 1, INFINITY, uses, links });
            if (step == 0) continue;
            transfers_after(transfers, flow, flow - HOSTS);
            transfers_after(transfers, flow, flow - HOSTS - rank + (rank + HOSTS - 1) % HOSTS);
        }
    }
    const double from_s = cpu_s();
    if (!transfers_run(transfers)) exit(1);
    report("ring all-reduce of 512 hosts", HOSTS * STEPS, cpu_s() - from_s, "1,000,000/s");
    const double want_s = STEPS * (double)(1 << 21) / 12.5e9;
    const double got_s = transfers_finish_s(transfers, HOSTS * STEPS - 1);
    if (!(fabs(got_s - want_s) <= 1e-9 * want_s))
        printf("FAILED: %.17g, want %.17g\n", got_s, want_s);
    transfers_destroy(transfers);
    flow_net_destroy(net);
}

/* ---- one change ------------------------------------------------------------------------------------- */

/* One flow goes and another comes, solved after each; against all rates from nothing. */
static void one_change(uint32_t hosts, uint32_t count)
{
    const uint32_t changes = count > 10000 ? 1000 : 20000;
    struct flow_net *net = flow_net_create();
    const struct fabric fabric = build_fabric(net, hosts, 32, 16);
    const uint32_t *changed;
    struct flow_use uses[4];
    for (uint32_t f = 0; f < count; f++)
        flow_net_add(net, 1, INFINITY, uses, random_route(&fabric, 1, f, uses));
    flow_net_solve(net, &changed);
    flow_net_forget(net);
    double from_s = cpu_s();
    flow_net_solve(net, &changed);
    const double full_s = cpu_s() - from_s;
    uint64_t moved = 0;
    from_s = cpu_s();
    for (uint32_t c = 0; c < changes; c++) {
        flow_net_remove(net, pick(2, c, 0, count));
        moved += flow_net_solve(net, &changed);
        flow_net_add(net, 1, INFINITY, uses, random_route(&fabric, 3, c, uses));
        moved += flow_net_solve(net, &changed);
    }
    const double one_s = (cpu_s() - from_s) / (2.0 * changes);
    printf("one change among %6u flows, %5u hosts: %9.2f us, %8.1f rates; all from nothing %10.2f "
           "us, ratio %.1f\n",
           count, hosts, one_s * 1e6, (double)moved / (2.0 * changes), full_s * 1e6,
           full_s / one_s);
    flow_net_destroy(net);
}

static void one_changes(void)
{
    one_change(1024, 100);
    one_change(1024, 1000);
    one_change(1024, 10000);
    one_change(1024, 100000);
    one_change(4096, 10000);
    one_change(16384, 10000);
}

/* ---- jobs on a cluster ------------------------------------------------------------------------------ */

/* 250 servers of 8 GPUs and 8 NICs, 16 to a leaf, two planes of load each way; a job is one flow over its servers' NICs
 * and, when it spans leaves, their uplinks. One job ends and one starts, 25,000 times each. */
static void jobs(double oversubscription)
{
    enum { SERVERS = 250, PER_LEAF = 16, JOBS = 300, CHANGES = 50000, LEAVES = 16 };
    struct flow_net *net = flow_net_create();
    for (uint32_t s = 0; s < SERVERS; s++) flow_net_link(net, 8 * 50e9);
    for (uint32_t l = 0; l < LEAVES; l++)
        flow_net_link(net, PER_LEAF * 8 * 50e9 / oversubscription);
    uint32_t live[JOBS];
    uint64_t moved = 0;
    const uint32_t *changed;
    const double from_s = cpu_s();
    for (uint32_t c = 0; c < CHANGES + JOBS; c++) {
        const uint32_t job = c < JOBS ? c : pick(5, c, 0, JOBS);
        if (c >= JOBS) {
            flow_net_remove(net, live[job]);
            moved += flow_net_solve(net, &changed);
            c++;
        }
        struct flow_use uses[SERVERS + LEAVES];
        const uint32_t size = 2 + (uint32_t)(30 * pow(stream_uniform(5, c, 1), 3));
        const uint32_t first = pick(5, c, 2, SERVERS - size);
        uint32_t count = 0;
        for (uint32_t s = first; s < first + size; s++) uses[count++] = (struct flow_use){ s, 2e9 };
        const uint32_t leaf = first / PER_LEAF, last = (first + size - 1) / PER_LEAF;
        for (uint32_t l = leaf; l <= last && leaf != last; l++)
            uses[count++] = (struct flow_use){ SERVERS + l, 2e9 * 8 };
        live[job] = flow_net_add(net, 8 / 2e9, INFINITY, uses, count);
        moved += flow_net_solve(net, &changed);
    }
    const double took_s = cpu_s() - from_s;
    char what[64];
    snprintf(what, sizeof what, "2,000 GPUs, 300 jobs, %g:1", oversubscription);
    report(what, CHANGES, took_s, "20 s");
    printf("%34s %9.1f rates changed at each\n", "", (double)moved / CHANGES);
    flow_net_destroy(net);
}

static void job_changes(void)
{
    jobs(1);
    jobs(4);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = { { "drain", drains },
                  { "ring", ring },
                  { "change", one_changes },
                  { "jobs", job_changes },
                  { "many", drain_many } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || strcmp(argv[1], parts[i].name) == 0) parts[i].run();
    return 0;
}
