/* arena.c - blocks that grow; every item is zeroed and starts on a cache line. */
#include "base/arena.h"

#include <stdlib.h>

enum {
    ALIGN_BYTES = 64, /* a cache line                                        */
    BLOCK_BYTES_FIRST = 65536,
    BLOCK_BYTES_MOST = 67108864, /* 64 MiB: large enough that blocks stay few            */
};

/* Lies at the start of its memory; what follows is handed out. */
struct block {
    struct block *older;
    size_t bytes, used; /* of the block's memory, this header included */
};

struct arena {
    struct block *newest;
    uint64_t budget_bytes, used_bytes;
    size_t next_block_bytes;
};

struct arena *arena_create(uint64_t budget_bytes)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->budget_bytes = budget_bytes;
    arena->next_block_bytes = BLOCK_BYTES_FIRST;
    return arena;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL) return;
    while (arena->newest != NULL) {
        struct block *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    free(arena);
}

/* A fresh block that holds at least `bytes` behind its header and its alignment. */
static struct block *block_add(struct arena *arena, size_t bytes)
{
    size_t want_bytes;
    if (__builtin_add_overflow(bytes, sizeof(struct block) + ALIGN_BYTES, &want_bytes)) return NULL;
    if (want_bytes < arena->next_block_bytes) want_bytes = arena->next_block_bytes;
    /* calloc of a large block maps fresh pages: zeroing them costs nothing until they are used. */
    struct block *block = calloc(1, want_bytes);
    if (block == NULL) return NULL;
    block->bytes = want_bytes;
    block->used = sizeof *block;
    block->older = arena->newest;
    arena->newest = block;
    if (arena->next_block_bytes < BLOCK_BYTES_MOST) arena->next_block_bytes *= 2;
    return block;
}

void *arena_take(struct arena *arena, size_t count, size_t item_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, item_bytes, &bytes)) return NULL;
    if (bytes > SIZE_MAX - ALIGN_BYTES) return NULL;
    bytes = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    if (bytes > arena->budget_bytes - arena->used_bytes) return NULL;

    struct block *block = arena->newest;
    if (block == NULL || bytes + ALIGN_BYTES > block->bytes - block->used) {
        block = block_add(arena, bytes);
        if (block == NULL) return NULL;
    }
    const uintptr_t from = (uintptr_t)block + block->used;
    const uintptr_t item = (from + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    block->used = (size_t)(item - (uintptr_t)block) + bytes;
    arena->used_bytes += bytes;
    return (void *)item;
}

uint64_t arena_used_bytes(const struct arena *arena)
{
    return arena->used_bytes;
}
