/* failure.h - laws of time to failure and repair, job MTTF and availability (MODELS 5).
 *
 * Rates are per second and times in seconds; every formula keeps its meaning in any other unit used
 * throughout. Pure functions. Arguments outside the ranges are caller bugs (asserted). Tests:
 * tests/test_failure.c, tests/cases/models/failure.csv. */
#ifndef GPUPLAN_MODELS_FAILURE_H
#define GPUPLAN_MODELS_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

/* --- laws (5.2) ------------------------------------------------------------------------------ */

/* Weibull of shape k > 0 and scale eta > 0: mean = eta Gamma(1 + 1/k). k >= 0.006 (Gamma's range).
 */
double weibull_mean_s(double shape, double scale_s);
double weibull_scale_from_mean_s(double shape, double mean_s);

/* Scale of the smallest of n equal lives: eta n^(-1/k). */
double weibull_min_scale_s(double shape, double scale_s, double count);

/* Squared coefficient of variation, and expected renewals in [0, T] for T far above the mean:
 * T/mean + (cv^2 - 1)/2. */
double weibull_cv2(double shape);
double weibull_renewals(double shape, double scale_s, double span_s);

/* Parameters of the normal law of log(time). */
struct lognormal {
    double mu, sigma;
};
struct lognormal lognormal_from_mean_cv(double mean_s, double cv);         /* > 0, >= 0        */
struct lognormal lognormal_from_median_p95(double median_s, double p95_s); /* 0 < median <= p95 */
double lognormal_mean_s(struct lognormal law);                             /* exp(mu + sigma^2/2) */

/* Expected failures by age T of a unit with infant mortality h(t) = lambda (1 + a exp(-t/tau)). */
double infant_failures(double rate_per_s, double excess, double fade_s, double age_s);

/* A clock that runs at multiplier[i] from since_s[i] on ([count], ascending, first <= 0): when the
 * integral of rate * multiplier from 0 reaches `life` (an Exp(1) draw). INFINITY when it never
 * does. */
double hazard_time_s(const double *since_s, const double *multiplier, uint32_t count,
                     double rate_per_s, double life);

/* --- mixtures (5.3) --------------------------------------------------------------------------- */

/* n units, a fraction of which fails mult times as often. */
struct lemon_mix {
    double total_rate_per_s;
    double lemon_share; /* of the failures */
    double mtbf_s;      /* of the group    */
};
struct lemon_mix lemon_mix(double units, double lemon_frac, double multiplier, double rate_per_s);

/* Beta factor: each of n units fails alone at (1 - beta) lambda, all together at beta lambda. Rate
 * of any failure. */
double common_cause_rate_per_s(double units, double rate_per_s, double beta);

/* --- jobs and units (5.4, 5.5) ------------------------------------------------------------------
 */

struct job_hazard {
    uint32_t gpus, gpus_per_server, servers_per_leaf; /* >= 1                              */
    double gpu_rate_per_s, server_rate_per_s;         /* of one GPU, of one server         */
    double leaf_rate_per_s;                           /* of one leaf; 0 with rails         */
    bool drain;                                       /* a broken GPU stops its whole server */
};

/* Rate of interruptions of a job on s = ceil(n/g) servers under l = ceil(s/servers_per_leaf)
 * leaves: (drain ? s g : n) lam_gpu + s lam_srv + l lam_leaf. Its MTTF is 1/rate. */
double job_failure_rate_per_s(const struct job_hazard *job);

/* Share of time that a unit with exponential causes of failure is up: 1/(1 + sum rate[i]
 * repair[i]), [count]. */
double availability(const double *rate_per_s, const double *repair_s, uint32_t count);

/* N units and `crews` repair crews, exponential repair: the machine-repair chain. */
struct repairman {
    double down_mean;   /* units down, time average          */
    double up_at_least; /* share of time with at least m up  */
};
struct repairman repairman(uint32_t units, uint32_t crews, double mtbf_s, double mttr_s,
                           uint32_t m);

/* Share of time with none of `links` down when each flaps at a rate for a duration: (1 + rate
 * duration)^-links (5.6). */
double flap_up_frac(double links, double flaps_per_s, double duration_s);

#endif
