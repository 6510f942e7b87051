/* waiting.h - waiting jobs by request class, each class in submit order.
 *
 * A class keeps a segment tree of time limits over its jobs, so "the first job behind this one
 * that ends before the shadow" costs a logarithm of the class, not the queue. A job that was
 * killed comes back to its old place: its submit order never changes. Classes that have a waiting
 * job stand in a list by GPUs, so that a search can stop where jobs get too large. */
#ifndef GPUPLAN_CLUSTER_WAITING_H
#define GPUPLAN_CLUSTER_WAITING_H

#include "cluster/live.h"
#include "cluster/request.h"

#include <stdbool.h>
#include <stdint.h>

#define SERIAL_NONE UINT32_MAX

struct waiting_class {
    uint32_t *serials; /* [capacity] ascending                                          */
    uint32_t *lives;   /* [capacity] LIVE_NONE = job has ended                          */
    int64_t *tree;     /* [2 * capacity] least limit below; NOT_WAITING at other leaves */
    uint32_t size, capacity;
    uint32_t ended; /* entries of jobs that have ended                               */
    uint32_t waiting;
};

/* A class with at least one waiting job. */
struct waiting_head {
    uint32_t request_class, gpus;
    uint32_t serial, live; /* its first job                                                 */
};

struct waiting {
    struct waiting_class *classes; /* [class_count]                                         */
    struct waiting_head *heads;    /* [head_count] by (gpus, class)                         */
    uint32_t class_count, head_count;
    uint64_t jobs;           /* waiting now                                           */
    uint64_t gpus;           /* that they ask for                                     */
    struct live_table *live; /* whose rows it names; its `place` is kept here         */
};

bool waiting_init(struct waiting *waiting, uint32_t class_count, struct live_table *live);
void waiting_clear(struct waiting *waiting);

/* A new job; serials come in ascending order. limit_ns: what the scheduler believes it takes.
 * False when memory is out. */
bool waiting_add(struct waiting *waiting, uint32_t live, uint32_t gpus, int64_t limit_ns);

/* It starts: it keeps its place. */
void waiting_start(struct waiting *waiting, uint32_t live, uint32_t gpus);

/* It was killed and waits again at its old place. */
void waiting_return(struct waiting *waiting, uint32_t live, uint32_t gpus, int64_t limit_ns);

/* A job that is not waiting has ended. */
void waiting_end(struct waiting *waiting, uint32_t live);

/* The first waiting job of all: its entry in heads, or NULL. */
const struct waiting_head *waiting_first(const struct waiting *waiting);

/* In one class, the first waiting job behind serial `behind` (SERIAL_NONE: from the start) whose
 * limit is at most limit_ns; LIVE_NONE when there is none. */
uint32_t waiting_find(const struct waiting *waiting, uint32_t request_class, uint32_t behind,
                      int64_t limit_ns);

/* The waiting job with the least limit, the first of equal ones; LIVE_NONE when none waits. */
uint32_t waiting_shortest(const struct waiting *waiting);

/* The limit of a waiting job. */
static inline int64_t waiting_limit_ns(const struct waiting *waiting, uint32_t live)
{
    const struct live_job *job = &waiting->live->jobs[live];
    const struct waiting_class *class = &waiting->classes[job->request_class];
    return class->tree[class->capacity + job->place];
}

#endif
