/* topology_json.c - topology as JSON; see topology_show.h. Functions of jansson return failure when memory is out; it
 * reaches the root as NULL or -1. */
#include "cli/topology_show.h"

#include "cluster/paths.h"

#include <math.h>

static json_t *cells_json(const struct topo_matrix *matrix)
{
    const uint32_t devices = matrix->gpus + matrix->nics;
    json_t *rows = json_array();
    for (uint32_t a = 0; a < devices; a++) {
        json_t *row = json_array();
        for (uint32_t b = 0; b < devices; b++) {
            const uint8_t cell = matrix->cell[a][b];
            json_array_append_new(row, cell == TOPO_NVLINK
                                           ? json_sprintf("NV%u", matrix->nvlinks[a][b])
                                           : json_string(topo_cell_names[cell]));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *gpu_json(const struct topology_server *at, uint32_t gpu)
{
    json_t *object = json_pack("{s:s, s:s}", "cpu_affinity", at->matrix.cpu_affinity[gpu],
                               "numa_affinity", at->matrix.numa_affinity[gpu]);
    if (at->nics == 0) return object;
    struct nic_map map;
    nic_map_init(&map, &at->tree, at->tree.gpus, at->nics);
    const uint32_t nic = tree_nearest_nic(&at->tree, gpu, at->nics); /* all of them are as near */
    json_t *nics = json_array();
    for (uint32_t n = 0; n < at->nics; n++)
        if (nic_set_has(&map.of_gpu[gpu], n)) json_array_append_new(nics, json_integer(n));
    json_object_set_new(object, "nics", nics);
    json_object_set_new(object, "nic_path",
                        json_string(link_class_names[tree_nic_path(&at->tree, gpu, nic)]));
    if (at->server == NULL) return object;
    json_object_set_new(object, "gpudirect",
                        json_boolean(path_gpudirect(at->server, gpu, at->nics)));
    json_object_set_new(object, "network_bytes_per_s",
                        json_real(path_network_bytes_per_s(at->server, at->nics,
                                                           at->nic_bytes_per_s, at->tree.gpus)));
    return object;
}

static json_t *rates_json(const struct topology_server *at)
{
    json_t *rows = json_array();
    for (uint32_t a = 0; a < at->tree.gpus; a++) {
        json_t *row = json_array();
        for (uint32_t b = 0; b < at->tree.gpus; b++) {
            const double rate = path_gpus_bytes_per_s(at->server, a, b);
            json_array_append_new(row, isinf(rate) ? json_null() : json_real(rate));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

json_t *topology_server_json(const struct topology_server *at)
{
    json_t *devices = json_array(), *gpus = json_array();
    for (uint32_t i = 0; i < at->matrix.gpus + at->matrix.nics; i++)
        json_array_append_new(devices, json_string(at->matrix.name[i]));
    for (uint32_t gpu = 0; gpu < at->tree.gpus; gpu++)
        json_array_append_new(gpus, gpu_json(at, gpu));
    json_t *object = json_pack("{s:s, s:b, s:o, s:o, s:o}", "used_by", at->used_by, "nvswitch",
                               at->tree.nvswitch, "devices", devices, "cells",
                               cells_json(&at->matrix), "gpus", gpus);
    if (at->server == NULL) return object;
    json_object_set_new(object, "id", json_string(at->server->id));
    json_object_set_new(object, "nvlink_domain_servers", json_integer(at->server->domain_servers));
    json_object_set_new(object, "bytes_per_s", rates_json(at));
    return object;
}

json_t *topology_layout_json(const struct topology_layout *layout)
{
    const struct fabric_shape *shape = layout->shape;
    const json_int_t ports = (json_int_t)shape->servers * shape->nics_per_server;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name", layout->name, "type",
        fabric_kind_names[shape->kind], "link", layout->fabric->link.id, "servers",
        (json_int_t)shape->servers, "gpus_per_server", (json_int_t)layout->gpus_per_server,
        "nics_per_server", (json_int_t)shape->nics_per_server, "servers_per_leaf",
        (json_int_t)shape->servers_per_leaf, "leaves", (json_int_t)shape->leaves, "spines",
        (json_int_t)shape->spines, "cores", (json_int_t)shape->cores, "switches",
        (json_int_t)shape->switches);
    json_object_set_new(object, "nodes_per_server", json_integer(layout->nodes_per_server));
    json_object_set_new(object, "ports", json_integer(ports));
    json_object_set_new(object, "trunks", json_integer((json_int_t)shape->trunks));
    json_object_set_new(object, "cables", json_integer(ports + (json_int_t)shape->trunks));
    json_object_set_new(object, "switch_ports", json_integer(shape->radix));
    json_object_set_new(object, "uplinks_per_leaf", json_integer(shape->uplinks_per_leaf));
    json_object_set_new(object, "uplinks_per_spine", json_integer(shape->uplinks_per_spine));
    json_object_set_new(object, "rails", json_integer(shape->rails));
    json_object_set_new(object, "pods", json_integer(shape->pods));
    json_object_set_new(object, "global_links", json_integer(shape->global_links));
    json_object_set_new(object, "oversubscription_asked",
                        json_real(layout->fabric->oversubscription));
    json_object_set_new(object, "oversubscription", json_real(shape->oversubscription));
    json_object_set_new(object, "trunk_bytes_per_s", json_real(shape->trunk_bytes_per_s));
    return object;
}
