/* arena.h - memory of one owner, given back by one call.
 *
 * An arena is created with a budget in bytes. It takes zeroed memory from the system in growing
 * blocks; asking beyond the budget is refused with NULL, never by overcommit. */
#ifndef GPUPLAN_BASE_ARENA_H
#define GPUPLAN_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_create(uint64_t budget_bytes); /* NULL when memory is out */
void arena_destroy(struct arena *arena);           /* NULL is allowed         */

/* count * item_bytes zeroed bytes, aligned to 64; NULL when the budget or the memory is out or the product
 * overflows. Owned by the arena. count 0 gives a pointer that must not be read. */
void *arena_take(struct arena *arena, size_t count, size_t item_bytes);

/* Bytes handed out so far. */
uint64_t arena_used_bytes(const struct arena *arena);

#define ARENA_ARRAY(arena, type, count) ((type *)arena_take((arena), (count), sizeof(type)))

#endif
