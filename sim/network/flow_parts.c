/* flow_parts.c - the connected parts of the net that a change could reach. */
#include "network/flow_net.h"

#include "network/flow_net_parts.h"

/* Links are found once: their mark is this walk's number; net->dirty is the stack of those whose flows are still to be
 * looked at. */
struct walk {
    struct flow_net *net;
    uint32_t depth;
};

static void find_link(struct walk *walk, uint32_t link)
{
    struct net_link *found = &walk->net->links[link];
    if (found->mark == walk->net->walks) return;
    found->mark = walk->net->walks;
    walk->net->walk[walk->depth++] = link;
}

uint32_t flow_net_reached(struct flow_net *net, const uint32_t **flows)
{
    struct walk walk = { net, 0 };
    net->walks++;
    for (uint32_t i = 0; i < net->root_count; i++) find_link(&walk, net->roots[i]);
    while (walk.depth > 0) {
        const struct net_link *link = &net->links[net->walk[--walk.depth]];
        for (uint32_t m = 0; m < link->count; m++) {
            const struct net_flow *flow = &net->flows[link->flows[m]];
            row_set_add(&net->reached, link->flows[m]);
            for (uint32_t use = flow->first; use < flow->first + flow->tight; use++)
                if (!(net->state[net->uses[use].link] & LINK_SPARE))
                    find_link(&walk, net->uses[use].link);
        }
    }
    *flows = net->list;
    return row_set_take(&net->reached, net->list);
}
