/* slurm_lane.c - see slurm_lane.h. */
#include "policy/slurm_lane.h"

#include "base/assert.h"
#include "policy/names.h"

#include <stdlib.h>
#include <string.h>

/* Whether the first QOS lists the second in Preempt=. Two that list each other do not order their jobs. */
static bool lists(const struct slurm_spec *spec, uint32_t first, uint32_t second)
{
    const char *list = spec->qos[first].preempt;
    struct name word;
    while (name_next(&list, ", ", &word))
        if (name_is(word, spec->qos[second].name)) return true;
    return false;
}

static bool may_evict(const struct slurm_spec *spec, uint32_t first, uint32_t second)
{
    return spec->preempt_type == PREEMPT_QOS && first != second && lists(spec, first, second) &&
           !lists(spec, second, first);
}

bool slurm_lanes_of(struct slurm_queue *queue)
{
    const struct slurm_spec *spec = queue->spec;
    queue->lane_of_qos = calloc(spec->qos_count + 1u, sizeof *queue->lane_of_qos);
    if (!queue->lane_of_qos) return false;
    uint32_t *qos_of_lane = malloc((spec->qos_count + 1u) * sizeof *qos_of_lane);
    if (!qos_of_lane) return false;
    queue->lane_count = 1; /* lane 0: QOSes that neither evict nor are evicted */
    for (uint32_t q = 0; q < spec->qos_count; q++) {
        bool alone = false;
        for (uint32_t other = 0; other < spec->qos_count; other++)
            alone |= may_evict(spec, q, other) || may_evict(spec, other, q);
        if (!alone) continue;
        qos_of_lane[queue->lane_count] = q;
        queue->lane_of_qos[q] = queue->lane_count++;
    }
    queue->lanes = calloc(queue->lane_count, sizeof *queue->lanes);
    queue->evicts = calloc((size_t)queue->lane_count * queue->lane_count, sizeof *queue->evicts);
    const bool ok = queue->lanes && queue->evicts;
    for (uint32_t a = 1; ok && a < queue->lane_count; a++)
        for (uint32_t b = 1; b < queue->lane_count; b++)
            queue->evicts[a * queue->lane_count + b] =
                may_evict(spec, qos_of_lane[a], qos_of_lane[b]);
    free(qos_of_lane);
    return ok;
}

/* The first block whose last entry is not before the key; block_count when there is none. */
static uint32_t block_of(const struct slurm_queue *queue, const struct slurm_lane *lane,
                         const struct slurm_entry *key)
{
    uint32_t low = 0, high = lane->block_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const struct slurm_block *block = lane->blocks[middle];
        if (slurm_key_before(&queue->entries[block->entries[block->count - 1]], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first entry of a block that is not before the key. */
static uint32_t entry_of(const struct slurm_queue *queue, const struct slurm_block *block,
                         const struct slurm_entry *key)
{
    uint32_t low = 0, high = block->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (slurm_key_before(&queue->entries[block->entries[middle]], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An empty block at `at`. */
static struct slurm_block *block_insert(struct slurm_lane *lane, uint32_t at)
{
    if (lane->block_count == lane->block_capacity) {
        const uint32_t capacity = lane->block_capacity ? 2 * lane->block_capacity : 16;
        struct slurm_block **blocks = realloc(lane->blocks, capacity * sizeof *blocks);
        if (!blocks) return NULL;
        lane->blocks = blocks;
        lane->block_capacity = capacity;
    }
    struct slurm_block *block = malloc(sizeof *block);
    if (!block) return NULL;
    block->count = 0;
    memmove(&lane->blocks[at + 1], &lane->blocks[at],
            (lane->block_count - at) * sizeof *lane->blocks);
    lane->blocks[at] = block;
    lane->block_count++;
    return block;
}

/* Moves the upper half of a full block into a new one behind it. */
static bool block_split(struct slurm_lane *lane, uint32_t at)
{
    struct slurm_block *upper = block_insert(lane, at + 1);
    if (!upper) return false;
    struct slurm_block *lower = lane->blocks[at];
    const uint32_t kept = lower->count / 2;
    upper->count = lower->count - kept;
    memcpy(upper->entries, &lower->entries[kept], upper->count * sizeof *upper->entries);
    lower->count = kept;
    return true;
}

bool slurm_lane_insert(struct slurm_queue *queue, uint32_t entry)
{
    const struct slurm_entry *key = &queue->entries[entry];
    struct slurm_lane *lane = &queue->lanes[key->lane];
    uint32_t at = block_of(queue, lane, key);
    if (at == lane->block_count) {
        /* Behind everything: queues grow at the end, so the last block is left full. */
        const bool room = at > 0 && lane->blocks[at - 1]->count < SLURM_QUEUE_BLOCK;
        if (!room && !block_insert(lane, at)) return false;
        if (room) at--;
    } else if (lane->blocks[at]->count == SLURM_QUEUE_BLOCK) {
        if (!block_split(lane, at)) return false;
        at = block_of(queue, lane, key);
    }
    struct slurm_block *block = lane->blocks[at];
    const uint32_t to = entry_of(queue, block, key);
    memmove(&block->entries[to + 1], &block->entries[to],
            (block->count - to) * sizeof *block->entries);
    block->entries[to] = entry;
    block->count++;
    lane->entries++;
    return true;
}

void slurm_lane_take(struct slurm_queue *queue, uint32_t entry)
{
    const struct slurm_entry *key = &queue->entries[entry];
    struct slurm_lane *lane = &queue->lanes[key->lane];
    const uint32_t at = block_of(queue, lane, key);
    ASSERT(at < lane->block_count);
    struct slurm_block *block = lane->blocks[at];
    const uint32_t from = entry_of(queue, block, key);
    ASSERT(from < block->count && block->entries[from] == entry);
    memmove(&block->entries[from], &block->entries[from + 1],
            (block->count - from - 1) * sizeof *block->entries);
    lane->entries--;
    if (--block->count > 0) return;
    free(block);
    memmove(&lane->blocks[at], &lane->blocks[at + 1],
            (lane->block_count - at - 1) * sizeof *lane->blocks);
    lane->block_count--;
}

uint64_t slurm_lane_read(const struct slurm_queue *queue, uint32_t l, uint32_t *entries)
{
    const struct slurm_lane *lane = &queue->lanes[l];
    uint64_t count = 0;
    for (uint32_t b = 0; b < lane->block_count; b++) {
        const struct slurm_block *block = lane->blocks[b];
        memcpy(&entries[count], block->entries, block->count * sizeof *entries);
        count += block->count;
    }
    ASSERT(count == lane->entries);
    return count;
}

void slurm_lane_write(struct slurm_queue *queue, uint32_t l, const uint32_t *entries)
{
    struct slurm_lane *lane = &queue->lanes[l];
    for (uint32_t b = 0; b < lane->block_count; b++) {
        struct slurm_block *block = lane->blocks[b];
        memcpy(block->entries, entries, block->count * sizeof *entries);
        entries += block->count;
    }
}

void slurm_lane_behind(const struct slurm_queue *queue, uint32_t l, const struct slurm_entry *key,
                       uint32_t *block, uint32_t *at)
{
    const struct slurm_lane *lane = &queue->lanes[l];
    *block = block_of(queue, lane, key);
    *at = 0;
    if (*block == lane->block_count) return;
    *at = entry_of(queue, lane->blocks[*block], key);
    const struct slurm_entry *there = &queue->entries[lane->blocks[*block]->entries[*at]];
    if (slurm_key_before(key, there)) return;
    if (++*at < lane->blocks[*block]->count) return;
    ++*block;
    *at = 0;
}
