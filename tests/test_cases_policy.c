/* test_cases_policy.c - what users of such tools reported about walltimes, topologies, hosts that bind before the GPU, and requests
 * that can never be served: scenarios that are read and run as any other, and what `gpuplan why` and the verdict say of them. Right
 * answers are worked by hand above each case; a row bears the report's number. */
#include "scenario_run.h"

#include "report/report.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <sys/resource.h>

enum { TEXT_BYTES = 1 << 16 };

#define SLURM_OF(compat, rest)                                                                     \
    "scheduler: {kind: slurm, slurm: {compat: '" compat                                            \
    "', SchedulerParameters: 'bf_interval=1,sched_interval=1'" rest "}}\n"
#define KUBE(rest)  "scheduler: {kind: kubernetes, kubernetes: {" rest "}}\n"
#define PLAIN(rest) "scheduler: {kind: plain, plain: {" rest "}}\n"

static void run_with(struct stored_run *run, const char *workload, const char *scheduler,
                     const char *servers, const char *jobs)
{
    static char text[TEXT_BYTES];
    const int bytes =
        snprintf(text, sizeof text,
                 SCENARIO_HEAD
                 "%s%slayouts:\n- name: lab\n"
                 "  fabric: {link: {like: ib-ndr400, switch_ports: 4096}, nics_per_gpu: 0.125}\n"
                 "  servers:\n%sjobs:\n%s",
                 workload, scheduler, servers, jobs);
    assert_true(bytes > 0 && bytes < TEXT_BYTES);
    scenario_run(run, text);
}

static void run_lab(struct stored_run *run, const char *scheduler, const char *servers,
                    const char *jobs)
{
    run_with(run, SCENARIO_WORKLOAD, scheduler, servers, jobs);
}

static void why_says(struct stored_run *run, const char *job, const char *words)
{
    char *text = say(run, job, (struct why_options){ 0 }, STATUS_OK);
    for (char *at = text; *at; at++) /* sentences are wrapped */
        if (*at == '\n' && at[1] != '\n') *at = ' ';
    holds(text, words);
    free(text);
}

/* ---- C068: which dimension binds ----------------------------------------------------------------------- */

/* One box of 8 GPUs, 64 cores and 800 GB. Job a takes 2 GPUs and so many cores and GB beside them, for an hour; job b wants one
 * GPU, 16 cores and 200 GB. Six GPUs are idle all the time; one of them, b's, is starved. */
static const struct {
    const char *name;
    int cores, gb;
    const char *cause, *says;
} binding[] = {
    { "cores", 60, 100, "cores",
      "6 of 8 GPUs were idle, but not with the cores it needs beside them." },
    { "memory", 8, 700, "memory",
      "6 of 8 GPUs were idle, but not with the memory it needs beside them." },
    { "cores and memory", 60, 700, "host",
      "6 of 8 GPUs were idle, but not with the cores and memory it needs beside them." },
};

static const struct {
    const char *name, *scheduler;
    bool pods;
} deciders[] = {
    { "plain", PLAIN("order: fcfs"), false },
    { "plain easy", PLAIN("order: easy"), false },
    { "slurm", SLURM_OF("26.05", ", SelectTypeParameters: CR_Core_Memory"), false },
    { "kubernetes", KUBE(""), true },
};

static size_t put_job(char *out, size_t bytes, bool pods, const char *head, int gpus, int cores,
                      int gb)
{
    return (size_t)snprintf(
        out, bytes,
        pods ? "- {%s, run: 1h, resources: {nvidia.com/gpu: %d, cpu: %d, memory: %dG}}\n"
             : "- {%s, run: 1h, time: 1h, nodes: 1, gpus_per_node: %d, ntasks: 1, cpus_per_task: "
               "%d, "
               "mem: %dG}\n",
        head, gpus, cores, gb);
}

static void c068_what_binds(void **state)
{
    const size_t b = rows_number(state) % 10, d = rows_number(state) / 10;
    char jobs[512];
    struct stored_run run;
    const size_t at =
        put_job(jobs, sizeof jobs, deciders[d].pods, "id: a", 2, binding[b].cores, binding[b].gb);
    put_job(jobs + at, sizeof jobs - at, deciders[d].pods, "id: b, at: 10s", 1, 16, 200);
    run_lab(&run, deciders[d].scheduler,
            "  - {type: hgx-h100-8, count: 1, cores: 64, memory: 800 GB, names: n0}\n", jobs);
    const int64_t start_s = job_start_s(&run, "b"), starved_s = account_s(&run, "starved");
    assert_true(start_s >= 3600 && start_s <= 3603);
    assert_true(starved_s >= 3590 && starved_s <= 3593);
    assert_true(account_s(&run, "withheld") <= 3);
    assert_int_equal(account_s(&run, "fragmented"), 0);
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM wait_cause WHERE cause = '%s'",
             binding[b].cause);
    assert_int_equal(number_of(&run, sql, -1), 1);
    why_says(&run, "b", binding[b].says);
    scenario_forget(&run);
}

/* Two boxes: on n0 the cores are taken, on n1 the memory; no box has both, though each lacks one only. */
static void c068_each_box_lacks_another(void **state)
{
    (void)state;
    struct stored_run run;
    run_lab(&run, PLAIN("order: fcfs, placement: spread"),
            "  - {type: hgx-h100-8, count: 2, cores: 64, memory: 800 GB, names: 'n[0-1]'}\n",
            "- {id: a, run: 1h, nodes: 1, gpus: 2, cpus_per_gpu: 30, mem: 100G}\n"
            "- {id: c, run: 1h, nodes: 1, gpus: 2, cpus_per_gpu: 1, mem: 700G}\n"
            "- {id: b, at: 10s, run: 1h, nodes: 1, gpus: 1, cpus_per_gpu: 16, mem: 200G}\n");
    check_starts(&run,
                 (const struct start[]){ { "a", 0, "n0" }, { "c", 0, "n1" }, { "b", 3600, NULL } },
                 3, 0);
    why_says(&run, "b", "but not with the cores and memory it needs beside them.");
    scenario_forget(&run);
}

/* ---- C125: a walltime kill ----------------------------------------------------------------------------- */

/* Limit of 10 min: `over` would run an hour, `under` ends after 5 min, `exact` runs the 10 minutes. 8 GPUs; `next` waits for
 * `over`'s GPUs. Whole accounts by hand in GPU-seconds. */
static const struct {
    const char *name, *workload, *scheduler;
    bool kills;
} walltimes[] = {
    { "plain with kill_at_limit", "workload: {communication: none, kill_at_limit: true}\n",
      PLAIN("order: fcfs"), true },
    { "plain without", SCENARIO_WORKLOAD, PLAIN("order: fcfs"), false },
    { "slurm 22.05", SCENARIO_WORKLOAD, SLURM_OF("22.05", ""), true },
    { "slurm 26.05", SCENARIO_WORKLOAD, SLURM_OF("26.05", ""), true },
};

static void c125_ends_at_the_limit(void **state)
{
    const size_t w = rows_number(state);
    struct stored_run run;
    run_with(&run, walltimes[w].workload, walltimes[w].scheduler,
             "  - {type: hgx-h100-8, count: 1, names: n0}\n",
             "- {id: over, run: 1h, time: 10m, nodes: 1, gpus: 4}\n"
             "- {id: under, run: 5m, time: 10m, nodes: 1, gpus: 2}\n"
             "- {id: exact, run: 10m, time: 10m, nodes: 1, gpus: 2}\n"
             "- {id: next, at: 10s, run: 1m, time: 10m, nodes: 1, gpus: 8}\n");
    const int64_t begin_s = job_start_s(&run, "over"), length_s = walltimes[w].kills ? 600 : 3600;
    assert_int_equal(job_end_s(&run, "over") - begin_s, length_s);
    assert_int_equal(job_number(&run, "end_ns - first_start_ns", "over", -1), length_s * NS_PER_S);
    assert_int_equal(job_number(&run, "outcome = 'killed'", "over", -1), walltimes[w].kills);
    assert_int_equal(job_number(&run, "outcome = 'finished'", "under", -1), 1);
    assert_int_equal(job_number(&run, "outcome = 'finished'", "exact", -1), 1);
    assert_int_equal(number_of(&run, "SELECT jobs_killed FROM replica", -1), walltimes[w].kills);
    assert_int_equal(number_of(&run, "SELECT jobs_finished FROM replica", -1),
                     4 - walltimes[w].kills);
    assert_int_equal(job_number(&run, "end_ns - first_start_ns", "exact", -1), 600 * NS_PER_S);
    const int64_t next_s = job_start_s(&run, "next");
    assert_true(next_s >= begin_s + length_s && next_s <= begin_s + length_s + 3);
    /* 4 GPUs x length + 2 x 300 + 2 x 600 + 8 x 60: whether it was of use or lost, it was held. */
    assert_int_equal(account_s(&run, "startup") + account_s(&run, "compute") +
                         account_s(&run, "lost"),
                     4 * length_s + 600 + 1200 + 480);
    const int64_t all = number_of(&run,
                                  "SELECT sum(gpu_s) + sum(gpu_rest) / (1008000 * 1000000000) FROM"
                                  " ledger_run",
                                  -1);
    const int64_t end_s = number_of(&run, "SELECT run_end_ns / 1000000000 FROM replica", -1);
    assert_true(all >= 8 * end_s && all <= 8 * (end_s + 1));
    scenario_forget(&run);
}

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

/* ---- impossible requests are refused in the words of the real system ----------------------------------- */

struct impossible {
    const char *name, *scheduler, *ask, *words;
};

#define POD16 "resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 16}"

/* clang-format off */
static const struct impossible refused[] = {
    { "plain: GPUs of a node", PLAIN("order: fcfs"), "nodes: 1, gpus: 16", "more GPUs in one node than any has" },
    { "plain: GPUs", PLAIN("order: fcfs"), "gpus: 64", "more GPUs than the layout has" },
    { "plain: nodes", PLAIN("order: fcfs"), "nodes: 9, gpus_per_node: 1", "more nodes than the layout has" },
    { "plain: cores", PLAIN("order: fcfs"), "nodes: 1, gpus: 1, cpus_per_gpu: 1000", "no node has these GPUs with the cores and memory beside them" },
    { "slurm 22.05: GPUs", SLURM_OF("22.05", ""), "nodes: 1, gpus_per_node: 16", "Requested node configuration is not available" },
    { "slurm 22.05: nodes", SLURM_OF("22.05", ""), "nodes: 9", "Requested node configuration is not available" },
    { "slurm 26.05: cores", SLURM_OF("26.05", ""), "nodes: 1, gpus_per_node: 1, cpus_per_task: 1000", "Requested node configuration is not available" },
    { "slurm 26.05: nodes", SLURM_OF("26.05", ""), "nodes: 9, gpus_per_node: 8", "Requested node configuration is not available" },
    { "slurm 26.05: features", SLURM_OF("26.05", ""), "nodes: 1, gpus_per_node: 1, constraint: v100", "Invalid feature specification" },
    { "slurm 22.05: features", SLURM_OF("22.05", ""), "nodes: 1, gpus_per_node: 1, constraint: v100", "Invalid feature specification" },
    { "kubernetes: GPUs", KUBE(""), POD16, "0 nodes are available: Insufficient nvidia.com/gpu" },
    { "kubernetes: cores", KUBE(""), "resources: {cpu: 1000, memory: 1Gi, nvidia.com/gpu: 1}", "0 nodes are available: Insufficient cpu" },
    { "kubernetes: memory", KUBE(""), "resources: {cpu: 1, memory: 64Ti, nvidia.com/gpu: 1}", "0 nodes are available: Insufficient memory" },
    { "kubernetes: selector", KUBE(""), "nodeSelector: {gpu: v100}, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}", "0 nodes are available: node(s) didn't match Pod's node affinity/selector" },
    { "coscheduling: GPUs", KUBE("gang: coscheduling"), POD16, "0 nodes are available: Insufficient nvidia.com/gpu" },
    { "kueue: quota", KUBE("gang: kueue, clusterQueues: [{name: q, quota: 8}]"), "queue: q, pods: 2, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}",
      "insufficient quota in ClusterQueue, request > maximum capacity" },
    { "volcano: capability", KUBE("gang: volcano, clusterQueues: [{name: q, capability: 8}]"), "queue: q, pods: 2, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}",
      "the job asks for more than its queue may have" },
};
/* clang-format on */

/* The verdict tells of one job and its GPU-hours that are unserved. */
static void verdict_counts(struct stored_run *run, int64_t gpu_h)
{
    char *text = NULL, hours[64];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    assert_int_equal(
        report_print(run->path, out, &(struct report_options){ .brief = true }, run->fixture.diag),
        STATUS_OK);
    fclose(out);
    for (char *at = text; *at; at++)
        if (*at == '\n' && at[1] != '\n') *at = ' ';
    snprintf(hours, sizeof hours, " 1 job (%d.0 GPU-hours)", (int)gpu_h);
    holds(text, hours);
    holds(text, "against it as unserved.");
    free(text);
}

static void impossible_is_refused(void **state)
{
    const struct impossible *row = *state;
    char jobs[1024], words[512];
    struct stored_run run;
    const bool pods = strstr(row->scheduler, "kubernetes") != NULL;
    const bool has_queue = strstr(row->scheduler, "name: q") != NULL;
    snprintf(jobs, sizeof jobs, "- {id: good, run: 1h, %s%s}\n- {id: bad, at: 1m, run: 2h, %s}\n",
             has_queue ? "queue: q, " : "",
             pods ? "resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}"
                  : "nodes: 1, gpus_per_node: 8",
             row->ask);
    run_lab(&run, row->scheduler, "  - {type: hgx-h100-8, count: 3, names: 'n[0-2]'}\n", jobs);
    snprintf(words, sizeof words, "It was rejected: %s.", row->words);
    why_says(&run, "bad", words);
    assert_int_equal(job_number(&run, "end_ns = submit_ns", "bad", -1), 1);
    assert_int_equal(number_of(&run, "SELECT jobs_rejected FROM replica", -1), 1);
    assert_int_equal(number_of(&run, "SELECT jobs_finished FROM replica", -1), 1);
    const int64_t gpus = job_number(&run, "gpus", "bad", -1);
    assert_true(gpus >= 0);
    assert_int_equal(
        number_of(&run,
                  "SELECT CAST(round(value) AS INTEGER) FROM metric WHERE name = 'unserved_gpu_h'",
                  -1),
        2 * gpus);
    verdict_counts(&run, 2 * gpus);
    scenario_forget(&run);
}

/* ---- keys of two kinds ---------------------------------------------------------------------------------- */

static const char *const kinds[] = { "plain", "slurm", "kubernetes", "static" };
static const char *const maps[] = { "{order: fcfs}", "{compat: '22.05'}", "{preemption: false}",
                                    "{order: fcfs}" };
static const struct {
    const char *key;
    uint32_t kinds; /* bit k: kinds[k] knows it */
} job_keys[] = { { "qos: high", 2 }, { "array: 0-3", 2 }, { "pods: 2", 4 },
                 { "queue: q", 4 },  { "team: a", 8 },    { "nodes: 1", 11 } };

/* What the reader says of a scenario of kinds[kind] with this map of a scheduler and this key of a job. */
static void read_mixed(uint32_t kind, const char *map, const char *key, const char *says)
{
    char path[] = "/tmp/gpuplan-mixed-XXXXXX.yaml", said[8192] = "";
    FILE *out = fdopen(mkstemps(path, 5), "w");
    assert_non_null(out);
    fprintf(out,
            SCENARIO_HEAD SCENARIO_WORKLOAD
            "scheduler: {kind: %s%s}\nlayouts:\n- name: lab\n  fabric: {link: ib-ndr400}\n"
            "  servers: {type: hgx-h100-8, count: 2}\njobs:\n- {id: a, run: 1h%s}\n",
            kinds[kind], map, key);
    fclose(out);
    struct diag *diag = diag_create();
    struct scenario scenario;
    assert_int_equal(scenario_read(path, NULL, 0, &scenario, diag), STATUS_INPUT);
    unlink(path);
    out = fmemopen(said, sizeof said - 1, "w");
    assert_non_null(out);
    diag_print(diag, out);
    fclose(out);
    holds(said, says);
    scenario_clear(&scenario);
    diag_destroy(diag);
}

static void two_kinds_are_refused(void **state)
{
    const uint32_t kind = (uint32_t)rows_number(state);
    char map[128], key[128], says[256];
    for (uint32_t other = 0; other < 4; other++) {
        if (other == kind) continue;
        snprintf(map, sizeof map, ", %s: %s", kinds[other], maps[other]);
        snprintf(says, sizeof says,
                 "'scheduler.%s' belongs to scheduler.kind %s, but this scenario's is %s",
                 kinds[other], kinds[other], kinds[kind]);
        read_mixed(kind, map, "", says);
    }
    for (size_t k = 0; k < sizeof job_keys / sizeof *job_keys; k++) {
        if (job_keys[k].kinds >> kind & 1) continue;
        snprintf(key, sizeof key, ", %s", job_keys[k].key);
        snprintf(says, sizeof says, "but this scenario's is %s", kinds[kind]);
        read_mixed(kind, "", key, says);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t d = 0; d < sizeof deciders / sizeof *deciders; d++)
        for (uintptr_t b = 0; b < sizeof binding / sizeof *binding; b++)
            rows_add(&rows, c068_what_binds, (const void *)(10 * d + b), "C068 what binds: %s, %s",
                     binding[b].name, deciders[d].name);
    rows_add(&rows, c068_each_box_lacks_another, NULL, "C068 each box lacks another thing");
    for (uintptr_t w = 0; w < sizeof walltimes / sizeof *walltimes; w++)
        rows_add(&rows, c125_ends_at_the_limit, (const void *)w, "C125 ends at the limit, %s",
                 walltimes[w].name);
    rows_add(&rows, c074_short_blocks, NULL, "C074 short blocks are as padded ones");
    for (uintptr_t t = 0; t < 4; t++)
        rows_add(&rows, c079_topology_at_scale, (const void *)t,
                 "C079 10,000 nodes, topology/%s, %s jobs", t % 2 ? "block" : "tree",
                 t / 2 ? "wide" : "narrow");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        rows_add(&rows, impossible_is_refused, &refused[i], "refused at submit, %s",
                 refused[i].name);
    for (uintptr_t kind = 0; kind < 4; kind++)
        rows_add(&rows, two_kinds_are_refused, (const void *)kind,
                 "keys of another kind are refused under %s", kinds[kind]);
    return rows_run("cases policy", &rows);
}
