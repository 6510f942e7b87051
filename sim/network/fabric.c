/* fabric.c - see fabric.h. */
#include "network/fabric.h"

#include "base/assert.h"
#include "base/philox.h"
#include "models/contention.h"
#include "network/fabric_nics.h"
#include "network/fabric_parts.h"

#include <stdio.h>
#include <stdlib.h>

static const double ADAPTIVE_FRAC = 0.95; /* MODELS 4.5: line rate with dynamic balancing */

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

static double uplink_frac(const struct fabric_net *net)
{
    const struct fabric_shape *shape = &net->shape;
    const uint64_t ports =
        (uint64_t)shape->servers_per_leaf * shape->nics_per_server / shape->rails;
    const uint64_t flows = ports * net->queue_pairs;
    if (shape->uplinks_per_leaf == 0 || net->routing == ROUTING_EVEN) return 1;
    if (net->routing == ROUTING_ADAPTIVE) return ADAPTIVE_FRAC;
    if (net->routing == ROUTING_SAMPLED) return 1;
    const uint32_t counted = flows < ECMP_FLOWS_MAX ? (uint32_t)flows : ECMP_FLOWS_MAX;
    return ecmp_efficiency(counted, shape->uplinks_per_leaf);
}

bool fabric_net_init(struct fabric_net *net, const struct fabric_shape *shape,
                     const struct fabric *fabric, double server_bytes_per_s)
{
    return fabric_net_init_nics(net, shape, fabric, server_bytes_per_s, NULL, false);
}

bool fabric_net_init_nics(struct fabric_net *net, const struct fabric_shape *shape,
                          const struct fabric *fabric, double server_bytes_per_s,
                          const struct nic_map *map, bool by_nic)
{
    *net = (struct fabric_net){ .shape = *shape,
                                .server_bytes_per_s = server_bytes_per_s,
                                .map = map,
                                .nic_links = by_nic ? shape->nics_per_server : 1,
                                .routing = fabric->routing,
                                .queue_pairs = fabric->queue_pairs ? fabric->queue_pairs : 1 };
    const bool one_by_one = net->routing == ROUTING_SAMPLED && shape->uplinks_per_leaf > 0;
    net->cables = one_by_one ? shape->rails * shape->uplinks_per_leaf : 1;
    net->rail_links = one_by_one || shape->uplinks_per_leaf == 0 ? 1 : shape->rails;
    net->first_unit = 2 * shape->servers;
    net->first_pod =
        net->first_unit + (shape->uplinks_per_leaf > 0 ? 2 * shape->units * net->cables : 0);
    net->first_group = net->first_pod + (fabric_has_pods(net) ? 2 * shape->pods : 0);
    net->bundles = net->first_group + (fabric_has_groups(net) ? shape->pods * shape->pods : 0);
    net->links = fabric_link_count(net);
    net->on_rail = calloc(shape->rails, sizeof *net->on_rail);
    net->on_cable = calloc(net->cables, sizeof *net->on_cable);
    net->fullest.cables = shape->uplinks_per_leaf;
    if (one_by_one) net->loads = calloc(2 * (size_t)shape->units * net->cables, sizeof *net->loads);
    if (!net->on_rail || !net->on_cable) return false;
    if (one_by_one && !net->loads) return false;
    net->uplink_frac = uplink_frac(net);
    return true;
}

void fabric_net_clear(struct fabric_net *net)
{
    free(net->on_cable);
    free(net->loads);
    free(net->on_rail);
    fullest_clear(&net->fullest);
    *net = (struct fabric_net){ 0 };
}

double fabric_net_capacity(const struct fabric_net *net, uint32_t link)
{
    const struct fabric_shape *shape = &net->shape;
    const double trunk = shape->trunk_bytes_per_s;
    ASSERT(link < net->links);
    const uint32_t bundle = fabric_part_of(net, link).bundle;
    if (bundle < net->first_unit) return net->server_bytes_per_s / net->nic_links;
    if (bundle < net->first_pod)
        return net->uplink_frac * shape->rails * shape->uplinks_per_leaf / net->rail_links /
               net->cables * trunk;
    if (bundle < net->first_group)
        return (double)shape->spines / shape->pods * shape->uplinks_per_spine * trunk;
    return shape->global_links * trunk;
}

/* Units that hold some of these servers. */
static uint32_t units_of(const struct fabric_net *net, const uint32_t *servers, uint32_t count)
{
    const uint32_t per_unit = net->shape.servers_per_leaf;
    uint32_t units = 1;
    for (uint32_t i = 1; i < count; i++)
        units += servers[i] / per_unit != servers[i - 1] / per_unit;
    return units;
}

bool fabric_net_routed_s(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                         const struct fabric_job *job, double wire_s, double *routed_s)
{
    const struct fabric_shape *shape = &net->shape;
    *routed_s = 0;
    if (shape->uplinks_per_leaf == 0 || count < 2) return true;
    if (job->part_count > 0) return fabric_traffic_routed_s(net, servers, count, job, routed_s);
    if (net->routing != ROUTING_EXPECTED) return true;
    const uint32_t units = units_of(net, servers, count);
    if (units < 2) return true;
    const struct rail_nics nics = fabric_rail_nics(net, job);
    const struct fullest_leaves kinds[2] = { { units * (shape->rails - nics.rails),
                                               nics.others * net->queue_pairs },
                                             { units * nics.rails, nics.most * net->queue_pairs } };
    const double flow_s =
        job->bytes / ((double)job->nics * net->queue_pairs) / shape->trunk_bytes_per_s;
    double fullest;
    if (!fullest_mean(&net->fullest, kinds, 2, wire_s / flow_s, &fullest)) return false;
    *routed_s = fullest * flow_s;
    return true;
}

uint32_t fabric_net_most_uses(const struct fabric_net *net, uint32_t servers)
{
    const uint32_t units = at_most(servers, net->shape.units);
    const uint32_t pods = at_most(servers, net->shape.pods);
    return 2 * (servers * net->nic_links + units * net->rail_links * net->cables + pods) +
           (fabric_has_groups(net) ? pods * pods : 0);
}

struct use_list {
    struct link_use *uses;
    uint32_t count;
    double bytes, flows;
};

static void use(struct use_list *list, uint32_t link)
{
    list->uses[list->count++] =
        (struct link_use){ .link = link, .bytes = list->bytes, .flows = list->flows };
}

static void use_both(struct use_list *list, uint32_t link)
{
    use(list, link);
    use(list, link + 1);
}

/* How often `bytes` leave servers first .. end - 1 of a ring. */
static double crossings_of(const struct fabric_job *job, uint32_t first, uint32_t end)
{
    double all = 0;
    if (!job->crossings) return 1;
    for (uint32_t i = first; i < end; i++) all += job->crossings[i];
    return all < job->island_servers ? all : job->island_servers;
}

static struct use_list times(const struct use_list *list, double crossings)
{
    struct use_list more = *list;
    more.bytes *= crossings;
    more.flows *= crossings;
    return more;
}

/* From each group to the next one of the ring, and from the last to the first. */
static void use_groups(const struct fabric_net *net, const uint32_t *servers, uint32_t count,
                       const struct fabric_job *job, struct use_list *list)
{
    const uint32_t per_group = net->shape.servers_per_leaf * net->shape.units_per_pod;
    const uint32_t groups = net->shape.pods, first = servers[0] / per_group;
    uint32_t last = first, from = 0;
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t group = i < count ? servers[i] / per_group : first;
        if (group == last) continue;
        struct use_list more = times(list, crossings_of(job, from, i));
        use(&more, net->first_group + last * groups + group);
        list->count = more.count;
        last = group;
        from = i;
    }
}

/* From one unit to the next: each flow takes one of the cables that its NIC reaches. */
static void cross(struct fabric_net *net, const struct fabric_job *job, const struct nic_set *nics,
                  uint32_t from, uint32_t to, double crossings, struct use_list *list)
{
    const uint32_t uplinks = net->shape.uplinks_per_leaf;
    const uint32_t flows = job->nics * net->queue_pairs;
    const double flow_bytes = crossings * job->bytes / flows;
    for (uint32_t f = 0, nic = 0; f < flows; f++) {
        while (!nic_set_has(nics, nic)) nic++;
        const uint32_t rail = nic % net->shape.rails;
        nic += (f + 1) % net->queue_pairs == 0;
        const uint64_t draw_no = (job->epoch << 40) + ((uint64_t)from << 16) + f;
        const uint32_t cable = (uint32_t)(stream_uniform(job->key, job->serial, draw_no) * uplinks);
        net->on_cable[rail * uplinks + at_most(cable, uplinks - 1)]++;
    }
    for (uint32_t c = 0; c < net->cables; c++) {
        list->bytes = net->on_cable[c] * flow_bytes;
        list->flows = net->on_cable[c];
        if (net->on_cable[c] == 0) continue;
        use(list, net->first_unit + 2 * (from * net->cables + c));
        use(list, net->first_unit + 2 * (to * net->cables + c) + 1);
        net->on_cable[c] = 0;
    }
}

/* The ring over the units of a job, by cable. */
static void use_cables(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                       const struct fabric_job *job, struct use_list *list)
{
    const uint32_t per_unit = net->shape.servers_per_leaf, first = servers[0] / per_unit;
    uint32_t last = first, from = 0;
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t unit = i < count ? servers[i] / per_unit : first;
        if (unit == last) continue;
        const struct nic_set nics = fabric_nics(net, job, i - 1); /* of the last one of its unit */
        cross(net, job, &nics, last, unit, crossings_of(job, from, i), list);
        last = unit;
        from = i;
    }
}

/* The leaf, or pod, of `per` servers whose first one in the job is server i: when it holds not all it is left and entered. */
static void use_shared(const uint32_t *servers, uint32_t count, const struct fabric_job *job,
                       uint32_t i, uint32_t per, uint32_t first_link, struct use_list *list)
{
    const uint32_t part = servers[i] / per;
    uint32_t end = i;
    if (i > 0 && servers[i - 1] / per == part) return;
    while (end < count && servers[end] / per == part) end++;
    if (end - i == count) return;
    struct use_list more = times(list, crossings_of(job, i, end));
    use_both(&more, first_link + 2 * part);
    list->count = more.count;
}

uint32_t fabric_net_uses(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                         const struct fabric_job *job, struct link_use *uses)
{
    const struct fabric_shape *shape = &net->shape;
    struct use_list list = { .uses = uses,
                             .bytes = job->bytes,
                             .flows = (double)job->nics * net->queue_pairs };
    const bool one_by_one = fabric_one_by_one(net);
    if (count < 2 && (!job->crossings || job->crossings[0] <= 1)) return 0;
    if (job->part_count > 0 && count > 1)
        return fabric_spread(net, servers, count, job, uses,
                             fabric_traffic_uses(net, servers, count, job, uses));
    const uint32_t per_unit = shape->servers_per_leaf, per_pod = per_unit * shape->units_per_pod;
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(servers[i] < shape->servers && (i == 0 || servers[i] > servers[i - 1]));
        struct use_list more = times(&list, job->crossings ? job->crossings[i] : 1);
        use_both(&more, 2 * servers[i]);
        list.count = more.count;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (shape->uplinks_per_leaf > 0 && !one_by_one)
            use_shared(servers, count, job, i, per_unit, net->first_unit, &list);
        if (fabric_has_pods(net))
            use_shared(servers, count, job, i, per_pod, net->first_pod, &list);
    }
    if (fabric_has_groups(net)) use_groups(net, servers, count, job, &list);
    if (one_by_one) use_cables(net, servers, count, job, &list);
    return fabric_spread(net, servers, count, job, uses, list.count);
}

void fabric_net_name(const struct fabric_net *net, uint32_t link, char text[LINK_NAME_BYTES])
{
    static const char *const way[] = { "out", "in" };
    const struct {
        const char *what;
        uint32_t first;
    } kinds[] = { { "pod", net->first_pod }, { "leaf", net->first_unit }, { "server", 0 } };
    ASSERT(link < net->links);
    const struct fabric_part at = fabric_part_of(net, link);
    if (at.bundle >= net->first_group) {
        const uint32_t pair = at.bundle - net->first_group;
        snprintf(text, LINK_NAME_BYTES, "group %u to %u", pair / net->shape.pods,
                 pair % net->shape.pods);
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (at.bundle < kinds[i].first) continue;
        const uint32_t row = at.bundle - kinds[i].first;
        if (i == 1 && net->cables > 1) {
            snprintf(text, LINK_NAME_BYTES, "leaf %u cable %u %s", row / 2 / net->cables,
                     row / 2 % net->cables, way[row % 2]);
            return;
        }
        if (i == 2 && net->nic_links > 1)
            snprintf(text, LINK_NAME_BYTES, "server %u NIC %u %s", row / 2, at.part, way[row % 2]);
        else
            snprintf(text, LINK_NAME_BYTES, "%s %u %s", kinds[i].what,
                     i == 1 ? row / 2 * net->rail_links + at.part : row / 2, way[row % 2]);
        return;
    }
}
