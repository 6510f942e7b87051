/* kube_score.c - see kube_score.h. */
#include "policy/kube_score.h"

#include "base/assert.h"

#include <math.h>

enum { POINTS_MOST = 100, SHAPE_SCORE_MOST = 10 };

struct kube_scoring kube_scoring_of(const struct kube_profile *profile)
{
    struct kube_scoring scoring = {
        .fit = { .strategy = profile->strategy, .shape_count = profile->shape_count },
        .version = profile->balanced,
        .weights = { profile->weight_fit, profile->weight_balanced, profile->weight_taint,
                     profile->weight_affinity }
    };
    for (uint32_t r = 0; r < KUBE_RESOURCES; r++) {
        scoring.fit.weight[r] = profile->fit_weight[r];
        if (profile->balanced_resource[r]) scoring.balanced |= 1u << r;
    }
    for (uint32_t i = 0; i < profile->shape_count; i++) {
        scoring.fit.shape[i].utilization = profile->shape[i].utilization;
        scoring.fit.shape[i].points =
            (int64_t)profile->shape[i].score * POINTS_MOST / SHAPE_SCORE_MOST;
    }
    return scoring;
}

struct kube_amounts kube_counted(const struct kube_amounts *request)
{
    struct kube_amounts counted = *request;
    if (!counted.of[KUBE_CPU]) counted.of[KUBE_CPU] = KUBE_DEFAULT_CPU_MILLI;
    if (!counted.of[KUBE_MEMORY]) counted.of[KUBE_MEMORY] = KUBE_DEFAULT_MEMORY_BYTES;
    return counted;
}

/* An extended resource that the pod does not ask for says nothing about a node, nor does one that it lacks. */
static bool is_left_out(uint32_t resource, const struct kube_room *room,
                        const struct kube_amounts *request)
{
    const bool extended = resource != KUBE_CPU && resource != KUBE_MEMORY;
    return (extended && !request->of[resource]) || room->allocatable.of[resource] == 0;
}

/* Linear between the points of the shape, level outside. */
static int64_t shape_points(const struct kube_fit *fit, int64_t utilization)
{
    for (uint32_t i = 0; i < fit->shape_count; i++) {
        if (utilization > fit->shape[i].utilization) continue;
        if (i == 0) return fit->shape[0].points;
        const int64_t run = fit->shape[i].utilization - fit->shape[i - 1].utilization;
        const int64_t rise = fit->shape[i].points - fit->shape[i - 1].points;
        return fit->shape[i - 1].points +
               rise * (utilization - fit->shape[i - 1].utilization) / run;
    }
    return fit->shape_count ? fit->shape[fit->shape_count - 1].points : 0;
}

static int64_t resource_points(const struct kube_fit *fit, int64_t wanted, int64_t allocatable)
{
    switch (fit->strategy) {
    case FIT_LEAST_ALLOCATED:
        return wanted > allocatable ? 0 : (allocatable - wanted) * POINTS_MOST / allocatable;
    case FIT_MOST_ALLOCATED:
        return wanted > allocatable ? POINTS_MOST : wanted * POINTS_MOST / allocatable;
    case FIT_REQUESTED_TO_CAPACITY:
        return shape_points(fit, wanted > allocatable ? POINTS_MOST
                                                      : wanted * POINTS_MOST / allocatable);
    }
    return 0;
}

int64_t kube_score_fit(const struct kube_fit *fit, const struct kube_room *room,
                       const struct kube_amounts *request)
{
    const struct kube_amounts counted = kube_counted(request);
    const bool by_shape = fit->strategy == FIT_REQUESTED_TO_CAPACITY;
    int64_t sum = 0, weights = 0;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) {
        if (fit->weight[r] == 0 || is_left_out(r, room, request)) continue;
        const int64_t points =
            resource_points(fit, room->counted.of[r] + counted.of[r], room->allocatable.of[r]);
        if (by_shape && points == 0) continue;
        sum += points * fit->weight[r];
        weights += fit->weight[r];
    }
    if (weights == 0) return 0;
    return by_shape ? (2 * sum + weights) / (2 * weights) : sum / weights;
}

/* Points of the balance when `extra` is added to what is used: 100 when all resources are used alike. */
static int64_t balance(const struct kube_scoring *scoring, const struct kube_room *room,
                       const struct kube_amounts *request, bool with_request)
{
    double fraction[KUBE_AMOUNTS], total = 0;
    uint32_t count = 0;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) {
        if (!(scoring->balanced >> r & 1) || is_left_out(r, room, request)) continue;
        const int64_t used = room->used.of[r] + (with_request ? request->of[r] : 0);
        const double part = (double)used / (double)room->allocatable.of[r];
        fraction[count] = part > 1 ? 1 : part;
        total += fraction[count++];
    }
    double deviation = 0;
    if (count == 2)
        deviation = fabs((fraction[0] - fraction[1]) / 2);
    else if (count > 2) {
        const double mean = total / count;
        double squares = 0;
        for (uint32_t i = 0; i < count; i++)
            squares = squares + (fraction[i] - mean) * (fraction[i] - mean);
        deviation = sqrt(squares / count);
    }
    return (int64_t)((1 - deviation) * POINTS_MOST);
}

int64_t kube_score_balanced(const struct kube_scoring *scoring, const struct kube_room *room,
                            const struct kube_amounts *request)
{
    bool asked = false;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++)
        asked |= (scoring->balanced >> r & 1) && request->of[r] > 0;
    if (!asked) return 0;
    const int64_t after = balance(scoring, room, request, true);
    if (scoring->version == BALANCED_ABSOLUTE) return after;
    const int64_t before = balance(scoring, room, request, false);
    return POINTS_MOST / 2 + (POINTS_MOST / 2 + after - before) / 2;
}

int64_t kube_raw_taints(const struct kube_facts *facts, const struct kube_wish *wish)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < facts->taint_count; i++)
        count += facts->taints[i].effect == TAINT_PREFER_NO_SCHEDULE &&
                 !kube_tolerates(wish, &facts->taints[i]);
    return count;
}

int64_t kube_raw_affinity(const struct kube_facts *facts, const struct kube_wish *wish)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < wish->preferred_count; i++)
        if (kube_term_matches(&wish->preferred[i], facts)) sum += wish->preferred[i].weight;
    return sum;
}

int64_t kube_scaled_taints(int64_t raw, int64_t most)
{
    return most == 0 ? POINTS_MOST : POINTS_MOST - POINTS_MOST * raw / most;
}

int64_t kube_scaled_affinity(int64_t raw, int64_t most)
{
    return most == 0 ? 0 : POINTS_MOST * raw / most;
}

struct kube_points kube_raw_points(const struct kube_scoring *scoring, const struct kube_room *room,
                                   const struct kube_facts *facts, const struct kube_wish *wish,
                                   const struct kube_amounts *request)
{
    return (struct kube_points){ .fit = kube_score_fit(&scoring->fit, room, request),
                                 .balanced = kube_score_balanced(scoring, room, request),
                                 .taint = kube_raw_taints(facts, wish),
                                 .affinity = kube_raw_affinity(facts, wish) };
}

struct kube_points kube_scaled_points(struct kube_points raw, struct kube_points most)
{
    raw.taint = kube_scaled_taints(raw.taint, most.taint);
    raw.affinity = kube_scaled_affinity(raw.affinity, most.affinity);
    return raw;
}

int64_t kube_total(const struct kube_weights *weights, const struct kube_points *points)
{
    return weights->fit * points->fit + weights->balanced * points->balanced +
           weights->taint * points->taint + weights->affinity * points->affinity;
}
