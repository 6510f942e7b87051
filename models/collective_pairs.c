/* collective_pairs.c - messages between pairs: all-to-all, send and receive; see collective_time.h. */
#include "models/collective_view.h"

/* One message of an all-to-all (2.7). */
static const double MESSAGE_S = 0.5e-6;

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

/* NICs of one GPU by itself; where it is not known which they are, an even part, one at least. */
static double own_nics(const struct collective_hardware *hardware)
{
    if (hardware->nics_used[1] > 0) return hardware->nics_used[1];
    return larger(1.0, (double)hardware->nics / hardware->gpus);
}

/* What one GPU gets of the network when so many on its server send at once: what its own NICs carry. */
static struct wire pair_network(const struct view *view, uint32_t gpus_active)
{
    const struct collective_hardware *hardware = view->hardware;
    struct wire each = view->network;
    if (hardware->gpudirect || each.cause == BOTTLENECK_LEAF) each.bytes_per_s /= gpus_active;
    if (view_is_staged(hardware)) each = narrower(each, view_network(hardware, view->gpus_most));
    each = narrower(each, (struct wire){ hardware->gpu_pcie_bytes_per_s, BOTTLENECK_PCIE });
    return narrower(
        each, (struct wire){ own_nics(hardware) * hardware->nic_bytes_per_s, BOTTLENECK_NIC });
}

/* What stays inside the fullest server: (g - 1)/n of the bytes, by the lines measured on g GPUs when there are any. */
static struct cost pairs_inside(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const double n = view->gpus, g = view->gpus_most;
    const struct wire inside = view_inside(view);
    if (view->gpus_most < 2) return (struct cost){ 0, 0, inside.cause, PROTOCOL_SIMPLE };
    if (lines_measured(&hardware->all_to_all)) {
        struct view alone = *view;
        alone.servers = 1;
        alone.gpus = view->gpus_most;
        alone.size_bytes = view->size_bytes * g / n;
        alone.factor = (g - 1.0) / g;
        return view_envelope(&alone, &hardware->all_to_all, true, inside,
                             inside.bytes_per_s / hardware->scaleup_bytes_per_s);
    }
    return (struct cost){ hardware->scaleup_hop_s + (g - 1.0) * MESSAGE_S,
                          (g - 1.0) / n * view->size_bytes / inside.bytes_per_s, inside.cause,
                          PROTOCOL_SIMPLE };
}

struct cost cost_all_to_all(const struct view *view)
{
    const double n = view->gpus;
    const struct cost best = pairs_inside(view);
    if (view->servers == 1) return best;
    struct view below = *view;
    below.network = view->nics;
    struct wire each = pair_network(&below, view->gpus_min);
    each.bytes_per_s *= pairs_efficiency(view->servers);
    each = narrower(
        each, (struct wire){ view->uplinks.bytes_per_s / view->gpus_min, view->uplinks.cause });
    const double others = n - view->gpus_min; /* a member of the emptiest server has most to send */
    const struct cost outside = { view->hardware->network_hop_s + others * MESSAGE_S,
                                  others / n * view->size_bytes / each.bytes_per_s, each.cause,
                                  PROTOCOL_SIMPLE };
    return outside.latency_s + outside.wire_s > best.latency_s + best.wire_s ? outside : best;
}

/* Every member sends to the next one: over a NIC where the ring leaves a server. */
struct cost cost_send_receive(const struct view *view)
{
    const bool inside = view->servers == 1;
    const struct wire wire = inside ? view_inside(view) : pair_network(view, 1);
    const double hop_s = inside ? view->hardware->scaleup_hop_s : view->hardware->network_hop_s;
    return (struct cost){ hop_s, view->size_bytes / wire.bytes_per_s, wire.cause, PROTOCOL_SIMPLE };
}
