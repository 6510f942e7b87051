/* synth.c - inverse CDFs, one uniform each. */
#include "models/synth.h"

#include "base/exactmath.h"
#include "base/philox.h"

#include <stdbool.h>

enum { HOUR_S = 3600, DAY_S = 86400, DAY_HOURS = 24, WEEK_DAYS = 7, FIRST_WEEKEND_DAY = 5 };

void synth_defaults(struct synth *synth)
{
    static const struct synth_size sizes[] = {
        { 1, 0.700, 1 * HOUR_S },  { 2, 0.100, 2 * HOUR_S },  { 4, 0.090, 5 * HOUR_S },
        { 8, 0.080, 8 * HOUR_S },  { 16, 0.018, 8 * HOUR_S }, { 32, 0.009, 8 * HOUR_S },
        { 64, 0.003, 8 * HOUR_S },
    };
    *synth = (struct synth){
        .seed = 1,
        .days = 30,
        .gpus = 256,
        .load = 0.8,
        .size_count = sizeof sizes / sizeof *sizes,
        .long_sigma = 1.5,
        .short_share = 0.45,
        .short_median_s = 120,
        .short_sigma = 1.2,
        .longest_s = 7 * DAY_S,
        .night = 0.4,
        .weekend = 0.6,
        .users = 60,
        .user_skew = 1,
    };
    for (uint32_t i = 0; i < synth->size_count; i++) synth->sizes[i] = sizes[i];
}

/* ---- the law ------------------------------------------------------------------------------- */

static double hour_rate(const struct synth *synth, int hour_of_week)
{
    const int hour = hour_of_week % DAY_HOURS;
    const double between = (1 + synth->night) / 2;
    const double of_hour = hour < 8 ? synth->night : hour == 8 || hour >= 21 ? between : 1;
    return of_hour * (hour_of_week / DAY_HOURS >= FIRST_WEEKEND_DAY ? synth->weekend : 1);
}

void synth_law_init(struct synth_law *law, const struct synth *synth)
{
    law->synth = synth;
    law->key_size = stream_key(synth->seed, 0, "job.size");
    law->key_runtime = stream_key(synth->seed, 0, "job.runtime");
    law->key_arrival = stream_key(synth->seed, 0, "job.arrival");
    law->key_user = stream_key(synth->seed, 0, "job.user");

    double sum = 0;
    for (uint32_t i = 0; i < synth->size_count; i++) law->size_to[i] = sum += synth->sizes[i].share;
    sum = 0;
    for (uint32_t i = 0; i < synth->users; i++)
        law->user_to[i] = sum += exact_pow(i + 1, -synth->user_skew);
    law->rate_to[0] = 0;
    for (int hour = 0; hour < SYNTH_WEEK_HOURS; hour++)
        law->rate_to[hour + 1] = law->rate_to[hour] + hour_rate(synth, hour);
    law->rate_all = synth->days / WEEK_DAYS * law->rate_to[SYNTH_WEEK_HOURS] +
                    law->rate_to[synth->days % WEEK_DAYS * DAY_HOURS];
}

/* ---- draws --------------------------------------------------------------------------------- */

/* The first row whose cumulative sum is above u times the whole. */
static uint32_t pick(const double *to, uint32_t count, double u)
{
    const double at = u * to[count - 1];
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (to[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Inverse of the cumulative rate: whole weeks, then the hour of the week, then the part of it. */
static int64_t submit_s_at(const struct synth_law *law, double u)
{
    const double at = u * law->rate_all, week = law->rate_to[SYNTH_WEEK_HOURS];
    const int64_t weeks = (int64_t)(at / week);
    double rest = at - (double)weeks * week;
    if (rest < 0) rest = 0;
    const uint32_t hour = pick(law->rate_to + 1, SYNTH_WEEK_HOURS, rest / week);
    const double into = (rest - law->rate_to[hour]) / (law->rate_to[hour + 1] - law->rate_to[hour]);
    const int64_t submit_s = (weeks * SYNTH_WEEK_HOURS + hour) * HOUR_S + (int64_t)(into * HOUR_S);
    const int64_t last_s = (int64_t)law->synth->days * DAY_S - 1;
    return submit_s < 0 ? 0 : submit_s > last_s ? last_s : submit_s;
}

static int64_t duration_s_at(const struct synth_law *law, uint32_t number, double median_s)
{
    const struct synth *const synth = law->synth;
    const bool is_short = stream_uniform(law->key_runtime, number, 0) < synth->short_share;
    const double u = stream_uniform(law->key_runtime, number, 1);
    const double drawn_s =
        is_short ? inv_lognormal(u, exact_log(synth->short_median_s), synth->short_sigma)
                 : inv_lognormal(u, exact_log(median_s), synth->long_sigma);
    if (!(drawn_s < (double)synth->longest_s)) return synth->longest_s;
    const int64_t duration_s = (int64_t)(drawn_s + 0.5);
    return duration_s < 1 ? 1 : duration_s;
}

struct synth_job synth_job_at(const struct synth_law *law, uint32_t number)
{
    const struct synth *const synth = law->synth;
    const uint32_t row =
        pick(law->size_to, synth->size_count, stream_uniform(law->key_size, number, 0));
    return (struct synth_job){
        .submit_s = submit_s_at(law, stream_uniform(law->key_arrival, number, 0)),
        .duration_s = duration_s_at(law, number, synth->sizes[row].median_s),
        .gpus = synth->sizes[row].gpus,
        .user = pick(law->user_to, synth->users, stream_uniform(law->key_user, number, 0)),
    };
}

double synth_target_gpu_s(const struct synth *synth)
{
    return synth->load * synth->gpus * synth->days * DAY_S;
}
