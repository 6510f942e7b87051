/* kept.h - where the GPU-time went of an attempt whose tempo changes, for those who ask later: sums, as there can be
 * thousands of tempos. Only with detail; attempts of one tempo are told by their levels alone. */
#ifndef GPUPLAN_HANDLERS_KEPT_H
#define GPUPLAN_HANDLERS_KEPT_H

#include "handlers/books.h"

struct kept {
    bool used;
    int128 unit_ns[RUN_PARTS][ACC_HELD_END];
};

/* A stretch that can no longer be lost. */
void kept_add(struct run *run, uint32_t live, const struct stretch *stretch);

/* All that is left of an attempt, up to stop_ns, when its tempo ever changed: what lies behind it was lost. */
void kept_rest(struct run *run, uint32_t live, int64_t stop_ns);

/* Whether the attempt has such sums; at its normal end its last partial cycle had no checkpoint. */
bool kept_any(const struct run *run, uint32_t live);
void kept_fix(struct run *run, uint32_t live);

/* Writes the sums into the result, as of its attempt of now, and forgets them. */
void kept_tell(struct run *run, uint32_t live);

void kept_clear(struct run *run);

#endif
