/* train_pace.c - see train_pace.h. */
#include "cluster/train_pace.h"

#include "base/philox.h"

#include <string.h>

enum { ROWS = 1024 }; /* a power of two; a full memo is computed anew, never wrong */

struct row {
    struct train_case at; /* job NULL: empty */
    struct train_pace pace;
};

struct train_paces {
    struct row rows[ROWS];
};

struct train_paces *train_paces_create(struct arena *arena)
{
    return arena_take(arena, 1, sizeof(struct train_paces));
}

static bool same(const struct train_case *a, const struct train_case *b)
{
    return a->job == b->job && a->allowed == b->allowed && a->traffic == b->traffic &&
           a->site.servers == b->site.servers && a->site.gpus == b->site.gpus &&
           a->site.gpus_min == b->site.gpus_min && a->site.spans_leaves == b->site.spans_leaves &&
           a->islands == b->islands && a->kind == b->kind;
}

struct train_pace train_pace_of(struct train_paces *paces, const struct train_case *at,
                                const struct collective_hardware *hardware)
{
    const uint64_t hash = mix64(((uint64_t)at->site.gpus << 32 | at->site.servers) +
                                mix64((uint64_t)at->site.gpus_min << 32 | at->islands << 3 |
                                      at->kind << 1 | at->site.spans_leaves));
    struct row *row = &paces->rows[hash % ROWS];
    if (same(&row->at, at)) return row->pace;
    const struct train_time time =
        train_job_step(at->job, hardware, at->allowed, &at->site, at->traffic);
    row->at = *at;
    row->pace = (struct train_pace){
        .compute_s = time.compute_s + time.optimizer_s + time.fixed_s,
        .intra_s = time.stall_intra_s,
        .inter_s = time.stall_inter_s,
        .bubble_s = time.bubble_s,
        .network_s = time.network_s,
        .wire_s = time.wire_s,
        .hidden_s = time.network_hidden_s,
        .network_bytes = time.network_bytes,
    };
    return row->pace;
}
