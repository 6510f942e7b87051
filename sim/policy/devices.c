/* devices.c - see devices.h. */
#include "policy/devices.h"

#include "base/assert.h"

#include <string.h>

static bool is_mig(const struct server_group *group)
{
    return group->sharing == SHARING_MIG_SINGLE || group->sharing == SHARING_MIG_MIXED;
}

/* Whether a cut is asked for by this name. */
static bool is_called(const struct server_group *group, const struct gpu_cut *cut,
                      const char *profile)
{
    if (group->sharing == SHARING_MIG_SINGLE && profile[0] == '\0') return true;
    return strcmp(cut->profile, profile) == 0;
}

uint32_t devices_per_gpu(const struct server_group *group, const char *profile)
{
    if (!devices_cut(group)) return 0;
    if (!is_mig(group)) return profile[0] ? 0 : group->shares_per_gpu;
    uint32_t count = 0;
    for (uint32_t c = 0; c < group->cut_count; c++)
        count += is_called(group, &group->cuts[c], profile);
    return count;
}

uint32_t devices_units(const struct server_group *group, const char *profile)
{
    if (devices_per_gpu(group, profile) == 0) return 0;
    if (!is_mig(group)) return (uint32_t)(CLUSTER_UNITS / group->shares_per_gpu);
    for (uint32_t c = 0; c < group->cut_count; c++)
        if (is_called(group, &group->cuts[c], profile)) return group->cuts[c].units;
    return 0;
}

/* What of one GPU is taken, parts that are only picked included. */
struct taken {
    uint32_t units;
    uint8_t slices;
};

static struct taken taken_of(const struct cluster *cluster, uint32_t node, uint32_t bit,
                             struct devices_picked picked)
{
    const uint64_t gpu = (uint64_t)node * cluster->gpus_per_node + bit;
    struct taken taken = { 0 };
    if (cluster->holder[gpu] == LIVE_SHARED)
        taken = (struct taken){ (uint32_t)CLUSTER_UNITS - cluster->share_free[gpu],
                                cluster->slices_used[gpu] };
    for (uint32_t p = 0; p < picked.count; p++) {
        const struct part *part = &picked.parts[p];
        if (part->node != node || part->mask != 1u << bit) continue;
        taken.units += part->share_units;
        taken.slices |= (uint8_t)(((1u << part->slice_count) - 1) << part->slice_first);
    }
    return taken;
}

/* A GPU that parts can come from: in order, and either untouched or given out in parts already. */
static bool is_open(const struct cluster *cluster, uint32_t node, uint32_t bit)
{
    const uint64_t gpu = (uint64_t)node * cluster->gpus_per_node + bit;
    if (cluster->outs[node] || cluster->broken_mask[node] >> bit & 1) return false;
    return cluster->free_mask[node] >> bit & 1 || cluster->holder[gpu] == LIVE_SHARED;
}

static uint32_t free_of_gpu(const struct server_group *group, const char *profile,
                            struct taken taken)
{
    if (!is_mig(group)) {
        const uint32_t units = (uint32_t)(CLUSTER_UNITS / group->shares_per_gpu);
        return profile[0] ? 0 : group->shares_per_gpu - taken.units / units;
    }
    uint32_t count = 0;
    for (uint32_t c = 0; c < group->cut_count; c++) {
        const struct gpu_cut *cut = &group->cuts[c];
        count += is_called(group, cut, profile) && !(taken.slices >> cut->slice_first & 1);
    }
    return count;
}

uint32_t devices_free_of(const struct cluster *cluster, uint32_t node,
                         const struct server_group *group, const char *profile, uint32_t bit,
                         struct devices_picked picked)
{
    if (!is_open(cluster, node, bit)) return 0;
    return free_of_gpu(group, profile, taken_of(cluster, node, bit, picked));
}

uint32_t devices_free(const struct cluster *cluster, uint32_t node,
                      const struct server_group *group, const char *profile)
{
    static const struct devices_picked none;
    uint32_t count = 0;
    if (!devices_cut(group)) return 0;
    for (uint32_t bit = 0; bit < group->server.gpus; bit++)
        count += devices_free_of(cluster, node, group, profile, bit, none);
    return count;
}

/* The first cut of this name whose slices are free. */
static const struct gpu_cut *free_cut(const struct server_group *group, const char *profile,
                                      struct taken taken)
{
    for (uint32_t c = 0; c < group->cut_count; c++)
        if (is_called(group, &group->cuts[c], profile) &&
            !(taken.slices >> group->cuts[c].slice_first & 1))
            return &group->cuts[c];
    return NULL;
}

/* Time slices and MPS spread over the GPUs; everything else fills the first that has room. */
static bool spreads(const struct server_group *group)
{
    return group->sharing == SHARING_TIME_SLICE || group->sharing == SHARING_MPS;
}

bool devices_pick(const struct cluster *cluster, uint32_t node, const struct server_group *group,
                  const char *profile, uint32_t allowed, struct devices_picked picked,
                  struct part *part)
{
    uint32_t best = UINT32_MAX, least = UINT32_MAX;
    if (devices_per_gpu(group, profile) == 0) return false;
    for (uint32_t bit = 0; bit < group->server.gpus; bit++) {
        if (!(allowed >> bit & 1)) continue;
        if (devices_free_of(cluster, node, group, profile, bit, picked) == 0) continue;
        const struct taken taken = taken_of(cluster, node, bit, picked);
        if (best != UINT32_MAX && (!spreads(group) || taken.units >= least)) continue;
        best = bit;
        least = taken.units;
    }
    if (best == UINT32_MAX) return false;
    *part = (struct part){ .node = node, .mask = 1u << best };
    part->share_units = devices_units(group, profile);
    if (!is_mig(group)) return true;
    const struct gpu_cut *cut = free_cut(group, profile, taken_of(cluster, node, best, picked));
    ASSERT(cut != NULL);
    part->share_units = cut->units;
    part->slice_first = cut->slice_first;
    part->slice_count = cut->slice_count;
    return true;
}
