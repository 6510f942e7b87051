/* why_accounts.c - where the GPU-time of an attempt went: the ledger's rules, from the row of the attempt alone. */
#include "report/why_story.h"

#include <string.h>

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Work and its stalls from the end of the start-up to `stop_ns`: as it was summed up, or by its levels. */
static void add_work(const struct detail_attempt *attempt, const struct log *kept, int64_t stop_ns,
                     int128 unit_ns[ACCOUNTS])
{
    const struct detail_kept *rows = LOG_ITEMS(kept, const struct detail_kept);
    const int64_t length_ns = stop_ns - (attempt->start_ns + attempt->startup_ns);
    bool summed = false;
    for (uint64_t i = 0; i < kept->count; i++) {
        if (rows[i].attempt != attempt->attempt) continue;
        summed = true;
        for (int account = 0; account < ACC_HELD_END; account++)
            unit_ns[account] += rows[i].unit_ns[account];
    }
    if (summed || length_ns <= 0) return;
    for (int account = 0; account < ACC_HELD_END; account++)
        if (account != ACC_UNUSED) unit_ns[account] += (int128)attempt->units[account] * length_ns;
}

/* Broken GPUs of an attempt whose fault is not yet detected are down: out of lost first, then out of unused. */
static void take_broken(const struct detail_attempt *attempt, int128 unit_ns[ACCOUNTS])
{
    const int64_t hang_ns = attempt->end_ns - attempt->fault_ns;
    const uint32_t from_lost =
        attempt->broken_gpus < attempt->gpus_asked ? attempt->broken_gpus : attempt->gpus_asked;
    const int128 per_gpu = (int128)UNITS_PER_GPU * hang_ns;
    unit_ns[ACC_DOWN] += per_gpu * attempt->broken_gpus;
    unit_ns[ACC_LOST] -= per_gpu * from_lost;
    unit_ns[ACC_UNUSED] -= per_gpu * (attempt->broken_gpus - from_lost);
}

void why_account(const struct detail_attempt *attempt, const struct log *kept,
                 int128 unit_ns[ACCOUNTS])
{
    const bool failed = attempt->fault_ns < INT64_MAX;
    /* What the end of the run cut is at risk, not lost. */
    const bool rolled_back =
        failed || (attempt->durable_ns < attempt->end_ns && strcmp(attempt->outcome, "cut") != 0);
    const int64_t work_ns = attempt->start_ns + attempt->startup_ns;
    int64_t worked_units = 0;
    for (int account = 0; account < ACC_HELD_END; account++)
        if (account != ACC_UNUSED) worked_units += attempt->units[account];
    const int64_t startup_end_ns = earlier(work_ns, failed ? attempt->fault_ns : attempt->end_ns);
    unit_ns[ACC_STARTUP] += (int128)worked_units * (startup_end_ns - attempt->start_ns);
    add_work(attempt, kept, rolled_back ? attempt->durable_ns : attempt->end_ns, unit_ns);
    unit_ns[ACC_COMPUTE] += attempt->checkpoint_fix;
    unit_ns[ACC_CHECKPOINT] -= attempt->checkpoint_fix;
    if (rolled_back)
        unit_ns[ACC_LOST] += (int128)worked_units * (attempt->end_ns - attempt->durable_ns);
    unit_ns[ACC_UNUSED] +=
        (int128)attempt->units[ACC_UNUSED] * (attempt->end_ns - attempt->start_ns);
    if (failed) take_broken(attempt, unit_ns);
}
