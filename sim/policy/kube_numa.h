/* kube_numa.h - the topology manager of a kubelet, over the devices of one resource (SCHEDULING 4).
 *
 * The device manager gives a hint for each set of sockets with enough free devices. A hint is preferred when no smaller set
 * could hold the request were all devices of the node free, those that are broken included. The best hint is the
 * narrowest, and of equal ones the one with the lowest sockets; it is preferred if any is. Cores give no hints, as under
 * cpuManagerPolicy none.
 *
 * Pure functions. Source: kubelet, cm/topologymanager and cm/devicemanager. Tests: tests/test_kube_numa.c */
#ifndef GPUPLAN_POLICY_KUBE_NUMA_H
#define GPUPLAN_POLICY_KUBE_NUMA_H

#include "spec/kube.h"

#include <stdbool.h>
#include <stdint.h>

/* NUMA nodes that a kubelet manages at most; with more it does not start under any policy but none. */
enum { KUBE_SOCKETS = 8 };

/* Devices by socket. */
struct kube_socket_counts {
    uint32_t all[KUBE_SOCKETS], free[KUBE_SOCKETS]; /* [sockets]                                */
};

struct kube_hint {
    uint32_t sockets; /* a bit each; 0 = fewer than `size` devices are free on the node           */
    bool preferred;
};

/* The best hint for `size` devices, >= 1, on a node of 1 .. KUBE_SOCKETS sockets. */
struct kube_hint kube_best_hint(const struct kube_socket_counts *counts, uint32_t sockets, uint32_t size);

/* Whether the kubelet takes a pod with this best hint: restricted wants a preferred one, single-numa-node one of one socket. */
bool kube_hint_admits(enum topology_manager policy, struct kube_hint hint);

#endif
