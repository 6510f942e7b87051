/* fabric_nics.h - uses of bundles -> uses of the NICs and rails that a job has; for the files of fabric alone.
 *
 * Inside fabric the NICs of a server are one bundle, and the leaves of a unit one for all rails. Where these are links by
 * themselves, rows as seen from outside are
 *
 *     server s, NIC n out, in           2 (s nic_links + n), + 1
 *     unit u, rail r out, in            behind them 2 (u rail_links + r), + 1, with sampled routing by cable
 *     what is behind                    in order */
#ifndef GPUPLAN_NETWORK_FABRIC_NICS_H
#define GPUPLAN_NETWORK_FABRIC_NICS_H

#include "network/fabric.h"

/* A link as seen from outside: its bundle, and which of its links it is. */
struct fabric_part {
    uint32_t bundle, part;
};
struct fabric_part fabric_part_of(const struct fabric_net *net, uint32_t link);

/* All links; net->bundles are filled in. */
uint32_t fabric_link_count(const struct fabric_net *net);

/* uses[used] of bundles -> of links, in place, by the NICs that the job has; there is room for fabric_net_most_uses. Returns how
 * many there are. */
uint32_t fabric_spread(const struct fabric_net *net, const uint32_t *servers, uint32_t count,
                       const struct fabric_job *job, struct link_use *uses, uint32_t used);

/* The NICs of a job on its i-th server. */
struct nic_set fabric_nics(const struct fabric_net *net, const struct fabric_job *job, uint32_t i);

/* NICs of the job on rails, on its first server: how many are on the rails that have most, how many rails these are, and how
 * many are on each of the others, at most. */
struct rail_nics {
    uint32_t most, rails, others;
};
struct rail_nics fabric_rail_nics(const struct fabric_net *net, const struct fabric_job *job);

#endif
