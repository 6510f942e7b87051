/* until.h - whether the replicas so far tell a metric well enough: what scenario->until asks (MODELS 6.7).
 *
 * The rule looks at the mean of the metric on each layout, each slack variant by itself, and is met when all of them
 * meet it. It does not look at differences between layouts: half a width as a share of a difference has no meaning
 * where the difference is near 0, and pairs share their luck, so differences are the better known of the two.
 * Values come in as replicas are taken or found in the database, so a resumed run decides as an unbroken one.
 * Tests: tests/test_until.c */
#ifndef GPUPLAN_CLI_UNTIL_H
#define GPUPLAN_CLI_UNTIL_H

#include "ledger/results.h"
#include "spec/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct until_watch {
    const struct plan *plan; /* borrowed                                                     */
    double *values;          /* [variant_count][replicas], NAN where there is none; owned    */
};

/* False when memory is out. A plan without `until` needs no memory, and is never enough. */
bool until_init(struct until_watch *watch, const struct plan *plan);
void until_clear(struct until_watch *watch); /* a zeroed one is allowed */

/* Notes the value of one replica; blast runs and moved settings are passed over. */
void until_take(struct until_watch *watch, const struct replica_result *result);
void until_note(struct until_watch *watch, uint32_t variant, uint32_t replica, double value);

/* Whether the first `replicas` of every layout are enough. A replica that has no such value (no job
 * of the cohort ended) is left out; fewer than UNTIL_FIRST values are never enough. */
bool until_enough(const struct until_watch *watch, uint32_t replicas);

#endif
