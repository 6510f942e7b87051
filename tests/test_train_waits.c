/* test_train_waits.c - a training plan with half of its bandwidth takes as long, whoever took the other half: the layout, an
 * event, hashes that meet, another job. Steps come from models/train_step on hardware of that rate, as `gpuplan step` has them. */
#include "scenario_run.h"

#include "cluster/train_of.h"
#include "tests/near.h"
#include "tests/rows.h"

static const struct {
    const char *id;
    uint32_t gpus;
} profiles[] = {
    { "7b-sharded", 64 }, { "70b-tensor", 64 }, { "8x7b-experts", 64 }, { "405b-pipeline", 1024 }
};
enum { PROFILES = sizeof profiles / sizeof *profiles };
static const double RUN_S = 86400;

#define HEAD                                                                                       \
    "gpuplan: 1\nname: waits\ntime: {horizon: all, warmup: 0s}\nreplicas: {count: 1, resample: "   \
    "none}\n"                                                                                      \
    "failures: {rates: none}\ncheckpoint: none\ndetail: all\nverdict: {tornado: false}\n"          \
    "allow_different: [fabric]\n"

/* A layout of dgx-h100; `link` and `more` may be empty. */
static void put_layout(char *text, const char *name, uint32_t servers, const char *link,
                       const char *more)
{
    const size_t at = strlen(text);
    snprintf(text + at, TEXT_BYTES - at,
             "- name: %s\n  servers: {type: dgx-h100, count: %u}\n"
             "  fabric: {type: two-tier, link: %s%s}\n",
             name, servers, *link ? link : "ib-ndr400", more);
}

static void put_workload(char *text, const char *profile, uint32_t gpus, uint32_t jobs,
                         uint32_t servers)
{
    const size_t at = strlen(text);
    snprintf(text + at, TEXT_BYTES - at,
             "workload:\n  startup: 0s\n  communication: %s\n"
             "  trace: {recorded_on: {server: dgx-h100, count: %u}}\njobs:\n",
             profile, servers);
    for (uint32_t job = 0; job < jobs; job++)
        snprintf(text + strlen(text), TEXT_BYTES - strlen(text), "- {id: %c, gpus: %u, run: 24h}\n",
                 'j' + (int)job, gpus);
    strcat(text, "layouts:\n");
}

static double end_s(const struct stored_run *run, uint32_t layout)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT end_ns FROM job WHERE layout_id = %u AND id = 'j'", layout);
    return (double)number_of(run, sql, -1) / 1e9;
}

/* Times the step on NICs and uplinks of 48.5 GB/s, over so many switches. */
static double slower_step(const struct scenario *scenario, uint8_t row, uint32_t gpus,
                          uint32_t switches, double slower)
{
    const struct layout *layout = &scenario->layouts[0];
    const struct train_job *job = &scenario->communication.mix[row].profile.train;
    struct collective_hardware hardware = collective_of(&layout->server, 8, &layout->fabric.link);
    const double further_s = (switches - 1) * layout->fabric.link.switch_s;
    hardware.network_hop_s += further_s;
    hardware.tree_hop_s += further_s;
    hardware.tree_small.latency_s += further_s;
    hardware.two_servers.latency_s += 2 * further_s;
    const struct collective_group site = {
        .servers = gpus / 8, .gpus = gpus, .gpus_min = 8, .spans_leaves = true
    };
    const double before_s = train_job_step(job, &hardware, ALLOW_AUTO, &site, 1).step_s;
    hardware.nic_bytes_per_s /= slower;
    return train_job_step(job, &hardware, ALLOW_AUTO, &site, 1).step_s / before_s;
}

static void event_and_layout(void **state)
{
    const uint64_t row = rows_number(state);
    static char text[TEXT_BYTES];
    const uint32_t servers = profiles[row].gpus / 8;
    /* Of a stage in the middle: the first one sends activations alone. */
    snprintf(text, TEXT_BYTES, "%sevents: [{at: 0s, nic_degrade: \"event-%u:0\", factor: 50%%}]\n",
             HEAD, servers / 2);
    put_workload(text, profiles[row].id, profiles[row].gpus, 1, servers);
    put_layout(text, "whole", servers, "", "");
    put_layout(text, "event", servers, "", "");
    put_layout(text, "rate", servers, "{like: ib-ndr400, rate: 24.25 GB/s}", "");
    put_layout(text, "nics", servers, "", ", nics_per_gpu: 0.5");
    struct stored_run run;
    scenario_run(&run, text);
    const struct scenario *scenario = &run.fixture.scenario;
    const double want_s =
        RUN_S * slower_step(scenario, speed_profile_named(scenario, profiles[row].id),
                            profiles[row].gpus, servers > 8 ? 3 : 1, 2);
    CHECK(want_s > 1.001 * RUN_S, "nothing is lost");
    CHECK_NEAR(end_s(&run, 0), RUN_S, 1e-8);
    for (uint32_t layout = 1; layout < 4; layout++) CHECK_NEAR(end_s(&run, layout), want_s, 1e-8);
    scenario_forget(&run);
}

/* Flows of one ring that meet on a cable: the fullest one holds as many as its load says. Of a plan with several parts each waits
 * for a cable of its own, together at least as long as for the one that has most in all. */
static void hashes_and_layout(void **state)
{
    const uint64_t row = rows_number(state);
    static char text[TEXT_BYTES];
    strcpy(text, HEAD);
    put_workload(text, profiles[row].id, 64, 1, 16);
    put_layout(text, "hash", 16, "", ", routing: sampled");
    struct stored_run run;
    scenario_run(&run, text);
    const struct scenario *scenario = &run.fixture.scenario;
    const double flows =
        (double)number_of(&run,
                          "SELECT CAST(1e6 * max(load) / (SELECT load FROM link WHERE link = "
                          "'server 0 out') + 0.5 AS INT) FROM link",
                          -1) /
        1e6;
    const uint8_t profile = speed_profile_named(scenario, profiles[row].id);
    const double want_s = RUN_S * slower_step(scenario, profile, 64, 3, flows);
    CHECK(flows > 1 && flows < 9, "%g flows meet", flows);
    if (scenario->communication.mix[profile].profile.train.expert > 1)
        CHECK(end_s(&run, 0) >= want_s, "%g s, want %g or more", end_s(&run, 0), want_s);
    else
        CHECK_NEAR(end_s(&run, 0), want_s, 1e-8);
    scenario_forget(&run);
}

/* Two jobs of eight servers on leaves of seven share the eight uplinks of the middle one: if both always communicate, each has
 * what one has of four. What an estimate says is less. */
static void a_neighbour_and_layout(void **state)
{
    const uint64_t row = rows_number(state);
    static const char *const rules[] = { "upper", "estimate", "lower" };
    static char text[TEXT_BYTES];
    struct stored_run run;
    double before_s = HUGE_VAL;
    for (size_t r = 0; r < 3; r++) {
        strcpy(text, HEAD "network: {contention: ");
        strcat(text, rules[r]);
        strcat(text, "}\n");
        put_workload(text, profiles[row].id, 64, 2, 16);
        put_layout(text, "shared", 16, "", ", oversubscription: 7");
        scenario_run(&run, text);
        const struct scenario *scenario = &run.fixture.scenario;
        const uint8_t profile = speed_profile_named(scenario, profiles[row].id);
        const double half_s = RUN_S * slower_step(scenario, profile, 64, 3, 2);
        const double now_s = end_s(&run, 0);
        if (r == 0) CHECK_NEAR(now_s, half_s, 1e-8);
        CHECK(now_s <= before_s && now_s >= RUN_S, "%s: %g s, before %g", rules[r], now_s,
              before_s);
        before_s = now_s;
        scenario_forget(&run);
    }
}

/* Four machines of a server share its NIC, and the plan of each has a quarter of it: a job alone on eight machines takes as
 * long on two servers as on eight. */
static void machines_wait_for_their_part_once(void **state)
{
    (void)state;
    static const char *const machines[] = { "x-0,x-4,x-8,x-12,x-16,x-20,x-24,x-28", "x-[0-7]" };
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text,
                 "gpuplan: 1\nname: vm\ntime: {horizon: all, warmup: 0s}\n"
                 "replicas: {count: 1, resample: none}\nfailures: {rates: none}\n"
                 "checkpoint: none\ndetail: all\nverdict: {tornado: false}\n"
                 "jobs: [{id: j, run: 2h, time: 900h, model: 8x7b-experts, nodes: 8, "
                 "gpus_per_node: 2, nodelist: '%s'}]\n"
                 "workload: {startup: 0s, trace: {recorded_on: {server: dgx-h100, count: 128}}}\n"
                 "scheduler: {kind: slurm}\n"
                 "layouts:\n- name: x\n  servers: {type: {like: dgx-h100, nics: 1}, count: 8, "
                 "nodes_per_server: 4, vm: {compute_overhead: 0, staged_overhead: 0}}\n"
                 "  fabric: {type: two-tier, link: ib-ndr400}\n",
                 machines[i]);
        struct stored_run run;
        scenario_run(&run, text);
        seconds[i] = end_s(&run, 0);
        scenario_forget(&run);
    }
    CHECK_NEAR(seconds[1], seconds[0], 1e-9);
}

/* Two servers in two groups of a dragonfly, joined by two cables: alone, the closed form of `none` is what the links give
 * (MODELS 0.3). */
static void two_groups_alone(void **state)
{
    (void)state;
    static const char *const rules[] = { "none", "estimate" };
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text,
                 "gpuplan: 1\nname: groups\ntime: {horizon: all, warmup: 0s}\n"
                 "replicas: {count: 1, resample: none}\nfailures: {rates: none}\n"
                 "checkpoint: none\ndetail: all\nverdict: {tornado: false}\n"
                 "network: {contention: %s}\n"
                 "jobs: [{id: j, run: 2h, time: 900h, model: 8x7b-experts, nodes: 2, "
                 "gpus_per_node: 8, nodelist: 'x-3,x-7'}]\n"
                 "workload: {startup: 0s, trace: {recorded_on: {server: dgx-h100, count: 128}}}\n"
                 "scheduler: {kind: slurm}\n"
                 "layouts:\n- name: x\n  servers: {type: {like: dgx-h100, nics: 4}, count: 8}\n"
                 "  fabric: {type: dragonfly+, link: {like: tcp-10, switch_ports: 16}, "
                 "oversubscription: 4, global_links: 2}\n",
                 rules[i]);
        struct stored_run run;
        scenario_run(&run, text);
        seconds[i] = end_s(&run, 0);
        scenario_forget(&run);
    }
    CHECK_NEAR(seconds[0], seconds[1], 1e-6);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < PROFILES; row++) {
        const void *state = (void *)row;
        rows_add(&rows, event_and_layout, state, "%s: an event is a layout", profiles[row].id);
        if (profiles[row].gpus > 64) continue;
        rows_add(&rows, hashes_and_layout, state, "%s: hashes are a layout", profiles[row].id);
        rows_add(&rows, a_neighbour_and_layout, state, "%s: a neighbour is a layout",
                 profiles[row].id);
    }
    rows_add(&rows, machines_wait_for_their_part_once, NULL, "machines that share a NIC");
    rows_add(&rows, two_groups_alone, NULL, "two groups, alone");
    return rows_run("train_waits", &rows);
}
