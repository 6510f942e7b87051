/* fabric_outside.c - what goes between the servers of a job and a place behind the spines, or the cores of three tiers. */
#include "network/fabric.h"

#include "base/assert.h"
#include "network/fabric_nics.h"
#include "network/fabric_parts.h"

struct use_list {
    struct link_use *uses;
    uint32_t count;
};

static void use(struct use_list *list, uint32_t link, double bytes, double flows)
{
    list->uses[list->count++] = (struct link_use){ link, bytes, flows };
}

/* The servers from `from` on in the same leaf, or pod: their number. */
static uint32_t held(const uint32_t *servers, uint32_t count, uint32_t from, uint32_t per_part)
{
    uint32_t to = from + 1;
    while (to < count && servers[to] / per_part == servers[from] / per_part) to++;
    return to - from;
}

uint32_t fabric_net_outside(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                            double bytes, bool in, struct link_use *uses)
{
    const struct fabric_shape *shape = &net->shape;
    const uint32_t per_unit = shape->servers_per_leaf, per_pod = per_unit * shape->units_per_pod;
    const double flows = (double)shape->nics_per_server * net->queue_pairs;
    const struct fabric_job all_nics = { .bytes = bytes, .nics = shape->nics_per_server };
    struct use_list list = { .uses = uses };
    ASSERT(count >= 1);
    for (uint32_t i = 0; i < count; i++) use(&list, 2 * servers[i] + in, bytes, flows);
    for (uint32_t i = 0, n; shape->uplinks_per_leaf > 0 && i < count; i += n) {
        const uint32_t unit = servers[i] / per_unit;
        n = held(servers, count, i, per_unit);
        for (uint32_t c = 0; c < net->cables; c++)
            use(&list, net->first_unit + 2 * (unit * net->cables + c) + in, n * bytes / net->cables,
                n * flows / net->cables);
    }
    for (uint32_t i = 0, n; fabric_has_pods(net) && i < count; i += n) {
        n = held(servers, count, i, per_pod);
        use(&list, net->first_pod + 2 * (servers[i] / per_pod) + in, n * bytes, n * flows);
    }
    return fabric_spread(net, servers, count, &all_nics, uses, list.count);
}
