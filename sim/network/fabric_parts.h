/* fabric_parts.h - what the files of fabric share; nothing else includes it. */
#ifndef GPUPLAN_NETWORK_FABRIC_PARTS_H
#define GPUPLAN_NETWORK_FABRIC_PARTS_H

#include "network/fabric.h"

static inline bool fabric_has_pods(const struct fabric_net *net)
{
    return net->shape.kind == FABRIC_THREE_TIER && net->shape.pods > 1;
}

static inline bool fabric_has_groups(const struct fabric_net *net)
{
    return net->shape.kind == FABRIC_DRAGONFLY && net->shape.pods > 1;
}

static inline bool fabric_one_by_one(const struct fabric_net *net)
{
    return net->cables > 1 && net->routing == ROUTING_SAMPLED;
}

/* fabric_traffic.c: fabric_net_uses and fabric_net_routed_s of a job with parts. */
uint32_t fabric_traffic_uses(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                             const struct fabric_job *job, struct link_use *uses);
bool fabric_traffic_routed_s(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                             const struct fabric_job *job, double *routed_s);

#endif
