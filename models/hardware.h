/* hardware.h - bandwidth, latency and switch counts of servers and fabrics (MODELS 1).
 *
 * Pure functions of SI quantities. Arguments outside the ranges are caller bugs (asserted).
 * Tests: tests/test_hardware.c, tests/cases/models/hardware.csv. */
#ifndef GPUPLAN_MODELS_HARDWARE_H
#define GPUPLAN_MODELS_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

/* How the GPUs of one server reach its NICs. */
struct nic_share {
    uint32_t gpus_active;           /* GPUs of the job on this server that send at once, >= 1 */
    uint32_t nics;                  /* >= 1                                                   */
    double nic_bytes_per_s;         /* each NIC, one direction                                */
    double slot_bytes_per_s;        /* PCIe slot of a NIC; INFINITY when not known            */
    double gpu_pcie_bytes_per_s;    /* PCIe of a GPU; INFINITY when not known                 */
    double host_memory_bytes_per_s; /* crossed twice without GPUDirect                        */
    bool gpudirect;
};

/* Network bandwidth of each active GPU (1.4):
 *     b_e = min(k min(nic, slot)/g_active, gpu_pcie, gpudirect ? inf : mem/(2 g_active)) */
double gpu_net_bytes_per_s(const struct nic_share *share);

/* Path classes between two GPUs that are not the same (1.3), best first. */
enum path_class { PATH_NVL, PATH_PIX, PATH_PXB, PATH_PHB, PATH_SYS };

struct gpu_pair {
    enum path_class path;
    bool peer_access;               /* p2p: the class is within what the server allows        */
    double nvlink_bytes_per_s[2];   /* of the two GPUs; read for PATH_NVL                     */
    double pcie_bytes_per_s[2];     /* of the two GPUs                                        */
    double uplink_bytes_per_s;      /* of their PCIe switch; INFINITY when absent             */
    double socket_link_bytes_per_s; /* between sockets; read for PATH_SYS                     */
    double memory_bytes_per_s;      /* of the host; INFINITY when it does not limit           */
    double root_overhead;           /* h, 1.2                                                 */
    double staging_efficiency;      /* e_shm, 0.8                                             */
};

#define ROOT_COMPLEX_OVERHEAD                                                                      \
    1.2                        /* h: what a transfer through the root complex costs more [P] 1.3 */
#define STAGING_EFFICIENCY 0.8 /* e_shm [A] 1.3 */

/* Bandwidth between two GPUs of one server or NVLink domain (1.3). */
double pair_bytes_per_s(const struct gpu_pair *pair);

/* A fabric of two tiers of equal switches (1.5). ports <= radix needs one switch: leaves 1, spines
 * 0. */
struct two_tier {
    uint64_t down, up; /* ports of a leaf to hosts and to spines; one switch: ports and 0 */
    uint64_t leaves, spines;
    uint64_t switches, trunks; /* trunks: cables between leaves and spines                        */
    bool feasible;             /* leaves <= radix and spines <= up                                */
    double oversubscription;   /* down/up as built; 1 for one switch                              */
};

/* ports >= 1 host ports, radix >= 2 ports a switch, oversubscription = down/up > 0 and below radix.
 */
struct two_tier two_tier(uint64_t ports, uint32_t radix, double oversubscription);

/* A non-blocking fat tree of three tiers (1.5); feasible up to radix^3/4 ports. radix even. */
struct three_tier {
    uint64_t leaves, aggregations, cores, switches, trunks;
    bool feasible;
};
struct three_tier three_tier(uint64_t ports, uint32_t radix);

/* NIC r of every server on rail r; each rail a non-blocking fabric of its own (1.5). */
struct rail_fabric {
    uint64_t switches_per_rail, switches, trunks;
    bool feasible;
};
struct rail_fabric rail_fabric(uint64_t servers, uint32_t rails, uint32_t radix);

enum topology { TOPOLOGY_TWO_TIER, TOPOLOGY_THREE_TIER, TOPOLOGY_DRAGONFLY_PLUS };

/* Switches on a minimal route between two leaves (1.5). group: leaves per pod or group, >= 1. */
uint32_t hop_count(enum topology topology, uint32_t leaf_a, uint32_t leaf_b, uint32_t group);

/* Route between NICs of a rail fabric; pxn: the sender first moves data over NVLink to the GPU of
 * the target rail. */
struct rail_hops {
    uint32_t switches, nvlink_hops;
};
struct rail_hops rail_hops(uint32_t rail_a, uint32_t rail_b, uint32_t unit_a, uint32_t unit_b,
                           bool pxn);

/* 2 t_nic + switches t_switch + 5 ns per metre of cable, in seconds (1.5). */
double path_latency_s(uint32_t switches, double switch_s, double nic_s, double cable_m);

/* Bandwidth of each of `flows` flows that leave one leaf over `uplinks` trunks, ideally spread:
 * min(nic, uplinks uplink/flows) (1.5). flows >= 1. */
double leaf_share_bytes_per_s(double nic_bytes_per_s, double flows, double uplinks,
                              double uplink_bytes_per_s);

#endif
