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
        char text[32];
        fabric_net_name(net, uses[i].link, text);
        if (!strcmp(text, name)) bytes += uses[i].bytes;
    }
    return bytes;
}

struct expected {
    const char *name;
    double bytes;
};

/* All bytes of the job are on the links that are named. */
static void check(struct fabric_shape shape, const uint32_t *servers, uint32_t count,
                  const struct expected *want, uint32_t want_count)
{
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, 80));
    struct link_use uses[64];
    assert_true(fabric_net_most_uses(&net, count) <= 64);
    for (int again = 0; again < 2; again++) { /* nothing is left behind by the first call */
        const uint32_t got = fabric_net_uses(&net, servers, count, 100, 8, uses);
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

static void capacities_are_those_of_their_cables(void **state)
{
    (void)state;
    struct fabric_shape shape = pods();
    shape.rails = 2; /* of both rails together */
    shape.leaves = 8;
    struct fabric_net net;
    assert_true(fabric_net_init(&net, &shape, 80));
    CHECK_NEAR(fabric_net_capacity(&net, 0), 80, 1e-12);
    CHECK_NEAR(fabric_net_capacity(&net, net.first_unit), 2 * 4 * 10, 1e-12);
    CHECK_NEAR(fabric_net_capacity(&net, net.first_pod), 2 * 3 * 10, 1e-12);
    fabric_net_clear(&net);
    shape = groups();
    assert_true(fabric_net_init(&net, &shape, 80));
    CHECK_NEAR(fabric_net_capacity(&net, net.first_group + 1), 5 * 10, 1e-12);
    fabric_net_clear(&net);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, a_job_below_one_leaf_stays_there, NULL, "below one leaf");
    rows_add(&rows, a_job_over_leaves_loads_their_uplinks_once, NULL, "over leaves");
    rows_add(&rows, pods_are_left_once, NULL, "pods");
    rows_add(&rows, groups_are_joined_in_a_ring, NULL, "groups");
    rows_add(&rows, capacities_are_those_of_their_cables, NULL, "capacities");
    return rows_run("fabric", &rows);
}
