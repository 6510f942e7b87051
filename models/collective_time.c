/* collective_time.c - the choice among the algorithms; see collective_time.h. */
#include "models/collective_time.h"

#include "base/assert.h"
#include "models/collective_view.h"

#include <math.h>
#include <stddef.h>

static bool is_pairwise(enum collective_op op)
{
    return op == OP_ALL_TO_ALL || op == OP_SEND_RECV;
}
static bool can(const struct view *view, enum collective_algorithm algorithm)
{
    const struct collective_hardware *hardware = view->hardware;
    const bool sums = view->op == OP_ALL_REDUCE, between = view->servers > 1;
    const bool even = view->servers * view->gpus_min == view->gpus;
    switch (algorithm) {
    case ALGORITHM_RING:
        return !is_pairwise(view->op);
    case ALGORITHM_DIRECT:
        return is_pairwise(view->op);
    case ALGORITHM_TREE:
        return sums && between && hardware->tree_hop_s > 0;
    case ALGORITHM_HIER_RING:
    case ALGORITHM_HIER_TREE:
        return sums && between && even;
    case ALGORITHM_NVLS:
        return sums && !between && lines_measured(&hardware->nvls);
    case ALGORITHM_SHARP:
        return sums && between && hardware->sharp;
    default:
        return false;
    }
}

static struct cost cost_of(const struct view *view, enum collective_algorithm algorithm)
{
    switch (algorithm) {
    case ALGORITHM_TREE:
        return cost_tree_between(view);
    case ALGORITHM_HIER_RING:
        return cost_hierarchical(view, INTER_RING);
    case ALGORITHM_HIER_TREE:
        return cost_hierarchical(view, INTER_TREE);
    case ALGORITHM_NVLS:
        return cost_nvls_inside(view);
    case ALGORITHM_SHARP:
        return cost_sharp(view);
    case ALGORITHM_DIRECT:
        return view->op == OP_ALL_TO_ALL ? cost_all_to_all(view) : cost_send_receive(view);
    default:
        return view->servers > 1 ? cost_ring_between(view) : cost_ring_inside(view);
    }
}

/* The NVLink domain that holds fewest of the servers: it limits what crosses between domains. */
struct emptiest {
    uint32_t domains, servers, gpus;
};

static struct emptiest emptiest_domain(const struct collective_hardware *hardware,
                                       const struct collective_group *group)
{
    const uint32_t joined = hardware->domain_servers > 1 ? hardware->domain_servers : 1;
    if (joined == 1) return (struct emptiest){ group->servers, 1, group->gpus_min };
    if (group->domains > 0)
        return (struct emptiest){ group->domains, group->domain_servers, group->domain_gpus };
    const uint32_t domains = (group->servers + joined - 1) / joined;
    const uint64_t full = (uint64_t)(domains - 1) * joined;
    const uint32_t servers = group->servers - (uint32_t)full, least = servers * group->gpus_min;
    const uint64_t others = full * hardware->gpus;
    return (struct emptiest){ domains, servers,
                              group->gpus > others + least ? group->gpus - (uint32_t)others
                                                           : least };
}

/* GPUs of the fullest part, at most, when the emptiest has `least`. */
static uint32_t fullest(const struct view *view, uint32_t parts, uint32_t least, uint32_t room)
{
    uint32_t most = view->gpus - (parts - 1) * least;
    if (most > room) most = room;
    return most < least ? least : most;
}

/* What the cables above its leaves leave the group. */
static struct wire uplinks_of(const struct collective_hardware *hardware,
                              const struct collective_group *group)
{
    double bytes_per_s = INFINITY;
    if (group->spans_leaves) {
        const double leaf = group->leaf_load > 0 ? group->leaf_load : 1;
        const double pair = group->pair_load > 0 ? group->pair_load : 1;
        bytes_per_s = hardware->uplinks_bytes_per_s / leaf;
        if (hardware->pair_bytes_per_s > 0)
            bytes_per_s = smaller(bytes_per_s, hardware->pair_bytes_per_s / pair);
    }
    return (struct wire){ bytes_per_s, BOTTLENECK_LEAF };
}

static struct view view_of(const struct collective_hardware *hardware, enum collective_op op,
                           const struct collective_group *group, double size_bytes)
{
    ASSERT(group->servers >= 1 && group->gpus_min >= 1);
    ASSERT((uint64_t)group->servers * group->gpus_min <= group->gpus);
    ASSERT(size_bytes >= 0 && hardware->scaleup_bytes_per_s > 0);
    const uint32_t joined = hardware->domain_servers > 1 ? hardware->domain_servers : 1;
    const struct emptiest emptiest = emptiest_domain(hardware, group);
    struct view view = { .hardware = hardware,
                         .op = op,
                         .servers = emptiest.domains,
                         .gpus = group->gpus,
                         .gpus_min = emptiest.gpus,
                         .reference = hardware->lines_gpus,
                         .factor = collective_bus_factor(op, group->gpus),
                         .size_bytes = size_bytes };
    ASSERT((uint64_t)view.servers * view.gpus_min <= view.gpus);
    view.gpus_most = fullest(&view, view.servers, view.gpus_min, hardware->gpus * joined);
    if (view.servers == 1) return view;
    if (view_is_staged(hardware))
        view.network = view_staged(&view, group->servers);
    else
        view.network =
            view_network(hardware, hardware->gpudirect ? group->gpus_min
                                                       : fullest(&view, group->servers,
                                                                 group->gpus_min, hardware->gpus));
    if (hardware->gpudirect) view.network.bytes_per_s *= emptiest.servers;
    if (joined > 1 && hardware->domain_bytes_per_s > 0 && !is_pairwise(op))
        view.network = narrower(view.network,
                                (struct wire){ hardware->domain_bytes_per_s, BOTTLENECK_DOMAIN });
    view.nics = view.network;
    view.uplinks = uplinks_of(hardware, group);
    view.network = narrower(view.nics, view.uplinks);
    return view;
}

bool collective_can(const struct collective_hardware *hardware, enum collective_op op,
                    const struct collective_group *group, enum collective_algorithm algorithm)
{
    const struct view view = view_of(hardware, op, group, 0.0);
    return can(&view, algorithm);
}

/* Bytes that leave a server (2.11). */
static double network_bytes(const struct view *view, enum collective_algorithm algorithm)
{
    const double servers = view->servers, size = view->size_bytes;
    if (view->servers == 1) return 0.0;
    switch (algorithm) {
    case ALGORITHM_HIER_RING:
        return 2.0 * (servers - 1.0) / servers * size;
    case ALGORITHM_HIER_TREE:
        return tree_coefficient(view->servers) * size;
    case ALGORITHM_TREE:
        return smaller(tree_coefficient(view->servers), view->factor) * size;
    case ALGORITHM_SHARP:
        return size;
    case ALGORITHM_DIRECT:
        return view->op == OP_SEND_RECV
                   ? size
                   : (double)view->gpus_min * (view->gpus - view->gpus_min) / view->gpus * size;
    default:
        return view->factor * size;
    }
}

/* Of the allowed algorithms those that the hardware has; else the plain one. */
static uint32_t able(const struct view *view, uint32_t allowed)
{
    uint32_t able = 0;
    for (int a = 0; a < COLLECTIVE_ALGORITHMS; a++)
        if ((allowed & ALLOW(a)) && can(view, (enum collective_algorithm)a)) able |= ALLOW(a);
    if (able) return able;
    return is_pairwise(view->op) ? ALLOW(ALGORITHM_DIRECT) : ALLOW(ALGORITHM_RING);
}

static struct collective_result fastest(const struct view *view, uint32_t able)
{
    struct collective_result best = { .total_s = INFINITY };
    for (int a = 0; a < COLLECTIVE_ALGORITHMS; a++) {
        const enum collective_algorithm algorithm = (enum collective_algorithm)a;
        if (!(able & ALLOW(a))) continue;
        const struct cost cost = cost_of(view, algorithm);
        const double total_s = cost.latency_s + cost.wire_s;
        if (total_s >= best.total_s) continue;
        best = (struct collective_result){
            .total_s = total_s,
            .intra_s = total_s,
            .network_bytes = network_bytes(view, algorithm),
            .wire_s = cost.wire_s,
            .algorithm = algorithm,
            .protocol = cost.protocol,
            .bottleneck = cost.latency_s >= cost.wire_s ? BOTTLENECK_LATENCY : cost.wire,
        };
    }
    return best;
}

/* The same servers on a network without limits. */
static struct collective_hardware without_network(const struct collective_hardware *hardware)
{
    struct collective_hardware free = *hardware;
    free.nic_bytes_per_s = free.gpu_pcie_bytes_per_s = INFINITY;
    free.host_memory_bytes_per_s = free.uplinks_bytes_per_s = INFINITY;
    free.domain_bytes_per_s = free.staged_bytes_per_s = free.pair_bytes_per_s = 0;
    free.network_hop_s = free.tree_hop_s = free.tree_small.latency_s = 0;
    return free;
}

struct collective_result collective_time(const struct collective_hardware *hardware,
                                         enum collective_op op,
                                         const struct collective_group *group, double size_bytes,
                                         uint32_t allowed)
{
    const struct view view = view_of(hardware, op, group, size_bytes);
    if (group->gpus == 1)
        return (struct collective_result){ .algorithm =
                                               is_pairwise(op) ? ALGORITHM_DIRECT : ALGORITHM_RING,
                                           .protocol = PROTOCOL_SIMPLE };
    const uint32_t here = able(&view, allowed); /* a tree stays one without its hops */
    struct collective_result result = fastest(&view, here);
    if (view.servers == 1) return result;
    const struct collective_hardware free = without_network(hardware);
    const struct view inside = view_of(&free, op, group, size_bytes);
    result.intra_s = smaller(fastest(&inside, here).total_s, result.total_s);
    return result;
}
