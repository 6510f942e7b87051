/* topology_show.h - the inside of a server and the network between servers, as text and as JSON. */
#ifndef GPUPLAN_CLI_TOPOLOGY_SHOW_H
#define GPUPLAN_CLI_TOPOLOGY_SHOW_H

#include "spec/hardware.h"
#include "spec/nic_map.h"
#include "spec/topo_matrix.h"

#include <jansson.h>

#include <stdio.h>

/* One kind of server and the layouts that use it. */
struct topology_server {
    struct server_type type;          /* as its nodes see it                                    */
    const struct server_type *server; /* &type; NULL: the matrix of a file, of which no rates are known */
    struct topo_matrix matrix;
    struct server_tree tree;
    uint32_t nics;           /* of one server, as the fabric has them           */
    double nic_bytes_per_s;
    const struct vm_rules *vm; /* of its machines, NULL when the server is one node */
    uint32_t parts;            /* nodes that share it                              */
    bool sliced;               /* its GPUs are cut by MIG                           */
    char used_by[256];         /* names of layouts by commas; "" = none            */
};

struct topology_layout {
    const char *name;
    const struct fabric *fabric;
    const struct fabric_shape *shape;
    uint32_t gpus_per_server, nodes_per_server;
    double node_scaleup_bytes_per_s; /* of a ring inside one of several nodes of a server        */
    bool nodes_share_nvlink;
};

/* The table of nvidia-smi topo -m with its legend. */
void topology_print_matrix(const struct topo_matrix *matrix, FILE *out);
/* What joins the GPUs, and the NICs that each GPU uses (spec/nic_map) with their path. */
void topology_print_inside(const struct topology_server *at, FILE *out);
/* GB/s between each two GPUs, and of each GPU to the network when all send. */
void topology_print_bandwidth(const struct topology_server *at, FILE *out);
/* Counts of the switches and cables of a layout, and who hangs where. */
void topology_print_fabric(const struct topology_layout *layout, FILE *out);

/* {"id", "used_by", "devices", "cells", "nvlinks", "cpu_affinity", "numa_affinity", "gpus": [{"nics", "nic_path", "gpudirect",
 *  "network_bytes_per_s"}], "bytes_per_s": [[]]}; rates are left out where none are known, NULL when memory is out. */
json_t *topology_server_json(const struct topology_server *at);
json_t *topology_layout_json(const struct topology_layout *layout);

#endif
