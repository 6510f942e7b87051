/* collective_of.h - a server type and a link of the catalog -> what models/collective_time asks for. */
#ifndef GPUPLAN_CLUSTER_COLLECTIVE_OF_H
#define GPUPLAN_CLUSTER_COLLECTIVE_OF_H

#include "models/collective_time.h"
#include "spec/hardware.h"

/* Servers of a type with `nics` NICs each on a link, of which a group on some GPUs of a server uses those of the first ones
 * (spec/nic_map); uplinks never limit (set uplinks_bytes_per_s where they do). link NULL:
 * NICs as the server type has them, on the network its measurements were made on. On a link that is the one measured, or
 * like it with its hops, what was measured between servers holds too; on another its hops are the link's, and of the rest
 * only the rate between NVLink domains stays, as an upper bound (assumed). Without a measured fit of the server type each
 * form keeps its two constants: scaleup and scaleup_hop inside, the NICs' rate and hop between. */
struct collective_hardware collective_of(const struct server_type *server, uint32_t nics,
                                         const struct link_type *link);

#endif
