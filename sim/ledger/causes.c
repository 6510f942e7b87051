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

/* All that waits, in units; the sum over whole GPUs is kept by the queue. */
static uint64_t wanted_units(const struct waiting *waiting, const struct demand *demands)
{
    uint64_t units = waiting->gpus * (uint64_t)CLUSTER_UNITS;
    for (uint32_t h = 0; h < waiting->head_count && waiting->heads[h].gpus == 0; h++)
        units += (uint64_t)waiting->classes[waiting->heads[h].request_class].waiting *
                 demands[waiting->heads[h].request_class].share_units;
    return units;
}

struct causes causes_of(const struct cluster *cluster, const struct waiting *waiting,
                        const struct demand *demands, const uint64_t *blocked_at)
{
    struct causes causes = { { 0 } };
    const uint64_t unit = (uint64_t)CLUSTER_UNITS, free_gpus = cluster->index.free_gpus;
    const uint64_t free_units = free_gpus * unit + cluster->share_free_units;
    const uint64_t wanted = wanted_units(waiting, demands);
    uint64_t left = free_units;
    causes.units[ACC_NO_DEMAND] = wanted < left ? left - wanted : 0;
    left -= causes.units[ACC_NO_DEMAND];
    uint64_t withheld = 0, starved = 0, fragmented = 0;
    for (uint32_t h = 0; left > 0 && h < waiting->head_count; h++) {
        const struct waiting_head *head = &waiting->heads[h];
        if (head->gpus > free_gpus) break; /* heads stand in order of GPUs */
        const struct demand *demand = &demands[head->request_class];
        const uint64_t jobs = waiting->classes[head->request_class].waiting;
        const bool is_starved = blocked_at[head->request_class] == cluster->releases + 1;
        if (demand->gpus == 0) { /* cores only want no GPU; parts of one fit where one is whole */
            uint64_t *cause = free_gpus == 0 ? &fragmented : is_starved ? &starved : &withheld;
            *cause += jobs * demand->share_units;
            continue;
        }
        const uint64_t asked = jobs * demand->held * unit;
        if (!demand_fits(demand, cluster->index.with_free, cluster->gpus_per_node)) {
            fragmented += asked;
            continue;
        }
        const uint64_t usable = usable_gpus(cluster, demand) * unit;
        *(is_starved ? &starved : &withheld) += asked < usable ? asked : usable;
    }
    causes.units[ACC_WITHHELD] = take(&left, withheld);
    causes.units[ACC_STARVED] = take(&left, starved);
    causes.units[ACC_FRAGMENTED] = take(&left, fragmented);
    causes.units[ACC_SHORT] = left;
    return causes;
}
