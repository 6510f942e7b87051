/* shadow.h - the reservation of the first job in the queue (EASY): when it will fit, and what is left
 * beside it then.
 *
 * The shadow time is the earliest expected end of a running job at which the head fits, counting
 * all jobs that are expected to end by then. The head's fit depends only on how many nodes have how many GPUs free,
 * so a histogram over nodes of "free now + freed by the shadow" is kept up to date as jobs start
 * and end, instead of being walked again: the start of a job that passes the head never moves the
 * shadow, an end can only bring it nearer, and each step back undoes one step of the first walk.
 * Only a change of nodes or of the head, or the restart of a job from before the head, makes a new
 * walk.
 *
 *     running jobs by expected end   |--a--|----b----|-----c-----|-------d------|
 *     with_then = free now + a + b + c                           ^ shadow
 *
 * Leaves out: cores and memory at the shadow time (GPUs only). */
#ifndef GPUPLAN_POLICY_SHADOW_H
#define GPUPLAN_POLICY_SHADOW_H

#include "policy/policy.h"

struct shadow {
    uint32_t head; /* live row it is for; LIVE_NONE: none known                            */
    uint32_t head_class;
    bool reachable;     /* false: the head fits at no expected end (nodes are out)              */
    bool may_be_nearer; /* a job ended since the last look                                      */
    int64_t end_ns;     /* jobs expected to end by now are counted as gone                      */
    uint32_t with_then[LIMIT_GPUS_PER_SERVER + 1]; /* nodes by GPUs free at the shadow           */
    uint8_t *freed;   /* [nodes] GPUs that those jobs free                                    */
    uint8_t *touched; /* [nodes] 1: in the list below                                         */
    uint32_t *touched_list;
    uint32_t touched_count;
};

bool shadow_init(struct shadow *shadow, uint32_t nodes, struct arena *arena);

/* Forgets the head. */
void shadow_drop(struct shadow *shadow);

/* A job has been given its nodes, or is about to give them back. */
void shadow_start(struct shadow *shadow, const struct policy_view *view, uint32_t live);
void shadow_end(struct shadow *shadow, const struct policy_view *view, uint32_t live);

/* Makes the shadow that of this head; walks only when it must. */
void shadow_of(struct shadow *shadow, const struct policy_view *view,
               const struct waiting_head *head);

/* Whether the head still fits at the shadow time when these parts are taken and kept beyond it. */
bool shadow_spares(const struct shadow *shadow, const struct policy_view *view,
                   const struct part *parts, uint32_t part_count);

#endif
