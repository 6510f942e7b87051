/* slurm_hopeless.c - see slurm_hopeless.h. */
#include "policy/slurm_hopeless.h"

#include <stdlib.h>

enum { EXACT = 8 };

/* The largest size that is not above n: 1 to 8, 12, 16, 24, ... */
static uint32_t size_of(uint32_t nodes)
{
    if (nodes <= EXACT) return nodes - 1;
    const uint32_t log2 = 31 - (uint32_t)__builtin_clz(nodes);
    return EXACT - 1 + 2 * (log2 - 3) + (nodes >> (log2 - 1) & 1);
}

void slurm_hopeless_init(struct slurm_hopeless *hopeless, uint32_t steps, uint32_t nodes)
{
    *hopeless = (struct slurm_hopeless){ .steps = steps,
                                         .sizes = size_of(nodes ? nodes : 1) + 1,
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

static struct slurm_hopeless_row *row_of(const struct slurm_hopeless *hopeless,
                                         struct slurm_hopeless_at at, uint32_t size)
{
    return hopeless->kinds[at.kind] + (size_t)size * hopeless->steps + at.step;
}

uint32_t slurm_hopeless_until(const struct slurm_hopeless *hopeless, struct slurm_hopeless_at at,
                              uint32_t nodes, int64_t limit_s)
{
    if (at.kind >= hopeless->kind_count || !hopeless->kinds[at.kind] || at.step >= hopeless->steps)
        return at.step;
    const struct slurm_hopeless_row *row = row_of(hopeless, at, size_of(nodes));
    return row->serial == hopeless->serial && row->limit_s <= limit_s ? row->until : at.step;
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
    uint32_t size = ready == 0 ? 0 : size_of(ready) + 1;
    for (; size < hopeless->sizes; size++) {
        struct slurm_hopeless_row *row = row_of(hopeless, at, size);
        const bool knows_more =
            row->serial == hopeless->serial && row->limit_s <= limit_s && row->until >= at.until;
        if (!knows_more)
            *row = (struct slurm_hopeless_row){ hopeless->serial, (uint32_t)limit_s, at.until };
    }
    return true;
}
