/* fabric.h - the links of a layout's network, and what a job's collective puts on them (MODELS 1.5, 2.11).
 *
 * A link is one direction of a bundle of cables. All NICs of a server are one (a collective in lock step loads them
 * evenly), so are the uplinks of the leaves that one unit of servers hangs on, those of a pod, and the cables between two
 * groups of a dragonfly. Links are rows from 0:
 *
 *     server s out, in              2 s, 2 s + 1
 *     unit u out, in                behind them; only with spines
 *     pod p out, in                 behind them; only with cores
 *     group a to b                  behind them; only in a dragonfly
 *
 * Leaves out: host links inside servers, the ports of spines (evenly loaded when their leaves are).
 * Tests: tests/test_fabric.c */
#ifndef GPUPLAN_NETWORK_FABRIC_H
#define GPUPLAN_NETWORK_FABRIC_H

#include "spec/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct fabric_net {
    struct fabric_shape shape;
    double server_bytes_per_s; /* all NICs of one server together, one direction */
    uint32_t links, first_unit, first_pod, first_group;
    uint32_t *unit_count; /* [units] servers of a job; all 0 between calls */
    uint32_t *pod_count;  /* [pods]                                         */
};

/* What one operation of a job puts on a link. */
struct link_use {
    uint32_t link;
    double bytes;
    double flows; /* parallel ones of the job on it, > 0: NICs times queue pairs */
};

/* False when memory is out; clear takes a zeroed one. */
bool fabric_net_init(struct fabric_net *net, const struct fabric_shape *shape,
                     double server_bytes_per_s);
void fabric_net_clear(struct fabric_net *net);

/* Bytes a second of a link. */
double fabric_net_capacity(const struct fabric_net *net, uint32_t link);

/* Most uses of a job on `servers` servers. */
uint32_t fabric_net_most_uses(const struct fabric_net *net, uint32_t servers);

/* Uses of a job whose ring goes through servers[count], different ones in ascending order, with `bytes` an operation
 * leaving each and `flows` parallel flows. uses[fabric_net_most_uses]; returns their number: none for one server. */
uint32_t fabric_net_uses(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                         double bytes, double flows, struct link_use *uses);

/* "server 12 out", "leaf 3 in", "pod 1 out", "group 0 to 2"; text[32]. */
void fabric_net_name(const struct fabric_net *net, uint32_t link, char text[32]);

#endif
