/* running.h - running jobs by expected end, for the walk to the shadow time.
 *
 * Sorted blocks of at most 256 entries: a start or an end moves at most one block, a walk reads
 * memory in order, and a count of GPUs per block lets a walk that needs only totals skip blocks. */
#ifndef GPUPLAN_CLUSTER_RUNNING_H
#define GPUPLAN_CLUSTER_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

enum { RUNNING_BLOCK = 256 };

struct running_entry {
    int64_t expected_end_ns;
    uint32_t live, gpus;
};

struct running_block {
    uint32_t count;
    uint32_t gpus; /* sum over the block */
    struct running_entry entries[RUNNING_BLOCK];
};

struct running {
    struct running_block **blocks; /* [block_count] in order, none empty */
    uint32_t block_count, block_capacity;
    struct running_block *spare; /* one kept back */
};

/* A place in the order; valid until the next add or remove. */
struct running_place {
    uint32_t block, entry;
};

void running_init(struct running *running);
void running_clear(struct running *running);

/* Entries are ordered by (expected end, live row). False when memory is out. */
bool running_add(struct running *running, struct running_entry entry);
void running_remove(struct running *running, struct running_entry entry); /* must be there */

/* The entry at a place, or NULL behind the last. */
static inline const struct running_entry *running_at(const struct running *running,
                                                     struct running_place place)
{
    if (place.block >= running->block_count) return (const struct running_entry *)0;
    return &running->blocks[place.block]->entries[place.entry];
}

static inline struct running_place running_next(const struct running *running,
                                                struct running_place place)
{
    if (++place.entry < running->blocks[place.block]->count) return place;
    return (struct running_place){ .block = place.block + 1 };
}

/* The first entry whose expected end is behind `end_ns`. */
struct running_place running_behind(const struct running *running, int64_t end_ns);

/* The last entry whose expected end is at or before `end_ns`; NULL when there is none. */
const struct running_entry *running_last_until(const struct running *running, int64_t end_ns);

#endif
