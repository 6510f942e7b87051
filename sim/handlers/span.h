/* span.h - what a placement reaches over: leaves, pods or groups, NVLink domains, and how fast its servers are. Nodes are told one by
 * one.
 *
 * Servers that differ (stragglers.servers) take a lognormal time of mean 1 for the same work, each its own through a replica:
 * stream speed.server, entity the server's first GPU (MODELS 9.4), so that layouts share it where their servers begin alike. */
#ifndef GPUPLAN_HANDLERS_SPAN_H
#define GPUPLAN_HANDLERS_SPAN_H

#include "handlers/run.h"

struct span {
    uint32_t leaf, domains; /* of the first node; so far, 0 where each node is a domain of its own */
    uint32_t leaf_nodes, pod_nodes; /* most on one leaf, in one pod; 0 where nobody asks    */
    bool any, leaves, pods; /* more than one of these                                       */
    double time_most, time_sum, gpus; /* of its servers so far: the slowest, and by GPU       */
};

/* Once a run, before its cluster is made, with what a server has inside; false when memory is out. */
bool span_init(struct run *run);

struct span span_begin(struct run *run);
void span_add(struct run *run, struct span *span, uint32_t node, uint32_t gpus);

/* The place with what the span has found. */
void span_into(const struct run *run, const struct span *span, struct speed_place *place);

/* NICs and rails that a job uses of a node, where they do not follow from how many GPUs it holds. used: GPUs of each node that
 * it uses at most, its first ones. */
void span_nics(struct run *run, uint32_t first_grant, uint32_t used, struct speed_place *place);

/* Of a job on so many nodes as close together as can be. */
void span_plain(const struct run *run, uint32_t nodes, struct speed_place *place);

#endif
