/* measured.h - a measured collective, as the tables of figures write it, and the model's time for it.
 *
 *     all_reduce --server dgx-a100 --nodes 2 --gpus-per-node 8 --size 16G [--link ID] [--nics N] [--algo ring]
 *
 * the arguments of `gpuplan collective`. Servers, links and fits are those of models/catalog. */
#ifndef TESTS_MEASURED_H
#define TESTS_MEASURED_H

#include "cluster/collective_of.h"
#include "io/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

/* What a row asks for. */
struct question {
    char op[WORD], server[WORD], link[WORD], algorithm[WORD];
    uint32_t nodes, gpus_per_node, nics; /* the last two 0: as the server has */
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
    return question->server[0] && question->size_bytes > 0;
}

/* What one question needs to be answered. */
struct asked {
    enum collective_op op;
    struct collective_hardware hardware;
    struct collective_group group;
    uint32_t allowed;
};

static inline uint32_t allowed_of(const char *word)
{
    if (strcmp(word, "ring") == 0) return ALLOW(ALGORITHM_RING);
    if (strcmp(word, "tree") == 0) return ALLOW(ALGORITHM_TREE);
    if (strcmp(word, "nvls") == 0) return ALLOW(ALGORITHM_NVLS);
    if (strcmp(word, "sharp") == 0) return ALLOW(ALGORITHM_SHARP);
    return ALLOW_AUTO;
}

/* False when the catalog cannot say. */
static inline bool ask_catalog(struct catalog *catalog, struct diag *diag,
                               const struct question *question, struct asked *asked)
{
    struct key_reader reader = { .diag = diag };
    struct server_type server = { 0 };
    struct link_type link = { 0 };
    const struct yaml_node *entry = catalog_find(catalog, CATALOG_SERVERS, question->server, diag);
    if (entry == NULL) return false;
    catalog_read_server(&reader, entry, NULL, &server);
    catalog_read_fit(catalog, question->server, &server, diag);
    if (question->link[0]) {
        entry = catalog_find(catalog, CATALOG_LINKS, question->link, diag);
        if (entry == NULL) return false;
        catalog_read_link(&reader, entry, NULL, &link);
    }
    const uint32_t gpus = question->gpus_per_node ? question->gpus_per_node : server.gpus;
    if (diag_status(diag) != STATUS_OK || gpus > server.gpus) return false;
    int op = 0;
    while (op < COLLECTIVE_OPS && strcmp(collective_op_names[op], question->op) != 0) op++;
    if (op == COLLECTIVE_OPS) return false;
    *asked = (struct asked){
        .op = (enum collective_op)op,
        .hardware = collective_of(&server, question->nics ? question->nics : server.nics,
                                  question->link[0] ? &link : NULL),
        .group = { question->nodes, question->nodes * gpus, gpus, false },
        .allowed = allowed_of(question->algorithm),
    };
    return true;
}

static inline struct collective_result answer_of(const struct question *question,
                                                 const struct asked *asked)
{
    return collective_time(&asked->hardware, asked->op, &asked->group, question->size_bytes,
                           asked->allowed);
}

/* Bus bandwidth times time. */
static inline double bus_bytes_of(const struct question *question, const struct asked *asked)
{
    return collective_bus_factor(asked->op, asked->group.gpus) * question->size_bytes;
}

/* Bus bandwidth in bytes per second, and the time, of a question in the form on top; NAN when the catalog cannot say. */
static inline double measured_bus(struct catalog *catalog, const char *what, double *time_s)
{
    char run[256];
    struct question question;
    struct asked asked;
    snprintf(run, sizeof run, "%s", what);
    struct diag *diag = diag_create();
    const bool known =
        diag && parse_question(run, &question) && ask_catalog(catalog, diag, &question, &asked);
    diag_destroy(diag);
    if (!known) return *time_s = NAN;
    *time_s = answer_of(&question, &asked).total_s;
    return bus_bytes_of(&question, &asked) / *time_s;
}

#endif
