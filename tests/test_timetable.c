/* test_timetable.c - the plan against a table of free GPUs per node and second.
 *
 * Random places are held and given back and ends appended, on nodes of 1 to 8 GPUs; after each step
 * every slice has the free GPUs that the table has then, and first fit finds the first second at which
 * the table holds a demand throughout, on the lowest nodes. */
#include "policy/timetable.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

enum { NODES = 40, SECONDS = 400, HELD = 60, STEPS = 250, SEEDS = 60 };

struct held {
    int64_t from, to;
    struct part part[4];
    uint32_t parts;
    bool is_held;
};

struct world {
    struct timetable plan;
    uint32_t nodes, gpus;
    uint8_t is[SECONDS][NODES]; /* free GPUs */
    struct held held[HELD];
    uint64_t seed, draws;
};

static uint32_t pick(struct world *world, uint32_t low, uint32_t high)
{
    return any_count(world->seed, world->draws++, low, high);
}

static int64_t second_of(const struct world *world, uint32_t slice)
{
    return world->plan.begin_ns[slice];
}

/* Fewest free GPUs of a node over [from, to); the last second of the table stands for ever. */
static uint32_t least(const struct world *world, uint32_t node, int64_t from, int64_t to)
{
    uint32_t fewest = world->is[from][node];
    for (int64_t s = from; s < to && s < SECONDS; s++)
        if (world->is[s][node] < fewest) fewest = world->is[s][node];
    return fewest;
}

static void check_slices(const struct world *world)
{
    const struct timetable *plan = &world->plan;
    for (uint32_t slice = 0; slice < plan->count; slice++) {
        const int64_t at = second_of(world, slice);
        uint32_t total = 0, whole = 0;
        for (uint32_t node = 0; node < world->nodes; node++) {
            const uint32_t is = timetable_free(plan, plan->row[slice], node);
            assert_int_equal(is, world->is[at][node]);
            total += is;
            whole += is == world->gpus;
        }
        assert_int_equal(plan->at_least[0][slice], total);
        assert_int_equal(plan->at_least[world->gpus][slice], whole);
        if (slice > 0) assert_true(plan->begin_ns[slice - 1] < at);
        if (slice > 0) assert_true(plan->starts[slice] + plan->ends[slice] > 0);
    }
}

/* First fit by trying every second: the same start, and the lowest nodes. */
static void check_find(struct world *world)
{
    const uint32_t per_node = pick(world, 1, world->gpus), nodes = pick(world, 1, 4);
    const int64_t length = pick(world, 1, 60);
    const struct demand demand = { .gpus = per_node * nodes,
                                   .held = per_node * nodes,
                                   .nodes = nodes,
                                   .per_node = per_node,
                                   .nodes_max = nodes,
                                   .ever = true };
    uint32_t slice;
    const bool found = timetable_find(&world->plan, &demand, length, 0, INT64_MAX, &slice);
    for (int64_t at = world->plan.begin_ns[0]; at < SECONDS; at++) {
        uint32_t fits = 0, lowest[NODES];
        for (uint32_t node = 0; node < world->nodes; node++)
            if (least(world, node, at, at + length) >= per_node) lowest[fits++] = node;
        if (fits < nodes) continue;
        assert_true(found);
        assert_int_equal(second_of(world, slice), at);
        struct part parts[NODES];
        assert_int_equal(timetable_choose(&world->plan, &demand, parts), nodes);
        for (uint32_t p = 0; p < nodes; p++) assert_int_equal(parts[p].node, lowest[p]);
        return;
    }
    assert_false(found);
}

static void change(struct world *world, const struct held *held, int sign)
{
    for (int64_t s = held->from; s < held->to; s++)
        for (uint32_t p = 0; p < held->parts; p++)
            world->is[s][held->part[p].node] =
                (uint8_t)(world->is[s][held->part[p].node] + sign * (int)held->part[p].gpus);
}

/* Takes GPUs that are free throughout on up to four nodes, if there are any. */
static void hold_some(struct world *world, struct held *held)
{
    const int64_t now = world->plan.begin_ns[0];
    const int64_t last = world->plan.begin_ns[world->plan.count - 1];
    if (last >= SECONDS - 2 || now >= last) return;
    held->from = pick(world, (uint32_t)now, (uint32_t)last);
    held->to = held->from + pick(world, 1, (uint32_t)(last - held->from) + 1);
    if (held->to > last) held->to = last;
    if (held->to <= held->from) return;
    held->parts = 0;
    for (uint32_t tries = 0; tries < 8 && held->parts < 4; tries++) {
        const uint32_t node = pick(world, 0, world->nodes - 1);
        const uint32_t has = least(world, node, held->from, held->to);
        bool used = has == 0;
        for (uint32_t p = 0; p < held->parts; p++) used |= held->part[p].node == node;
        if (!used)
            held->part[held->parts++] = (struct part){ .node = node, .gpus = pick(world, 1, has) };
    }
    held->is_held = held->parts > 0;
    if (!held->is_held) return;
    change(world, held, -1);
    timetable_hold(&world->plan, held->from, held->to, held->part, held->parts);
}

static void give_back(struct world *world, struct held *held)
{
    timetable_give(&world->plan, held->from, held->to, held->part, held->parts);
    change(world, held, +1);
    held->is_held = false;
}

static void same_as_table(void **state)
{
    static struct world world;
    memset(&world, 0, sizeof world);
    world.seed = rows_number(state) * 1000003;
    static const uint32_t sizes[] = { 1, 2, 5, 8 };
    world.gpus = sizes[pick(&world, 0, 3)];
    world.nodes = pick(&world, 5, NODES);
    struct arena *arena = arena_create(UINT64_C(1) << 30);
    struct cluster cluster;
    const struct cluster_size size = { .nodes = world.nodes,
                                       .gpus_per_node = world.gpus,
                                       .nodes_per_leaf = world.nodes };
    assert_true(cluster_init(&cluster, arena, size));
    assert_true(timetable_init(&world.plan, world.nodes, world.gpus, arena));
    timetable_reset(&world.plan, &cluster, 0);
    for (uint32_t s = 0; s < SECONDS; s++) memset(world.is[s], (int)world.gpus, world.nodes);
    /* Jobs that run, known from the start; their ends come in order. */
    for (int64_t end = 10; end < SECONDS - 50; end += pick(&world, 10, 60)) {
        struct held job = { .from = 0, .to = end, .parts = 1 };
        job.part[0] = (struct part){ .node = pick(&world, 0, world.nodes - 1), .gpus = 1 };
        if (least(&world, job.part[0].node, 0, SECONDS) == 0) continue;
        timetable_hold(&world.plan, 0, INT64_MAX, job.part, 1);
        change(&world, &job, -1);
        timetable_append_end(&world.plan, end, job.part, 1);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        struct held *held = &world.held[pick(&world, 0, HELD - 1)];
        if (held->is_held && held->from >= world.plan.begin_ns[0])
            give_back(&world, held);
        else if (!held->is_held)
            hold_some(&world, held);
        if (step % 25 == 24) timetable_advance(&world.plan, world.plan.begin_ns[0] + 7);
        check_slices(&world);
        check_find(&world);
    }
    assert_false(world.plan.out_of_memory);
    cluster_clear(&cluster);
    arena_destroy(arena);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, same_as_table, (void *)seed, "plan against a table, seed %u",
                 (unsigned)seed);
    return rows_run("timetable", &rows);
}
