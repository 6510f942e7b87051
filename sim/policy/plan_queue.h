/* plan_queue.h - the waiting jobs of a plan in submit order, the place of each, and what was given back
 * since each was looked at.
 *
 * One walk a pass: plan_queue_walk, then for each job plan_queue_next, a look, and plan_queue_keep unless
 * it starts; plan_queue_close. */
#ifndef GPUPLAN_POLICY_PLAN_QUEUE_H
#define GPUPLAN_POLICY_PLAN_QUEUE_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "cluster/running.h"
#include "cluster/waiting.h"

#include <stdbool.h>
#include <stdint.h>

/* The place of a waiting job; of a running one only end_ns, when it is expected to end. */
struct planned {
    int64_t start_ns, end_ns;
    uint64_t seen;      /* gifts up to this number are known to its place                          */
    struct part *parts; /* [part_count], owned by the queue                                        */
    uint32_t part_count;
    uint8_t parts_log2; /* room of parts                                                           */
    bool is_placed;
    bool is_later;      /* in plan_queue.later                                                     */
    bool is_listed;     /* it waits, and a walk has kept it                                        */
};

/* From when to when GPUs were given back. */
struct gifts {
    int64_t from_ns, until_ns; /* from >= until: none                                              */
};

enum { PLAN_ROOMS = 24 };

struct plan_queue {
    struct planned *jobs; /* [capacity] by live row                                                */
    uint64_t *serial_of;  /* [capacity] sort keys                                                  */
    uint32_t capacity;
    uint32_t *lives, *spare; /* [list_capacity] in submit order                                    */
    uint32_t count, list_capacity;
    uint32_t first_new;      /* in lives: jobs that the last gathering has added                   */
    uint32_t last_serial;    /* the last that was ever gathered                                    */
    uint32_t cursor, kept;   /* of the walk                                                        */
    struct gifts *gifts;     /* [gift_count] with numbers first_gift ..                            */
    struct gifts *since;     /* [gifts_before] union of the gifts from each on, before this walk   */
    uint32_t gifts_before;
    struct gifts in_walk;    /* union of those of this walk                                        */
    uint64_t first_gift;
    uint32_t gift_count, gift_capacity;
    struct running later;           /* jobs whose end is behind the last slice of the plan, by it:
                                       those with a place, and those that run past their estimate  */
    struct part *rooms[PLAN_ROOMS]; /* free rooms of 2^i parts, a chain                            */
    struct arena *arena;
    bool out_of_memory;
};

bool plan_queue_init(struct plan_queue *queue, struct arena *arena);

void plan_queue_clear(struct plan_queue *queue); /* the arena's part stays with the arena          */

/* Room for so many live rows. False: memory is out. */
bool plan_queue_grow(struct plan_queue *queue, uint32_t live_capacity);

/* Adds the jobs that wait now and did not when it was last called. With `all`, or when others than new
 * ones came or went, the list is made anew and false is returned: then no place holds. */
bool plan_queue_gather(struct plan_queue *queue, const struct waiting *waiting, bool all);

/* Whether a job is in the list. */
bool plan_queue_lists(const struct plan_queue *queue, uint32_t live);

/* The job with the first end in later, or NULL; a job enters by its end_ns, and may be dropped when it
 * is not there. */
const struct running_entry *plan_queue_later(const struct plan_queue *queue);
void plan_queue_add_later(struct plan_queue *queue, uint32_t live);
void plan_queue_drop_later(struct plan_queue *queue, uint32_t live);
void plan_queue_forget_later(struct plan_queue *queue);

/* All places are given up, and later is empty. */
void plan_queue_forget(struct plan_queue *queue);

/* The walk: over all jobs, or the new ones. */
void plan_queue_walk(struct plan_queue *queue, bool all);
uint32_t plan_queue_next(struct plan_queue *queue); /* LIVE_NONE: that was the last                */
void plan_queue_keep(struct plan_queue *queue, uint32_t live);
void plan_queue_close(struct plan_queue *queue);

/* Something was given back in [from_ns, until_ns). */
void plan_queue_log(struct plan_queue *queue, int64_t from_ns, int64_t until_ns);

/* What was given back from gift number `seen` on; only in a walk over all. */
struct gifts plan_queue_gifts(const struct plan_queue *queue, uint64_t seen);

/* The job takes a place. False: memory is out. */
bool plan_queue_place(struct plan_queue *queue, uint32_t live, int64_t start_ns, int64_t end_ns,
                      const struct part *parts, uint32_t part_count);

/* The place of a job is lifted: a copy of it made before is either put back or released. */
void plan_queue_lift(struct plan_queue *queue, uint32_t live);
void plan_queue_put_back(struct plan_queue *queue, uint32_t live, const struct planned *was);
void plan_queue_release(struct plan_queue *queue, const struct planned *was);

bool plan_queue_same_place(const struct planned *a, const struct planned *b);

#endif
