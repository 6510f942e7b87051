/* handout.h - the whole pool handed out again in an order of all jobs, best first: what the preemptive
 * policies share.
 *
 * In turn each job that still fits is given its GPUs; one that does not is passed over and later ones
 * may still run. Running jobs that are given nothing are preempted: they keep their work, wait at their
 * old place, and pay nothing (Tiresias: Gu et al., NSDI 2019).
 *
 *   nodes of one GPU    GPUs are interchangeable: only their number counts, a running job that is
 *                       given its number stays where it is
 *   nodes of several    a running job keeps its nodes unless a better job takes them. A waiting job is
 *                       placed on what is free; if that is not enough, worse running jobs give way, the
 *                       worst first, and those whose nodes it does not use come back. A job that gave
 *                       way and fits elsewhere moves there, at no cost either.
 *
 * Leaves out: cores and memory when it decides who gives way (a job that then finds no host waits). */
#ifndef GPUPLAN_POLICY_HANDOUT_H
#define GPUPLAN_POLICY_HANDOUT_H

#include "policy/policy.h"
#include "policy/what_if.h"

struct handout {
    struct what_if what_if;     /* nodes as handed out so far                                      */
    uint32_t *stop, stop_count; /* running jobs that are preempted                                 */
    uint32_t *start, start_count; /* jobs that start, best first                                   */
    uint32_t *first_part;       /* [start_count + 1] their parts in `parts`                        */
    uint32_t capacity;          /* jobs that stop[] and start[] hold                               */
    struct part *parts;         /* [part_capacity] as handed out on nodes of several GPUs          */
    uint32_t part_count, part_capacity;
    struct part *found;         /* [nodes]                                                         */
    uint8_t *gave_way;          /* [live_capacity] a running job has lost its nodes in this round  */
    uint32_t live_capacity;
    uint32_t stopped, started;  /* decisions given so far                                          */
    bool by_count;
    bool all_in;                /* every node takes new jobs                                       */
    struct arena *arena;
};

bool handout_init(struct handout *handout, const struct policy_view *view, struct arena *arena);

/* Hands the pool out to order[count], live rows of waiting and running jobs, best first. */
void handout_make(struct handout *handout, const struct policy_view *view, const uint32_t *order,
                  uint32_t count);

/* The next decision of the last handout: preemptions, then starts. False behind the last. */
bool handout_next(struct handout *handout, const struct policy_view *view,
                  struct decision *decision);

#endif
