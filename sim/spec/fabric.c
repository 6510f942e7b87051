/* fabric.c - see fabric.h. */
#include "spec/hardware.h"

const char *const fabric_kind_names[FABRIC_KINDS] = { "two-tier", "three-tier", "rail", "rail-only",
                                                      "dragonfly+" };
const char *const routing_names[ROUTINGS] = { "even", "sampled", "expected", "adaptive" };
const char *const fabric_key_names[FABRIC_KEYS] = {
    "type", "link", "nics_per_gpu", "oversubscription", "rails", "groups", "global_links"
};

uint32_t fabric_leaf(const struct fabric_shape *shape, uint32_t server, uint32_t nic)
{
    return server / shape->servers_per_leaf * shape->rails + nic % shape->rails;
}

uint32_t fabric_pod(const struct fabric_shape *shape, uint32_t leaf)
{
    return leaf / shape->rails / shape->units_per_pod;
}

uint32_t fabric_hops(const struct fabric_shape *shape, uint32_t leaf_a, uint32_t leaf_b)
{
    if (leaf_a == leaf_b) return 1;
    if (shape->uplinks_per_leaf == 0) return 0;
    const bool same_rail = leaf_a % shape->rails == leaf_b % shape->rails;
    if (!same_rail && shape->kind == FABRIC_RAIL_ONLY) return 0;
    if (fabric_pod(shape, leaf_a) == fabric_pod(shape, leaf_b)) return 3;
    return shape->kind == FABRIC_DRAGONFLY ? 4 : 5;
}
