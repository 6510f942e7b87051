/* fabric.h - how the switches of a layout are wired (MODELS 1.5): the counts that the plan worked out, and which leaf a
 * NIC hangs on.
 *
 * Servers are numbered in node order. `servers_per_leaf` of them in a row are a unit, `units_per_pod` units in a row a
 * pod (of a fabric of three tiers) or a group (of a dragonfly). NIC r of a server belongs to rail r mod rails, and the
 * leaf of unit u and rail r is leaf u * rails + r. Fabrics without rails have one rail.
 *
 *     two-tier     leaves - spines
 *     three-tier   leaves - spines of their pod - cores
 *     rail         each rail a fabric of its own of one or two tiers; spines serve the leaves of all rails
 *     rail-only    the same, and nothing joins two rails: what changes rail does so over NVLink in a server
 *     dragonfly+   leaves - spines of their group - spines of other groups
 *
 * Of every kind one switch (of each rail) is the small case: leaves = rails, no spines. The uplinks of a leaf are spread
 * evenly over the spines it reaches: of its pod or group, or all, or those of its rail. */
#ifndef GPUPLAN_SPEC_FABRIC_H
#define GPUPLAN_SPEC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

enum fabric_kind {
    FABRIC_TWO_TIER,
    FABRIC_THREE_TIER,
    FABRIC_RAIL,
    FABRIC_RAIL_ONLY,
    FABRIC_DRAGONFLY,
    FABRIC_KINDS
};
extern const char *const fabric_kind_names[FABRIC_KINDS]; /* as a scenario writes them */

/* How the flows of a leaf come to its uplinks (MODELS 4.5). */
enum routing {
    ROUTING_EVEN,     /* split evenly, without loss                                              */
    ROUTING_SAMPLED,  /* each takes one by hash, drawn anew at each start of its job             */
    ROUTING_EXPECTED, /* the mean of that                                                        */
    ROUTING_ADAPTIVE, /* split evenly, at 95 %                                                   */
    ROUTINGS
};
extern const char *const routing_names[ROUTINGS];

struct fabric_shape {
    enum fabric_kind kind;
    uint32_t servers, nics_per_server;
    uint32_t rails;              /* >= 1; nics_per_server is a multiple                              */
    uint32_t servers_per_leaf;   /* whose NICs (of one rail) hang on one leaf; >= 1                   */
    uint32_t units;              /* leaves of one rail                                               */
    uint32_t leaves;             /* units * rails                                                    */
    uint32_t uplinks_per_leaf;   /* cables from a leaf to the second tier; 0 = there is none          */
    uint32_t units_per_pod;      /* units without pods                                               */
    uint32_t pods;               /* 1 without                                                        */
    uint32_t spines;             /* switches of the second tier, of all pods, groups and rails        */
    uint32_t uplinks_per_spine;  /* cables from a spine to the cores, or global ones; else 0          */
    uint32_t cores;              /* switches of the third tier                                       */
    uint32_t global_links;       /* cables between each two groups of a dragonfly                     */
    uint32_t radix;              /* ports of a switch                                                */
    double trunk_bytes_per_s;    /* a cable between switches, effective, one direction                */
    double oversubscription;     /* ports down over ports up of a leaf, as built; 1 with one switch   */
    uint64_t switches, trunks;   /* all; trunks: cables between switches                              */
};

/* The leaf of a NIC of a server, both from 0. */
uint32_t fabric_leaf(const struct fabric_shape *shape, uint32_t server, uint32_t nic);

/* The pod or group of a leaf. */
uint32_t fabric_pod(const struct fabric_shape *shape, uint32_t leaf);

/* Switches on a minimal route between two leaves (1.5); 0 = there is none: two rails that nothing joins. */
uint32_t fabric_hops(const struct fabric_shape *shape, uint32_t leaf_a, uint32_t leaf_b);

#endif
