/* traffic.h - which servers of a job send to which, and how much of it leaves a leaf or pod (MODELS 2.11, 3.2).
 *
 * Ranks fill the servers of a job in their order, by pod, leaf and server. A part of its traffic is one kind of collective in
 * groups of `members` ranks that are `stride` ranks apart; blocks of members x stride ranks lie one behind the other:
 *
 *     ring          each server sends all it sends to the next one of its group, the last to the first
 *     all-to-all    as much to each other one of its group
 *     stages        half of it to the stage behind, activations, and half to the one before, gradients: a stage in the middle
 *                   sends all, the first and the last half, and what `back` says from the last to the first, and the other way
 *
 * Servers of one NVLink domain send nothing to each other over the network: all of a domain send to those of others, for rings
 * and stages each to the one that has its place there.
 *
 * Shares below are of the bytes that a server sends (of a stage in the middle). What enters some servers is what leaves them.
 * Pure functions. Leaves out: trees (taken as rings), groups that do not fill whole servers (taken as rounded up), domains that hold
 * unequal numbers of the servers (taken as equal). Tests: tests/test_traffic.c */
#ifndef GPUPLAN_MODELS_TRAFFIC_H
#define GPUPLAN_MODELS_TRAFFIC_H

#include <stdint.h>

enum traffic_pattern { TRAFFIC_RING, TRAFFIC_ALL_TO_ALL, TRAFFIC_STAGES };

struct traffic_part {
    enum traffic_pattern pattern;
    uint32_t members, stride; /* in ranks, members >= 2, stride >= 1                                    */
    double back;              /* stages: of what goes to the next stage, so much from the last to the first, 0 to 1 */
    double bytes;             /* that leave a server in a step, >= 0                                    */
};

/* The same by servers. */
struct traffic_way {
    enum traffic_pattern pattern;
    uint32_t servers;       /* N >= 2, rows from 0 in the order of their ranks           */
    uint32_t domain;        /* servers of one NVLink domain, 1: each by itself           */
    uint32_t stride, block; /* in servers; the last block may be shorter                 */
    double back;
};

/* gpus: all ranks; domains: that hold the servers, at most as many. */
struct traffic_way traffic_way_of(const struct traffic_part *part, uint32_t gpus, uint32_t servers,
                                  uint32_t domains);

/* What one server sends to servers first .. end - 1; and all that it sends. */
double traffic_into(const struct traffic_way *way, uint32_t server, uint32_t first, uint32_t end);
double traffic_out(const struct traffic_way *way, uint32_t server);

/* What a server sends to one of those that it sends to, the most of one. */
double traffic_pair(const struct traffic_way *way);

/* What servers first .. end - 1 together send to others. */
double traffic_leaving(const struct traffic_way *way, uint32_t first, uint32_t end);

/* What leaves the fullest leaf, where each holds `per_leaf` >= 1 of the servers, the last one the rest. 0: one holds all. */
double traffic_fullest(const struct traffic_way *way, uint32_t per_leaf);

/* What goes from one group of `per_group` servers to one other, the most of any two. 0: one holds all. */
double traffic_fullest_pair(const struct traffic_way *way, uint32_t per_group);

#endif
