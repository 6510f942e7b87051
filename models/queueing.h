/* queueing.h - queues with known answers, against which the simulator is checked (MODELS 8.1, 10).
 *
 * lambda: arrivals per second; mu: services per second of one server; times in seconds.
 * Pure functions. Arguments outside the ranges are caller bugs (asserted).
 * Tests: tests/test_queueing.c, tests/cases/models/queueing.csv. */
#ifndef GPUPLAN_MODELS_QUEUEING_H
#define GPUPLAN_MODELS_QUEUEING_H

#include <stdint.h>

/* Stationary averages of a queue. */
struct queue_means {
    double load;          /* rho: share of the servers that is busy */
    double wait_prob;     /* that an arrival has to wait            */
    double wait_s;        /* Wq: in the queue                       */
    double response_s;    /* W: in the system                       */
    double queue_length;  /* Lq                                     */
    double system_length; /* L                                      */
};

/* M/M/1: 0 < lambda < mu. */
struct queue_means queue_mm1(double lambda, double mu);

/* M/M/c: lambda < c mu. */
struct queue_means queue_mmc(double lambda, double mu, uint32_t servers);

/* M/G/1 by Pollaczek and Khinchine: Wq = rho E[S] (1 + cs^2)/(2 (1 - rho)), rho = lambda E[S] < 1.
 */
struct queue_means queue_mg1(double lambda, double service_s, double service_cv2);

/* M/G/c by Allen and Cunneen: Wq of M/M/c times (ca^2 + cs^2)/2. Approximate. */
struct queue_means queue_mgc(double lambda, double service_s, double arrival_cv2,
                             double service_cv2, uint32_t servers);

/* M/G/inf, jobs of g GPUs each: those that run are Poisson with mean (and variance) lambda E[S]. */
struct queue_busy {
    double jobs, jobs_variance, gpus;
};
struct queue_busy queue_mginf(double lambda, double service_s, double gpus_per_job);

/* P(wait > t) and P(response > t) of M/M/c, t >= 0. */
struct queue_tail {
    double wait, response;
};
struct queue_tail queue_mmc_tail(double lambda, double mu, uint32_t servers, double t_s);

/* Offered load a in Erlang on c servers: share refused without a queue (B), share that waits with
 * one (C; a < c). */
double erlang_b(double offered, uint32_t servers);
double erlang_c(double offered, uint32_t servers);

/* M/M/c/K, K >= c places in all: refused share, mean number in the system, mean response of those
 * accepted. */
struct queue_finite {
    double refused, system_length, response_s;
};
struct queue_finite queue_mmck(double lambda, double mu, uint32_t servers, uint32_t places);

/* Jobs of several sizes on one pool of GPUs, refused when they do not fit (Kaufman 1981, Roberts
 * 1981). */
struct loss_class {
    uint32_t gpus;  /* b_i >= 1                            */
    double offered; /* a_i: arrival rate times mean run, jobs */
};

/* q(n) = (1/n) sum a_i b_i q(n - b_i), normalised; refused[i] = sum of q(n) over n > C - b_i.
 * Returns the mean of the busy GPUs. occupancy[capacity + 1] is scratch of the caller and leaves
 * with q; refused[count] is filled. */
double kaufman_roberts(uint32_t capacity, const struct loss_class *classes, uint32_t count,
                       double *occupancy, double *refused);

#endif
