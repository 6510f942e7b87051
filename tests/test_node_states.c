/* test_node_states.c - policy/node_states against a plain table of what each node has free. */
#include "policy/node_states.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>
#include <string.h>

enum { NODES = 60, STEPS = 3000 };

struct twin {
    struct score_node free[NODES];
    bool is_in[NODES];
    uint32_t rank[NODES];
};

/* Few different states, so that nodes meet. */
static struct score_node any_free(uint64_t seed, uint64_t draw)
{
    struct score_node node = { .gpus = 4, .group = any_count(seed, draw, 0, 1) };
    node.cores_milli_free = any_count(seed, draw + 1, 1, 2) * 8000;
    for (uint32_t i = 0; i < 4; i++)
        node.milli_free[i] = (uint16_t)(any_count(seed, draw + 2 + i, 0, 2) * 500);
    return node;
}

/* Equal up to the order of the GPUs: as many with each amount. */
static bool is_alike(const struct score_node *a, const struct score_node *b)
{
    for (uint16_t milli = 0; milli <= 1000; milli = (uint16_t)(milli + 500)) {
        uint32_t count_a = 0, count_b = 0;
        for (uint32_t i = 0; i < 4; i++) {
            count_a += a->milli_free[i] == milli;
            count_b += b->milli_free[i] == milli;
        }
        if (count_a != count_b) return false;
    }
    return a->group == b->group && a->cores_milli_free == b->cores_milli_free;
}

/* Every node is with those that are like it and with no others, the lowest rank in front. */
static void check(const struct node_states *states, const struct twin *twin)
{
    uint32_t in = 0, counted = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        in += twin->is_in[node];
        assert_int_equal(states->state_of[node] != STATE_NONE, twin->is_in[node]);
        if (!twin->is_in[node]) continue;
        const struct node_state *const state = &states->states[states->state_of[node]];
        assert_true(is_alike(&state->free, &twin->free[node]));
        assert_int_equal(state->nodes[states->place_of[node]], node);
        assert_true(twin->rank[state->nodes[0]] <= twin->rank[node]);
        for (uint32_t other = 0; other < node; other++)
            if (twin->is_in[other])
                assert_int_equal(states->state_of[other] == states->state_of[node],
                                 is_alike(&twin->free[other], &twin->free[node]));
    }
    for (uint32_t s = 0; s < states->state_count; s++) {
        assert_true(states->states[s].count > 0);
        counted += states->states[s].count;
    }
    assert_int_equal(counted, in);
}

static void as_a_plain_table(void **state)
{
    const uint64_t seed = rows_number(state);
    static struct twin twin;
    memset(&twin, 0, sizeof twin);
    for (uint32_t node = 0; node < NODES; node++) twin.rank[node] = (node * 37 + 11) % NODES;
    struct node_states states;
    assert_true(node_states_init(&states, NODES, twin.rank));
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint32_t node = any_count(seed, 10 * step, 0, NODES - 1);
        if (any(seed, 10 * step + 1) < 0.2) {
            node_states_remove(&states, node);
            twin.is_in[node] = false;
        } else {
            twin.free[node] = any_free(seed, 10 * step + 2);
            twin.is_in[node] = true;
            assert_true(node_states_put(&states, node, &twin.free[node]));
        }
        if (step % 50 == 0) check(&states, &twin);
    }
    check(&states, &twin);
    node_states_clear(&states);
}

/* Popped one after the other, the nodes of a state come by rank. */
static void pops_by_rank(void **state)
{
    const uint64_t seed = rows_number(state);
    uint32_t rank[NODES], heap[NODES];
    for (uint32_t i = 0; i < NODES; i++) rank[i] = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        const uint32_t k = any_count(seed, i, 0, i), other = rank[k];
        rank[k] = rank[i];
        rank[i] = other;
    }
    struct node_states states;
    assert_true(node_states_init(&states, NODES, rank));
    const struct score_node same = { .gpus = 1, .milli_free = { 1000 } };
    for (uint32_t node = 0; node < NODES; node++)
        assert_true(node_states_put(&states, node, &same));
    assert_int_equal(states.state_count, 1);
    memcpy(heap, states.states[0].nodes, sizeof heap);
    for (uint32_t left = NODES, next = 0; left > 0; node_heap_pop(rank, heap, left--))
        assert_int_equal(rank[heap[0]], next++);
    node_states_clear(&states);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rows_add(&rows, as_a_plain_table, (const void *)(uintptr_t)seed,
                 "as a plain table, seed %" PRIu64, seed);
        rows_add(&rows, pops_by_rank, (const void *)(uintptr_t)seed, "by rank, seed %" PRIu64,
                 seed);
    }
    return rows_run("node_states", &rows);
}
