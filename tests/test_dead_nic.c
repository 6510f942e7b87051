/* test_dead_nic.c - a NIC that an event leaves without bandwidth, by hand: what crosses it stands still, dies after 20 s (MODELS 5.1, a
 * link flap), and the server takes no new jobs until it carries again; what can then never end is told. */
#include "scenario_run.h"

#include "tests/near.h"
#include "tests/rows.h"

#define HEAD                                                                                       \
    "gpuplan: 1\nname: dead\ntime: {horizon: all, warmup: 0s}\nreplicas: {count: 1, resample: "    \
    "none}\n"                                                                                      \
    "failures: {rates: none, restart: 0s, requeue_delay: 0s}\ncheckpoint: none\ndetail: all\n"     \
    "verdict: {tornado: false}\n"                                                                  \
    "workload:\n  startup: 0s\n  trace: {recorded_on: {server: dgx-h100, count: 9}}\n"             \
    "jobs:\n- {id: j, model: 7b-sharded, gpus: 64, run: 1h}\n"                                     \
    "- {id: one, model: 7b-sharded, gpus: 8, run: 1h}\n"

enum { STUCK = -1, JOB_S = 3600 };

/* j starts first, on servers 0 to 7 of so many, `one` on server 8; each is an hour of work. */
static const struct {
    const char *name, *events;
    uint32_t servers;
    int64_t j_s, end_s; /* end of j, STUCK; and of the run */
} cases[] = {
    { "19 s are waited for",
      "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}, {at: 619s, nic_repair: 'lab-1:0'}", 9,
      JOB_S + 19, JOB_S + 19 },
    { "20 s are waited for",
      "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}, {at: 620s, nic_degrade: 'lab-1:0', factor: "
      "100%}",
      9, JOB_S + 20, JOB_S + 20 },
    { "another server takes its place", "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}", 10,
      620 + JOB_S, 620 + JOB_S },
    { "it waits for the repair",
      "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}, {at: 50m, nic_repair: 'lab-1:0'}", 9,
      3000 + JOB_S, 3000 + JOB_S },
    { "twice dead is dead once",
      "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}, {at: 615s, nic_degrade: 'lab-1:0', factor: "
      "0}, "
      "{at: 50m, nic_repair: 'lab-1:0'}",
      9, 3000 + JOB_S, 3000 + JOB_S },
    { "a second flap is counted by itself",
      "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}, {at: 610s, nic_repair: 'lab-1:0'}, {at: 615s, "
      "nic_degrade: 'lab-1:0', factor: 0}, {at: 630s, nic_repair: 'lab-1:0'}",
      9, JOB_S + 25, JOB_S + 25 },
    { "the server of the other job is free", "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}", 9,
      2 * JOB_S, 2 * JOB_S },
    { "nobody repairs two of them",
      "{at: 10m, nic_degrade: 'lab-1:0', factor: 0}, {at: 11m, nic_degrade: 'lab-2:0', factor: 0}",
      9, STUCK, JOB_S },
    { "a server that nobody uses", "{at: 10m, nic_degrade: 'lab-9:0', factor: 0}", 10, JOB_S,
      JOB_S },
};

static void a_dead_nic(void **state)
{
    const uint64_t row = rows_number(state);
    static char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "%s\nlayouts:\n- name: lab\n  servers: {type: dgx-h100, count: %u}\n"
             "  fabric: {type: two-tier, link: ib-ndr400}\nevents: [%s]\n",
             HEAD, cases[row].servers, cases[row].events);
    struct stored_run run;
    scenario_run(&run, text);
    CHECK_NEAR((double)job_number(&run, "end_ns", "one", -1) / 1e9, JOB_S, 1e-8);
    const double end_s = (double)job_number(&run, "end_ns", "j", -1000000000) / 1e9;
    CHECK_NEAR(end_s, cases[row].j_s, 1e-8);
    CHECK_NEAR((double)number_of(&run, "SELECT run_end_ns FROM replica", -1) / 1e9,
               cases[row].end_s, 1e-8);
    const bool stuck = cases[row].j_s == STUCK;
    assert_int_equal(
        number_of(&run, "SELECT CAST(value AS INT) FROM metric WHERE name = 'jobs_stuck'", -1),
        stuck);
    scenario_forget(&run);
}

/* 72 GPUs in one NVLink domain of 18 trays put nothing on the network: no NIC of theirs matters. */
static void inside_a_domain_no_nic_is_missed(void **state)
{
    (void)state;
    struct stored_run run;
    scenario_run(&run,
                 "gpuplan: 1\nname: dead\ntime: {horizon: all, warmup: 0s}\n"
                 "replicas: {count: 1, resample: none}\ndetail: all\nfailures: {rates: none}\n"
                 "checkpoint: none\nverdict: {tornado: false}\n"
                 "workload:\n  startup: 0s\n"
                 "  trace: {recorded_on: {server: gb200-nvl72, count: 18}}\n"
                 "jobs:\n- {id: j, model: 7b-sharded, gpus: 72, run: 1h}\n"
                 "layouts:\n- name: lab\n  servers: {type: gb200-nvl72, count: 18}\n"
                 "  fabric: {link: ib-ndr400}\n"
                 "events: [{at: 10m, nic_degrade: 'lab-3:1', factor: 0}]\n");
    CHECK_NEAR((double)job_number(&run, "end_ns", "j", -1) / 1e9, JOB_S, 1e-8);
    scenario_forget(&run);
}

/* Servers drawn slower or faster than others differ from replica to replica: that is told as luck. */
static void servers_drawn_apart_are_luck(void **state)
{
    (void)state;
    static const char *const spreads[] = { "0", "0.05" };
    static const char *const told[] = { "none", "servers" };
    for (int i = 0; i < 2; i++) {
        static char text[TEXT_BYTES], sql[128];
        snprintf(text, sizeof text,
                 "gpuplan: 1\nname: luck\ntime: {horizon: all, warmup: 0s}\n"
                 "replicas: {count: 2, resample: none}\nfailures: {rates: none}\n"
                 "checkpoint: none\nverdict: {tornado: false}\n"
                 "workload:\n  trace: {recorded_on: {server: dgx-h100, count: 1}}\n"
                 "  stragglers: {servers: %s}\n"
                 "jobs:\n- {id: j, model: 7b-sharded, gpus: 8, run: 1h}\n"
                 "layouts:\n- name: lab\n  servers: {type: dgx-h100, count: 2}\n"
                 "  fabric: {link: ib-ndr400}\n",
                 spreads[i]);
        struct stored_run run;
        scenario_run(&run, text);
        snprintf(sql, sizeof sql, "SELECT value = '%s' FROM meta WHERE key = 'chance'", told[i]);
        assert_int_equal(number_of(&run, sql, -1), 1);
        scenario_forget(&run);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof cases / sizeof *cases; row++)
        rows_add(&rows, a_dead_nic, (void *)row, "%s", cases[row].name);
    rows_add(&rows, inside_a_domain_no_nic_is_missed, NULL, "inside an NVLink domain");
    rows_add(&rows, servers_drawn_apart_are_luck, NULL, "servers drawn apart are luck");
    return rows_run("dead_nic", &rows);
}
