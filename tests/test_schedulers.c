/* test_schedulers.c - Slurm and Kubernetes with words drawn at random: 500 scenarios of each family as a user writes
 * them, with faults and hands that interfere. After every instant the cluster's tables and the ledger's levels agree;
 * at the end each job is accounted for. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "books_probe.h"
#include "draw_text.h"
#include "rows.h"
#include "scenario_texts.h"

enum { SEEDS = 500, BLOCK = 50, JOBS = 30 };

/* ---- what all have --------------------------------------------------------------------------- */

struct cast {
    uint32_t nodes, gpus; /* of the first group */
    bool slurm, mixed;
};

static void put_group(uint32_t gpus, uint32_t count, const char *names)
{
    put("{type: {like: hgx-h100-8, gpus: %u, nics: %u}, cores: %u, memory: %u GiB, count: %u, "
        "names: '%s[0-%u]'",
        gpus, gpus ? gpus : 1, 8 * gpus + 8, 64 * gpus + 64, count, names, count - 1);
}

static struct cast put_layout(bool slurm)
{
    struct cast shape = { 0, 0, slurm, chance(40) };
    shape.gpus = 1u << below(4);
    shape.nodes = 16 / shape.gpus + below(3) + 1;
    put("layouts:\n- name: c\n  fabric: {link: ib-ndr400}\n  servers:\n  - ");
    put_group(shape.gpus, shape.nodes, "a");
    if (slurm) put(", weight: %u, features: '%s'", 1 + below(2), one_of("ib|ib,big"));
    if (!slurm) put(", name: first, sockets: %u", 1u << below(3));
    put("}\n");
    if (shape.mixed) {
        put("  - ");
        put_group(below(2) ? 2 : 4, 2, "b");
        if (slurm) put(", weight: %u, features: slow", 1 + below(3));
        if (!slurm && chance(30))
            put(", taints: 'slow=1:%s'", one_of("NoSchedule|PreferNoSchedule"));
        put("}\n");
    }
    return shape;
}

static void put_failures(struct cast shape)
{
    if (shape.mixed || chance(50)) {
        put("failures: none\n");
        return;
    }
    put("failures:\n  drain: %s\n  requeue_delay: %us\n  restart: 60s\n", one_of("finish|now|gpu"),
        below(2) * 120);
    put("  gpu: {mtbf: 200h, repair_median: 1h, repair_p95: 5h}\n"
        "  server: {mtbf: 150h, repair_median: 1h, repair_p95: 5h}\n"
        "  link: {mtbf: 400h, repair_median: 1h, repair_p95: 5h}\n"
        "  leaf: {mtbf: 100h, repair_median: 1h, repair_p95: 5h}\n"
        "  job: {mtbf: 40h}\n");
}

static void put_events(struct cast shape)
{
    if (chance(50)) return;
    put("events:\n");
    for (uint32_t i = 0, count = 1 + below(25); i < count; i++) {
        const char *action =
            one_of(shape.slurm ? "node_down|node_up|drain|resume|gpu_fail|gpu_repair|scancel|"
                                 "requeue|requeue_hold|hold|release"
                               : "node_down|node_up|cordon|uncordon|gpu_fail|gpu_repair|scancel|"
                                 "requeue|requeue_hold|hold|release");
        put("- {at: %us, %s: ", below(36) * 3600 + below(2) * below(3600), action);
        if (strstr(action, "gpu_"))
            put("'a%u:%u'}\n", below(shape.nodes), below(shape.gpus));
        else if (strstr(action, "node") || strstr(action, "drain") || strstr(action, "cordon") ||
                 !strcmp(action, "resume"))
            put(chance(20) ? "'a[0-%u]'}\n" : "'a%u'}\n", below(shape.nodes));
        else
            put("j%u}\n", below(JOBS));
    }
}

static void put_head(uint64_t seed)
{
    put("gpuplan: 1\nname: random\nseed: %u\nreplicas: 1\ntime: {horizon: 2d, warmup: 0s}\n"
        "verdict: {tornado: false}\nworkload: {communication: none, startup: %us, kill_at_limit: "
        "%s}\n",
        (unsigned)seed, below(2) * 60, chance(50) ? "true" : "false");
    if (chance(50)) put("checkpoint: {policy: fixed, interval: 1h, store: 10 GB/s, size: 10 GB}\n");
}

/* ---- Slurm ----------------------------------------------------------------------------------- */

static void put_parameters(void)
{
    put("    SchedulerParameters: 'bf_window=%u,default_queue_depth=%u,bf_max_job_test=%u",
        60 + below(3000), 1 + below(100), 1 + below(100));
    if (chance(30)) put(",bf_busy_nodes");
    if (chance(30)) put(",bf_continue");
    if (chance(30)) put(",assoc_limit_stop");
    if (chance(30)) put(",bf_min_age_reserve=%u", below(600));
    if (chance(30)) put(",pack_serial_at_end");
    if (chance(30)) put(",preempt_youngest_first,preempt_reorder_count=%u", 1 + below(3));
    put("'\n");
}

static void put_topology(struct cast shape)
{
    const uint32_t kind = below(4);
    if (kind == 2 && shape.nodes >= 4) {
        put("    TopologyPlugin: topology/tree\n    topology:\n"
            "    - {SwitchName: s0, Nodes: 'a[0-1]'}\n    - {SwitchName: s1, Nodes: 'a[2-%u]'}\n",
            shape.nodes - 1);
        if (shape.mixed) put("    - {SwitchName: s2, Nodes: 'b[0-1]'}\n");
        put("    - {SwitchName: top, Switches: 's[0-%u]'}\n", shape.mixed ? 2 : 1);
    }
    if (kind == 3 && shape.nodes >= 4)
        put("    TopologyPlugin: topology/block\n    BlockSizes: '2,4'\n    topology:\n"
            "    - {BlockName: b0, Nodes: 'a[0-1]'}\n    - {BlockName: b1, Nodes: 'a[2-3]'}\n");
}

static const char *put_preemption(void)
{
    static char mode[32];
    snprintf(mode, sizeof mode, "%s", one_of("OFF|CANCEL|REQUEUE|SUSPEND"));
    if (!strcmp(mode, "OFF")) return mode;
    put("    PreemptType: %s\n    PreemptMode: '%s%s'\n",
        one_of("preempt/qos|preempt/partition_prio"), mode,
        !strcmp(mode, "SUSPEND") ? ",GANG" : "");
    if (chance(30)) put("    PreemptExemptTime: %u\n", below(60));
    return mode;
}

static void put_slurm(struct cast shape)
{
    put("scheduler:\n  kind: slurm\n  slurm:\n    compat: '%s'\n", one_of("22.05|24.11|26.05"));
    put("    SchedulerType: sched/%s\n", one_of("builtin|backfill"));
    put("    second_of_minute: %u\n", below(60));
    put_parameters();
    put("    SelectTypeParameters: '%s'\n", one_of("CR_Core|CR_Core_Memory|CR_CPU,CR_LLN"));
    put("    DefMemPerGPU: 30000\n    DefMemPerCPU: 1000\n");
    put_topology(shape);
    const char *mode = put_preemption();
    const bool suspends = !strcmp(mode, "SUSPEND");
    if (chance(50))
        put("    PriorityType: priority/multifactor\n    PriorityWeightAge: 1000\n"
            "    PriorityWeightFairshare: 10000\n    PriorityWeightQOS: 5000\n"
            "    PriorityWeightJobSize: 500\n    PriorityWeightPartition: 100\n");
    put("    JobRequeue: %u\n    ReturnToService: %u\n", below(2), below(3));
    put("    RequeueExit: '7'\n    RequeueExitHold: '9'\n");
    if (chance(50)) put("    DependencyParameters: kill_invalid_depend\n");
    if (chance(30))
        put("    SuspendTime: 600\n    power_up: 50s\n    power_down: %us\n", below(100));
    put("    AccountingStorageEnforce: '%s'\n", one_of("none|associations,limits,qos|limits,safe"));
    put("    partitions:\n    - {name: p0, Default: YES, PriorityTier: %u, MaxTime: %s, LLN: "
        "%s%s}\n",
        1 + below(2), one_of("UNLIMITED|600"), one_of("NO|YES"),
        suspends ? ", OverSubscribe: 'FORCE:1'" : "");
    put("    - {name: p1, nodes: 'a[0-%u]', PriorityTier: %u, GraceTime: %u%s}\n", shape.nodes - 1,
        1 + below(3), below(2) * 60,
        suspends     ? ", OverSubscribe: 'FORCE:1'"
        : chance(20) ? ", OverSubscribe: EXCLUSIVE"
                     : "");
    put("    qos:\n    - {name: normal, Priority: 10}\n    - {name: low, Priority: 1, PreemptMode: "
        "%s}\n",
        suspends               ? "SUSPEND"
        : !strcmp(mode, "OFF") ? "OFF"
                               : one_of("CANCEL|REQUEUE"));
    put("    - {name: high, Priority: 100, Preempt: 'low,normal', GrpTRES: 'gres/gpu=%u', "
        "MaxJobsPerUser: %u%s}\n",
        1 + below(20), 1 + below(4), chance(30) ? ", Flags: DenyOnLimit" : "");
    put("    associations:\n    - {account: lab}\n    - {account: lab, user: u0, fairshare: 3}\n"
        "    - {account: lab, user: u1, MaxJobs: %u}\n    - {account: lab, user: u2}\n",
        1 + below(6));
    put("    reservations:\n    - {name: r0, nodes: 'a0', users: 'u0,u1', start: %uh, duration: "
        "%uh%s}\n",
        below(30), 1 + below(12), chance(20) ? ", flags: MAINT" : "");
}

static void put_slurm_shape(struct cast shape)
{
    switch (below(8)) {
    case 0:
        put(", nodes: '%u', gpus_per_node: %u", 1 + below(shape.nodes), 1 + below(shape.gpus));
        break;
    case 1:
        put(", nodes: '1-%u', gpus: %u", 1 + below(shape.nodes), 1 + below(8));
        break;
    case 2:
        put(", ntasks: %u, gpus_per_task: 1, cpus_per_task: 2", 1 + below(4));
        break;
    case 3:
        put(", ntasks: %u, cpus_per_task: %u", 1 + below(8), 1 + below(4));
        break;
    case 4:
        put(", nodes: '%u', exclusive: true", 1 + below(2));
        break;
    default:
        put(", gpus: %u", 1 + below(8));
        break;
    }
}

static void put_slurm_job(struct cast shape, uint32_t row)
{
    const uint32_t run_s = 60 + below(600) * below(40);
    put("- {id: j%u, at: %us, run: %us, user: u%u", row, row * 2000 + below(3), run_s, below(3));
    if (chance(6)) {
        put(", time: %us, het: [{gpus: %u}, {ntasks: %u}]}\n", 2 * run_s, 1 + below(shape.gpus),
            1 + below(4));
        return;
    }
    if (chance(8)) put(", reservation: r0");
    put_slurm_shape(shape);
    if (chance(60)) put(", time: %us", 60 + run_s / 2 + below(2 * run_s));
    if (chance(40)) put(", partition: '%s'", one_of("p0|p1|p0,p1"));
    if (chance(50)) put(", qos: %s", one_of("low|high|normal"));
    if (chance(10)) put(", array: '%s'", one_of("0-3|1,4|0-5%2"));
    if (chance(15) && row)
        put(", dependency: '%s:j%u'", one_of("afterok|afterany|afternotok|after"), below(row));
    else if (chance(5))
        put(", dependency: singleton, name: same");
    if (chance(10)) put(", begin: %us", below(7200));
    if (chance(5)) put(", hold: true");
    if (chance(20)) put(", requeue: %s", one_of("true|false"));
    if (chance(20)) put(", no_kill: true");
    if (chance(15)) put(", exit_code: %s", one_of("1|7|9"));
    if (chance(15)) put(", exit_code_again: 0");
    if (chance(10)) put(", constraint: %s", one_of("ib|big"));
    if (chance(10)) put(", nice: %u", below(100));
    if (chance(10)) put(", switches: '1@%um'", 1 + below(30));
    put("}\n");
}

/* ---- Kubernetes ------------------------------------------------------------------------------ */

static void put_queues(const char *gang)
{
    put("    clusterQueues:\n");
    for (uint32_t q = 0; q < 2; q++) {
        put("    - {name: q%u", q);
        if (!strcmp(gang, "kueue")) {
            put(", cohort: all, queueingStrategy: %s, resources: [{name: nvidia.com/gpu, "
                "nominalQuota: '%u'%s}]",
                one_of("BestEffortFIFO|StrictFIFO"), 2 + below(14),
                chance(40) ? ", borrowingLimit: 4" : "");
            put(", preemption: {withinClusterQueue: %s",
                one_of("Never|LowerPriority|LowerOrNewerEqualPriority"));
            put(", reclaimWithinCohort: %s}", one_of("Never|LowerPriority|Any"));
        } else if (!strcmp(gang, "volcano"))
            put(", weight: %u%s", 1 + below(3), chance(30) ? ", capability: 10" : "");
        else
            put(", quota: %u, overQuotaWeight: %u, priority: %u%s", below(9), 1 + below(3),
                below(2), chance(30) ? ", limit: 12" : "");
        put("}\n");
    }
}

static void put_kubernetes(struct cast shape, const char *gang)
{
    put("scheduler:\n  kind: kubernetes\n  kubernetes:\n    gang: %s\n", gang);
    put("    preemption: %s\n", chance(70) ? "true" : "false");
    put("    profile: {NodeResourcesFit: {scoringStrategy: {type: %s, resources: [{name: "
        "nvidia.com/gpu}]}}}\n",
        one_of("MostAllocated|LeastAllocated"));
    put("    terminationGracePeriodSeconds: %u\n", below(2) * 30);
    put("    backoffLimit: %u\n    podReplacementPolicy: %s\n", below(7),
        one_of("Failed|TerminatingOrFailed"));
    put("    topologyManagerPolicy: %s\n", one_of("none|best-effort|restricted|single-numa-node"));
    if (chance(20))
        put("    operator: {plugin_ready: 60s, driver_upgrade_every: 12h, driver_upgrade: 10m}\n");
    const bool queued = strcmp(gang, "none") != 0 && strcmp(gang, "coscheduling") != 0;
    if (queued) put_queues(gang);
    if (queued) put("    topology: [{name: rack, nodes: 2}, {name: host, nodes: 1}]\n");
    if (!queued && chance(20))
        put("    autoscaler: {expander: %s, groups: [{group: first, min: %u, provision: %us}]}\n",
            one_of("random|least-waste|most-pods"), below(2), 60 + below(1200));
    if (!strcmp(gang, "volcano") && chance(50))
        put("    binpack: {weight: 10, resources: [{name: nvidia.com/gpu}]}\n");
    (void)shape;
}

static void put_kube_job(struct cast shape, uint32_t row, const char *gang)
{
    const bool queued = strcmp(gang, "none") != 0 && strcmp(gang, "coscheduling") != 0;
    put("- {id: j%u, at: %us, run: %us, pods: %u", row, row * 2000 + below(3),
        60 + below(600) * below(40), chance(50) ? 1 : 1 + below(6));
    if (chance(15))
        put(", resources: {cpu: '%u', memory: 1Gi}", 1 + below(4));
    else if (!strcmp(gang, "kai") && chance(30))
        put(", resources: {cpu: 500m}, gpu_milli: %u", 1 + below(999));
    else
        put(", resources: {cpu: 500m, nvidia.com/gpu: %u}", 1 + below(shape.gpus));
    if (queued && chance(30))
        put(", topology: {%s: %s}", one_of("required|preferred"), one_of("rack|host"));
    if (chance(50)) put(", priority: %u", below(4));
    if (chance(20)) put(", preemptionPolicy: Never");
    if (chance(20)) put(", tolerations: slow");
    if (queued) put(", queue: q%u", below(2));
    if (chance(20) && (!strcmp(gang, "coscheduling") || !strcmp(gang, "volcano")))
        put(", minMember: 1");
    put("}\n");
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const char *const families[] = {
    "slurm", "none", "coscheduling", "volcano", "kueue", "kai"
};

static void write_text(const char *family, uint64_t seed)
{
    text_begin("test.schedulers", seed);
    const bool slurm = !strcmp(family, "slurm");
    put_head(seed);
    const struct cast shape = put_layout(slurm);
    put_failures(shape);
    if (slurm)
        put_slurm(shape);
    else
        put_kubernetes(shape, family);
    put("jobs:\n");
    for (uint32_t row = 0; row < JOBS; row++)
        slurm ? put_slurm_job(shape, row) : put_kube_job(shape, row, family);
    put_events(shape);
}

static void run_one(const char *family, uint64_t seed)
{
    write_text(family, seed);
    if (getenv("SHOW_TEXT")) fputs(drawn_text, stderr);
    if (read_text(drawn_text) != STATUS_OK)
        fail_msg("%s, seed %u: %s", family, (unsigned)seed, said);
    struct plan plan;
    struct run_shared shared;
    const struct import_report import = { 0 };
    struct diag *diag = diag_create();
    struct arena *arena = arena_create(UINT64_C(1) << 36);
    if (plan_build(&scenario, scenario.jobs, &import, NULL, 0, 1, &plan, diag) != STATUS_OK) {
        diag_print(diag, stderr);
        fail_msg("%s, seed %u is refused", family, (unsigned)seed);
    }
    assert_int_equal(run_shared_init(&shared, &plan, arena), STATUS_OK);
    struct replica_result result;
    const struct run_request request = { .shared = &shared };
    run_probe = books_probe;
    const enum status status = run_replica(&request, &result);
    run_probe = NULL;
    if (status != STATUS_OK) fail_msg("%s, seed %u", family, (unsigned)seed);
    assert_true(result.closure_error == 0);
    uint64_t ended = 0;
    for (int end = 0; end < JOB_ENDS; end++) ended += result.jobs_end[end];
    assert_int_equal(ended, result.jobs_submitted);
    replica_result_clear(&result);
    arena_destroy(arena);
    diag_destroy(diag);
}

static void block_of_seeds(void **state)
{
    const uint64_t row = rows_number(state), blocks = SEEDS / BLOCK;
    for (uint64_t seed = 1; seed <= BLOCK; seed++)
        run_one(families[row / blocks], row % blocks * BLOCK + seed);
}

int main(int argc, char **argv)
{
    struct rows rows = { 0 };
    const uintptr_t blocks = SEEDS / BLOCK;
    if (argc == 3) { /* FAMILY SEED: one of them alone */
        run_one(argv[1], strtoull(argv[2], NULL, 10));
        return 0;
    }
    for (uintptr_t f = 0; f < sizeof families / sizeof *families; f++)
        for (uintptr_t b = 0; b < blocks; b++)
            rows_add(&rows, block_of_seeds, (void *)(f * blocks + b), "%s, seeds %u to %u",
                     families[f], (unsigned)(b * BLOCK + 1), (unsigned)((b + 1) * BLOCK));
    const int failed = rows_run("schedulers", &rows);
    scenario_clear(&scenario);
    return failed;
}
