/* split.c - see split.h. */
#include "ledger/split.h"

#include "base/assert.h"

#include <string.h>

void step_split(int64_t asked_units, int64_t held_units, const struct step_shares *shares,
                int64_t levels[ACC_HELD_END])
{
    ASSERT(held_units >= asked_units);
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
    const int64_t gpus = asked_units / UNITS_PER_GPU, part = asked_units % UNITS_PER_GPU;
    int64_t left = asked_units;
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        const int64_t wanted = gpus * nested[i].share + part * nested[i].share / UNITS_PER_GPU;
        const int64_t taken = wanted < left ? wanted : left;
        levels[nested[i].account] = taken;
        left -= taken;
    }
    levels[ACC_OVERHEAD] = left * shares->overhead_of_rest / UNITS_PER_GPU; /* below 2^62 */
    levels[ACC_COMPUTE] = left - levels[ACC_OVERHEAD];
    levels[ACC_UNUSED] = held_units - asked_units;
}
