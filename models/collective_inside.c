/* collective_inside.c - collectives in one server or NVLink domain: the lower envelope of measured lines, else two
 * constants; see collective_time.h. */
#include "models/collective_view.h"

#include <math.h>

/* A ring over PCIe is planned a little above what a slot carries; NVLink is several times faster. */
static const double PCIE_MOST = 1.1;

/* B(g): what a ring through g GPUs carries. */
static struct wire ring_wire(const struct collective_hardware *hardware, uint32_t gpus)
{
    double rate = gpus <= LIMIT_GPUS_PER_SERVER ? hardware->ring_bytes_per_s[gpus] : 0.0;
    if (rate <= 0) rate = hardware->scaleup_bytes_per_s;
    const bool is_pcie = rate <= PCIE_MOST * hardware->gpu_pcie_bytes_per_s;
    return (struct wire){ rate, is_pcie ? BOTTLENECK_PCIE : BOTTLENECK_NVLINK };
}

/* The same for a group that may be uneven: the slower of its emptiest and fullest server. */
struct wire view_inside(const struct view *view)
{
    const struct wire most = ring_wire(view->hardware, view->gpus_most);
    return view->gpus_min > 1 ? narrower(most, ring_wire(view->hardware, view->gpus_min)) : most;
}

bool lines_measured(const struct collective_lines *lines)
{
    return lines->line[0].bytes_per_s > 0;
}

uint32_t lines_count(const struct collective_lines *lines)
{
    uint32_t count = 0;
    while (count < COLLECTIVE_LINES && lines->line[count].bytes_per_s > 0) count++;
    return count;
}

/* Start-up of a line on g GPUs of the G it was measured on: half of it is the launch, half the steps (assumed; of what
 * NCCL plans for LL, LL128 and Simple on eight GPUs the steps are 0.56, 0.66 and 0.85). */
double view_latency(const struct view *view, double latency_s, uint32_t gpus)
{
    if (view->reference <= 1) return latency_s;
    return latency_s * (0.5 + 0.5 * (gpus - 1.0) / (view->reference - 1.0));
}

/* In-switch sums on g of G GPUs: each port carries S (1 + 1/g), so the bus bandwidth goes with (g - 1)/(g + 1) (2.6). */
double nvls_share(uint32_t gpus, uint32_t reference)
{
    const double full = (reference - 1.0) / (reference + 1.0);
    return gpus >= reference ? 1.0 : (gpus - 1.0) / (gpus + 1.0) / full;
}

/* The lower envelope of the lines. `share` scales their bandwidths. */
struct cost view_envelope(const struct view *view, const struct collective_lines *lines,
                          bool scales, struct wire wire, double share)
{
    struct cost best = { 0, INFINITY, wire.cause, PROTOCOL_SIMPLE };
    const uint32_t count = lines_count(lines);
    for (uint32_t i = 0; i < count; i++) {
        const struct collective_line *line = &lines->line[i];
        const struct cost cost = { scales ? view_latency(view, line->latency_s, view->gpus)
                                          : line->latency_s,
                                   view->factor * view->size_bytes / (line->bytes_per_s * share),
                                   wire.cause,
                                   (enum collective_protocol)(PROTOCOL_SIMPLE + 1 - count + i) };
        if (cost.latency_s + cost.wire_s < best.latency_s + best.wire_s) best = cost;
    }
    return best;
}

/* Passes of a ring over its members. */
double view_passes(enum collective_op op)
{
    return op == OP_ALL_REDUCE ? 2.0 : 1.0;
}

static const struct collective_lines *ring_lines(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    return view->op == OP_ALL_REDUCE ? &hardware->all_reduce : &hardware->all_gather;
}

struct cost cost_ring_inside(const struct view *view)
{
    const struct collective_hardware *hardware = view->hardware;
    const struct collective_lines *lines = ring_lines(view);
    const struct wire wire = view_inside(view);
    if (lines_measured(lines))
        return view_envelope(view, lines, true, wire,
                             wire.bytes_per_s / hardware->scaleup_bytes_per_s);
    return (struct cost){ view_passes(view->op) * (view->gpus - 1.0) * hardware->scaleup_hop_s,
                          view->factor * view->size_bytes / wire.bytes_per_s, wire.cause,
                          PROTOCOL_SIMPLE };
}

struct cost cost_nvls_inside(const struct view *view)
{
    return view_envelope(view, &view->hardware->nvls, false, (struct wire){ 0, BOTTLENECK_NVLINK },
                         nvls_share(view->gpus, view->reference));
}
