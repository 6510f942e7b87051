/* collective_between.c - collectives between servers: ring, tree, hierarchical, sums in the fabric; see
 * collective_time.h. */
#include "models/collective_view.h"

#include "models/hardware.h"
#include "models/staging.h"

/* u(g). */
uint32_t view_nics(const struct collective_hardware *hardware, uint32_t gpus)
{
    const uint32_t known = gpus < hardware->gpus ? gpus : hardware->gpus;
    const uint32_t used = hardware->nics_used[known];
    return used > 0 ? used : hardware->nics;
}

/* W: all NICs that the job's GPUs of one server use (1.4). */
struct wire view_network(const struct collective_hardware *hardware, uint32_t gpus_active)
{
    const uint32_t nics = view_nics(hardware, gpus_active);
    const struct nic_share share = {
        .gpus_active = gpus_active,
        .nics = nics,
        .nic_bytes_per_s = hardware->nic_bytes_per_s,
        .slot_bytes_per_s = hardware->gpu_pcie_bytes_per_s,
        .gpu_pcie_bytes_per_s = hardware->gpu_pcie_bytes_per_s,
        .gpudirect = hardware->gpudirect,
        .host_memory_bytes_per_s = hardware->host_memory_bytes_per_s,
    };
    const double each = gpu_net_bytes_per_s(&share);
    const double slot = smaller(hardware->nic_bytes_per_s, hardware->gpu_pcie_bytes_per_s);
    struct wire wire = { hardware->gpudirect ? gpus_active * each : each, BOTTLENECK_NIC };
    if (each < nics * slot / gpus_active)
        wire.cause =
            each < hardware->gpu_pcie_bytes_per_s ? BOTTLENECK_HOST_MEMORY : BOTTLENECK_PCIE;
    else if (hardware->gpu_pcie_bytes_per_s < hardware->nic_bytes_per_s)
        wire.cause = BOTTLENECK_PCIE;
    return wire;
}

bool view_is_staged(const struct collective_hardware *hardware)
{
    return !hardware->gpudirect && hardware->staged_bytes_per_s > 0;
}

/* W where it was measured what a GPU alone gets. */
struct wire view_staged(const struct view *view, uint32_t servers)
{
    const struct wire alone = { view->hardware->staged_bytes_per_s, BOTTLENECK_HOST_MEMORY };
    struct wire wire = narrower(view_network(view->hardware, 1), alone);
    wire.bytes_per_s *= staged_share(servers, view->gpus);
    return wire;
}

struct cost cost_ring_between(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const double n = view->gpus, servers = view->servers;
    struct wire wire = view->network;
    if (view->gpus > view->servers) wire = narrower(wire, view_inside(view));
    const double steps_s =
        (n - servers) * hardware->scaleup_hop_s + (servers - 1.0) * hardware->network_hop_s;
    const struct cost ring = { view_passes(view->op) * steps_s,
                               view->factor * view->size_bytes / wire.bytes_per_s, wire.cause,
                               PROTOCOL_SIMPLE };
    if (view->gpus_most < 2 || view->op == OP_ALL_REDUCE) return ring;
    /* Not faster than its members in one server are by themselves, as measured (assumed: nobody published such rows). */
    struct view alone = *view;
    alone.servers = 1;
    alone.gpus = view->gpus_most;
    alone.factor = collective_bus_factor(view->op, alone.gpus);
    const struct cost inside = cost_ring_inside(&alone);
    return inside.latency_s + inside.wire_s > ring.latency_s + ring.wire_s ? inside : ring;
}

/* Start-up of the part of a tree that stays inside the servers: that of the fastest or the last line. */
static double inside_latency(const struct view *view, bool small)
{
    const struct collective_hardware *hardware = view->hardware;
    if (view->gpus_most == 1) return 0.0;
    const bool has_nvls = lines_measured(&hardware->nvls);
    const struct collective_lines *lines = has_nvls ? &hardware->nvls : &hardware->all_reduce;
    if (!lines_measured(lines)) return 2.0 * (view->gpus_most - 1.0) * hardware->scaleup_hop_s;
    const double latency_s = lines->line[small ? 0 : lines_count(lines) - 1].latency_s;
    return has_nvls ? latency_s : view_latency(view, latency_s, view->gpus_most);
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

/* Two whole servers where a tree was measured to beat a ring: its line, or what the NICs carry of the S bytes that leave
 * a server. Two p4de reach 80 GB/s, their NICs 1.875 x 42.4; two H100 servers the 478 that their NVSwitch sums. */
static struct cost tree_of_two(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct collective_line *line = &hardware->two_servers;
    const struct collective_lines *nvls = &hardware->nvls;
    struct wire wire = view->network;
    wire.bytes_per_s *= view->factor / tree_coefficient(2);
    wire = narrower(wire, (struct wire){ line->bytes_per_s, BOTTLENECK_NVLINK });
    const double inside = lines_measured(nvls) ? nvls->line[lines_count(nvls) - 1].bytes_per_s
                                               : hardware->scaleup_bytes_per_s;
    wire = narrower(wire, (struct wire){ inside, BOTTLENECK_NVLINK });
    return (struct cost){ line->latency_s, view->factor * view->size_bytes / wire.bytes_per_s,
                          wire.cause, PROTOCOL_SIMPLE };
}

/* What a tree of a protocol gets of the NICs: LL sends as many flags as data, LL128 8 of 128 bytes. */
static struct wire tree_wire(const struct view *view, enum collective_protocol protocol)
{
    static const double parts[COLLECTIVE_PROTOCOLS] = {
        [PROTOCOL_LL] = 0.5, [PROTOCOL_LL128] = 120.0 / 128, [PROTOCOL_SIMPLE] = 1
    };
    struct wire wire = view->network;
    wire.bytes_per_s *= parts[protocol];
    return view->gpus > view->servers ? narrower(wire, view_inside(view)) : wire;
}

struct cost cost_tree_between(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const double levels = 2.0 * tree_levels(view->servers);
    const struct wire wire = tree_wire(view, PROTOCOL_SIMPLE);
    const double bus_bytes = view->factor * view->size_bytes;
    struct cost best = { inside_latency(view, false) + levels * hardware->tree_hop_s,
                         bus_bytes / wire.bytes_per_s, wire.cause, PROTOCOL_SIMPLE };
    const struct collective_line *small = &hardware->tree_small;
    if (small->bytes_per_s > 0) {
        const enum collective_protocol protocol = hardware->tree_small_protocol;
        const struct wire most = tree_wire(view, protocol);
        const double rate = smaller(small->bytes_per_s, most.bytes_per_s);
        best = quicker(best, (struct cost){ inside_latency(view, true) + levels * small->latency_s,
                                            bus_bytes / rate, most.cause, protocol });
    }
    if (view->servers == 2 && hardware->two_servers.bytes_per_s > 0 &&
        view->gpus_min == hardware->gpus)
        best = quicker(best, tree_of_two(view));
    return best;
}

struct cost cost_hierarchical(const struct view *view, enum inter_algorithm inter)
{
    const struct wire inside = view_inside(view);
    const struct collective_place place = { .servers = view->servers,
                                            .gpus = view->gpus,
                                            .gpus_per_server = view->gpus_min,
                                            .intra_bytes_per_s = inside.bytes_per_s,
                                            .network_bytes_per_s = view->network.bytes_per_s,
                                            .intra_hop_s = view->hardware->scaleup_hop_s,
                                            .network_hop_s = view->hardware->network_hop_s,
                                            .chunks = COLLECTIVE_CHUNKS };
    const struct hierarchical_time time = hierarchical_allreduce(&place, view->size_bytes, inter);
    const double wire_s = larger(time.intra_s, time.inter_s);
    return (struct cost){ time.total_s - wire_s, wire_s,
                          time.inter_s > time.intra_s ? view->network.cause : inside.cause,
                          PROTOCOL_SIMPLE };
}

struct cost cost_sharp(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct collective_lines *nvls = &hardware->nvls;
    struct wire inside = view_inside(view);
    if (lines_measured(nvls))
        inside.bytes_per_s = nvls->line[lines_count(nvls) - 1].bytes_per_s *
                             nvls_share(view->gpus_most, view->reference);
    const double in_s =
        view->gpus > view->servers ? view->factor * view->size_bytes / inside.bytes_per_s : 0.0;
    const double out_s = view->size_bytes / view->network.bytes_per_s;
    const double hop_s = hardware->tree_hop_s > 0 ? hardware->tree_hop_s : hardware->network_hop_s;
    return (struct cost){ inside_latency(view, false) + 2.0 * hop_s, larger(in_s, out_s),
                          out_s > in_s ? view->network.cause : inside.cause, PROTOCOL_SIMPLE };
}
