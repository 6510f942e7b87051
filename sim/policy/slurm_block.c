/* slurm_block.c - topology/block: a job stays in one aggregate of base blocks (SCHEDULING 2.6).
 *
 * Three sizes count. The base block; the aggregate, the smallest allowed one that holds the job; and in between the
 * largest allowed one below it, which the job uses as few of as its size asks for. A segment is placed as a job of
 * its own on what the ones before it left. */
#include "policy/slurm_choose.h"

#include <string.h>

struct levels {
    uint32_t
        blocks_each; /* base blocks of an aggregate                                           */
    uint32_t aggregates;
    uint32_t
        inner_blocks;   /* base blocks of the largest allowed size below it                       */
    int64_t inner_most; /* how many of those the job may touch                                   */
    bool inner_counts;
};

static const uint64_t *of_block(const struct choice *choice, uint32_t block)
{
    return choice->nodes->blocks.of_block + (size_t)block * choice->nodes->words;
}

static uint32_t div_up(uint32_t value, uint32_t by)
{
    return value / by + (value % by != 0);
}

static struct levels levels_for(const struct choice *choice, uint32_t nodes)
{
    const struct slurm_blocks *blocks = &choice->nodes->blocks;
    const uint32_t needed = div_up(nodes, blocks->size_nodes);
    uint32_t level = 0, inner = 0;
    while (UINT32_C(1) << level < needed) level++;
    for (uint32_t l = 0; l < level; l++)
        if (blocks->levels >> l & 1) inner = l;
    while (level < 32 && !(blocks->levels >> level & 1)) level++;
    struct levels levels = { .inner_blocks = UINT32_C(1) << inner };
    levels.blocks_each = level == 32 ? blocks->count : UINT32_C(1) << level;
    levels.aggregates = level == 32 ? 1 : div_up(blocks->count, levels.blocks_each);
    levels.inner_most = div_up(nodes, levels.inner_blocks * blocks->size_nodes);
    levels.inner_counts = levels.blocks_each != levels.inner_blocks * (uint32_t)levels.inner_most;
    return levels;
}

static uint32_t count_in(const struct choice *choice, uint32_t block, const uint64_t *set)
{
    const uint64_t *nodes = of_block(choice, block);
    uint32_t count = 0;
    for (uint32_t w = 0; w < choice->nodes->words; w++) {
        const uint64_t bits = nodes[w] & set[w];
        count += (uint32_t)(bits_count((uint32_t)bits) + bits_count((uint32_t)(bits >> 32)));
    }
    return count;
}

static void nodes_of_aggregate(const struct choice *choice, const struct levels *levels,
                               uint32_t aggregate, const uint64_t *map, uint64_t *set)
{
    memset(set, 0, choice->nodes->words * sizeof *set);
    const uint32_t first = aggregate * levels->blocks_each;
    for (uint32_t b = first; b < first + levels->blocks_each && b < choice->nodes->blocks.count;
         b++)
        for (uint32_t w = 0; w < choice->nodes->words; w++)
            set[w] |= of_block(choice, b)[w] & map[w];
}

/* ---- the aggregate --------------------------------------------------------------------------- */

/* Nodes of the aggregate that the job can reach: those of as many of its inner aggregates, the fullest ones, as the
 * job may touch. counts[] are of base blocks. */
static uint64_t reachable(const struct choice *choice, const struct levels *levels,
                          uint32_t aggregate)
{
    const uint32_t *counts = choice->chooser->counts;
    const uint32_t first = aggregate * levels->blocks_each;
    uint32_t last = first + levels->blocks_each;
    if (last > choice->nodes->blocks.count) last = choice->nodes->blocks.count;
    uint32_t *sums = choice->chooser->cores, sum_count = 0;
    uint64_t all = 0;
    for (uint32_t b = first; b < last; b++) {
        if ((b - first) % levels->inner_blocks == 0) sums[sum_count++] = 0;
        sums[sum_count - 1] += counts[b];
        all += counts[b];
    }
    if (!levels->inner_counts) return all;
    uint64_t reach = 0;
    for (int64_t i = 0; i < levels->inner_most; i++) {
        uint32_t fullest = UINT32_MAX;
        for (uint32_t s = 0; s < sum_count; s++)
            if (sums[s] != UINT32_MAX && (fullest == UINT32_MAX || sums[s] > sums[fullest]))
                fullest = s;
        if (fullest == UINT32_MAX) break;
        reach += sums[fullest];
        sums[fullest] = UINT32_MAX;
    }
    return reach;
}

struct aggregate {
    uint32_t index;
    uint64_t rank, nodes;
};

/* The aggregate for the job: lowest rank of its best node, then fewest usable nodes; the later one on a tie. */
static struct aggregate best_aggregate(const struct choice *choice, const struct levels *levels)
{
    const uint64_t *required = choice->need->required;
    uint64_t *inside = choice->chooser->inside;
    struct aggregate best = { .index = NODE_NONE };
    for (uint32_t b = 0; b < choice->nodes->blocks.count; b++)
        choice->chooser->counts[b] = count_in(choice, b, choice->map);
    for (uint32_t a = 0; a < levels->aggregates; a++) {
        if (required) {
            nodes_of_aggregate(choice, levels, a, required, inside);
            if (set_next(inside, choice->nodes->words, 0) == NODE_NONE) continue;
            return (struct aggregate){ .index = a };
        }
        nodes_of_aggregate(choice, levels, a, choice->map, inside);
        struct aggregate one = { .index = a, .rank = UINT64_MAX };
        uint64_t cores = 0;
        FOR_NODES(node, inside, choice->nodes->words)
        {
            const struct offer *offer = offer_of(choice, node);
            if (offer->rank < one.rank) one.rank = offer->rank;
            cores += offer->cores;
            one.nodes++;
        }
        if (one.nodes == 0 || (int64_t)cores < choice->cores_left) continue;
        if (!choice_enough_nodes(choice, (int64_t)reachable(choice, levels, a))) continue;
        if (best.index == NODE_NONE || one.rank < best.rank ||
            (one.rank == best.rank && one.nodes <= best.nodes))
            best = one;
    }
    return best;
}

/* ---- base blocks inside it ------------------------------------------------------------------- */

struct inside {
    const struct levels *levels;
    uint32_t first,
        last;           /* base blocks of the aggregate, last excluded                            */
    int64_t inner_left; /* inner aggregates that may still be opened                              */
};

static bool inner_is_open(const struct choice *choice, const struct inside *in, uint32_t block)
{
    const uint32_t inner = block / in->levels->inner_blocks;
    for (uint32_t b = in->first; b < in->last; b++)
        if (choice->chooser->used[b] && b / in->levels->inner_blocks == inner) return true;
    return false;
}

static uint32_t inner_nodes(const struct choice *choice, const struct inside *in, uint32_t block)
{
    const uint32_t inner = block / in->levels->inner_blocks;
    uint32_t nodes = 0;
    for (uint32_t b = in->first; b < in->last; b++)
        if (b / in->levels->inner_blocks == inner && !choice->chooser->used[b])
            nodes += choice->chooser->counts[b];
    return nodes;
}

/* Above 0: `more` nodes are better than `less` for a job that still needs so many: enough before too few; of enough
 * the fewest, of too few the most. */
static int tighter(int64_t needed, uint32_t one, uint32_t other)
{
    const bool one_fits = one >= needed, other_fits = other >= needed;
    if (one_fits != other_fits) return one_fits ? 1 : -1;
    if (one == other) return 0;
    return (one < other) == one_fits ? 1 : -1;
}

static bool is_better(const struct choice *choice, const struct inside *in, uint32_t block,
                      uint32_t best)
{
    const uint32_t each = in->levels->inner_blocks;
    if (in->levels->inner_counts && block / each != best / each) {
        const bool open = inner_is_open(choice, in, block);
        const bool best_open = inner_is_open(choice, in, best);
        if (open != best_open) return open;
        const int better = tighter(choice->nodes_left, inner_nodes(choice, in, block),
                                   inner_nodes(choice, in, best));
        if (better) return better > 0;
    }
    const uint32_t *counts = choice->chooser->counts;
    return tighter(choice->nodes_left, counts[block], counts[best]) >= 0;
}

/* Takes nodes of a block from the left. */
static void take_block(struct choice *choice, uint32_t block, const uint64_t *set)
{
    for (uint32_t w = 0; w < choice->nodes->words; w++)
        for (uint64_t bits = of_block(choice, block)[w] & set[w] & ~choice->chosen[w]; bits;
             bits &= bits - 1) {
            if (choice_done(choice) || choice->nodes_max_left <= 0) return;
            const uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (offer_of(choice, node)->avail) choice_take(choice, node);
        }
}

static void open_block(const struct choice *choice, struct inside *in, uint32_t block)
{
    if (!inner_is_open(choice, in, block)) in->inner_left--;
    choice->chooser->used[block] = 1;
}

/* Blocks that hold required nodes, or sure ones, come first. */
static bool take_opened(struct choice *choice, struct inside *in, const uint64_t *set)
{
    for (uint32_t b = in->first; b < in->last; b++)
        if (count_in(choice, b, choice->chosen)) open_block(choice, in, b);
    if (in->levels->inner_counts && in->inner_left < 0) return false;
    for (uint32_t b = in->first; b < in->last && !choice_done(choice); b++)
        if (choice->chooser->used[b]) take_block(choice, b, set);
    return true;
}

static bool take_blocks(struct choice *choice, struct inside *in, const uint64_t *set)
{
    struct slurm_chooser *chooser = choice->chooser;
    memset(chooser->used, 0, choice->nodes->blocks.count * sizeof *chooser->used);
    if (!take_opened(choice, in, set)) return false;
    for (uint32_t b = in->first; b < in->last; b++)
        chooser->counts[b] = chooser->used[b] ? 0 : count_in(choice, b, set);
    for (int64_t before = choice->nodes_left + 1;
         before != choice->nodes_left && !choice_done(choice);) {
        before = choice->nodes_left;
        uint32_t best = NODE_NONE;
        for (uint32_t b = in->first; b < in->last; b++)
            if (!chooser->used[b] && (best == NODE_NONE || is_better(choice, in, b, best)))
                best = b;
        if (best == NODE_NONE) break;
        if (in->levels->inner_counts && in->inner_left <= 0 && !inner_is_open(choice, in, best))
            break;
        open_block(choice, in, best);
        take_block(choice, best, set);
    }
    return choice_done(choice) ||
           (choice->nodes_min_left <= 0 && choice->cores_left <= 0 && choice_gpus_reach(choice, 0));
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Nodes of the aggregate by rank, lowest first, until they suffice; all ranks but the last are taken at once. The
 * nodes to choose from are left in `set`. */
static bool gather(struct choice *choice, uint64_t *set, uint64_t *sure)
{
    const uint32_t words = choice->nodes->words;
    uint64_t *all = choice->chooser->inside, from = 0, cores = 0, gpus = 0;
    int64_t count = 0;
    memset(set, 0, words * sizeof *set);
    memset(sure, 0, words * sizeof *sure);
    for (;;) {
        uint64_t rank = UINT64_MAX;
        FOR_NODES(node, all, words)
        {
            const uint64_t of = offer_of(choice, node)->rank;
            if (of >= from && of < rank) rank = of;
        }
        if (rank == UINT64_MAX) break;
        from = rank + 1;
        memcpy(sure, set, words * sizeof *sure);
        FOR_NODES(node, all, words)
        {
            if (offer_of(choice, node)->rank != rank) continue;
            offer_weigh(choice, node);
            if (offer_of(choice, node)->avail == 0) continue;
            set_put(set, node);
            cores += offer_of(choice, node)->avail;
            gpus += offer_of(choice, node)->gpus;
            count++;
        }
        if (count >= choice->nodes_left && (int64_t)cores >= choice->cores_left &&
            choice_gpus_reach(choice, gpus))
            return true;
    }
    return (int64_t)cores >= choice->cores_left && choice_enough_nodes(choice, count) &&
           choice_gpus_reach(choice, gpus);
}

/* Whether some aggregate holds enough in sum; if none does, leaving out nodes will not help. */
static bool some_reaches(const struct choice *choice, const struct levels *levels)
{
    for (uint32_t a = 0; a < levels->aggregates; a++) {
        uint64_t cores = 0, gpus = 0;
        nodes_of_aggregate(choice, levels, a, choice->map, choice->chooser->inside);
        FOR_NODES(node, choice->chooser->inside, choice->nodes->words)
        {
            cores += offer_of(choice, node)->cores;
            gpus += offer_of(choice, node)->gpus_free;
        }
        if ((int64_t)cores >= choice->cores_left && choice_gpus_reach(choice, gpus)) return true;
    }
    return false;
}

/* ---- one segment, and all -------------------------------------------------------------------- */

static bool place(struct choice *choice, uint32_t nodes)
{
    struct slurm_chooser *chooser = choice->chooser;
    const struct levels levels = levels_for(choice, nodes);
    if (!choice_take_required(choice)) return false;
    const struct aggregate best = best_aggregate(choice, &levels);
    if (best.index == NODE_NONE) return false;
    if (choice->need->required) {
        nodes_of_aggregate(choice, &levels, best.index, choice->nodes->all, chooser->inside);
        if (!slurm_set_within(choice->need->required, chooser->inside, choice->nodes->words))
            return false;
    }
    if (choice_done(choice)) return true;
    if (choice->nodes_max_left <= 0) return false;
    nodes_of_aggregate(choice, &levels, best.index, choice->map, chooser->inside);
    choice->retry = RETRY_FEWER;
    if (!gather(choice, chooser->picked, chooser->spare)) {
        if (!some_reaches(choice, &levels)) choice->retry = RETRY_STOP;
        return false;
    }
    FOR_NODES(node, chooser->spare, choice->nodes->words)
    if (choice->nodes_max_left > 0) choice_take(choice, node);
    if (choice_done(choice)) return true;
    struct inside in = { &levels, best.index * levels.blocks_each, 0, levels.inner_most };
    in.last = in.first + levels.blocks_each;
    if (in.last > choice->nodes->blocks.count) in.last = choice->nodes->blocks.count;
    return take_blocks(choice, &in, chooser->picked);
}

/* What one of `count` equal segments needs; chosen and GPUs of the ones before stay. */
static void begin_segment(struct choice *choice, uint32_t segment, uint32_t count)
{
    choice->nodes_left = choice->nodes_min_left = choice->nodes_min / count;
    choice->nodes_max_left = choice->nodes_max / count;
    if (choice->nodes_max_left < segment) choice->nodes_max_left = segment;
    choice->cores_left = choice->need->cores_min / count;
    choice->cores_most_left = choice->cores_left;
}

/* Each segment in turn. --nodelist then must name all nodes, and any of them may be in any segment. */
static bool place_segments(struct choice *choice, uint32_t segment, uint32_t count)
{
    const struct slurm_need *whole = choice->need;
    struct slurm_need need = *whole;
    need.required = NULL;
    need.required_count = 0;
    if (whole->required && whole->required_count < choice->nodes_min) return false;
    for (uint32_t w = 0; whole->required && w < choice->nodes->words; w++)
        choice->map[w] &= whole->required[w];
    choice->need = &need;
    bool placed = true;
    for (uint32_t s = 0; s < count && placed; s++) {
        begin_segment(choice, segment, count);
        for (uint32_t w = 0; w < choice->nodes->words; w++) choice->map[w] &= ~choice->chosen[w];
        placed = place(choice, segment);
    }
    choice->need = whole;
    return placed;
}

bool choose_block(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    const uint32_t wanted = choice->nodes_wanted, nodes = choice->nodes_min;
    const uint32_t segment = need->segment > nodes ? 0 : need->segment;
    bool placed = false;
    choice->nodes_wanted = choice->nodes_min; /* always the smallest number asked for */
    choice_begin(choice);
    choice->retry = RETRY_STOP;
    if (!segment || segment == nodes)
        placed = place(choice, nodes);
    else if (nodes % segment == 0)
        placed = place_segments(choice, segment, nodes / segment);
    choice->nodes_wanted = wanted;
    return placed;
}
