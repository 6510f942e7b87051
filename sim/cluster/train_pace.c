/* train_pace.c - see train_pace.h. */
#include "cluster/train_pace.h"

#include "base/assert.h"
#include "base/philox.h"

#include <string.h>

enum {
    ROWS = 2048, /* a power of two; a full memo is computed anew, never wrong */
    PROBES = 8   /* rows that a case may lie in                               */
};

struct row {
    struct train_case at; /* job NULL: empty */
    struct train_pace pace;
    struct step_curve curve; /* count 0: not asked for */
};

struct train_paces {
    struct row rows[ROWS];
};

struct train_paces *train_paces_create(struct arena *arena)
{
    return arena_take(arena, 1, sizeof(struct train_paces));
}

static bool same_site(const struct collective_group *a, const struct collective_group *b)
{
    return a->servers == b->servers && a->gpus == b->gpus && a->gpus_min == b->gpus_min &&
           a->spans_leaves == b->spans_leaves && a->domains == b->domains &&
           a->domain_servers == b->domain_servers && a->domain_gpus == b->domain_gpus &&
           a->leaf_servers == b->leaf_servers && a->pair_servers == b->pair_servers;
}

static bool same(const struct train_case *a, const struct train_case *b)
{
    return a->job == b->job && a->allowed == b->allowed && a->traffic == b->traffic &&
           same_site(&a->site, &b->site) && a->islands == b->islands && a->kind == b->kind;
}

static struct train_pace work_out(const struct train_case *at,
                                  const struct collective_hardware *hardware, double slower)
{
    struct collective_hardware now = *hardware;
    now.nic_bytes_per_s /= slower;
    now.uplinks_bytes_per_s /= slower;
    now.pair_bytes_per_s /= slower;
    const struct train_time time =
        train_job_step(at->job, &now, at->allowed, &at->site, at->traffic);
    struct train_pace pace = {
        .compute_s = time.compute_s + time.optimizer_s + time.fixed_s,
        .intra_s = time.stall_intra_s,
        .inter_s = time.stall_inter_s,
        .bubble_s = time.bubble_s,
        .network_s = time.network_s,
        .wire_s = time.wire_s,
        .network_bytes = time.network_bytes,
        .server_bytes = time.server_bytes,
        .leaf_bytes = time.leaf_bytes,
        .pair_bytes = time.pair_bytes,
        .traffic_count = time.traffic_count,
    };
    memcpy(pace.traffic, time.traffic, sizeof pace.traffic);
    return pace;
}

static struct row *row_of(struct train_paces *paces, const struct train_case *at,
                          const struct collective_hardware *hardware)
{
    const uint64_t hash =
        mix64(((uint64_t)at->site.gpus << 32 | at->site.servers) +
              mix64((uint64_t)at->site.gpus_min << 32 | at->islands << 3 | at->kind << 1 |
                    at->site.spans_leaves) +
              mix64((uint64_t)at->site.domain_servers << 32 | at->site.domain_gpus) +
              mix64((uint64_t)at->site.leaf_servers << 32 | at->site.pair_servers));
    struct row *row = NULL;
    for (uint32_t i = 0; i < PROBES; i++) {
        row = &paces->rows[(hash + i) % ROWS];
        if (same(&row->at, at)) return row;
        if (row->at.job == NULL) break;
    }
    row->at = *at;
    row->pace = work_out(at, hardware, 1);
    row->curve.count = 0;
    return row;
}

struct train_pace train_pace_of(struct train_paces *paces, const struct train_case *at,
                                const struct collective_hardware *hardware, double slower)
{
    ASSERT(slower >= 1);
    return slower > 1 ? work_out(at, hardware, slower) : row_of(paces, at, hardware)->pace;
}

struct asked {
    const struct train_case *at;
    const struct collective_hardware *hardware;
    double line_s, least_s;
};

static double step_s(double wire_s, const void *context)
{
    const struct asked *asked = context;
    const double slower = wire_s > asked->least_s ? wire_s / asked->line_s : 1;
    const struct train_pace pace = work_out(asked->at, asked->hardware, slower);
    return pace.compute_s + pace.intra_s + pace.inter_s + pace.bubble_s;
}

const struct step_curve *train_pace_curve(struct train_paces *paces, const struct train_case *at,
                                          const struct collective_hardware *hardware, double line_s,
                                          double least_s)
{
    struct row *row = row_of(paces, at, hardware);
    const struct asked asked = { at, hardware, line_s, least_s };
    ASSERT(line_s > 0 && least_s >= line_s);
    if (row->curve.count == 0) step_curve_find(&row->curve, least_s, step_s, &asked);
    return &row->curve;
}
