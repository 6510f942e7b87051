/* compare_large.c - completion of jobs of 16 GPUs and more, one layout against another. */
#include "report/compare.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

static double value_at(const struct comparison *c, const struct quantity *quantity, uint32_t layout,
                       uint32_t replica)
{
    return quantity != NULL ? comparison_values(c, quantity, layout)[replica] : NAN;
}

/* Mean over the jobs of one replica, NAN when it has none. */
static double large_mean_s(const struct comparison *c, uint32_t layout, uint32_t replica)
{
    static const uint8_t large[] = { CLASS_16_63, CLASS_64_UP }, all[] = { CLASS_NONE };
    const uint8_t *classes = c->large ? large : all;
    const size_t class_count = c->large ? sizeof large : sizeof all;
    double sum_s = 0, jobs = 0;
    for (size_t i = 0; i < class_count; i++) {
        /* The number of common jobs, where it is stored, is the same on all layouts. */
        const struct quantity *mean = comparison_find_common(c, "completion_s_mean", classes[i]);
        const struct quantity *done =
            comparison_find(c, c->common ? "common_jobs" : "jobs_done", classes[i]);
        const double mean_s = value_at(c, mean, layout, replica);
        const double count = value_at(c, done, layout, replica);
        if (isnan(mean_s) || !(count > 0)) continue;
        sum_s += mean_s * count;
        jobs += count;
    }
    return jobs > 0 ? sum_s / jobs : NAN;
}

const char *comparison_large_words(const struct comparison *c)
{
    return c->large ? "jobs of 16 GPUs and more" : "jobs";
}

double comparison_later(const struct comparison *c, uint32_t x, uint32_t y, uint32_t replica)
{
    const double on_x_s = large_mean_s(c, x, replica), on_y_s = large_mean_s(c, y, replica);
    return on_y_s > 0 ? on_x_s / on_y_s - 1 : NAN;
}

struct interval comparison_large(const struct comparison *c, uint32_t x, uint32_t y, double conf)
{
    double *ratios = calloc((size_t)c->replica_count + 1, sizeof *ratios);
    ASSERT(ratios != NULL);
    uint32_t n = 0;
    for (uint32_t replica = 0; replica < c->replica_count; replica++) {
        const double later = comparison_later(c, x, y, replica);
        if (!isnan(later)) ratios[n++] = later;
    }
    const struct interval interval = t_ci(ratios, n, conf);
    free(ratios);
    return comparison_settle(c, x, y, interval);
}
