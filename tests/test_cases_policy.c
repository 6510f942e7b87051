/* test_cases_policy.c - what users of such tools reported about walltimes, hosts that bind before the GPU, and requests
 * that can never be served: scenarios that are read and run as any other, and what `gpuplan why` and the verdict say of them. Right
 * answers are worked by hand above each case; a row bears the report's number. */
#include "scenario_run.h"

#include "report/report.h"

#include "tests/near.h"
#include "tests/rows.h"

#define SLURM_OF(compat, rest)                                                                     \
    "scheduler: {kind: slurm, slurm: {compat: '" compat                                            \
    "', SchedulerParameters: 'bf_interval=1,sched_interval=1'" rest "}}\n"
#define KUBE(rest)  "scheduler: {kind: kubernetes, kubernetes: {" rest "}}\n"
#define PLAIN(rest) "scheduler: {kind: plain, plain: {" rest "}}\n"

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

/* ---- C123, C127 under Slurm ----------------------------------------------------------------------------- */

/* a holds one of two nodes, believed until 120 s; b wants both and starts when a ends, at 100 s. c has no walltime, so it is
 * believed to run for ever and may not pass; d, of a minute, does. c starts when b has ended, at 160 s. */
static void c123_no_walltime_is_not_zero(void **state)
{
    (void)state;
    struct stored_run run;
    run_lab(&run, SLURM_OF("26.05", ""), "  - {type: hgx-h100-8, count: 2, names: 'n[0-1]'}\n",
            "- {id: a, run: 100s, time: 2m, nodes: 1, gpus_per_node: 8}\n"
            "- {id: b, at: 2s, run: 60s, time: 2m, nodes: 2, gpus_per_node: 8}\n"
            "- {id: c, at: 4s, run: 10s, nodes: 1, gpus_per_node: 8}\n"
            "- {id: d, at: 6s, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8}\n");
    check_starts(&run,
                 (const struct start[]){
                     { "a", 0, "n0" }, { "b", 100, NULL }, { "c", 160, NULL }, { "d", 6, "n1" } },
                 4, 3);
    scenario_forget(&run);
}

/* Sum of the waits of 80 jobs on 8 nodes, at a load of about 1.2. */
static int64_t waits_s(const char *scheduler, uint64_t seed)
{
    static char jobs[TEXT_BYTES];
    size_t at = 0;
    for (uint32_t j = 0; j < 80; j++) {
        const uint32_t nodes =
            any(seed, 10 * j) < 0.6 ? 1 : (uint32_t)any_count(seed, 10 * j + 1, 2, 8);
        const uint32_t run_s = (uint32_t)any_count(seed, 10 * j + 2, 60, 3600);
        at += (size_t)snprintf(
            jobs + at, sizeof jobs - at,
            "- {id: j%u, at: %us, run: %us, time: %us, nodes: %u, gpus_per_node: 8}\n", j, 500 * j,
            run_s, run_s * (uint32_t)any_count(seed, 10 * j + 3, 1, 3), nodes);
    }
    struct stored_run run;
    run_lab(&run, scheduler, "  - {type: hgx-h100-8, count: 8, names: 'n[0-7]'}\n", jobs);
    assert_int_equal(number_of(&run, "SELECT jobs_finished + jobs_killed FROM replica", -1), 80);
    const int64_t wait_s =
        number_of(&run, "SELECT sum(first_start_ns - submit_ns) / 1000000000 FROM job", -1);
    scenario_forget(&run);
    return wait_s;
}

static void c127_backfill_is_not_worse(void **state)
{
    const uint64_t seed = rows_number(state);
    const int64_t builtin_s = waits_s(SLURM_OF("26.05", ", SchedulerType: sched/builtin"), seed),
                  backfill_s = waits_s(SLURM_OF("26.05", ", SchedulerType: sched/backfill"), seed);
    CHECK(backfill_s <= builtin_s, "waits of %d s with backfill, %d s without", (int)backfill_s,
          (int)builtin_s);
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
    rows_add(&rows, c123_no_walltime_is_not_zero, NULL, "C123 no walltime is not zero, slurm");
    for (uintptr_t seed = 1; seed <= 6; seed++)
        rows_add(&rows, c127_backfill_is_not_worse, (const void *)seed,
                 "C127 backfill is not worse, slurm, log %d", (int)seed);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        rows_add(&rows, impossible_is_refused, &refused[i], "refused at submit, %s",
                 refused[i].name);
    for (uintptr_t kind = 0; kind < 4; kind++)
        rows_add(&rows, two_kinds_are_refused, (const void *)kind,
                 "keys of another kind are refused under %s", kinds[kind]);
    return rows_run("cases policy", &rows);
}
