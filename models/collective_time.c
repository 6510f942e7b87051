/* collective_time.c - see collective_time.h. Each algorithm is one function that says latency, bytes over the
 * narrowest wire, and which wire that is. */
#include "models/collective_time.h"

#include "base/assert.h"
#include "models/collective.h"
#include "models/hardware.h"

#include <math.h>
#include <stddef.h>

/* One message of an all-to-all (2.7). */
static const double MESSAGE_S = 0.5e-6;
/* A ring over PCIe is planned a little above what a slot carries; NVLink is several times faster. */
static const double PCIE_MOST = 1.1;

/* Time of one way to do it: latency and the time of the bytes on the narrowest wire. */
struct cost {
    double latency_s, wire_s;
    enum collective_bottleneck wire;
    enum collective_protocol protocol;
};

/* A bandwidth and what sets it. */
struct wire {
    double bytes_per_s;
    enum collective_bottleneck cause;
};

/* The group as the forms see it: an NVLink domain over several servers is one. */
struct view {
    const struct collective_hardware *hardware;
    enum collective_op op;
    uint32_t servers, gpus, gpus_min, gpus_most; /* gpus_most: on the fullest server, at most */
    uint32_t reference;                          /* GPUs that the lines were measured on      */
    double factor, size_bytes;                   /* f, S                                      */
    struct wire network;                         /* W                                         */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}
static double larger(double a, double b)
{
    return a > b ? a : b;
}
static struct wire narrower(struct wire a, struct wire b)
{
    return b.bytes_per_s < a.bytes_per_s ? b : a;
}

/* ---- inside a server ---- */

/* B(g): what a ring through g GPUs carries. */
static struct wire ring_wire(const struct collective_hardware *hardware, uint32_t gpus)
{
    double rate = gpus <= LIMIT_GPUS_PER_SERVER ? hardware->ring_bytes_per_s[gpus] : 0.0;
    if (rate <= 0) rate = hardware->scaleup_bytes_per_s;
    const bool is_pcie = rate <= PCIE_MOST * hardware->gpu_pcie_bytes_per_s;
    return (struct wire){ rate, is_pcie ? BOTTLENECK_PCIE : BOTTLENECK_NVLINK };
}

/* The same for a group that may be uneven: the slower of its emptiest and fullest server. */
static struct wire inside_wire(const struct view *view)
{
    const struct wire most = ring_wire(view->hardware, view->gpus_most);
    return view->gpus_min > 1 ? narrower(most, ring_wire(view->hardware, view->gpus_min)) : most;
}

static bool is_measured(const struct collective_lines *lines)
{
    return lines->line[0].bytes_per_s > 0;
}

static uint32_t line_count(const struct collective_lines *lines)
{
    uint32_t count = 0;
    while (count < COLLECTIVE_LINES && lines->line[count].bytes_per_s > 0) count++;
    return count;
}

/* Start-up of a line on g GPUs of the G it was measured on: half of it is the launch, half the steps (assumed; of what
 * NCCL plans for LL, LL128 and Simple on eight GPUs the steps are 0.56, 0.66 and 0.85). */
static double line_latency(const struct view *view, double latency_s, uint32_t gpus)
{
    if (view->reference <= 1) return latency_s;
    return latency_s * (0.5 + 0.5 * (gpus - 1.0) / (view->reference - 1.0));
}

/* In-switch sums on g of G GPUs: each port carries S (1 + 1/g), so the bus bandwidth goes with (g - 1)/(g + 1) (2.6). */
static double nvls_share(uint32_t gpus, uint32_t reference)
{
    const double full = (reference - 1.0) / (reference + 1.0);
    return gpus >= reference ? 1.0 : (gpus - 1.0) / (gpus + 1.0) / full;
}

/* The lower envelope of the lines. `share` scales their bandwidths. */
static struct cost envelope(const struct view *view, const struct collective_lines *lines,
                            bool scales, struct wire wire, double share)
{
    struct cost best = { 0, INFINITY, wire.cause, PROTOCOL_SIMPLE };
    const uint32_t count = line_count(lines);
    for (uint32_t i = 0; i < count; i++) {
        const struct collective_line *line = &lines->line[i];
        const struct cost cost = { scales ? line_latency(view, line->latency_s, view->gpus)
                                          : line->latency_s,
                                   view->factor * view->size_bytes / (line->bytes_per_s * share),
                                   wire.cause,
                                   (enum collective_protocol)(PROTOCOL_SIMPLE + 1 - count + i) };
        if (cost.latency_s + cost.wire_s < best.latency_s + best.wire_s) best = cost;
    }
    return best;
}

/* Passes of a ring over its members. */
static double passes_of(enum collective_op op)
{
    return op == OP_ALL_REDUCE ? 2.0 : 1.0;
}

static const struct collective_lines *ring_lines(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    return view->op == OP_ALL_REDUCE ? &hardware->all_reduce : &hardware->all_gather;
}

static struct cost ring_inside(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct collective_lines *lines = ring_lines(view);
    const struct wire wire = inside_wire(view);
    if (is_measured(lines))
        return envelope(view, lines, true, wire, wire.bytes_per_s / hardware->scaleup_bytes_per_s);
    return (struct cost){ passes_of(view->op) * (view->gpus - 1.0) * hardware->scaleup_hop_s,
                          view->factor * view->size_bytes / wire.bytes_per_s, wire.cause,
                          PROTOCOL_SIMPLE };
}

static struct cost nvls_inside(const struct view *view)
{
    return envelope(view, &view->hardware->nvls, false, (struct wire){ 0, BOTTLENECK_NVLINK },
                    nvls_share(view->gpus, view->reference));
}

/* ---- between servers ---- */

/* W: all NICs that the job's GPUs of one server use, bounded by the leaf's uplinks (1.4, 1.5). */
static struct wire network_wire(const struct collective_hardware *hardware, uint32_t gpus_active,
                                bool spans_leaves)
{
    const struct nic_share share = {
        .gpus_active = gpus_active,
        .nics = hardware->nics,
        .nic_bytes_per_s = hardware->nic_bytes_per_s,
        .slot_bytes_per_s = hardware->gpu_pcie_bytes_per_s,
        .gpu_pcie_bytes_per_s = hardware->gpu_pcie_bytes_per_s,
        .gpudirect = hardware->gpudirect,
        .host_memory_bytes_per_s = hardware->host_memory_bytes_per_s,
    };
    const double each = gpu_net_bytes_per_s(&share);
    const double slot = smaller(hardware->nic_bytes_per_s, hardware->gpu_pcie_bytes_per_s);
    struct wire wire = { hardware->gpudirect ? gpus_active * each : each, BOTTLENECK_NIC };
    if (each < hardware->nics * slot / gpus_active)
        wire.cause =
            each < hardware->gpu_pcie_bytes_per_s ? BOTTLENECK_HOST_MEMORY : BOTTLENECK_PCIE;
    else if (hardware->gpu_pcie_bytes_per_s < hardware->nic_bytes_per_s)
        wire.cause = BOTTLENECK_PCIE;
    if (!spans_leaves) return wire;
    return narrower(wire, (struct wire){ hardware->uplinks_bytes_per_s, BOTTLENECK_LEAF });
}

static struct cost ring_between(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const double n = view->gpus, servers = view->servers;
    struct wire wire = view->network;
    if (view->gpus > view->servers) wire = narrower(wire, inside_wire(view));
    const double steps_s =
        (n - servers) * hardware->scaleup_hop_s + (servers - 1.0) * hardware->network_hop_s;
    return (struct cost){ passes_of(view->op) * steps_s,
                          view->factor * view->size_bytes / wire.bytes_per_s, wire.cause,
                          PROTOCOL_SIMPLE };
}

/* Start-up of the part of a tree that stays inside the servers: that of the fastest or the last line. */
static double inside_latency(const struct view *view, bool small)
{
    const struct collective_hardware *hardware = view->hardware;
    if (view->gpus_most == 1) return 0.0;
    const bool has_nvls = is_measured(&hardware->nvls);
    const struct collective_lines *lines = has_nvls ? &hardware->nvls : &hardware->all_reduce;
    if (!is_measured(lines)) return 2.0 * (view->gpus_most - 1.0) * hardware->scaleup_hop_s;
    const double latency_s = lines->line[small ? 0 : line_count(lines) - 1].latency_s;
    return has_nvls ? latency_s : line_latency(view, latency_s, view->gpus_most);
}

static double tree_levels(uint32_t servers)
{
    uint32_t depth = 0;
    while (((uint64_t)1 << depth) < servers) depth++;
    return depth;
}

static struct cost quicker(struct cost a, struct cost b)
{
    return b.latency_s + b.wire_s < a.latency_s + a.wire_s ? b : a;
}

/* Two whole servers where a tree was measured to beat the NICs: its line, scaled by the NICs in use. */
static struct cost tree_of_two(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct collective_line *line = &hardware->two_servers;
    const struct collective_lines *nvls = &hardware->nvls;
    const double all = hardware->nics * hardware->nic_bytes_per_s;
    struct wire wire = { line->bytes_per_s * smaller(1.0, view->network.bytes_per_s / all),
                         BOTTLENECK_NIC };
    const double inside = is_measured(nvls) ? nvls->line[line_count(nvls) - 1].bytes_per_s
                                            : hardware->scaleup_bytes_per_s;
    wire = narrower(wire, (struct wire){ inside, BOTTLENECK_NVLINK });
    return (struct cost){ line->latency_s, view->factor * view->size_bytes / wire.bytes_per_s,
                          wire.cause, PROTOCOL_SIMPLE };
}

static struct cost tree_between(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const double levels = 2.0 * tree_levels(view->servers);
    struct wire wire = view->network;
    if (view->gpus > view->servers) wire = narrower(wire, inside_wire(view));
    const double bus_bytes = view->factor * view->size_bytes;
    struct cost best = { inside_latency(view, false) + levels * hardware->tree_hop_s,
                         bus_bytes / wire.bytes_per_s, wire.cause, PROTOCOL_SIMPLE };
    const struct collective_line *small = &hardware->tree_small;
    if (small->bytes_per_s > 0)
        best =
            quicker(best, (struct cost){ inside_latency(view, true) + levels * small->latency_s,
                                         bus_bytes / smaller(small->bytes_per_s, wire.bytes_per_s),
                                         wire.cause, PROTOCOL_LL });
    if (view->servers == 2 && hardware->two_servers.bytes_per_s > 0 &&
        view->gpus_min == hardware->gpus)
        best = quicker(best, tree_of_two(view));
    return best;
}

static struct cost hierarchical_between(const struct view *view, enum inter_algorithm inter)
{
    const struct wire inside = inside_wire(view);
    const struct collective_place place = { .servers = view->servers,
                                            .gpus = view->gpus,
                                            .gpus_per_server = view->gpus_min,
                                            .intra_bytes_per_s = inside.bytes_per_s,
                                            .network_bytes_per_s = view->network.bytes_per_s,
                                            .intra_hop_s = view->hardware->scaleup_hop_s,
                                            .network_hop_s = view->hardware->network_hop_s,
                                            .chunks = COLLECTIVE_CHUNKS };
    const struct hierarchical_time time = hierarchical_allreduce(&place, view->size_bytes, inter);
    const double latency_s = hierarchical_allreduce(&place, 0.0, inter).total_s;
    return (struct cost){ latency_s, time.total_s - latency_s,
                          time.inter_s > time.intra_s ? view->network.cause : inside.cause,
                          PROTOCOL_SIMPLE };
}

static struct cost sharp_between(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct collective_lines *nvls = &hardware->nvls;
    struct wire inside = inside_wire(view);
    if (is_measured(nvls))
        inside.bytes_per_s = nvls->line[line_count(nvls) - 1].bytes_per_s *
                             nvls_share(view->gpus_most, view->reference);
    const double in_s =
        view->gpus > view->servers ? view->factor * view->size_bytes / inside.bytes_per_s : 0.0;
    const double out_s = view->size_bytes / view->network.bytes_per_s;
    const double hop_s = hardware->tree_hop_s > 0 ? hardware->tree_hop_s : hardware->network_hop_s;
    return (struct cost){ inside_latency(view, false) + 2.0 * hop_s, larger(in_s, out_s),
                          out_s > in_s ? view->network.cause : inside.cause, PROTOCOL_SIMPLE };
}

/* ---- messages between pairs ---- */

/* Share of a NIC that all-to-all reaches on N servers, large messages: SimAI's ata_ratio table as FIGURES 1.7 has it;
 * between the measured numbers straight in log2 N, constant beyond 16 (assumed). */
static double pairs_efficiency(uint32_t servers)
{
    static const double measured[] = { 1.0, 0.81, 0.95, 0.94, 0.90 }; /* 1, 2, 4, 8, 16 servers */
    enum { LAST = sizeof measured / sizeof *measured - 1 };
    uint32_t below = 0;
    while (below < LAST && ((uint32_t)2 << below) <= servers) below++;
    if (below == LAST) return measured[LAST];
    const double from = (uint32_t)1 << below;
    return measured[below] + (measured[below + 1] - measured[below]) * (servers - from) / from;
}

/* What one GPU gets of the network when it talks alone with others: its own NIC, never several. */
static struct wire pair_network(const struct view *view, uint32_t gpus_active)
{
    const struct collective_hardware *hardware = view->hardware;
    struct wire each = view->network;
    if (hardware->gpudirect && each.cause != BOTTLENECK_LEAF) each.bytes_per_s /= view->gpus_min;
    if (each.cause == BOTTLENECK_LEAF) each.bytes_per_s /= gpus_active;
    const double own = larger(1.0, (double)hardware->nics / hardware->gpus);
    return narrower(each, (struct wire){ own * hardware->nic_bytes_per_s, BOTTLENECK_NIC });
}

static struct cost all_to_all(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const double n = view->gpus, g = view->gpus_most;
    const struct wire inside = inside_wire(view);
    struct cost best = { 0, 0, inside.cause, PROTOCOL_SIMPLE };
    if (view->servers == 1 && is_measured(&hardware->all_to_all))
        return envelope(view, &hardware->all_to_all, true, inside,
                        inside.bytes_per_s / hardware->scaleup_bytes_per_s);
    if (view->gpus_most > 1)
        best = (struct cost){ hardware->scaleup_hop_s + (g - 1.0) * MESSAGE_S,
                              (g - 1.0) / n * view->size_bytes / inside.bytes_per_s, inside.cause,
                              PROTOCOL_SIMPLE };
    if (view->servers == 1) return best;
    const struct wire each = pair_network(view, view->gpus_min);
    const double others = n - view->gpus_min; /* a member of the emptiest server has most to send */
    const struct cost outside = { hardware->network_hop_s + others * MESSAGE_S,
                                  others / n * view->size_bytes /
                                      (each.bytes_per_s * pairs_efficiency(view->servers)),
                                  each.cause, PROTOCOL_SIMPLE };
    return outside.latency_s + outside.wire_s > best.latency_s + best.wire_s ? outside : best;
}

/* Every member sends to the next one: over a NIC where the ring leaves a server. */
static struct cost send_receive(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct wire inside = inside_wire(view);
    const struct wire wire = view->servers == 1 ? inside : pair_network(view, 1);
    const double hop_s = view->servers == 1 ? hardware->scaleup_hop_s : hardware->network_hop_s;
    return (struct cost){ hop_s, view->size_bytes / wire.bytes_per_s, wire.cause, PROTOCOL_SIMPLE };
}

/* ---- the choice ---- */

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
        return sums && even;
    case ALGORITHM_NVLS:
        return sums && !between && is_measured(&hardware->nvls);
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
        return tree_between(view);
    case ALGORITHM_HIER_RING:
        return hierarchical_between(view, INTER_RING);
    case ALGORITHM_HIER_TREE:
        return hierarchical_between(view, INTER_TREE);
    case ALGORITHM_NVLS:
        return nvls_inside(view);
    case ALGORITHM_SHARP:
        return sharp_between(view);
    case ALGORITHM_DIRECT:
        return view->op == OP_ALL_TO_ALL ? all_to_all(view) : send_receive(view);
    default:
        return view->servers > 1 ? ring_between(view) : ring_inside(view);
    }
}

static struct view view_of(const struct collective_hardware *hardware, enum collective_op op,
                           const struct collective_group *group, double size_bytes)
{
    ASSERT(group->servers >= 1 && group->gpus_min >= 1);
    ASSERT((uint64_t)group->servers * group->gpus_min <= group->gpus);
    ASSERT(size_bytes >= 0 && hardware->scaleup_bytes_per_s > 0);
    const uint32_t joined = hardware->domain_servers > 1 ? hardware->domain_servers : 1;
    struct view view = { .hardware = hardware,
                         .op = op,
                         .servers = (group->servers + joined - 1) / joined,
                         .gpus = group->gpus,
                         .gpus_min = group->gpus_min,
                         .reference = hardware->lines_gpus,
                         .factor = collective_bus_factor(op, group->gpus),
                         .size_bytes = size_bytes };
    if (joined > 1) view.gpus_min = view.gpus / view.servers;
    view.gpus_most = view.gpus - (view.servers - 1) * view.gpus_min;
    if (view.gpus_most > hardware->gpus * joined) view.gpus_most = hardware->gpus * joined;
    if (view.gpus_most < view.gpus_min) view.gpus_most = view.gpus_min;
    if (view.servers == 1) return view;
    view.network = network_wire(hardware, hardware->gpudirect ? group->gpus_min : view.gpus_most,
                                group->spans_leaves);
    if (joined > 1) view.network.bytes_per_s *= joined;
    if (joined > 1 && hardware->domain_bytes_per_s > 0)
        view.network =
            narrower(view.network, (struct wire){ hardware->domain_bytes_per_s, BOTTLENECK_NIC });
    return view;
}

bool collective_can(const struct collective_hardware *hardware, enum collective_op op,
                    const struct collective_group *group, enum collective_algorithm algorithm)
{
    const struct view view = view_of(hardware, op, group, 0.0);
    return can(&view, algorithm);
}

static struct collective_result fastest(const struct view *view, uint32_t allowed)
{
    const enum collective_algorithm plain =
        is_pairwise(view->op) ? ALGORITHM_DIRECT : ALGORITHM_RING;
    struct collective_result best = { INFINITY, 0, plain, PROTOCOL_SIMPLE, BOTTLENECK_LATENCY };
    bool any = false;
    for (int a = 0; a < COLLECTIVE_ALGORITHMS; a++)
        any = any || ((allowed >> a & 1) && can(view, (enum collective_algorithm)a));
    if (!any) allowed = ALLOW(plain);
    for (int a = 0; a < COLLECTIVE_ALGORITHMS; a++) {
        const enum collective_algorithm algorithm = (enum collective_algorithm)a;
        if (!(allowed >> a & 1) || !can(view, algorithm)) continue;
        const struct cost cost = cost_of(view, algorithm);
        const double total_s = cost.latency_s + cost.wire_s;
        if (total_s >= best.total_s) continue;
        best = (struct collective_result){ total_s, total_s, algorithm, cost.protocol,
                                           cost.latency_s >= cost.wire_s ? BOTTLENECK_LATENCY
                                                                         : cost.wire };
    }
    return best;
}

/* The same servers on a network without limits. */
static struct collective_hardware without_network(const struct collective_hardware *hardware)
{
    struct collective_hardware free = *hardware;
    free.nic_bytes_per_s = free.gpu_pcie_bytes_per_s = INFINITY;
    free.host_memory_bytes_per_s = free.uplinks_bytes_per_s = INFINITY;
    free.domain_bytes_per_s = 0;
    free.network_hop_s = free.tree_hop_s = 0;
    return free;
}

struct collective_result collective_time(const struct collective_hardware *hardware,
                                         enum collective_op op,
                                         const struct collective_group *group, double size_bytes,
                                         uint32_t allowed)
{
    const struct view view = view_of(hardware, op, group, size_bytes);
    if (group->gpus == 1)
        return (struct collective_result){ 0, 0,
                                           is_pairwise(op) ? ALGORITHM_DIRECT : ALGORITHM_RING,
                                           PROTOCOL_SIMPLE, BOTTLENECK_LATENCY };
    struct collective_result result = fastest(&view, allowed);
    if (view.servers == 1) return result;
    const struct collective_hardware free = without_network(hardware);
    const struct view inside = view_of(&free, op, group, size_bytes);
    result.intra_s = smaller(fastest(&inside, allowed).total_s, result.total_s);
    return result;
}
