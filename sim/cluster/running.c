/* running.c - see running.h. */
#include "cluster/running.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

void running_init(struct running *running)
{
    *running = (struct running){ 0 };
}

void running_clear(struct running *running)
{
    for (uint32_t b = 0; b < running->block_count; b++) free(running->blocks[b]);
    free(running->blocks);
    free(running->spare);
    *running = (struct running){ 0 };
}

static bool before(const struct running_entry *a, const struct running_entry *b)
{
    return a->expected_end_ns < b->expected_end_ns ||
           (a->expected_end_ns == b->expected_end_ns && a->live < b->live);
}

/* The first block whose last entry is not before `entry`; the last block when there is none. */
static uint32_t block_of(const struct running *running, const struct running_entry *entry)
{
    uint32_t low = 0, high = running->block_count - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const struct running_block *block = running->blocks[middle];
        if (before(&block->entries[block->count - 1], entry))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first entry of a block that is not before `entry`. */
static uint32_t entry_of(const struct running_block *block, const struct running_entry *entry)
{
    uint32_t low = 0, high = block->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (before(&block->entries[middle], entry))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for one block at `at`. */
static struct running_block *block_insert(struct running *running, uint32_t at)
{
    if (running->block_count == running->block_capacity) {
        const uint32_t capacity = running->block_capacity ? 2 * running->block_capacity : 16;
        struct running_block **blocks = realloc(running->blocks, capacity * sizeof *blocks);
        if (!blocks) return NULL;
        running->blocks = blocks;
        running->block_capacity = capacity;
    }
    struct running_block *block = running->spare ? running->spare : malloc(sizeof *block);
    running->spare = NULL;
    if (!block) return NULL;
    block->count = block->gpus = 0;
    memmove(&running->blocks[at + 1], &running->blocks[at],
            (running->block_count - at) * sizeof *running->blocks);
    running->blocks[at] = block;
    running->block_count++;
    return block;
}

static uint32_t block_gpus(const struct running_block *block)
{
    uint32_t gpus = 0;
    for (uint32_t e = 0; e < block->count; e++) gpus += block->entries[e].gpus;
    return gpus;
}

/* A full block becomes two of half its size. */
static bool block_split(struct running *running, uint32_t at)
{
    struct running_block *right = block_insert(running, at + 1);
    if (!right) return false;
    struct running_block *left = running->blocks[at];
    const uint32_t half = left->count / 2;
    right->count = left->count - half;
    memcpy(right->entries, &left->entries[half], right->count * sizeof *right->entries);
    left->count = half;
    left->gpus = block_gpus(left);
    right->gpus = block_gpus(right);
    return true;
}

bool running_add(struct running *running, struct running_entry entry)
{
    if (running->block_count == 0 && !block_insert(running, 0)) return false;
    uint32_t at = block_of(running, &entry);
    if (running->blocks[at]->count == RUNNING_BLOCK) {
        if (!block_split(running, at)) return false;
        at = block_of(running, &entry);
    }
    struct running_block *block = running->blocks[at];
    const uint32_t e = entry_of(block, &entry);
    memmove(&block->entries[e + 1], &block->entries[e], (block->count - e) * sizeof entry);
    block->entries[e] = entry;
    block->count++;
    block->gpus += entry.gpus;
    return true;
}

void running_remove(struct running *running, struct running_entry entry)
{
    ASSERT(running->block_count > 0);
    const uint32_t at = block_of(running, &entry);
    struct running_block *block = running->blocks[at];
    const uint32_t e = entry_of(block, &entry);
    ASSERT(e < block->count && block->entries[e].live == entry.live);
    block->count--;
    block->gpus -= entry.gpus;
    memmove(&block->entries[e], &block->entries[e + 1], (block->count - e) * sizeof entry);
    if (block->count > 0) return;
    memmove(&running->blocks[at], &running->blocks[at + 1],
            (running->block_count - at - 1) * sizeof *running->blocks);
    running->block_count--;
    if (running->spare)
        free(block);
    else
        running->spare = block;
}

struct running_place running_behind(const struct running *running, int64_t end_ns)
{
    if (running->block_count == 0) return (struct running_place){ 0 };
    const struct running_entry last = { .expected_end_ns = end_ns, .live = UINT32_MAX };
    const uint32_t at = block_of(running, &last);
    const uint32_t e = entry_of(running->blocks[at], &last);
    if (e < running->blocks[at]->count) return (struct running_place){ .block = at, .entry = e };
    return (struct running_place){ .block = at + 1 };
}

const struct running_entry *running_last_until(const struct running *running, int64_t end_ns)
{
    const struct running_place behind = running_behind(running, end_ns);
    if (behind.entry > 0) return &running->blocks[behind.block]->entries[behind.entry - 1];
    if (behind.block == 0) return NULL;
    const struct running_block *block = running->blocks[behind.block - 1];
    return &block->entries[block->count - 1];
}
