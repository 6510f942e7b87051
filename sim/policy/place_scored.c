/* place_scored.c - see place_scored.h. */
#include "policy/place_scored.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/philox.h"
#include "policy/expected_mix.h"
#include "policy/node_states.h"
#include "policy/score.h"

#include <stdlib.h>
#include <string.h>

/* Entities of the stream "policy". */
enum { ENTITY_ORDER, ENTITY_NODE, ENTITY_GPU };

struct scorer {
    enum placement placement;
    struct score_scale scale;
    struct expected_mix mix; /* fgd                                                              */
    struct node_states states;
    uint32_t *rank;    /* [nodes] order of equal scores                                        */
    uint32_t *spare;   /* [nodes] a heap being popped, or the nodes that fit                   */
    uint32_t *found;   /* [nodes] the nodes of parts of one size                               */
    uint64_t *used_at; /* [nodes] search that took the node                                    */
    uint64_t search;   /* number of the search, from 1 on                                      */
    uint64_t round;    /* number of the look for parts of one size, from 1 on                  */
    uint64_t key, draws;
    uint64_t seen; /* touches of the cluster that the states know of                       */
    uint32_t first_node, end_node; /* nodes that count                                        */
    bool failed;
};

bool scorer_wanted(enum placement placement, const struct demand *demands, uint32_t class_count)
{
    if (placement != PLACE_PACK && placement != PLACE_SPREAD) return true;
    for (uint32_t c = 0; c < class_count; c++)
        if (demands[c].by_part) return true;
    return false;
}

bool scorer_failed(const struct scorer *scorer)
{
    return scorer->failed;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void draw_order(struct scorer *scorer, uint32_t nodes)
{
    for (uint32_t node = 0; node < nodes; node++) scorer->rank[node] = node;
    if (scorer->placement == PLACE_PACK || scorer->placement == PLACE_SPREAD) return;
    for (uint32_t i = nodes; i-- > 1;) {
        const double u = stream_uniform(scorer->key, ENTITY_ORDER, i);
        const uint32_t k = (uint32_t)(u * (i + 1)), was = scorer->rank[i];
        scorer->rank[i] = scorer->rank[k];
        scorer->rank[k] = was;
    }
}

static struct score_scale scale_of(const struct cluster *cluster)
{
    struct score_scale scale = { .gpus = cluster->gpus_per_node };
    for (uint32_t g = 0; cluster->cores_milli_free && g < cluster->group_count; g++)
        if (cluster->groups[g].cores_milli > scale.cores_milli)
            scale.cores_milli = cluster->groups[g].cores_milli;
    return scale;
}

struct scorer *scorer_create(const struct policy_view *view)
{
    const uint32_t nodes = view->cluster->nodes;
    struct scorer *scorer = calloc(1, sizeof *scorer);
    if (!scorer) return NULL;
    ASSERT(view->cluster->touched != NULL);
    scorer->placement = view->placement;
    scorer->key = view->key;
    scorer->end_node = nodes;
    scorer->scale = scale_of(view->cluster);
    scorer->rank = malloc(((size_t)nodes + 1) * sizeof *scorer->rank);
    scorer->spare = malloc(((size_t)nodes + 1) * sizeof *scorer->spare);
    scorer->found = malloc(((size_t)nodes + 1) * sizeof *scorer->found);
    scorer->used_at = calloc((size_t)nodes + 1, sizeof *scorer->used_at);
    bool ok = scorer->rank && scorer->spare && scorer->found && scorer->used_at;
    if (ok) draw_order(scorer, nodes);
    ok = ok && node_states_init(&scorer->states, nodes, scorer->rank);
    if (ok && scorer->placement == PLACE_FGD)
        ok = expected_mix_init(&scorer->mix, view->demands, view->requests, view->jobs->count);
    /* Every node is news. */
    scorer->seen = view->cluster->touches - (uint64_t)view->cluster->touched_capacity - 1;
    if (ok) return scorer;
    scorer_destroy(scorer);
    return NULL;
}

void scorer_limit(struct scorer *scorer, uint32_t first_node, uint32_t end_node)
{
    scorer->first_node = first_node;
    scorer->end_node = end_node;
}

void scorer_destroy(struct scorer *scorer)
{
    if (!scorer) return;
    node_states_clear(&scorer->states);
    expected_mix_clear(&scorer->mix);
    free(scorer->rank);
    free(scorer->spare);
    free(scorer->found);
    free(scorer->used_at);
    free(scorer);
}

/* ---- what is free on a node ------------------------------------------------------------------- */

static uint32_t kind_of_grant(const struct grant *grant)
{
    const struct score_ask ask = { .gpus = (uint32_t)bits_count(grant->mask),
                                   .share_milli = grant->share_units ? 1 : 0 };
    return score_kind(&ask);
}

/* Kinds of the jobs that hold GPUs of the node; without lists of grants only whole GPUs are held. */
static uint32_t kinds_on(const struct cluster *cluster, uint32_t node)
{
    uint32_t kinds = 0;
    if (cluster->first_on_node) {
        for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
             row = cluster->grants[row].next_on_node)
            kinds |= kind_of_grant(&cluster->grants[row]);
        return kinds;
    }
    const uint32_t *holder = &cluster->holder[(uint64_t)node * cluster->gpus_per_node];
    for (uint32_t i = 0; i < cluster->gpus_per_node; i++) {
        if (holder[i] == LIVE_NONE) continue;
        struct score_ask ask = { 0 };
        for (uint32_t k = 0; k < cluster->gpus_per_node; k++) ask.gpus += holder[k] == holder[i];
        kinds |= score_kind(&ask);
    }
    return kinds;
}

static struct score_node free_on(const struct scorer *scorer, const struct cluster *cluster,
                                 uint32_t node)
{
    struct score_node is = { .gpus = (uint32_t)bits_count(cluster->full_mask[node]),
                             .group = cluster->group_of[node] };
    if (cluster->cores_milli_free) {
        is.cores_milli_free = cluster->cores_milli_free[node];
        is.memory_free = cluster->memory_free[node];
    }
    if (scorer->placement == PLACE_CLUSTERING) is.kinds = kinds_on(cluster, node);
    for (uint32_t i = 0; i < is.gpus; i++) {
        const uint64_t gpu = (uint64_t)node * cluster->gpus_per_node + i;
        if (cluster->free_mask[node] >> i & 1)
            is.milli_free[i] = SCORE_MILLI;
        else if (cluster->holder[gpu] == LIVE_SHARED && !(cluster->broken_mask[node] >> i & 1))
            is.milli_free[i] =
                (uint16_t)(cluster->share_free[gpu] / (uint32_t)(CLUSTER_UNITS / SCORE_MILLI));
    }
    return is;
}

static void look_at(struct scorer *scorer, const struct cluster *cluster, uint32_t node)
{
    if (cluster->outs[node] || node < scorer->first_node || node >= scorer->end_node) {
        node_states_remove(&scorer->states, node);
        return;
    }
    const struct score_node is = free_on(scorer, cluster, node);
    if (!node_states_put(&scorer->states, node, &is)) scorer->failed = true;
}

/* Brings the states up to date with what changed since the last look. */
static void look(struct scorer *scorer, const struct cluster *cluster)
{
    if (cluster->touches - scorer->seen > cluster->touched_capacity) {
        for (uint32_t node = 0; node < cluster->nodes; node++) look_at(scorer, cluster, node);
    } else {
        for (; scorer->seen != cluster->touches; scorer->seen++)
            look_at(scorer, cluster, cluster->touched[scorer->seen % cluster->touched_capacity]);
    }
    scorer->seen = cluster->touches;
}

/* ---- the search ------------------------------------------------------------------------------- */

/* What a part of the demand with so many GPUs asks of its node. */
static struct score_ask ask_of_part(const struct demand *demand, uint32_t gpus)
{
    return (struct score_ask){
        .gpus = gpus,
        .share_milli = demand->share_milli,
        .cores_milli = demand->part_cores_milli + gpus * demand->cores_milli_per_gpu,
        .memory_bytes = demand->part_memory_bytes + gpus * demand->memory_bytes_per_gpu,
    };
}

static uint32_t free_milli(const struct score_node *node)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < node->gpus; i++) sum += node->milli_free[i];
    return sum;
}

static uint32_t score_of(struct scorer *scorer, struct node_state *state,
                         const struct score_ask *ask)
{
    const struct score_node *const node = &state->free;
    uint32_t gpu;
    switch (scorer->placement) {
    case PLACE_BEST_FIT:
        return score_best_fit(node, ask, scorer->scale);
    case PLACE_DOT_PRODUCT:
        return score_dot_product(node, ask, scorer->scale);
    case PLACE_CLUSTERING:
        return score_clustering(node, ask, scorer->scale);
    case PLACE_PACKING:
        return score_packing(node, ask);
    case PLACE_FGD:
        if (state->fragment < 0) state->fragment = score_fragment(node, &scorer->mix.mix);
        return score_fgd(node, ask, &scorer->mix.mix, state->fragment, &gpu);
    case PLACE_SPREAD:
        return free_milli(node);
    default: /* pack: the fullest */
        return LIMIT_GPUS_PER_SERVER * SCORE_MILLI - free_milli(node);
    }
}

static bool state_fits(const struct node_state *state, const struct demand *demand,
                       const struct score_ask *ask)
{
    return (demand->groups >> state->free.group & 1) && score_fits(&state->free, ask);
}

/* The best state; STATE_NONE when no state fits. */
static uint32_t best_state(struct scorer *scorer, const struct demand *demand,
                           const struct score_ask *ask)
{
    struct node_states *const states = &scorer->states;
    uint32_t best = STATE_NONE, best_score = 0;
    for (uint32_t s = 0; s < states->state_count; s++) {
        struct node_state *const state = &states->states[s];
        if (!state_fits(state, demand, ask)) continue;
        const uint32_t score = score_of(scorer, state, ask);
        if (best != STATE_NONE && score < best_score) continue;
        if (best != STATE_NONE && score == best_score &&
            scorer->rank[state->nodes[0]] > scorer->rank[states->states[best].nodes[0]])
            continue;
        best = s;
        best_score = score;
    }
    return best;
}

static uint32_t draw_below(struct scorer *scorer, uint32_t entity, uint32_t count)
{
    const uint32_t drawn = (uint32_t)(stream_uniform(scorer->key, entity, scorer->draws++) * count);
    return drawn < count ? drawn : count - 1;
}

/* Any `wanted` nodes that fit and are not yet used, into found[]; returns their number, or 0. */
static uint32_t any_nodes(struct scorer *scorer, const struct demand *demand,
                          const struct score_ask *ask, uint32_t wanted)
{
    struct node_states *const states = &scorer->states;
    uint32_t count = 0;
    for (uint32_t s = 0; s < states->state_count; s++) {
        const struct node_state *const state = &states->states[s];
        if (!state_fits(state, demand, ask)) continue;
        for (uint32_t i = 0; i < state->count; i++)
            if (scorer->used_at[state->nodes[i]] != scorer->search)
                scorer->spare[count++] = state->nodes[i];
    }
    if (count < wanted) return 0;
    for (uint32_t i = 0; i < wanted; i++) {
        const uint32_t k = i + draw_below(scorer, ENTITY_NODE, count - i);
        scorer->found[i] = scorer->spare[k];
        scorer->spare[k] = scorer->spare[i];
    }
    return wanted;
}

/* The unused nodes of all states of the best score that is left into spare[], as a heap; those states are then
 * done with. Returns their number; *is_last: no state was left. */
static uint32_t next_score(struct scorer *scorer, bool *is_last)
{
    struct node_states *const states = &scorer->states;
    uint32_t best = 0, count = 0;
    *is_last = true;
    for (uint32_t s = 0; s < states->state_count; s++) {
        const struct node_state *const state = &states->states[s];
        if (state->scored_at != scorer->round) continue;
        if (*is_last || state->score > best) best = state->score;
        *is_last = false;
    }
    for (uint32_t s = 0; s < states->state_count; s++) {
        struct node_state *const state = &states->states[s];
        if (state->scored_at != scorer->round || state->score != best) continue;
        state->scored_at = 0;
        for (uint32_t i = 0; i < state->count; i++)
            if (scorer->used_at[state->nodes[i]] != scorer->search)
                scorer->spare[count++] = state->nodes[i];
    }
    node_heap_make(scorer->rank, scorer->spare, count);
    return count;
}

/* The best `wanted` nodes that fit and are not yet used, into found[]; returns their number, or 0. */
static uint32_t best_nodes(struct scorer *scorer, const struct demand *demand,
                           const struct score_ask *ask, uint32_t wanted)
{
    if (demand->nodes == 1) {
        const uint32_t s = best_state(scorer, demand, ask);
        if (s == STATE_NONE) return 0;
        scorer->found[0] = scorer->states.states[s].nodes[0];
        return 1;
    }
    scorer->round++;
    for (uint32_t s = 0; s < scorer->states.state_count; s++) {
        struct node_state *const state = &scorer->states.states[s];
        if (!state_fits(state, demand, ask)) continue;
        state->score = score_of(scorer, state, ask);
        state->scored_at = scorer->round;
    }
    uint32_t taken = 0;
    while (taken < wanted) {
        bool is_last;
        uint32_t left = next_score(scorer, &is_last);
        if (is_last) return 0;
        for (; left > 0 && taken < wanted; left--) {
            scorer->found[taken++] = scorer->spare[0];
            node_heap_pop(scorer->rank, scorer->spare, left);
        }
    }
    return taken;
}

/* ---- parts ------------------------------------------------------------------------------------ */

static uint32_t emptiest_gpu(const struct score_node *node)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < node->gpus; i++)
        if (node->milli_free[i] > node->milli_free[best]) best = i;
    return best;
}

static uint32_t gpu_for_share(struct scorer *scorer, const struct score_node *node,
                              const struct score_ask *ask)
{
    uint32_t gpu = 0;
    switch (scorer->placement) {
    case PLACE_RANDOM:
        return score_any_gpu(node, ask->share_milli, draw_below(scorer, ENTITY_GPU, UINT32_MAX));
    case PLACE_SPREAD:
        return emptiest_gpu(node);
    case PLACE_FGD:
        score_fgd(node, ask, &scorer->mix.mix, score_fragment(node, &scorer->mix.mix), &gpu);
        return gpu;
    default:
        return score_tightest_gpu(node, ask->share_milli);
    }
}

static struct part part_on(struct scorer *scorer, const struct cluster *cluster,
                           const struct demand *demand, uint32_t node, uint32_t gpus)
{
    struct part part = { .node = node,
                         .gpus = gpus,
                         .cores_milli = demand->part_cores_milli,
                         .memory_bytes = demand->part_memory_bytes };
    if (demand->share_milli) {
        const struct score_ask ask = ask_of_part(demand, gpus);
        const struct score_node is = free_on(scorer, cluster, node);
        part.mask = UINT32_C(1) << gpu_for_share(scorer, &is, &ask);
        part.share_units = demand->share_milli * (uint32_t)(CLUSTER_UNITS / SCORE_MILLI);
    }
    return part;
}

/* GPUs of the next part, the largest first. */
static uint32_t next_part_gpus(const struct demand *demand, uint32_t left, uint32_t nodes_left)
{
    if (demand->held > demand->gpus) return demand->per_node; /* whole nodes */
    if (demand->even) return (left + nodes_left - 1) / nodes_left;
    return left < demand->per_node ? left : demand->per_node;
}

uint32_t scorer_place(struct scorer *scorer, const struct cluster *cluster,
                      const struct demand *demand, struct part *parts)
{
    look(scorer, cluster);
    scorer->search++;
    uint32_t left = demand->gpus, placed = 0;
    while (placed < demand->nodes) {
        /* Parts of one size are found together. */
        const uint32_t gpus = next_part_gpus(demand, left, demand->nodes - placed);
        uint32_t wanted = 0;
        do {
            left -= gpus < left ? gpus : left;
            wanted++;
        } while (placed + wanted < demand->nodes &&
                 next_part_gpus(demand, left, demand->nodes - placed - wanted) == gpus);
        const struct score_ask ask = ask_of_part(demand, gpus);
        const uint32_t found = scorer->placement == PLACE_RANDOM
                                   ? any_nodes(scorer, demand, &ask, wanted)
                                   : best_nodes(scorer, demand, &ask, wanted);
        if (found < wanted) return 0;
        for (uint32_t i = 0; i < wanted; i++) {
            scorer->used_at[scorer->found[i]] = scorer->search;
            parts[placed++] = part_on(scorer, cluster, demand, scorer->found[i], gpus);
        }
    }
    return placed;
}
