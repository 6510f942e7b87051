/* timetable_find.c - first fit in a plan: see timetable.h. */
#include "base/assert.h"
#include "policy/timetable.h"

#include <string.h>

/* What a slice must have at least: a demand that may use slack needs its GPUs, any other its nodes.
 * Necessary for a start, and cheap. */
struct need {
    const uint32_t
        *column; /* of timetable->at_least                                              */
    uint32_t least;
};

static struct need need_of(const struct timetable *timetable, const struct demand *demand)
{
    if (demand_may_scatter(demand)) return (struct need){ timetable->at_least[0], demand->gpus };
    return (struct need){ timetable->at_least[demand->per_node], demand->nodes };
}

static uint32_t ones_in(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The bit of every field that says "at least f free". */
static uint64_t level_bits(const struct timetable *timetable, uint32_t f)
{
    uint64_t bits = 0;
    for (uint32_t at = f - 1; at < 64; at += timetable->field_bits) bits |= UINT64_C(1) << at;
    return bits;
}

/* Nodes of timetable->common with at least f GPUs free. */
static uint32_t common_at_least(const struct timetable *timetable, uint32_t f)
{
    const uint64_t bits = level_bits(timetable, f);
    uint32_t nodes = 0;
    for (uint32_t w = 0; w < timetable->row_words; w++)
        nodes += ones_in(timetable->common[w] & bits);
    return nodes;
}

/* Whether timetable->common holds the demand in pieces. */
static bool pieces_fit(const struct timetable *timetable, const struct demand *demand)
{
    uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1], above = 0;
    for (uint32_t f = timetable->gpus_per_node; f > 0; f--) {
        const uint32_t nodes = common_at_least(timetable, f);
        with_free[f] = nodes - above;
        above = nodes;
    }
    with_free[0] = timetable->nodes - above;
    return demand_fits(demand, with_free, timetable->gpus_per_node);
}

/* The last slice of [first, end) that has too little, or UINT32_MAX. What is free falls only where a job
 * starts. */
static uint32_t last_short(const struct timetable *timetable, struct need need, uint32_t first,
                           uint32_t end)
{
    for (uint32_t s = end; s-- > first;)
        if (timetable->starts[s] && need.column[s] < need.least) return s;
    return UINT32_MAX;
}

/* The first slice at or behind `slice` that begins at or behind the time. */
static uint32_t slice_behind(const struct timetable *timetable, uint32_t slice, int64_t at_ns)
{
    uint32_t low = slice, high = timetable->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (timetable->begin_ns[middle] < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t end_of(int64_t begin_ns, int64_t length_ns)
{
    return begin_ns < INT64_MAX - length_ns ? begin_ns + length_ns : INT64_MAX;
}

/* The next start at or behind `slice` that the counts allow, and where its time ends; a slice that is
 * too short of GPUs rules out all starts before it whose time reaches it. */
static uint32_t next_start(const struct timetable *timetable, struct need need, int64_t length_ns,
                           uint32_t slice, uint32_t before, uint32_t open, uint32_t *end)
{
    while (slice < before) {
        if (need.column[slice] < need.least) {
            slice++;
            continue;
        }
        *end = slice_behind(timetable, slice + 1, end_of(timetable->begin_ns[slice], length_ns));
        const uint32_t looked_at = *end < open ? *end : open;
        const uint32_t blocked = last_short(timetable, need, slice + 1, looked_at);
        if (blocked == UINT32_MAX) return slice;
        slice = blocked + 1;
    }
    return before;
}

bool timetable_may_start(const struct timetable *timetable, const struct demand *demand,
                         int64_t length_ns, int64_t before_ns, int64_t open_ns)
{
    const uint32_t before = slice_behind(timetable, 0, before_ns);
    const uint32_t open = slice_behind(timetable, 0, open_ns);
    uint32_t end;
    return next_start(timetable, need_of(timetable, demand), length_ns, 0, before, open, &end) <
           before;
}

/* Takes out of timetable->common what the jobs take that start with a slice; returns how many nodes fall
 * below the level whose bits are given. Few words differ, and the row knows which may. */
static uint32_t narrow(struct timetable *timetable, uint32_t slice, uint64_t level)
{
    const uint64_t *row = timetable->row[slice], *touched = row + timetable->row_words;
    uint64_t *common = timetable->common;
    uint32_t lost_nodes = 0;
    for (uint32_t t = 0; t < timetable->touched_words; t++)
        for (uint64_t set = touched[t]; set; set &= set - 1) {
            const uint32_t w = t * 64 + (uint32_t)__builtin_ctzll(set);
            const uint64_t lost = common[w] & ~row[w];
            lost_nodes += ones_in(lost & level);
            common[w] ^= lost;
        }
    return lost_nodes;
}

/* Where a start failed: in this slice only so many nodes were left. */
struct failure {
    uint32_t slice, nodes;
};

/* timetable->common = what is free in all slices of [slice, end); false as soon as it is too little. Where
 * nobody starts, what was free before still is. */
static bool common_of(struct timetable *timetable, const struct demand *demand, uint32_t slice,
                      uint32_t end, struct failure *failure)
{
    const bool scatters = demand_may_scatter(demand);
    const uint64_t level = level_bits(timetable, demand->per_node);
    uint32_t nodes = timetable->at_least[demand->per_node][slice];
    memcpy(timetable->common, timetable->row[slice],
           timetable->row_words * sizeof *timetable->common);
    for (uint32_t s = slice + 1; s < end; s++) {
        if (!timetable->starts[s]) continue;
        nodes -= narrow(timetable, s, level);
        *failure = (struct failure){ s, nodes };
        if (nodes < demand->nodes && !scatters) return false;
    }
    return nodes >= demand->nodes || pieces_fit(timetable, demand);
}

/* The next start worth a look behind one that failed: a later one has at most as many nodes more in the
 * slice where this one failed as have risen to the level by then; each part of a job that starts there
 * hides one. */
static uint32_t behind_failure(const struct timetable *timetable, const struct demand *demand,
                               uint32_t slice, struct failure failure)
{
    if (demand_may_scatter(demand) || failure.slice == slice) return slice + 1;
    const uint32_t *column = timetable->at_least[demand->per_node];
    uint64_t most = (uint64_t)failure.nodes + timetable->starts[slice + 1];
    uint32_t next = slice + 1;
    while (next < failure.slice && most + column[next] < (uint64_t)demand->nodes + column[slice])
        most += timetable->starts[++next];
    return next;
}

bool timetable_find(struct timetable *timetable, const struct demand *demand, int64_t length_ns,
                    uint32_t from, int64_t before_ns, uint32_t *slice)
{
    const struct need need = need_of(timetable, demand);
    const uint32_t before = slice_behind(timetable, from, before_ns);
    uint32_t end = 0;
    struct failure failure;
    for (uint32_t s = from;; s = behind_failure(timetable, demand, s, failure)) {
        s = next_start(timetable, need, length_ns, s, before, timetable->count, &end);
        if (s >= before) return false;
        failure = (struct failure){ s, 0 };
        if (!common_of(timetable, demand, s, end, &failure)) continue;
        *slice = s;
        return true;
    }
}

/* ---- which nodes ------------------------------------------------------------------------------- */

/* The lowest-numbered nodes with per_node GPUs free. All of that is reserved on each, also where the
 * last one takes fewer: a fit asks for it. */
static uint32_t choose_plain(const struct timetable *timetable, const struct demand *demand,
                             struct part *parts)
{
    const uint64_t bits = level_bits(timetable, demand->per_node);
    uint32_t taken = 0;
    for (uint32_t w = 0; w < timetable->row_words && taken < demand->nodes; w++)
        for (uint64_t set = timetable->common[w] & bits; set && taken < demand->nodes;
             set &= set - 1) {
            const uint64_t bit = (uint64_t)w * 64 + (uint64_t)__builtin_ctzll(set);
            parts[taken++] = (struct part){ .node = (uint32_t)(bit / timetable->field_bits),
                                            .gpus = demand->per_node };
        }
    ASSERT(taken == demand->nodes);
    return taken;
}

/* Most GPUs on so many nodes of a histogram. */
static uint64_t most_on(const uint32_t *with_free, uint32_t gpus_per_node, uint32_t nodes)
{
    uint64_t gpus = 0;
    for (uint32_t f = gpus_per_node; f > 0 && nodes > 0; f--) {
        const uint32_t taken = with_free[f] < nodes ? with_free[f] : nodes;
        gpus += (uint64_t)taken * f;
        nodes -= taken;
    }
    return gpus;
}

/* Pieces, each all that its node has: a node is passed over only when those behind it are needed to hold
 * the rest on no more than nodes_max. */
static uint32_t choose_pieces(const struct timetable *timetable, const struct demand *demand,
                              struct part *parts)
{
    const uint32_t g = timetable->gpus_per_node;
    uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1] = { 0 }; /* of the nodes behind */
    for (uint32_t node = 0; node < timetable->nodes; node++)
        with_free[timetable_free(timetable, timetable->common, node)]++;
    uint32_t taken = 0, left = demand->gpus;
    for (uint32_t node = 0; node < timetable->nodes && left > 0; node++) {
        const uint32_t free_gpus = timetable_free(timetable, timetable->common, node);
        with_free[free_gpus]--;
        const uint32_t gpus = left < free_gpus ? left : free_gpus;
        if (gpus == 0 || taken == demand->nodes_max) continue;
        if (most_on(with_free, g, demand->nodes_max - taken - 1) < left - gpus) continue;
        parts[taken++] = (struct part){ .node = node, .gpus = gpus };
        left -= gpus;
    }
    ASSERT(left == 0);
    return taken;
}

uint32_t timetable_choose(const struct timetable *timetable, const struct demand *demand,
                          struct part *parts)
{
    /* The plain shape when it is whole: nobody else can take a part of its nodes. */
    const bool plain = demand->held == demand->nodes * demand->per_node &&
                       common_at_least(timetable, demand->per_node) >= demand->nodes;
    if (plain || !demand_may_scatter(demand)) return choose_plain(timetable, demand, parts);
    return choose_pieces(timetable, demand, parts);
}
