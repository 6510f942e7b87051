/* ledger.h - the GPU-second ledger of one replica: every GPU-second in exactly one account.
 *
 * State is one integer level per cell (account, class). The only primitive moves units between two
 * cells at a time; it writes differences into the curve's bins:
 *
 *     part[bin of t] += d * (bin_end - t)        step[next bin] += d
 *
 * so an integral over a bin is part + (sum of steps so far) * width, a total is the sum of the
 * bins, and the window's edges are bin edges: curve, window and total cannot disagree. A move may
 * lie in the past (work that a fault rolls back) or in the future (the end of a start-up); the
 * level of a cell is then the sum of all moves made, and the sum over cells is the capacity
 * always. Integrals are 128-bit: exact. */
#ifndef GPUPLAN_LEDGER_LEDGER_H
#define GPUPLAN_LEDGER_LEDGER_H

#include "base/int128.h"
#include "ledger/accounts.h"
#include "ledger/results.h"

#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_CELLS = ACCOUNTS * CLASSES };

/* Row of a cell. */
static inline uint32_t ledger_cell(enum account account, enum size_class size_class)
{
    return (uint32_t)account * CLASSES + (uint32_t)size_class;
}

struct ledger_bin {
    int128 part[LEDGER_CELLS];
    int64_t step[LEDGER_CELLS];
};

struct ledger {
    int64_t bin_ns, capacity_units;
    int64_t level[LEDGER_CELLS];
    struct ledger_bin **bins; /* [bin_capacity] NULL = nothing written there */
    uint32_t bin_capacity;
    uint32_t bin_now;   /* of the last move: times mostly ascend       */
    bool out_of_memory; /* a move was lost; the run fails              */
};

/* All capacity starts in no_demand at time 0. False when memory is out. */
bool ledger_init(struct ledger *ledger, int64_t capacity_units, int64_t bin_ns);
void ledger_clear(struct ledger *ledger);

/* Moves `units` (>= 0) from one cell to another from time at_ns (>= 0) on. */
void ledger_move(struct ledger *ledger, uint32_t from, uint32_t to, int64_t units, int64_t at_ns);

/* Closes the books at run_end_ns and fills result->ledger, ledger_all, bins and closure_error. The
 * window is [window_start_ns, window_end_ns) of the result, both bin edges or run_end_ns. No move
 * may lie behind run_end_ns. False when memory is out. */
bool ledger_close(struct ledger *ledger, int64_t run_end_ns, struct replica_result *result);

#endif
