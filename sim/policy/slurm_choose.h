/* slurm_choose.h - inside of slurm_select: one try to choose nodes, and what the algorithms share.
 *
 * A try goes over a map of nodes. For each the selector first makes an offer (slurm_offer.c): what the node could
 * give at all. An algorithm then weighs the offers (`avail`, `rank`) and takes nodes one by one (choice_take), which
 * counts down what is still needed, until choice_done. */
#ifndef GPUPLAN_POLICY_SLURM_CHOOSE_H
#define GPUPLAN_POLICY_SLURM_CHOOSE_H

#include "policy/slurm_select.h"

/* What one node could give to the job. */
struct offer {
    uint64_t rank;      /* lower first                                                            */
    uint32_t cores;     /* free for this job                                                      */
    uint32_t avail;     /* of these, what the algorithms compare                                    */
    uint32_t gpus_free; /* of the wanted type, as far as memory goes                                */
    uint32_t gpus_cap;  /* most that the job may want here; 0 = no bound                            */
    uint32_t gpus;      /* that it can get here                                                   */
    uint32_t tasks;     /* most that can run here                                                 */
    uint32_t cores_least; /* that go with the GPUs, beside the tasks: enforce-binding                */
    uint32_t used;      /* cores taken when the node was chosen                                    */
};

/* A run of consecutive nodes of one rank. */
struct node_run {
    uint32_t first, last, nodes, required /* first required node, NODE_NONE = none */;
    uint64_t cores, gpus, rank;
};

struct slurm_chooser {
    const struct slurm_nodes *nodes;
    struct arena *arena;
    struct slurm_picture empty; /* everything up and free, for slurm_feasible_ever                  */
    struct offer *offers;       /* [nodes]                                                        */
    /* Most nodes are like one that was looked at just before: its row, NODE_NONE = none yet, and with what state
     * of the choice it was weighed. */
    uint32_t made, weighed;
    bool made_usable, weighed_first_pass;
    int64_t weighed_nodes_left;
    uint32_t weighed_gpus;
    struct node_run *runs;      /* [nodes]                                                        */
    uint64_t *map, *fitting, *lighter; /* [words] candidates; those that can give something; those of this try */
    uint64_t *left, *chosen;           /* [words] of a choice: map and chosen                        */
    uint64_t *inside, *spare, *picked; /* [words] of the algorithms                                  */
    uint32_t *rows, *rows_spare;       /* [nodes]                                                  */
    uint64_t *keys;                    /* [nodes]                                                  */
    uint32_t *counts, *cores, *dists;  /* [switches or blocks]                                      */
    uint8_t *used;                     /* [switches or blocks]                                      */
    struct part *parts;                /* [part_capacity] owned                                    */
    uint32_t part_count, part_capacity;
};

/* Why a try failed, for the next one. */
enum retry {
    RETRY_STOP,     /* no other set of these nodes can help                                         */
    RETRY_FEWER,    /* without the poorest node it may                                             */
    RETRY_WITHOUT,  /* without the nodes in `spare`: they are of a switch that cannot hold it         */
};

struct choice {
    struct slurm_chooser *chooser;
    const struct slurm_nodes *nodes;
    const struct slurm_picture *picture;
    const struct slurm_need *need;
    const struct slurm_how *how;
    bool first_pass;  /* GPUs and cores must be near each other                                     */
    bool gpus_summed; /* --gpus, or a sum by tasks                                                 */
    bool waits_for_switch;
    enum retry retry;
    uint64_t *map;    /* nodes that are left to choose from                                        */
    uint64_t *chosen;
    uint32_t nodes_min, nodes_wanted, nodes_max;
    /* What is still needed. */
    int64_t nodes_left, nodes_min_left, nodes_max_left, cores_left, cores_most_left, tasks_left;
    uint32_t gpus_taken;
};

static inline struct offer *offer_of(const struct choice *choice, uint32_t node)
{
    return &choice->chooser->offers[node];
}

/* GPUs of the node that are free and of the wanted type. */
static inline uint64_t free_gpus(const struct choice *choice, uint32_t node)
{
    const uint64_t free = choice->picture->free_mask[node];
    const uint64_t *bits = choice->need->gpu_bits;
    return bits ? free & bits[choice->nodes->kind_of[node]] : free;
}

/* The first node of a set at or behind `node`; NODE_NONE. */
uint32_t set_next(const uint64_t *set, uint32_t words, uint32_t node);
#define FOR_NODES(node, set, words)                                                                \
    for (uint32_t node = set_next((set), (words), 0); node != NODE_NONE;                           \
         node = set_next((set), (words), node + 1))

static inline void set_put(uint64_t *set, uint32_t node)
{
    set[node / 64] |= UINT64_C(1) << (node % 64);
}
static inline void set_drop(uint64_t *set, uint32_t node)
{
    set[node / 64] &= ~(UINT64_C(1) << (node % 64));
}

/* slurm_offer.c: what the node can give, whatever else the job takes. False: nothing. */
bool offer_make(const struct choice *choice, uint32_t node);
/* What of it counts now, with the GPUs that the job has already and the nodes it still needs; sets avail, gpus and
 * tasks; avail 0 = the node cannot be used. */
void offer_weigh(const struct choice *choice, uint32_t node);
/* Cores by socket that the job gets on a node with Cores=, `used` in all. */
void offer_sockets(const struct choice *choice, uint32_t node, uint32_t gpus, uint32_t used,
                   uint16_t *taken);

/* slurm_take.c */
void choice_begin(struct choice *choice); /* nothing is chosen yet                                */
bool choice_take(struct choice *choice, uint32_t node);
bool choice_done(const struct choice *choice);
bool choice_enough_nodes(const struct choice *choice, int64_t nodes);
bool choice_gpus_reach(const struct choice *choice, uint64_t gpus);
/* All nodes of --nodelist; false: one of them cannot be used. */
bool choice_take_required(struct choice *choice);

/* The algorithms: true = chosen is complete. */
bool choose_runs(struct choice *choice);        /* slurm_runs.c */
bool choose_least_loaded(struct choice *choice); /* slurm_orders.c */
bool choose_busy_first(struct choice *choice);
bool choose_from_the_end(struct choice *choice);
bool choose_spread(struct choice *choice);
bool choose_tree(struct choice *choice);        /* slurm_tree.c */
bool choose_block(struct choice *choice);       /* slurm_block.c */

/* slurm_parts.c: tasks, cores, memory and GPUs on the chosen nodes into chooser->parts. False: shards or GPUs do
 * not come out after all. */
bool parts_fill(struct choice *choice);

/* slurm_gpus.c: which GPUs of the node, `count` of them; cores[sockets] of the job there. */
uint64_t gpus_pick(const struct choice *choice, uint32_t node, uint32_t count,
                   const uint16_t *cores);
/* The GPU whose free shards hold the request; NODE_NONE = none. */
uint32_t shard_pick(const struct choice *choice, uint32_t node);

#endif
