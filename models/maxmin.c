/* maxmin.c - MODELS 4.1 and 4.2 as they are written there. */
#include "models/maxmin.h"

#include "base/assert.h"

#include <math.h>
#include <stdbool.h>

#define ROUNDING 1e-12 /* levels, and instants, this close relative are one */

enum { FILLS, STOPS, STILL };

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double cap_level(const struct maxmin_flow *flow)
{
    return flow->cap / flow->weight;
}

/* The level at which the link is full when all its flows go on. */
static double link_level(const struct maxmin_scratch *scratch, uint32_t link)
{
    if (!(scratch->load[link] > 0)) return INFINITY;
    return scratch->left[link] > 0 ? scratch->left[link] / scratch->load[link] : 0;
}

/* Load that a unit of level puts on each link, by the flows that fill. */
static void weigh_links(const struct maxmin_net *net, struct maxmin_scratch *scratch)
{
    for (uint32_t l = 0; l < net->link_count; l++) scratch->load[l] = 0;
    for (uint32_t i = 0; i < net->use_count; i++) {
        const struct maxmin_use *use = &net->uses[i];
        if (scratch->state[use->flow] == FILLS)
            scratch->load[use->link] += use->per_unit * net->flows[use->flow].weight;
    }
}

/* The level at which the next flow stops; marks those that do. */
static double next_stop(const struct maxmin_net *net, struct maxmin_scratch *scratch)
{
    double level = INFINITY;
    for (uint32_t l = 0; l < net->link_count; l++) level = smaller(level, link_level(scratch, l));
    for (uint32_t f = 0; f < net->flow_count; f++)
        if (scratch->state[f] == FILLS) level = smaller(level, cap_level(&net->flows[f]));
    const double stop = level * (1 + ROUNDING);
    for (uint32_t i = 0; i < net->use_count; i++) {
        const struct maxmin_use *use = &net->uses[i];
        if (scratch->state[use->flow] == FILLS && use->per_unit > 0 &&
            link_level(scratch, use->link) <= stop)
            scratch->state[use->flow] = STOPS;
    }
    for (uint32_t f = 0; f < net->flow_count; f++)
        if (scratch->state[f] == FILLS && cap_level(&net->flows[f]) <= stop)
            scratch->state[f] = STOPS;
    return level;
}

/* Rates of the flows whose state is FILLS. */
static void fill(const struct maxmin_net *net, struct maxmin_scratch *scratch, double *rate)
{
    for (uint32_t l = 0; l < net->link_count; l++) scratch->left[l] = net->capacity[l];
    for (bool filling = true; filling;) {
        weigh_links(net, scratch);
        const double level = next_stop(net, scratch);
        filling = false;
        for (uint32_t f = 0; f < net->flow_count; f++)
            if (scratch->state[f] == STOPS)
                rate[f] = smaller(net->flows[f].cap, level * net->flows[f].weight);
        for (uint32_t i = 0; i < net->use_count; i++) {
            const struct maxmin_use *use = &net->uses[i];
            if (scratch->state[use->flow] == STOPS && use->per_unit > 0)
                scratch->left[use->link] -= use->per_unit * rate[use->flow];
        }
        for (uint32_t f = 0; f < net->flow_count; f++) {
            if (scratch->state[f] == STOPS) scratch->state[f] = STILL;
            filling |= scratch->state[f] == FILLS;
        }
    }
}

void maxmin_rates(const struct maxmin_net *net, struct maxmin_scratch *scratch, double *rate)
{
    for (uint32_t f = 0; f < net->flow_count; f++) {
        ASSERT(net->flows[f].weight > 0);
        scratch->state[f] = FILLS;
    }
    fill(net, scratch, rate);
}

double maxmin_error(const struct maxmin_net *net, struct maxmin_scratch *scratch,
                    const double *rate)
{
    double *load = scratch->load, *most = scratch->left; /* most: the largest level on a link */
    for (uint32_t l = 0; l < net->link_count; l++) load[l] = most[l] = 0;
    for (uint32_t i = 0; i < net->use_count; i++) {
        const struct maxmin_use *use = &net->uses[i];
        if (!(use->per_unit > 0)) continue;
        const double level = rate[use->flow] / net->flows[use->flow].weight;
        load[use->link] += use->per_unit * rate[use->flow];
        if (level > most[use->link]) most[use->link] = level;
    }
    double worst = 0;
    for (uint32_t l = 0; l < net->link_count; l++)
        if (load[l] > net->capacity[l])
            worst = larger(worst, load[l] > 0 ? 1 - net->capacity[l] / load[l] : 0);
    for (uint32_t f = 0; f < net->flow_count; f++) {
        double lack = rate[f] < net->flows[f].cap ? 1 - rate[f] / net->flows[f].cap : 0;
        for (uint32_t i = 0; i < net->use_count; i++) {
            const struct maxmin_use *use = &net->uses[i];
            if (use->flow != f || !(use->per_unit > 0)) continue;
            const double capacity = net->capacity[use->link];
            const double room = capacity > 0 ? larger(0, 1 - load[use->link] / capacity) : 0;
            const double level = rate[f] / net->flows[f].weight;
            const double below = most[use->link] > 0 ? 1 - level / most[use->link] : 0;
            lack = smaller(lack, larger(room, below));
        }
        if (rate[f] > net->flows[f].cap) lack = 1 - net->flows[f].cap / rate[f];
        worst = larger(worst, lack);
    }
    return worst;
}

/* ---- transfers ---------------------------------------------------------------------------------- */

static double first_byte_s(const struct fluid *fluid)
{
    return fluid->start_s + fluid->latency_s;
}

/* The next instant at which one begins or ends at the rates of now. */
static double next_instant_s(const struct maxmin_net *net, const struct fluid *fluids,
                             const struct maxmin_scratch *scratch, double now_s)
{
    double next_s = INFINITY;
    for (uint32_t f = 0; f < net->flow_count; f++) {
        if (first_byte_s(&fluids[f]) > now_s)
            next_s = smaller(next_s, first_byte_s(&fluids[f]));
        else if (scratch->bytes[f] > 0 && scratch->rate[f] > 0)
            next_s = smaller(next_s, now_s + scratch->bytes[f] / scratch->rate[f]);
    }
    return next_s;
}

/* Carries the bytes from now to next; those that are done by rounding are done. */
static void carry(const struct maxmin_net *net, const struct fluid *fluids,
                  struct maxmin_scratch *scratch, double now_s, double next_s, double *finish_s)
{
    for (uint32_t f = 0; f < net->flow_count; f++) {
        if (first_byte_s(&fluids[f]) > now_s || !(scratch->bytes[f] > 0)) continue;
        const double end_s =
            scratch->rate[f] > 0 ? now_s + scratch->bytes[f] / scratch->rate[f] : INFINITY;
        scratch->bytes[f] -= scratch->rate[f] * (next_s - now_s);
        if (end_s > next_s * (1 + ROUNDING)) continue;
        scratch->bytes[f] = 0;
        finish_s[f] = next_s;
    }
}

void fluid_finish(const struct maxmin_net *net, const struct fluid *fluids,
                  struct maxmin_scratch *scratch, double *finish_s)
{
    double now_s = INFINITY;
    for (uint32_t f = 0; f < net->flow_count; f++) {
        scratch->bytes[f] = fluids[f].size;
        finish_s[f] = fluids[f].size > 0 ? INFINITY : first_byte_s(&fluids[f]);
        now_s = smaller(now_s, first_byte_s(&fluids[f]));
    }
    while (now_s < INFINITY) {
        for (uint32_t f = 0; f < net->flow_count; f++) {
            const bool on = first_byte_s(&fluids[f]) <= now_s && scratch->bytes[f] > 0;
            scratch->state[f] = on ? FILLS : STILL;
            scratch->rate[f] = 0;
        }
        fill(net, scratch, scratch->rate);
        const double next_s = next_instant_s(net, fluids, scratch, now_s);
        if (next_s < INFINITY) carry(net, fluids, scratch, now_s, next_s, finish_s);
        now_s = next_s;
    }
}
