/* collective_of.c - see collective_of.h. */
#include "cluster/collective_of.h"

#include "cluster/paths.h"

#include <math.h>

/* NCCL's plan of one network step under its protocol for large messages (MODELS 12). */
static const double NETWORK_HOP_S = 14e-6;

struct collective_hardware collective_of(const struct server_type *server, uint32_t nics,
                                         const struct link_type *link)
{
    return (struct collective_hardware){
        .gpus = server->gpus,
        .scaleup_bytes_per_s = server->scaleup_bytes_per_s,
        .scaleup_hop_s = server->scaleup_hop_s,
        .domain_servers = server->domain_servers,
        .nics = nics,
        .nic_bytes_per_s = link ? link->bytes_per_s : server->nic_bytes_per_s,
        .gpu_pcie_bytes_per_s = server->gpu_pcie_bytes_per_s,
        .host_memory_bytes_per_s = server->host_memory_bytes_per_s,
        .gpudirect = path_all_gpudirect(server, nics),
        .network_hop_s = link ? link->hop_s : NETWORK_HOP_S,
        .uplinks_bytes_per_s = INFINITY,
    };
}
