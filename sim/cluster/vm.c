/* vm.c - see vm.h. */
#include "cluster/vm.h"

#include "cluster/links_ring.h"
#include "cluster/paths.h"

#include <math.h>
#include <string.h>

static const double SHARE_ALL = 1008000.0; /* the ledger's units of one GPU */

const struct vm_rules *vm_of(const struct scenario *scenario, const struct variant *variant)
{
    const struct layout *layout = &scenario->layouts[variant->layout];
    const bool several = layout->group_count > 0 && variant->nodes > variant->servers;
    return several ? &layout->groups[0].vm : NULL;
}

struct server_type vm_inside(const struct server_type *server, const struct vm_rules *vm)
{
    struct server_type inside = *server;
    if (vm->nvlink == VM_NVLINK_OFF) {
        memset(inside.tree.nvlinks, 0, sizeof inside.tree.nvlinks);
        inside.tree.nvswitch = false;
    }
    if (vm->p2p_max < inside.p2p_max) inside.p2p_max = vm->p2p_max;
    if (vm->nvlink != VM_NVLINK_OFF && inside.p2p_max < LINK_NVL) inside.p2p_max = LINK_NVL;
    return inside;
}

bool vm_apart(const struct server_type *server, const struct vm_rules *vm, uint32_t parts,
              uint32_t gpu_a, uint32_t gpu_b)
{
    const uint32_t count = server->gpus / parts;
    return gpu_a / count != gpu_b / count && !vm->shared_nvlink;
}

/* Links of one GPU to the others of its machine; 0 when one of these has none. */
static uint32_t links_among(const struct server_tree *tree, uint32_t first, uint32_t count)
{
    uint32_t links = 0;
    for (uint32_t gpu = first + 1; gpu < first + count; gpu++) {
        if (tree->nvlinks[first][gpu] == 0) return 0;
        links += tree->nvlinks[first][gpu];
    }
    return links;
}

/* The slowest step of a ring in order; what is copied through host memory takes longer by `staged`. */
static double ring_in_order(const struct server_type *server, uint32_t first, uint32_t count,
                            double staged_frac)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t from = first + i, to = first + (i + 1 == count ? 0 : i + 1);
        double step = path_gpus_bytes_per_s(server, from, to);
        if (tree_gpu_path(&server->tree, from, to) > server->p2p_max) step /= 1 + staged_frac;
        if (step < least) least = step;
    }
    return least;
}

double vm_scaleup_bytes_per_s(const struct server_type *server, const struct vm_rules *vm,
                              uint32_t parts)
{
    const uint32_t count = server->gpus / parts;
    const bool split = vm->nvlink == VM_NVLINK_SPLIT;
    if (vm->nvlink == VM_NVLINK_KEPT || (split && server->tree.nvswitch) || count < 2 ||
        server->tree.gpus != server->gpus)
        return server->ring_from_links && server->gpus > 1
                   ? links_ring_bytes_per_s(server, server->gpus)
                   : server->scaleup_bytes_per_s;
    const struct server_type inside = vm_inside(server, vm);
    double least = INFINITY;
    for (uint32_t first = 0; first + count <= server->gpus; first += count) {
        const uint32_t links = links_among(&inside.tree, first, count);
        const double ring = links ? links * server->nvlink_bytes_per_s
                                  : ring_in_order(&inside, first, count, vm->staged_overhead_frac);
        if (ring < least) least = ring;
    }
    return least;
}

double vm_nic_bytes_per_s(const struct server_type *server, double nic_bytes_per_s, uint32_t parts)
{
    if (parts <= 1) return nic_bytes_per_s;
    const double slot = server->gpu_pcie_bytes_per_s;
    return (slot > 0 && slot < nic_bytes_per_s ? slot : nic_bytes_per_s) / parts;
}

uint32_t vm_overhead_units(const struct vm_rules *vm)
{
    const double v = vm ? vm->compute_overhead_frac : 0;
    return (uint32_t)floor(v / (1 + v) * SHARE_ALL + 0.5);
}
