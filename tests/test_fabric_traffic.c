/* test_fabric_traffic.c - links of jobs whose traffic has parts: by hand, against a plain ring, and over hashed cables. */
#include "tests/near.h"
#include "tests/rows.h"

#include "network/fabric.h"

#include <stdio.h>
#include <string.h>

/* Twelve servers of 8 GPUs and NICs, three on a leaf with 4 cables up of 10 B/s; in pods of two leaves; or groups of two leaves. */
static struct fabric_shape shape_of(enum fabric_kind kind)
{
    return (struct fabric_shape){ .kind = kind,
                                  .servers = 12,
                                  .nics_per_server = 8,
                                  .rails = 1,
                                  .servers_per_leaf = 3,
                                  .units = 4,
                                  .leaves = 4,
                                  .uplinks_per_leaf = 4,
                                  .units_per_pod = kind == FABRIC_TWO_TIER ? 4 : 2,
                                  .pods = kind == FABRIC_TWO_TIER ? 1 : 2,
                                  .spines = 4,
                                  .uplinks_per_spine = 3,
                                  .global_links = kind == FABRIC_DRAGONFLY ? 5 : 0,
                                  .trunk_bytes_per_s = 10 };
}

enum { USES = 512 };

struct counted {
    struct fabric_net net;
    struct link_use uses[USES];
    uint32_t count;
};

static void count_uses(struct counted *at, const struct fabric_shape *shape, enum routing routing,
                       const uint32_t *servers, uint32_t count, const struct fabric_job *job)
{
    const struct fabric fabric = { .routing = routing, .queue_pairs = 1 };
    assert_true(fabric_net_init(&at->net, shape, &fabric, 80));
    assert_true(fabric_net_most_uses(&at->net, count) <= USES);
    at->count = fabric_net_uses(&at->net, servers, count, job, at->uses);
}

static double used(const struct counted *at, const char *name)
{
    double bytes = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        char text[LINK_NAME_BYTES];
        fabric_net_name(&at->net, at->uses[i].link, text);
        if (!strcmp(text, name)) bytes += at->uses[i].bytes;
    }
    return bytes;
}

struct expected {
    const char *name;
    double bytes;
};

static void check(enum fabric_kind kind, const uint32_t *servers, uint32_t count,
                  const struct traffic_part *parts, uint32_t part_count,
                  const struct expected *want, uint32_t want_count)
{
    const struct fabric_shape shape = shape_of(kind);
    const struct fabric_job job = {
        .nics = 8, .parts = parts, .part_count = part_count, .gpus = 8 * count, .domains = count
    };
    static struct counted at;
    count_uses(&at, &shape, ROUTING_EVEN, servers, count, &job);
    double all = 0;
    for (uint32_t p = 0; p < part_count; p++) all += parts[p].bytes;
    for (uint32_t i = 0; i < want_count; i++) {
        CHECK(fabs(used(&at, want[i].name) - want[i].bytes) < 1e-9, "%s: %g, want %g", want[i].name,
              used(&at, want[i].name), want[i].bytes);
    }
    for (uint32_t i = 0; i < at.count; i++)
        CHECK_NEAR(at.uses[i].flows, 8 * at.uses[i].bytes / all, 1e-12);
    fabric_net_clear(&at.net);
}

#define LINKS(...)                                                                                 \
    (const struct expected[]){ __VA_ARGS__ },                                                      \
        sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected)

static const uint32_t six[] = { 0, 1, 2, 3, 4, 6 }; /* three on leaf 0, two on leaf 1, one on 2 */

/* 100 bytes of each of six to five others, 20 each: 3 x 3 pairs leave leaf 0, 2 x 4 leaf 1, 1 x 5 leaf 2; five leave pod 0. */
static void all_to_all_by_hand(void **state)
{
    (void)state;
    const struct traffic_part all = { TRAFFIC_ALL_TO_ALL, 48, 1, 0, 100 };
    check(FABRIC_TWO_TIER, six, 6, &all, 1,
          LINKS({ "server 4 out", 100 }, { "server 4 in", 100 }, { "leaf 0 out", 180 },
                { "leaf 0 in", 180 }, { "leaf 1 out", 160 }, { "leaf 2 out", 100 },
                { "leaf 3 out", 0 }, { "server 5 out", 0 }));
    check(FABRIC_THREE_TIER, six, 6, &all, 1,
          LINKS({ "pod 0 out", 100 }, { "pod 0 in", 100 }, { "pod 1 out", 100 },
                { "leaf 0 out", 180 }));
    check(FABRIC_DRAGONFLY, six, 6, &all, 1,
          LINKS({ "group 0 to 1", 100 }, { "group 1 to 0", 100 }, { "leaf 0 in", 180 }));
    const struct traffic_part halves = { TRAFFIC_ALL_TO_ALL, 24, 1, 0, 100 };
    check(FABRIC_TWO_TIER, six, 6, &halves, 1,
          LINKS({ "server 4 out", 100 }, { "leaf 0 out", 0 }, { "leaf 1 out", 100 },
                { "leaf 2 in", 100 }));
}

/* Two stages of three servers: 0 to 3, 1 to 4, 2 to 6 and back, half a middle stage's bytes each; beside them rings of gradients
 * in each stage, of which the second one is over leaves 1 and 2. */
static void stages_by_hand(void **state)
{
    (void)state;
    const struct traffic_part parts[] = { { TRAFFIC_STAGES, 2, 24, 0, 100 },
                                          { TRAFFIC_RING, 3, 8, 0, 7 } };
    check(FABRIC_THREE_TIER, six, 6, parts, 2,
          LINKS({ "server 0 out", 57 }, { "server 6 in", 57 }, { "leaf 0 out", 150 },
                { "leaf 0 in", 150 }, { "leaf 1 out", 107 }, { "leaf 2 in", 57 },
                { "pod 0 out", 57 }, { "pod 1 out", 57 }));
    check(FABRIC_DRAGONFLY, six, 6, parts, 2,
          LINKS({ "group 0 to 1", 57 }, { "group 1 to 0", 57 }));
}

/* Four domains of two servers, on leaves of three: the ring goes from each server to the one two further. */
static void domains_by_hand(void **state)
{
    (void)state;
    const uint32_t eight[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const struct traffic_part ring = { TRAFFIC_RING, 64, 1, 0, 100 };
    const struct fabric_shape shape = shape_of(FABRIC_TWO_TIER);
    const struct fabric_job job = {
        .nics = 8, .parts = &ring, .part_count = 1, .gpus = 64, .domains = 4
    };
    static struct counted at;
    count_uses(&at, &shape, ROUTING_EVEN, eight, 8, &job);
    CHECK_NEAR(used(&at, "leaf 0 out"), 200, 1e-12);
    CHECK_NEAR(used(&at, "leaf 2 out"), 200, 1e-12);
    CHECK_NEAR(used(&at, "server 7 in"), 100, 1e-12);
    fabric_net_clear(&at.net);
}

/* A part that is one ring over all is what a job without parts is. */
static void one_ring_is_a_plain_job(void **state)
{
    const uint64_t seed = rows_number(state);
    const struct fabric_shape shape = shape_of(
        (enum fabric_kind[]){ FABRIC_TWO_TIER, FABRIC_THREE_TIER, FABRIC_DRAGONFLY }[seed % 3]);
    uint32_t servers[12], count = 0;
    for (uint32_t s = 0; s < 12; s++)
        if (any(seed, s) < 0.6) servers[count++] = s;
    if (count < 2) return;
    const struct traffic_part ring = { TRAFFIC_RING, 8 * count, 1, 0, 100 };
    const struct fabric_job plain = { .bytes = 100, .nics = 8 };
    struct fabric_job parts = plain;
    parts.parts = &ring;
    parts.part_count = 1;
    parts.gpus = 8 * count;
    parts.domains = count;
    static struct counted a, b;
    count_uses(&a, &shape, ROUTING_EVEN, servers, count, &plain);
    count_uses(&b, &shape, ROUTING_EVEN, servers, count, &parts);
    assert_int_equal(a.count, b.count);
    for (uint32_t i = 0; i < a.count; i++) {
        char text[LINK_NAME_BYTES];
        fabric_net_name(&a.net, a.uses[i].link, text);
        CHECK_NEAR(used(&b, text), a.uses[i].bytes, 1e-12);
    }
    double plain_s, parts_s;
    a.net.routing = b.net.routing = ROUTING_EXPECTED;
    assert_true(fabric_net_routed_s(&a.net, servers, count, &plain, 0, &plain_s));
    assert_true(fabric_net_routed_s(&b.net, servers, count, &parts, 0, &parts_s));
    CHECK_NEAR(parts_s, plain_s, 1e-12);
    fabric_net_clear(&a.net);
    fabric_net_clear(&b.net);
}

/* Hashed flows are somewhere: all cables of a leaf together have the bytes that the leaf has evenly, and the parts one after the
 * other take on average what `expected` says. */
static void hashes_lose_nothing(void **state)
{
    static const struct traffic_part plans[][2] = {
        { { TRAFFIC_ALL_TO_ALL, 96, 1, 0, 100 }, { TRAFFIC_RING, 96, 1, 0, 60 } },
        { { TRAFFIC_STAGES, 2, 48, 0, 100 }, { TRAFFIC_ALL_TO_ALL, 32, 1, 0, 40 } },
    };
    const struct traffic_part *parts = plans[rows_number(state)];
    enum { DRAWS = 400, CABLES = 16 };
    struct fabric_shape shape = shape_of(FABRIC_TWO_TIER);
    shape.uplinks_per_leaf = CABLES;
    uint32_t servers[12];
    for (uint32_t s = 0; s < 12; s++) servers[s] = s;
    struct fabric_job job = {
        .nics = 8, .key = 3, .parts = parts, .part_count = 2, .gpus = 96, .domains = 12
    };
    static struct counted even, drawn;
    count_uses(&even, &shape, ROUTING_EVEN, servers, 12, &job);
    double sum = 0, sum2 = 0;
    for (job.serial = 0; job.serial < DRAWS; job.serial++) {
        count_uses(&drawn, &shape, ROUTING_SAMPLED, servers, 12, &job);
        double leaf[4][2] = { { 0 } }, routed_s;
        for (uint32_t i = 0; i < drawn.count; i++) {
            if (drawn.uses[i].link < drawn.net.first_unit) continue;
            const uint32_t row = drawn.uses[i].link - drawn.net.first_unit;
            leaf[row / 2 / CABLES][row % 2] += drawn.uses[i].bytes;
        }
        for (uint32_t row = 0; row < 8; row++) {
            char text[LINK_NAME_BYTES];
            snprintf(text, sizeof text, "leaf %u %s", row / 2, row % 2 ? "in" : "out");
            CHECK_NEAR(leaf[row / 2][row % 2], used(&even, text), 1e-9);
        }
        assert_true(fabric_net_routed_s(&drawn.net, servers, 12, &job, 0, &routed_s));
        sum += routed_s;
        sum2 += routed_s * routed_s;
        fabric_net_clear(&drawn.net);
    }
    const double mean = sum / DRAWS, error = sqrt((sum2 / DRAWS - mean * mean) / DRAWS);
    double expected_s;
    even.net.routing = ROUTING_EXPECTED;
    assert_true(fabric_net_routed_s(&even.net, servers, 12, &job, 0, &expected_s));
    CHECK(fabs(mean - expected_s) < 4 * error, "%g +- %g, want %g", mean, error, expected_s);
    fabric_net_clear(&even.net);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, all_to_all_by_hand, NULL, "all-to-all");
    rows_add(&rows, stages_by_hand, NULL, "stages");
    rows_add(&rows, domains_by_hand, NULL, "domains");
    for (uintptr_t seed = 1; seed <= 60; seed++)
        rows_add(&rows, one_ring_is_a_plain_job, (void *)seed, "ring, seed %u", (unsigned)seed);
    rows_add(&rows, hashes_lose_nothing, (void *)0, "hashes, all-to-all and a ring");
    rows_add(&rows, hashes_lose_nothing, (void *)1, "hashes, stages and all-to-all");
    return rows_run("fabric_traffic", &rows);
}
