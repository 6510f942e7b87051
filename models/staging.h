/* staging.h - all-reduce between servers whose GPUs stage their own traffic through the host (end of MODELS 2.10).
 *
 * Without GPUDirect a ring does not leave a server once: each rank sends for itself, over its own flow. What was measured
 * on servers of 4 T4 behind one NIC of 50 Gb/s (Pollux placements, four models, 69 placements of 1 to 16 GPUs):
 *
 *     t = f S/b (1 + c (g - 1)) e(N)      f = 2 (n - 1)/n;  c = 0.10;  e(2) = 1.5, e(N > 2) = 1
 *
 * b: what one rank alone on its server gets; g: ranks of the fullest server. So 2 + 2 GPUs take 1.65 times as long as
 * 1 + 1 + 1 + 1. A NIC that is shared out by rank would make c = 1: four GPUs a server on four servers would be 4 times
 * as slow as one each, measured are 1.3 to 2.0.
 *
 * Pure function; arguments outside the ranges are caller bugs (asserted).
 * Source: petuum/adaptdl osdi21-artifact, simulator/traces; c and e fitted to every second placement, make validate judges.
 * Tests: tests/test_staging.c */
#ifndef GPUPLAN_MODELS_STAGING_H
#define GPUPLAN_MODELS_STAGING_H

#include <stdint.h>

#define STAGING_RANK_COST   0.10 /* c */
#define STAGING_TWO_SERVERS 1.5  /* e(2) */

struct staged_group {
    uint32_t servers;   /* N >= 1; 1: nothing goes over the network, 0 s */
    uint32_t gpus;      /* n >= N                                        */
    uint32_t gpus_most; /* g, on the fullest server                      */
};

/* size_bytes S >= 0, rank_bytes_per_s b > 0. */
double staged_allreduce_s(const struct staged_group *group, double size_bytes,
                          double rank_bytes_per_s);

#endif
