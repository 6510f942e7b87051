/* moves_to_free.h - which running jobs to move so that so many nodes have so many GPUs free.
 *
 * Pure functions over what is free and who is where. Every move goes to a node that has room at that moment, so the list can be
 * carried out from its first move to its last. A job may be moved to make room for another one.
 *
 * Fewest moves: iterative deepening, cut by the moves that the wanted nodes still need at least (the fewest jobs that must leave
 * each of them; one move takes one job from one node), and by doing alike things once. Without enough free GPUs on all nodes together there is none. Above DEFRAG_NODES nodes or
 * DEFRAG_STEPS steps the greedy list stands: nodes that fewest jobs must leave first, of these the ones with the least to move;
 * each job goes where it leaves the least. It can be longer than need be, and can find none where one exists.
 * Tests: tests/test_moves_to_free.c, against a search over all states. */
#ifndef GPUPLAN_POLICY_MOVES_TO_FREE_H
#define GPUPLAN_POLICY_MOVES_TO_FREE_H

#include <stdbool.h>
#include <stdint.h>

enum { DEFRAG_NODES = 24, DEFRAG_JOBS = 64, DEFRAG_STEPS = 2000, DEFRAG_MOVES = 12 };
#define MOVES_NONE UINT32_MAX

struct defrag_node {
    uint32_t gpus, gpus_free; /* that it has; that nobody holds                                      */
    uint32_t cores_milli_free;
    uint64_t memory_free;
    uint64_t groups; /* one bit: its group; jobs that may not go there are not moved there            */
    bool usable;     /* false: it takes no jobs and is not wanted                                     */
};

/* A job that is on one node, with whole GPUs. */
struct defrag_job {
    uint32_t node, gpus;
    uint32_t cores_milli;
    uint64_t memory_bytes;
    uint64_t groups; /* that it may go to                                                            */
    bool may_move;
};

struct defrag_move {
    uint32_t job, node; /* where to                                                                  */
};

struct defrag {
    struct defrag_node *nodes; /* [node_count] all four are changed while it thinks and given back as they were */
    struct defrag_job *jobs;   /* [job_count]                                                        */
    uint32_t node_count, job_count;
};

/* What is wanted. */
struct defrag_goal {
    uint32_t nodes, gpus; /* so many nodes with so many GPUs free each, gpus >= 1                     */
    uint32_t moves_most;
};

/* Fills moves[] (at least goal.moves_most long) and returns their number, 0 when nothing has to move, MOVES_NONE when no
 * list was found. *exact: no shorter list exists, or none at all within moves_most. */
uint32_t moves_to_free(struct defrag *defrag, struct defrag_goal goal, struct defrag_move *moves,
                       bool *exact);

/* The greedy list alone. */
uint32_t moves_greedy(struct defrag *defrag, struct defrag_goal goal, struct defrag_move *moves);

#endif
