/* slurm_slots.h - the backfill pass's table of time slots: which nodes are reserved for waiting jobs, and when.
 *
 * The table covers [begin, end) of the clock in steps of bf_resolution; a reservation takes whole nodes over whole
 * steps. Slurm keeps a list of slots, each with a bitmap of nodes, and splits a slot where a reservation begins or
 * ends. Here the steps of one slot are a row of equal bitmaps, in blocks of 32 steps, and unions of what is taken are kept
 * so that those over any span of steps are the union of six rows:
 *
 *        block of first           blocks between            block of last
 *     [ . . first . . . ]  [ . . . ][ . . . ][ . . . ]  [ . . . . last . ]
 *             tail: first to end   some: 2^k blocks, twice, they may overlap   head: begin to last
 *     whole: taken all through the block                                  whole
 *
 *   at    nodes taken in a step         head, tail  in a step of its block up to this one, from this one on
 *   some  nodes taken in some step of 2^level blocks, by the first of them
 *
 * head, tail and at leave out what is taken all through the block.
 *
 * Times are whole seconds of the wall clock. Sets of nodes are words of 64 bits, [words], bit = node row.
 * Source: SCHEDULING 2.3, backfill pass, steps 3 and 8. Tests: tests/test_slurm_slots.c (against a list of slots). */
#ifndef GPUPLAN_POLICY_SLURM_SLOTS_H
#define GPUPLAN_POLICY_SLURM_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define SLOTS_NEVER INT64_MAX

enum { SLOTS_BLOCK = 32 };

struct slots {
    int64_t begin_s, end_s, step_s;
    uint32_t words, steps, steps_max, blocks_max, levels;
    uint64_t *at, *head, *tail; /* [steps_max * words] each; valid in blocks that are cut               */
    bool *cut;          /* [blocks_max] a reservation begins or ends within it                        */
    uint32_t *begins;   /* [blocks_max] a bit a step: in cut blocks, one begins there                    */
    uint64_t *whole;    /* [blocks_max * words]                                                    */
    uint64_t *some;     /* [levels * blocks_max * words]                                            */
    bool empty;         /* nothing is reserved                                                     */
    uint64_t *ends;     /* a bit a step: some node is free in it that is taken in the one before          */
    uint32_t *freed_of; /* [steps_max + 1] row of those nodes in `freed`; valid where the bit is set      */
    uint64_t *freed;    /* rows of [words]                                                          */
    uint32_t freed_rows, freed_capacity;
    uint64_t *none, *after; /* [words] no node; scratch                                             */
    uint32_t *taken;        /* [words] scratch                                                    */
};

struct slots_size {
    uint32_t nodes;
    int64_t window_s, step_s; /* bf_window, bf_resolution                                        */
};

/* Room for tables of this size. False: memory is out. Zeroed slots may be cleared. */
bool slots_init(struct slots *slots, struct slots_size size);
void slots_clear(struct slots *slots);

/* An empty table over [floor(now/R)*R, floor((now+W)/R)*R). */
void slots_begin(struct slots *slots, int64_t now_s, int64_t window_s);

/* Takes out of nodes[words] those that are reserved in some slot that touches [from_s, to_s], both ends included.
 * Returns slots_later. */
int64_t slots_free(const struct slots *slots, int64_t from_s, int64_t to_s, uint64_t *nodes);

/* The end of the first slot at or after from_s behind which more nodes become free; SLOTS_NEVER = none. */
int64_t slots_later(const struct slots *slots, int64_t from_s);

/* The step that holds at_s, of [begin_s, end_s). */
static inline uint32_t slots_step(const struct slots *slots, int64_t at_s)
{
    return (uint32_t)((at_s - slots->begin_s) / slots->step_s);
}

/* The last time behind from_s and before to_s at which more nodes become free; from_s = there is none. */
int64_t slots_last_freed(const struct slots *slots, int64_t from_s, int64_t to_s);

/* The last step up to this one, itself included, at which nodes become free; 0 = there is none. */
uint32_t slots_freed_by(const struct slots *slots, uint32_t step);

/* Takes out of nodes[words] those that are reserved within [from_s, to_s). */
void slots_take_out(const struct slots *slots, int64_t from_s, int64_t to_s, uint64_t *nodes);

/* Whether some of the nodes is reserved within [from_s, to_s). */
bool slots_overlap(const struct slots *slots, int64_t from_s, int64_t to_s, const uint64_t *nodes);

/* Reserves the nodes for [from_s, to_s), both multiples of R; what lies outside the table is left out.
 * False: memory is out. */
bool slots_reserve(struct slots *slots, int64_t from_s, int64_t to_s, const uint64_t *nodes);

#endif
