/* statistics.c - MODELS 6, the part that needs no distribution but the binomial. */
#include "models/statistics.h"

#include "base/assert.h"
#include "models/binomial.h"

#include <math.h>

double quantile7(const double *sorted, size_t count, double q)
{
    ASSERT(count >= 1);
    ASSERT(q >= 0 && q <= 1);
    const double at = (double)(count - 1) * q;
    const size_t below = (size_t)floor(at);
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double kaplan_meier_quantile(const double *sorted, const bool *censored, size_t count, double q)
{
    return kaplan_meier_quantile_weighted(sorted, censored, NULL, count, q);
}

static double weight_of(const double *weight, size_t i)
{
    return weight ? weight[i] : 1.0;
}

double kaplan_meier_quantile_weighted(const double *sorted, const bool *censored,
                                      const double *weight, size_t count, double q)
{
    ASSERT(q >= 0 && q <= 1);
    double at_risk = 0.0;
    for (size_t i = 0; i < count; i++) at_risk += weight_of(weight, i);

    /* The margin forgives the rounding of the product: a survival that is 1 - q on paper counts. */
    const double wanted = (1.0 - q) + 1e-12;
    double survival = 1.0;
    for (size_t i = 0; i < count;) {
        double ended = 0.0, all = 0.0;
        size_t next = i;
        for (; next < count && sorted[next] <= sorted[i]; next++) {
            all += weight_of(weight, next);
            if (!censored || !censored[next]) ended += weight_of(weight, next);
        }
        if (ended > 0) {
            /* The last group takes what is left, so that S ends at 0 and not beside it. */
            survival *= next == count && ended >= all ? 0.0 : 1.0 - ended / at_risk;
            if (survival <= wanted) return sorted[i];
        }
        at_risk -= all;
        i = next;
    }
    return INFINITY;
}

double step_integral(const double *at_s, const double *value, size_t count, double from_s,
                     double to_s)
{
    ASSERT(count >= 1 && at_s[0] <= from_s);
    ASSERT(from_s <= to_s);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double start_s = at_s[i] > from_s ? at_s[i] : from_s;
        const double end_s = i + 1 < count && at_s[i + 1] < to_s ? at_s[i + 1] : to_s;
        if (end_s > start_s) sum += value[i] * (end_s - start_s);
    }
    return sum;
}

double time_mean(const double *at_s, const double *value, size_t count, double from_s, double to_s)
{
    ASSERT(from_s < to_s);
    return step_integral(at_s, value, count, from_s, to_s) / (to_s - from_s);
}

enum { MSER_BATCH = 5 };

static double batch_mean(const double *observation, size_t batch)
{
    double sum = 0.0;
    for (size_t i = 0; i < MSER_BATCH; i++) sum += observation[batch * MSER_BATCH + i];
    return sum / MSER_BATCH;
}

/* sum over i >= drop of (y_i - mean)^2 / kept^2. Mean first, then the squares, in index order, as
 * the formula is written: a series with a constant tail has many marks that are 0 on paper, and
 * their rounding decides. A running mean and variance would take one pass and decide otherwise. */
static double mser_mark(const double *observation, size_t batches, size_t drop)
{
    const double kept = (double)(batches - drop);
    double sum = 0.0, squares = 0.0;
    for (size_t i = drop; i < batches; i++) sum += batch_mean(observation, i);
    const double mean = sum / kept;
    for (size_t i = drop; i < batches; i++) {
        const double gap = batch_mean(observation, i) - mean;
        squares += gap * gap;
    }
    return squares / (kept * kept);
}

size_t mser5(const double *observation, size_t count)
{
    const size_t batches = count / MSER_BATCH;
    if (batches < 2) return 0;
    double least = INFINITY;
    size_t least_drop = 0;
    for (size_t drop = 0; drop <= batches / 2; drop++) {
        const double mark = mser_mark(observation, batches, drop);
        if (mark < least) {
            least = mark;
            least_drop = drop;
        }
    }
    return least_drop * MSER_BATCH;
}

struct rank_interval quantile_ranks(uint32_t count, double q, double conf)
{
    ASSERT(conf > 0 && conf < 1);
    ASSERT(q > 0 && q < 1);
    const double outside = (1.0 - conf) / 2.0;
    /* Largest l with P(X <= l - 1) <= a/2. binomial_quantile gives the smallest k with P(X <= k) >=
     * a/2: all below k stay under it, and k itself only when it is met exactly. */
    const uint32_t first = binomial_quantile(count, q, outside);
    const bool met = binomial_at_most(count, q, first) <= outside;
    return (struct rank_interval){
        .low = met ? first + 1 : first,
        .high = binomial_quantile(count, q, 1.0 - outside) + 1,
    };
}

double bounded_slowdown(double wait_s, double run_s, double floor_s)
{
    ASSERT(wait_s >= 0 && run_s >= 0 && floor_s > 0);
    const double slowdown = (wait_s + run_s) / (run_s > floor_s ? run_s : floor_s);
    return slowdown > 1.0 ? slowdown : 1.0;
}

struct gpu_shares gpu_shares(const struct gpu_states *states)
{
    ASSERT(states->capacity > 0 && states->capacity > states->down);
    const double allocated = states->startup + states->input + states->communication +
                             states->checkpoint + states->lost + states->productive;
    return (struct gpu_shares){
        .allocated = allocated / states->capacity,
        .allocated_available = allocated / (states->capacity - states->down),
        .busy = (allocated - states->startup - states->input) / states->capacity,
        .goodput = states->productive / states->capacity,
        .goodput_available = states->productive / (states->capacity - states->down),
        .communication_stall = allocated > 0 ? states->communication / allocated : 0.0,
        .job_efficiency = allocated > 0 ? states->productive / allocated : 1.0,
    };
}

double slowed_excess(double productive, double slowdown)
{
    ASSERT(productive >= 0 && slowdown >= 1);
    return productive * (1.0 - 1.0 / slowdown);
}

double ettr_measured(double productive_s, double wall_s)
{
    ASSERT(wall_s > 0 && productive_s >= 0 && productive_s <= wall_s);
    return productive_s / wall_s;
}
