/* blast.h - how many GPUs a fault takes away: closed forms of MODELS 5.6.
 *
 * Rates per second, times in seconds. Tests: tests/test_blast.c, tests/cases/models/blast.csv. */
#ifndef GPUPLAN_MODELS_BLAST_H
#define GPUPLAN_MODELS_BLAST_H

#include <stdint.h>

/* A class of components: `count` of them, each failing at a rate and taking `gpus` GPUs. */
struct blast_class {
    double count, rate_per_s, gpus;
};

/* Rate of events of all classes, and the mean of the GPUs that one takes: sum c r g / sum c r. */
double blast_rate_per_s(const struct blast_class *classes, uint32_t count);
double blast_mean_gpus(const struct blast_class *classes, uint32_t count);

/* Smallest size that at least a share q of the events does not exceed; q = 1 gives the largest. At
 * least one class has a rate. */
double blast_quantile_gpus(const struct blast_class *classes, uint32_t count, double q);

/* Rate of a server that has more parts the more GPUs it holds: fixed + per_gpu * g. */
double server_rate_per_s(double fixed_per_s, double per_gpu_per_s, uint32_t gpus_per_server);

/* GPUs that stop over GPUs that broke (> 0): how much larger a fault is than what failed. */
double blast_amplification(double stopped_gpus, double broken_gpus);

/* GPUs in equal servers, each drained by any fault of its own or of one of its GPUs. */
struct blast_layout {
    uint32_t gpus, gpus_per_server; /* gpus a multiple of gpus_per_server */
    double gpu_rate_per_s, server_rate_per_s;
    double gpu_repair_s, server_repair_s;
};

struct layout_blast {
    uint32_t servers;
    double events_per_s; /* faults of servers that are up                        */
    double unavailable;  /* u = 1 - 1/(1 + g lam_gpu r_gpu + lam_srv r_srv)      */
    double down_mean;    /* GPUs down, time average: G u                         */
    double down_sd;      /* g sqrt(G/g u (1 - u))                                */
    double down_q95;     /* g times the 0.95 quantile of Binomial(G/g, u)        */
    double all_up;       /* share of time with no server down                    */
};
struct layout_blast layout_blast(const struct blast_layout *layout);

#endif
