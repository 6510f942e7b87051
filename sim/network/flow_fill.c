/* flow_fill.c - the rates of the net, brought up to date from where something changed.
 *
 * A flow's level is its rate over its weight. Each link has a level too, at which it is full when its flows go as far as
 * their caps and their other links let them:
 *
 *     sum over its flows of  weight * min(level, limit) = capacity,     limit = min(cap, levels of the flow's other links)
 *
 * INFINITY when it cannot be filled so. Levels that satisfy this at every link at once are the max-min shares: a flow runs
 * at the least level it meets, and there, on a full link, no other flow is higher: the certificate of MODELS 4.1, which only
 * the max-min shares meet. So it is enough to solve the links that changed, and on from there every link whose equation a
 * new level has touched, until none is left. A level only matters to links of a higher one, so the lowest is solved first,
 * and a change fades upward; what lies below or apart is never looked at.
 *
 * From nothing (all levels INFINITY) this is progressive filling: the lowest candidate is final. A change that wanders too
 * long (levels that differ by rounding) is ended that way. */
#include "network/flow_net.h"

#include "base/assert.h"
#include "network/flow_net_parts.h"

#include <emmintrin.h>
#include <math.h>
#include <string.h>

#define MOVED  1e-10 /* a rate that moves less is not told: well below the 1e-9 that is promised  */
#define SAME   1e-14 /* levels this close are one: rounding of the sums over a link               */
#define FULL   1e-12 /* a link that is over its capacity by less is not full                      */
#define NEARLY 1e-6  /* a link this close to full is solved, one further off only counts its load */

/* Visits to each link that was worked on, before all start from nothing. */
enum { ROUNDS_MAX = 64 };

static bool same(double a, double b)
{
    return a == b || (a < INFINITY && fabs(a - b) <= SAME * a);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- one link ----------------------------------------------------------------------------------- */

/* Where the flow is stopped by its cap or by another link than this one. */
static double limit_of(const struct flow_net *net, const struct net_flow *flow, uint32_t link)
{
    double limit = flow->cap_level;
    for (uint32_t use = flow->first; use < flow->first + flow->tight; use++)
        if (net->uses[use].link != link) limit = smaller(limit, net->level[net->uses[use].link]);
    return limit;
}

static void gather_limits(struct flow_net *net, uint32_t row)
{
    const struct net_link *link = &net->links[row];
    for (uint32_t m = 0; m < link->count; m++) {
        const struct net_peers *peers = &link->peers[m];
        double limit = net->level[peers->link[0]];
        if (peers->count == 0)
            limit = limit_of(net, &net->flows[link->flows[m]], row);
        else if (peers->count > 1)
            limit = smaller(limit, smaller(net->level[peers->link[1]], net->level[peers->link[2]]));
        net->limit[m] = limit;
    }
    net->limit[link->count] = 0; /* fill_to takes two at a time: this one adds nothing */
}

/* The members at a level: what those carry that are stopped at or below it, the weight of those that are not, and
 * the limits next to the level on either side. */
struct filling {
    double still, growing;
    double below, above;
};

/* Two members at a time and without branches: on which side one is cannot be guessed. */
static struct filling fill_to(const struct flow_net *net, const struct net_link *link, double level)
{
    const __m128d at = _mm_set1_pd(level), infinite = _mm_set1_pd(INFINITY);
    __m128d still = _mm_setzero_pd(), growing = still, below = still, above = infinite;
    for (uint32_t m = 0; m < link->count; m += 2) {
        const __m128d limit = _mm_loadu_pd(net->limit + m);
        const __m128d weight = _mm_loadu_pd(link->weight + m);
        const __m128d grows = _mm_cmpgt_pd(limit, at);
        const __m128d stops_at = _mm_andnot_pd(grows, limit); /* 0 for one that grows */
        growing = _mm_add_pd(growing, _mm_and_pd(grows, weight));
        still = _mm_add_pd(still, _mm_mul_pd(weight, stops_at));
        below = _mm_max_pd(below, stops_at);
        above =
            _mm_min_pd(above, _mm_or_pd(_mm_and_pd(grows, limit), _mm_andnot_pd(grows, infinite)));
    }
    const struct filling filling = {
        .still = _mm_cvtsd_f64(still) + _mm_cvtsd_f64(_mm_unpackhi_pd(still, still)),
        .growing = _mm_cvtsd_f64(growing) + _mm_cvtsd_f64(_mm_unpackhi_pd(growing, growing)),
        .below = _mm_cvtsd_f64(_mm_max_pd(below, _mm_unpackhi_pd(below, below))),
        .above = _mm_cvtsd_f64(_mm_min_pd(above, _mm_unpackhi_pd(above, above))),
    };
    return filling;
}

/* The level that solves the equation of a link for the limits gathered. The sum is concave in the level, so that steps along its
 * tangent approach from below and reach the right piece after a few. */
static double full_level(struct flow_net *net, uint32_t row, double level)
{
    const struct net_link *link = &net->links[row];
    net->slack[row] = INFINITY;
    if (!(link->capacity < INFINITY)) return INFINITY;
    if (!(level < INFINITY)) level = 0;
    for (uint32_t step = 0;; step++) {
        const struct filling filling = fill_to(net, link, level);
        const double room = link->capacity - filling.still;
        if (filling.growing > 0) {
            const double next = room / filling.growing;
            if ((next >= filling.below && next <= filling.above) || step > link->count + 8)
                return next > 0 ? next : 0;
            level = next > 0 ? next : 0;
        } else if (room >= -FULL * link->capacity) {
            net->slack[row] = link->capacity * (1 - NEARLY) - filling.still;
            return INFINITY;
        } else {
            level = 0; /* all are stopped below the old level and the link is over-full */
        }
    }
}

/* Whether the link can bind at all: not when all that could ever cross it fits. Members that could fill it alone are left
 * out of the sum, so that every flow keeps the tightest of its links. */
static bool is_spare(struct net_link *link)
{
    if (link->wide > 0 || link->most > link->capacity * (1 + NEARLY)) return false;
    link->most = 0;
    for (uint32_t m = 0; m < link->count; m++) link->most += link->member_most[m];
    return link->most <= link->capacity * (1 + FULL);
}

/* ---- from link to link -------------------------------------------------------------------------- */

/* Levels are >= 0: their bits are in their order. */
static int64_t order_of(double level)
{
    int64_t bits;
    memcpy(&bits, &level, sizeof bits);
    return bits;
}

static void work_on(struct flow_net *net, uint32_t link, double level)
{
    net->state[link] |= LINK_QUEUED;
    agenda_set(&net->work, link, order_of(level), link);
}

/* Where the level of a link will be, at least: as before, or as if nothing but this link stopped its members. */
static double least_level(const struct flow_net *net, uint32_t row)
{
    const struct net_link *link = &net->links[row];
    if (net->level[row] < INFINITY) return net->level[row];
    return link->weights > 0 ? link->capacity / link->weights : 0;
}

/* A member of the link went from one level to another by a link of a lower one. A link that is not full only counts what
 * it carries, until that comes near. */
static void member_moved(struct flow_net *net, uint32_t row, double weight, double from, double to)
{
    if (net->state[row]) return; /* spare, or to be solved anyway */
    if (net->level[row] < INFINITY) {
        if (!net->from_nothing) work_on(net, row, net->level[row]);
        return;
    }
    if (from < INFINITY && to < INFINITY) {
        net->slack[row] -= weight * (to - from);
        if (net->slack[row] >= 0) return;
    }
    work_on(net, row, least_level(net, row));
}

/* The members that reach beyond a level. */
static uint32_t members_above(struct flow_net *net, uint32_t row, double level)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < net->links[row].count; m++) {
        net->moved[count] = m; /* without branches, as fill_to */
        count += net->limit[m] > level;
    }
    return count;
}

/* The level of the link is new: its members that reach it move, and their other links have to look. */
static void spread(struct flow_net *net, uint32_t row, double from, double to)
{
    const struct net_link *link = &net->links[row];
    const uint32_t count = members_above(net, row, smaller(from, to));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t m = net->moved[i], flow = link->flows[m];
        const double was = smaller(from, net->limit[m]), is = smaller(to, net->limit[m]);
        row_set_add(&net->touched, flow);
        net->flow_level[flow] = is;
        const struct net_peers *peers = &link->peers[m];
        for (uint32_t p = 0; p < peers->count; p++)
            member_moved(net, peers->link[p], link->weight[m], was, is);
        if (peers->count > 0) continue;
        const struct net_flow *mover = &net->flows[flow];
        for (uint32_t use = mover->first; use < mover->first + mover->tight; use++)
            if (net->uses[use].link != row)
                member_moved(net, net->uses[use].link, net->uses[use].per_unit * mover->weight, was,
                             is);
    }
}

/* Solves the link that is first in the work. One that was not full is put off while others may fill at a lower level. */
static void settle(struct flow_net *net)
{
    const uint32_t row = agenda_first(&net->work)->slot;
    const double old = net->level[row];
    gather_limits(net, row);
    const double level = net->state[row] & LINK_SPARE ? INFINITY : full_level(net, row, old);
    agenda_unset(&net->work, row);
    net->state[row] &= (uint8_t)~LINK_QUEUED;
    if (!(old < INFINITY) && level < INFINITY && net->work.count > 0 &&
        order_of(level) > agenda_first(&net->work)->at_ns) {
        work_on(net, row, level);
        return;
    }
    if (!same(old, level)) {
        net->level[row] = level;
        spread(net, row, old, level);
    }
    if (net->state[row] & LINK_SPARE) flow_net_loosen(net, row, true);
}

static void start_from_nothing(struct flow_net *net)
{
    net->from_nothing = true;
    for (uint32_t l = 0; l < net->link_count; l++) {
        struct net_link *link = &net->links[l];
        net->level[l] = INFINITY;
        if (net->state[l] & LINK_SPARE || link->count == 0) continue;
        link->weights = 0; /* exact now: here the order decides */
        for (uint32_t m = 0; m < link->count; m++) link->weights += link->weight[m];
        work_on(net, l, least_level(net, l));
    }
    for (uint32_t f = 0; f < net->flow_rows; f++) {
        if (!flow_net_has(net, f)) continue;
        net->flow_level[f] = -1;
        row_set_add(&net->touched, f);
    }
}

/* Links that changed. Those that could not bind before and cannot now have nothing to do. */
static void judge_dirty(struct flow_net *net)
{
    net->root_count = 0;
    for (uint32_t i = 0; i < net->dirty_count; i++) {
        const uint32_t row = net->dirty[i];
        struct net_link *link = &net->links[row];
        const bool was_spare = net->state[row] & LINK_SPARE, now_spare = is_spare(link);
        link->dirty = false;
        net->state[row] = (net->state[row] & LINK_LOOSE) | (now_spare ? LINK_SPARE : 0);
        if (link->count == 0) link->weights = 0;
        if (!now_spare) flow_net_loosen(net, row, false);
        if (was_spare && now_spare) continue;
        net->roots[net->root_count++] = row;
        work_on(net, row, least_level(net, row));
    }
    net->dirty_count = 0;
}

static void settle_all(struct flow_net *net)
{
    uint64_t visits = 0, most = ROUNDS_MAX;
    net->from_nothing = false;
    judge_dirty(net);
    if (net->forget) start_from_nothing(net);
    net->forget = false;
    while (net->work.count > 0) {
        settle(net);
        most += ROUNDS_MAX * (net->work.count > most / ROUNDS_MAX);
        if (++visits > most && !net->from_nothing) start_from_nothing(net);
    }
}

/* ---- solve -------------------------------------------------------------------------------------- */

static double rate_of(struct flow_net *net, uint32_t row)
{
    double *level = &net->flow_level[row];
    if (*level < 0) *level = limit_of(net, &net->flows[row], FLOW_NONE);
    return *level * net->flows[row].weight;
}

static bool has_moved(double from, double to)
{
    if (from == to) return false;
    return !(from < INFINITY) || !(to < INFINITY) || fabs(to - from) > MOVED * to;
}

void flow_net_forget(struct flow_net *net)
{
    net->forget = true;
}

uint32_t flow_net_solve(struct flow_net *net, const uint32_t **changed)
{
    settle_all(net);
    const uint32_t touched = row_set_take(&net->touched, net->list);
    uint32_t count = 0;
    for (uint32_t i = 0; i < touched; i++) {
        struct net_flow *flow = &net->flows[net->list[i]];
        if (flow->count == FLOW_NONE) continue;
        const double rate = rate_of(net, net->list[i]);
        if (!has_moved(flow->rate, rate)) continue;
        flow->rate = rate;
        net->list[count++] = net->list[i];
    }
    *changed = net->list;
    return count;
}
