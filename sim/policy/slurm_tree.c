/* slurm_tree.c - topology/tree: all nodes of a job below one switch, on as few leaves as can be (SCHEDULING 2.5). */
#include "policy/slurm_choose.h"

#include <string.h>

#define FAR UINT32_MAX

static const uint64_t *below(const struct choice *choice, uint32_t row)
{
    return choice->nodes->switches.below + (size_t)row * choice->nodes->words;
}

static bool is_leaf(const struct choice *choice, uint32_t row)
{
    return choice->nodes->switches.level[row] == 0;
}

/* Nodes and their cores below each switch that are in `set`. */
static void count_below(const struct choice *choice, const uint64_t *set)
{
    struct slurm_chooser *chooser = choice->chooser;
    for (uint32_t s = 0; s < choice->nodes->switches.count; s++) {
        const uint64_t *nodes = below(choice, s);
        chooser->counts[s] = chooser->cores[s] = 0;
        for (uint32_t w = 0; w < choice->nodes->words; w++)
            for (uint64_t bits = nodes[w] & set[w]; bits; bits &= bits - 1) {
                const uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(bits);
                chooser->counts[s]++;
                chooser->cores[s] += offer_of(choice, node)->cores;
            }
    }
}

/* ---- the top switch -------------------------------------------------------------------------- */

static uint64_t lowest_rank_below(const struct choice *choice, uint32_t row, const uint64_t *set)
{
    const uint64_t *nodes = below(choice, row);
    uint64_t lowest = UINT64_MAX;
    for (uint32_t w = 0; w < choice->nodes->words; w++)
        for (uint64_t bits = nodes[w] & set[w]; bits; bits &= bits - 1) {
            const uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const uint64_t rank = offer_of(choice, node)->rank;
            if (rank < lowest) lowest = rank;
        }
    return lowest;
}

static bool overlaps(const struct choice *choice, uint32_t row, const uint64_t *set)
{
    const uint64_t *nodes = below(choice, row);
    for (uint32_t w = 0; w < choice->nodes->words; w++)
        if (nodes[w] & set[w]) return true;
    return false;
}

/* The highest switch that could hold the job, of those with the lowest rank among its nodes; the last on a tie. */
static uint32_t top_switch(const struct choice *choice)
{
    const struct slurm_switches *switches = &choice->nodes->switches;
    const struct slurm_chooser *chooser = choice->chooser;
    const bool old = choice->nodes->slurm->compat == COMPAT_22_05;
    uint32_t top = NODE_NONE;
    uint64_t top_rank = 0;
    for (uint32_t s = 0; s < switches->count; s++) {
        const bool higher = top == NODE_NONE || switches->level[s] > switches->level[top];
        if (choice->need->required) {
            if (overlaps(choice, s, choice->need->required) && higher) top = s;
            continue;
        }
        if (!choice_enough_nodes(choice, chooser->counts[s])) continue;
        if (!old && choice->cores_left > chooser->cores[s]) continue;
        const uint64_t rank = lowest_rank_below(choice, s, choice->map);
        if (rank == UINT64_MAX) continue;
        if (top == NODE_NONE || (switches->level[s] >= switches->level[top] && rank <= top_rank)) {
            top = s;
            top_rank = rank;
        }
    }
    return top;
}

/* ---- which leaf next ------------------------------------------------------------------------- */

/* Hops between two switches of a tree; FAR = there is no way. */
static uint32_t hops(const struct slurm_switches *switches, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    while (a != b) {
        const bool climb_a = switches->level[a] <= switches->level[b];
        const uint32_t from = climb_a ? a : b, up = switches->parent[from];
        if (up == from) {
            const uint32_t other = climb_a ? b : a;
            if (switches->parent[other] == other) return FAR;
            if (climb_a)
                b = switches->parent[other];
            else
                a = switches->parent[other];
        } else if (climb_a) {
            a = up;
        } else {
            b = up;
        }
        count++;
    }
    return count;
}

static void add_distances(const struct choice *choice, uint32_t row)
{
    uint32_t *dists = choice->chooser->dists;
    for (uint32_t s = 0; s < choice->nodes->switches.count; s++) {
        if (!is_leaf(choice, s) || dists[s] == FAR) continue;
        const uint32_t far = hops(&choice->nodes->switches, row, s);
        dists[s] = far == FAR ? FAR : dists[s] + far;
    }
}

static bool fits(const struct choice *choice, uint32_t row)
{
    const struct slurm_chooser *chooser = choice->chooser;
    if (chooser->counts[row] < choice->nodes_left) return false;
    return choice->nodes->slurm->compat == COMPAT_22_05 ||
           (int64_t)chooser->cores[row] >= choice->cores_left;
}

/* Above 0: leaf a is better than b, by the level at which the first of their switches fits. `fit`: whether the
 * switch of a at which it was decided does. */
static int compare(const struct choice *choice, uint32_t a, uint32_t b, bool *fit)
{
    const struct slurm_switches *switches = &choice->nodes->switches;
    const uint32_t *counts = choice->chooser->counts;
    for (;;) {
        const bool a_fits = fits(choice, a), b_fits = fits(choice, b);
        *fit = a_fits;
        if (a_fits && b_fits && counts[a] != counts[b]) return counts[a] < counts[b] ? 1 : -1;
        if (a_fits && b_fits) break;
        if (a_fits) return 1;
        if (b_fits) return -1;
        const uint32_t up_a = switches->parent[a], up_b = switches->parent[b];
        if (up_a == up_b || (up_a == a && up_b == b)) break;
        a = up_a;
        b = up_b;
    }
    if (counts[a] != counts[b]) return counts[a] > counts[b] ? 1 : -1;
    if (switches->level[a] != switches->level[b])
        return switches->level[a] < switches->level[b] ? 1 : -1;
    return 0;
}

static uint32_t best_leaf(const struct choice *choice)
{
    const struct slurm_chooser *chooser = choice->chooser;
    const bool old = choice->nodes->slurm->compat == COMPAT_22_05;
    uint32_t best = NODE_NONE;
    for (uint32_t s = 0; s < choice->nodes->switches.count; s++) {
        if (chooser->used[s] || !is_leaf(choice, s)) continue;
        if (chooser->counts[s] == 0 || chooser->dists[s] == FAR) continue;
        if (best == NODE_NONE) {
            best = s;
            continue;
        }
        bool fit;
        const int better = compare(choice, s, best, &fit);
        const uint32_t far = chooser->dists[s], best_far = chooser->dists[best];
        if ((far < best_far && (old ? better >= 0 : fit)) || (far == best_far && better > 0))
            best = s;
    }
    return best;
}

/* Nodes taken from a leaf no longer count for it and what is above it. */
static void uncount(const struct choice *choice, uint32_t leaf, uint32_t nodes)
{
    const struct slurm_switches *switches = &choice->nodes->switches;
    uint32_t *counts = choice->chooser->counts;
    for (uint32_t s = leaf;; s = switches->parent[s]) {
        counts[s] -= nodes < counts[s] ? nodes : counts[s];
        if (switches->parent[s] == s) break;
    }
}

/* Takes the nodes of a leaf that are in `best`, from the left. Returns how many. */
static uint32_t take_leaf(struct choice *choice, uint32_t leaf, const uint64_t *best)
{
    const uint64_t *nodes = below(choice, leaf);
    uint32_t taken = 0;
    for (uint32_t w = 0; w < choice->nodes->words; w++)
        for (uint64_t bits = nodes[w] & best[w] & ~choice->chosen[w]; bits; bits &= bits - 1) {
            if (choice_done(choice) || choice->nodes_max_left <= 0) return taken;
            const uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (offer_of(choice, node)->avail && choice_take(choice, node)) taken++;
        }
    return taken;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Gathers the nodes below the top switch rank by rank, lowest first, until they suffice. All but those of the last
 * rank are taken for certain, in `sure`; all are in `best`. False: they never suffice. */
static bool gather(struct choice *choice, uint32_t top, uint64_t *best, uint64_t *sure)
{
    const uint32_t words = choice->nodes->words;
    const uint64_t *nodes = below(choice, top);
    const bool old = choice->nodes->slurm->compat == COMPAT_22_05;
    uint64_t cores = 0, gpus = 0, from = 0, rank;
    int64_t count = 0;
    memset(best, 0, words * sizeof *best);
    memset(sure, 0, words * sizeof *sure);
    do {
        rank = UINT64_MAX;
        FOR_NODES(node, choice->map, words)
        {
            const uint64_t of = offer_of(choice, node)->rank;
            if (slurm_set_has(nodes, node) && of >= from && of < rank) rank = of;
        }
        if (rank == UINT64_MAX) break;
        from = rank + 1;
        memcpy(sure, best, words * sizeof *sure);
        FOR_NODES(node, choice->map, words)
        {
            if (!slurm_set_has(nodes, node) || offer_of(choice, node)->rank != rank) continue;
            offer_weigh(choice, node);
            if (offer_of(choice, node)->avail == 0) continue;
            set_put(best, node);
            cores += offer_of(choice, node)->avail;
            gpus += offer_of(choice, node)->gpus;
            count++;
        }
    } while ((old ? !choice_enough_nodes(choice, count) : count < choice->nodes_left) ||
             (int64_t)cores < choice->cores_left || !choice_gpus_reach(choice, gpus));
    return (int64_t)cores >= choice->cores_left && choice_enough_nodes(choice, count) &&
           choice_gpus_reach(choice, gpus);
}

static void take_sure(struct choice *choice, const uint64_t *sure)
{
    FOR_NODES(node, sure, choice->nodes->words)
    if (choice->nodes_max_left > 0) choice_take(choice, node);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool place_below(struct choice *choice, const uint64_t *best, const uint64_t *sure)
{
    struct slurm_chooser *chooser = choice->chooser;
    const uint32_t count = choice->nodes->switches.count;
    memset(chooser->used, 0, count * sizeof *chooser->used);
    memset(chooser->dists, 0, count * sizeof *chooser->dists);
    for (uint32_t s = 0; s < count; s++)
        chooser->used[s] = overlaps(choice, s, sure) ||
                           (choice->need->required && overlaps(choice, s, choice->need->required));
    for (uint32_t w = 0; w < choice->nodes->words; w++)
        chooser->picked[w] = best[w] | choice->chosen[w];
    count_below(choice, chooser->picked);
    for (uint32_t s = 0; s < count; s++) {
        if (!chooser->used[s] || !is_leaf(choice, s)) continue;
        uncount(choice, s, take_leaf(choice, s, best));
        if (choice_done(choice)) return true;
    }
    for (uint32_t s = 0; s < count; s++)
        if (chooser->used[s]) add_distances(choice, s);
    for (int64_t before = choice->nodes_left + 1; before != choice->nodes_left;) {
        before = choice->nodes_left;
        const uint32_t leaf = best_leaf(choice);
        if (leaf == NODE_NONE) break;
        add_distances(choice, leaf);
        take_leaf(choice, leaf, best);
        if (choice_done(choice)) return true;
        if (choice->nodes_max_left <= 0) break;
        uncount(choice, leaf, chooser->counts[leaf]);
        chooser->counts[leaf] = 0;
    }
    return choice->nodes_min_left <= 0 && choice->cores_left <= 0 && choice_gpus_reach(choice, 0);
}

static uint32_t leaves_used(const struct choice *choice)
{
    uint32_t leaves = 0;
    for (uint32_t s = 0; s < choice->nodes->switches.count; s++)
        leaves += is_leaf(choice, s) && overlaps(choice, s, choice->chosen);
    return leaves;
}

static bool choose_once(struct choice *choice)
{
    struct slurm_chooser *chooser = choice->chooser;
    choice_begin(choice);
    choice->retry = RETRY_STOP;
    count_below(choice, choice->map);
    if (!choice_take_required(choice)) return false;
    const uint32_t top = top_switch(choice);
    if (top == NODE_NONE) return false;
    if (choice->need->required &&
        !slurm_set_within(choice->need->required, below(choice, top), choice->nodes->words))
        return false;
    if (choice_done(choice)) return true;
    if (choice->nodes_max_left <= 0) return false;
    if (!gather(choice, top, chooser->inside, chooser->spare)) {
        for (uint32_t w = 0; w < choice->nodes->words; w++)
            chooser->spare[w] = choice->map[w] & below(choice, top)[w];
        choice->retry = RETRY_WITHOUT;
        return false;
    }
    choice->retry = RETRY_FEWER;
    take_sure(choice, chooser->spare);
    if (choice_done(choice)) return true;
    return place_below(choice, chooser->inside, chooser->spare);
}

/* With --switches fewer nodes than wanted may do, if then they lie on fewer leaves. */
bool choose_tree(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    const uint32_t wanted = choice->nodes_wanted;
    choice->waits_for_switch = false;
    for (;;) {
        if (!choose_once(choice)) break;
        if (!need->switches || leaves_used(choice) <= need->switches ||
            choice->how->waited_ns >= need->switch_wait_ns) {
            choice->nodes_wanted = wanted;
            return true;
        }
        if (choice->nodes_wanted <= choice->nodes_min) {
            choice->waits_for_switch = true;
            choice->retry = RETRY_STOP;
            break;
        }
        choice->nodes_wanted--;
        for (uint32_t w = 0; need->required && w < choice->nodes->words; w++)
            choice->map[w] |= need->required[w];
    }
    choice->nodes_wanted = wanted;
    return false;
}
