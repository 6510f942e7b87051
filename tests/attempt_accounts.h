/* attempt_accounts.h - where the GPU-time of an attempt went, as `gpuplan why` works it out from its rows. Header only; include
 * it behind cmocka.h. */
#ifndef GPUPLAN_TESTS_ATTEMPT_ACCOUNTS_H
#define GPUPLAN_TESTS_ATTEMPT_ACCOUNTS_H

#include "report/why_story.h"

#include <string.h>

/* Adds row i of the attempts to sum[account], units times ns. */
static inline void attempt_accounts(const struct replica_result *result, uint64_t i, int128 sum[ACCOUNTS])
{
    const struct attempt_row *row = &LOG_ITEMS(&result->attempts, const struct attempt_row)[i];
    const struct kept_row *sums = LOG_ITEMS(&result->kept, const struct kept_row);
    const int64_t *fix = row->checkpoint_fix_unit_ns;
    struct detail_attempt attempt = {
        .gpus_held = row->gpus_held,
        .gpus_asked = row->gpus_asked,
        .broken_gpus = row->broken_gpus,
        .start_ns = row->start_ns,
        .startup_ns = row->startup_ns,
        .durable_ns = row->durable_ns,
        .end_ns = row->end_ns,
        .fault_ns = row->fault_ns,
        .outcome = attempt_end_names[row->end],
        .attempt = (uint32_t)i,
        .checkpoint_fix = (int128)((uint128)(uint64_t)fix[0] << 64 | (uint64_t)fix[1]),
    };
    memcpy(attempt.units, row->units, sizeof attempt.units);
    struct log kept;
    log_init(&kept, sizeof(struct detail_kept), 0);
    for (uint64_t k = 0; k < result->kept.count; k++) {
        if (sums[k].serial != row->serial || sums[k].attempt != row->attempt) continue;
        struct detail_kept one = { .attempt = (uint32_t)i };
        memcpy(one.unit_ns, sums[k].unit_ns, sizeof one.unit_ns);
        assert_true(log_append(&kept, &one));
    }
    why_account(&attempt, &kept, sum);
    log_clear(&kept);
}

#endif
