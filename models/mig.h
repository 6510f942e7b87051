/* mig.h - which GPU instances fit on one GPU at the same time (MODELS 1.6, SCHEDULING 4).
 *
 * A GPU is cut into memory slices; an instance covers some of them from one of its legal starts, and takes
 * compute slices beside. Legal: no overlap, the compute slices are enough, no profile more often than its
 * maximum. Pure functions over any table of profiles. Arguments outside the ranges are caller bugs (asserted).
 * Source: NVIDIA MIG user guide (tables of profile placements). Tests: tests/test_mig.c */
#ifndef GPUPLAN_MODELS_MIG_H
#define GPUPLAN_MODELS_MIG_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MIG_KINDS_MOST = 32, /* profiles of one GPU; the longest published table has 12          */
    MIG_SLICES_MOST = 16,
    MIG_NO_START = 255,
};

struct mig_profile {
    uint32_t compute; /* slices, >= 1                                                        */
    uint32_t memory;  /* slices, >= 1                                                        */
    uint32_t starts;  /* bit s set: may begin at memory slice s                               */
    uint32_t most;    /* instances of it on one GPU; 0 = as many as fit                        */
};

struct mig_gpu {
    uint32_t compute_slices, memory_slices; /* 7 and 8; A30: 4 and 4                          */
    uint32_t profile_count;
    struct mig_profile profiles[MIG_KINDS_MOST];
};

/* Whether so many instances of each profile fit on an empty GPU. counts[profile_count]. */
bool mig_fits(const struct mig_gpu *gpu, const uint32_t *counts);

/* What stands on one GPU. */
struct mig_state {
    uint32_t memory_taken; /* bit s set: memory slice s belongs to an instance                 */
    uint32_t compute_taken;
    uint8_t made[MIG_KINDS_MOST]; /* instances of each profile                                */
};

/* Whether an instance of the profile may begin at memory slice `start`. */
bool mig_legal(const struct mig_gpu *gpu, const struct mig_state *state, uint32_t profile,
               uint32_t start);

/* Where a new instance goes: of the starts that keep the largest profile placeable behind it the lowest;
 * MIG_NO_START when none is legal. Largest: most compute, then most memory, then first in the table. */
uint32_t mig_start(const struct mig_gpu *gpu, const struct mig_state *state, uint32_t profile);

void mig_make(const struct mig_gpu *gpu, struct mig_state *state, uint32_t profile, uint32_t start);
void mig_unmake(const struct mig_gpu *gpu, struct mig_state *state, uint32_t profile,
                uint32_t start);

/* All ways to cut one GPU. */
struct mig_census {
    uint64_t placements; /* sets of instances with their starts, the empty one among them       */
    uint64_t full;       /* of these, those to which no instance can be added                   */
    uint64_t multisets;  /* full ones that differ in how many there are of some profile         */
};
struct mig_census mig_census(const struct mig_gpu *gpu);

/* Profiles of the A100 and H100 class by compute size: 1g 2g 3g 4g 7g. */
enum { MIG_PROFILES = 5 };
extern const struct mig_gpu mig_plain;

/* mig_fits on that class. counts[]: how many 1g, 2g, 3g, 4g and 7g. */
bool mig_fit(const uint32_t counts[MIG_PROFILES]);

#endif
