/* slurm_hopeless.c - see slurm_hopeless.h. */
#include "policy/slurm_hopeless.h"

#include <stdlib.h>

void slurm_hopeless_init(struct slurm_hopeless *hopeless, uint32_t steps, uint32_t nodes)
{
    *hopeless = (struct slurm_hopeless){ .steps = steps,
                                         .sizes = slurm_hopeless_size(nodes ? nodes : 1) + 1,
                                         .serial = 1 };
}

void slurm_hopeless_clear(struct slurm_hopeless *hopeless)
{
    for (uint32_t k = 0; k < hopeless->kind_count; k++) free(hopeless->kinds[k]);
    free(hopeless->kinds);
    *hopeless = (struct slurm_hopeless){ 0 };
}

void slurm_hopeless_forget(struct slurm_hopeless *hopeless)
{
    hopeless->serial++;
}

static bool make_kind(struct slurm_hopeless *hopeless, uint32_t kind)
{
    if (kind >= hopeless->kind_count) {
        struct slurm_hopeless_row **kinds =
            realloc(hopeless->kinds, (kind + 1) * sizeof(struct slurm_hopeless_row *));
        if (!kinds) return false;
        hopeless->kinds = kinds;
        while (hopeless->kind_count <= kind) kinds[hopeless->kind_count++] = NULL;
    }
    if (!hopeless->kinds[kind])
        hopeless->kinds[kind] =
            calloc((size_t)hopeless->steps * hopeless->sizes, sizeof(struct slurm_hopeless_row));
    return hopeless->kinds[kind] != NULL;
}

bool slurm_hopeless_learn(struct slurm_hopeless *hopeless, struct slurm_hopeless_at at,
                          uint32_t ready, int64_t limit_s)
{
    if (limit_s > UINT32_MAX || at.step >= hopeless->steps) return true;
    if (!make_kind(hopeless, at.kind)) return false;
    /* The smallest size above `ready`: the next one, unless sizes between were left out. */
    uint32_t size = ready == 0 ? 0 : slurm_hopeless_size(ready) + 1;
    for (; size < hopeless->sizes; size++) {
        struct slurm_hopeless_row *row = slurm_hopeless_row(hopeless, at, size);
        const bool knows_more =
            row->serial == hopeless->serial && row->limit_s <= limit_s && row->until >= at.until;
        if (!knows_more)
            *row = (struct slurm_hopeless_row){ hopeless->serial, (uint32_t)limit_s, at.until };
    }
    return true;
}
