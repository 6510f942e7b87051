/* campaign.h - runs all replicas of a plan on worker threads and hands them over in one order.
 *
 * The order of results is blast runs first, then replica by replica, layout by layout, then the
 * settings of the tornado, whatever the number of workers: -j 1 and -j 8 give the same database.
 * With scenario->until the sink is asked, in that order too, whether the replicas so far are enough;
 * what workers have run beyond them by then is thrown away. Only this file knows threads. */
#ifndef GPUPLAN_CAMPAIGN_CAMPAIGN_H
#define GPUPLAN_CAMPAIGN_CAMPAIGN_H

#include "base/diag.h"
#include "ledger/results.h"
#include "spec/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct campaign_sink {
    void *context;
    /* Takes one result, on the calling thread; the result is cleared afterwards. */
    enum status (*take)(void *context, const struct replica_result *result, struct diag *diag);
    /* True: this one is there already (a resumed run). NULL: none is. */
    bool (*has)(void *context, uint32_t variant, uint32_t replica, uint32_t setting);
    /* With scenario->until: whether so many replicas of each layout, all taken or had, are enough.
     * Asked at UNTIL_FIRST, then every UNTIL_STEP and at the last, on the calling thread. NULL: never. */
    bool (*enough)(void *context, uint32_t replicas);
};

struct campaign_totals {
    uint64_t replicas, events;
    uint32_t replicas_each; /* of each layout, those that the sink had included */
    bool enough;            /* the sink said so, else all of the plan were run  */
    uint64_t stopped; /* runs that reached plan->all_end_ns with jobs left */
    uint64_t stuck;   /* runs that ended with jobs which nothing lets end    */
    double run_s; /* sum over replicas */
};

/* Runs everything; progress goes to stderr when `progress`. Stops at the first failure, whose
 * reason is in diag: STATUS_LEDGER when books do not close. STATUS_LIMIT: all results were taken, but
 * some run was stopped with jobs left. */
enum status campaign_run(const struct plan *plan, uint32_t workers, bool progress,
                         const struct campaign_sink *sink, struct campaign_totals *totals,
                         struct diag *diag);

#endif
