/* test_all_at_once.c - runs with everything that slows a job: networks of every kind that jobs share, training plans, a
 * storage, checkpoints, slow and dead links, broken parts, virtual machines, under every family of schedulers, cut off in the
 * middle of jobs. After every instant the cluster's tables, the ledger's levels, the network's members and the work that each
 * job has done are restated; at the end every GPU-second is accounted for, per attempt and in all.
 *
 * usage: test_all_at_once [FAMILY SEED]      one of them alone; with SHOW_TEXT its scenario goes to stderr */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attempt_accounts.h"
#include "books_probe.h"
#include "draw_text.h"
#include "handlers/contention_parts.h"
#include "rows.h"
#include "scenario_texts.h"
#include "tempo_probe.h"

enum { SEEDS = 40, BLOCK = 10, JOBS = 40 };

/* ---- the scenario ---------------------------------------------------------------------------- */

struct cast {
    const char *family;
    bool named;                   /* jobs name models                                           */
    uint32_t servers, gpus, nics; /* of one server                                              */
    uint32_t nodes, node_gpus;    /* what schedulers see: servers, or the machines on them      */
    uint32_t unit;                /* GPUs of which a training plan needs a multiple             */
};

static bool is(const struct cast *cast, const char *family)
{
    return !strcmp(cast->family, family);
}

static void put_head(uint64_t seed)
{
    put("gpuplan: 1\nname: all at once\nseed: %u\nreplicas: 1\ntime: {horizon: %uh, warmup: %uh}\n"
        "verdict: {tornado: false}\nnetwork: {contention: %s}\n",
        (unsigned)seed, 18 + below(12), below(2),
        one_of("estimate|estimate|estimate|upper|lower|none"));
    if (chance(70))
        put("checkpoint: {policy: %s, store: %u GB/s%s%s}\n",
            one_of("fixed, interval: 20m|fixed, interval: 1h|young|daly"), 1 + below(20),
            chance(50) ? ", size: 10 GB" : "", chance(30) ? ", per_server: 2 GB/s" : "");
    if (chance(60)) {
        put("storage: {read: %u GB/s", 1 + below(40));
        if (chance(60)) put(", write: %u GB/s", 1 + below(10));
        if (chance(40)) put(", per_server: %u GB/s", 2 + below(10));
        put("}\n");
    }
}

static void put_workload(struct cast *cast)
{
    put("workload:\n  startup: %us\n  kill_at_limit: %s\n  trace: {recorded_on: {server: "
        "hgx-h100-8, count: 64}}\n",
        below(2) * 90, one_of("true|false"));
    put("  communication: {");
    switch (below(7)) {
    case 0:
        put("kappa_one: 0.4, kappa_many: 0.6, hidden: 0.2, size: 1 GB, spread: 0.3, input_rate: "
            "%u GB/s, prefetch: %s",
            below(3), one_of("true|false"));
        break;
    case 1:
        put("train: {model: ddp-bert, stack: ddp-a100, gpu: a100-40-sxm, samples_per_gpu: 32, "
            "microbatch: 32}, input_rate: 500 MB/s");
        break;
    case 2:
        put("kind: %s", one_of("by_size|resnet50|bert|llm7b"));
        break;
    case 3: {
        const uint32_t tensor = 1 + below(4), pipeline = 1 + below(3);
        put("train: {model: mpt-1b, stack: megatron-core-h100, gpu: h100-sxm, tensor: %u, "
            "pipeline: %u, samples_per_gpu: 4}",
            tensor, pipeline);
        cast->unit = tensor * pipeline;
        break;
    }
    default:
        put("kind: by_model_mix");
        cast->named = true;
        break;
    }
    put(", scale: %u, allreduce: %s}\n", 1 + below(3),
        one_of("flat_ring|best|hier_ring|hier_tree|auto"));
}

static void put_layout(struct cast *cast)
{
    static const uint32_t sizes[] = { 2, 4, 8, 8 };
    cast->servers = 6 + below(11);
    cast->gpus = sizes[below(4)];
    cast->nics = chance(50) ? cast->gpus : cast->gpus / 2;
    const uint32_t machines = chance(20) ? 2 : 1, ports = cast->nics > 4 ? 32 : 16;
    if (cast->nics < machines)
        cast->nics = machines; /* faults of NICs that machines share are not built */
    cast->nodes = cast->servers * machines;
    cast->node_gpus = cast->gpus / machines;
    put("layouts:\n- name: c\n  fabric: {type: %s, link: {like: %s, switch_ports: %u%s}, "
        "oversubscription: %u, routing: %s, queue_pairs: %u}\n",
        one_of("two-tier|three-tier|rail|rail-only|dragonfly+"),
        one_of("ib-ndr400|ib-hdr200|tcp-100|tcp-25"), ports, chance(20) ? ", sharp: true" : "",
        1 + below(8), one_of("even|sampled|expected|adaptive"), 1 + below(4));
    put("  servers:\n  - {type: {like: hgx-h100-8, gpus: %u, nics: %u%s}, cores: 128, memory: 2 "
        "TB, count: %u, names: 'a[0-%u]'",
        cast->gpus, cast->nics, chance(15) ? ", nvlink_domain: 2" : "", cast->servers,
        cast->nodes - 1);
    if (machines > 1)
        put(", nodes_per_server: 2, vm: {nvlink: %s}",
            one_of("kept, shared_nvlink: true|kept|split|off"));
    put("}\n");
}

static void put_failures(void)
{
    if (chance(30)) {
        put("failures: none\n");
        return;
    }
    put("failures:\n  drain: %s\n  detection: %us\n  requeue_delay: %us\n  restart: 60s\n",
        one_of("finish|now|gpu"), below(2) * 600, below(2) * 120);
    put("  gpu: {mtbf: 300h, repair_median: 1h, repair_p95: 5h}\n"
        "  server: {mtbf: 200h, repair_median: 1h, repair_p95: 5h}\n"
        "  link: {mtbf: 100h, repair_median: 1h, repair_p95: 5h}\n"
        "  slow_link: {share: 80%%, factor: %u%%, found: 2h}\n"
        "  leaf: {mtbf: 100h, repair_median: 30m, repair_p95: 2h}\n"
        "  job: {mtbf: 40h}\n",
        10 + below(80));
}

static void put_events(const struct cast *cast)
{
    put("events:\n");
    for (uint32_t i = 0, count = 1 + below(20); i < count; i++) {
        const char *action = one_of("nic_degrade|nic_degrade|nic_repair|node_down|node_up|drain|"
                                    "resume|gpu_fail|gpu_repair|scancel|requeue");
        const uint32_t node = below(cast->nodes);
        put("- {at: %us, %s: ", below(24 * 3600), action);
        if (strstr(action, "gpu_"))
            put("'a%u:%u'}\n", node, below(cast->node_gpus));
        else if (!strcmp(action, "nic_degrade"))
            put("'a%u:%u', factor: %s}\n", node, below(cast->nics), one_of("0%|1%|50%|80%|100%"));
        else if (!strcmp(action, "nic_repair"))
            put("'a%u:%u'}\n", node, below(cast->nics));
        else if (strstr(action, "cancel") || strstr(action, "requeue"))
            put("j%u}\n", below(JOBS));
        else
            put("a%u}\n", node);
    }
}

static void put_scheduler(const struct cast *cast)
{
    put("scheduler:\n  kind: %s\n",
        is(cast, "kai") || is(cast, "coscheduling") ? "kubernetes" : cast->family);
    if (is(cast, "plain")) {
        const char *order = one_of("fcfs|easy|easy|sjf|conservative|las|srtf");
        put("  plain: {order: %s, placement: %s}\n", order,
            one_of(strlen(order) == 4 && strcmp(order, "srtf") ? "pack|spread|best_fit|random"
                                                               : "pack|spread"));
        if (chance(50) && strcmp(order, "las") && strcmp(order, "srtf"))
            put("  defragmentation: {every: 1h, cost: 3m}\n");
    } else if (is(cast, "static"))
        put("  static: {teams: [{name: u0, share: 2}, {name: u1}, {name: u2}]}\n");
    else if (is(cast, "slurm"))
        put("  slurm:\n    JobRequeue: %u\n    ReturnToService: 2\n"
            "    PreemptType: preempt/partition_prio\n    PreemptMode: 'SUSPEND,GANG'\n"
            "    partitions:\n    - {name: p0, Default: YES, PriorityTier: 1, OverSubscribe: "
            "'FORCE:1'}\n    - {name: p1, PriorityTier: 2, OverSubscribe: 'FORCE:1', GraceTime: "
            "%u}\n",
            below(2), below(2) * 60);
    else
        put("  kubernetes:\n    gang: %s\n    topologyManagerPolicy: %s\n"
            "    terminationGracePeriodSeconds: %u\n%s",
            cast->family, one_of("none|best-effort|restricted|single-numa-node"), below(2) * 30,
            is(cast, "kai") ? "    clusterQueues: [{name: q0, quota: 16}, {name: q1, quota: 8}]\n"
                            : "");
}

/* What such a job can hold in the memory of its GPUs. */
static const char *any_model(uint32_t gpus)
{
    if (chance(30)) return "";
    if (gpus % 64 == 0 && gpus && chance(70)) return ", model: 70b-tensor";
    if (gpus >= 32 && gpus % 16 == 0 && chance(50)) return ", model: 8x7b-experts";
    if (gpus >= 8 && chance(60)) return ", model: 7b-sharded";
    return one_of(", model: bert|, model: llm7b|, model: resnet50-pictures|, model: llm7b-tokens|"
                  ", model: transformer");
}

/* The next multiple. */
static uint32_t whole(uint32_t count, uint32_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static void put_job(const struct cast *cast, uint32_t row)
{
    const uint32_t all = cast->servers * cast->gpus;
    const uint32_t run_s = 60 + below(600) * below(60);
    put("- {id: j%u, at: %us, run: %us, user: u%u", row, below(22 * 3600), run_s, below(3));
    uint32_t gpus = chance(15) ? 64 : chance(50) ? 1 + below(all / 3) : 2 * (1 + below(8));
    if (gpus > all) gpus = all;
    if (gpus > 1) gpus = whole(gpus, cast->unit);
    if (is(cast, "plain") || is(cast, "static")) {
        if (is(cast, "static") && gpus > all / 4)
            gpus = all / 4 < cast->unit ? cast->unit : all / 4 / cast->unit * cast->unit;
        put(", gpus: %u", gpus);
    } else if (is(cast, "slurm")) {
        const uint32_t each = 1 + below(cast->node_gpus);
        const uint32_t nodes = whole(1 + below(cast->nodes / 2), cast->unit);
        if (chance(50))
            put(", gpus: %u", gpus);
        else {
            put(", nodes: '%u', gpus_per_node: %u", nodes, each);
            gpus = nodes * each;
        }
        if (chance(50)) put(", no_kill: true");
        put(", partition: %s, time: %us", one_of("p0|p1"), 60 + run_s / 2 + below(2 * run_s));
    } else {
        const uint32_t each = 1 + below(cast->node_gpus);
        const uint32_t pods = whole(1 + gpus / each, cast->unit);
        gpus = pods * each;
        put(", pods: %u", pods);
        if (is(cast, "kai")) put(", queue: q%u", below(2));
        if (is(cast, "kai") && chance(20)) {
            put(", resources: {cpu: 500m}, gpu_milli: %u", 1 + below(999));
            gpus = 0;
        } else
            put(", resources: {cpu: 500m, nvidia.com/gpu: %u}", each);
        put(", priority: %u", below(3));
    }
    put("%s}\n", cast->named ? any_model(gpus) : "");
}

static void write_text(const char *family, uint64_t seed)
{
    text_begin("test.all_at_once", seed);
    put_head(seed);
    struct cast cast = { .family = family, .unit = 1 };
    put_workload(&cast);
    put_layout(&cast);
    put_failures();
    put_scheduler(&cast);
    put("jobs:\n");
    for (uint32_t row = 0; row < JOBS; row++) put_job(&cast, row);
    put_events(&cast);
}

/* ---- what must hold -------------------------------------------------------------------------- */

/* Probes; jobs that wait for others in them; attempts that did. */
static uint64_t instants, shared_now, told_by_sums, streamed;

/* Members of the network are the jobs that run and are over their start-up; the sums are those of the members. */
static void probe_network(const struct run *run)
{
    const struct contention *contention = run->contention;
    if (!contention) return;
    int64_t waiting[ESTIMATES] = { 0 };
    for (uint32_t live = 0; live < contention->member_room; live++) {
        const struct member *member = &contention->members[live];
        const bool runs = live < run->live.count && run->live.jobs[live].state == LIVE_RUNNING;
        const uint32_t row = member->traffic[TRAFFIC_COLLECTIVE].row;
        bool on = false;
        for (int kind = 0; kind < TRAFFICS; kind++)
            on |= member->traffic[kind].row != PERIODIC_NONE;
        assert_true(!on || runs);
        if (on) assert_true(run->now_ns >= run->live.attempts[live].work_start_ns);
        if (row != PERIODIC_NONE) {
            assert_int_equal(contention->live_of[row], live);
            const int64_t *waits = member->waiting;
            assert_true(0 <= waits[ESTIMATE_LOWER]);
            if (contention->estimate != ESTIMATES) {
                assert_true(waits[ESTIMATE_LOWER] <= waits[contention->estimate]);
                assert_true(waits[contention->estimate] <= waits[ESTIMATE_UPPER]);
            }
            shared_now += waits[ESTIMATE_MEAN] > 0;
        }
        for (int e = 0; e < ESTIMATES; e++) waiting[e] += member->waiting[e];
        if (!on) continue;
        const struct tempo tempo = speed_of(run->speed, &member->query).tempo;
        assert_true(tempo_equal(&tempo, &run->live.attempts[live].tempo));
    }
    assert_memory_equal(waiting, contention->waiting, sizeof waiting);
}

/* What links are told is what their members do; with streams beside them it is no more than they carry. */
static void probe_links(const struct run *run)
{
    const struct contention *contention = run->contention;
    if (!contention || !contention->told) return;
    struct link_told *sums = calloc(contention->links, sizeof *sums);
    for (uint32_t live = 0; live < contention->member_room; live++)
        for (enum traffic_kind kind = 0; kind < TRAFFICS; kind++) {
            const struct traffic *one = &contention->members[live].traffic[kind];
            const struct link_use *uses;
            const struct flow_use *flows;
            if (one->row == PERIODIC_NONE || one->rate == 0) continue;
            if (one->fullest != PERIODIC_NONE) sums[one->fullest].waiting += one->waiting;
            uint32_t count = kind == TRAFFIC_STREAM
                                 ? contention_storage_uses(contention, one->row, &flows)
                                 : periodic_uses(contention->net, one->row, &uses);
            while (count-- > 0)
                if (kind == TRAFFIC_STREAM)
                    sums[flows[count].link].streams += (int64_t)(flows[count].per_unit * one->rate);
                else
                    sums[uses[count].link].carries += (int64_t)(uses[count].bytes * one->rate);
        }
    for (uint32_t link = 0; link < contention->links; link++) {
        assert_true(sums[link].carries == contention->told[link].carries);
        assert_true(sums[link].streams == contention->told[link].streams);
        assert_true(sums[link].waiting == contention->told[link].waiting);
        if (sums[link].streams == 0 || contention->estimate == ESTIMATES) continue;
        streamed++;
        const double all = (double)(sums[link].carries + sums[link].streams);
        const double capacity = periodic_capacity(contention->net, link);
        assert_true(all <= 1.0001 * capacity);
    }
    free(sums);
}

static void probe(const struct run *run)
{
    instants++;
    books_probe(run);
    probe_network(run);
    probe_links(run);
    for (uint32_t live = 0; live < run->live.count; live++)
        if (run->live.jobs[live].state == LIVE_RUNNING) check_work(run, live);
    told_ns = run->now_ns;
}

/* What was held, GPU by GPU of an attempt, is what its accounts add up to; of those that hung, `down` has a part. */
static void check_attempts(const struct replica_result *result)
{
    const struct attempt_row *rows = LOG_ITEMS(&result->attempts, const struct attempt_row);
    for (uint64_t i = 0; i < result->attempts.count; i++) {
        if (rows[i].fault_ns != TIME_NEVER) continue;
        int128 sum[ACCOUNTS] = { 0 }, all = 0, held = 0;
        attempt_accounts(result, i, sum);
        for (uint32_t account = 0; account < ACCOUNTS; account++) all += sum[account];
        for (uint32_t account = 0; account < ACC_HELD_END; account++)
            held += rows[i].units[account];
        assert_true(all == held * (rows[i].end_ns - rows[i].start_ns));
        if (rows[i].gpus_held) assert_true(held >= (int128)rows[i].gpus_held * UNITS_PER_GPU);
        told_by_sums += sum[ACC_STALL_CONTENTION] > 0;
    }
}

static void check_result(const struct replica_result *result)
{
    check_attempts(result);
    assert_true(result->closure_error == 0);
    uint64_t ended = 0;
    for (int end = 0; end < JOB_ENDS; end++) ended += result->jobs_end[end];
    assert_int_equal(ended, result->jobs_submitted);
    for (uint32_t account = 0; account < ACCOUNTS; account++)
        for (uint32_t class = 0; class < CLASSES; class ++)
            assert_true(result->ledger_all[account][class] >= 0);
    if (result->has_contention) {
        assert_true(0 <= result->contention_lower);
        assert_true(result->contention_lower <= result->contention_used);
        assert_true(result->contention_used <= result->contention_upper);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const char *const families[] = { "plain", "slurm", "kai", "coscheduling", "static" };

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
    memset(told, 0, sizeof told);
    told_ns = 0;
    run_probe = probe;
    const enum status status = run_replica(&request, &result);
    run_probe = NULL;
    if (status != STATUS_OK) fail_msg("%s, seed %u", family, (unsigned)seed);
    check_result(&result);
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

static void jobs_did_wait_for_others(void **state)
{
    (void)state;
    printf("%llu instants, %llu waits in them\n", (unsigned long long)instants,
           (unsigned long long)shared_now);
    assert_true(shared_now > instants / 10 && told_by_sums > 200 && streamed > instants);
}

int main(int argc, char **argv)
{
    struct rows rows = { 0 };
    const uintptr_t blocks = SEEDS / BLOCK;
    if (argc == 3) {
        run_one(argv[1], strtoull(argv[2], NULL, 10));
        return 0;
    }
    for (uintptr_t f = 0; f < sizeof families / sizeof *families; f++)
        for (uintptr_t b = 0; b < blocks; b++)
            rows_add(&rows, block_of_seeds, (void *)(f * blocks + b), "%s, seeds %u to %u",
                     families[f], (unsigned)(b * BLOCK + 1), (unsigned)((b + 1) * BLOCK));
    rows_add(&rows, jobs_did_wait_for_others, NULL, "jobs did wait for others");
    const int failed = rows_run("all at once", &rows);
    scenario_clear(&scenario);
    return failed;
}
