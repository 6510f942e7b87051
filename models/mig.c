/* mig.c - see mig.h. */
#include "models/mig.h"

#include "base/assert.h"

#include <string.h>

const struct mig_gpu mig_plain = { .compute_slices = 7,
                                   .memory_slices = 8,
                                   .profile_count = MIG_PROFILES,
                                   .profiles = { { 1, 1, 0x7f, 7 },
                                                 { 2, 2, 0x15, 3 },
                                                 { 3, 4, 0x11, 2 },
                                                 { 4, 4, 0x01, 1 },
                                                 { 7, 8, 0x01, 1 } } };

static uint32_t slices_of(const struct mig_profile *profile, uint32_t start)
{
    return ((1u << profile->memory) - 1) << start;
}

bool mig_legal(const struct mig_gpu *gpu, const struct mig_state *state, uint32_t profile,
               uint32_t start)
{
    ASSERT(profile < gpu->profile_count && start < MIG_SLICES_MOST);
    const struct mig_profile *asked = &gpu->profiles[profile];
    if (!(asked->starts >> start & 1)) return false;
    if (asked->most && state->made[profile] >= asked->most) return false;
    if (start + asked->memory > gpu->memory_slices) return false;
    if (state->compute_taken + asked->compute > gpu->compute_slices) return false;
    return !(slices_of(asked, start) & state->memory_taken);
}

void mig_make(const struct mig_gpu *gpu, struct mig_state *state, uint32_t profile, uint32_t start)
{
    ASSERT(mig_legal(gpu, state, profile, start));
    state->memory_taken |= slices_of(&gpu->profiles[profile], start);
    state->compute_taken += gpu->profiles[profile].compute;
    state->made[profile]++;
}

void mig_unmake(const struct mig_gpu *gpu, struct mig_state *state, uint32_t profile,
                uint32_t start)
{
    ASSERT(state->made[profile] > 0);
    state->memory_taken &= ~slices_of(&gpu->profiles[profile], start);
    state->compute_taken -= gpu->profiles[profile].compute;
    state->made[profile]--;
}

/* Whether `a` is a larger instance than `b`. */
static bool is_larger(const struct mig_gpu *gpu, uint32_t a, uint32_t b)
{
    const struct mig_profile *one = &gpu->profiles[a], *other = &gpu->profiles[b];
    if (one->compute != other->compute) return one->compute > other->compute;
    return one->memory > other->memory;
}

/* The largest profile of which counts[] wants one, profile_count when it wants none. */
static uint32_t largest_wanted(const struct mig_gpu *gpu, const uint32_t *counts)
{
    uint32_t largest = gpu->profile_count;
    for (uint32_t p = 0; p < gpu->profile_count; p++)
        if (counts[p] && (largest == gpu->profile_count || is_larger(gpu, p, largest))) largest = p;
    return largest;
}

/* Largest first, then every start: what is large has few places. */
static bool fits_beside(const struct mig_gpu *gpu, struct mig_state *state, uint32_t *counts)
{
    const uint32_t profile = largest_wanted(gpu, counts);
    if (profile == gpu->profile_count) return true;
    counts[profile]--;
    bool fits = false;
    for (uint32_t start = 0; start < gpu->memory_slices && !fits; start++) {
        if (!mig_legal(gpu, state, profile, start)) continue;
        mig_make(gpu, state, profile, start);
        fits = fits_beside(gpu, state, counts);
        mig_unmake(gpu, state, profile, start);
    }
    counts[profile]++;
    return fits;
}

bool mig_fits(const struct mig_gpu *gpu, const uint32_t *counts)
{
    uint32_t rest[MIG_KINDS_MOST], compute = 0, memory = 0;
    for (uint32_t p = 0; p < gpu->profile_count; p++) {
        if (counts[p] > gpu->memory_slices) return false;
        rest[p] = counts[p];
        compute += counts[p] * gpu->profiles[p].compute;
        memory += counts[p] * gpu->profiles[p].memory;
    }
    struct mig_state empty = { 0 };
    return compute <= gpu->compute_slices && memory <= gpu->memory_slices &&
           fits_beside(gpu, &empty, rest);
}

/* The largest profile that can still be made; profile_count when none can. */
static uint32_t largest_legal(const struct mig_gpu *gpu, const struct mig_state *state)
{
    uint32_t largest = gpu->profile_count;
    for (uint32_t p = 0; p < gpu->profile_count; p++) {
        if (largest != gpu->profile_count && !is_larger(gpu, p, largest)) continue;
        for (uint32_t start = 0; start < gpu->memory_slices; start++)
            if (mig_legal(gpu, state, p, start)) {
                largest = p;
                break;
            }
    }
    return largest;
}

uint32_t mig_start(const struct mig_gpu *gpu, const struct mig_state *state, uint32_t profile)
{
    uint32_t best = MIG_NO_START, best_keeps = gpu->profile_count;
    for (uint32_t start = 0; start < gpu->memory_slices; start++) {
        if (!mig_legal(gpu, state, profile, start)) continue;
        struct mig_state after = *state;
        mig_make(gpu, &after, profile, start);
        const uint32_t keeps = largest_legal(gpu, &after);
        const bool better = keeps != gpu->profile_count &&
                            (best_keeps == gpu->profile_count || is_larger(gpu, keeps, best_keeps));
        if (best != MIG_NO_START && !better) continue;
        best = start;
        best_keeps = keeps;
    }
    return best;
}

enum {
    SEEN_MOST = 4096
}; /* multisets of full layouts; the longest published table gives some hundreds */

struct census {
    const struct mig_gpu *gpu;
    struct mig_census counts;
    uint8_t seen[SEEN_MOST][MIG_KINDS_MOST];
};

static void count_full(struct census *census, const struct mig_state *state)
{
    census->counts.full++;
    for (uint64_t i = 0; i < census->counts.multisets; i++)
        if (!memcmp(census->seen[i], state->made, sizeof state->made)) return;
    ASSERT(census->counts.multisets < SEEN_MOST);
    memcpy(census->seen[census->counts.multisets++], state->made, sizeof state->made);
}

/* Every set once: instances are added in order of (profile, start) behind the last one. */
static void count_from(struct census *census, struct mig_state *state, uint32_t from)
{
    census->counts.placements++;
    if (largest_legal(census->gpu, state) == census->gpu->profile_count) count_full(census, state);
    const uint32_t slices = census->gpu->memory_slices;
    for (uint32_t at = from; at < census->gpu->profile_count * slices; at++) {
        if (!mig_legal(census->gpu, state, at / slices, at % slices)) continue;
        mig_make(census->gpu, state, at / slices, at % slices);
        count_from(census, state, at + 1);
        mig_unmake(census->gpu, state, at / slices, at % slices);
    }
}

struct mig_census mig_census(const struct mig_gpu *gpu)
{
    struct census census = { .gpu = gpu };
    struct mig_state empty = { 0 };
    count_from(&census, &empty, 0);
    return census.counts;
}

bool mig_fit(const uint32_t counts[MIG_PROFILES])
{
    return mig_fits(&mig_plain, counts);
}
