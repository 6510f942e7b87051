/* plot_data.c - groups of accounts, estimates and rankings; plot_read.c fills the data. */
#include "report/plot_data.h"

#include "base/assert.h"
#include "report/compare.h"
#include "report/statistics.h"

#include <math.h>
#include <string.h>

const uint8_t share_of_account[ACCOUNTS] = {
    [ACC_COMPUTE] = SHARE_COMPUTE,
    [ACC_STALL_INTRA] = SHARE_INTRA,
    [ACC_STALL_INTER] = SHARE_INTER,
    [ACC_STALL_CONTENTION] = SHARE_CONTENTION,
    [ACC_STALL_DATA] = SHARE_DATA,
    [ACC_STRAGGLER] = SHARE_OTHER,
    [ACC_THROTTLE] = SHARE_OTHER,
    [ACC_BUBBLE] = SHARE_BUBBLE,
    [ACC_CHECKPOINT] = SHARE_CHECKPOINT,
    [ACC_STARTUP] = SHARE_STARTUP,
    [ACC_LOST] = SHARE_LOST,
    [ACC_HELD] = SHARE_UNUSED,
    [ACC_UNUSED] = SHARE_UNUSED,
    [ACC_SERVING_IDLE] = SHARE_OTHER,
    [ACC_OVERHEAD] = SHARE_OVERHEAD,
    [ACC_NO_DEMAND] = SHARE_NO_DEMAND,
    [ACC_SHORT] = SHARE_SHORT,
    [ACC_FRAGMENTED] = SHARE_FRAGMENTED,
    [ACC_STARVED] = SHARE_STARVED,
    [ACC_WITHHELD] = SHARE_WITHHELD,
    [ACC_DRAINING] = SHARE_GONE,
    [ACC_DOWN] = SHARE_GONE,
};

double layout_bin_end_s(const struct plot_layout *layout, uint32_t bin)
{
    return fmin((bin + 1) * layout->bin_s, layout->end_s);
}

bool layout_saturated(const struct plot_layout *layout)
{
    return layout->need > 1 || layout->stuck;
}

const double *setting_yields(const struct plot_data *data, uint32_t setting, uint32_t layout)
{
    return data->settings[setting].yields + (size_t)layout * data->replicas;
}

static struct estimate from_interval(struct interval interval)
{
    const double half = interval.n > 1 ? interval.half : 0;
    return (struct estimate){ interval.mean, interval.mean - half, interval.mean + half,
                              interval.n };
}

struct estimate estimate_of(const double *values, uint32_t count, double confidence)
{
    double kept[LIMIT_REPLICAS];
    uint32_t n = 0;
    ASSERT(count <= LIMIT_REPLICAS);
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(values[i])) kept[n++] = values[i];
    return from_interval(t_ci(kept, n, confidence));
}

/* Paired difference a - b over the replicas that both have. */
static struct estimate difference_of(const double *a, const double *b, uint32_t replicas,
                                     double confidence)
{
    double x[LIMIT_REPLICAS], y[LIMIT_REPLICAS];
    uint32_t n = 0;
    ASSERT(replicas <= LIMIT_REPLICAS);
    for (uint32_t i = 0; i < replicas; i++) {
        if (isnan(a[i]) || isnan(b[i])) continue;
        x[n] = a[i];
        y[n++] = b[i];
    }
    return from_interval(paired_ci(x, y, n, confidence).difference);
}

/* Whether layout a's mean goes before b's; a layout without a value goes last. */
static bool goes_before(const struct estimate *a, const struct estimate *b, bool higher_is_better)
{
    if (a->count == 0 || b->count == 0) return a->count > 0;
    return higher_is_better ? a->mean > b->mean : a->mean < b->mean;
}

/* Whether a difference is more than chance. */
static bool is_clear(const struct plot_data *data, const struct estimate *difference)
{
    return (difference->count > 1 || (difference->count == 1 && data->exact)) &&
           (difference->lo > 0 || difference->hi < 0);
}

void ranking_make(struct ranking *ranking, const struct plot_data *data, const double *values,
                  bool higher_is_better)
{
    const uint32_t layout_count = data->layout_count, replicas = data->replicas;
    memset(ranking, 0, sizeof *ranking);
    for (uint32_t i = 0; i < layout_count; i++) {
        ranking->value[i] = estimate_of(values + (size_t)i * replicas, replicas, 0.95);
        if (goes_before(&ranking->value[i], &ranking->value[ranking->best], higher_is_better))
            ranking->best = i;
    }
    ranking->known = layout_count > 0 && ranking->value[ranking->best].count > 0;
    ranking->next = ranking->best;
    for (uint32_t i = 0; i < layout_count; i++)
        if (i != ranking->best && ranking->value[i].count > 0 &&
            (ranking->next == ranking->best ||
             goes_before(&ranking->value[i], &ranking->value[ranking->next], higher_is_better)))
            ranking->next = i;
    if (!ranking->known || ranking->next == ranking->best) return;
    const double confidence =
        joint_confidence(0.95, layout_count * (layout_count - 1) / 2 * HEADLINES);
    ranking->clear = true;
    for (uint32_t i = 0; i < layout_count; i++) {
        if (i == ranking->best || ranking->value[i].count == 0) continue;
        const struct estimate difference =
            difference_of(values + (size_t)ranking->best * replicas, values + (size_t)i * replicas,
                          replicas, confidence);
        if (i == ranking->next) ranking->difference = difference;
        ranking->clear = ranking->clear && is_clear(data, &difference);
    }
}
