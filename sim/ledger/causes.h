/* causes.h - why the free GPUs of an instant are free (DESIGN 3, group free). */
#ifndef GPUPLAN_LEDGER_CAUSES_H
#define GPUPLAN_LEDGER_CAUSES_H

#include "cluster/cluster.h"
#include "cluster/waiting.h"
#include "ledger/accounts.h"

#include <stdint.h>

/* Units per cause; they sum to what is free, shares of GPUs included, none is negative. In this order each cause takes at
 * most what is left:
 *
 *   no_demand    free GPUs beyond all that the waiting jobs ask for
 *   withheld     what waiting jobs that fit now, in shape and host, could take: policy keeps it
 *   starved      what jobs that fit in shape, but not by cores or memory, could take
 *   fragmented   what jobs ask for that are no larger than the free GPUs, but fit in no shape
 *   short        the rest: every job that is left needs more than all free GPUs
 *
 * demands[class_count] is this layout's. blocked_at[class] == cluster->releases + 1: a
 * search found no host for the class although its shape fits; every class that asks for a host and
 * fits must have been searched for. */
struct causes {
    uint64_t units[ACC_FREE_END]; /* [ACC_NO_DEMAND .. ACC_FREE_END) are used */
};

struct causes causes_of(const struct cluster *cluster, const struct waiting *waiting,
                        const struct demand *demands, const uint64_t *blocked_at);

#endif
