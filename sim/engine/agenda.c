/* agenda.c - indexed 4-ary heap: half as deep as a binary one, and the four children of an entry
 * lie in one cache line. bench_agenda measures it beside a plain binary heap. */
#include "engine/agenda.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, HEAP_OFFSET = 3 }; /* heap[1], the first child, begins a cache line */

static bool before(const struct agenda *agenda, const struct agenda_entry *a,
                   const struct agenda_entry *b)
{
    if (a->at_ns != b->at_ns) return a->at_ns < b->at_ns;
    return agenda->rank[a->slot] < agenda->rank[b->slot];
}

static void put(struct agenda *agenda, uint32_t place, struct agenda_entry entry)
{
    agenda->heap[place] = entry;
    agenda->place[entry.slot] = place;
}

static uint32_t sift_up(struct agenda *agenda, uint32_t place, const struct agenda_entry *entry)
{
    while (place > 0) {
        const uint32_t parent = (place - 1) / 4;
        if (!before(agenda, entry, &agenda->heap[parent])) break;
        put(agenda, place, agenda->heap[parent]);
        place = parent;
    }
    return place;
}

/* The first of the children [first, end). */
static uint32_t least_child(const struct agenda *agenda, uint32_t first, uint32_t end)
{
    uint32_t least = first;
    for (uint32_t child = first + 1; child < end; child++)
        if (before(agenda, &agenda->heap[child], &agenda->heap[least])) least = child;
    return least;
}

/* The same for four, by times alone, without branches that a processor would guess wrong half of
 * the time; equal times, which are rare, go the long way. */
static uint32_t least_of_four(const struct agenda *agenda, uint32_t first)
{
    const struct agenda_entry *entry = &agenda->heap[first];
    const uint32_t left = entry[1].at_ns < entry[0].at_ns;
    const uint32_t right = 2 + (entry[3].at_ns < entry[2].at_ns);
    const int64_t left_ns = entry[left].at_ns, right_ns = entry[right].at_ns;
    const bool tie = (entry[0].at_ns == entry[1].at_ns) | (entry[2].at_ns == entry[3].at_ns) |
                     (left_ns == right_ns);
    if (__builtin_expect(tie, 0)) return least_child(agenda, first, first + 4);
    return first + (right_ns < left_ns ? right : left);
}

static uint32_t sift_down(struct agenda *agenda, uint32_t place, const struct agenda_entry *entry)
{
    for (;;) {
        const uint64_t first = 4 * (uint64_t)place + 1;
        if (first >= agenda->count) return place;
        const uint32_t least = first + 4 <= agenda->count
                                   ? least_of_four(agenda, (uint32_t)first)
                                   : least_child(agenda, (uint32_t)first, agenda->count);
        if (!before(agenda, &agenda->heap[least], entry)) return place;
        put(agenda, place, agenda->heap[least]);
        place = least;
    }
}

bool agenda_init(struct agenda *agenda, uint32_t capacity)
{
    *agenda = (struct agenda){ 0 };
    return agenda_grow(agenda, capacity);
}

static bool grow_heap(struct agenda *agenda, uint32_t capacity)
{
    const size_t bytes = ((size_t)capacity + HEAP_OFFSET) * sizeof(struct agenda_entry);
    struct agenda_entry *block =
        aligned_alloc(LINE_BYTES, (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
    if (!block) return false;
    if (agenda->count)
        memcpy(block + HEAP_OFFSET, agenda->heap, agenda->count * sizeof *agenda->heap);
    free(agenda->block);
    agenda->block = block;
    agenda->heap = block + HEAP_OFFSET;
    return true;
}

bool agenda_grow(struct agenda *agenda, uint32_t capacity)
{
    if (capacity <= agenda->capacity) return true;
    uint64_t *rank = realloc(agenda->rank, (size_t)capacity * sizeof *rank);
    if (!rank) return false;
    agenda->rank = rank;
    uint32_t *place = realloc(agenda->place, (size_t)capacity * sizeof *place);
    if (!place) return false;
    agenda->place = place;
    if (!grow_heap(agenda, capacity)) return false;
    for (uint32_t slot = agenda->capacity; slot < capacity; slot++) place[slot] = AGENDA_NONE;
    agenda->capacity = capacity;
    return true;
}

void agenda_clear(struct agenda *agenda)
{
    free(agenda->block);
    free(agenda->rank);
    free(agenda->place);
    *agenda = (struct agenda){ 0 };
}

void agenda_set(struct agenda *agenda, uint32_t slot, int64_t at_ns, uint64_t rank)
{
    ASSERT(slot < agenda->capacity);
    const struct agenda_entry entry = { .at_ns = at_ns, .slot = slot };
    agenda->rank[slot] = rank;
    uint32_t place = agenda->place[slot];
    if (place == AGENDA_NONE) place = agenda->count++;
    const uint32_t risen = sift_up(agenda, place, &entry);
    put(agenda, risen == place ? sift_down(agenda, place, &entry) : risen, entry);
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
    put(agenda, risen == place ? sift_down(agenda, place, &last) : risen, last);
}
