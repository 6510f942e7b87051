/* slurm_lane.h - inside of slurm_queue: sorted blocks of entries, and which QOS has which lane. */
#ifndef GPUPLAN_POLICY_SLURM_LANE_H
#define GPUPLAN_POLICY_SLURM_LANE_H

#include "policy/slurm_queue.h"

struct slurm_block {
    uint32_t count;
    uint32_t entries[SLURM_QUEUE_BLOCK]; /* rows of the pool */
};

/* A total order: no two entries are alike in partition, row, live row and submit time. */
static inline bool slurm_key_before(const struct slurm_entry *a, const struct slurm_entry *b)
{
    if (a->rank != b->rank) return a->rank < b->rank;
    if (a->submit_ns != b->submit_ns) return a->submit_ns < b->submit_ns;
    if (a->row != b->row) return a->row < b->row;
    if (a->listed != b->listed) return a->listed < b->listed;
    return a->live < b->live;
}

static inline bool slurm_entry_before(const struct slurm_queue *queue, uint32_t a, uint32_t b)
{
    return slurm_key_before(&queue->entries[a], &queue->entries[b]);
}

/* Lanes, their QOSes and who may evict whom. False: memory is out. */
bool slurm_lanes_of(struct slurm_queue *queue);

/* An entry of the pool enters or leaves its lane. */
bool slurm_lane_insert(struct slurm_queue *queue, uint32_t entry);
void slurm_lane_take(struct slurm_queue *queue, uint32_t entry);

/* Entries of a lane in order; returns their number. And back: as many, into the same blocks. */
uint64_t slurm_lane_read(const struct slurm_queue *queue, uint32_t lane, uint32_t *entries);
void slurm_lane_write(struct slurm_queue *queue, uint32_t lane, const uint32_t *entries);

/* Place of the first entry of a lane that comes behind `key`. */
void slurm_lane_behind(const struct slurm_queue *queue, uint32_t lane,
                       const struct slurm_entry *key, uint32_t *block, uint32_t *at);

#endif
