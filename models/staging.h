/* staging.h - what a ring gets between servers whose GPUs stage their own traffic through the host (end of MODELS 2.10).
 *
 * MODELS shares the NICs out by rank, k b/g. What was measured on servers of 4 T4 behind one NIC of 50 Gb/s is milder
 * (Pollux placements, four models, 69 placements of 1 to 16 GPUs): a ring of n GPUs on N servers is as fast as
 *
 *     b/((1 + c (n/N - 1)) e(N))      c = 0.06;  e(2) = 1.4, e(N > 2) = 1
 *
 * b: what one rank alone on its server gets of three or more; measured 0.51 to 0.60 GB/s, which is the 5 Gb/s that EC2 grants
 * one flow, not the NIC. So 2 + 2 GPUs take 1.48 times as long as 1 + 1 + 1 + 1, and four GPUs on each of four servers 1.48
 * times as long as one on each (1.25 more bytes), not four times. Uneven placements follow the mean n/N, not the
 * fullest server: with that the same numbers fit better.
 *
 * Pure function; arguments outside the ranges are caller bugs (asserted).
 * Source: petuum/adaptdl osdi21-artifact, simulator/traces; c and e fitted to every second placement, make validate judges.
 * Tests: tests/test_staging.c */
#ifndef GPUPLAN_MODELS_STAGING_H
#define GPUPLAN_MODELS_STAGING_H

#include <stdint.h>

#define STAGING_RANK_COST   0.06 /* c    */
#define STAGING_TWO_SERVERS 1.4  /* e(2) */

/* Share of b that a ring of `gpus` GPUs on `servers` servers gets, in (0, 1]; gpus >= servers >= 2. */
double staged_share(uint32_t servers, uint32_t gpus);

#endif
