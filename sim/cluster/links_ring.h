/* links_ring.h - what a ring through GPUs of a server carries, by its links (MODELS 1.3, 2.8).
 *
 * Where nothing was measured and no bus bandwidth is stated. */
#ifndef GPUPLAN_CLUSTER_LINKS_RING_H
#define GPUPLAN_CLUSTER_LINKS_RING_H

#include "spec/hardware.h"

/* Bus bandwidth, one direction, of the first `gpus` GPUs, at least 2:
 *   NVLink switches, or NVLinks between every two    all links of a GPU to the others, as rings can use all of them
 *   else                                             the ring whose slowest hop is the fastest (up to 8 GPUs; more: in their
 *                                                    order); with a hop that is staged through the host also host_ring (2.8)
 * staged, unless NULL: whether that ring has such a hop. Leaves out: several rings over the links of a partial mesh. */
double links_ring_bytes_per_s(const struct server_type *server, uint32_t gpus, bool *staged);

#endif
