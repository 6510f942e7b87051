/* paths.c - see paths.h. */
#include "cluster/paths.h"

#include "base/assert.h"
#include "models/hardware.h"

#include <math.h>

/* The classes of the model's equation. */
static enum path_class path_of(enum link_class class)
{
    switch (class) {
    case LINK_NVL:
        return PATH_NVL;
    case LINK_PIX:
        return PATH_PIX;
    case LINK_PXB:
        return PATH_PXB;
    case LINK_PHB:
        return PATH_PHB;
    default:
        ASSERT(class == LINK_SYS);
        return PATH_SYS;
    }
}

static struct gpu_pair pair_of(const struct server_type *server, enum path_class path,
                               bool peer_access, double nvlink_bytes_per_s)
{
    return (struct gpu_pair){
        .path = path,
        .peer_access = peer_access,
        .nvlink_bytes_per_s = { nvlink_bytes_per_s, nvlink_bytes_per_s },
        .pcie_bytes_per_s = { server->gpu_pcie_bytes_per_s, server->gpu_pcie_bytes_per_s },
        .uplink_bytes_per_s = server->uplink_bytes_per_s,
        .socket_link_bytes_per_s = server->socket_link_bytes_per_s,
        .memory_bytes_per_s = server->host_memory_bytes_per_s,
        .root_overhead = ROOT_COMPLEX_OVERHEAD,
        .staging_efficiency = STAGING_EFFICIENCY,
    };
}

double path_gpus_bytes_per_s(const struct server_type *server, uint32_t gpu_a, uint32_t gpu_b)
{
    const struct server_tree *tree = &server->tree;
    const enum link_class class = tree_gpu_path(tree, gpu_a, gpu_b);
    if (class == LINK_LOC) return INFINITY;
    if (class == LINK_C2C) return server->c2c_bytes_per_s;
    const double nvlink = tree->nvlinks[gpu_a][gpu_b] * server->nvlink_bytes_per_s;
    const struct gpu_pair pair = pair_of(server, path_of(class), class <= server->p2p_max, nvlink);
    return pair_bytes_per_s(&pair);
}

double path_slices_bytes_per_s(const struct server_type *server)
{
    const struct gpu_pair pair = pair_of(server, PATH_PHB, false, 0);
    return pair_bytes_per_s(&pair);
}

bool path_gpudirect(const struct server_type *server, uint32_t gpu, uint32_t nics)
{
    if (!server->gpudirect) return false;
    const uint32_t nic = tree_nearest_nic(&server->tree, gpu, nics);
    return tree_nic_path(&server->tree, gpu, nic) <= server->gdr_max;
}

bool path_all_gpudirect(const struct server_type *server, uint32_t nics)
{
    for (uint32_t gpu = 0; gpu < server->tree.gpus; gpu++)
        if (!path_gpudirect(server, gpu, nics)) return false;
    return server->gpudirect;
}

bool path_any_gpudirect(const struct server_type *server, uint32_t nics)
{
    for (uint32_t gpu = 0; gpu < server->tree.gpus; gpu++)
        if (path_gpudirect(server, gpu, nics)) return true;
    return server->gpudirect && server->tree.gpus == 0;
}

double path_network_bytes_per_s(const struct server_type *server, uint32_t nics,
                                double nic_bytes_per_s, uint32_t active)
{
    const struct nic_share share = { .gpus_active = active,
                                     .nics = nics,
                                     .nic_bytes_per_s = nic_bytes_per_s,
                                     .slot_bytes_per_s = server->gpu_pcie_bytes_per_s,
                                     .gpu_pcie_bytes_per_s = server->gpu_pcie_bytes_per_s,
                                     .gpudirect = path_all_gpudirect(server, nics),
                                     .host_memory_bytes_per_s = server->host_memory_bytes_per_s };
    return gpu_net_bytes_per_s(&share);
}
