/* fabric.h - the links of a layout's network, and what a job's collective puts on them (MODELS 1.5, 2.11).
 *
 * A link is one direction of a bundle of cables. All NICs of a server are one, which is exact where each GPU has NICs of its
 * own (the jobs of a server then never meet on one) and with one NIC; where several GPUs share one of several, or one may be
 * slower than the others, each NIC is one. So are the uplinks of a leaf, those of a pod, and the cables between two groups of
 * a dragonfly. Links are rows from 0:
 *
 *     server s out, in              2 s, 2 s + 1; by NIC 2 (s k + n), 2 (s k + n) + 1
 *     leaf out, in                  behind them, of unit u and rail r; only with spines. With sampled routing each of its cables
 *                                   by itself
 *     pod p out, in                 behind them; only with cores
 *     group a to b                  behind them; only in a dragonfly
 *
 * Routing (4.5) concerns the uplinks of leaves: `expected` scales them, for all jobs together, by the mean efficiency of a leaf
 * that sends all it has, `adaptive` by 0.95. A flow that `sampled` puts on cable c of the leaf it leaves enters the next leaf over cable c too: cables
 * of one number meet in one spine.
 * A job is a ring, or has parts (models/traffic), one after the other in a step, that put their bytes on the links together;
 * flows of a link are counted by its bytes, so that as many bytes are as many flows.
 * A collective in lock step puts as much on each NIC that it uses of a server (spec/nic_map), and so on the rails of these;
 * of a unit, its bytes go by the mean over the servers that it holds there.
 * Leaves out: what changes rail on its way, host links inside servers, the ports of spines (evenly loaded when their leaves are),
 * hashes above the leaves.
 * Tests: tests/test_fabric.c */
#ifndef GPUPLAN_NETWORK_FABRIC_H
#define GPUPLAN_NETWORK_FABRIC_H

#include "models/traffic.h"
#include "network/fullest.h"
#include "spec/hardware.h"
#include "spec/nic_map.h"

#include <stdbool.h>
#include <stdint.h>

enum { LINK_NAME_BYTES = 48 };

struct fabric_net {
    struct fabric_shape shape;
    double server_bytes_per_s; /* all NICs of one server together, one direction */
    enum routing routing;
    uint32_t queue_pairs;
    const struct nic_map *map; /* borrowed; NULL: NIC n of a server is the n-th that a job uses */
    uint32_t nic_links;  /* of a server in each direction: 1, or one for each NIC    */
    uint32_t rail_links; /* of a unit in each direction: its rails; 1 with sampled routing */
    uint32_t cables;     /* of a unit in each direction, with sampled routing; else 1  */
    double uplink_frac; /* of the capacity of uplinks that routing leaves   */
    struct fullest fullest;
    struct cable_load *loads; /* [units][cables][out, in] all 0 between calls; NULL unless sampled */
    double drawn_s;           /* what the flows of the parts of the last job take, one part after the other */
    uint32_t links;
    uint32_t bundles, first_unit, first_pod, first_group; /* rows inside fabric: network/fabric_nics.h */
    uint32_t *on_cable;   /* [cables] flows of one crossing                 */
    double *on_rail;      /* [rails] share of a unit's bytes; all 0 between calls */
};

/* What flows of a job put on a cable: one part of its traffic, and all of them. */
struct cable_load {
    double part_bytes, bytes;
};

/* What a job sends over and over, and its luck with hashes. Without parts it is one ring. */
struct fabric_job {
    double bytes;  /* that leave each of its servers in one operation          */
    uint32_t nics; /* that it uses of each server, at least                    */
    uint64_t key;  /* stream "ecmp" of the replica                             */
    uint64_t serial, epoch; /* of the job; of its placements                   */
    const struct traffic_part *parts; /* [part_count] what `bytes` is made of    */
    uint32_t part_count;
    uint32_t gpus, domains; /* of the job; NVLink domains that hold it; unread without parts */
    const uint32_t *masks;  /* [servers] its GPUs on each; NULL: the first `nics` NICs of each */
    const double *crossings; /* [servers] how often `bytes` leave each: once for each of its machines; NULL: once */
    double island_servers;   /* with crossings: of an NVLink domain, in the mean; a ring leaves a leaf with all it has, once */
};

/* What one operation of a job puts on a link. */
struct link_use {
    uint32_t link;
    double bytes;
    double flows; /* parallel ones of the job on it, > 0: NICs times queue pairs */
};

/* False when memory is out; clear takes a zeroed one. by_nic: a link for each NIC of a server. */
bool fabric_net_init_nics(struct fabric_net *net, const struct fabric_shape *shape,
                          const struct fabric *fabric, double server_bytes_per_s,
                          const struct nic_map *map, bool by_nic);
bool fabric_net_init(struct fabric_net *net, const struct fabric_shape *shape,
                     const struct fabric *fabric, double server_bytes_per_s);
void fabric_net_clear(struct fabric_net *net);

/* Bytes a second of a link. */
double fabric_net_capacity(const struct fabric_net *net, uint32_t link);

/* The link out of a NIC of a server, which is all of its NICs but by NIC; in is the next one. */
uint32_t fabric_net_nic(const struct fabric_net *net, uint32_t server, uint32_t nic);

/* The link out of a leaf (rail r of unit u is leaf u rails + r); in is the next one. With sampled routing one of its cables,
 * cable < fabric_net_leaf_cables; else cable 0, all of them. Only with spines. */
uint32_t fabric_net_leaf_cables(const struct fabric_net *net);
uint32_t fabric_net_leaf(const struct fabric_net *net, uint32_t leaf, uint32_t cable);

/* Most uses of a job on `servers` servers, with all their NICs. */
uint32_t fabric_net_most_uses(const struct fabric_net *net, uint32_t servers);

/* Uses of a job on servers[count], different ones in ascending order, which is that of its ranks. uses[fabric_net_most_uses];
 * returns their number: none for one server that `bytes` leave once. Machines of one server meet at its leaf (MODELS 1.3d). */
uint32_t fabric_net_uses(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                         const struct fabric_job *job, struct link_use *uses);

/* Uses of `bytes` of each of servers[count], different ones in ascending order, count >= 1, from (in) or to a place behind the
 * spines, or the cores of three tiers: evenly over all NICs of a server, and over the cables of its leaves and of its pod. Leaves
 * out: cables between groups (each group of a dragonfly reaches the place by itself). uses[fabric_net_most_uses]. */
uint32_t fabric_net_outside(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                            double bytes, bool in, struct link_use *uses);

/* Mean time that a job on these servers needs for the bytes of an operation by `expected` routing, at least wire_s: it waits for the
 * fullest cable of all leaves that it crosses, in each of its parts. 0 with other routing or below one leaf; with `sampled` and
 * parts the same as it was drawn by fabric_net_uses, just called for the same job. False when memory is out. */
bool fabric_net_routed_s(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                         const struct fabric_job *job, double wire_s, double *routed_s);

/* "server 12 out", "server 12 NIC 3 in", "leaf 3 in", "unit 3 cable 7 in", "pod 1 out", "group 0 to 2"; the longest fits. */
void fabric_net_name(const struct fabric_net *net, uint32_t link, char text[LINK_NAME_BYTES]);

#endif
