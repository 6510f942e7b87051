/* test_uplink_events.c - leaves whose cables up carry less for a while: whole runs by hand, and what is refused. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

static const double NIC = 48.5e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6, S = 1e9, KAPPA = 0.5;

/* Two leaves of four servers of eight, four cables up each: slower than NVLink. */
static struct layout *two_leaves(struct fixture *fixture, enum network_rule rule)
{
    fixture_init(fixture, 1);
    struct scenario *scenario = &fixture->scenario;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] =
        (struct mix_entry){ .profile = { .kappa_one = KAPPA, .kappa_many = KAPPA, .size_bytes = S },
                            .weight = 1,
                            .gpus_min = 1,
                            .gpus_max = UINT32_MAX };
    scenario->contention = rule;
    struct layout *layout = fixture_layout(fixture, "hall", 8, 8);
    layout->fabric.link.switch_ports = 36;
    layout->fabric.oversubscription = 8;
    return layout;
}

static struct user_event events[2];

static void slow_leaf(struct fixture *fixture, const char *target, double factor)
{
    events[0] = (struct user_event){ .at_ns = 1000 * NS_PER_S,
                                     .action = ACTION_UPLINK_DEGRADE,
                                     .factor = factor };
    events[1] = (struct user_event){ .at_ns = 5000 * NS_PER_S, .action = ACTION_UPLINK_REPAIR };
    for (int i = 0; i < 2; i++) snprintf(events[i].target, sizeof events[i].target, "%s", target);
    fixture->scenario.events = events;
    fixture->scenario.event_count = 2;
}

static double end_s(struct fixture *fixture)
{
    struct replica_result result;
    fixture_ready(fixture);
    assert_int_equal(fixture_run(fixture, 0, 0, &result), STATUS_OK);
    assert_true(result.closure_error == 0);
    const double seconds = s_from_ns(result.run_end_ns);
    replica_result_clear(&result);
    fixture->scenario.events = NULL;
    fixture_clear(fixture);
    return seconds;
}

/* A ring of 64 GPUs over both leaves: one of them at a quarter makes its bandwidth term four times as long for 4,000 s. */
static void a_slow_leaf_slows_who_crosses_it(void **state)
{
    const uint64_t row = rows_number(state);
    static const enum network_rule rules[] = { NETWORK_NONE, NETWORK_ESTIMATE, NETWORK_LOWER };
    struct fixture fixture;
    two_leaves(&fixture, rules[row / 2]);
    slow_leaf(&fixture, row % 2 ? "hall-leaf1" : "hall-leaf0", 0.25);
    fixture_job(&fixture, 0, 0, 10000, 0, 64);
    const double n = 64, bytes = 2 * (n - 1) / n * S, up_s = bytes / (4 * NIC);
    const double latency_s = 2 * (n - 8) * HOP_IN + 2 * 7 * HOP_OUT;
    const double recorded_s = latency_s + bytes / 370.8e9, compute_s = recorded_s / KAPPA;
    const double whole = (compute_s + recorded_s) / (compute_s + latency_s + up_s);
    const double slow = (compute_s + recorded_s) / (compute_s + latency_s + 4 * up_s);
    CHECK_NEAR(end_s(&fixture), 5000 + (10000 - 1000 * whole - 4000 * slow) / whole, 1e-8);
}

/* Below one leaf nobody needs its cables, and other layouts have other leaves. */
static void who_stays_below_does_not_wait(void **state)
{
    const bool elsewhere = rows_number(state);
    struct fixture fixture;
    two_leaves(&fixture, NETWORK_ESTIMATE);
    slow_leaf(&fixture, elsewhere ? "hall2-leaf0" : "hall-leaf0", 1e-6);
    fixture_job(&fixture, 0, 0, 10000, 0, elsewhere ? 64 : 32);
    const double here_s = end_s(&fixture);
    two_leaves(&fixture, NETWORK_ESTIMATE);
    fixture_job(&fixture, 0, 0, 10000, 0, elsewhere ? 64 : 32);
    CHECK_NEAR(here_s, end_s(&fixture), 1e-12);
}

/* The cables of leaf 1 carry next to nothing for 4,000 s, with rails and hashes too: the job stands as good as still as long. */
static void a_leaf_as_good_as_dead_stops_its_job(void **state)
{
    const uint64_t row = rows_number(state);
    double seconds[2];
    for (int dead = 0; dead < 2; dead++) {
        struct fixture fixture;
        struct layout *layout = two_leaves(&fixture, NETWORK_ESTIMATE);
        layout->fabric.routing = row % 2 ? ROUTING_SAMPLED : ROUTING_EVEN;
        if (row / 2) {
            layout->fabric.kind = FABRIC_RAIL;
            layout->fabric.link.switch_ports = 6;
            layout->fabric.oversubscription = 2;
        }
        if (dead) slow_leaf(&fixture, "hall-leaf1", 1e-7);
        fixture_job(&fixture, 0, 0, 10000, 0, 64);
        seconds[dead] = end_s(&fixture);
    }
    CHECK_NEAR(seconds[1], seconds[0] + 4000, 1e-6);
}

static void leaves_that_are_not_there_are_refused(void **state)
{
    const uint64_t row = rows_number(state);
    struct fixture fixture;
    struct layout *layout = two_leaves(&fixture, NETWORK_ESTIMATE);
    slow_leaf(&fixture, row == 0 ? "hall-leaf2" : "hall-leaf1", 0.5);
    if (row == 1) layout->fabric.link.switch_ports = 64;
    if (row == 2) layout->fabric.routing = ROUTING_EXPECTED;
    fixture_job(&fixture, 0, 0, 100, 0, 8);
    assert_int_equal(plan_build(&fixture.scenario, &fixture.jobs, &fixture.import, NULL, 0, 1,
                                &fixture.plan, fixture.diag),
                     STATUS_INPUT);
    fixture.scenario.events = NULL;
    fixture_clear(&fixture);
}

static void targets_are_read(void **state)
{
    (void)state;
    assert_int_equal(leaf_of_target("hall-leaf12", "hall"), 12);
    assert_int_equal(leaf_of_target("hall-leaf0", "hall"), 0);
    static const char *const wrong[] = { "hall-leaf",   "hall-leaf01",         "hall-leaf1x",
                                         "hall-1",      "hall2-leaf1",         "hal-leaf1",
                                         "hall-leaf-1", "hall-leaf99999999999" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_true(leaf_of_target(wrong[i], "hall") == LEAF_NONE);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < 6; row++)
        rows_add(&rows, a_slow_leaf_slows_who_crosses_it, (void *)row, "slow, %u", (unsigned)row);
    rows_add(&rows, who_stays_below_does_not_wait, (void *)0, "below one leaf");
    rows_add(&rows, who_stays_below_does_not_wait, (void *)1, "another layout");
    for (uintptr_t row = 0; row < 4; row++)
        rows_add(&rows, a_leaf_as_good_as_dead_stops_its_job, (void *)row, "dead, %u",
                 (unsigned)row);
    for (uintptr_t row = 0; row < 3; row++)
        rows_add(&rows, leaves_that_are_not_there_are_refused, (void *)row, "refused, %u",
                 (unsigned)row);
    rows_add(&rows, targets_are_read, NULL, "targets");
    return rows_run("uplink_events", &rows);
}
