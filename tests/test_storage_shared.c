/* test_storage_shared.c - whole runs of jobs whose input and checkpoints share links with each other and with collectives
 * (MODELS 3.7, 4.4, 4.7), from scenarios as text; every number is worked out here. */
#include "scenario_run.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <math.h>

static const double NIC = 48.5e9, NVLINK = 370.8e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6;

/* What all have: servers of eight GPUs, one NIC each unless `fabric` says otherwise. */
static void run_text(struct stored_run *run, const char *top, const char *fabric,
                     const char *storage, uint32_t servers, const char *jobs)
{
    static char text[TEXT_BYTES];
    const int bytes =
        snprintf(text, sizeof text,
                 "gpuplan: 1\nname: cases\ntime: {horizon: all, warmup: 0s}\nseed: 1\n"
                 "replicas: {count: 1, resample: none}\nfailures: {rates: none}\ndetail: all\n"
                 "verdict: {tornado: false}\n%s"
                 "layouts:\n- name: lab\n  servers: {type: dgx-h100, count: %u}\n  fabric: {%s}\n  "
                 "storage: {%s}\n"
                 "jobs:\n%s",
                 top, servers, fabric, storage, jobs);
    assert_true(bytes > 0 && bytes < TEXT_BYTES);
    scenario_run(run, text);
}

#define ONE_NIC "link: ib-ndr400, nics_per_gpu: 0.125"
#define WORKLOAD(communication)                                                                    \
    "workload: {trace: {recorded_on: {server: dgx-h100, count: 8}}, startup: 0s, "                 \
    "communication: {" communication "}}\n"
#define SILENT "kappa_one: 0, kappa_many: 0, hidden: 0, size: 1 GB"

static double number(const struct stored_run *run, const char *sql)
{
    struct db *db;
    struct db_query *query;
    bool has_row;
    assert_int_equal(db_open(run->path, DB_READ, &db, run->fixture.diag), STATUS_OK);
    assert_int_equal(db_prepare(db, sql, &query), STATUS_OK);
    assert_int_equal(db_next(query, &has_row), STATUS_OK);
    const double value = has_row ? db_take_double(query) : NAN;
    db_finish(query);
    assert_int_equal(db_close(db), STATUS_OK);
    return value;
}

static double end_s(const struct stored_run *run, const char *job)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT end_ns / 1e9 FROM job WHERE id = '%s'", job);
    return number(run, sql);
}

static double in_account_s(const struct stored_run *run, const char *account)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT total(gpu_s) FROM curve WHERE account = '%s'", account);
    return number(run, sql);
}

/* load or contention_gpu_s of a link. */
static double of_link(const struct stored_run *run, const char *column, const char *link)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT %s FROM link WHERE link = '%s'", column, link);
    return number(run, sql);
}

/* The steps of eight jobs that read 0.1 s each before every second of compute, over one storage, at random: each meets the
 * seven others in t/(1 + t) of their steps, t = 0.1 (1 + 7 t/(1 + t)), so t^2 + 0.2 t - 0.1 = 0; two: t^2 + 0.8 t - 0.1 = 0.
 * Interleaved they fit; all at once each has an eighth. */
static const struct {
    const char *estimate;
    uint32_t jobs;
    double b, read_s; /* b: t^2 + 2 b t - 0.1 = 0; read_s: 0 = by it */
} readers[] = {
    { "estimate", 8, 0.1, 0 }, { "estimate", 2, 0.4, 0 }, { "estimate", 1, 0, 0.1 },
    { "none", 8, 0, 0.1 },     { "lower", 8, 0, 0.1 },    { "upper", 8, 0, 0.8 },
};

static void input_before_each_step(void **state)
{
    const uint64_t row = rows_number(state);
    char top[512], jobs[512] = "";
    snprintf(top, sizeof top, "checkpoint: none\nnetwork: {contention: %s}\n%s",
             readers[row].estimate, WORKLOAD(SILENT ", input_rate: 1 GB/s, prefetch: false"));
    for (uint32_t i = 0; i < readers[row].jobs; i++)
        strcat(jobs, i ? "- {gpus: 8, run: 1h}\n" : "- {id: one, gpus: 8, run: 1h}\n");
    struct stored_run run;
    run_text(&run, top, "link: ib-ndr400", "read: 80 GB/s", 8, jobs);
    const double b = readers[row].b;
    const double t = readers[row].read_s > 0 ? readers[row].read_s : -b + sqrt(b * b + 0.1);
    const double gpus = 8.0 * readers[row].jobs, end = 3600 * (1 + t);
    CHECK_NEAR(end_s(&run, "one"), end, 1e-6);
    CHECK_NEAR(in_account_s(&run, "stall_data"), gpus * 3600 * t, 1e-4);
    CHECK_NEAR(of_link(&run, "load", "storage read"), gpus * 1e9 / 80e9 / (1 + t), 1e-4);
    CHECK_NEAR(of_link(&run, "contention_gpu_s", "storage read"), gpus * 3600 * t, 1e-4);
    scenario_forget(&run);
}

/* Two jobs that write 1 TB after each 1,000 s over 10 GB/s: 100 s alone; at random t = 100 (1 + t/(1000 + t)). */
static const struct {
    const char *estimate;
    double write_s;
} writers[] = { { "none", 100 }, { "lower", 100 }, { "upper", 200 }, { "estimate", 0 } };

static void checkpoints_by_each_estimate(void **state)
{
    const uint64_t row = rows_number(state);
    char top[512];
    snprintf(top, sizeof top,
             "checkpoint: {interval: 1000s, size: 125 GB}\nnetwork: {contention: %s}\n%s",
             writers[row].estimate, WORKLOAD(SILENT));
    struct stored_run run;
    run_text(&run, top, "link: ib-ndr400", "write: 10 GB/s", 2,
             "- {id: a, gpus: 8, run: 100h}\n- {id: b, gpus: 8, run: 100h}\n");
    const double t = writers[row].write_s > 0 ? writers[row].write_s : -400 + sqrt(260000);
    /* Where they were recorded each wrote over its eight NICs. */
    const double recorded = 1 + 1e12 / (8 * NIC) / 1000, cycle = 1 + t / 1000;
    CHECK_NEAR(end_s(&run, "a"), 360000 / recorded * cycle, 1e-4);
    CHECK_NEAR(of_link(&run, "load", "storage write"), 2 * 1e12 / 10e9 / (1000 + t), 1e-4);
    const double waits_s = 16 * end_s(&run, "a") * (t - 100) / (1000 + t);
    CHECK(fabs(of_link(&run, "contention_gpu_s", "storage write") - waits_s) <= 1e-4 * waits_s + 1,
          "waits %g GPU-s, want %g", of_link(&run, "contention_gpu_s", "storage write"), waits_s);
    scenario_forget(&run);
}

/* A NIC at a part of its rate slows input and checkpoints over it: 48 GB for a second of compute, 800 GB after each 1,800 s. */
static void a_slow_nic_slows_the_storage(void **state)
{
    const double factor = rows_number(state) ? 0.01 : 1;
    struct stored_run run;
    char top[512];
    snprintf(top, sizeof top,
             "checkpoint: {interval: 1800s, size: 100 GB}\n"
             "events:\n- {at: 0s, nic_degrade: 'lab-0:0', factor: %g%%}\n%s",
             100 * factor, WORKLOAD(SILENT ", input_rate: 6 GB/s"));
    run_text(&run, top, ONE_NIC, "read: 1 EB/s, write: 1 EB/s", 1,
             "- {id: a, gpus: 8, run: 20h}\n");
    const double recorded = 1 + 800e9 / (8 * NIC) / 1800, read_s = 48e9 / (factor * NIC);
    const double cycle = 1 + 800e9 / (factor * NIC) / 1800;
    CHECK_NEAR(end_s(&run, "a"), 72000 / recorded * (read_s > 1 ? read_s : 1) * cycle, 1e-3);
    scenario_forget(&run);
}

/* A job's own checkpoints never overlap with its gradients: over the same NIC, or links of their own, it takes as long. */
static void own_checkpoints_slow_no_gradients(void **state)
{
    (void)state;
    static const char *const storages[] = { "", "write: 1 EB/s",
                                            "write: 1 EB/s, per_server: 48.5 GB/s" };
    double ends[3];
    for (int i = 0; i < 3; i++) {
        struct stored_run run;
        run_text(&run,
                 "checkpoint: {interval: 10m, size: 500 GB, store: 1 EB/s}\n" WORKLOAD(
                     "kappa_one: 0.5, kappa_many: 0.5, hidden: 0, size: 1 GB"),
                 ONE_NIC, storages[i], 2, "- {id: a, gpus: 16, run: 10h}\n");
        ends[i] = end_s(&run, "a");
        assert_true(in_account_s(&run, "stall_contention") == 0);
        scenario_forget(&run);
    }
    assert_true(ends[1] == ends[0] && ends[2] == ends[0]);
}

/* What one waits as others read is contention: what it would wait alone stays what it was. */
static void input_of_others_is_contention(void **state)
{
    (void)state;
    double inter_s[2], contention_s[2];
    for (int i = 0; i < 2; i++) {
        struct stored_run run;
        run_text(&run,
                 "checkpoint: none\nworkload: {trace: {recorded_on: {server: dgx-h100, count: 2}}, "
                 "startup: 0s}\n",
                 ONE_NIC, i ? "read: 1 EB/s" : "", 2,
                 "- {id: reads, model: resnet50-pictures, nodes: 2, gpus_per_node: '4', run: 10h}\n"
                 "- {id: talks, model: llm7b, nodes: 2, gpus_per_node: '4', run: 1h}\n");
        inter_s[i] = in_account_s(&run, "stall_inter");
        contention_s[i] = in_account_s(&run, "stall_contention");
        scenario_forget(&run);
    }
    CHECK_NEAR(inter_s[1], inter_s[0], 1e-5);
    assert_true(contention_s[1] > 1.2 * contention_s[0]);
}

/* 40 GB/s of input per GPU and a collective that all of the compute can hide, over one NIC. Where more has to be read, the NIC is
 * never idle, and a second of compute takes what both bring of bytes: (b + u)/C. Else the collective, with nothing left to hide
 * behind, takes what its stream leaves: T = l + u/(C - b/T). */
static void a_nic_carries_no_more_than_it_can(void **state)
{
    const double kappa = (double[]){ 0.3, 0.8, 2 }[rows_number(state)];
    struct stored_run run;
    char top[512];
    snprintf(top, sizeof top,
             "checkpoint: none\nworkload: {trace: {recorded_on: {server: dgx-h100, count: 2}}, "
             "startup: 0s, communication: {allreduce: flat_ring, kappa_one: %g, kappa_many: %g, "
             "hidden: 1, size: 1 GB, "
             "input_rate: 40 GB/s}}\n",
             kappa, kappa);
    run_text(&run, top, ONE_NIC, "read: 1 EB/s", 2, "- {id: a, gpus: 16, run: 10h}\n");
    const double bytes = 2 * 15 / 16.0 * 1e9, latency_s = 2 * 14 * HOP_IN + 2 * HOP_OUT;
    const double unit_s = (bytes / NVLINK + latency_s) / kappa, recorded = kappa > 1 ? kappa : 1;
    const double b = 8 * 40e9, u = bytes / unit_s;
    double step = (b + u) / NIC;
    for (int round = 0; u > b && round < 1000; round++)
        step = latency_s / unit_s + u / (NIC - b / step);
    CHECK_NEAR(end_s(&run, "a"), 36000 / recorded * step, 1e-4);
    const double load = of_link(&run, "load", "server 0 in");
    CHECK_NEAR(load, (b + u) / step / NIC, 1e-4);
    assert_true(load <= 1 + 1e-12);
    scenario_forget(&run);
}

/* y and z share NICs, wait for each other and read so much less; x is given the rest of the storage. */
static void who_is_slowed_leaves_the_storage(void **state)
{
    (void)state;
    struct stored_run run;
    run_text(&run,
             "checkpoint: none\n" WORKLOAD(
                 "allreduce: flat_ring, kappa_one: 1, kappa_many: 1, hidden: 0, size: 1 GB, "
                 "input_rate: 1 GB/s"),
             ONE_NIC, "read: 4 GB/s, per_server: 100 GB/s", 3,
             "- {id: x, gpus: 8, run: 1h}\n"
             "- {id: y, nodes: 2, gpus_per_node: '4', run: 1h}\n"
             "- {id: z, nodes: 2, gpus_per_node: '4', run: 1h}\n");
    const double bytes = 2 * 7 / 8.0 * 1e9, unit_s = bytes / NVLINK + 2 * 7 * HOP_IN;
    const double latency_s = 2 * 6 * HOP_IN + 2 * HOP_OUT;
    double m =
        bytes / NIC; /* seconds of a step that the bytes take, each meeting the other's share */
    for (int round = 0; round < 1000; round++) m = bytes / NIC * (1 + m / (unit_s + latency_s + m));
    const double slowed = (unit_s + latency_s + m) / unit_s, left = 4e9 - 2 * 8e9 / slowed;
    CHECK_NEAR(end_s(&run, "x"), 3600 / 2.0 * 8e9 / left, 1e-4);
    scenario_forget(&run);
}

/* Who waits for the storage nearly always leaves the network to the others. */
static void who_starves_slows_nobody(void **state)
{
    (void)state;
    struct stored_run run;
    run_text(&run,
             "checkpoint: none\nworkload: {trace: {recorded_on: {server: dgx-h100, count: 2}}, "
             "startup: 0s}\n",
             ONE_NIC, "read: 10 MB/s, per_server: 40 GB/s", 2,
             "- {id: pics, model: resnet50-pictures, nodes: 2, gpus_per_node: '4', run: 1h}\n"
             "- {id: tok, model: llm7b, nodes: 2, gpus_per_node: '4', run: 1h}\n");
    assert_true(in_account_s(&run, "stall_contention") < 0.002 * in_account_s(&run, "stall_inter"));
    scenario_forget(&run);
}

/* Four servers of a leaf read 360 GB/s each, over its uplinks: as many as NICs, or an eighth of them. */
static void input_crosses_the_uplinks_of_a_leaf(void **state)
{
    const bool thin = rows_number(state) == 1;
    struct stored_run run;
    run_text(&run, "checkpoint: none\n" WORKLOAD(SILENT ", input_rate: 45 GB/s"),
             thin ? "link: ib-ndr400, oversubscription: 7" : "link: ib-ndr400", "read: 1 EB/s", 128,
             "- {id: a, gpus: 8, run: 10h}\n- {id: b, gpus: 8, run: 10h}\n"
             "- {id: c, gpus: 8, run: 10h}\n- {id: d, gpus: 8, run: 10h}\n");
    const double want = thin ? 4 * 360 / (8 * 48.5) : 1;
    CHECK_NEAR(end_s(&run, "a"), 36000 * want, 1e-6);
    CHECK_NEAR(of_link(&run, "load", "leaf 0 in"), thin ? 1 : 4 * 360 / (32 * 48.5), 1e-6);
    if (thin)
        CHECK_NEAR(of_link(&run, "contention_gpu_s", "leaf 0 in"), 32 * 36000 * (want - 1), 1e-4);
    scenario_forget(&run);
}

/* The same, with a quarter of the cables of healthy uplinks from the fifth hour on: input that is read ahead notices. */
static void input_notices_slow_uplinks(void **state)
{
    (void)state;
    struct stored_run run;
    run_text(&run,
             "events: [{at: 5h, uplink_degrade: lab-leaf0, factor: 0.25}]\n"
             "checkpoint: none\n" WORKLOAD(SILENT ", input_rate: 45 GB/s"),
             "link: ib-ndr400", "read: 1 EB/s", 128,
             "- {id: a, gpus: 8, run: 10h}\n- {id: b, gpus: 8, run: 10h}\n"
             "- {id: c, gpus: 8, run: 10h}\n- {id: d, gpus: 8, run: 10h}\n");
    CHECK_NEAR(end_s(&run, "a"), 18000 + 18000 * 4 * 360 / (8 * 48.5), 1e-6);
    scenario_forget(&run);
}

/* A job alone waits for nobody, by any estimate, also when its gradients and its checkpoints take turns on a slow NIC. */
static void alone_all_estimates_are_one(void **state)
{
    (void)state;
    static const char *const rules[] = { "estimate", "lower", "upper", "none" };
    double ends[4];
    for (int i = 0; i < 4; i++) {
        char top[1024];
        struct stored_run run;
        snprintf(
            top, sizeof top,
            "network: {contention: %s}\nevents: [{at: 1h, nic_degrade: 'lab-0:0', factor: 20%%}]\n"
            "checkpoint: {interval: 10m, size: 500 GB, store: 1 EB/s}\n%s",
            rules[i], WORKLOAD("kappa_one: 0.5, kappa_many: 0.5, hidden: 0.2, size: 1 GB"));
        run_text(&run, top, ONE_NIC, "write: 1 EB/s", 2, "- {id: a, gpus: 16, run: 5h}\n");
        ends[i] = end_s(&run, "a");
        scenario_forget(&run);
        CHECK_NEAR(ends[i], ends[0], 1e-12);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof readers / sizeof *readers; row++)
        rows_add(&rows, input_before_each_step, (void *)row, "input before each step, %u, %s",
                 readers[row].jobs, readers[row].estimate);
    for (uintptr_t row = 0; row < sizeof writers / sizeof *writers; row++)
        rows_add(&rows, checkpoints_by_each_estimate, (void *)row, "checkpoints, %s",
                 writers[row].estimate);
    rows_add(&rows, a_slow_nic_slows_the_storage, (void *)0, "a healthy NIC");
    rows_add(&rows, a_slow_nic_slows_the_storage, (void *)1, "a slow NIC");
    rows_add(&rows, own_checkpoints_slow_no_gradients, NULL, "own checkpoints");
    rows_add(&rows, input_of_others_is_contention, NULL, "input of others");
    for (uintptr_t row = 0; row < 3; row++)
        rows_add(&rows, a_nic_carries_no_more_than_it_can, (void *)row, "a full NIC, %u",
                 (unsigned)row);
    rows_add(&rows, who_is_slowed_leaves_the_storage, NULL, "slowed by the network");
    rows_add(&rows, who_starves_slows_nobody, NULL, "starved by the storage");
    rows_add(&rows, input_crosses_the_uplinks_of_a_leaf, (void *)0, "uplinks");
    rows_add(&rows, input_crosses_the_uplinks_of_a_leaf, (void *)1, "thin uplinks");
    rows_add(&rows, input_notices_slow_uplinks, NULL, "slow uplinks");
    rows_add(&rows, alone_all_estimates_are_one, NULL, "alone, all estimates");
    return rows_run("storage_shared", &rows);
}
