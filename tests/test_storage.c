/* test_storage.c - what reading and writing puts on the links of a small network and its storage, by hand. */
#include "tests/near.h"
#include "tests/rows.h"

#include "network/storage.h"

#include <math.h>
#include <string.h>

/* Eight servers of two NICs, two on a leaf with 4 cables up, leaves in pods of two. */
static const struct fabric_shape shape = { .kind = FABRIC_THREE_TIER,
                                           .servers = 8,
                                           .nics_per_server = 2,
                                           .rails = 1,
                                           .servers_per_leaf = 2,
                                           .units = 4,
                                           .leaves = 4,
                                           .uplinks_per_leaf = 4,
                                           .units_per_pod = 2,
                                           .pods = 2,
                                           .spines = 4,
                                           .uplinks_per_spine = 3,
                                           .trunk_bytes_per_s = 10 };

struct expected {
    const char *name;
    double bytes, flows;
};

/* A job on servers 0, 1 and 5 reads or writes 90 bytes: 30 of each server, on its two NICs. */
static void check(enum routing routing, double server, enum storage_way way,
                  const struct expected *want, uint32_t want_count)
{
    const struct fabric cables = { .routing = routing, .queue_pairs = 1 };
    const struct storage limits = { 70, 0, server };
    static const uint32_t servers[] = { 0, 1, 5 };
    struct fabric_net net;
    struct storage_links links;
    struct link_use uses[64];
    assert_true(fabric_net_init(&net, &shape, &cables, 20));
    storage_links_init(&links, &limits, &net);
    const uint32_t count = storage_links_uses(&links, way, 90, servers, 3, uses);
    assert_int_equal(count, want_count);
    assert_true(count <= storage_links_most_uses(&links, 3));
    for (uint32_t i = 0; i < count; i++) {
        char text[LINK_NAME_BYTES];
        if (uses[i].link < net.links)
            fabric_net_name(&net, uses[i].link, text);
        else
            storage_links_name(&links, uses[i].link, text);
        assert_string_equal(text, want[i].name);
        CHECK_NEAR(uses[i].bytes, want[i].bytes, 1e-12);
        CHECK_NEAR(uses[i].flows, want[i].flows, 1e-12);
    }
    assert_true(storage_links_capacity(&links, links.first) == 70);
    assert_true(storage_links_capacity(&links, links.first + 1) == INFINITY);
    if (server > 0) assert_true(storage_links_capacity(&links, links.links - 1) == server);
    fabric_net_clear(&net);
}

#define CHECK_USES(routing, server, way, want)                                                     \
    check(routing, server, way, want, sizeof(want) / sizeof *(want))

static void over_the_nics(void **state)
{
    (void)state;
    static const struct expected read[] = {
        { "storage read", 90, 6 }, { "server 0 in", 30, 2 }, { "server 1 in", 30, 2 },
        { "server 5 in", 30, 2 },  { "leaf 0 in", 60, 4 },   { "leaf 2 in", 30, 2 },
        { "pod 0 in", 60, 4 },     { "pod 1 in", 30, 2 },
    };
    static const struct expected written[] = {
        { "storage write", 90, 6 }, { "server 0 out", 30, 2 }, { "server 1 out", 30, 2 },
        { "server 5 out", 30, 2 },  { "leaf 0 out", 60, 4 },   { "leaf 2 out", 30, 2 },
        { "pod 0 out", 60, 4 },     { "pod 1 out", 30, 2 },
    };
    CHECK_USES(ROUTING_EVEN, 0, STORAGE_READ, read);
    CHECK_USES(ROUTING_EVEN, 0, STORAGE_WRITE, written);
}

/* Cables that are links by themselves carry a quarter each. */
static void over_cables(void **state)
{
    (void)state;
    static const struct expected read[] = {
        { "storage read", 90, 6 },
        { "server 0 in", 30, 2 },
        { "server 1 in", 30, 2 },
        { "server 5 in", 30, 2 },
        { "leaf 0 cable 0 in", 15, 1 },
        { "leaf 0 cable 1 in", 15, 1 },
        { "leaf 0 cable 2 in", 15, 1 },
        { "leaf 0 cable 3 in", 15, 1 },
        { "leaf 2 cable 0 in", 7.5, 0.5 },
        { "leaf 2 cable 1 in", 7.5, 0.5 },
        { "leaf 2 cable 2 in", 7.5, 0.5 },
        { "leaf 2 cable 3 in", 7.5, 0.5 },
        { "pod 0 in", 60, 4 },
        { "pod 1 in", 30, 2 },
    };
    CHECK_USES(ROUTING_SAMPLED, 0, STORAGE_READ, read);
}

static void over_links_of_its_own(void **state)
{
    (void)state;
    static const struct expected read[] = { { "storage read", 90, 3 },
                                            { "server 0 from storage", 30, 1 },
                                            { "server 1 from storage", 30, 1 },
                                            { "server 5 from storage", 30, 1 } };
    static const struct expected written[] = { { "storage write", 90, 3 },
                                               { "server 0 to storage", 30, 1 },
                                               { "server 1 to storage", 30, 1 },
                                               { "server 5 to storage", 30, 1 } };
    CHECK_USES(ROUTING_EVEN, 25, STORAGE_READ, read);
    CHECK_USES(ROUTING_EVEN, 25, STORAGE_WRITE, written);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, over_the_nics, NULL, "NICs and uplinks");
    rows_add(&rows, over_cables, NULL, "cables");
    rows_add(&rows, over_links_of_its_own, NULL, "links of its own");
    return rows_run("storage", &rows);
}
