/* slurm_queue.c - see slurm_queue.h. slurm_lane.c keeps the lanes, slurm_walk.c goes through them. */
#include "policy/slurm_queue.h"

#include "base/assert.h"
#include "policy/slurm_lane.h"

#include <stdlib.h>
#include <string.h>

/* PriorityTier is at most 65533 in slurm.conf. With partition_prio a higher tier may preempt, which comes before
 * reservations. */
static uint64_t rank_of(const struct slurm_queue *queue, const struct slurm_queue_job *job)
{
    uint64_t tier = queue->spec->partitions[job->partition].priority_tier;
    if (tier > 0xffff) tier = 0xffff;
    const uint64_t reserved = job->reserved ? 1 : 0;
    const uint64_t high = queue->spec->preempt_type == PREEMPT_PARTITION_PRIO
                              ? tier << 1 | reserved
                              : reserved << 16 | tier;
    return ~(high << 32 | job->priority);
}

bool slurm_queue_init(struct slurm_queue *queue, const struct slurm_spec *spec)
{
    *queue = (struct slurm_queue){ .spec = spec, .entry_free = SLURM_ENTRY_NONE };
    return slurm_lanes_of(queue);
}

void slurm_queue_clear(struct slurm_queue *queue)
{
    for (uint32_t lane = 0; queue->lanes && lane < queue->lane_count; lane++) {
        for (uint32_t b = 0; b < queue->lanes[lane].block_count; b++)
            free(queue->lanes[lane].blocks[b]);
        free(queue->lanes[lane].blocks);
    }
    free(queue->lanes);
    free(queue->lane_of_qos);
    free(queue->evicts);
    free(queue->entries);
    free(queue->of_live);
    free(queue->scratch);
    *queue = (struct slurm_queue){ 0 };
}

static bool live_room(struct slurm_queue *queue, uint32_t live)
{
    if (live < queue->live_capacity) return true;
    uint32_t capacity = queue->live_capacity ? queue->live_capacity : 64;
    while (capacity <= live) capacity *= 2;
    uint32_t *of_live = realloc(queue->of_live, capacity * sizeof *of_live);
    if (!of_live) return false;
    for (uint32_t i = queue->live_capacity; i < capacity; i++) of_live[i] = SLURM_ENTRY_NONE;
    queue->of_live = of_live;
    queue->live_capacity = capacity;
    return true;
}

static uint32_t entry_take(struct slurm_queue *queue)
{
    if (queue->entry_free != SLURM_ENTRY_NONE) {
        const uint32_t entry = queue->entry_free;
        queue->entry_free = queue->entries[entry].next_of_live;
        return entry;
    }
    if (queue->entry_count == queue->entry_capacity) {
        const uint32_t capacity = queue->entry_capacity ? 2 * queue->entry_capacity : 64;
        struct slurm_entry *entries = realloc(queue->entries, capacity * sizeof *entries);
        if (!entries) return SLURM_ENTRY_NONE;
        queue->entries = entries;
        queue->entry_capacity = capacity;
    }
    return queue->entry_count++;
}

bool slurm_queue_add(struct slurm_queue *queue, struct slurm_queue_job job)
{
    if (!live_room(queue, job.live)) return false;
    const uint32_t entry = entry_take(queue);
    if (entry == SLURM_ENTRY_NONE) return false;
    const uint32_t qos = job.qos < queue->spec->qos_count ? job.qos : queue->spec->qos_count;
    queue->entries[entry] = (struct slurm_entry){ .rank = rank_of(queue, &job),
                                                  .submit_ns = job.submit_ns,
                                                  .row = job.row,
                                                  .listed = job.listed,
                                                  .live = job.live,
                                                  .partition = job.partition,
                                                  .lane = queue->lane_of_qos[qos],
                                                  .priority = job.priority,
                                                  .next_of_live = queue->of_live[job.live] };
    if (!slurm_lane_insert(queue, entry)) {
        queue->entries[entry].next_of_live = queue->entry_free;
        queue->entry_free = entry;
        return false;
    }
    queue->of_live[job.live] = entry;
    queue->edits++;
    return true;
}

void slurm_queue_remove(struct slurm_queue *queue, uint32_t live)
{
    uint32_t entry = slurm_queue_of(queue, live);
    while (entry != SLURM_ENTRY_NONE) {
        const uint32_t next = queue->entries[entry].next_of_live;
        slurm_lane_take(queue, entry);
        queue->entries[entry].next_of_live = queue->entry_free;
        queue->entry_free = entry;
        entry = next;
        queue->edits++;
    }
    if (live < queue->live_capacity) queue->of_live[live] = SLURM_ENTRY_NONE;
}

uint32_t slurm_queue_of(const struct slurm_queue *queue, uint32_t live)
{
    return live < queue->live_capacity ? queue->of_live[live] : SLURM_ENTRY_NONE;
}

uint64_t slurm_queue_entries(const struct slurm_queue *queue)
{
    uint64_t entries = 0;
    for (uint32_t lane = 0; lane < queue->lane_count; lane++) entries += queue->lanes[lane].entries;
    return entries;
}

/* Merges two neighbouring runs from[0, a) and from[a, count) into to. */
static void merge_two(const struct slurm_queue *queue, const uint32_t *from, uint64_t a,
                      uint64_t count, uint32_t *to)
{
    uint64_t left = 0, right = a;
    for (uint64_t i = 0; i < count; i++) {
        const bool take_left =
            right == count || (left < a && !slurm_entry_before(queue, from[right], from[left]));
        to[i] = from[take_left ? left++ : right++];
    }
}

/* Sorts by merging the ascending runs that are there: old order with few jobs moved has few runs. Returns which of the
 * two arrays holds the result. */
static uint32_t *sort_runs(const struct slurm_queue *queue, uint32_t *entries, uint32_t *spare,
                           uint64_t count)
{
    for (;;) {
        uint64_t begin = 0, runs = 0;
        while (begin < count) {
            uint64_t middle = begin + 1;
            while (middle < count &&
                   !slurm_entry_before(queue, entries[middle], entries[middle - 1]))
                middle++;
            uint64_t end = middle < count ? middle + 1 : middle;
            while (end < count && !slurm_entry_before(queue, entries[end], entries[end - 1])) end++;
            if (middle == count && begin == 0) return entries;
            merge_two(queue, &entries[begin], middle - begin, end - begin, &spare[begin]);
            begin = end;
            runs++;
        }
        uint32_t *swap = entries;
        entries = spare;
        spare = swap;
        if (runs <= 1) return entries;
    }
}

static bool scratch_room(struct slurm_queue *queue, uint64_t entries)
{
    if (queue->scratch_capacity >= 2 * entries) return true;
    uint32_t *scratch = realloc(queue->scratch, 2 * entries * sizeof *scratch);
    if (!scratch) return false;
    queue->scratch = scratch;
    queue->scratch_capacity = 2 * entries;
    return true;
}

bool slurm_queue_rekey(struct slurm_queue *queue, slurm_priority_of *priority_of, void *context)
{
    for (uint32_t l = 0; l < queue->lane_count; l++)
        if (!scratch_room(queue, queue->lanes[l].entries)) return false;
    for (uint32_t l = 0; l < queue->lane_count; l++) {
        const uint64_t count = slurm_lane_read(queue, l, queue->scratch);
        for (uint64_t i = 0; i < count; i++) {
            struct slurm_entry *entry = &queue->entries[queue->scratch[i]];
            entry->priority = priority_of(context, entry);
            entry->rank = (entry->rank >> 32 << 32) | (uint32_t)~entry->priority;
        }
        slurm_lane_write(queue, l, sort_runs(queue, queue->scratch, &queue->scratch[count], count));
    }
    queue->edits++;
    return true;
}
