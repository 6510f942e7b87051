/* bitset.c - see bitset.h. */
#include "cluster/bitset.h"

#include "base/assert.h"

bool bitset_init(struct bitset *set, struct arena *arena, uint32_t rows)
{
    set->count = 0;
    uint32_t bits = rows ? rows : 1;
    for (int level = 0; level < 3; level++) {
        set->words[level] = (bits + 63) / 64;
        set->level[level] = ARENA_ARRAY(arena, uint64_t, set->words[level]);
        if (!set->level[level]) return false;
        bits = set->words[level];
    }
    return true;
}

void bitset_add(struct bitset *set, uint32_t row)
{
    ASSERT(!bitset_has(set, row));
    for (int level = 0; level < 3; level++, row /= 64)
        set->level[level][row / 64] |= UINT64_C(1) << (row % 64);
    set->count++;
}

void bitset_remove(struct bitset *set, uint32_t row)
{
    ASSERT(bitset_has(set, row));
    for (int level = 0; level < 3; level++, row /= 64) {
        uint64_t *word = &set->level[level][row / 64];
        *word &= ~(UINT64_C(1) << (row % 64));
        if (*word) break;
    }
    set->count--;
}

/* The first bit at or behind `bit` of one level, going up where a word is empty and down again. */
static uint32_t next_bit(const struct bitset *set, int level, uint32_t bit)
{
    const uint32_t word = bit / 64;
    if (word >= set->words[level]) return BITSET_NONE;
    const uint64_t rest = set->level[level][word] >> (bit % 64);
    if (rest) return bit + (uint32_t)__builtin_ctzll(rest);
    if (level == 2) {
        for (uint32_t w = word + 1; w < set->words[2]; w++)
            if (set->level[2][w]) return w * 64 + (uint32_t)__builtin_ctzll(set->level[2][w]);
        return BITSET_NONE;
    }
    const uint32_t up = next_bit(set, level + 1, word + 1);
    if (up == BITSET_NONE) return BITSET_NONE;
    return up * 64 + (uint32_t)__builtin_ctzll(set->level[level][up]);
}

uint32_t bitset_next(const struct bitset *set, uint32_t row)
{
    return set->count ? next_bit(set, 0, row) : BITSET_NONE;
}

static uint32_t top_bit(uint64_t word)
{
    return 63 - (uint32_t)__builtin_clzll(word);
}

/* The last bit at or before `bit` of one level. */
static uint32_t previous_bit(const struct bitset *set, int level, uint32_t bit)
{
    const uint32_t word = bit / 64;
    const uint64_t rest = set->level[level][word] << (63 - bit % 64);
    if (rest) return bit - (uint32_t)__builtin_clzll(rest);
    if (word == 0) return BITSET_NONE;
    if (level == 2) {
        for (uint32_t w = word; w-- > 0;)
            if (set->level[2][w]) return w * 64 + top_bit(set->level[2][w]);
        return BITSET_NONE;
    }
    const uint32_t up = previous_bit(set, level + 1, word - 1);
    return up == BITSET_NONE ? BITSET_NONE : up * 64 + top_bit(set->level[level][up]);
}

uint32_t bitset_previous(const struct bitset *set, uint32_t row)
{
    const uint32_t last = set->words[0] * 64 - 1;
    return set->count ? previous_bit(set, 0, row < last ? row : last) : BITSET_NONE;
}
