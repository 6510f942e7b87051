/* test_nics_in_use.c - whole runs on some GPUs of their servers, by hand: which NICs and rails they use, whom they meet there,
 * and which slow NIC they notice (MODELS 1.4, 1.5; spec/nic_map). */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

static const double NIC = 48.5e9, NVLINK = 370.8e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6, S = 1e9;
static const double WORK_S = 10000;

/* `jobs` equal ones that communicate as long as they compute on a server of eight, each of so many GPUs on so many servers. */
static void all_talk(struct fixture *fixture, uint32_t jobs, uint32_t gpus, uint32_t nodes)
{
    fixture_init(fixture, jobs);
    struct scenario *scenario = &fixture->scenario;
    scenario->contention = NETWORK_UPPER;
    scenario->shape = SHAPE_RECORDED;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] =
        (struct mix_entry){ .profile = { .kappa_one = 1, .kappa_many = 1, .size_bytes = S },
                            .weight = 1,
                            .gpus_min = 1,
                            .gpus_max = UINT32_MAX };
    fixture->jobs.nodes = ARENA_ARRAY(fixture->jobs.arena, uint32_t, jobs);
    for (uint32_t row = 0; row < jobs; row++) {
        fixture_job(fixture, row, 0, WORK_S, 0, gpus);
        fixture->jobs.nodes[row] = nodes;
    }
}

static struct layout *servers_of(struct fixture *fixture, uint32_t servers, uint32_t nics,
                                 uint32_t switches)
{
    struct layout *layout = fixture_layout(fixture, "hall", servers, 8);
    layout->server.nics = layout->fabric.nics_per_server = nics;
    tree_plain(&layout->server.tree, 8, nics, 2, switches);
    return layout;
}

/* Times of one collective of n GPUs on N servers: its latency, and the bandwidth term over W. */
static double latency_s(double n, double servers)
{
    return 2 * (n - servers) * HOP_IN + 2 * (servers - 1) * HOP_OUT;
}

static double wire_s(double n, double network)
{
    return 2 * (n - 1) / n * S / (network < NVLINK ? network : NVLINK);
}

/* How long a job of n GPUs on N servers takes when its bandwidth term is `now_s`. It was recorded on servers with a NIC a GPU, and
 * computes as long as it communicates on as few of these as hold it. */
static double ends_s(double n, double servers, double now_s)
{
    const double fewest = ceil(n / 8), even = n / servers, full = n / fewest;
    const double compute_s = latency_s(n, fewest) + wire_s(n, fewest > 1 ? full * NIC : NVLINK);
    const double recorded_s =
        latency_s(n, servers) + wire_s(n, even > 1 && even * NIC > NVLINK ? NVLINK : even * NIC);
    return WORK_S * (compute_s + latency_s(n, servers) + now_s) / (compute_s + recorded_s);
}

static double attempt_end_s(const struct replica_result *result)
{
    return s_from_ns(result->run_end_ns);
}

static void run_it(struct fixture *fixture, struct replica_result *result)
{
    fixture_ready(fixture);
    assert_int_equal(fixture_run(fixture, 0, 0, result), STATUS_OK);
    assert_true(result->closure_error == 0);
}

/* Jobs of 2 + 2 GPUs on two servers of eight GPUs: GPUs 0 and 1, 2 and 3, ... The last end says it. */
static const struct meeting {
    const char *name;
    uint32_t nics, switches, jobs;
    double nics_each, share; /* in use of a server; jobs that share them */
} meetings[] = {
    { "two GPUs behind one of two NICs have one", 2, 2, 1, 1, 1 },
    { "two jobs behind it share it", 2, 2, 2, 1, 2 },
    { "so do two and two", 2, 2, 4, 1, 2 },
    { "a NIC for two GPUs: nobody shares", 4, 4, 4, 1, 1 },
    { "two NICs of a socket by turns: two jobs share both", 4, 2, 2, 2, 2 },
    { "a NIC for each GPU: nobody shares", 8, 8, 4, 2, 1 },
    { "two NICs for each GPU", 16, 8, 4, 2, 1 }, /* 2 x 48.5 GB/s, but a GPU sends 55 */
};

static void jobs_meet_on_their_nics(void **state)
{
    const struct meeting *row = &meetings[rows_number(state)];
    struct fixture fixture;
    all_talk(&fixture, row->jobs, 4, 2);
    servers_of(&fixture, 2, row->nics, row->switches);
    struct replica_result result;
    run_it(&fixture, &result);
    const double network = row->nics == 16 ? 2 * 55e9 : row->nics_each * NIC;
    CHECK_NEAR(attempt_end_s(&result), ends_s(4, 2, row->share * wire_s(4, network)), 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* One job on the first GPUs of each of two servers with a NIC a GPU, one NIC of which carries a quarter. */
static const struct slow {
    const char *name, *nic;
    uint32_t gpus; /* of a server */
    double slower;
} slow[] = {
    { "the NIC of its only GPU", "hall-0:0", 1, 4 },
    { "another one", "hall-0:1", 1, 1 },
    { "one of its four", "hall-1:3", 4, 4 },
    { "none of its four", "hall-1:4", 4, 1 },
    { "one of all", "hall-0:7", 8, 4 },
};

static void a_slow_nic_slows_who_uses_it(void **state)
{
    const struct slow *row = &slow[rows_number(state)];
    struct fixture fixture;
    all_talk(&fixture, 1, 2 * row->gpus, 2);
    servers_of(&fixture, 2, 8, 8);
    struct user_event event = { .action = ACTION_NIC_DEGRADE, .factor = 0.25 };
    snprintf(event.target, sizeof event.target, "%s", row->nic);
    fixture.scenario.events = &event;
    fixture.scenario.event_count = 1;
    struct replica_result result;
    run_it(&fixture, &result);
    const double n = 2 * row->gpus, g = row->gpus;
    const double now_s = row->slower > 1 ? wire_s(n, g * NIC / row->slower) : wire_s(n, g * NIC);
    CHECK_NEAR(attempt_end_s(&result), ends_s(n, 2, now_s), 1e-8);
    fixture.scenario.events = NULL;
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two leaves of seven servers for each of two rails, one cable up each: jobs of one GPU on each of 14 servers. Two are on rails 0
 * and 1, the third on GPUs 2, that is on rail 0 again. */
static const struct railed {
    const char *name;
    uint32_t jobs;
    double share;
} railed[] = {
    { "alone", 1, 1 },
    { "two jobs on two rails", 2, 1 },
    { "three on two", 3, 2 },
    { "four", 4, 2 },
};

static void rails_are_fabrics_of_their_own(void **state)
{
    const struct railed *row = &railed[rows_number(state)];
    struct fixture fixture;
    all_talk(&fixture, row->jobs, 14, 14);
    struct layout *layout = servers_of(&fixture, 14, 8, 8);
    layout->fabric.kind = FABRIC_RAIL;
    layout->fabric.rails = 2;
    layout->fabric.link.switch_ports = 32;
    layout->fabric.oversubscription = 31;
    struct replica_result result;
    run_it(&fixture, &result);
    assert_int_equal(fixture.plan.variants[0].fabric.uplinks_per_leaf, 1);
    assert_int_equal(fixture.plan.variants[0].fabric.units, 2);
    CHECK_NEAR(attempt_end_s(&result), ends_s(14, 14, row->share * wire_s(14, NIC)), 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two GPUs a server, both on rail 0 or one on each: of its one cable the job alone gets half, or all of each. */
static void a_rail_of_two_nics_is_the_narrow_one(void **state)
{
    const uint32_t rails = (uint32_t)rows_number(state);
    struct fixture fixture;
    all_talk(&fixture, 1, 28, 14);
    struct layout *layout = servers_of(&fixture, 14, 8, 8);
    layout->fabric.kind = FABRIC_RAIL;
    layout->fabric.rails = rails;
    layout->fabric.link.switch_ports = rails == 1 ? 64 : 32;
    layout->fabric.oversubscription = rails == 1 ? 63 : 31;
    struct replica_result result;
    run_it(&fixture, &result);
    assert_int_equal(fixture.plan.variants[0].fabric.uplinks_per_leaf, 1);
    CHECK_NEAR(attempt_end_s(&result), ends_s(28, 14, wire_s(28, rails * NIC)), 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof meetings / sizeof *meetings; row++)
        rows_add(&rows, jobs_meet_on_their_nics, (void *)row, "%s", meetings[row].name);
    for (uintptr_t row = 0; row < sizeof slow / sizeof *slow; row++)
        rows_add(&rows, a_slow_nic_slows_who_uses_it, (void *)row, "a slow NIC: %s",
                 slow[row].name);
    for (uintptr_t row = 0; row < sizeof railed / sizeof *railed; row++)
        rows_add(&rows, rails_are_fabrics_of_their_own, (void *)row, "rails: %s", railed[row].name);
    for (uintptr_t rails = 1; rails <= 2; rails++)
        rows_add(&rows, a_rail_of_two_nics_is_the_narrow_one, (void *)rails,
                 "two GPUs a server on %u rails", (unsigned)rails);
    return rows_run("nics_in_use", &rows);
}
