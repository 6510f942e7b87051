/* slurm_hopeless.h - steps of the slot table of which one job has shown that others cannot start there either.
 *
 * At a step that begins at t and lasts until T, the next time at which nodes become free, a job that takes n nodes for L
 * has the candidates C(t, L): nodes that are free all through [t, t + L]. It is moved on to T when fewer than n of them
 * are ready by T. Within one cycle reservations are only added and jobs only started, so C loses nodes and these get
 * ready later, never sooner. C loses nodes with a larger L too, and with a later t' before T, since no node becomes free
 * in between. So when c of C(t, L) are ready by T, then at any t' in [t, T], for any n' > c, any L' >= L and any T' <= T,
 * now and later in the cycle, too few are ready: the job is moved on without a look.
 *
 * For each kind of request (what it takes of a node, and in which partition), step and n the shortest such L is kept, and its T.
 * n is rounded: 1 to 8 exactly, then two sizes an octave; what is known of a larger n is not known of a smaller.
 * Memory is its own. Tests: tests/test_slurm_twin.c (against asking every time), tests/test_slurm_hopeless.c */
#ifndef GPUPLAN_POLICY_SLURM_HOPELESS_H
#define GPUPLAN_POLICY_SLURM_HOPELESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of one size at one step; valid while serial is the table's. */
struct slurm_hopeless_row {
    uint32_t serial, limit_s, until;
};

struct slurm_hopeless {
    uint32_t steps, sizes, serial, kind_count;
    struct slurm_hopeless_row **kinds; /* [kind_count] of [sizes * steps], made when first used; owned        */
};

/* What was asked: a step of the slot table, and the step at which it ends. */
struct slurm_hopeless_at {
    uint32_t kind, step, until;
};

void slurm_hopeless_init(struct slurm_hopeless *hopeless, uint32_t steps, uint32_t nodes);
void slurm_hopeless_clear(struct slurm_hopeless *hopeless);

/* Nothing is known any more: a cycle begins, or something else than a start happened. */
void slurm_hopeless_forget(struct slurm_hopeless *hopeless);

/* The largest size that is not above n >= 1: 1 to 8, 12, 16, 24, ... counted from 0. */
enum { HOPELESS_EXACT = 8 };
static inline uint32_t slurm_hopeless_size(uint32_t nodes)
{
    if (nodes <= HOPELESS_EXACT) return nodes - 1;
    const uint32_t log2 = 31 - (uint32_t)__builtin_clz(nodes);
    return HOPELESS_EXACT - 1 + 2 * (log2 - 3) + (nodes >> (log2 - 1) & 1);
}

static inline struct slurm_hopeless_row *slurm_hopeless_row(const struct slurm_hopeless *hopeless,
                                                            struct slurm_hopeless_at at,
                                                            uint32_t size)
{
    return hopeless->kinds[at.kind] + (size_t)size * hopeless->steps + at.step;
}

/* The step up to whose begin a job of n >= 1 nodes and this limit is known to be moved on from at.step, or from a later one;
 * at.step = nothing is known. at.until is not looked at. */
static inline uint32_t slurm_hopeless_until(const struct slurm_hopeless *hopeless,
                                            struct slurm_hopeless_at at, uint32_t nodes,
                                            int64_t limit_s)
{
    if (at.kind >= hopeless->kind_count || !hopeless->kinds[at.kind] || at.step >= hopeless->steps)
        return at.step;
    const struct slurm_hopeless_row *row =
        slurm_hopeless_row(hopeless, at, slurm_hopeless_size(nodes));
    return row->serial == hopeless->serial && row->limit_s <= limit_s ? row->until : at.step;
}

/* A job of this limit found that `ready` of its candidates are ready when the step ends. False: memory is out. */
bool slurm_hopeless_learn(struct slurm_hopeless *hopeless, struct slurm_hopeless_at at,
                          uint32_t ready, int64_t limit_s);

#endif
