/* philox.h - random numbers by counter: any draw of any stream without state (MODELS 9).
 *
 * A stream belongs to a purpose ("fail.gpu") in a replica; an entity is the thing that draws (a GPU, a job); a draw number
 * counts its draws. Layouts that ask for the same (purpose, entity, draw) get the same number:
 * that is how they share their luck.
 * Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011); Random123. */
#ifndef GPUPLAN_BASE_PHILOX_H
#define GPUPLAN_BASE_PHILOX_H

#include <stdint.h>

/* Ten rounds of Philox4x32 on ctr[4] with key[2]; result in out[4]. */
void philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]);

uint64_t mix64(uint64_t x);            /* SplitMix64 finaliser      */
uint64_t fnv1a64(const char *text);    /* of a NUL-terminated text  */

/* key = mix64(mix64(seed + 9E3779B97F4A7C15 * (replica + 1)) ^ fnv1a64(purpose)) */
uint64_t stream_key(uint64_t seed, uint64_t replica, const char *purpose);

struct draw {
    uint64_t x1, x2; /* 128 random bits                                  */
    double u1, u2;   /* ((x >> 12) + 0.5) * 2^-52: in (0, 1), exact      */
};

struct draw stream_draw(uint64_t key, uint64_t entity, uint64_t draw_no);

/* u1 of the draw alone. */
double stream_uniform(uint64_t key, uint64_t entity, uint64_t draw_no);

#endif
