/* node_states.h - nodes by equal state: what is scored once for all of them.
 *
 * Nodes of one group with the same free resources form a state; a cluster of 100,000 nodes and whole GPUs has a dozen. Each
 * state keeps its nodes in a heap by rank, the order in which equal scores are broken. Memory is the heap's, not an
 * arena's: states come and go. Tests: tests/test_node_states.c */
#ifndef GPUPLAN_POLICY_NODE_STATES_H
#define GPUPLAN_POLICY_NODE_STATES_H

#include "policy/score.h"

#include <stdbool.h>
#include <stdint.h>

#define STATE_NONE UINT32_MAX

struct node_state {
    struct score_node free; /* GPUs from the emptiest on                                       */
    uint64_t hash;
    int64_t fragment;        /* for whoever scores; -1 = not worked out                        */
    uint64_t scored_at;      /* likewise: number of the search that `score` is of               */
    uint32_t score;
    uint32_t next_in_bucket; /* a state, or STATE_NONE                                         */
    uint32_t count, capacity;
    uint32_t *nodes; /* [count] heap: the lowest rank first                            */
};

struct node_states {
    struct node_state *states; /* [state_count] in no order that may matter                      */
    uint32_t state_count, state_capacity;
    uint32_t *buckets; /* [bucket_count] by hash                                         */
    uint32_t bucket_count;
    uint32_t *state_of, *place_of; /* [nodes] STATE_NONE = in no state; its entry in the heap         */
    const uint32_t *rank;          /* [nodes] a permutation, borrowed                                 */
    uint32_t nodes;
};

/* All nodes start in no state. False: memory is out. */
bool node_states_init(struct node_states *states, uint32_t nodes, const uint32_t *rank);
void node_states_clear(struct node_states *states); /* zeroed ones are allowed */

/* The node is in this state from now on. Members beyond the node's GPUs must be 0. False: memory is out. */
bool node_states_put(struct node_states *states, uint32_t node, const struct score_node *free);

/* The node is in no state: it takes no jobs. */
void node_states_remove(struct node_states *states, uint32_t node);

/* Turns nodes[count] into a heap by rank, and a heap into the same without its first node. */
void node_heap_make(const uint32_t *rank, uint32_t *nodes, uint32_t count);
void node_heap_pop(const uint32_t *rank, uint32_t *nodes, uint32_t count);

#endif
