/* test_place.c - policy/place: where a job goes is where a scan over all nodes puts it, and it finds a
 * place exactly when the fit by counts says there is one. */
#include "policy/place.h"

#include "tests/naive_place.h"
#include "tests/near.h"
#include "tests/rows.h"

static const struct {
    uint32_t nodes, gpus, leaf;
} shapes[] = {
    { 32, 8, 32 }, { 48, 4, 8 }, { 37, 8, 5 }, { 60, 2, 7 }, { 64, 1, 16 }, { 24, 8, 1 }
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A node of any fill; some wholly free, some full, some out. */
static int any_fill(uint64_t seed, uint64_t draw, uint32_t gpus)
{
    const double u = any(seed, draw);
    if (u < 0.05) return FREE_OUT;
    if (u < 0.40) return (int)gpus;
    if (u < 0.60) return 0;
    return (int)any_count(seed, draw + 1, 0, gpus);
}

/* Makes the cluster's nodes as full as the naive ones: one claim a node. */
static void fill(struct cluster *cluster, const struct naive_cluster *naive)
{
    static const struct demand no_host = { 0 };
    for (uint32_t node = 0; node < naive->nodes; node++) {
        if (naive->free_gpus[node] < 0) {
            cluster_node_out(cluster, node);
            continue;
        }
        const struct part part = { .node = node,
                                   .gpus =
                                       naive->gpus_per_node - (uint32_t)naive->free_gpus[node] };
        if (part.gpus) assert_true(cluster_claim(cluster, 0, &part, 1, &no_host) != GRANT_NONE);
    }
}

static void same_place(const struct cluster *cluster, const struct naive_cluster *naive,
                       uint32_t gpus, bool free_shape, uint32_t slack, bool pack)
{
    const struct request request = { .gpus = gpus, .shape = free_shape ? SHAPE_FREE : SHAPE_MODEL };
    const struct demand demand =
        demand_of(&request, naive->gpus_per_node, naive->nodes, 1024, UINT64_MAX / 2, slack);
    const struct naive_shape shape = naive_shape(naive, gpus, free_shape, slack);
    assert_int_equal(demand.ever, shape.nodes <= naive->nodes);
    if (!demand.ever) return;
    assert_int_equal(demand.nodes, shape.nodes);
    assert_int_equal(demand.per_node, shape.per_node);
    assert_int_equal(demand.nodes_max, shape.most_nodes);
    struct part parts[NAIVE_NODES];
    struct naive_part want[NAIVE_NODES];
    const uint32_t count = place_find(cluster, &demand, pack ? PLACE_PACK : PLACE_SPREAD, parts);
    const uint32_t want_count = naive_place(naive, &shape, pack, want);
    assert_int_equal(count, want_count);
    assert_int_equal(demand_fits(&demand, cluster->index.with_free, naive->gpus_per_node),
                     want_count > 0);
    for (uint32_t p = 0; p < count; p++) {
        assert_int_equal(parts[p].node, want[p].node);
        assert_int_equal(parts[p].gpus, want[p].gpus);
    }
}

static void like_a_scan(void **state)
{
    const uint64_t seed = rows_number(state), s = seed % SHAPES;
    struct arena *arena = arena_create(1u << 24);
    struct cluster cluster;
    const struct cluster_size size = { .nodes = shapes[s].nodes,
                                       .gpus_per_node = shapes[s].gpus,
                                       .nodes_per_leaf = shapes[s].leaf };
    struct naive_cluster naive = { shapes[s].nodes, shapes[s].gpus, shapes[s].leaf, { 0 } };
    for (uint32_t node = 0; node < naive.nodes; node++)
        naive.free_gpus[node] = any_fill(seed, 2 * node, naive.gpus_per_node);
    assert_true(cluster_init(&cluster, arena, size));
    fill(&cluster, &naive);
    for (uint64_t i = 0; i < 60; i++) {
        const uint32_t most = any(seed, 1000 + 4 * i) < 0.5 ? naive.gpus_per_node : 90;
        const uint32_t gpus = any_count(seed, 1001 + 4 * i, 1, most);
        const double u = any(seed, 1002 + 4 * i);
        const uint32_t slack = u < 0.4 ? 0 : u < 0.6 ? 1 : u < 0.8 ? 3 : SLACK_ANY;
        same_place(&cluster, &naive, gpus, any(seed, 1003 + 4 * i) < 0.4, slack, i % 2);
    }
    cluster_clear(&cluster);
    arena_destroy(arena);
}

/* ---- by hand ---------------------------------------------------------------------------------- */

/* Four nodes of 8 with 8, 3, 5 and 8 free; leaves of two. */
static const struct {
    const char *name;
    uint32_t gpus, slack, recorded_nodes; /* 0: shape model */
    enum placement placement;
    uint32_t count;
    struct naive_part parts[4];
} cases[] = {
    /* clang-format off */
    { "3 GPUs, pack: the node with exactly 3",      3, 0, 0, PLACE_PACK,   1, { { 1, 3 } } },
    { "4 GPUs, pack: the node with 5",              4, 0, 0, PLACE_PACK,   1, { { 2, 4 } } },
    { "4 GPUs, spread: the first empty node",       4, 0, 0, PLACE_SPREAD, 1, { { 0, 4 } } },
    { "8 GPUs: the first whole node",               8, 0, 0, PLACE_PACK,   1, { { 0, 8 } } },
    { "9 GPUs: two whole servers",                  9, 0, 0, PLACE_PACK,   2, { { 0, 8 }, { 3, 8 } } },
    { "17 GPUs: three whole servers are not there", 17, 0, 0, PLACE_PACK,  0, { { 0, 0 } } },
    { "17 GPUs, slack 1: the emptiest, the rest where it fits best",
      17, 1, 0, PLACE_PACK, 3, { { 0, 8 }, { 3, 8 }, { 1, 1 } } },
    { "24 GPUs, slack any: all that is free",
      24, SLACK_ANY, 0, PLACE_PACK, 4, { { 0, 8 }, { 3, 8 }, { 2, 5 }, { 1, 3 } } },
    { "25 GPUs: more than is free", 25, SLACK_ANY, 0, PLACE_PACK, 0, { { 0, 0 } } },
    { "9 GPUs as recorded on 4 nodes: 3 + 2 + 2 + 2",
      9, 0, 4, PLACE_PACK, 4, { { 0, 3 }, { 3, 2 }, { 2, 2 }, { 1, 2 } } },
    { "5 GPUs as recorded on 4 nodes: 2 + 1 + 1 + 1",
      5, 0, 4, PLACE_PACK, 4, { { 0, 2 }, { 3, 1 }, { 2, 1 }, { 1, 1 } } },
    { "7 GPUs as recorded on 3 nodes, the last part where it fits best",
      7, 0, 3, PLACE_PACK, 3, { { 0, 3 }, { 3, 2 }, { 1, 2 } } },
    /* clang-format on */
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    struct arena *arena = arena_create(1u << 20);
    struct cluster cluster;
    const struct naive_cluster naive = { 4, 8, 2, { 8, 3, 5, 8 } };
    assert_true(
        cluster_init(&cluster, arena,
                     (struct cluster_size){ .nodes = 4, .gpus_per_node = 8, .nodes_per_leaf = 2 }));
    fill(&cluster, &naive);
    const struct request request = { .gpus = cases[c].gpus,
                                     .nodes = cases[c].recorded_nodes,
                                     .shape =
                                         cases[c].recorded_nodes ? SHAPE_RECORDED : SHAPE_MODEL };
    const struct demand demand = demand_of(&request, 8, 4, 128, UINT64_C(1) << 40, cases[c].slack);
    struct part parts[4];
    assert_int_equal(place_find(&cluster, &demand, cases[c].placement, parts), cases[c].count);
    for (uint32_t p = 0; p < cases[c].count; p++) {
        assert_int_equal(parts[p].node, cases[c].parts[p].node);
        assert_int_equal(parts[p].gpus, cases[c].parts[p].gpus);
    }
    cluster_clear(&cluster);
    arena_destroy(arena);
}

/* Cores and memory keep a job off a node whose GPUs would do. */
static void hosts_count(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1u << 20);
    struct cluster cluster;
    const struct cluster_size size = { .nodes = 3,
                                       .gpus_per_node = 4,
                                       .nodes_per_leaf = 3,
                                       .cores_per_node = 10,
                                       .memory_bytes_per_node = 1000,
                                       .hosted = true };
    assert_true(cluster_init(&cluster, arena, size));
    const struct request greedy = { .gpus = 1, .cores = 9, .shape = SHAPE_MODEL };
    const struct request wide = {
        .gpus = 2, .cores = 4, .memory_bytes = 600, .shape = SHAPE_MODEL
    };
    const struct request never = { .gpus = 1, .cores = 11, .shape = SHAPE_MODEL };
    const struct demand one = demand_of(&greedy, 4, 3, 10, 1000, 0);
    const struct demand two = demand_of(&wide, 4, 3, 10, 1000, 0);
    assert_false(demand_of(&never, 4, 3, 10, 1000, 0).ever);
    struct part part;
    assert_int_equal(place_find(&cluster, &one, PLACE_PACK, &part), 1);
    assert_int_equal(part.node, 0);
    assert_true(cluster_claim(&cluster, 0, &part, 1, &one) != GRANT_NONE);
    /* Node 0 has 3 GPUs free, but one core: pack goes to node 1, then 2, then nowhere. */
    for (uint32_t node = 1; node < 3; node++) {
        assert_int_equal(place_find(&cluster, &two, PLACE_PACK, &part), 1);
        assert_int_equal(part.node, node);
        assert_true(cluster_claim(&cluster, node, &part, 1, &two) != GRANT_NONE);
    }
    assert_true(demand_fits(&two, cluster.index.with_free, 4)); /* by shape it would fit */
    assert_int_equal(place_find(&cluster, &two, PLACE_PACK, &part), 0);
    cluster_clear(&cluster);
    arena_destroy(arena);
}

/* With cores and memory taken at random, a place is found exactly when enough nodes have both, and
 * it is on such nodes. */
static void hosts_like_a_scan(void **state)
{
    const uint64_t seed = rows_number(state), s = seed % SHAPES;
    struct arena *arena = arena_create(1u << 24);
    struct cluster cluster;
    const uint32_t g = shapes[s].gpus, nodes = shapes[s].nodes;
    const struct cluster_size size = { .nodes = nodes,
                                       .gpus_per_node = g,
                                       .nodes_per_leaf = shapes[s].leaf,
                                       .cores_per_node = 64,
                                       .memory_bytes_per_node = 1000,
                                       .hosted = true };
    assert_true(cluster_init(&cluster, arena, size));
    for (uint64_t i = 0; i < nodes; i++) { /* some take few GPUs and much of the host */
        const struct part part = { .node = any_count(seed, 9 * i, 0, nodes - 1),
                                   .gpus = any_count(seed, 9 * i + 1, 1, g) };
        const struct request request = { .gpus = part.gpus,
                                         .shape = SHAPE_MODEL,
                                         .cores = any_count(seed, 9 * i + 2, 0, 64),
                                         .memory_bytes = any_count(seed, 9 * i + 3, 0, 1000) };
        const struct demand demand = demand_of(&request, g, nodes, 64, 1000, 0);
        if (!demand.ever || cluster_node_free(&cluster, part.node) < (int)part.gpus ||
            part.gpus * demand.cores_milli_per_gpu > cluster.cores_milli_free[part.node] ||
            part.gpus * demand.memory_bytes_per_gpu > cluster.memory_free[part.node])
            continue;
        assert_true(cluster_claim(&cluster, 0, &part, 1, &demand) != GRANT_NONE);
    }
    for (uint64_t i = 0; i < 60; i++) {
        const struct request request = { .gpus = any_count(seed, 5000 + 4 * i, 1, 3 * g),
                                         .cores = any_count(seed, 5001 + 4 * i, 0, 96),
                                         .memory_bytes = any_count(seed, 5002 + 4 * i, 0, 2000),
                                         .shape = SHAPE_MODEL };
        const struct demand demand = demand_of(&request, g, nodes, 64, 1000, 0);
        if (!demand.ever) continue;
        uint32_t good = 0;
        bool is_good[NAIVE_NODES];
        for (uint32_t node = 0; node < nodes; node++) {
            is_good[node] =
                cluster_node_free(&cluster, node) >= (int)demand.per_node &&
                demand.per_node * demand.cores_milli_per_gpu <= cluster.cores_milli_free[node] &&
                demand.per_node * demand.memory_bytes_per_gpu <= cluster.memory_free[node];
            good += is_good[node];
        }
        struct part parts[NAIVE_NODES];
        const uint32_t count =
            place_find(&cluster, &demand, i % 2 ? PLACE_PACK : PLACE_SPREAD, parts);
        assert_int_equal(count, good >= demand.nodes ? demand.nodes : 0);
        for (uint32_t p = 0; p < count; p++) {
            assert_true(is_good[parts[p].node]);
            is_good[parts[p].node] = false; /* no node twice */
            assert_int_equal(parts[p].gpus, demand.per_node);
        }
    }
    cluster_clear(&cluster);
    arena_destroy(arena);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    rows_add(&rows, hosts_count, NULL, "cores and memory keep a job away");
    for (uintptr_t seed = 1; seed <= 600; seed++)
        rows_add(&rows, like_a_scan, (void *)seed, "60 places like a scan, seed %u",
                 (unsigned)seed);
    for (uintptr_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, hosts_like_a_scan, (void *)seed, "60 places by cores and memory, seed %u",
                 (unsigned)seed);
    return rows_run("place", &rows);
}
