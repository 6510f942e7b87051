/* topology_fabric.c - the network between servers as text; see topology_show.h. */
#include "cli/topology_show.h"

#include "base/quantity.h"

#include <inttypes.h>

enum { ROWS_SHOWN = 4 };

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_counts(const struct fabric_shape *shape, FILE *out)
{
    char rate[SHOW_BYTES];
    const uint64_t ports = (uint64_t)shape->servers * shape->nics_per_server;
    fprintf(out, "  %" PRIu64 " switch%s of %" PRIu32 " ports: %" PRIu32 " lea%s", shape->switches,
            shape->switches == 1 ? "" : "es", shape->radix, shape->leaves,
            shape->leaves == 1 ? "f" : "ves");
    if (shape->spines) fprintf(out, ", %" PRIu32 " spine%s", shape->spines, plural(shape->spines));
    if (shape->cores) fprintf(out, ", %" PRIu32 " core%s", shape->cores, plural(shape->cores));
    fprintf(out, "\n  %" PRIu64 " NIC port%s, %" PRIu64 " trunk%s, %" PRIu64 " cables of %s\n",
            ports, plural(ports), shape->trunks, plural(shape->trunks), ports + shape->trunks,
            show_bandwidth(shape->trunk_bytes_per_s, rate));
    if (shape->uplinks_per_leaf)
        fprintf(out,
                "  oversubscription %.4g at the leaf: %" PRIu32 " ports down in use, %" PRIu32
                " up\n",
                shape->oversubscription,
                shape->servers_per_leaf * (shape->nics_per_server / shape->rails),
                shape->uplinks_per_leaf);
}

static void print_upper(const struct fabric_shape *shape, FILE *out)
{
    if (shape->kind == FABRIC_DRAGONFLY && shape->pods > 1)
        fprintf(out,
                "  %" PRIu32 " groups of up to %" PRIu32 " leaves and %" PRIu32 " spines, %" PRIu32
                " cable%s between each two\n",
                shape->pods, shape->units_per_pod, shape->spines / shape->pods, shape->global_links,
                plural(shape->global_links));
    if (shape->kind == FABRIC_THREE_TIER && shape->cores)
        fprintf(out,
                "  %" PRIu32 " pod%s of up to %" PRIu32 " leaves, %" PRIu32
                " cables from each spine to the cores\n",
                shape->pods, plural(shape->pods), shape->units_per_pod, shape->uplinks_per_spine);
    if (shape->rails > 1)
        fprintf(out, "  %" PRIu32 " rails of %" PRIu32 " lea%s; %s\n", shape->rails, shape->units,
                shape->units == 1 ? "f" : "ves",
                shape->kind == FABRIC_RAIL && shape->uplinks_per_leaf
                    ? "two rails meet at the spines"
                    : "nothing joins two rails: who changes rail does so over NVLink in a server");
}

/* The servers below a leaf; with rails the leaves of one unit. */
static void print_units(const struct fabric_shape *shape, FILE *out)
{
    for (uint32_t unit = 0; unit < shape->units; unit++) {
        if (unit == ROWS_SHOWN - 1 && shape->units > ROWS_SHOWN) {
            fprintf(out, "  ... %" PRIu32 " more\n", shape->units - ROWS_SHOWN);
            unit = shape->units - 1;
        }
        const uint32_t first = unit * shape->servers_per_leaf;
        uint32_t last = first + shape->servers_per_leaf - 1;
        if (last >= shape->servers) last = shape->servers - 1;
        const uint32_t leaf = unit * shape->rails;
        if (shape->rails > 1)
            fprintf(out, "  leaves %" PRIu32 "-%" PRIu32, leaf, leaf + shape->rails - 1);
        else
            fprintf(out, "  leaf %" PRIu32, leaf);
        fprintf(out, ": server%s %" PRIu32, plural(last - first + 1), first);
        if (last > first) fprintf(out, "-%" PRIu32, last);
        if (shape->pods > 1)
            fprintf(out, ", %s %" PRIu32, shape->kind == FABRIC_DRAGONFLY ? "group" : "pod",
                    fabric_pod(shape, leaf));
        fputc('\n', out);
    }
}

void topology_print_fabric(const struct topology_layout *layout, FILE *out)
{
    const struct fabric_shape *shape = layout->shape;
    fprintf(out, "%s: %" PRIu32 " server%s of %" PRIu32 " GPU%s and %" PRIu32 " NIC%s, %s, %s%s\n",
            layout->name, shape->servers, plural(shape->servers), layout->gpus_per_server,
            plural(layout->gpus_per_server), shape->nics_per_server, plural(shape->nics_per_server),
            layout->fabric->link.id, fabric_kind_names[shape->kind],
            shape->switches == 1 ? ": one switch holds all" : "");
    if (layout->nodes_per_server > 1) {
        char rate[SHOW_BYTES];
        fprintf(out,
                "  each server hosts %" PRIu32 " nodes of %" PRIu32
                " GPUs, ring inside one %s; two of them meet over %s\n",
                layout->nodes_per_server, layout->gpus_per_server / layout->nodes_per_server,
                show_bandwidth(layout->node_scaleup_bytes_per_s, rate),
                layout->nodes_share_nvlink ? "NVLink" : "NICs");
    }
    print_counts(shape, out);
    print_upper(shape, out);
    print_units(shape, out);
}
