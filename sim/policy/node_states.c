/* node_states.c - see node_states.h. */
#include "policy/node_states.h"

#include "base/assert.h"
#include "base/philox.h"

#include <stdlib.h>
#include <string.h>

bool node_states_init(struct node_states *states, uint32_t nodes, const uint32_t *rank)
{
    *states = (struct node_states){ .rank = rank, .nodes = nodes, .bucket_count = 16 };
    while (states->bucket_count < nodes) states->bucket_count *= 2;
    states->buckets = malloc(states->bucket_count * sizeof *states->buckets);
    states->state_of = malloc(((size_t)nodes + 1) * sizeof *states->state_of);
    states->place_of = malloc(((size_t)nodes + 1) * sizeof *states->place_of);
    if (!states->buckets || !states->state_of || !states->place_of) {
        node_states_clear(states);
        return false;
    }
    for (uint32_t b = 0; b < states->bucket_count; b++) states->buckets[b] = STATE_NONE;
    for (uint32_t node = 0; node < nodes; node++) states->state_of[node] = STATE_NONE;
    return true;
}

void node_states_clear(struct node_states *states)
{
    for (uint32_t s = 0; s < states->state_count; s++) free(states->states[s].nodes);
    free(states->states);
    free(states->buckets);
    free(states->state_of);
    free(states->place_of);
    *states = (struct node_states){ 0 };
}

/* ---- the heap of a state ---------------------------------------------------------------------- */

static void heap_set(struct node_states *states, struct node_state *state, uint32_t at,
                     uint32_t node)
{
    state->nodes[at] = node;
    states->place_of[node] = at;
}

static void heap_up(struct node_states *states, struct node_state *state, uint32_t at)
{
    const uint32_t node = state->nodes[at];
    while (at > 0 && states->rank[node] < states->rank[state->nodes[(at - 1) / 2]]) {
        heap_set(states, state, at, state->nodes[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_set(states, state, at, node);
}

/* The child of the lower rank, or `count` when there is none. */
static uint32_t lower_child(const uint32_t *rank, const uint32_t *nodes, uint32_t count,
                            uint32_t at)
{
    const uint32_t left = 2 * at + 1;
    if (left >= count) return count;
    return left + 1 < count && rank[nodes[left + 1]] < rank[nodes[left]] ? left + 1 : left;
}

static void heap_down(struct node_states *states, struct node_state *state, uint32_t at)
{
    const uint32_t node = state->nodes[at];
    for (;;) {
        const uint32_t child = lower_child(states->rank, state->nodes, state->count, at);
        if (child == state->count || states->rank[node] < states->rank[state->nodes[child]]) break;
        heap_set(states, state, at, state->nodes[child]);
        at = child;
    }
    heap_set(states, state, at, node);
}

static bool heap_add(struct node_states *states, struct node_state *state, uint32_t node)
{
    if (state->count == state->capacity) {
        const uint32_t capacity = state->capacity ? 2 * state->capacity : 4;
        uint32_t *grown = realloc(state->nodes, capacity * sizeof *grown);
        if (!grown) return false;
        state->nodes = grown;
        state->capacity = capacity;
    }
    state->nodes[state->count] = node;
    heap_up(states, state, state->count++);
    return true;
}

static void sink(const uint32_t *rank, uint32_t *nodes, uint32_t count, uint32_t at, uint32_t node)
{
    for (;;) {
        const uint32_t child = lower_child(rank, nodes, count, at);
        if (child == count || rank[node] < rank[nodes[child]]) break;
        nodes[at] = nodes[child];
        at = child;
    }
    nodes[at] = node;
}

void node_heap_make(const uint32_t *rank, uint32_t *nodes, uint32_t count)
{
    for (uint32_t at = count / 2; at-- > 0;) sink(rank, nodes, count, at, nodes[at]);
}

void node_heap_pop(const uint32_t *rank, uint32_t *nodes, uint32_t count)
{
    ASSERT(count > 0);
    if (count > 1) sink(rank, nodes, count - 1, 0, nodes[count - 1]);
}

/* ---- states by what is free ------------------------------------------------------------------- */

static uint64_t hash_of(const struct score_node *node)
{
    uint64_t hash = mix64(node->cores_milli_free | (uint64_t)node->kinds << 32);
    hash = mix64(hash ^ node->memory_free);
    hash = mix64(hash ^ node->gpus ^ (uint64_t)node->group << 32);
    for (uint32_t i = 0; i < node->gpus; i += 4) {
        uint64_t four = 0;
        for (uint32_t k = i; k < i + 4 && k < node->gpus; k++)
            four = four << 16 | node->milli_free[k];
        hash = mix64(hash ^ four);
    }
    return hash;
}

static bool is_same(const struct score_node *a, const struct score_node *b)
{
    return a->gpus == b->gpus && a->group == b->group && a->kinds == b->kinds &&
           a->cores_milli_free == b->cores_milli_free && a->memory_free == b->memory_free &&
           memcmp(a->milli_free, b->milli_free, a->gpus * sizeof *a->milli_free) == 0;
}

/* Which GPU has how much is no part of the state: the emptiest stands first. */
static struct score_node sorted(const struct score_node *free)
{
    struct score_node node = *free;
    for (uint32_t i = 1; i < node.gpus; i++) {
        const uint16_t milli = node.milli_free[i];
        uint32_t at = i;
        for (; at > 0 && node.milli_free[at - 1] < milli; at--)
            node.milli_free[at] = node.milli_free[at - 1];
        node.milli_free[at] = milli;
    }
    return node;
}

static uint32_t *bucket_of(const struct node_states *states, uint64_t hash)
{
    return &states->buckets[hash & (states->bucket_count - 1)];
}

/* The state, a new one when need be; STATE_NONE when memory is out. */
static uint32_t find_state(struct node_states *states, const struct score_node *free)
{
    const uint64_t hash = hash_of(free);
    uint32_t *const bucket = bucket_of(states, hash);
    for (uint32_t s = *bucket; s != STATE_NONE; s = states->states[s].next_in_bucket)
        if (states->states[s].hash == hash && is_same(&states->states[s].free, free)) return s;
    if (states->state_count == states->state_capacity) {
        const uint32_t capacity = states->state_capacity ? 2 * states->state_capacity : 64;
        struct node_state *grown = realloc(states->states, capacity * sizeof *grown);
        if (!grown) return STATE_NONE;
        states->states = grown;
        states->state_capacity = capacity;
    }
    states->states[states->state_count] = (struct node_state){
        .free = *free, .hash = hash, .fragment = -1, .next_in_bucket = *bucket
    };
    return *bucket = states->state_count++;
}

static uint32_t *link_to(struct node_states *states, uint32_t s)
{
    uint32_t *link = bucket_of(states, states->states[s].hash);
    while (*link != s) link = &states->states[*link].next_in_bucket;
    return link;
}

/* A state without nodes goes; the last one takes its row. */
static void drop_state(struct node_states *states, uint32_t s)
{
    const uint32_t last = states->state_count - 1;
    *link_to(states, s) = states->states[s].next_in_bucket;
    free(states->states[s].nodes);
    if (s != last) {
        *link_to(states, last) = s;
        states->states[s] = states->states[last];
        for (uint32_t i = 0; i < states->states[s].count; i++)
            states->state_of[states->states[s].nodes[i]] = s;
    }
    states->state_count--;
}

void node_states_remove(struct node_states *states, uint32_t node)
{
    const uint32_t s = states->state_of[node];
    if (s == STATE_NONE) return;
    struct node_state *const state = &states->states[s];
    const uint32_t at = states->place_of[node], moved = state->nodes[--state->count];
    states->state_of[node] = STATE_NONE;
    if (moved != node) {
        heap_set(states, state, at, moved);
        heap_up(states, state, at);
        heap_down(states, state, states->place_of[moved]);
    }
    if (state->count == 0) drop_state(states, s);
}

bool node_states_put(struct node_states *states, uint32_t node, const struct score_node *free)
{
    ASSERT(node < states->nodes);
    const struct score_node is = sorted(free);
    const uint32_t was = states->state_of[node];
    if (was != STATE_NONE && is_same(&states->states[was].free, &is)) return true;
    node_states_remove(states, node);
    const uint32_t s = find_state(states, &is);
    if (s == STATE_NONE || !heap_add(states, &states->states[s], node)) return false;
    states->state_of[node] = s;
    return true;
}
