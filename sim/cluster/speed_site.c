/* speed_site.c - see speed_site.h. */
#include "cluster/speed_site.h"

#include "cluster/collective_of.h"
#include "cluster/paths.h"
#include "cluster/vm.h"
#include "models/hardware.h"
#include "spec/nic_map.h"

#include <math.h>
#include <string.h>

/* Rails of the first GPUs. */
static void put_rails(struct site *site, const struct nic_map *map, uint32_t rails)
{
    struct nic_set set = { { 0 } };
    site->rails = rails;
    for (uint32_t gpu = 0; gpu < map->gpus; gpu++) {
        nic_map_add(map, 1u << gpu, &set);
        site->rail_nics[gpu + 1] = (uint16_t)nic_set_rail_most(map, &set, rails);
    }
}

static struct site site_of(const struct server_type *server, const struct nic_map *map,
                           const struct link_type *link, uint32_t rails)
{
    struct site site = { .gpus_per_server = server->gpus,
                         .links_per_server = map->nics,
                         .servers_per_domain = server->domain_servers ? server->domain_servers : 1,
                         .nic_bytes_per_s = link->bytes_per_s,
                         .nic_share_bytes_per_s = link->bytes_per_s,
                         .uplinks_bytes_per_s = INFINITY,
                         .pods_bytes_per_s = INFINITY,
                         .slices_bytes_per_s = path_slices_bytes_per_s(server),
                         .switch_s = link->switch_s,
                         .hardware = collective_of(server, map->nics, link) };
    put_rails(&site, map, rails);
    return site;
}

struct site site_recorded(const struct scenario *scenario)
{
    const struct server_type *server = &scenario->recorded_server;
    const struct fabric *fabric = &scenario->layouts[scenario->baseline].fabric;
    struct link_type link = fabric->link;
    link.bytes_per_s = server->nic_bytes_per_s;
    struct nic_map map;
    nic_map_init(&map, &server->tree, server->gpus, server->nics);
    struct site site = site_of(server, &map, &link, 1);
    site.sharp = fabric->sharp;
    const uint64_t servers = scenario->recorded_count ? scenario->recorded_count : 1;
    const uint32_t ports = fabric->link.switch_ports;
    const double written = fabric->oversubscription;
    const double most = ports - 1; /* where one switch holds the layout, more may be written */
    const struct two_tier tiers =
        two_tier(servers * server->nics, ports, written < most ? written : most);
    /* One switch holds as many as it has ports for: a job may be larger than the cluster that is told. */
    const uint64_t per_leaf = (tiers.leaves <= 1 ? ports : tiers.down) / server->nics;
    site.servers_per_leaf = per_leaf ? (uint32_t)per_leaf : 1;
    site.write_bytes_per_s = scenario->storage.write_bytes_per_s;
    return site;
}

/* Machines of one server that use the same NIC, at most. */
static uint32_t sharers_of(const struct nic_map *map, uint32_t parts)
{
    const uint32_t each = map->gpus / parts;
    uint32_t most = 1;
    for (uint32_t nic = 0; nic < map->nics; nic++) {
        uint32_t sharers = 0;
        for (uint32_t part = 0; part < parts; part++) {
            bool uses = false;
            for (uint32_t gpu = part * each; gpu < (part + 1) * each; gpu++)
                uses = uses || nic_set_has(&map->of_gpu[gpu], nic);
            sharers += uses;
        }
        if (sharers > most) most = sharers;
    }
    return most;
}

/* Rings of another bandwidth than was measured. */
static void set_inside(struct collective_hardware *hardware, double bytes_per_s)
{
    static const struct collective_lines not_measured;
    hardware->scaleup_bytes_per_s = bytes_per_s;
    hardware->all_reduce = hardware->all_gather = hardware->all_to_all = not_measured;
    hardware->nvls = not_measured;
    memset(hardware->ring_bytes_per_s, 0, sizeof hardware->ring_bytes_per_s);
}

/* Virtual machines: each node has a part of the server. What was measured on whole servers does not hold in parts of which
 * NVLinks are cut. */
static void share_server(struct site *site, const struct server_type *server,
                         const struct nic_map *map, const struct vm_rules *vm, uint32_t parts)
{
    struct collective_hardware *hardware = &site->hardware;
    site->compute_frac = vm->compute_overhead_frac;
    site->servers_per_leaf *= parts;
    site->servers_per_domain = vm->shared_nvlink ? site->servers_per_domain * parts : 1;
    site->nic_share_bytes_per_s = vm_nic_bytes_per_s(server, site->nic_bytes_per_s, parts);
    hardware->nic_bytes_per_s =
        vm_nic_bytes_per_s(server, site->nic_bytes_per_s, sharers_of(map, parts));
    hardware->gpus = server->gpus / parts;
    hardware->nics = hardware->nics_used[hardware->gpus];
    if (!hardware->gpudirect) {
        hardware->host_memory_bytes_per_s /= 1 + vm->staged_overhead_frac;
        hardware->staged_bytes_per_s /= 1 + vm->staged_overhead_frac;
    }
    if (vm->nvlink == VM_NVLINK_KEPT) return;
    set_inside(hardware, vm_scaleup_bytes_per_s(server, vm, parts));
}

struct site site_of_layout(const struct scenario *scenario, const struct variant *variant)
{
    const struct layout *layout = &scenario->layouts[variant->layout];
    const struct fabric *fabric = &layout->fabric;
    const struct fabric_shape *shape = &variant->fabric;
    struct nic_map map;
    nic_map_init(&map, &layout->server.tree, layout->server.gpus, fabric->nics_per_server);
    struct site site = site_of(&layout->server, &map, &fabric->link, shape->rails);
    site.servers_per_leaf = shape->servers_per_leaf;
    if (shape->kind == FABRIC_THREE_TIER) site.topology = TOPOLOGY_THREE_TIER;
    if (shape->kind == FABRIC_DRAGONFLY) site.topology = TOPOLOGY_DRAGONFLY_PLUS;
    site.sharp = fabric->sharp;
    site.write_bytes_per_s = variant->storage.write_bytes_per_s;
    if (shape->uplinks_per_leaf > 0)
        site.uplinks_bytes_per_s =
            (double)shape->rails * shape->uplinks_per_leaf * shape->trunk_bytes_per_s;
    if (shape->global_links > 0)
        site.pods_bytes_per_s = shape->global_links * shape->trunk_bytes_per_s;
    const struct vm_rules *vm = vm_of(scenario, variant);
    if (vm != NULL)
        share_server(&site, &layout->server, &map, vm, variant->nodes / variant->servers);
    return site;
}

uint32_t site_allowed(const struct site *site, enum allreduce_rule rule)
{
    const uint32_t sums = site->sharp ? ALLOW(ALGORITHM_SHARP) : 0;
    switch (rule) {
    case RULE_AUTO:
        return ALLOW_AUTO | sums;
    case RULE_BEST:
        return (ALLOW_ALL & ~ALLOW(ALGORITHM_SHARP)) | sums;
    case RULE_HIER_RING:
        return ALLOW(ALGORITHM_HIER_RING);
    case RULE_HIER_TREE:
        return ALLOW(ALGORITHM_HIER_TREE);
    case RULE_SHARP:
        return ALLOW(ALGORITHM_SHARP) | ALLOW(ALGORITHM_NVLS);
    default:
        return ALLOW(ALGORITHM_RING);
    }
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t site_islands(struct speed_place place)
{
    return place.domains > 0 ? smaller(place.domains, place.servers) : place.servers;
}

struct collective_group site_group(struct speed_place place, uint32_t gpus)
{
    const bool known = place.domains > 0 && place.domain_servers > 0;
    return (struct collective_group){ .servers = place.servers,
                                      .gpus = gpus,
                                      .gpus_min = place.gpus_min,
                                      .spans_leaves = place.spans_leaves || place.spans_pods,
                                      .domains = known ? place.domains : 0,
                                      .domain_servers = place.domain_servers,
                                      .domain_gpus = place.domain_gpus,
                                      .leaf_servers = place.leaf_servers,
                                      .pair_servers = place.pair_servers };
}

/* Steps over one switch become steps over all of the longest path that the job needs. Rings and trees stay on their rail. */
static void lengthen(struct collective_hardware *hardware, const struct site *site,
                     struct speed_place place)
{
    enum { NEXT_LEAF = 1, NEXT_POD = 2 };
    const uint32_t leaf = place.spans_pods ? NEXT_POD : NEXT_LEAF;
    const double more_s = (hop_count(site->topology, 0, leaf, NEXT_POD) - 1) * site->switch_s;
    hardware->network_hop_s += more_s;
    if (hardware->tree_hop_s > 0) hardware->tree_hop_s += more_s;
    hardware->tree_small.latency_s += more_s;
    hardware->two_servers.latency_s += 2 * more_s; /* up and down */
}

struct collective_hardware site_hardware(const struct site *site, struct speed_place place)
{
    struct collective_hardware hardware = site->hardware;
    const uint32_t others = site_islands(place) - 1;
    uint32_t joined = others + 1 == place.servers ? 1 : site->servers_per_domain;
    if (place.domain_servers > 0)
        joined = smaller(joined, place.servers - others * place.domain_servers);
    const uint32_t least =
        place.domain_servers > 0 ? place.domain_servers : place.servers - others * joined;
    const uint32_t leaves = least / smaller(least, site->servers_per_leaf);
    hardware.domain_servers = joined;
    if (place.slice_units > 0) set_inside(&hardware, site->slices_bytes_per_s);
    if (place.spans_leaves || place.spans_pods) lengthen(&hardware, site, place);
    const uint32_t gpus = smaller(place.gpus_min, hardware.gpus);
    if (place.nics > 0) hardware.nics_used[gpus] = place.nics;
    const double rail_nics = place.nics > 0 ? place.rail_nics : site->rail_nics[gpus];
    if (place.spans_leaves)
        hardware.uplinks_bytes_per_s = leaves * site->uplinks_bytes_per_s *
                                       (hardware.nics_used[gpus] / (rail_nics * site->rails));
    if (place.spans_pods && isfinite(site->pods_bytes_per_s))
        hardware.pair_bytes_per_s = site->pods_bytes_per_s;
    return hardware;
}

static uint32_t div_ceil(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

struct speed_place site_compact(const struct site *site, uint32_t gpus, uint32_t nodes)
{
    const uint32_t servers = nodes ? nodes : div_ceil(gpus, site->gpus_per_server);
    const uint32_t least = gpus / servers;
    const uint32_t joined = site->servers_per_domain;
    return (struct speed_place){ .servers = servers,
                                 .gpus_min = least ? least : 1,
                                 .domains = joined > 1 ? div_ceil(servers, joined) : 0,
                                 .spans_leaves = servers > site->servers_per_leaf };
}

void site_send(struct speed_operation *operation, const struct speed_place *place, uint32_t gpus,
               const struct traffic_part *parts, uint32_t count)
{
    operation->gpus = place->gpus ? place->gpus : gpus;
    operation->islands = site_islands(*place);
    for (uint32_t p = 0; p < count; p++) {
        operation->parts[p] = parts[p];
        operation->parts[p].bytes *= (double)operation->islands / place->servers;
        operation->bytes += operation->parts[p].bytes;
    }
    const uint64_t ranks = (uint64_t)parts[0].members * parts[0].stride;
    const bool ring = count == 1 && parts[0].pattern == TRAFFIC_RING && ranks == operation->gpus &&
                      (uint64_t)parts[0].stride * place->servers <= operation->gpus;
    operation->part_count = ring ? 0 : count;
}
