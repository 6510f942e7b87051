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

static bool may_scatter(const struct demand *demand)
{
    return demand->nodes_max > demand->nodes;
}

static struct need need_of(const struct timetable *timetable, const struct demand *demand)
{
    if (may_scatter(demand)) return (struct need){ timetable->at_least[0], demand->gpus };
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

static bool common_holds(const struct timetable *timetable, const struct demand *demand)
{
    if (common_at_least(timetable, demand->per_node) >= demand->nodes) return true;
    if (!may_scatter(demand)) return false;
    uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1], above = 0;
    for (uint32_t f = timetable->gpus_per_node; f > 0; f--) {
        const uint32_t nodes = common_at_least(timetable, f);
        with_free[f] = nodes - above;
        above = nodes;
    }
    with_free[0] = timetable->nodes - above;
    return demand_fits(demand, with_free, timetable->gpus_per_node);
}

/* The last slice of [first, end) that has too little, or UINT32_MAX. */
static uint32_t last_short(struct need need, uint32_t first, uint32_t end)
{
    for (uint32_t s = end; s-- > first;)
        if (need.column[s] < need.least) return s;
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
        const uint32_t blocked = last_short(need, slice + 1, looked_at);
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

/* timetable->common = what is free in all slices of [slice, end); false as soon as it is too little. */
static bool common_of(struct timetable *timetable, const struct demand *demand, uint32_t slice,
                      uint32_t end)
{
    uint64_t *common = timetable->common;
    memcpy(common, timetable->row[slice], timetable->row_words * sizeof *common);
    for (uint32_t s = slice + 1; s < end; s++) {
        const uint64_t *row = timetable->row[s];
        uint64_t lost = 0;
        for (uint32_t w = 0; w < timetable->row_words; w++) {
            lost |= common[w] & ~row[w];
            common[w] &= row[w];
        }
        if (lost && !common_holds(timetable, demand)) return false;
    }
    return true;
}

bool timetable_find(struct timetable *timetable, const struct demand *demand, int64_t length_ns,
                    uint32_t from, int64_t before_ns, uint32_t *slice)
{
    const struct need need = need_of(timetable, demand);
    const uint32_t before = slice_behind(timetable, from, before_ns);
    uint32_t end = 0;
    for (uint32_t s = from;; s++) {
        s = next_start(timetable, need, length_ns, s, before, timetable->count, &end);
        if (s >= before) return false;
        if (!common_of(timetable, demand, s, end)) continue;
        *slice = s;
        return true;
    }
}

/* ---- which nodes ------------------------------------------------------------------------------- */

/* `nodes` nodes with per_node GPUs each, the lowest numbers; the last ones take the rest. */
static uint32_t choose_plain(const struct timetable *timetable, const struct demand *demand,
                             struct part *parts)
{
    const uint64_t bits = level_bits(timetable, demand->per_node);
    uint32_t taken = 0, left = demand->held;
    for (uint32_t w = 0; w < timetable->row_words && taken < demand->nodes; w++)
        for (uint64_t set = timetable->common[w] & bits; set && taken < demand->nodes;
             set &= set - 1) {
            const uint64_t bit = (uint64_t)w * 64 + (uint64_t)__builtin_ctzll(set);
            const uint32_t share =
                demand->even ? (left + demand->nodes - taken - 1) / (demand->nodes - taken)
                             : demand->per_node;
            const uint32_t gpus = left < share ? left : share;
            parts[taken++] =
                (struct part){ .node = (uint32_t)(bit / timetable->field_bits), .gpus = gpus };
            left -= gpus;
        }
    ASSERT(taken == demand->nodes && left == 0);
    return taken;
}

/* Pieces on nodes with at least `floor` GPUs free: by number, or the emptiest first when the number
 * of nodes is limited. */
static uint32_t choose_pieces(const struct timetable *timetable, const struct demand *demand,
                              struct part *parts)
{
    const bool limited = demand->nodes_max < demand->gpus && demand->nodes_max < timetable->nodes;
    uint32_t taken = 0, left = demand->gpus;
    for (uint32_t f = timetable->gpus_per_node; f > 0 && left > 0; f--)
        for (uint32_t node = 0; node < timetable->nodes && left > 0; node++) {
            const uint32_t free_gpus = timetable_free(timetable, timetable->common, node);
            if (free_gpus == 0 || (limited && free_gpus != f)) continue;
            const uint32_t gpus = left < free_gpus ? left : free_gpus;
            parts[taken++] = (struct part){ .node = node, .gpus = gpus };
            left -= gpus;
        }
    ASSERT(left == 0 && taken <= demand->nodes_max);
    return taken;
}

uint32_t timetable_choose(const struct timetable *timetable, const struct demand *demand,
                          struct part *parts)
{
    if (!may_scatter(demand) || common_at_least(timetable, demand->per_node) >= demand->nodes)
        return choose_plain(timetable, demand, parts);
    return choose_pieces(timetable, demand, parts);
}
