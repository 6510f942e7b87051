/* paths.h - how fast GPUs of a server reach each other and the network, by the tree of the server (MODELS 1.3, 1.4). */
#ifndef GPUPLAN_CLUSTER_PATHS_H
#define GPUPLAN_CLUSTER_PATHS_H

#include "spec/hardware.h"

/* Bandwidth between two GPUs of one server, one direction, with nothing else under way; INFINITY for a GPU and itself.
 * NVLink behind switches: all links of a GPU; without: those of the pair. */
double path_gpus_bytes_per_s(const struct server_type *server, uint32_t gpu_a, uint32_t gpu_b);

/* Between two MIG slices of one GPU, which have no peer access: copied through host memory (1.3a). */
double path_slices_bytes_per_s(const struct server_type *server);

/* Whether the NIC that a GPU uses reaches its memory without the host: gpudirect, and near enough. */
bool path_gpudirect(const struct server_type *server, uint32_t gpu, uint32_t nics);

/* The same of all GPUs of the server: a ring is as slow as the slowest. */
bool path_all_gpudirect(const struct server_type *server, uint32_t nics);

/* Whether one GPU at least has it: a ring enters and leaves the server there, as rings of eight GPUs over one NIC do
 * (24 GB/s on HDR: FIGURES 1 "Collectives", 3). */
bool path_any_gpudirect(const struct server_type *server, uint32_t nics);

/* Network bandwidth of each of `active` GPUs of one server that send at once over `nics` NICs (gpu_net_bw). */
double path_network_bytes_per_s(const struct server_type *server, uint32_t nics,
                                double nic_bytes_per_s, uint32_t active);

#endif
