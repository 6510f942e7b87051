/* agenda.c - indexed 4-ary heap. Four children of 24 bytes lie in two cache lines, and the tree is
 * half as deep as a binary one; bench_agenda measures both. */
#include "engine/agenda.h"

#include "base/assert.h"

#include <stdlib.h>

static bool before(const struct agenda_entry *a, const struct agenda_entry *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->rank < b->rank);
}

static void put(struct agenda *agenda, uint32_t place, const struct agenda_entry *entry)
{
    agenda->heap[place] = *entry;
    agenda->place[entry->slot] = place;
}

static uint32_t sift_up(struct agenda *agenda, uint32_t place, const struct agenda_entry *entry)
{
    while (place > 0) {
        const uint32_t parent = (place - 1) / 4;
        if (!before(entry, &agenda->heap[parent])) break;
        put(agenda, place, &agenda->heap[parent]);
        place = parent;
    }
    return place;
}

static uint32_t sift_down(struct agenda *agenda, uint32_t place, const struct agenda_entry *entry)
{
    for (;;) {
        const uint64_t first = 4 * (uint64_t)place + 1;
        if (first >= agenda->count) return place;
        const uint64_t end = first + 4 < agenda->count ? first + 4 : agenda->count;
        uint32_t least = (uint32_t)first;
        for (uint32_t child = least + 1; child < end; child++)
            if (before(&agenda->heap[child], &agenda->heap[least])) least = child;
        if (!before(&agenda->heap[least], entry)) return place;
        put(agenda, place, &agenda->heap[least]);
        place = least;
    }
}

bool agenda_init(struct agenda *agenda, uint32_t capacity)
{
    *agenda = (struct agenda){ 0 };
    return agenda_grow(agenda, capacity);
}

bool agenda_grow(struct agenda *agenda, uint32_t capacity)
{
    if (capacity <= agenda->capacity) return true;
    struct agenda_entry *heap = realloc(agenda->heap, (size_t)capacity * sizeof *heap);
    if (!heap) return false;
    agenda->heap = heap;
    uint32_t *place = realloc(agenda->place, (size_t)capacity * sizeof *place);
    if (!place) return false;
    agenda->place = place;
    for (uint32_t slot = agenda->capacity; slot < capacity; slot++) place[slot] = AGENDA_NONE;
    agenda->capacity = capacity;
    return true;
}

void agenda_clear(struct agenda *agenda)
{
    free(agenda->heap);
    free(agenda->place);
    *agenda = (struct agenda){ 0 };
}

void agenda_set(struct agenda *agenda, uint32_t slot, int64_t at_ns, uint64_t rank)
{
    ASSERT(slot < agenda->capacity);
    const struct agenda_entry entry = { .at_ns = at_ns, .rank = rank, .slot = slot };
    uint32_t place = agenda->place[slot];
    if (place == AGENDA_NONE) place = agenda->count++;
    const uint32_t risen = sift_up(agenda, place, &entry);
    put(agenda, risen == place ? sift_down(agenda, place, &entry) : risen, &entry);
}

void agenda_unset(struct agenda *agenda, uint32_t slot)
{
    ASSERT(slot < agenda->capacity);
    const uint32_t place = agenda->place[slot];
    if (place == AGENDA_NONE) return;
    agenda->place[slot] = AGENDA_NONE;
    const struct agenda_entry last = agenda->heap[--agenda->count];
    if (last.slot == slot) return;
    const uint32_t risen = sift_up(agenda, place, &last);
    put(agenda, risen == place ? sift_down(agenda, place, &last) : risen, &last);
}
