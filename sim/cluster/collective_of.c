/* collective_of.c - see collective_of.h. */
#include "cluster/collective_of.h"

#include <math.h>

struct collective_hardware collective_of(const struct server_type *server, uint32_t nics,
                                         double nic_bytes_per_s, double network_hop_s)
{
    return (struct collective_hardware){
        .gpus = server->gpus,
        .scaleup_bytes_per_s = server->scaleup_bytes_per_s,
        .scaleup_hop_s = server->scaleup_hop_s,
        .domain_servers = 1,
        .nics = nics,
        .nic_bytes_per_s = nic_bytes_per_s,
        .gpu_pcie_bytes_per_s = server->gpu_pcie_bytes_per_s,
        .host_memory_bytes_per_s = server->host_memory_bytes_per_s,
        .gpudirect = server->gpudirect,
        .network_hop_s = network_hop_s,
        .uplinks_bytes_per_s = INFINITY,
    };
}
