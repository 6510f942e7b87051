/* vm.h - virtual machines that share a server: what each of them gets of its NVLinks and NICs (MODELS 1.7). */
#ifndef GPUPLAN_CLUSTER_VM_H
#define GPUPLAN_CLUSTER_VM_H

#include "spec/plan.h"

/* The rules of a layout whose servers host several nodes, or NULL. */
const struct vm_rules *vm_of(const struct scenario *scenario, const struct variant *variant);

/* The server as its machines see it: without NVLinks where they are off, and with peer access no farther than theirs. */
struct server_type vm_inside(const struct server_type *server, const struct vm_rules *vm);

/* Whether two GPUs of a server belong to two machines that meet over NICs only (MODELS 1.3d). */
bool vm_apart(const struct server_type *server, const struct vm_rules *vm, uint32_t parts,
              uint32_t gpu_a, uint32_t gpu_b);

/* Bus bandwidth of a ring over the GPUs of one of `parts` machines: `kept` as the server has it, `split` what the NVLinks among
 * its own GPUs carry, which behind switches is all of them, and with `off` their PCIe: the best ring of cluster/links_ring. The
 * slowest machine of a server counts. */
double vm_scaleup_bytes_per_s(const struct server_type *server, const struct vm_rules *vm,
                              uint32_t parts);

/* What one machine has of each NIC of its server, as if all machines sent at once. */
double vm_nic_bytes_per_s(const struct server_type *server, double nic_bytes_per_s, uint32_t parts);

/* The part of compute and overhead together that is overhead, in units per GPU: v/(1 + v). 0 without machines. */
uint32_t vm_overhead_units(const struct vm_rules *vm);

#endif
