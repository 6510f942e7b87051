/* names.h - a table from pairs of names to numbers, for words that jobs and configuration refer to.
 *
 * Open addressing over a power of two of slots, at most half full. Only looked up, never walked, so no order of
 * anything depends on the hash. Names are borrowed and must outlive the table. */
#ifndef GPUPLAN_POLICY_NAMES_H
#define GPUPLAN_POLICY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names_slot {
    const char *first, *second;     /* NULL = empty slot                                             */
    uint32_t first_bytes, second_bytes;
    uint32_t hash, value;
};

/* Zeroed = empty. */
struct names {
    struct names_slot *slots; /* [capacity] owned */
    uint32_t capacity, count;
};

/* A name of given length, which need not end in NUL: a word of a list. */
struct name {
    const char *text;
    uint32_t bytes;
};

struct name name_of(const char *text);

/* Whether the word is this text. */
bool name_is(struct name name, const char *text);

/* The next word of a list: the text up to one of the bytes of `separators`, which is skipped. *list moves on; false at
 * the end of the list. Empty words are given as they are. */
bool name_next(const char **list, const char *separators, struct name *word);

/* The value of a pair; the second name may be empty. NAMES_NONE when it is not there. */
uint32_t names_find(const struct names *names, struct name first, struct name second);

/* The value of a pair, which becomes `value` (not NAMES_NONE) if it was not there. NAMES_NONE: memory is out. */
uint32_t names_add(struct names *names, struct name first, struct name second, uint32_t value);

void names_clear(struct names *names);

#endif
