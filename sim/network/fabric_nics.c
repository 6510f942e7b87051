/* fabric_nics.c - see fabric_nics.h. */
#include "network/fabric_nics.h"

#include "base/assert.h"

#include <stddef.h>

struct nic_set fabric_nics(const struct fabric_net *net, const struct fabric_job *job, uint32_t i)
{
    struct nic_set set = { { 0 } };
    if (net->map && job->masks)
        nic_map_add(net->map, job->masks[i], &set);
    else
        for (uint32_t nic = 0; nic < job->nics; nic++)
            set.word[nic / 64] |= (uint64_t)1 << nic % 64;
    return set;
}

static uint32_t nics_of(const struct fabric_net *net, const struct nic_set *set)
{
    uint32_t count = 0;
    for (uint32_t nic = 0; nic < net->shape.nics_per_server; nic++) count += nic_set_has(set, nic);
    return count;
}

static uint32_t on_rail(const struct fabric_net *net, const struct nic_set *set, uint32_t rail)
{
    uint32_t count = 0;
    for (uint32_t nic = rail; nic < net->shape.nics_per_server; nic += net->shape.rails)
        count += nic_set_has(set, nic);
    return count;
}

struct rail_nics fabric_rail_nics(const struct fabric_net *net, const struct fabric_job *job)
{
    const struct nic_set set = fabric_nics(net, job, 0);
    struct rail_nics found = { 0 };
    for (uint32_t rail = 0; rail < net->shape.rails; rail++) {
        const uint32_t count = on_rail(net, &set, rail);
        if (count > found.most) {
            found.others = found.most;
            found.most = count;
            found.rails = 1;
        } else if (count == found.most) {
            found.rails++;
        } else if (count > found.others) {
            found.others = count;
        }
    }
    return found;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Rows of bundles and of links before those of units, and before those of pods. */
struct rows {
    uint32_t units, pods;
};

static struct rows rows_of_links(const struct fabric_net *net)
{
    const uint32_t units = net->first_unit * net->nic_links;
    return (struct rows){ units, units + (net->first_pod - net->first_unit) * net->rail_links };
}

uint32_t fabric_link_count(const struct fabric_net *net)
{
    return rows_of_links(net).pods + (net->bundles - net->first_pod);
}

struct fabric_part fabric_part_of(const struct fabric_net *net, uint32_t link)
{
    const struct rows rows = rows_of_links(net);
    if (link >= rows.pods) return (struct fabric_part){ link - rows.pods + net->first_pod, 0 };
    const bool is_server = link < rows.units;
    const uint32_t row = is_server ? link : link - rows.units;
    const uint32_t parts = is_server ? net->nic_links : net->rail_links, pair = row / 2;
    const uint32_t first = is_server ? 0 : net->first_unit;
    return (struct fabric_part){ first + 2 * (pair / parts) + row % 2, pair % parts };
}

static uint32_t link_of(const struct fabric_net *net, uint32_t bundle, uint32_t part)
{
    const struct rows rows = rows_of_links(net);
    if (bundle >= net->first_pod) return bundle - net->first_pod + rows.pods;
    const bool is_server = bundle < net->first_unit;
    const uint32_t row = is_server ? bundle : bundle - net->first_unit;
    const uint32_t parts = is_server ? net->nic_links : net->rail_links;
    return (is_server ? 0 : rows.units) + 2 * (row / 2 * parts + part) + row % 2;
}

uint32_t fabric_net_nic(const struct fabric_net *net, uint32_t server, uint32_t nic)
{
    return link_of(net, 2 * server, net->nic_links > 1 ? nic : 0);
}

uint32_t fabric_net_leaf_cables(const struct fabric_net *net)
{
    return net->routing == ROUTING_SAMPLED ? net->shape.uplinks_per_leaf : 1;
}

uint32_t fabric_net_leaf(const struct fabric_net *net, uint32_t leaf, uint32_t cable)
{
    const uint32_t unit = leaf / net->shape.rails, rail = leaf % net->shape.rails;
    ASSERT(net->shape.uplinks_per_leaf > 0 && leaf < net->shape.leaves);
    ASSERT(cable < fabric_net_leaf_cables(net));
    if (net->routing != ROUTING_SAMPLED)
        return link_of(net, net->first_unit + 2 * unit, net->rail_links > 1 ? rail : 0);
    const uint32_t row = unit * net->cables + rail * net->shape.uplinks_per_leaf + cable;
    return link_of(net, net->first_unit + 2 * row, 0);
}

/* ---- uses ------------------------------------------------------------------------------------ */

/* What a bundle's use becomes. */
struct spread {
    const struct fabric_net *net;
    const uint32_t *servers;
    uint32_t count;
    const struct fabric_job *job;
};

/* The first of the servers that is not below `server`. */
static uint32_t find(const struct spread *at, uint32_t server)
{
    uint32_t low = 0, high = at->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (at->servers[middle] < server)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Shares of the rails of a unit's bytes, into net->on_rail: the mean over its servers. Returns that of their NICs. */
static double rails_of_unit(const struct spread *at, uint32_t unit)
{
    const struct fabric_net *net = at->net;
    const uint32_t per_unit = net->shape.servers_per_leaf, first = find(at, unit * per_unit);
    uint32_t end = first;
    double mean = 0;
    for (uint32_t rail = 0; rail < net->shape.rails; rail++) net->on_rail[rail] = 0;
    while (end < at->count && at->servers[end] / per_unit == unit) end++;
    ASSERT(end > first);
    for (uint32_t i = first; i < end; i++) {
        const struct nic_set set = fabric_nics(net, at->job, i);
        const double nics = nics_of(net, &set);
        mean += nics / (end - first);
        for (uint32_t rail = 0; rail < net->shape.rails; rail++)
            net->on_rail[rail] += on_rail(net, &set, rail) / nics / (end - first);
    }
    return mean;
}

/* Links of a use, written into to[]; to NULL: counted only. */
static uint32_t spread_one(const struct spread *at, struct link_use use, struct link_use *to)
{
    const struct fabric_net *net = at->net;
    const double flows = use.flows / at->job->nics; /* of a NIC */
    uint32_t count = 0;
    if (use.link < net->first_unit && net->nic_links > 1) {
        const struct nic_set set = fabric_nics(net, at->job, find(at, use.link / 2));
        const double nics = nics_of(net, &set);
        for (uint32_t nic = 0; nic < net->nic_links; nic++) {
            if (!nic_set_has(&set, nic)) continue;
            if (to)
                to[count] =
                    (struct link_use){ link_of(net, use.link, nic), use.bytes / nics, flows };
            count++;
        }
        return count;
    }
    if (use.link >= net->first_unit && use.link < net->first_pod && net->rail_links > 1) {
        const double nics = rails_of_unit(at, (use.link - net->first_unit) / 2);
        for (uint32_t rail = 0; rail < net->rail_links; rail++) {
            const double share = net->on_rail[rail];
            if (!(share > 0)) continue;
            if (to)
                to[count] = (struct link_use){ link_of(net, use.link, rail), use.bytes * share,
                                               flows * nics * share };
            count++;
        }
        return count;
    }
    if (to) *to = (struct link_use){ link_of(net, use.link, 0), use.bytes, use.flows };
    return 1;
}

uint32_t fabric_spread(const struct fabric_net *net, const uint32_t *servers, uint32_t count,
                       const struct fabric_job *job, struct link_use *uses, uint32_t used)
{
    const struct spread at = { net, servers, count, job };
    if (net->nic_links == 1 && net->rail_links == 1) return used;
    uint32_t total = 0;
    for (uint32_t i = 0; i < used; i++) total += spread_one(&at, uses[i], NULL);
    /* From the back: a use becomes one at least, so that none is written over before it is read. */
    for (uint32_t i = used, end = total; i-- > 0;) {
        const struct link_use use = uses[i];
        end -= spread_one(&at, use, NULL);
        spread_one(&at, use, uses + end);
    }
    return total;
}
