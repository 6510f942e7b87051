/* test_causes.c - ledger/causes: why free GPUs are free, by hand and by the sum. */
#include "ledger/causes.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

enum { NODES = 6, GPUS = 4, CLASSES_MAX = 4, JOBS_MAX = 40 };

struct queued {
    uint32_t gpus, jobs;
};

struct state_of_nodes {
    int free_gpus[NODES];             /* FREE_OUT: the node takes no jobs      */
    struct queued queue[CLASSES_MAX]; /* classes of waiting jobs               */
    uint32_t slack;
    uint32_t blocked; /* bit per class: no host for it         */
};

static struct causes causes_in(const struct state_of_nodes *state, uint64_t *free_gpus)
{
    static const struct demand no_host = { 0 };
    struct arena *arena = arena_create(1u << 24);
    struct cluster cluster;
    struct live_table live;
    struct waiting waiting;
    assert_true(cluster_init(
        &cluster, arena,
        (struct cluster_size){ .nodes = NODES, .gpus_per_node = GPUS, .nodes_per_leaf = NODES }));
    for (uint32_t node = 0; node < NODES; node++) {
        if (state->free_gpus[node] < 0) {
            cluster_node_out(&cluster, node);
            continue;
        }
        const struct part part = { .node = node, .gpus = GPUS - (uint32_t)state->free_gpus[node] };
        if (part.gpus) assert_true(cluster_claim(&cluster, 0, &part, 1, &no_host) != GRANT_NONE);
    }
    assert_true(live_init(&live, 64) && waiting_init(&waiting, CLASSES_MAX, &live));
    struct demand demands[CLASSES_MAX];
    uint64_t blocked_at[CLASSES_MAX] = { 0 };
    uint32_t serial = 0;
    for (uint32_t c = 0; c < CLASSES_MAX; c++) {
        const struct request request = { .gpus = state->queue[c].gpus ? state->queue[c].gpus : 1,
                                         .shape = SHAPE_MODEL };
        demands[c] = demand_of(&request, GPUS, NODES, 0, 0, state->slack);
        if (state->blocked >> c & 1) blocked_at[c] = cluster.releases + 1;
        for (uint32_t j = 0; j < state->queue[c].jobs; j++) {
            const uint32_t row = live_take(&live);
            live.jobs[row].serial = serial++;
            live.jobs[row].request_class = c;
            assert_true(waiting_add(&waiting, row, request.gpus, INT64_MAX));
        }
    }
    const struct causes causes = causes_of(&cluster, &waiting, demands, blocked_at);
    *free_gpus = cluster.index.free_gpus;
    waiting_clear(&waiting);
    live_clear(&live);
    cluster_clear(&cluster);
    arena_destroy(arena);
    return causes;
}

static const struct {
    const char *name;
    struct state_of_nodes state;
    uint32_t no_demand, withheld, starved, fragmented, is_short;
} cases[] = {
    /* clang-format off */
    { "nobody waits",                       { { 4, 4, 0, 0, 0, 0 }, { { 0, 0 } }, 0, 0 },      8, 0, 0, 0, 0 },
    { "a pair that fits is withheld",       { { 4, 4, 0, 0, 0, 0 }, { { 2, 1 } }, 0, 0 },      6, 2, 0, 0, 0 },
    { "a job larger than all that is free", { { 4, 4, 0, 0, 0, 0 }, { { 12, 1 } }, 0, 0 },     0, 0, 0, 0, 8 },
    { "four GPUs on two nodes",             { { 3, 3, 0, 0, 0, 0 }, { { 4, 1 } }, 0, 0 },      2, 0, 0, 4, 0 },
    { "the same with slack fits",           { { 3, 3, 0, 0, 0, 0 }, { { 4, 1 } }, 1, 0 },      2, 4, 0, 0, 0 },
    { "two whole servers are not there",    { { 4, 2, 1, 0, 0, 0 }, { { 6, 1 } }, 0, 0 },      1, 0, 0, 6, 0 },
    { "pairs take what they can, the rest is short for the large one",
                                            { { 4, 3, 0, 0, 0, 0 }, { { 8, 1 }, { 2, 5 } }, 0, 0 }, 0, 6, 0, 0, 1 },
    { "no cores left",                      { { 4, 3, 0, 0, 0, 0 }, { { 1, 3 } }, 0, 1 },      4, 0, 3, 0, 0 },
    { "fitting jobs before starved ones, starved before fragmented",
                                            { { 3, 3, 2, 0, 0, 0 }, { { 1, 2 }, { 2, 1 }, { 4, 9 } }, 0, 2 }, 0, 2, 2, 4, 0 },
    { "all short",                          { { 4, 2, 1, 0, 0, 0 }, { { 8, 3 } }, 0, 0 },      0, 0, 0, 0, 7 },
    { "nodes that take no jobs do not count", { { 4, FREE_OUT, FREE_OUT, 1, 0, 0 }, { { 5, 1 } }, 0, 0 }, 0, 0, 0, 5, 0 },
    { "nothing free",                       { { 0, 0, 0, 0, 0, 0 }, { { 1, 5 } }, 0, 0 },      0, 0, 0, 0, 0 },
    /* clang-format on */
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    uint64_t free_gpus;
    const struct causes causes = causes_in(&cases[c].state, &free_gpus);
    assert_int_equal(causes.units[ACC_NO_DEMAND], cases[c].no_demand * CLUSTER_UNITS);
    assert_int_equal(causes.units[ACC_WITHHELD], cases[c].withheld * CLUSTER_UNITS);
    assert_int_equal(causes.units[ACC_STARVED], cases[c].starved * CLUSTER_UNITS);
    assert_int_equal(causes.units[ACC_FRAGMENTED], cases[c].fragmented * CLUSTER_UNITS);
    assert_int_equal(causes.units[ACC_SHORT], cases[c].is_short * CLUSTER_UNITS);
}

static void sums_to_the_free(void **state)
{
    const uint64_t seed = rows_number(state);
    struct state_of_nodes drawn = { .slack = any(seed, 0) < 0.7 ? 0 : SLACK_ANY,
                                    .blocked = any(seed, 1) < 0.7 ? 0 : any_count(seed, 2, 0, 15) };
    bool waits = false;
    for (uint64_t node = 0; node < NODES; node++)
        drawn.free_gpus[node] = (int)any_count(seed, 10 + node, 0, GPUS + 1) - 1;
    for (uint64_t c = 0; c < CLASSES_MAX; c++) {
        drawn.queue[c] =
            (struct queued){ any_count(seed, 20 + c, 1, 12), any_count(seed, 30 + c, 0, 3) };
        waits |= drawn.queue[c].jobs > 0;
    }
    uint64_t free_gpus, sum = 0;
    const struct causes causes = causes_in(&drawn, &free_gpus);
    for (int account = ACC_NO_DEMAND; account < ACC_FREE_END; account++) {
        assert_true(causes.units[account] <= free_gpus * (uint64_t)CLUSTER_UNITS);
        sum += causes.units[account];
    }
    assert_int_equal(sum, free_gpus * (uint64_t)CLUSTER_UNITS);
    if (!waits) assert_int_equal(causes.units[ACC_NO_DEMAND], free_gpus * (uint64_t)CLUSTER_UNITS);
    if (!drawn.blocked) assert_int_equal(causes.units[ACC_STARVED], 0);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    for (uintptr_t seed = 1; seed <= 300; seed++)
        rows_add(&rows, sums_to_the_free, (void *)seed, "causes sum to the free GPUs, seed %u",
                 (unsigned)seed);
    return rows_run("causes", &rows);
}
