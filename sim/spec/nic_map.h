/* nic_map.h - the NICs that each GPU of a server uses, and so those of a job that holds some of its GPUs (MODELS 1.4).
 *
 * A GPU uses the NICs that are nearest to it by path class. GPUs with the same nearest NICs are a group of n GPUs and k NICs:
 *
 *     k >= n    the j-th GPU of the group has its even part of them, NICs j k/n to (j + 1) k/n: four of 32 on eight GPUs,
 *               both of two for one GPU. Where n does not divide k, two neighbours share the NIC between their parts
 *     k < n     GPU i of the server has NIC i mod k of them
 *
 * as NCCL spreads its channels: ceil(k/n) NICs for each GPU, from its own number on (ncclTopoGetLocalNet in
 * src/graph/topo.cc, of which the order of NICs alone is not kept). The NICs in use by a job are those of all GPUs it
 * holds. k nic of MODELS 2.4 with g = 1 and k nic/g_active of 1.4 hold for jobs that hold all GPUs of their servers.
 * Leaves out: another NIC in place of one that failed, and NCCL_CROSS_NIC, NCCL_NETDEVS_POLICY and their like.
 * Tests: tests/test_nic_map.c */
#ifndef GPUPLAN_SPEC_NIC_MAP_H
#define GPUPLAN_SPEC_NIC_MAP_H

#include "spec/server_tree.h"

enum { LIMIT_NICS_PER_SERVER = 512, NIC_SET_WORDS = LIMIT_NICS_PER_SERVER / 64 };

/* A bit for each NIC of a server. */
struct nic_set {
    uint64_t word[NIC_SET_WORDS];
};

struct nic_map {
    uint32_t gpus, nics;
    bool shared; /* several GPUs use one NIC                                              */
    bool even;   /* none, and all GPUs use equally many: how many are in use, the number of GPUs says */
    struct nic_set of_gpu[LIMIT_GPUS_PER_SERVER];
};

/* tree of `gpus` GPUs; one of another number of GPUs says nothing, and all NICs are equally near to all. gpus, nics >= 1. */
void nic_map_init(struct nic_map *map, const struct server_tree *tree, uint32_t gpus,
                  uint32_t nics);

static inline bool nic_set_has(const struct nic_set *set, uint32_t nic)
{
    return set->word[nic / 64] >> nic % 64 & 1;
}

/* Of a GPU; one that the server does not have counts as one that it has. */
static inline const struct nic_set *nic_map_of(const struct nic_map *map, uint32_t gpu)
{
    return &map->of_gpu[gpu < map->gpus ? gpu : gpu % map->gpus];
}

/* NICs in use by the GPUs of a mask, beside those in *set already; and how many a set has. */
void nic_map_add(const struct nic_map *map, uint32_t gpu_mask, struct nic_set *set);
uint32_t nic_set_count(const struct nic_map *map, const struct nic_set *set);

/* NIC r is on rail r mod rails (spec/fabric.h): how many of a set are on the rail that has most of them. rails >= 1. */
uint32_t nic_set_rail_most(const struct nic_map *map, const struct nic_set *set, uint32_t rails);

/* Adding and counting at once, of one mask; the same of the first `gpus` GPUs. */
uint32_t nic_map_count(const struct nic_map *map, uint32_t gpu_mask);
uint32_t nic_map_first(const struct nic_map *map, uint32_t gpus);

#endif
