/* collective_of.h - a server type and a link of the catalog -> what models/collective_time asks for. */
#ifndef GPUPLAN_CLUSTER_COLLECTIVE_OF_H
#define GPUPLAN_CLUSTER_COLLECTIVE_OF_H

#include "models/collective_time.h"
#include "spec/hardware.h"

/* Servers of a type with `nics` NICs each of the link's rate; uplinks never limit. Without a measured fit of the server
 * type each form keeps its two constants: scaleup and scaleup_hop inside, the link's rate and hop between. */
struct collective_hardware collective_of(const struct server_type *server, uint32_t nics,
                                         double nic_bytes_per_s, double network_hop_s);

#endif
