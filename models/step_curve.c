/* step_curve.c - see step_curve.h. */
#include "models/step_curve.h"

#include "base/assert.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Times the least time at which pieces are looked for; jobs that talk a thousandth of their step bend within them. */
static const double grid[] = { 1, 1.5, 2, 3, 4, 6, 10, 20, 50, 200, 1000, 10000 };
enum { GRID = sizeof grid / sizeof *grid, DEPTH_MAX = 12, FOUND_MAX = 192 };
static const double STRAIGHT = 1e-11; /* of the step                                    */
static const double NEAR = 1e-3;      /* of a piece: where the tangent of an end is taken */

struct search {
    double (*step_s)(double wire_s, const void *context);
    const void *context;
    struct step_point found[FOUND_MAX];
    uint32_t count;
};

static struct step_point ask(const struct search *search, double wire_s)
{
    return (struct step_point){ wire_s, search->step_s(wire_s, search->context) };
}

static double on_line(struct step_point a, struct step_point b, double wire_s)
{
    return a.step_s + (b.step_s - a.step_s) * (wire_s - a.wire_s) / (b.wire_s - a.wire_s);
}

static bool is_straight(struct step_point a, struct step_point middle, struct step_point b)
{
    return fabs(middle.step_s - on_line(a, b, middle.wire_s)) <= STRAIGHT * b.step_s;
}

static void keep(struct search *search, struct step_point point)
{
    if (search->count < FOUND_MAX) search->found[search->count++] = point;
}

static void look_between(struct search *search, struct step_point a, struct step_point b, int depth)
{
    const double wide = b.wire_s - a.wire_s;
    const struct step_point after = ask(search, a.wire_s + NEAR * wide);
    const struct step_point before = ask(search, b.wire_s - NEAR * wide);
    if (is_straight(a, after, b) && is_straight(a, before, b) &&
        is_straight(a, ask(search, a.wire_s + 0.4 * wide), b))
        return;
    if (depth == DEPTH_MAX || search->count == FOUND_MAX) return;
    const double rise_a = (after.step_s - a.step_s) / (after.wire_s - a.wire_s);
    const double rise_b = (b.step_s - before.step_s) / (b.wire_s - before.wire_s);
    const double meet = (b.step_s - a.step_s - rise_b * wide) / (rise_a - rise_b);
    const bool inside = meet > NEAR * wide && meet < (1 - NEAR) * wide; /* false for NaN */
    const struct step_point bend = ask(search, a.wire_s + (inside ? meet : wide / 2));
    look_between(search, a, bend, depth + 1);
    keep(search, bend);
    look_between(search, bend, b, depth + 1);
}

/* How much the step is off between the neighbours of a point when it is left out. */
static double bend_s(const struct step_point *point)
{
    return fabs(point[0].step_s - on_line(point[-1], point[1], point[0].wire_s)) / point[0].step_s;
}

/* Points that bend least are left out until the rest has room, straight ones always. */
static void thin_out(struct search *search, uint32_t room)
{
    while (search->count > 2) {
        uint32_t least = 1;
        for (uint32_t i = 2; i + 1 < search->count; i++)
            if (bend_s(&search->found[i]) < bend_s(&search->found[least])) least = i;
        if (search->count <= room && bend_s(&search->found[least]) > STRAIGHT) return;
        search->count--;
        for (uint32_t i = least; i < search->count; i++) search->found[i] = search->found[i + 1];
    }
}

void step_curve_find(struct step_curve *curve, double least_s,
                     double (*step_s)(double wire_s, const void *context), const void *context)
{
    ASSERT(least_s > 0);
    struct search search = { .step_s = step_s, .context = context };
    struct step_point last = ask(&search, least_s);
    keep(&search, last);
    for (size_t i = 1; i < GRID; i++) {
        const struct step_point next = ask(&search, grid[i] * least_s);
        look_between(&search, last, next, 0);
        keep(&search, next);
        last = next;
    }
    thin_out(&search, STEP_POINTS);
    curve->count = search.count;
    for (uint32_t i = 0; i < search.count; i++) curve->point[i] = search.found[i];
}

double step_curve_at(const struct step_point *point, uint32_t count, double wire_s)
{
    uint32_t i = 1;
    if (wire_s <= point[0].wire_s) return point[0].step_s;
    while (i + 1 < count && wire_s > point[i].wire_s) i++;
    return on_line(point[i - 1], point[i], wire_s);
}

double step_curve_wire_s(const struct step_point *point, uint32_t count, double step_s)
{
    uint32_t i = 1;
    if (step_s <= point[0].step_s) return point[0].wire_s;
    while (i + 1 < count && step_s > point[i].step_s) i++;
    const struct step_point a = point[i - 1], b = point[i];
    if (b.step_s <= a.step_s) return b.wire_s; /* no network is that slow */
    return a.wire_s + (b.wire_s - a.wire_s) * (step_s - a.step_s) / (b.step_s - a.step_s);
}
