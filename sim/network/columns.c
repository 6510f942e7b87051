/* columns.c - see the header. */
#include "network/columns.h"

#include <stdlib.h>
#include <string.h>

void *column_resize(void *rows, uint32_t room, size_t item_bytes, bool *ok)
{
    void *grown = realloc(rows, room * item_bytes);
    if (grown != NULL) return grown;
    *ok = false;
    return rows;
}

/* Grows to at least `words`; new ones are 0. */
static bool grow_words(uint64_t **words, uint32_t from, uint32_t to)
{
    uint64_t *grown = realloc(*words, to * sizeof *grown);
    if (grown == NULL) return false;
    memset(grown + from, 0, (to - from) * sizeof *grown);
    *words = grown;
    return true;
}

bool row_set_grow(struct row_set *set, uint32_t rows)
{
    if (rows <= set->rows) return true;
    const uint32_t whole = (rows + 4095) / 4096; /* words of the summary */
    if (!grow_words(&set->words, set->rows / 64, whole * 64)) return false;
    if (!grow_words(&set->summary, set->rows / 4096, whole)) return false;
    set->rows = whole * 4096;
    return true;
}

uint32_t row_set_take(struct row_set *set, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < set->rows / 4096; s++) {
        for (uint64_t words = set->summary[s]; words; words &= words - 1) {
            const uint32_t word = s * 64 + (uint32_t)__builtin_ctzll(words);
            for (uint64_t bits = set->words[word]; bits; bits &= bits - 1)
                list[count++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
            set->words[word] = 0;
        }
        set->summary[s] = 0;
    }
    return count;
}

void row_set_clear(struct row_set *set)
{
    free(set->words);
    free(set->summary);
    *set = (struct row_set){ 0 };
}
