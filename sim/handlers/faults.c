/* faults.c - see faults.h. */
#include "handlers/faults.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/exactmath.h"
#include "base/philox.h"
#include "handlers/run.h"

static const struct {
    const char *fail, *repair;
} purposes[COMPONENTS] = {
    [COMPONENT_GPU] = { "fail.gpu", "repair.gpu" },
    [COMPONENT_SERVER] = { "fail.server", "repair.server" },
    [COMPONENT_LINK] = { "fail.link", "repair.link" },
    [COMPONENT_LEAF] = { "fail.domain", "repair.domain" },
    [COMPONENT_JOB] = { "fail.job", "repair.job" },
};

static const double QUANTILE_95 = 0.95;

double faults_draw_s(const struct component_failures *law, double scale, double u)
{
    const double mean_s = law->mean_s / scale;
    if (law->law == LAW_WEIBULL)
        return inv_weibull(u, law->shape, mean_s / exact_gamma(1 + 1 / law->shape));
    if (law->law == LAW_LOGNORMAL)
        return inv_lognormal(u, exact_log(mean_s) - law->shape * law->shape / 2, law->shape);
    return inv_exponential(u, mean_s);
}

enum component faults_kind(const struct faults *faults, uint32_t row)
{
    enum component kind = COMPONENT_GPU;
    while (row >= faults->first[kind] + faults->count[kind]) kind++;
    return kind;
}

static uint64_t entity_of(const struct faults *faults, enum component kind, uint32_t row)
{
    const uint64_t element = row - faults->first[kind];
    return kind == COMPONENT_SERVER ? element * faults->first_gpu_stride : element;
}

int64_t faults_life_ns(const struct faults *faults, uint32_t row)
{
    const enum component kind = faults_kind(faults, row);
    const double u =
        stream_uniform(faults->fail_key[kind], entity_of(faults, kind, row), faults->renewals[row]);
    return ns_from_s(faults_draw_s(&faults->law[kind], faults->scale, u));
}

int64_t faults_repair_ns(const struct faults *faults, uint32_t row)
{
    const enum component kind = faults_kind(faults, row);
    const struct component_failures *law = &faults->law[kind];
    if (law->repair_median_s <= 0) return 0;
    const double u = stream_uniform(faults->repair_key[kind], entity_of(faults, kind, row),
                                    faults->renewals[row]);
    const double sigma =
        exact_log(law->repair_p95_s / law->repair_median_s) / exact_normal_quantile(QUANTILE_95);
    return ns_from_s(inv_lognormal(u, exact_log(law->repair_median_s), sigma));
}

static void schedule_life(struct faults *faults, uint32_t row, int64_t now_ns)
{
    const int64_t at_ns = time_add(now_ns, faults_life_ns(faults, row));
    if (at_ns <= faults->until_ns && at_ns < TIME_NEVER)
        agenda_set(&faults->agenda, row, at_ns, agenda_rank(EV_FAULT, row));
}

bool faults_init(struct faults *faults, const struct failures *failures, struct faults_size size,
                 struct arena *arena)
{
    const uint32_t counts[COMPONENTS] = { [COMPONENT_GPU] = size.gpus,
                                          [COMPONENT_SERVER] = size.servers,
                                          [COMPONENT_LINK] = size.links,
                                          [COMPONENT_LEAF] = size.leaves };
    *faults = (struct faults){ .first_gpu_stride = size.gpus_per_server,
                               .slow_key = stream_key(size.seed, size.replica, "slow.link"),
                               .slow_link = failures->slow_link,
                               .scale = failures->scale,
                               .until_ns = size.until_ns };
    for (int kind = 0; kind < COMPONENTS; kind++) {
        faults->law[kind] = failures->component[kind];
        faults->first[kind] = faults->total;
        faults->count[kind] = faults->law[kind].law == LAW_NONE ? 0 : counts[kind];
        faults->total += faults->count[kind];
        faults->fail_key[kind] = stream_key(size.seed, size.replica, purposes[kind].fail);
        faults->repair_key[kind] = stream_key(size.seed, size.replica, purposes[kind].repair);
    }
    faults->state = ARENA_ARRAY(arena, uint8_t, faults->total);
    faults->renewals = ARENA_ARRAY(arena, uint32_t, faults->total);
    faults->incident = ARENA_ARRAY(arena, uint32_t, faults->total);
    if (!faults->state || !faults->renewals || !faults->incident ||
        !agenda_init(&faults->agenda, faults->total ? faults->total : 1))
        return false;
    for (uint32_t row = 0; row < faults->total; row++) {
        faults->incident[row] = ROW_NONE;
        schedule_life(faults, row, 0);
    }
    return true;
}

void faults_clear(struct faults *faults)
{
    agenda_clear(&faults->agenda);
}

bool faults_is_slow(struct faults *faults, uint32_t row, int64_t now_ns)
{
    const struct slow_link *slow = &faults->slow_link;
    if (slow->share <= 0) return false;
    const struct draw draw =
        stream_draw(faults->slow_key, row - faults->first[COMPONENT_LINK], faults->renewals[row]);
    if (draw.u1 >= slow->share) return false;
    const int64_t found_ns = ns_from_s(inv_exponential(draw.u2, s_from_ns(slow->found_ns)));
    faults_start_repair(faults, row, time_add(now_ns, found_ns));
    faults->state[row] = PART_SLOW;
    return true;
}

void faults_renew(struct faults *faults, uint32_t row, int64_t now_ns)
{
    ASSERT(faults->state[row] == PART_IN_REPAIR || faults->state[row] == PART_SLOW);
    faults->state[row] = PART_OK;
    faults->incident[row] = ROW_NONE;
    faults->renewals[row]++;
    schedule_life(faults, row, now_ns);
}

int64_t faults_start_repair(struct faults *faults, uint32_t row, int64_t now_ns)
{
    ASSERT(faults->state[row] != PART_IN_REPAIR);
    faults->state[row] = PART_IN_REPAIR;
    const int64_t at_ns = time_add(now_ns, faults_repair_ns(faults, row));
    if (at_ns < TIME_NEVER) agenda_set(&faults->agenda, row, at_ns, agenda_rank(EV_REPAIR, row));
    return at_ns;
}
