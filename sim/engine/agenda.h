/* agenda.h - the event queue: one slot per live thing, ordered by time, then rank.
 *
 * An indexed 4-ary heap. A slot is a row number of the caller (an attempt, a component); it holds
 * at most one event, which moves by agenda_set. Nothing stale is ever in the heap, so nothing is
 * ever skipped when it is read.
 *
 * rank breaks ties at one instant and must be unique among them: kind in the top bits, serial
 * number below (agenda_rank). The order never depends on the heap's shape. */
#ifndef GPUPLAN_ENGINE_AGENDA_H
#define GPUPLAN_ENGINE_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#define AGENDA_NONE UINT32_MAX

struct agenda_entry {
    int64_t at_ns;
    uint32_t slot;
};

struct agenda {
    struct agenda_entry *heap; /* [capacity]; four siblings lie in one cache line             */
    uint64_t *rank;            /* [capacity] of a slot's event: read only at equal times      */
    uint32_t *place;           /* [capacity] place of a slot in the heap, AGENDA_NONE = unset */
    void *block;               /* what heap is a part of, owned                               */
    uint32_t count, capacity;
};

/* init/clear: capacity is the number of slots. False when memory is out. */
bool agenda_init(struct agenda *agenda, uint32_t capacity);
bool agenda_grow(struct agenda *agenda, uint32_t capacity); /* never shrinks */
void agenda_clear(struct agenda *agenda);

static inline uint64_t agenda_rank(uint32_t kind, uint64_t serial)
{
    return (uint64_t)kind << 56 | serial;
}
static inline uint32_t agenda_kind(uint64_t rank)
{
    return (uint32_t)(rank >> 56);
}

/* Puts the slot's event at (at_ns, rank), inserting or moving it. */
void agenda_set(struct agenda *agenda, uint32_t slot, int64_t at_ns, uint64_t rank);

/* Takes the slot's event out; nothing happens when it has none. */
void agenda_unset(struct agenda *agenda, uint32_t slot);

/* The first event, still in the heap; NULL when there is none. */
static inline const struct agenda_entry *agenda_first(const struct agenda *agenda)
{
    return agenda->count ? &agenda->heap[0] : (const struct agenda_entry *)0;
}

static inline uint64_t agenda_first_rank(const struct agenda *agenda)
{
    return agenda->rank[agenda->heap[0].slot];
}

#endif
