/* step_curve.h - how long a step takes when its communication between servers takes longer, as straight pieces.
 *
 * All that a step makes of a time of communication is sums, maxima and minima of it (models/train_step: what is hidden, which
 * algorithm is fastest), so the step is a chain of straight pieces. They are found by asking for the step at some times: where
 * the tangents of both ends of a piece meet, there is a bend, or more than one.
 * Exact to 1e-9 of the step where bends are further apart than a thousandth of their time and fewer than the room; beyond
 * the last time that was asked for the last piece goes on.
 * Pure functions. Tests: tests/test_step_curve.c */
#ifndef GPUPLAN_MODELS_STEP_CURVE_H
#define GPUPLAN_MODELS_STEP_CURVE_H

#include <stdint.h>

enum { STEP_POINTS = 24 };

struct step_point {
    double wire_s; /* communication between servers, ascending */
    double step_s; /* never falls                              */
};

struct step_curve {
    uint32_t count; /* >= 2 once found */
    struct step_point point[STEP_POINTS];
};

/* step_s(wire_s, context): continuous, never falls, finite. least_s > 0: the shortest time asked for. */
void step_curve_find(struct step_curve *curve, double least_s,
                     double (*step_s)(double wire_s, const void *context), const void *context);

/* The step; below the first point as long as there. point[count], count >= 2. */
double step_curve_at(const struct step_point *point, uint32_t count, double wire_s);

/* The shortest time of communication that makes the step so long, at least that of the first point. */
double step_curve_wire_s(const struct step_point *point, uint32_t count, double step_s);

#endif
