/* inventory.h - a list of nodes, one a row, as groups of equal servers.
 *
 *   sn,cpu_milli,memory_mib,gpu,model     Alibaba's openb (cluster-trace-gpu-v2023); gpu = number, model = type; further columns
 *                                         are not read
 *
 * Equal nodes form one group, wherever they stand; groups are in the order of their first node. Nodes are numbered through the
 * groups, so their own order and names are not kept. The list says nothing of NICs and links: a server gets one
 * NIC a GPU of an assumed 25 GB/s, and who asks how jobs communicate on it is refused (scenario_check.c).
 * Source of the form: hkust-adsl/kubernetes-scheduler-simulator, data/README.md. Tests: tests/test_inventory.c */
#ifndef GPUPLAN_IO_INVENTORY_H
#define GPUPLAN_IO_INVENTORY_H

#include "base/diag.h"
#include "spec/hardware.h"

#include <stdint.h>

/* groups[LIMIT_SERVER_GROUPS], filled up to *count; *nodes rows were read. */
enum status inventory_read(const char *path, struct server_group *groups, uint32_t *count,
                           uint32_t *nodes, struct diag *diag);

#endif
