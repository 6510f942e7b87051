/* causes.c - see causes.h. */
#include "ledger/causes.h"

#include "base/assert.h"

/* Free GPUs that jobs of this demand could take in whole jobs of its shape. */
static uint64_t usable_gpus(const struct cluster *cluster, const struct demand *demand)
{
    const struct free_index *index = &cluster->index;
    uint64_t parts = 0;
    for (uint32_t f = demand->per_node; f <= index->gpus_per_node; f++)
        parts += (uint64_t)index->with_free[f] * (f / demand->per_node);
    const uint64_t plain = parts / demand->nodes * demand->held;
    return plain > 0 ? plain : demand->gpus; /* it fits only with slack: once */
}

static uint64_t take(uint64_t *left, uint64_t wanted)
{
    const uint64_t taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

struct causes causes_of(const struct cluster *cluster, const struct waiting *waiting,
                        const struct demand *demands, const uint64_t *blocked_at)
{
    struct causes causes = { { 0 } };
    const uint64_t free_gpus = cluster->index.free_gpus;
    uint64_t left = free_gpus;
    causes.gpus[ACC_NO_DEMAND] = waiting->gpus < left ? left - waiting->gpus : 0;
    left -= causes.gpus[ACC_NO_DEMAND];
    uint64_t withheld = 0, starved = 0, fragmented = 0;
    for (uint32_t h = 0; left > 0 && h < waiting->head_count; h++) {
        const struct waiting_head *head = &waiting->heads[h];
        if (head->gpus > free_gpus) break; /* heads stand in order of GPUs */
        const struct demand *demand = &demands[head->request_class];
        const uint64_t asked =
            (uint64_t)waiting->classes[head->request_class].waiting * demand->held;
        if (!demand_fits(demand, cluster->index.with_free, cluster->gpus_per_node)) {
            fragmented += asked;
            continue;
        }
        const uint64_t usable = usable_gpus(cluster, demand);
        uint64_t *cause =
            blocked_at[head->request_class] == cluster->releases + 1 ? &starved : &withheld;
        *cause += asked < usable ? asked : usable;
    }
    causes.gpus[ACC_WITHHELD] = take(&left, withheld);
    causes.gpus[ACC_STARVED] = take(&left, starved);
    causes.gpus[ACC_FRAGMENTED] = take(&left, fragmented);
    causes.gpus[ACC_SHORT] = left;
    return causes;
}
