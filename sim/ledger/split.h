/* split.h - how one held GPU's time divides among the accounts of its job's step. */
#ifndef GPUPLAN_LEDGER_SPLIT_H
#define GPUPLAN_LEDGER_SPLIT_H

#include "ledger/accounts.h"

#include <stdint.h>

/* Shares of a step that are not compute, in units per asked GPU (UNITS_PER_GPU = all of it). They come from
 * cluster/speed, the one place where real numbers are rounded. */
struct step_shares {
    uint32_t intra, inter, contention, data, straggler, bubble, checkpoint;
};

/* The level of each held account for a job that asked for `gpus` and holds `held` GPUs.
 *
 * Nested in the order stall_intra, stall_inter, stall_contention, stall_data, straggler, bubble, checkpoint: each takes at most what
 * is left; compute takes the rest of what was asked for; `unused` is held - gpus. The levels sum
 * to held * UNITS_PER_GPU exactly. */
void step_split(uint32_t gpus, uint32_t held, const struct step_shares *shares,
                int64_t levels[ACC_HELD_END]);

#endif
