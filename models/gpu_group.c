/* gpu_group.c - see gpu_group.h.
 *
 * A division is built group by group, each with the lowest GPU that is left, so no division is seen twice.
 * What is best for a set of GPUs does not depend on the groups before it: it is remembered by set, which
 * turns two million divisions of 16 GPUs into pairs into 32,768 sets. */
#include "models/gpu_group.h"

#include "base/assert.h"
#include "base/bits.h"

#include <stdbool.h>

enum { UNKNOWN = INT32_MIN, IMPOSSIBLE = INT32_MIN + 1 };

struct division {
    const int16_t (*score)[GPU_GROUP_WIDTH];
    uint32_t place[GPU_GROUP_MOST]; /* GPU of each place: sets are of places                    */
    uint32_t must, size;
    int32_t best[1u << GPU_GROUP_MOST]; /* of each set of places: largest sum, or the two above */
};

static uint32_t gpus_of(const struct division *division, uint32_t places)
{
    uint32_t gpus = 0;
    for (; places; places &= places - 1) gpus |= 1u << division->place[__builtin_ctz(places)];
    return gpus;
}

int32_t gpu_group_score(const int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH], uint32_t group)
{
    int32_t sum = 0;
    for (uint32_t a = group; a; a &= a - 1)
        for (uint32_t b = a & (a - 1); b; b &= b - 1)
            sum += score[__builtin_ctz(a)][__builtin_ctz(b)];
    return sum;
}

static int32_t score_of(const struct division *division, uint32_t places)
{
    return gpu_group_score(division->score, gpus_of(division, places));
}

/* A cursor over the groups that hold the lowest place of a set, in order of their places; the group of the
 * rest, when the set does not divide evenly, comes where its missing places would stand: behind the others. */
struct groups {
    uint32_t left;   /* the set                                                              */
    uint32_t chosen; /* the group now                                                        */
    uint32_t size, rest;
    bool first;
};

/* The next larger set of so many places in lexicographic order of (first, second, ...) places. */
static uint32_t lexicographic_next(uint32_t left, uint32_t chosen)
{
    uint32_t free_above = 0; /* places of `left` above the one looked at that are not chosen */
    for (uint32_t rest = left; rest;) {
        const uint32_t top = 1u << (31 - __builtin_clz(rest));
        rest &= ~top;
        if (!(chosen & top)) {
            free_above |= top;
            continue;
        }
        if (!free_above) continue;
        /* `top` moves up by one place, all chosen places above it follow closely. */
        uint32_t moved = (uint32_t)bits_count(chosen & ~(top - 1));
        chosen &= top - 1;
        for (uint32_t up = left & ~((top << 1) - 1); moved > 0; up &= up - 1, moved--)
            chosen |= up & (~up + 1);
        return chosen;
    }
    return 0;
}

static uint32_t lowest_places(uint32_t left, uint32_t count)
{
    uint32_t chosen = 0;
    for (; count > 0; count--, left &= left - 1) chosen |= left & (~left + 1);
    return chosen;
}

static bool groups_next(struct groups *groups)
{
    const uint32_t lowest = groups->left & (~groups->left + 1);
    uint32_t next = groups->first ? lowest_places(groups->left, groups->size)
                                  : lexicographic_next(groups->left, groups->chosen);
    groups->first = false;
    if (!(next & lowest)) return false;
    groups->chosen = next;
    return true;
}

/* Whether a group may stand in a division: what must be included is together in one full group. */
static bool keeps_must(const struct division *division, uint32_t group, bool full)
{
    const uint32_t in = group & division->must;
    return !in || (full && in == division->must);
}

static int32_t best_of(struct division *division, uint32_t left)
{
    if (!left) return 0;
    if (division->best[left] != UNKNOWN) return division->best[left];
    int32_t best = IMPOSSIBLE;
    const uint32_t rest = (uint32_t)bits_count(left) % division->size;
    for (int full = 1; full >= 0; full--) {
        struct groups groups = { .left = left,
                                 .size = full ? division->size : rest,
                                 .first = true };
        if (groups.size == 0 || groups.size > (uint32_t)bits_count(left)) continue;
        while (groups_next(&groups)) {
            if (!keeps_must(division, groups.chosen, full)) continue;
            const int32_t behind = best_of(division, left & ~groups.chosen);
            if (behind == IMPOSSIBLE) continue;
            const int32_t sum = behind + score_of(division, groups.chosen);
            if (sum > best) best = sum;
        }
    }
    division->best[left] = best;
    return best;
}

/* Order of two groups as the divisions are counted: by their places, a missing one behind all others. */
static bool group_is_before(uint32_t a, uint32_t b)
{
    const uint32_t differ = a ^ b;
    return differ && (a & (differ & (~differ + 1)));
}

/* The group that the first best division of `left` begins with. */
static uint32_t first_group(struct division *division, uint32_t left, bool *is_full)
{
    const int32_t best = best_of(division, left);
    const uint32_t rest = (uint32_t)bits_count(left) % division->size;
    uint32_t found = 0;
    for (int full = 1; full >= 0; full--) {
        struct groups groups = { .left = left,
                                 .size = full ? division->size : rest,
                                 .first = true };
        if (groups.size == 0 || groups.size > (uint32_t)bits_count(left)) continue;
        while (groups_next(&groups)) {
            if (!keeps_must(division, groups.chosen, full)) continue;
            const int32_t behind = best_of(division, left & ~groups.chosen);
            if (behind == IMPOSSIBLE || behind + score_of(division, groups.chosen) != best)
                continue;
            if (!found || group_is_before(groups.chosen, found)) {
                found = groups.chosen;
                *is_full = full;
            }
            break;
        }
    }
    return found;
}

/* The places that are divided: those of `must`, then the lowest. */
static uint32_t divided_gpus(uint32_t available, uint32_t must)
{
    uint32_t gpus = must, others = available & ~must;
    for (; others && bits_count(gpus) < GPU_GROUP_MOST; others &= others - 1)
        gpus |= others & (~others + 1);
    return gpus;
}

uint32_t gpu_group_preferred(const int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH],
                             uint32_t available, uint32_t must, uint32_t size)
{
    const uint32_t count = (uint32_t)bits_count(available);
    if (size == 0 || size > count || (must & ~available) || (uint32_t)bits_count(must) > size)
        return 0;
    if (size > GPU_GROUP_MOST) { /* all but a few of a large node: the lowest */
        const uint32_t others = size - (uint32_t)bits_count(must);
        return must | lowest_places(available & ~must, others);
    }
    struct division division = { .score = score, .size = size };
    const uint32_t gpus = divided_gpus(available, must);
    uint32_t places = 0;
    for (uint32_t rest = gpus; rest; rest &= rest - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctz(rest);
        if (must >> gpu & 1) division.must |= 1u << places;
        division.place[places++] = gpu;
    }
    for (uint32_t set = 0; set < 1u << places; set++) division.best[set] = UNKNOWN;
    uint32_t best = 0;
    int32_t best_score = 0;
    for (uint32_t left = (uint32_t)(1u << places) - 1; left;) {
        bool full = false;
        const uint32_t group = first_group(&division, left, &full);
        if (!group) break;
        left &= ~group;
        if (!full || (division.must & ~group)) continue;
        const int32_t sum = score_of(&division, group);
        if (best && sum <= best_score) continue;
        best = group;
        best_score = sum;
    }
    return gpus_of(&division, best);
}
