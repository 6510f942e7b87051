/* names.c - see names.h. */
#include "policy/names.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a; the byte between the names keeps ("ab", "c") and ("a", "bc") apart. */
static uint32_t hash_bytes(uint32_t hash, const char *text, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) hash = (hash ^ (uint8_t)text[i]) * UINT32_C(16777619);
    return hash;
}

static uint32_t hash_pair(struct name first, struct name second)
{
    uint32_t hash = hash_bytes(UINT32_C(2166136261), first.text, first.bytes);
    hash = hash_bytes(hash, "\xff", 1);
    hash = hash_bytes(hash, second.text, second.bytes);
    return hash ^ hash >> 15; /* FNV's low bits alone are weak for names that differ at the end */
}

struct name name_of(const char *text)
{
    return (struct name){ .text = text, .bytes = (uint32_t)strlen(text) };
}

bool name_is(struct name name, const char *text)
{
    return strlen(text) == name.bytes && memcmp(name.text, text, name.bytes) == 0;
}

bool name_next(const char **list, const char *separators, struct name *word)
{
    if (!*list || !**list) return false;
    const size_t bytes = strcspn(*list, separators);
    *word = (struct name){ .text = *list, .bytes = (uint32_t)bytes };
    *list += bytes + ((*list)[bytes] ? 1 : 0);
    return true;
}

/* The slot that holds the pair, or the empty one where it belongs. */
static uint32_t slot_of(const struct names *names, struct name first, struct name second,
                        uint32_t hash)
{
    uint32_t at = hash & (names->capacity - 1);
    for (;; at = (at + 1) & (names->capacity - 1)) {
        const struct names_slot *slot = &names->slots[at];
        if (!slot->first) return at;
        if (slot->hash == hash && slot->first_bytes == first.bytes &&
            slot->second_bytes == second.bytes &&
            memcmp(slot->first, first.text, first.bytes) == 0 &&
            memcmp(slot->second, second.text, second.bytes) == 0)
            return at;
    }
}

uint32_t names_find(const struct names *names, struct name first, struct name second)
{
    if (names->count == 0) return NAMES_NONE;
    const struct names_slot *slot =
        &names->slots[slot_of(names, first, second, hash_pair(first, second))];
    return slot->first ? slot->value : NAMES_NONE;
}

static bool grow(struct names *names)
{
    struct names larger = { .capacity = names->capacity ? 2 * names->capacity : 64,
                            .count = names->count };
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint32_t i = 0; i < names->capacity; i++) {
        const struct names_slot *slot = &names->slots[i];
        if (!slot->first) continue;
        uint32_t at = slot->hash & (larger.capacity - 1);
        while (larger.slots[at].first) at = (at + 1) & (larger.capacity - 1);
        larger.slots[at] = *slot;
    }
    free(names->slots);
    *names = larger;
    return true;
}

uint32_t names_add(struct names *names, struct name first, struct name second, uint32_t value)
{
    ASSERT(value != NAMES_NONE);
    if (2 * (uint64_t)names->count >= names->capacity && !grow(names)) return NAMES_NONE;
    const uint32_t hash = hash_pair(first, second);
    struct names_slot *slot = &names->slots[slot_of(names, first, second, hash)];
    if (slot->first) return slot->value;
    *slot = (struct names_slot){ .first = first.text,
                                 .second = second.text,
                                 .first_bytes = first.bytes,
                                 .second_bytes = second.bytes,
                                 .hash = hash,
                                 .value = value };
    names->count++;
    return value;
}

void names_clear(struct names *names)
{
    free(names->slots);
    *names = (struct names){ 0 };
}
