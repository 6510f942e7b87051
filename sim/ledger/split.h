/* split.h - how one held GPU's time divides among the accounts of its job's step. */
#ifndef GPUPLAN_LEDGER_SPLIT_H
#define GPUPLAN_LEDGER_SPLIT_H

#include "ledger/accounts.h"

#include <stdint.h>

/* Shares of a step that are not compute, in units per asked GPU (UNITS_PER_GPU = all of it). They come from
 * cluster/speed, the one place where real numbers are rounded. */
struct step_shares {
    uint32_t intra, inter, contention, data, straggler, bubble, checkpoint;
    uint32_t overhead_of_rest; /* of what is left then: virtualisation, the rest is compute          */
};

/* The level of each held account for a job that asked for and holds so many units (UNITS_PER_GPU = one
 * GPU; a share of a GPU is a part of it).
 *
 * Nested in the order stall_intra, stall_inter, stall_contention, stall_data, straggler, bubble, checkpoint: each takes at most what
 * is left; overhead takes its part of the rest, and compute all else that was asked for; `unused` is held - asked. The levels sum
 * to held_units exactly. */
void step_split(int64_t asked_units, int64_t held_units, const struct step_shares *shares,
                int64_t levels[ACC_HELD_END]);

#endif
