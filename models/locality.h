/* locality.h - how a job without a model slows down on another placement (MODELS 3.9, 3.10).
 *
 * kappa is communication over compute at the reference placement, w the part of compute time
 * (fraction) that can hide communication, r the time of the job's collective over its time at the
 * reference. Pure functions. Tests: tests/test_locality.c, tests/cases/models/locality.csv. */
#ifndef GPUPLAN_MODELS_LOCALITY_H
#define GPUPLAN_MODELS_LOCALITY_H

/* max(0, kappa r - w): what a step waits for communication, in units of its compute time. All >= 0.
 */
double exposed_frac(double kappa, double time_ratio, double hidden_frac);

/* slowdown = (1 + max(0, kappa r - w)) / (1 + max(0, kappa - w)); 1 at the reference (r = 1). */
double locality_slowdown(double kappa, double hidden_frac, double time_ratio);

/* Where the time of a step goes on a placement. The three shares sum to 1. */
struct locality_split {
    double slowdown;     /* against the reference placement */
    double compute_frac; /* doing the job's own work        */
    double intra_frac;   /* exposed: inside the servers     */
    double inter_frac;   /* exposed: the network's part     */
};

/* time_ratio is r of the whole collective; intra_ratio is r of the same collective on an infinitely
 * fast network (struct collective_choice), 0 <= intra_ratio <= time_ratio. Intra waits first: the
 * network's part is what it adds. */
struct locality_split locality_split(double kappa, double hidden_frac, double time_ratio,
                                     double intra_ratio);

/* Run time on a new placement of a job that took duration_s on an observed one: D s_new/s_old.
 * s_old > 0. */
double rescale_s(double duration_s, double slowdown_old, double slowdown_new);

#endif
