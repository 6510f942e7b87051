/* collective_of.c - see collective_of.h. */
#include "cluster/collective_of.h"

#include "cluster/links_ring.h"
#include "cluster/paths.h"
#include "spec/nic_map.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* NCCL's plan of one network step under its protocol for large messages (MODELS 12). */
static const double NETWORK_HOP_S = 14e-6;

static struct collective_line line_of(const struct fit_line *line, double faster, double slower)
{
    return (struct collective_line){ line->latency_s * slower, line->bytes_per_s * faster };
}

static struct collective_lines lines_of(const struct fit_line lines[COLLECTIVE_LINES],
                                        double faster, double slower)
{
    struct collective_lines out;
    for (int i = 0; i < COLLECTIVE_LINES; i++) out.line[i] = line_of(&lines[i], faster, slower);
    return out;
}

/* What was measured in a server. One whose links or hops differ from those of the measured one scales with them. */
static void put_inside(const struct server_type *server, struct collective_hardware *hardware)
{
    const struct server_fit *fit = &server->fit;
    const double faster = server->scaleup_bytes_per_s / fit->scaleup_bytes_per_s;
    const double slower = fit->scaleup_hop_s > 0 ? server->scaleup_hop_s / fit->scaleup_hop_s : 1.0;
    hardware->lines_gpus = fit->gpus;
    hardware->all_reduce = lines_of(fit->all_reduce, faster, slower);
    hardware->all_gather = lines_of(fit->all_gather, faster, slower);
    hardware->all_to_all = lines_of(fit->all_to_all, faster, slower);
    hardware->nvls = lines_of(fit->nvls, faster, 1.0);
    for (int g = 0; g <= LIMIT_GPUS_PER_SERVER; g++)
        hardware->ring_bytes_per_s[g] = fit->ring_bytes_per_s[g] * faster;
}

/* Whether a link is the one that was measured: it, or one like it with its hops. What another rate or number of NICs
 * leaves of the lines collective_time knows. */
static bool was_measured(const struct server_fit *fit, const struct link_type *link)
{
    return fit->over[0] != '\0' && strcmp(fit->over, link->like) == 0 &&
           fit->over_hop_s == link->hop_s && fit->over_tree_hop_s == link->tree_hop_s;
}

/* What was measured between servers. NCCL's LL sends a flag with every four bytes: a line above half of the NICs is LL128. */
static void put_between(const struct server_fit *fit, struct collective_hardware *hardware)
{
    hardware->network_hop_s = fit->network_hop_s;
    hardware->tree_hop_s = fit->tree_hop_s;
    hardware->tree_small = line_of(&fit->tree_small, 1.0, 1.0);
    hardware->tree_small_protocol =
        fit->tree_small.bytes_per_s > fit->nics_bytes_per_s / 2 ? PROTOCOL_LL128 : PROTOCOL_LL;
    hardware->two_servers = line_of(&fit->two_servers, 1.0, 1.0);
}

/* Rings as its links allow them. */
static void put_rings(const struct server_type *server, struct collective_hardware *hardware)
{
    for (uint32_t gpus = 2; gpus <= server->gpus; gpus++)
        hardware->ring_bytes_per_s[gpus] = links_ring_bytes_per_s(server, gpus, NULL);
    if (server->gpus > 1) hardware->scaleup_bytes_per_s = hardware->ring_bytes_per_s[server->gpus];
}

/* NICs in use by the first GPUs of a server. */
static void put_nics(const struct server_type *server, uint32_t nics,
                     struct collective_hardware *hardware)
{
    struct nic_map map;
    nic_map_init(&map, &server->tree, server->gpus, nics);
    for (uint32_t gpus = 1; gpus <= server->gpus; gpus++)
        hardware->nics_used[gpus] = nic_map_first(&map, gpus);
}

struct collective_hardware collective_of(const struct server_type *server, uint32_t nics,
                                         const struct link_type *link)
{
    struct collective_hardware hardware = {
        .gpus = server->gpus,
        .scaleup_bytes_per_s = server->scaleup_bytes_per_s,
        .scaleup_hop_s = server->scaleup_hop_s,
        .domain_servers = server->domain_servers,
        .nics = nics,
        .nic_bytes_per_s = link ? link->bytes_per_s : server->nic_bytes_per_s,
        .gpu_pcie_bytes_per_s = server->gpu_pcie_bytes_per_s,
        .host_memory_bytes_per_s = server->host_memory_bytes_per_s,
        .gpudirect = path_any_gpudirect(server, nics),
        .network_hop_s = link ? link->hop_s : NETWORK_HOP_S,
        .tree_hop_s = link ? link->tree_hop_s : 0.0,
        .sharp = link && link->sharp,
        .uplinks_bytes_per_s = INFINITY,
    };
    put_nics(server, nics, &hardware);
    if (server->ring_from_links) put_rings(server, &hardware);
    if (server->fit.gpus == 0) return hardware;
    put_inside(server, &hardware);
    hardware.staged_bytes_per_s = server->fit.staged_bytes_per_s;
    hardware.domain_bytes_per_s = server->fit.domain_bytes_per_s;
    if (link == NULL || was_measured(&server->fit, link)) put_between(&server->fit, &hardware);
    if (link != NULL) return hardware;
    if (server->fit.domain_servers > 1) hardware.domain_servers = server->fit.domain_servers;
    hardware.sharp = server->fit.sharp;
    return hardware;
}
