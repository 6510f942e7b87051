/* test_plan_fabric.c - campaign/plan_fabric and spec/fabric: counts by hand (MODELS 1.5), routes, what cannot be wired. */
#include "campaign/plan_fabric.h"

#include "models/hardware.h"
#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

static struct fabric fabric_of(enum fabric_kind kind, uint32_t nics, uint32_t radix, double over)
{
    return (struct fabric){ .kind = kind,
                            .link = { .switch_ports = radix, .bytes_per_s = 48.5e9 },
                            .nics_per_server = nics,
                            .nics_per_gpu = 1,
                            .oversubscription = over };
}

/* Worked by hand; R ports a switch, 1 NIC a server where nothing else is said.
 *   256 and 1,536 ports: the rows of MODELS 1.5. 65,536 ports on three tiers: the same.
 *   100 on three tiers, R = 16, 8 down: 13 leaves, 2 pods of 8, 13 spines, 7 cores, 104 + 104 trunks.
 *   the same 3:1: 4 up, 12 down, 9 leaves, 36 trunks to ceil(36/8) = 5 spines, 40 to ceil(40/16) = 3 cores.
 *   rails, 1,024 servers of 8: 8 times (32 leaves + 16 spines); 60 servers: 8 switches, no trunk.
 *   two rails for 8 NICs, 32 servers: 128 ports a rail, 4 leaves of 8 servers, 128 trunks, 2 spines a rail.
 *   dragonfly+, R = 16: 128 servers, 8 down: 16 leaves in 4 groups of 4; 32 trunks to 4 spines with 32 global ports;
 *     10 links to each of 3 groups: 128 + 6 * 10 trunks.
 *   24 NICs on 64 ports: 32 down hold one server of 24, so that 24 of 32 ports down are used: 24/32. */
static const struct wiring {
    const char *name;
    enum fabric_kind kind;
    uint32_t servers, nics, radix;
    double over;
    uint32_t rails, groups, global_links;
    struct fabric_shape
        want; /* only the counts of it                                                */
} wirings[] = {
    { "one switch",
      FABRIC_TWO_TIER,
      24,
      1,
      64,
      1,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 24,
        .leaves = 1,
        .pods = 1,
        .switches = 1,
        .oversubscription = 1 } },
    { "two tiers of 256 ports",
      FABRIC_TWO_TIER,
      256,
      1,
      64,
      1,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 32,
        .leaves = 8,
        .uplinks_per_leaf = 32,
        .pods = 1,
        .spines = 4,
        .switches = 12,
        .trunks = 256,
        .oversubscription = 1 } },
    { "two tiers 3:1",
      FABRIC_TWO_TIER,
      192,
      8,
      64,
      3,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 6,
        .leaves = 32,
        .uplinks_per_leaf = 16,
        .pods = 1,
        .spines = 8,
        .switches = 40,
        .trunks = 512,
        .oversubscription = 3 } },
    { "servers that leave ports unused",
      FABRIC_TWO_TIER,
      4,
      24,
      64,
      1,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 1,
        .leaves = 4,
        .uplinks_per_leaf = 32,
        .pods = 1,
        .spines = 2,
        .switches = 6,
        .trunks = 128,
        .oversubscription = 0.75 } },
    { "three tiers of 65,536 ports",
      FABRIC_THREE_TIER,
      65536,
      1,
      64,
      1,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 32,
        .leaves = 2048,
        .uplinks_per_leaf = 32,
        .pods = 64,
        .spines = 2048,
        .uplinks_per_spine = 32,
        .cores = 1024,
        .switches = 5120,
        .trunks = 131072,
        .oversubscription = 1 } },
    { "three tiers of 100 ports",
      FABRIC_THREE_TIER,
      100,
      1,
      16,
      1,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 8,
        .leaves = 13,
        .uplinks_per_leaf = 8,
        .pods = 2,
        .spines = 13,
        .uplinks_per_spine = 8,
        .cores = 7,
        .switches = 33,
        .trunks = 208,
        .oversubscription = 1 } },
    { "three tiers 3:1",
      FABRIC_THREE_TIER,
      100,
      1,
      16,
      3,
      0,
      0,
      0,
      { .rails = 1,
        .servers_per_leaf = 12,
        .leaves = 9,
        .uplinks_per_leaf = 4,
        .pods = 2,
        .spines = 5,
        .uplinks_per_spine = 8,
        .cores = 3,
        .switches = 17,
        .trunks = 76,
        .oversubscription = 3 } },
    { "rails of two tiers",
      FABRIC_RAIL,
      1024,
      8,
      64,
      1,
      0,
      0,
      0,
      { .rails = 8,
        .servers_per_leaf = 32,
        .leaves = 256,
        .uplinks_per_leaf = 32,
        .pods = 1,
        .spines = 128,
        .switches = 384,
        .trunks = 8192,
        .oversubscription = 1 } },
    { "rails of one switch",
      FABRIC_RAIL_ONLY,
      60,
      8,
      64,
      1,
      0,
      0,
      0,
      { .rails = 8,
        .servers_per_leaf = 60,
        .leaves = 8,
        .pods = 1,
        .switches = 8,
        .oversubscription = 1 } },
    { "two rails of four NICs",
      FABRIC_RAIL,
      32,
      8,
      64,
      1,
      2,
      0,
      0,
      { .rails = 2,
        .servers_per_leaf = 8,
        .leaves = 8,
        .uplinks_per_leaf = 32,
        .pods = 1,
        .spines = 4,
        .switches = 12,
        .trunks = 256,
        .oversubscription = 1 } },
    { "a dragonfly",
      FABRIC_DRAGONFLY,
      128,
      1,
      16,
      1,
      0,
      4,
      0,
      { .rails = 1,
        .servers_per_leaf = 8,
        .leaves = 16,
        .uplinks_per_leaf = 8,
        .pods = 4,
        .spines = 16,
        .uplinks_per_spine = 8,
        .global_links = 10,
        .switches = 32,
        .trunks = 188,
        .oversubscription = 1 } },
    { "a dragonfly of few links",
      FABRIC_DRAGONFLY,
      128,
      1,
      16,
      1,
      0,
      0,
      2,
      { .rails = 1,
        .servers_per_leaf = 8,
        .leaves = 16,
        .uplinks_per_leaf = 8,
        .pods = 2,
        .spines = 16,
        .uplinks_per_spine = 1,
        .global_links = 2,
        .switches = 32,
        .trunks = 130,
        .oversubscription = 1 } },
};

static void is_wired(void **state)
{
    const struct wiring *row = *state;
    struct fabric fabric = fabric_of(row->kind, row->nics, row->radix, row->over);
    fabric.rails = row->rails;
    fabric.groups = row->groups;
    fabric.global_links = row->global_links;
    struct fabric_shape shape = { 0 };
    struct fabric_problem problem = { .text = "" };
    CHECK(plan_fabric(&fabric, row->servers, &shape, &problem), "%s", problem.text);
    const struct fabric_shape *want = &row->want;
    assert_int_equal(shape.rails, want->rails);
    assert_int_equal(shape.servers_per_leaf, want->servers_per_leaf);
    assert_int_equal(shape.leaves, want->leaves);
    assert_int_equal(shape.uplinks_per_leaf, want->uplinks_per_leaf);
    assert_int_equal(shape.pods, want->pods);
    assert_int_equal(shape.spines, want->spines);
    assert_int_equal(shape.uplinks_per_spine, want->uplinks_per_spine);
    assert_int_equal(shape.cores, want->cores);
    assert_int_equal(shape.global_links, want->global_links);
    assert_int_equal(shape.switches, want->switches);
    assert_int_equal(shape.trunks, want->trunks);
    CHECK_NEAR(shape.oversubscription, want->oversubscription, 1e-12);
}

/* With one NIC a server the counts are those of the closed forms. */
static void as_the_closed_forms(void **state)
{
    const uint64_t seed = rows_number(state);
    const uint32_t radix = 2 * (4 + (uint32_t)(seed * 7 % 61));
    const uint32_t servers = 1 + (uint32_t)(seed * 7919 % (radix * radix / 2));
    struct fabric_shape shape = { 0 };
    struct fabric_problem problem;
    const struct fabric two = fabric_of(FABRIC_TWO_TIER, 1, radix, 1);
    assert_true(plan_fabric(&two, servers, &shape, &problem));
    const struct two_tier tiers = two_tier(servers, radix, 1);
    assert_true(shape.leaves == tiers.leaves && shape.spines == tiers.spines &&
                shape.switches == tiers.switches && shape.trunks == tiers.trunks);
    const struct fabric rail = fabric_of(FABRIC_RAIL, 4, radix, 1);
    assert_true(plan_fabric(&rail, servers, &shape, &problem));
    const struct rail_fabric rails = rail_fabric(servers, 4, radix);
    assert_true(shape.switches == rails.switches && shape.trunks == rails.trunks);
    if (servers <= radix) return;
    const struct fabric three = fabric_of(FABRIC_THREE_TIER, 1, radix, 1);
    assert_true(plan_fabric(&three, servers, &shape, &problem));
    const struct three_tier tree = three_tier(servers, radix);
    assert_true(shape.leaves == tree.leaves && shape.spines == tree.aggregations &&
                shape.cores == tree.cores && shape.trunks == tree.trunks);
}

/* The largest of each kind, and one server more. */
static const struct {
    const char *name;
    enum fabric_kind kind;
    uint32_t radix, most;
    enum fabric_key key;
    const char *says;
} limits[] = {
    { "two tiers: R^2/2", FABRIC_TWO_TIER, 16, 128, FABRIC_KEY_TYPE, "need 17 leaves" },
    { "three tiers: R^3/4", FABRIC_THREE_TIER, 16, 1024, FABRIC_KEY_TYPE, "need 17 pods" },
    { "rails: R^2/2 servers", FABRIC_RAIL_ONLY, 16, 128, FABRIC_KEY_TYPE, "need 17 leaves a rail" },
    /* 65 groups of 8 leaves: 64 global ports, one link to each of 64 groups; 8 servers a leaf */
    { "dragonfly+: R^2/4 + 1 groups", FABRIC_DRAGONFLY, 16, 65 * 64, FABRIC_KEY_GROUPS,
      "1 links to each of 65 other groups need 65 ports, and the 8 spines of a group have 64" },
};

static void the_largest(void **state)
{
    const uint64_t i = rows_number(state);
    const struct fabric fabric = fabric_of(limits[i].kind, 1, limits[i].radix, 1);
    struct fabric_shape shape = { 0 };
    struct fabric_problem problem;
    assert_true(plan_fabric(&fabric, limits[i].most, &shape, &problem));
    assert_false(plan_fabric(&fabric, limits[i].most + 1, &shape, &problem));
    assert_int_equal(shape.servers, limits[i].most); /* untouched */
    assert_int_equal(problem.key, limits[i].key);
    CHECK(strstr(problem.text, limits[i].says), "'%s' lacks '%s'", problem.text, limits[i].says);
}

static const struct refusal {
    const char *name;
    struct fabric fabric;
    uint32_t servers;
    enum fabric_key key;
    const char *says;
} refusals[] = {
    { "an odd radix",
      { .kind = FABRIC_THREE_TIER,
        .link = { .switch_ports = 15 },
        .nics_per_server = 1,
        .oversubscription = 1 },
      100,
      FABRIC_KEY_LINK,
      "even number of ports, got 15" },
    { "rails that do not divide",
      { .kind = FABRIC_RAIL,
        .link = { .switch_ports = 16 },
        .nics_per_server = 8,
        .oversubscription = 1,
        .rails = 3 },
      4,
      FABRIC_KEY_RAILS,
      "8 NICs of a server cannot be shared by 3 rails" },
    { "more rails than NICs",
      { .kind = FABRIC_RAIL,
        .link = { .switch_ports = 16 },
        .nics_per_server = 4,
        .oversubscription = 1,
        .rails = 8 },
      4,
      FABRIC_KEY_RAILS,
      "4 NICs of a server cannot be shared by 8 rails" },
    { "too few groups",
      { .kind = FABRIC_DRAGONFLY,
        .link = { .switch_ports = 16 },
        .nics_per_server = 1,
        .oversubscription = 1,
        .groups = 2 },
      200,
      FABRIC_KEY_GROUPS,
      "25 leaves in 2 groups are 13 a group, and a spine has 8 of its 16 ports for them: at least "
      "4 groups" },
    { "more groups than leaves",
      { .kind = FABRIC_DRAGONFLY,
        .link = { .switch_ports = 16 },
        .nics_per_server = 1,
        .oversubscription = 1,
        .groups = 9 },
      40,
      FABRIC_KEY_GROUPS,
      "5 leaves cannot fill 9 equal groups: 5 of 1 are enough" },
    { "more links than ports",
      { .kind = FABRIC_DRAGONFLY,
        .link = { .switch_ports = 16 },
        .nics_per_server = 1,
        .oversubscription = 1,
        .groups = 4,
        .global_links = 11 },
      128,
      FABRIC_KEY_GLOBAL_LINKS,
      "11 links to each of 3 other groups need 33 ports, and the 4 spines of a group have 32" },
};

static void is_refused(void **state)
{
    const struct refusal *row = *state;
    struct fabric_shape shape;
    struct fabric_problem problem;
    assert_false(plan_fabric(&row->fabric, row->servers, &shape, &problem));
    assert_int_equal(problem.key, row->key);
    CHECK(strstr(problem.text, row->says), "'%s' lacks '%s'", problem.text, row->says);
}

/* Switches on a route by the closed forms of MODELS 1.5, for NIC 0 and 3 of any two servers. */
static void routes(void **state)
{
    const enum fabric_kind kind = (enum fabric_kind)rows_number(state);
    const bool rails = kind == FABRIC_RAIL || kind == FABRIC_RAIL_ONLY;
    const struct fabric fabric = fabric_of(kind, 4, 16, 1);
    struct fabric_shape shape;
    struct fabric_problem problem;
    assert_true(plan_fabric(&fabric, rails ? 60 : 30, &shape, &problem));
    const enum topology topology = kind == FABRIC_THREE_TIER  ? TOPOLOGY_THREE_TIER
                                   : kind == FABRIC_DRAGONFLY ? TOPOLOGY_DRAGONFLY_PLUS
                                                              : TOPOLOGY_TWO_TIER;
    for (uint32_t a = 0; a < shape.servers; a++)
        for (uint32_t b = 0; b < shape.servers; b++)
            for (uint32_t nic = 0; nic < 4; nic += 3) {
                const uint32_t from = fabric_leaf(&shape, a, 0), to = fabric_leaf(&shape, b, nic);
                const uint32_t unit_a = a / shape.servers_per_leaf,
                               unit_b = b / shape.servers_per_leaf;
                assert_true(from < shape.leaves && to < shape.leaves);
                uint32_t want = hop_count(topology, unit_a, unit_b, shape.units_per_pod);
                if (rails) want = rail_hops(0, nic, unit_a, unit_b, false).switches;
                if (kind == FABRIC_RAIL_ONLY && nic != 0) want = 0;
                assert_int_equal(fabric_hops(&shape, from, to), want);
            }
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof wirings / sizeof *wirings; i++)
        rows_add(&rows, is_wired, &wirings[i], "wired: %s", wirings[i].name);
    for (uintptr_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, as_the_closed_forms, (void *)seed, "as the closed forms, seed %lu",
                 (unsigned long)seed);
    for (uintptr_t i = 0; i < sizeof limits / sizeof *limits; i++)
        rows_add(&rows, the_largest, (void *)i, "the largest, and one more: %s", limits[i].name);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        rows_add(&rows, is_refused, &refusals[i], "refused: %s", refusals[i].name);
    for (uintptr_t kind = 0; kind < FABRIC_KINDS; kind++)
        rows_add(&rows, routes, (void *)kind, "routes of %s", fabric_kind_names[kind]);
    return rows_run("plan_fabric", &rows);
}
