/* slurm_walk.c - a walk through the lanes of slurm_queue. */
#include "policy/slurm_lane.h"

#include <stdlib.h>

bool slurm_walk_init(struct slurm_walk *walk, const struct slurm_queue *queue)
{
    *walk = (struct slurm_walk){ .cursors = calloc(queue->lane_count, sizeof *walk->cursors) };
    return walk->cursors != NULL;
}

void slurm_walk_clear(struct slurm_walk *walk)
{
    free(walk->cursors);
    *walk = (struct slurm_walk){ 0 };
}

void slurm_walk_begin(struct slurm_walk *walk, const struct slurm_queue *queue)
{
    for (uint32_t lane = 0; lane < queue->lane_count; lane++)
        walk->cursors[lane] = (struct slurm_cursor){ 0 };
    walk->edits = queue->edits;
}

/* After a change of the queue every lane looks for its place behind what it gave last. */
static void seek(struct slurm_walk *walk, const struct slurm_queue *queue)
{
    for (uint32_t lane = 0; lane < queue->lane_count; lane++) {
        struct slurm_cursor *cursor = &walk->cursors[lane];
        if (cursor->begun)
            slurm_lane_behind(queue, lane, &cursor->last, &cursor->block, &cursor->at);
        else
            cursor->block = cursor->at = 0;
    }
    walk->edits = queue->edits;
}

static const struct slurm_entry *head_of(const struct slurm_walk *walk,
                                         const struct slurm_queue *queue, uint32_t lane)
{
    const struct slurm_cursor *cursor = &walk->cursors[lane];
    if (cursor->block >= queue->lanes[lane].block_count) return NULL;
    return &queue->entries[queue->lanes[lane].blocks[cursor->block]->entries[cursor->at]];
}

/* Whether a lane that still has jobs may evict this one. */
static bool is_behind(const struct slurm_walk *walk, const struct slurm_queue *queue, uint32_t lane)
{
    for (uint32_t other = 1; other < queue->lane_count; other++)
        if (slurm_queue_evicts(queue, other, lane) && head_of(walk, queue, other)) return true;
    return false;
}

/* The best head; with `any` also of lanes that stand behind others, for when they stand in a circle. */
static const struct slurm_entry *best_head(const struct slurm_walk *walk,
                                           const struct slurm_queue *queue, bool any)
{
    if (queue->lane_count == 1) return head_of(walk, queue, 0);
    const struct slurm_entry *best = NULL;
    for (uint32_t lane = 0; lane < queue->lane_count; lane++) {
        const struct slurm_entry *head = head_of(walk, queue, lane);
        if (!head || (best && !slurm_key_before(head, best))) continue;
        if (any || !is_behind(walk, queue, lane)) best = head;
    }
    return best;
}

const struct slurm_entry *slurm_walk_next(struct slurm_walk *walk, const struct slurm_queue *queue)
{
    if (walk->edits != queue->edits) seek(walk, queue);
    const struct slurm_entry *best = best_head(walk, queue, false);
    if (!best) best = best_head(walk, queue, true);
    if (!best) return NULL;
    struct slurm_cursor *cursor = &walk->cursors[best->lane];
    const struct slurm_lane *lane = &queue->lanes[best->lane];
    cursor->last = *best;
    cursor->begun = true;
    if (++cursor->at == lane->blocks[cursor->block]->count) {
        cursor->block++;
        cursor->at = 0;
    }
    return best;
}
