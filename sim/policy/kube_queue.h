/* kube_queue.h - the queue of the Kubernetes scheduler: higher priority, then older; what does not fit is set aside and
 * tried again after an event that may help it, not before its backoff is over (SCHEDULING 3.1).
 *
 * Jobs that ask for the same with the same priority form a lane. When the first of a lane finds no node, none of the
 * others would: all that are ready are set aside at once, in a batch with one backoff, and until something is released
 * nobody of the lane is tried. So the cost of an event follows the lanes, not the jobs. In each lane, and in each
 * batch, jobs stand in a heap that can be joined with another in one step. */
#ifndef GPUPLAN_POLICY_KUBE_QUEUE_H
#define GPUPLAN_POLICY_KUBE_QUEUE_H

#include "cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBE_NO_LANE UINT32_MAX

enum { KUBE_LEVELS = 20 }; /* doublings of the backoff: 1 s to 6 days */

/* Where a job stands among those of one priority. */
struct kube_order {
    int64_t submit_ns;
    uint32_t index;  /* its next pod: jobs of one instant take turns; 0 for gangs                  */
    uint32_t serial;
};

struct kube_entry { /* of one live row */
    struct kube_order order;
    uint32_t child, next, prev; /* heap: first child, sibling, sibling before or parent             */
    uint32_t lane;
    bool queued;
};

struct kube_lane {
    uint32_t request_class, queue;
    int32_t priority;
    bool alone;          /* each of its jobs has a place of its own in view: one that fails stands for itself */
    uint32_t next;       /* lane of the class                                                     */
    uint32_t ready[KUBE_LEVELS];
    uint32_t ready_count, heap_place;
    uint32_t first_batch, waiting_place;
    uint64_t failed_at;  /* releases + 1 when its first job found no node; 0 = never                */
};

struct kube_aside {
    int64_t ready_ns;
    uint64_t failed_at;  /* releases + 1 when its jobs failed                                     */
    uint32_t root, next;
    uint8_t level;       /* how often they have failed, up to the longest backoff                   */
};

struct kube_queue {
    int64_t backoff_first_ns, backoff_most_ns;
    uint8_t level_most;
    struct kube_entry *entries; /* [entry_capacity] by live row                                    */
    uint32_t entry_capacity;
    struct kube_lane *lanes;
    uint32_t lane_count, lane_capacity;
    uint32_t *first_lane;       /* [class_count]                                                  */
    struct kube_aside *batches;
    uint32_t batch_count, batch_capacity, free_batch;
    uint32_t *heap;             /* [heap_count] lanes with ready jobs, the most urgent first          */
    uint32_t heap_count;
    uint32_t *waiting;          /* [waiting_count] lanes with batches                               */
    uint32_t waiting_count;
    uint64_t jobs;
    bool out_of_memory;
};

bool kube_queue_init(struct kube_queue *queue, uint32_t class_count, int64_t backoff_first_ns,
                     int64_t backoff_most_ns);
void kube_queue_clear(struct kube_queue *queue);

/* What decides a job's lane. */
struct kube_sort {
    uint32_t request_class, queue;
    int32_t priority;
    bool alone;
};

/* A job that may be tried at once, its backoff at the first step. */
void kube_queue_add(struct kube_queue *queue, uint32_t live, struct kube_sort sort,
                    struct kube_order order);
void kube_queue_remove(struct kube_queue *queue, uint32_t live); /* not queued: nothing happens */
bool kube_queue_has(const struct kube_queue *queue, uint32_t live);

/* Batches whose backoff is over become ready, in lanes for which something was released since they failed.
 * `releases` grows with every release, whoever counts. */
void kube_queue_wake(struct kube_queue *queue, int64_t now_ns, uint64_t releases);

/* The most urgent ready job, LIVE_NONE when there is none. */
uint32_t kube_queue_first(const struct kube_queue *queue);

/* The first job found no node: it, or all ready ones of its lane, are set aside. */
void kube_queue_fail(struct kube_queue *queue, uint32_t live, int64_t now_ns, uint64_t releases);

/* When the next batch becomes ready by itself; TIME_NEVER: not before something is released. */
int64_t kube_queue_due_ns(const struct kube_queue *queue, uint64_t releases);

#endif
