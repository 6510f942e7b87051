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

/* The machine with GPUs first .. first + count - 1 as a server of its own. */
static struct server_type machine_of(const struct server_type *inside, uint32_t first,
                                     uint32_t count)
{
    struct server_type machine = *inside;
    machine.gpus = machine.tree.gpus = count;
    machine.pcie_switches = (inside->pcie_switches * count + inside->gpus - 1) / inside->gpus;
    for (uint32_t a = 0; a < count; a++) {
        machine.tree.gpu[a] = inside->tree.gpu[first + a];
        for (uint32_t b = 0; b < count; b++)
            machine.tree.nvlinks[a][b] = inside->tree.nvlinks[first + a][first + b];
    }
    return machine;
}

double vm_scaleup_bytes_per_s(const struct server_type *server, const struct vm_rules *vm,
                              uint32_t parts)
{
    const uint32_t count = server->gpus / parts;
    const bool split = vm->nvlink == VM_NVLINK_SPLIT;
    if (vm->nvlink == VM_NVLINK_KEPT || (split && server->tree.nvswitch) || count < 2 ||
        server->tree.gpus != server->gpus)
        return server->ring_from_links && server->gpus > 1
                   ? links_ring_bytes_per_s(server, server->gpus, NULL)
                   : server->scaleup_bytes_per_s;
    const struct server_type inside = vm_inside(server, vm);
    double least = INFINITY;
    for (uint32_t first = 0; first + count <= server->gpus; first += count) {
        const struct server_type machine = machine_of(&inside, first, count);
        bool staged;
        double ring = links_ring_bytes_per_s(&machine, count, &staged);
        if (staged) ring /= 1 + vm->staged_overhead_frac;
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
