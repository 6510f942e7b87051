/* slurm_queue.h - the jobs that may start, in the order in which Slurm looks at them.
 *
 * First difference decides: may preempt the other; inside a reservation; PriorityTier of the partition, higher first;
 * priority, higher first; submit time; row of the trace (job id, array index). A job sent to several partitions has
 * one entry for each.
 *
 * "May preempt" is no key: it holds between QOSes. So the QOSes that evict or are evicted have a lane each, all others
 * share one, and a walk takes the best head among the lanes that no other lane with jobs in it may evict. Where the
 * pairs of Slurm's comparison agree on one order, it is this one; where they go in a circle Slurm's own order depends
 * on its sort.
 *
 * A lane is a list of sorted blocks of at most 256 entries: adding or taking out a job costs a logarithm and one move
 * within a block. New priorities (each PriorityCalcPeriod) cost one look at every entry, and a merge only where the
 * order really changed.
 *
 * Memory is its own (malloc); slurm_queue_clear gives it back. Source: SCHEDULING.md 2.2. Tests:
 * tests/test_slurm_queue.c */
#ifndef GPUPLAN_POLICY_SLURM_QUEUE_H
#define GPUPLAN_POLICY_SLURM_QUEUE_H

#include "spec/slurm.h"

#include <stdbool.h>
#include <stdint.h>

enum { SLURM_QUEUE_BLOCK = 256 };
#define SLURM_ENTRY_NONE UINT32_MAX
#define SLURM_QOS_NONE   UINT32_MAX

/* A job in one partition. */
struct slurm_entry {
    uint64_t rank; /* of what comes before the submit time, inverted: smaller is earlier                */
    int64_t submit_ns;
    uint32_t row, listed, live; /* listed: place of the partition in the job's list                  */
    uint32_t partition, lane;
    uint32_t priority;
    uint32_t next_of_live; /* another entry of the same job; free entry: the next free one             */
};

/* What an entry is made of. */
struct slurm_queue_job {
    uint32_t live, row;
    uint32_t qos; /* row in spec->qos, or SLURM_QOS_NONE                                        */
    uint32_t partition, listed;
    uint32_t priority;
    bool reserved; /* it names a reservation                                                  */
    int64_t submit_ns; /* of its first or last submission: a requeue submits anew                */
};

struct slurm_lane {
    struct slurm_block **blocks; /* [block_count] in order, none empty                          */
    uint32_t block_count, block_capacity;
    uint64_t entries;
};

struct slurm_queue {
    const struct slurm_spec *spec; /* borrowed                                                 */
    struct slurm_lane *lanes;      /* [lane_count]                                            */
    uint32_t lane_count;
    uint32_t *lane_of_qos;     /* [qos_count + 1] the last for jobs without                      */
    bool *evicts;              /* [lane_count * lane_count] the first may evict the second         */
    struct slurm_entry *entries; /* [entry_capacity] a pool                                     */
    uint32_t entry_count, entry_capacity, entry_free;
    uint32_t *of_live; /* [live_capacity] first entry of a live row                              */
    uint32_t live_capacity;
    uint32_t *scratch; /* [scratch_capacity]                                                   */
    uint64_t scratch_capacity;
    uint64_t edits; /* counts changes, so that a walk knows when to look for its place again       */
};

bool slurm_queue_init(struct slurm_queue *queue, const struct slurm_spec *spec);
void slurm_queue_clear(struct slurm_queue *queue);

/* One more entry. False: memory is out. */
bool slurm_queue_add(struct slurm_queue *queue, struct slurm_queue_job job);

/* All entries of a job leave; none is allowed. */
void slurm_queue_remove(struct slurm_queue *queue, uint32_t live);

/* First entry of a job, or SLURM_ENTRY_NONE; the others by next_of_live, in no stated order. */
uint32_t slurm_queue_of(const struct slurm_queue *queue, uint32_t live);

/* Gives every entry the priority that the function states for it. False: memory is out. */
typedef uint32_t slurm_priority_of(void *context, const struct slurm_entry *entry);
bool slurm_queue_rekey(struct slurm_queue *queue, slurm_priority_of *priority_of, void *context);

uint64_t slurm_queue_entries(const struct slurm_queue *queue);

/* A walk from the front. Entries may be added and taken out meanwhile: those behind its place are met. A rekey ends it. */
struct slurm_cursor {
    struct slurm_entry last; /* copy of the entry taken last                                     */
    bool begun;
    uint32_t block, at; /* the next entry, while the queue has not changed                      */
};
struct slurm_walk {
    struct slurm_cursor *cursors; /* [lane_count] owned                                        */
    uint64_t edits;
};

bool slurm_walk_init(struct slurm_walk *walk, const struct slurm_queue *queue);
void slurm_walk_clear(struct slurm_walk *walk);
void slurm_walk_begin(struct slurm_walk *walk, const struct slurm_queue *queue);

/* The next entry, valid until the queue changes; NULL at the end. */
const struct slurm_entry *slurm_walk_next(struct slurm_walk *walk, const struct slurm_queue *queue);

/* Whether a job of one QOS comes before a job of another because it may evict it. */
static inline bool slurm_queue_evicts(const struct slurm_queue *queue, uint32_t lane,
                                      uint32_t other)
{
    return queue->evicts[lane * queue->lane_count + other];
}

#endif
