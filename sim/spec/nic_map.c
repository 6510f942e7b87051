/* nic_map.c - see nic_map.h. */
#include "spec/nic_map.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

static uint32_t words_of(const struct nic_map *map)
{
    return (map->nics + 63) / 64;
}

static void put(struct nic_set *set, uint32_t nic)
{
    set->word[nic / 64] |= (uint64_t)1 << nic % 64;
}

/* All NICs of the lowest class. */
static struct nic_set nearest(const struct server_tree *tree, uint32_t gpu, uint32_t nics)
{
    enum link_class best = LINK_CLASSES;
    struct nic_set near = { { 0 } };
    for (uint32_t nic = 0; nic < nics; nic++) {
        const enum link_class path = tree ? tree_nic_path(tree, gpu, nic) : LINK_PHB;
        if (path < best) near = (struct nic_set){ { 0 } };
        if (path < best) best = path;
        if (path == best) put(&near, nic);
    }
    return near;
}

/* What the GPU, the j-th of n with the same nearest NICs, has of them. */
static struct nic_set part_of(const struct nic_map *map, const struct nic_set *near, uint32_t gpu,
                              uint32_t j, uint32_t n)
{
    const uint32_t k = nic_set_count(map, near);
    const uint32_t first = k < n ? gpu % k : j * k / n;
    const uint32_t end = k < n ? first + 1 : ((j + 1) * k + n - 1) / n;
    struct nic_set part = { { 0 } };
    uint32_t i = 0;
    for (uint32_t nic = 0; nic < map->nics; nic++)
        if (nic_set_has(near, nic)) {
            if (i >= first && i < end) put(&part, nic);
            i++;
        }
    return part;
}

void nic_map_init(struct nic_map *map, const struct server_tree *tree, uint32_t gpus, uint32_t nics)
{
    struct nic_set near[LIMIT_GPUS_PER_SERVER];
    ASSERT(gpus >= 1 && gpus <= LIMIT_GPUS_PER_SERVER);
    ASSERT(nics >= 1 && nics <= LIMIT_NICS_PER_SERVER);
    *map = (struct nic_map){ .gpus = gpus, .nics = nics };
    for (uint32_t gpu = 0; gpu < gpus; gpu++)
        near[gpu] = nearest(tree->gpus == gpus ? tree : NULL, gpu, nics);
    uint32_t total = 0, most = 0;
    struct nic_set all = { { 0 } };
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        uint32_t j = 0, n = 0;
        for (uint32_t other = 0; other < gpus; other++) {
            const bool same = memcmp(&near[gpu], &near[other], sizeof near[gpu]) == 0;
            n += same;
            j += same && other < gpu;
        }
        map->of_gpu[gpu] = part_of(map, &near[gpu], gpu, j, n);
        const uint32_t own = nic_set_count(map, &map->of_gpu[gpu]);
        if (own > most) most = own;
        total += own;
        nic_map_add(map, 1u << gpu, &all);
    }
    map->shared = nic_set_count(map, &all) < total;
    map->even = !map->shared && total == most * gpus;
}

void nic_map_add(const struct nic_map *map, uint32_t gpu_mask, struct nic_set *set)
{
    const uint32_t words = words_of(map);
    for (uint32_t mask = gpu_mask; mask; mask &= mask - 1) {
        const struct nic_set *own = nic_map_of(map, (uint32_t)__builtin_ctz(mask));
        for (uint32_t w = 0; w < words; w++) set->word[w] |= own->word[w];
    }
}

uint32_t nic_set_count(const struct nic_map *map, const struct nic_set *set)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < words_of(map); w++) count += (uint32_t)bits_count_64(set->word[w]);
    return count;
}

uint32_t nic_set_rail_most(const struct nic_map *map, const struct nic_set *set, uint32_t rails)
{
    uint32_t most = 0;
    if (rails == 1) return nic_set_count(map, set);
    for (uint32_t rail = 0; rail < rails; rail++) {
        uint32_t count = 0;
        for (uint32_t nic = rail; nic < map->nics; nic += rails) count += nic_set_has(set, nic);
        if (count > most) most = count;
    }
    return most;
}

uint32_t nic_map_count(const struct nic_map *map, uint32_t gpu_mask)
{
    struct nic_set set = { { 0 } };
    nic_map_add(map, gpu_mask, &set);
    return nic_set_count(map, &set);
}

uint32_t nic_map_first(const struct nic_map *map, uint32_t gpus)
{
    return nic_map_count(map, gpus < 32 ? (1u << gpus) - 1 : UINT32_MAX);
}
