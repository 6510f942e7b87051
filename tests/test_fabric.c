/* test_fabric.c - links of small networks, counted by hand, and what jobs put on them. */
#include "tests/near.h"
#include "tests/rows.h"

#include "network/fabric.h"

#include <stdio.h>
#include <string.h>

/* Six servers of 8 NICs, two on a leaf with 4 cables up of 10 B/s. */
static const struct fabric_shape leaves = { .kind = FABRIC_TWO_TIER,
                                            .servers = 6,
                                            .nics_per_server = 8,
                                            .rails = 1,
                                            .servers_per_leaf = 2,
                                            .units = 3,
                                            .leaves = 3,
                                            .uplinks_per_leaf = 4,
                                            .units_per_pod = 3,
                                            .pods = 1,
                                            .spines = 1,
                                            .trunk_bytes_per_s = 10 };

/* The same with the units in pods of two, 2 spines a pod with 3 cables each to the cores. */
static struct fabric_shape pods(void)
{
    struct fabric_shape shape = leaves;
    shape.kind = FABRIC_THREE_TIER;
    shape.servers = 8;
    shape.units = shape.leaves = 4;
    shape.units_per_pod = 2;
    shape.pods = 2;
    shape.spines = 4;
    shape.uplinks_per_spine = 3;
    return shape;
}

/* Or every unit a group, 5 cables between each two. */
static struct fabric_shape groups(void)
{
    struct fabric_shape shape = leaves;
    shape.kind = FABRIC_DRAGONFLY;
    shape.units_per_pod = 1;
    shape.pods = 3;
    shape.global_links = 5;
    return shape;
}

static double used(const struct link_use *uses, uint32_t count, const struct fabric_net *net,
                   const char *name)
{
    double bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        char text[LINK_NAME_BYTES];
        fabric_net_name(net, uses[i].link, text);
        if (!strcmp(text, name)) bytes += uses[i].bytes;
    }
    return bytes;
}

static const struct fabric plain = { .queue_pairs = 1 };
static const struct fabric_job sends = { .bytes = 100, .nics = 8 };

struct expected {
    const char *name;
    double bytes;
};

/* All bytes of the job are on the links that are named. */
static void check(struct fabric_shape shape, const uint32_t *servers, uint32_t count,
                  const struct expected *want, uint32_t want_count)
{
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &plain, 80));
    struct link_use uses[64];
    assert_true(fabric_net_most_uses(&net, count) <= 64);
    for (int again = 0; again < 2; again++) { /* nothing is left behind by the first call */
        const uint32_t got = fabric_net_uses(&net, servers, count, &sends, uses);
        assert_int_equal(got, want_count);
        for (uint32_t i = 0; i < want_count; i++)
            CHECK_NEAR(used(uses, got, &net, want[i].name), want[i].bytes, 1e-12);
        for (uint32_t i = 0; i < got; i++) assert_true(uses[i].flows == 8);
    }
    fabric_net_clear(&net);
}

#define LINKS(...)                                                                                 \
    (const struct expected[]){ __VA_ARGS__ },                                                      \
        sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected)

static void a_job_below_one_leaf_stays_there(void **state)
{
    (void)state;
    const uint32_t servers[] = { 2, 3 };
    check(leaves, servers, 2,
          LINKS({ "server 2 out", 100 }, { "server 2 in", 100 }, { "server 3 out", 100 },
                { "server 3 in", 100 }));
    check(leaves, servers, 1, NULL, 0);
}

/* Two machines of the job on one server, one on another: what they send leaves the first twice. On one server alone it goes to the
 * leaf and back. */
static void machines_of_a_server_share_its_link(void **state)
{
    (void)state;
    struct fabric_net net;
    struct link_use uses[64];
    const uint32_t servers[] = { 2, 3 };
    const double twice[] = { 2, 1 };
    struct fabric_job job = sends;
    job.crossings = twice;
    assert_true(fabric_net_init(&net, &leaves, &plain, 80));
    assert_int_equal(fabric_net_uses(&net, servers, 2, &job, uses), 4);
    CHECK_NEAR(used(uses, 4, &net, "server 2 out"), 200, 1e-12);
    CHECK_NEAR(used(uses, 4, &net, "server 3 in"), 100, 1e-12);
    assert_true(uses[0].flows == 16 && uses[3].flows == 8);
    assert_int_equal(fabric_net_uses(&net, servers, 1, &job, uses), 2);
    CHECK_NEAR(used(uses, 2, &net, "server 2 in"), 200, 1e-12);
    fabric_net_clear(&net);
}

/* NVLink domains of two servers, one below each leaf: each server sends half of what its domain sends, so that the leaf is left by
 * twice as much. Of domains of two and one the lone server sends all by itself: 100 is the mean over three of 150 + 150. */
static void domains_leave_a_leaf_with_all_they_send(void **state)
{
    (void)state;
    struct fabric_net net;
    struct link_use uses[64];
    const uint32_t servers[] = { 0, 1, 2, 3 };
    const double even[] = { 1, 1, 1, 1 }, uneven[] = { 0.75, 0.75, 1.5 };
    struct fabric_job job = sends;
    job.crossings = even;
    job.island_servers = 2;
    assert_true(fabric_net_init(&net, &leaves, &plain, 80));
    uint32_t count = fabric_net_uses(&net, servers, 4, &job, uses);
    CHECK_NEAR(used(uses, count, &net, "server 3 out"), 100, 1e-12);
    CHECK_NEAR(used(uses, count, &net, "leaf 0 out"), 200, 1e-12);
    CHECK_NEAR(used(uses, count, &net, "leaf 1 in"), 200, 1e-12);
    job.crossings = uneven;
    job.island_servers = 1.5;
    count = fabric_net_uses(&net, servers, 3, &job, uses);
    CHECK_NEAR(used(uses, count, &net, "server 1 out"), 75, 1e-12);
    CHECK_NEAR(used(uses, count, &net, "server 2 out"), 150, 1e-12);
    CHECK_NEAR(used(uses, count, &net, "leaf 0 in"), 150, 1e-12);
    CHECK_NEAR(used(uses, count, &net, "leaf 1 out"), 150, 1e-12);
    fabric_net_clear(&net);
}

/* The ring leaves a leaf once, whatever of it it holds. */
static void a_job_over_leaves_loads_their_uplinks_once(void **state)
{
    (void)state;
    const uint32_t servers[] = { 0, 1, 2 };
    check(leaves, servers, 3,
          LINKS({ "server 0 out", 100 }, { "server 0 in", 100 }, { "server 1 out", 100 },
                { "server 1 in", 100 }, { "server 2 out", 100 }, { "server 2 in", 100 },
                { "leaf 0 out", 100 }, { "leaf 0 in", 100 }, { "leaf 1 out", 100 },
                { "leaf 1 in", 100 }));
}

static void pods_are_left_once(void **state)
{
    (void)state;
    const uint32_t within[] = { 0, 2 }, across[] = { 2, 4 };
    check(pods(), within, 2,
          LINKS({ "server 0 out", 100 }, { "server 0 in", 100 }, { "server 2 out", 100 },
                { "server 2 in", 100 }, { "leaf 0 out", 100 }, { "leaf 0 in", 100 },
                { "leaf 1 out", 100 }, { "leaf 1 in", 100 }));
    check(pods(), across, 2,
          LINKS({ "server 2 out", 100 }, { "server 2 in", 100 }, { "server 4 out", 100 },
                { "server 4 in", 100 }, { "leaf 1 out", 100 }, { "leaf 1 in", 100 },
                { "leaf 2 out", 100 }, { "leaf 2 in", 100 }, { "pod 0 out", 100 },
                { "pod 0 in", 100 }, { "pod 1 out", 100 }, { "pod 1 in", 100 }));
}

static void groups_are_joined_in_a_ring(void **state)
{
    (void)state;
    const uint32_t three[] = { 0, 2, 4 }, two[] = { 1, 4 };
    check(groups(), three, 3,
          LINKS({ "server 0 out", 100 }, { "server 0 in", 100 }, { "server 2 out", 100 },
                { "server 2 in", 100 }, { "server 4 out", 100 }, { "server 4 in", 100 },
                { "leaf 0 out", 100 }, { "leaf 0 in", 100 }, { "leaf 1 out", 100 },
                { "leaf 1 in", 100 }, { "leaf 2 out", 100 }, { "leaf 2 in", 100 },
                { "group 0 to 1", 100 }, { "group 1 to 2", 100 }, { "group 2 to 0", 100 }));
    check(groups(), two, 2,
          LINKS({ "server 1 out", 100 }, { "server 1 in", 100 }, { "server 4 out", 100 },
                { "server 4 in", 100 }, { "leaf 0 out", 100 }, { "leaf 0 in", 100 },
                { "leaf 2 out", 100 }, { "leaf 2 in", 100 }, { "group 0 to 2", 100 },
                { "group 2 to 0", 100 }));
}

/* Of the link with this name; all names are different. */
static double capacity(const struct fabric_net *net, const char *name)
{
    double found = 0;
    for (uint32_t link = 0; link < net->links; link++) {
        char text[LINK_NAME_BYTES];
        fabric_net_name(net, link, text);
        if (strcmp(text, name) != 0) continue;
        assert_true(found == 0);
        found = fabric_net_capacity(net, link);
    }
    return found;
}

static void capacities_are_those_of_their_cables(void **state)
{
    (void)state;
    struct fabric_shape shape = pods();
    shape.rails = 2; /* a leaf each in every unit */
    shape.leaves = 8;
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &plain, 80));
    assert_int_equal(net.links, 2 * (8 + 8 + 2));
    CHECK_NEAR(capacity(&net, "server 7 in"), 80, 1e-12);
    CHECK_NEAR(capacity(&net, "leaf 0 out"), 4 * 10, 1e-12);
    CHECK_NEAR(capacity(&net, "leaf 7 in"), 4 * 10, 1e-12);
    CHECK_NEAR(capacity(&net, "pod 1 in"), 2 * 3 * 10, 1e-12);
    fabric_net_clear(&net);
    shape = groups();
    assert_true(fabric_net_init_nics(&net, &shape, &plain, 80, NULL, true));
    assert_int_equal(net.links, 2 * (6 * 8 + 3) + 9);
    CHECK_NEAR(capacity(&net, "server 5 NIC 7 in"), 10, 1e-12);
    CHECK_NEAR(capacity(&net, "leaf 2 in"), 4 * 10, 1e-12);
    CHECK_NEAR(capacity(&net, "group 0 to 1"), 5 * 10, 1e-12);
    fabric_net_clear(&net);
}

/* Two GPUs a NIC, four NICs, rails 0 and 1 by turns. A job has GPUs 0 and 1, both behind NIC 0, of server 0; GPU 4, behind NIC
 * 2, of server 1; GPUs 2 and 5, behind NICs 1 and 2, of servers 2 and 4. Unit 0, of servers 0 and 1, has leaves 0 and 1. */
static void nics_and_rails_in_use(void **state)
{
    (void)state;
    struct fabric_shape shape = leaves;
    shape.kind = FABRIC_RAIL;
    shape.nics_per_server = 4;
    shape.rails = 2;
    shape.leaves = 6;
    struct server_tree tree;
    struct nic_map map;
    tree_plain(&tree, 8, 4, 2, 4);
    nic_map_init(&map, &tree, 8, 4);
    const uint32_t servers[] = { 0, 1, 2, 4 }, masks[] = { 0x03, 0x10, 0x24, 0x24 };
    const struct fabric_job job = { .bytes = 100, .nics = 1, .masks = masks };
    const struct expected want[] = {
        { "server 0 NIC 0 out", 100 }, { "server 0 NIC 0 in", 100 }, { "server 1 NIC 2 out", 100 },
        { "server 1 NIC 2 in", 100 },  { "server 2 NIC 1 out", 50 }, { "server 2 NIC 1 in", 50 },
        { "server 2 NIC 2 out", 50 },  { "server 2 NIC 2 in", 50 },  { "server 4 NIC 1 out", 50 },
        { "server 4 NIC 1 in", 50 },   { "server 4 NIC 2 out", 50 }, { "server 4 NIC 2 in", 50 },
        { "leaf 0 out", 100 },         { "leaf 0 in", 100 },         { "leaf 2 out", 50 },
        { "leaf 2 in", 50 },           { "leaf 3 out", 50 },         { "leaf 3 in", 50 },
        { "leaf 4 out", 50 },          { "leaf 4 in", 50 },          { "leaf 5 out", 50 },
        { "leaf 5 in", 50 },
    };
    struct fabric_net net;
    assert_true(fabric_net_init_nics(&net, &shape, &plain, 80, &map, true));
    struct link_use uses[64];
    const uint32_t most = fabric_net_most_uses(&net, 4);
    assert_true(most <= 64);
    const uint32_t got = fabric_net_uses(&net, servers, 4, &job, uses);
    assert_int_equal(got, sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_NEAR(used(uses, got, &net, want[i].name), want[i].bytes, 1e-12);
    for (uint32_t i = 0; i < got; i++)
        assert_true(uses[i].flows == 1); /* each on one NIC of a server, or one a rail */
    char name[LINK_NAME_BYTES];
    fabric_net_name(&net, fabric_net_nic(&net, 3, 2), name);
    assert_string_equal(name, "server 3 NIC 2 out");
    fabric_net_clear(&net);
}

/* ---- routing --------------------------------------------------------------------------------- */

enum { DRAWS = 4000 };

static struct fabric routed(enum routing routing, uint32_t queue_pairs)
{
    return (struct fabric){ .routing = routing, .queue_pairs = queue_pairs };
}

/* Eight flows of two servers over eight cables: the fullest holds 2.59723 of them on average (MODELS 4.5), and every flow is
 * somewhere: each way the job's bytes leave the one leaf and enter the other over cables of the same numbers. */
static void sampled_flows_meet_as_often_as_they_should(void **state)
{
    (void)state;
    struct fabric_shape shape = leaves;
    shape.uplinks_per_leaf = 8;
    const struct fabric fabric = routed(ROUTING_SAMPLED, 1);
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    CHECK_NEAR(fabric_net_capacity(&net, net.first_unit), 10, 1e-12);
    const uint32_t servers[] = { 1, 2 };
    double sum = 0, sum2 = 0;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        const struct fabric_job job = {
            .bytes = 100, .nics = 8, .key = 7, .serial = draw / 4, .epoch = draw % 4
        };
        struct link_use uses[64];
        assert_true(fabric_net_most_uses(&net, 2) <= 64);
        const uint32_t count = fabric_net_uses(&net, servers, 2, &job, uses);
        double most = 0, bytes[2][2] = { { 0 } };
        for (uint32_t i = 4; i < count; i++) { /* behind the servers */
            const uint32_t row = uses[i].link - net.first_unit, unit = row / 2 / net.cables;
            assert_true(unit < 2);
            CHECK_NEAR(uses[i].bytes, uses[i].flows * 100 / 8, 1e-12);
            bytes[unit][row % 2] += uses[i].bytes;
            if (unit == 0 && row % 2 == 0 && uses[i].flows > most) most = uses[i].flows;
            if (row % 2) continue;
            CHECK_NEAR(uses[i + 1].bytes, uses[i].bytes, 1e-12);
            assert_int_equal(uses[i + 1].link % (2 * net.cables),
                             (uses[i].link + 1) % (2 * net.cables));
        }
        for (int i = 0; i < 4; i++) CHECK_NEAR(bytes[i / 2][i % 2], 100, 1e-12);
        sum += most;
        sum2 += most * most;
    }
    const double mean = sum / DRAWS, error = sqrt((sum2 / DRAWS - mean * mean) / DRAWS);
    CHECK(fabs(mean - 2.59723) < 4 * error, "%g +- %g, want 2.59723", mean, error);
    fabric_net_clear(&net);
}

/* A job that starts again is hashed again; the same placement of the same job never is. */
static void luck_belongs_to_a_placement(void **state)
{
    (void)state;
    struct fabric_shape shape = leaves;
    shape.uplinks_per_leaf = 64;
    const struct fabric fabric = routed(ROUTING_SAMPLED, 4);
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    const uint32_t servers[] = { 1, 2 };
    static struct link_use uses[3][512];
    uint32_t count[3];
    assert_true(fabric_net_most_uses(&net, 2) <= 512);
    for (int i = 0; i < 3; i++) {
        const struct fabric_job job = {
            .bytes = 100, .nics = 8, .key = 7, .serial = 5, .epoch = i == 2
        };
        count[i] = fabric_net_uses(&net, servers, 2, &job, uses[i]);
    }
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(uses[0], uses[1], count[0] * sizeof uses[0][0]);
    assert_true(count[2] != count[0] || memcmp(uses[0], uses[2], count[0] * sizeof uses[0][0]));
    fabric_net_clear(&net);
}

/* NICs of one rail only meet on the cables of that rail's leaf: one cable a rail, one NIC a rail, nothing meets. */
static void rails_do_not_meet(void **state)
{
    (void)state;
    struct fabric_shape shape = leaves;
    shape.kind = FABRIC_RAIL;
    shape.rails = 8;
    shape.uplinks_per_leaf = 1;
    const struct fabric fabric = routed(ROUTING_SAMPLED, 1);
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    const uint32_t servers[] = { 1, 2 };
    struct link_use uses[64];
    const uint32_t count = fabric_net_uses(&net, servers, 2, &sends, uses);
    assert_int_equal(count, 4 + 4 * 8);
    for (uint32_t i = 4; i < count; i++) CHECK_NEAR(uses[i].bytes, 100 / 8.0, 1e-12);
    fabric_net_clear(&net);
}

/* MODELS 4.5: two servers of four NICs on 8 cables up make 8 flows on 8 cables, 38.5 % efficient; adaptive 95 %. A job
 * that sends four flows over one cable waits for all of them, wherever it goes. */
static void means_are_those_of_the_model(void **state)
{
    (void)state;
    struct fabric_shape shape = leaves;
    shape.nics_per_server = 4;
    shape.uplinks_per_leaf = 8;
    struct fabric fabric = routed(ROUTING_EXPECTED, 1);
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    CHECK_NEAR(fabric_net_capacity(&net, net.first_unit), 0.385025 * 80, 1e-5);
    fabric_net_clear(&net);
    const uint32_t servers[] = { 0, 1, 2 };
    const struct fabric_job job = { .bytes = 100, .nics = 4 };
    double routed_s;
    shape.uplinks_per_leaf = 1;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    assert_true(fabric_net_routed_s(&net, servers, 3, &job, 0, &routed_s));
    CHECK_NEAR(routed_s, 100 / 10.0, 1e-12);
    assert_true(fabric_net_routed_s(&net, servers, 3, &job, 17, &routed_s) && routed_s == 17);
    assert_true(fabric_net_routed_s(&net, servers, 2, &job, 0, &routed_s) && routed_s == 0);
    fabric_net_clear(&net);
    fabric = routed(ROUTING_ADAPTIVE, 1);
    shape.uplinks_per_leaf = 16;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    CHECK_NEAR(fabric_net_capacity(&net, net.first_unit), 0.95 * 160, 1e-12);
    assert_true(fabric_net_routed_s(&net, servers, 3, &job, 0, &routed_s) && routed_s == 0);
    fabric_net_clear(&net);
}

/* By draws: a ring over all the leaves waits for the fullest cable of all rails of all of them, and at least for what its
 * servers take by themselves. */
static const struct {
    const char *name;
    uint32_t units, rails, nics, cables, queue_pairs;
    double wire_s; /* in flows alone on a cable */
} rings[] = {
    { "2 leaves, 4 flows", 2, 1, 4, 16, 1, 0 },
    { "32 leaves, 8 flows", 32, 1, 8, 32, 1, 0 },
    { "128 leaves, 8 flows", 128, 1, 8, 32, 1, 2.3 },
    { "8 rails", 16, 8, 8, 4, 4, 0 },
    { "3 NICs on 2 rails", 8, 2, 3, 4, 2, 0 },
    { "often no worse than the servers", 4, 1, 8, 32, 1, 2.75 },
};

static void expected_is_the_mean_of_sampled(void **state)
{
    const uint64_t row = rows_number(state);
    const uint32_t units = rings[row].units, rails = rings[row].rails, nics = rings[row].nics;
    const uint32_t cables = rings[row].cables, pairs = rings[row].queue_pairs;
    struct fabric_shape shape = leaves;
    shape.servers = 2 * units;
    shape.units = units;
    shape.leaves = units * rails;
    shape.rails = rails;
    shape.nics_per_server = rails * ((nics + rails - 1) / rails);
    shape.uplinks_per_leaf = cables;
    const struct fabric fabric = routed(ROUTING_EXPECTED, pairs);
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, &fabric, 80));
    uint32_t servers[256], on[8 * 32];
    for (uint32_t u = 0; u < units; u++) servers[u] = 2 * u + u % 2;
    const double flow_s = 100.0 / (nics * pairs) / 10;
    double sum = 0, sum2 = 0, routed_s;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        double most = rings[row].wire_s;
        for (uint32_t u = 0; u < units; u++) {
            memset(on, 0, sizeof on);
            for (uint32_t f = 0; f < nics * pairs; f++) {
                const uint32_t rail = f / pairs % rails;
                const double any_cable = any(draw + 1, u * nics * pairs + f);
                const uint32_t cable = rail * cables + (uint32_t)(any_cable * cables);
                if (++on[cable] > most) most = on[cable];
            }
        }
        sum += most;
        sum2 += most * most;
    }
    const double mean = sum / DRAWS, error = sqrt((sum2 / DRAWS - mean * mean) / DRAWS);
    const struct fabric_job job = { .bytes = 100, .nics = nics };
    const double wire_s = rings[row].wire_s * flow_s;
    assert_true(fabric_net_routed_s(&net, servers, units, &job, wire_s, &routed_s));
    CHECK(fabs(routed_s / flow_s - mean) < 4 * error, "%g, want %g +- %g", routed_s / flow_s, mean,
          error);
    fabric_net_clear(&net);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, sampled_flows_meet_as_often_as_they_should, NULL, "sampled");
    rows_add(&rows, luck_belongs_to_a_placement, NULL, "luck");
    rows_add(&rows, nics_and_rails_in_use, NULL, "NICs and rails in use");
    rows_add(&rows, rails_do_not_meet, NULL, "rails");
    for (uintptr_t row = 0; row < sizeof rings / sizeof *rings; row++)
        rows_add(&rows, expected_is_the_mean_of_sampled, (void *)row, "%s", rings[row].name);
    rows_add(&rows, means_are_those_of_the_model, NULL, "expected and adaptive");
    rows_add(&rows, a_job_below_one_leaf_stays_there, NULL, "below one leaf");
    rows_add(&rows, domains_leave_a_leaf_with_all_they_send, NULL, "domains over leaves");
    rows_add(&rows, machines_of_a_server_share_its_link, NULL, "machines of one server");
    rows_add(&rows, a_job_over_leaves_loads_their_uplinks_once, NULL, "over leaves");
    rows_add(&rows, pods_are_left_once, NULL, "pods");
    rows_add(&rows, groups_are_joined_in_a_ring, NULL, "groups");
    rows_add(&rows, capacities_are_those_of_their_cables, NULL, "capacities");
    return rows_run("fabric", &rows);
}
