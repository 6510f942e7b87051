/* split.c - see split.h. */
#include "ledger/split.h"

#include "base/assert.h"

#include <string.h>

void step_split(uint32_t gpus, uint32_t held, const struct step_shares *shares,
                int64_t levels[ACC_HELD_END])
{
    ASSERT(held >= gpus);
    const struct {
        enum account account;
        uint32_t share;
    } nested[] = {
        { ACC_STALL_INTRA, shares->intra },           { ACC_STALL_INTER, shares->inter },
        { ACC_STALL_CONTENTION, shares->contention }, { ACC_STALL_DATA, shares->data },
        { ACC_STRAGGLER, shares->straggler },         { ACC_BUBBLE, shares->bubble },
        { ACC_CHECKPOINT, shares->checkpoint },
    };
    memset(levels, 0, ACC_HELD_END * sizeof *levels);
    int64_t left = gpus * UNITS_PER_GPU;
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        const int64_t wanted = (int64_t)gpus * nested[i].share;
        const int64_t taken = wanted < left ? wanted : left;
        levels[nested[i].account] = taken;
        left -= taken;
    }
    levels[ACC_COMPUTE] = left;
    levels[ACC_UNUSED] = (int64_t)(held - gpus) * UNITS_PER_GPU;
}
