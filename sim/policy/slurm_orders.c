/* slurm_orders.c - nodes taken in an order of their own: least loaded, busy ones first, from the end, spread. */
#include "policy/slurm_choose.h"

#include <string.h>

/* The lowest rank in the map that is not below `from`; UINT64_MAX = none. */
static uint64_t rank_from(const struct choice *choice, uint64_t from)
{
    uint64_t lowest = UINT64_MAX;
    FOR_NODES(node, choice->map, choice->nodes->words)
    {
        const uint64_t rank = offer_of(choice, node)->rank;
        if (rank >= from && rank < lowest) lowest = rank;
    }
    return lowest;
}

static bool begin(struct choice *choice)
{
    choice_begin(choice);
    choice->retry = RETRY_STOP;
    if (choice->need->tasks && (int64_t)choice->need->tasks < choice->nodes_max_left)
        choice->nodes_max_left = choice->need->tasks;
    return choice_take_required(choice);
}

static bool finish(struct choice *choice)
{
    if (choice_done(choice)) return true;
    choice->retry = RETRY_FEWER;
    return choice->cores_left <= 0 && choice->nodes_min_left <= 0 && choice_gpus_reach(choice, 0);
}

static bool may_go_on(const struct choice *choice)
{
    return choice->nodes_max_left > 0 && !choice_done(choice);
}

static bool try_node(struct choice *choice, uint32_t node)
{
    offer_weigh(choice, node);
    return offer_of(choice, node)->avail > 0 && choice_take(choice, node);
}

/* Of one rank the node with the largest part of its cores free; lowest on a tie. */
static uint32_t least_loaded(const struct choice *choice, uint64_t rank)
{
    uint32_t best = NODE_NONE;
    uint64_t best_free = 0, best_cores = 1;
    FOR_NODES(node, choice->map, choice->nodes->words)
    {
        if (offer_of(choice, node)->rank != rank) continue;
        offer_weigh(choice, node);
        if (offer_of(choice, node)->avail == 0) continue;
        const uint64_t free = choice->picture->cores[node];
        const uint64_t cores = slurm_kind_of(choice->nodes, node)->cores;
        if (best != NODE_NONE && best_free * cores >= free * best_cores) continue;
        best = node;
        best_free = free;
        best_cores = cores;
    }
    return best;
}

bool choose_least_loaded(struct choice *choice)
{
    if (!begin(choice)) return false;
    for (uint64_t rank = rank_from(choice, 0); rank != UINT64_MAX && may_go_on(choice);
         rank = rank_from(choice, rank + 1)) {
        while (may_go_on(choice)) {
            const uint32_t node = least_loaded(choice, rank);
            if (node == NODE_NONE) break;
            choice_take(choice, node);
            set_drop(choice->map, node);
        }
    }
    return finish(choice);
}

bool choose_busy_first(struct choice *choice)
{
    if (!begin(choice)) return false;
    for (uint64_t rank = rank_from(choice, 0); rank != UINT64_MAX && may_go_on(choice);
         rank = rank_from(choice, rank + 1)) {
        for (uint32_t idle = 0; idle < 2; idle++) FOR_NODES(node, choice->map, choice->nodes->words)
            {
                if (!may_go_on(choice)) break;
                if (offer_of(choice, node)->rank != rank) continue;
                if ((choice->picture->jobs[node] == 0) != (idle == 1)) continue;
                if (try_node(choice, node)) set_drop(choice->map, node);
            }
    }
    return finish(choice);
}

bool choose_from_the_end(struct choice *choice)
{
    if (!begin(choice)) return false;
    for (uint64_t rank = rank_from(choice, 0); rank != UINT64_MAX && may_go_on(choice);
         rank = rank_from(choice, rank + 1)) {
        for (uint32_t node = choice->nodes->nodes; node-- > 0 && may_go_on(choice);)
            if (slurm_set_has(choice->map, node) && offer_of(choice, node)->rank == rank &&
                try_node(choice, node))
                set_drop(choice->map, node);
    }
    return finish(choice);
}

/* ---- spread ---------------------------------------------------------------------------------- */

/* Adds nodes by rank and index, one task each, until `nodes` are reached. Returns how many there are. */
static int64_t add_nodes(struct choice *choice, uint64_t *nodes_set, int64_t have, int64_t nodes)
{
    for (uint64_t rank = rank_from(choice, 0); rank != UINT64_MAX && have < nodes;
         rank = rank_from(choice, rank + 1))
        FOR_NODES(node, choice->map, choice->nodes->words)
        {
            if (have >= nodes) break;
            if (offer_of(choice, node)->rank != rank || slurm_set_has(nodes_set, node)) continue;
            if (offer_of(choice, node)->avail == 0) continue;
            offer_of(choice, node)->used = choice->need->cores_per_task;
            set_put(nodes_set, node);
            have++;
        }
    return have;
}

/* Deals tasks over the nodes, one a round, until the job has its cores. False: there are too few. */
static bool deal_tasks(const struct choice *choice, const uint64_t *nodes_set, int64_t nodes)
{
    const uint32_t step = choice->need->cores_per_task;
    int64_t left = (int64_t)choice->need->cores_min - nodes * step;
    for (bool moved = true; left > 0 && moved;) {
        moved = false;
        FOR_NODES(node, nodes_set, choice->nodes->words)
        {
            struct offer *offer = offer_of(choice, node);
            if (left <= 0 || offer->used >= offer->avail) continue;
            offer->used += step;
            left -= step;
            moved = true;
        }
    }
    return left <= 0;
}

bool choose_spread(struct choice *choice)
{
    const uint32_t words = choice->nodes->words;
    choice_begin(choice);
    choice->retry = RETRY_FEWER;
    FOR_NODES(node, choice->map, words) offer_weigh(choice, node);
    uint64_t *nodes_set = choice->chooser->inside;
    memset(nodes_set, 0, words * sizeof *nodes_set);
    int64_t have = 0, most = choice->nodes_max;
    if (choice->need->tasks && choice->need->tasks < choice->nodes_max) most = choice->need->tasks;
    if (choice->need->required) FOR_NODES(node, choice->need->required, words)
        {
            set_put(nodes_set, node);
            offer_of(choice, node)->used = choice->need->cores_per_task;
            have++;
        }
    const int64_t nodes = choice->nodes_left > have ? choice->nodes_left : have;
    have = add_nodes(choice, nodes_set, have, nodes);
    while (!deal_tasks(choice, nodes_set, have)) {
        const int64_t more = add_nodes(choice, nodes_set, have, have + 1);
        if (more == have || more > most) break;
        have = more;
        FOR_NODES(node, nodes_set, words)
        offer_of(choice, node)->used = choice->need->cores_per_task;
    }
    FOR_NODES(node, nodes_set, words)
    {
        offer_of(choice, node)->avail = offer_of(choice, node)->used;
        choice_take(choice, node);
    }
    return choice->cores_left <= 0 && choice->nodes_min_left <= 0 && choice_gpus_reach(choice, 0);
}
