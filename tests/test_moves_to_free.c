/* test_moves_to_free.c - policy/moves_to_free: lists of moves that can be carried out, as short as a search over all states finds
 * them; cases worked by hand. */
#include "policy/moves_to_free.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>
#include <string.h>

enum { NODES = 4, JOBS = 5, STATES = 1024 /* NODES^JOBS */, MOST = 24 };

struct scene {
    struct defrag_node nodes[MOST];
    struct defrag_job jobs[DEFRAG_JOBS];
    struct defrag defrag;
};

static void scene_of(struct scene *scene, uint32_t nodes, uint32_t gpus)
{
    memset(scene, 0, sizeof *scene);
    scene->defrag = (struct defrag){ scene->nodes, scene->jobs, nodes, 0 };
    for (uint32_t n = 0; n < nodes; n++)
        scene->nodes[n] = (struct defrag_node){ gpus, gpus, 64000, 100, 1, true };
}

static void add_job(struct scene *scene, uint32_t node, uint32_t gpus, bool may_move)
{
    scene->jobs[scene->defrag.job_count++] =
        (struct defrag_job){ node, gpus, 0, 0, UINT64_MAX, may_move };
    scene->nodes[node].gpus_free -= gpus;
}

/* Carries the list out; every move must have room when its turn comes. */
static bool reaches(const struct scene *before, struct defrag_goal goal,
                    const struct defrag_move *moves, uint32_t count)
{
    static struct scene scene;
    scene = *before;
    for (uint32_t m = 0; m < count; m++) {
        struct defrag_job *const job = &scene.jobs[moves[m].job];
        struct defrag_node *const to = &scene.nodes[moves[m].node], *const from =
                                                                        &scene.nodes[job->node];
        if (!job->may_move || !to->usable || moves[m].node == job->node ||
            to->gpus_free < job->gpus || to->cores_milli_free < job->cores_milli ||
            !(to->groups & job->groups))
            return false;
        to->gpus_free -= job->gpus;
        to->cores_milli_free -= job->cores_milli;
        from->gpus_free += job->gpus;
        from->cores_milli_free += job->cores_milli;
        job->node = moves[m].node;
    }
    uint32_t ready = 0;
    for (uint32_t n = 0; n < scene.defrag.node_count; n++)
        ready += scene.nodes[n].usable && scene.nodes[n].gpus_free >= goal.gpus;
    return ready >= goal.nodes;
}

/* ---- by hand ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t nodes, gpus;
    struct {
        uint32_t node, gpus;
        bool stays;
    } jobs[8];
    uint32_t job_count;
    struct defrag_goal goal;
    uint32_t want; /* moves, MOVES_NONE = impossible */
} cases[] = {
    { "nothing to do", 2, 8, { { 0, 3, false } }, 1, { 1, 8, 9 }, 0 },
    { "one job leaves", 2, 8, { { 0, 3, false }, { 1, 5, false } }, 2, { 1, 8, 9 }, 1 },
    { "four ones, two each: two go",
      2,
      4,
      { { 0, 1, false }, { 0, 1, false }, { 1, 1, false }, { 1, 1, false } },
      4,
      { 1, 4, 9 },
      2 },
    { "one large rather than two small",
      2,
      8,
      { { 0, 4, false }, { 1, 2, false }, { 1, 2, false } },
      3,
      { 1, 8, 9 },
      1 },
    { "three quarters full: no room for it",
      2,
      4,
      { { 0, 3, false }, { 1, 3, false } },
      2,
      { 1, 4, 9 },
      MOVES_NONE },
    { "it may not move, the other does",
      2,
      4,
      { { 0, 2, true }, { 1, 2, false } },
      2,
      { 1, 4, 9 },
      1 },
    { "neither may", 2, 4, { { 0, 2, true }, { 1, 2, true } }, 2, { 1, 4, 9 }, MOVES_NONE },
    { "not all of the node is wanted",
      2,
      8,
      { { 0, 2, false }, { 0, 3, false }, { 1, 4, false } },
      3,
      { 1, 6, 9 },
      1 },
    /* The 3 of node 0 would need 3 free: nodes 1 and 2 have 2 each, so a 1 of node 1 goes to node 2 first. */
    { "one makes way for another",
      3,
      4,
      { { 0, 3, false }, { 1, 1, false }, { 1, 1, true }, { 2, 1, true }, { 2, 1, true } },
      5,
      { 1, 4, 9 },
      2 },
    { "two nodes of three",
      3,
      4,
      { { 0, 1, false }, { 1, 1, false }, { 2, 1, false } },
      3,
      { 2, 4, 9 },
      2 },
    { "too many moves",
      2,
      4,
      { { 0, 1, false }, { 0, 1, false }, { 1, 1, false }, { 1, 1, false } },
      4,
      { 1, 4, 1 },
      MOVES_NONE },
    { "more nodes than there are", 2, 4, { { 0, 1, false } }, 1, { 3, 4, 9 }, MOVES_NONE },
    { "more GPUs than a node has", 2, 4, { { 0, 1, false } }, 1, { 1, 5, 9 }, MOVES_NONE },
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    static struct scene scene;
    struct defrag_move moves[16];
    bool exact;
    scene_of(&scene, cases[c].nodes, cases[c].gpus);
    for (uint32_t j = 0; j < cases[c].job_count; j++)
        add_job(&scene, cases[c].jobs[j].node, cases[c].jobs[j].gpus, !cases[c].jobs[j].stays);
    const uint32_t count = moves_to_free(&scene.defrag, cases[c].goal, moves, &exact);
    assert_int_equal(count, cases[c].want);
    assert_true(exact);
    if (count != MOVES_NONE) assert_true(reaches(&scene, cases[c].goal, moves, count));
}

/* Cores, memory and groups keep jobs off nodes. */
static void hosts_and_groups(void **state)
{
    (void)state;
    static struct scene scene;
    struct defrag_move moves[4];
    bool exact;
    const struct defrag_goal goal = { 1, 4, 4 };
    scene_of(&scene, 2, 4);
    add_job(&scene, 0, 2, true);
    add_job(&scene, 1, 2, false);
    assert_int_equal(moves_to_free(&scene.defrag, goal, moves, &exact), 1);
    scene.jobs[0].cores_milli = 65000;
    assert_int_equal(moves_to_free(&scene.defrag, goal, moves, &exact), MOVES_NONE);
    scene.jobs[0].cores_milli = 0;
    scene.jobs[0].memory_bytes = 101;
    assert_int_equal(moves_to_free(&scene.defrag, goal, moves, &exact), MOVES_NONE);
    scene.jobs[0].memory_bytes = 0;
    scene.jobs[0].groups = 2;
    assert_int_equal(moves_to_free(&scene.defrag, goal, moves, &exact), MOVES_NONE);
    scene.jobs[0].groups = 3;
    assert_int_equal(moves_to_free(&scene.defrag, goal, moves, &exact), 1);
    scene.nodes[0].usable = false; /* what it gives free is of no use */
    assert_int_equal(moves_to_free(&scene.defrag, goal, moves, &exact), MOVES_NONE);
}

/* ---- against all states ------------------------------------------------------------------------ */

static void any_scene(struct scene *scene, uint64_t seed)
{
    scene_of(scene, NODES, 4);
    for (uint32_t n = 0; n < NODES; n++)
        scene->nodes[n].gpus = scene->nodes[n].gpus_free = any_count(seed, 10 + n, 2, 4);
    for (uint64_t draw = 0; draw < 40 && scene->defrag.job_count < JOBS; draw++) {
        const uint32_t node = any_count(seed, 100 + 3 * draw, 0, NODES - 1),
                       gpus = any_count(seed, 101 + 3 * draw, 1, 3);
        if (scene->nodes[node].gpus_free >= gpus)
            add_job(scene, node, gpus, any(seed, 102 + 3 * draw) < 0.8);
    }
}

/* Where all jobs are, as a number. */
static uint32_t number_of(const uint32_t *at, uint32_t jobs)
{
    uint32_t number = 0;
    for (uint32_t j = jobs; j-- > 0;) number = number * NODES + at[j];
    return number;
}

/* The fewest moves by breadth-first search over all places of all jobs; MOVES_NONE when none does. */
static uint32_t naive(const struct scene *scene, struct defrag_goal goal)
{
    static uint32_t queue[STATES], distance[STATES];
    const uint32_t jobs = scene->defrag.job_count;
    uint32_t head = 0, tail = 0, at[JOBS];
    memset(distance, 0xff, sizeof distance);
    for (uint32_t j = 0; j < jobs; j++) at[j] = scene->jobs[j].node;
    queue[tail++] = number_of(at, jobs);
    distance[queue[0]] = 0;
    while (head < tail) {
        const uint32_t state = queue[head++];
        uint32_t free[NODES], ready = 0;
        for (uint32_t n = 0; n < NODES; n++) free[n] = scene->nodes[n].gpus;
        for (uint32_t j = 0, rest = state; j < jobs; j++, rest /= NODES)
            free[at[j] = rest % NODES] -= scene->jobs[j].gpus;
        for (uint32_t n = 0; n < NODES; n++) ready += free[n] >= goal.gpus;
        if (ready >= goal.nodes) return distance[state];
        for (uint32_t j = 0; j < jobs; j++) {
            const uint32_t from = at[j];
            for (uint32_t to = 0; scene->jobs[j].may_move && to < NODES; to++) {
                if (to == from || free[to] < scene->jobs[j].gpus) continue;
                at[j] = to;
                const uint32_t next = number_of(at, jobs);
                if (distance[next] == UINT32_MAX) {
                    distance[next] = distance[state] + 1;
                    queue[tail++] = next;
                }
            }
            at[j] = from;
        }
    }
    return MOVES_NONE;
}

static void as_few_as_can_be(void **state)
{
    const uint64_t seed = rows_number(state);
    static struct scene scene, before;
    struct defrag_move moves[DEFRAG_MOVES];
    bool exact;
    any_scene(&scene, seed);
    before = scene;
    for (uint32_t nodes = 1; nodes <= 3; nodes++)
        for (uint32_t gpus = 2; gpus <= 4; gpus++) {
            const struct defrag_goal goal = { nodes, gpus, DEFRAG_MOVES };
            const uint32_t count = moves_to_free(&scene.defrag, goal, moves, &exact);
            assert_memory_equal(scene.nodes, before.nodes, sizeof before.nodes);
            assert_memory_equal(scene.jobs, before.jobs, sizeof before.jobs);
            assert_true(exact);
            assert_int_equal(count, naive(&scene, goal));
            if (count != MOVES_NONE) assert_true(reaches(&scene, goal, moves, count));
            /* The greedy list can be carried out too, and is never shorter. */
            const uint32_t greedy = moves_greedy(&scene.defrag, goal, moves);
            assert_memory_equal(scene.jobs, before.jobs, sizeof before.jobs);
            if (greedy == MOVES_NONE) continue;
            assert_true(count != MOVES_NONE && greedy >= count);
            assert_true(reaches(&scene, goal, moves, greedy));
        }
}

/* Half full clusters of 24 nodes: a list is found, can be carried out, and the greedy one is at most half as long again. */
static void larger_ones(void **state)
{
    const uint64_t seed = rows_number(state);
    static struct scene scene;
    struct defrag_move moves[64];
    bool exact;
    scene_of(&scene, MOST, 8);
    for (uint64_t draw = 0; draw < 40; draw++) {
        const uint32_t node = any_count(seed, 3 * draw, 0, MOST - 1),
                       gpus = any_count(seed, 1 + 3 * draw, 1, 4);
        if (scene.nodes[node].gpus_free >= gpus) add_job(&scene, node, gpus, true);
    }
    uint32_t whole = 0;
    for (uint32_t n = 0; n < MOST; n++) whole += scene.nodes[n].gpus_free == 8;
    const struct defrag_goal goal = { whole + 2, 8, 64 };
    const uint32_t count = moves_to_free(&scene.defrag, goal, moves, &exact);
    assert_true(count != MOVES_NONE && count > 0);
    assert_true(reaches(&scene, goal, moves, count));
    const uint32_t greedy = moves_greedy(&scene.defrag, goal, moves);
    assert_true(greedy != MOVES_NONE &&
                (!exact || (greedy >= count && 2 * greedy <= 3 * count + 1)));
    assert_true(reaches(&scene, goal, moves, greedy));
}

int main(void)
{
    static const struct CMUnitTest alone[] = { cmocka_unit_test(hosts_and_groups) };
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    for (uintptr_t seed = 1; seed <= 150; seed++)
        rows_add(&rows, as_few_as_can_be, (void *)seed, "as few as can be, seed %zu", (size_t)seed);
    for (uintptr_t seed = 1; seed <= 30; seed++)
        rows_add(&rows, larger_ones, (void *)seed, "24 nodes, seed %zu", (size_t)seed);
    return cmocka_run_group_tests_name("moves_to_free", alone, NULL, NULL) +
           rows_run("moves_to_free over seeds", &rows);
}
