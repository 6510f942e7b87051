/* test_request.c - cluster/request: classes of a trace, and what a request means on a layout. */
#include "cluster/request.h"

#include "tests/near.h"
#include "tests/rows.h"

/* What jobs of DESIGN 3 mean on nodes of g GPUs, worked by hand. */
static const struct {
    const char *name;
    struct request request;
    uint32_t g, nodes, slack;
    uint32_t want_nodes, want_per_node, want_held, want_nodes_max;
    bool want_ever;
} cases[] = {
    { "one GPU on eights", { .gpus = 1 }, 8, 10, 0, 1, 1, 1, 1, true },
    { "six fit one server", { .gpus = 6 }, 8, 10, 0, 1, 6, 6, 1, true },
    { "eight are one server", { .gpus = 8 }, 8, 10, 0, 1, 8, 8, 1, true },
    { "twelve take two whole servers", { .gpus = 12 }, 8, 10, 0, 2, 8, 16, 2, true },
    { "twelve on fours are exact", { .gpus = 12 }, 4, 20, 0, 3, 4, 12, 3, true },
    { "twelve on ones", { .gpus = 12 }, 1, 80, 0, 12, 1, 12, 12, true },
    { "twelve, slack 1", { .gpus = 12 }, 8, 10, 1, 2, 8, 16, 3, true },
    { "three, slack 5: no more nodes than GPUs", { .gpus = 3 }, 8, 10, 5, 1, 3, 3, 3, true },
    { "twelve, slack any, few nodes", { .gpus = 12 }, 8, 5, SLACK_ANY, 2, 8, 16, 5, true },
    { "twelve of any GPUs", { .gpus = 12, .shape = SHAPE_FREE }, 8, 10, 0, 2, 8, 12, 10, true },
    { "as recorded, 3 nodes",
      { .gpus = 12, .nodes = 3, .shape = SHAPE_RECORDED },
      8,
      10,
      4,
      3,
      4,
      12,
      3,
      true },
    { "as recorded, uneven",
      { .gpus = 11, .nodes = 3, .shape = SHAPE_RECORDED },
      8,
      10,
      0,
      3,
      4,
      11,
      3,
      true },
    { "as recorded, too wide for a node",
      { .gpus = 12, .nodes = 1, .shape = SHAPE_RECORDED },
      8,
      10,
      0,
      1,
      12,
      12,
      1,
      false },
    { "more than the layout has", { .gpus = 81 }, 8, 10, SLACK_ANY, 11, 8, 88, 11, false },
    { "all of it", { .gpus = 80 }, 8, 10, 0, 10, 8, 80, 10, true },
    { "cores of a whole server", { .gpus = 8, .cores = 64 }, 8, 10, 0, 1, 8, 8, 1, true },
    { "a core too many", { .gpus = 8, .cores = 65 }, 8, 10, 0, 1, 8, 8, 1, false },
    { "a byte too many", { .gpus = 1, .memory_bytes = 1001 }, 8, 10, 0, 1, 1, 1, 1, false },
};

static void means(void **state)
{
    const uint64_t c = rows_number(state);
    struct request request = cases[c].request;
    const struct demand demand =
        demand_of(&request, cases[c].g, cases[c].nodes, 64, 1000, cases[c].slack);
    assert_int_equal(demand.ever, cases[c].want_ever);
    assert_int_equal(demand.gpus, request.gpus);
    assert_int_equal(demand.nodes, cases[c].want_nodes);
    assert_int_equal(demand.per_node, cases[c].want_per_node);
    assert_int_equal(demand.held, cases[c].want_held);
    assert_int_equal(demand.nodes_max, cases[c].want_nodes_max);
}

/* Rows of equal requests share a class; classes stand in order of first appearance. */
static void classes_of_a_trace(void **state)
{
    (void)state;
    enum { ROWS = 30000 };
    struct arena *arena = arena_create(1u << 28);
    struct jobs jobs = { .count = ROWS };
    jobs.gpus = ARENA_ARRAY(arena, uint32_t, ROWS);
    jobs.cores = ARENA_ARRAY(arena, uint32_t, ROWS);
    jobs.memory_bytes = ARENA_ARRAY(arena, uint64_t, ROWS);
    for (uint32_t row = 0; row < ROWS; row++) {
        jobs.gpus[row] = any_count(7, 3 * row, 1, 60);
        jobs.cores[row] = any_count(7, 3 * row + 1, 0, 19);
        jobs.memory_bytes[row] = any(7, 3 * row + 2) < 0.5 ? 0 : UINT64_C(1) << 40;
    }
    struct request_table table;
    assert_true(request_table_build(&table, &jobs, SHAPE_MODEL, arena));
    uint32_t seen = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t class = table.class_of_row[row];
        assert_true(class <= seen);
        seen += class == seen;
        const struct request *request = &table.classes[class];
        assert_int_equal(request->gpus, jobs.gpus[row]);
        assert_int_equal(request->cores, jobs.cores[row]);
        assert_int_equal(request->memory_bytes, jobs.memory_bytes[row]);
    }
    assert_int_equal(table.class_count, seen);
    assert_int_equal(seen, 60 * 20 * 2); /* 2,400 classes, 12 rows each on average: all appear */
    for (uint32_t a = 0; a < seen; a++)
        for (uint32_t b = a + 1; b < seen; b++)
            assert_false(table.classes[a].gpus == table.classes[b].gpus &&
                         table.classes[a].cores == table.classes[b].cores &&
                         table.classes[a].memory_bytes == table.classes[b].memory_bytes);
    arena_destroy(arena);
}

/* Fit by counts is fit by trying: all ways to put a demand on nodes, for small clusters. */
static bool fits_by_trying(const struct demand *demand, const int *is, uint32_t nodes)
{
    uint32_t enough = 0, order[16], gpus = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        enough += is[node] >= (int)demand->per_node;
        order[node] = (uint32_t)(is[node] > 0 ? is[node] : 0);
    }
    if (enough >= demand->nodes) return true;
    /* Whole servers only; what is not rounded up to them may find its last GPUs on a fuller node. */
    if (demand->nodes_max <= demand->nodes && demand->held > demand->gpus) return false;
    for (uint32_t i = 0; i < nodes; i++) /* the nodes_max emptiest hold the most */
        for (uint32_t j = i + 1; j < nodes; j++)
            if (order[j] > order[i]) {
                const uint32_t swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
    for (uint32_t i = 0; i < nodes && i < demand->nodes_max; i++) gpus += order[i];
    return gpus >= demand->gpus;
}

static void fits_like_trying(void **state)
{
    const uint64_t seed = rows_number(state);
    for (uint64_t i = 0; i < 500; i++) {
        const uint32_t g = any_count(seed, 40 * i, 1, 8),
                       nodes = any_count(seed, 40 * i + 1, 1, 12);
        const double u = any(seed, 40 * i + 3);
        const struct request request = { .gpus = any_count(seed, 40 * i + 2, 1, g * nodes),
                                         .shape = u < 0.3 ? SHAPE_FREE : SHAPE_MODEL };
        const struct demand demand = demand_of(&request, g, nodes, 0, 0,
                                               u < 0.6   ? 0
                                               : u < 0.8 ? 2
                                                         : SLACK_ANY);
        int is[12];
        uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1] = { 0 };
        for (uint32_t node = 0; node < nodes; node++) {
            is[node] = (int)any_count(seed, 40 * i + 5 + node, 0, g);
            with_free[is[node]]++;
        }
        assert_int_equal(demand_fits(&demand, with_free, g), fits_by_trying(&demand, is, nodes));
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, means, (void *)c, "%s", cases[c].name);
    rows_add(&rows, classes_of_a_trace, NULL, "2,400 classes of 30,000 rows");
    for (uintptr_t seed = 1; seed <= 20; seed++)
        rows_add(&rows, fits_like_trying, (void *)seed, "500 fits like trying, seed %u",
                 (unsigned)seed);
    return rows_run("request", &rows);
}
