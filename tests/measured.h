/* measured.h - a measured collective, as the tables of figures write it, and the model's time for it.
 *
 *     all_reduce --server dgx-a100 --nodes 2 --gpus-per-node 8 --size 16G [--link ID] [--nics N] [--algo ring|nvls]
 *
 * Servers and links are those of models/catalog; the algorithm is the one that a run takes by default, the flat
 * ring, unless the row names another. */
#ifndef TESTS_MEASURED_H
#define TESTS_MEASURED_H

#include "io/catalog.h"
#include "models/collective.h"
#include "models/hardware.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

/* What a row asks for. */
struct question {
    char op[WORD], server[WORD], link[WORD], algorithm[WORD];
    uint32_t nodes, gpus_per_node, nics; /* nics 0: as the server has */
    double size_bytes;
};

/* 8B, 64K, 2G: powers of two, as nccl-tests counts. */
static inline double size_of(const char *text)
{
    char *unit;
    const double count = strtod(text, &unit);
    switch (*unit) {
    case 'K':
        return count * 1024;
    case 'M':
        return count * 1048576;
    case 'G':
        return count * 1073741824;
    default:
        return count;
    }
}

static inline bool parse_question(char *run, struct question *question)
{
    char *save = NULL;
    const char *op = strtok_r(run, " ", &save);
    if (op == NULL) return false;
    *question = (struct question){ .nodes = 1 };
    snprintf(question->op, WORD, "%s", op);
    for (const char *name; (name = strtok_r(NULL, " ", &save)) != NULL;) {
        const char *value = strtok_r(NULL, " ", &save);
        if (value == NULL) return false;
        if (strcmp(name, "--server") == 0) snprintf(question->server, WORD, "%s", value);
        if (strcmp(name, "--link") == 0) snprintf(question->link, WORD, "%s", value);
        if (strcmp(name, "--algo") == 0) snprintf(question->algorithm, WORD, "%s", value);
        const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
        if (strcmp(name, "--nodes") == 0) question->nodes = number;
        if (strcmp(name, "--gpus-per-node") == 0) question->gpus_per_node = number;
        if (strcmp(name, "--nics") == 0) question->nics = number;
        if (strcmp(name, "--size") == 0) question->size_bytes = size_of(value);
    }
    return question->server[0] && question->gpus_per_node > 0 && question->size_bytes > 0;
}

/* The hop of a link of the catalog, and the rate of its port; false when it has none of this id. */
static inline bool find_link(struct catalog *catalog, struct key_reader *reader, const char *id,
                      struct link_type *link)
{
    const struct yaml_node *entry = catalog_find(catalog, CATALOG_LINKS, id, reader->diag);
    if (entry == NULL) return false;
    catalog_read_link(reader, entry, NULL, link);
    return true;
}

/* What the catalog notes about a server, or "". */
static inline const char *note_of(struct catalog *catalog, struct diag *diag, const char *server,
                                  const char *name)
{
    const struct yaml_node *entry = catalog_find(catalog, CATALOG_SERVERS, server, diag);
    const struct yaml_node *notes = entry ? yaml_child(entry, "notes") : NULL;
    const struct yaml_node *note = notes ? yaml_child(notes, name) : NULL;
    return note != NULL && note->kind == YAML_SCALAR ? note->text : "";
}

/* An NVLink domain over several servers is not modelled: its servers alone would be. */
static inline bool crosses_domain(struct catalog *catalog, struct diag *diag,
                                  const struct question *question)
{
    return question->nodes > 1 &&
           note_of(catalog, diag, question->server, "domain_gpus")[0] != '\0';
}

/* Where the members sit; false when the catalog cannot say. */
static inline bool place_of(struct catalog *catalog, struct diag *diag, const struct question *question,
                     struct collective_place *place)
{
    struct key_reader reader = { .diag = diag };
    struct server_type server = { 0 };
    struct link_type link = { .hop_s = 14e-6 };
    const struct yaml_node *entry = catalog_find(catalog, CATALOG_SERVERS, question->server, diag);
    if (entry == NULL || crosses_domain(catalog, diag, question)) return false;
    catalog_read_server(&reader, entry, NULL, &server);
    if (question->link[0] && !find_link(catalog, &reader, question->link, &link)) return false;
    if (question->gpus_per_node > server.gpus) return false;
    const struct nic_share share = {
        .gpus_active = question->gpus_per_node,
        .nics = question->nics ? question->nics : server.nics,
        .nic_bytes_per_s = question->link[0] ? link.bytes_per_s : server.nic_bytes_per_s,
        .slot_bytes_per_s = server.gpu_pcie_bytes_per_s,
        .gpu_pcie_bytes_per_s = server.gpu_pcie_bytes_per_s,
        .gpudirect = server.gpudirect,
        .host_memory_bytes_per_s = server.host_memory_bytes_per_s,
    };
    *place = (struct collective_place){
        .servers = question->nodes,
        .gpus = question->nodes * question->gpus_per_node,
        .gpus_per_server = question->gpus_per_node,
        .intra_bytes_per_s = server.scaleup_bytes_per_s,
        .network_bytes_per_s = question->gpus_per_node * gpu_net_bytes_per_s(&share),
        .intra_hop_s = server.scaleup_hop_s,
        .network_hop_s = link.hop_s,
        .chunks = COLLECTIVE_CHUNKS,
    };
    return true;
}

/* MODELS 2.6 and 12: NVLS starts with NVLink 4; its efficiency refers to the nominal rate of the ports. */
#define NVLS_EFFICIENCY 0.68
#define NVLS_HOP_S      25e-6
static inline double nvls_port_bytes_per_s(double effective_bytes_per_s)
{
    return effective_bytes_per_s > 700e9 ? 900e9 : effective_bytes_per_s > 300e9 ? 450e9 : NAN;
}

static inline double model_allreduce_s(const struct question *question,
                                       const struct collective_place *place)
{
    const bool named = question->algorithm[0] != '\0';
    if (!named || strcmp(question->algorithm, "ring") == 0)
        return allreduce_of(place, question->size_bytes, 1u << ALLREDUCE_FLAT_RING).total_s;
    if (strcmp(question->algorithm, "nvls") != 0 || place->servers > 1) return NAN;
    const double port_bytes_per_s = nvls_port_bytes_per_s(place->intra_bytes_per_s);
    if (isnan(port_bytes_per_s)) return NAN;
    return nvls_allreduce_s(place->gpus, question->size_bytes, NVLS_HOP_S, port_bytes_per_s,
                            NVLS_EFFICIENCY);
}

/* The modelled time and its kind; NAN for an operation or algorithm that is not modelled. */
static inline double model_time_s(const struct question *question,
                                  const struct collective_place *place, enum collective_kind *kind)
{
    if (strcmp(question->op, "all_reduce") == 0) {
        *kind = COLLECTIVE_ALLREDUCE;
        return model_allreduce_s(question, place);
    }
    *kind = COLLECTIVE_ALLGATHER;
    if (strcmp(question->op, "alltoall") == 0)
        return all_to_all_s(place, question->size_bytes, 0.5e-6);
    if (place->servers > 1) return NAN;
    return ring_allgather_s(place->gpus, question->size_bytes, place->intra_hop_s,
                            place->intra_bytes_per_s);
}

#endif
