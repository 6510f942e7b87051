/* slurm_preempt.c - see slurm_preempt.h. */
#include "policy/slurm_preempt.h"

#include "base/assert.h"
#include "base/clock.h"
#include "policy/names.h"

#include <stdlib.h>

#define USABLE_FIRST UINT32_MAX /* of the last one removed: it goes to the front */

void slurm_preempt_clear(struct slurm_preempt *preempt)
{
    free(preempt->candidates);
    free(preempt->spare);
    *preempt = (struct slurm_preempt){ 0 };
}

/* ---- rules ------------------------------------------------------------------------------------- */

static const struct slurm_qos *qos_of(const struct slurm_spec *spec, struct slurm_side side)
{
    return side.qos < spec->qos_count ? &spec->qos[side.qos] : NULL;
}

enum preempt_mode slurm_preempt_mode(const struct slurm_spec *spec, struct slurm_side victim)
{
    enum preempt_mode mode = PREEMPT_UNSET;
    if (spec->preempt_type == PREEMPT_QOS && qos_of(spec, victim))
        mode = qos_of(spec, victim)->preempt_mode;
    if (spec->preempt_type == PREEMPT_PARTITION_PRIO)
        mode = spec->partitions[victim.partition].preempt_mode;
    return mode == PREEMPT_UNSET ? spec->preempt_mode : mode;
}

static bool lists(const struct slurm_qos *qos, const char *name)
{
    const char *list = qos->preempt;
    struct name word;
    while (name_next(&list, ", ", &word))
        if (name_is(word, name)) return true;
    return false;
}

bool slurm_preempt_may(const struct slurm_spec *spec, struct slurm_side job,
                       struct slurm_side victim)
{
    const enum preempt_mode mode = slurm_preempt_mode(spec, victim);
    if (mode == PREEMPT_OFF || mode == PREEMPT_UNSET) return false;
    if (spec->preempt_type == PREEMPT_PARTITION_PRIO)
        return spec->partitions[job.partition].priority_tier >
               spec->partitions[victim.partition].priority_tier;
    if (spec->preempt_type != PREEMPT_QOS || job.qos == victim.qos) return false;
    const struct slurm_qos *own = qos_of(spec, job), *other = qos_of(spec, victim);
    return own && other && lists(own, other->name);
}

bool slurm_preempt_could(const struct slurm_spec *spec, struct slurm_side job)
{
    if (spec->preempt_type == PREEMPT_QOS)
        return qos_of(spec, job) && qos_of(spec, job)->preempt[0];
    for (uint32_t p = 0; p < spec->partition_count; p++)
        if (slurm_preempt_may(spec, job, (struct slurm_side){ .qos = job.qos, .partition = p }))
            return true;
    return false;
}

int64_t slurm_preempt_exempt_until_ns(const struct slurm_spec *spec, struct slurm_side victim,
                                      int64_t start_ns)
{
    const struct slurm_qos *qos = qos_of(spec, victim);
    const int64_t own_ns = qos ? qos->preempt_exempt_ns : 0;
    return time_add(start_ns, own_ns > 0 ? own_ns : spec->preempt_exempt_ns);
}

struct slurm_eviction slurm_preempt_times(const struct slurm_spec *spec, struct slurm_side victim,
                                          int64_t now_ns)
{
    int64_t grace_ns = 0;
    if (spec->preempt_type == PREEMPT_QOS && qos_of(spec, victim))
        grace_ns = qos_of(spec, victim)->grace_time_ns;
    if (spec->preempt_type == PREEMPT_PARTITION_PRIO)
        grace_ns = spec->partitions[victim.partition].grace_time_ns;
    struct slurm_eviction times = { .stop_ns = time_add(now_ns, grace_ns) };
    times.gone_ns = time_add(times.stop_ns, spec->kill_wait_ns);
    times.again_ns = time_add(times.gone_ns, spec->requeue_delay_ns);
    return times;
}

/* ---- candidates -------------------------------------------------------------------------------- */

void slurm_preempt_begin(struct slurm_preempt *preempt)
{
    preempt->count = 0;
}

static uint64_t at_most_16_bits(uint64_t value)
{
    return value < 0xffff ? value : 0xffff;
}

/* Sixteen bits each, as slurmctld packs them: large priorities and node counts tie. */
static uint64_t key_of(const struct slurm_spec *spec, struct slurm_side side, uint32_t nodes,
                       int64_t start_ns)
{
    if (spec->preempt_youngest_first) return UINT64_MAX - (uint64_t)start_ns;
    uint64_t priority = 0;
    if (spec->preempt_type == PREEMPT_PARTITION_PRIO)
        priority = spec->partitions[side.partition].priority_tier;
    else if (qos_of(spec, side))
        priority = qos_of(spec, side)->priority;
    return at_most_16_bits(priority) << 16 | at_most_16_bits(nodes);
}

bool slurm_preempt_add(struct slurm_preempt *preempt, const struct slurm_spec *spec, uint32_t live,
                       uint32_t row, struct slurm_side side, uint32_t nodes, int64_t start_ns)
{
    if (preempt->count == preempt->capacity) {
        const uint32_t capacity = preempt->capacity ? 2 * preempt->capacity : 64;
        struct slurm_candidate *more =
            realloc(preempt->candidates, capacity * sizeof *preempt->candidates);
        if (!more) return false;
        preempt->candidates = more;
        more = realloc(preempt->spare, capacity * sizeof *preempt->spare);
        if (!more) return false;
        preempt->spare = more;
        preempt->capacity = capacity;
    }
    preempt->candidates[preempt->count++] =
        (struct slurm_candidate){ .key = key_of(spec, side, nodes, start_ns),
                                  .live = live,
                                  .row = row,
                                  .mode = slurm_preempt_mode(spec, side) };
    return true;
}

typedef bool candidate_before(const struct slurm_candidate *a, const struct slurm_candidate *b);

static bool by_key(const struct slurm_candidate *a, const struct slurm_candidate *b)
{
    if (a->key != b->key) return a->key < b->key;
    return a->row != b->row ? a->row < b->row : a->live < b->live;
}

static bool by_usable(const struct slurm_candidate *a, const struct slurm_candidate *b)
{
    return a->usable > b->usable;
}

/* Stable merge sort, runs of 1, 2, 4, ... */
static void sort(struct slurm_preempt *preempt, candidate_before *before)
{
    for (uint32_t width = 1; width < preempt->count; width *= 2) {
        for (uint32_t begin = 0; begin < preempt->count; begin += 2 * width) {
            const struct slurm_candidate *from = preempt->candidates;
            const uint32_t middle = begin + width < preempt->count ? begin + width : preempt->count;
            const uint32_t end =
                begin + 2 * width < preempt->count ? begin + 2 * width : preempt->count;
            uint32_t left = begin, right = middle;
            for (uint32_t to = begin; to < end; to++) {
                const bool take_left =
                    left < middle && (right == end || !before(&from[right], &from[left]));
                preempt->spare[to] = from[take_left ? left++ : right++];
            }
        }
        struct slurm_candidate *swap = preempt->candidates;
        preempt->candidates = preempt->spare;
        preempt->spare = swap;
    }
}

/* ---- the search -------------------------------------------------------------------------------- */

/* Removes candidates of these modes in order until the job fits. Returns the place of the last removed; count = none. */
static uint32_t remove_until_fit(struct slurm_preempt *preempt, const struct slurm_trial *trial,
                                 bool suspend)
{
    trial->reset(trial->context);
    for (uint32_t i = 0; i < preempt->count; i++) {
        if ((preempt->candidates[i].mode == PREEMPT_SUSPEND) != suspend) continue;
        trial->remove(trial->context, preempt->candidates[i].live);
        if (trial->fits(trial->context)) return i;
    }
    return preempt->count;
}

/* The last removed to the front, the others by the nodes they share with the place. */
static void reorder(struct slurm_preempt *preempt, const struct slurm_trial *trial, uint32_t last)
{
    for (uint32_t i = 0; i < preempt->count; i++) {
        struct slurm_candidate *candidate = &preempt->candidates[i];
        candidate->usable = i < last    ? trial->shares(trial->context, candidate->live)
                            : i == last ? USABLE_FIRST
                                        : 0;
    }
    sort(preempt, by_usable);
}

/* Of the candidates up to `last` those on the place. */
static uint32_t take_victims(const struct slurm_preempt *preempt, const struct slurm_trial *trial,
                             uint32_t last, bool suspend, struct slurm_victim *victims)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i <= last; i++) {
        const struct slurm_candidate *candidate = &preempt->candidates[i];
        if ((candidate->mode == PREEMPT_SUSPEND) != suspend) continue;
        if (trial->shares(trial->context, candidate->live) == 0) continue;
        victims[count++] = (struct slurm_victim){ candidate->live, candidate->mode };
    }
    return count;
}

static uint32_t choose_to_stop(struct slurm_preempt *preempt, const struct slurm_spec *spec,
                               const struct slurm_trial *trial, struct slurm_victim *victims)
{
    for (uint32_t pass = 0;; pass++) {
        const uint32_t last = remove_until_fit(preempt, trial, false);
        if (last == preempt->count) return 0;
        if (pass > spec->preempt_reorder_count || preempt->count <= pass + 1)
            return take_victims(preempt, trial, last, false, victims);
        reorder(preempt, trial, last);
    }
}

/* As if none of them ran; then as many as the place needs. */
static uint32_t choose_to_suspend(struct slurm_preempt *preempt, const struct slurm_trial *trial,
                                  struct slurm_victim *victims)
{
    trial->reset(trial->context);
    for (uint32_t i = 0; i < preempt->count; i++)
        if (preempt->candidates[i].mode == PREEMPT_SUSPEND)
            trial->remove(trial->context, preempt->candidates[i].live);
    if (!trial->fits(trial->context)) return 0;
    for (uint32_t i = 0; i < preempt->count; i++)
        preempt->candidates[i].usable = trial->shares(trial->context, preempt->candidates[i].live);
    trial->reset(trial->context);
    uint32_t count = 0;
    for (uint32_t i = 0; i < preempt->count && !trial->fits_there(trial->context); i++) {
        const struct slurm_candidate *candidate = &preempt->candidates[i];
        if (candidate->mode != PREEMPT_SUSPEND || candidate->usable == 0) continue;
        trial->remove(trial->context, candidate->live);
        victims[count++] = (struct slurm_victim){ candidate->live, candidate->mode };
    }
    return count;
}

uint32_t slurm_preempt_choose(struct slurm_preempt *preempt, const struct slurm_spec *spec,
                              const struct slurm_trial *trial, struct slurm_victim *victims)
{
    if (preempt->count == 0) return 0;
    sort(preempt, by_key);
    if (preempt->candidates[0].mode != PREEMPT_SUSPEND)
        return choose_to_stop(preempt, spec, trial, victims);
    if (spec->preempt_type == PREEMPT_PARTITION_PRIO)
        return choose_to_suspend(preempt, trial, victims);
    const uint32_t last = remove_until_fit(preempt, trial, true);
    return last == preempt->count ? 0 : take_victims(preempt, trial, last, true, victims);
}
