/* slurm_runs.c - nodes without a topology: consecutive sets (SCHEDULING 2.4). */
#include "policy/slurm_choose.h"

/* Splits the map into runs of consecutive nodes of one rank. Required nodes are taken already: they stand in a run
 * without counting, and a run of only such nodes is none. Returns their number. */
static uint32_t make_runs(struct choice *choice)
{
    const uint64_t *required = choice->need->required;
    const uint32_t words = choice->nodes->words;
    struct node_run *runs = choice->chooser->runs, *run = NULL;
    uint32_t count = 0, before = NODE_NONE;
    for (uint32_t w = 0; w < words; w++) choice->map[w] |= required ? required[w] : 0;
    FOR_NODES(node, choice->map, words)
    {
        const struct offer *offer = offer_of(choice, node);
        const bool own = required && slurm_set_has(required, node);
        if (!own) offer_weigh(choice, node);
        if (!own && offer->avail == 0) continue;
        const bool follows = run && before + 1 == node;
        if (!follows || (!own && run->nodes && run->rank != offer->rank)) {
            if (!run || run->nodes) run = &runs[count++];
            *run = (struct node_run){ .first = node, .required = NODE_NONE, .rank = offer->rank };
        }
        before = run->last = node;
        if (own) {
            if (run->required == NODE_NONE) run->required = node;
            continue;
        }
        if (run->nodes == 0) run->rank = offer->rank;
        run->nodes++;
        run->cores += offer->avail;
        run->gpus += offer->gpus;
    }
    for (uint32_t w = 0; required && w < words; w++) choice->map[w] &= ~required[w];
    return run && run->nodes == 0 ? count - 1 : count;
}

static bool is_enough(const struct choice *choice, const struct node_run *run)
{
    return (int64_t)run->cores >= choice->cores_left && choice_enough_nodes(choice, run->nodes) &&
           choice_gpus_reach(choice, run->gpus);
}

/* The best run that is left: with required nodes; lowest rank; sufficient; then the tightest of sufficient ones or
 * the largest of others; first on a tie. As in all releases, a run that is not sufficient still displaces a sufficient one
 * that was found before it and is smaller. */
static struct node_run *best_run(const struct choice *choice, uint32_t count)
{
    struct node_run *best = NULL;
    bool best_enough = false;
    for (uint32_t r = 0; r < count; r++) {
        struct node_run *run = &choice->chooser->runs[r];
        if (run->nodes == 0) continue;
        const bool enough = is_enough(choice, run);
        bool better = !best || (best->required == NODE_NONE && run->required != NODE_NONE) ||
                      run->rank < best->rank;
        if (!better && run->rank == best->rank)
            better = enough ? !best_enough || run->cores < best->cores : run->cores > best->cores;
        if (!better) continue;
        best = run;
        best_enough = enough;
    }
    return best;
}

static bool is_open(const struct choice *choice, uint32_t node)
{
    return slurm_set_has(choice->map, node) && offer_of(choice, node)->avail > 0;
}

/* Takes nodes from `from` to `to`, upwards or downwards, until done. */
static void take_range(struct choice *choice, uint32_t from, uint32_t to, int step)
{
    for (uint32_t node = from;; node += (uint32_t)step) {
        if (choice->nodes_max_left <= 0 || choice_done(choice)) return;
        if (is_open(choice, node) &&
            !(choice->nodes_max_left == 1 && step > 0 && choice->need->required == NULL &&
              (int64_t)offer_of(choice, node)->avail < choice->cores_left)) {
            choice_take(choice, node);
            set_drop(choice->map, node);
        }
        if (node == to) return;
    }
}

/* One node is enough: the smallest that holds the rest, first on a tie; NODE_NONE. */
static uint32_t tightest_node(const struct choice *choice, const struct node_run *run)
{
    uint32_t best = NODE_NONE;
    for (uint32_t node = run->first; node <= run->last; node++) {
        const struct offer *offer = offer_of(choice, node);
        if (!is_open(choice, node) || (int64_t)offer->avail < choice->cores_left) continue;
        if (!choice_gpus_reach(choice, offer->gpus)) continue;
        if (best == NODE_NONE || offer->avail < offer_of(choice, best)->avail) best = node;
    }
    return best;
}

static void take_from_run(struct choice *choice, const struct node_run *run)
{
    if (run->required != NODE_NONE) {
        take_range(choice, run->required, run->last, 1);
        if (run->required > run->first) take_range(choice, run->required - 1, run->first, -1);
        return;
    }
    const uint32_t one = choice->nodes_left <= 1 ? tightest_node(choice, run) : NODE_NONE;
    if (one == NODE_NONE)
        take_range(choice, run->first, run->last, 1);
    else
        take_range(choice, one, one, 1);
}

bool choose_runs(struct choice *choice)
{
    choice_begin(choice);
    choice->retry = RETRY_STOP;
    if (!choice_take_required(choice)) return false;
    if (choice_done(choice)) return true;
    if (choice->nodes_max_left <= 0) return false;
    const uint32_t count = make_runs(choice);
    while (choice->nodes_max_left > 0) {
        struct node_run *run = best_run(choice, count);
        if (!run) break;
        take_from_run(choice, run);
        if (choice_done(choice)) return true;
        run->nodes = 0;
    }
    choice->retry = RETRY_FEWER;
    return choice->cores_left <= 0 && choice_gpus_reach(choice, 0) &&
           choice_enough_nodes(choice, 0);
}
