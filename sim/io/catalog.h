/* catalog.h - the YAML files of models/catalog: server and link types, failure rates, profiles; and what is known
 * and not simulated: GPUs, MIG, prices, reliability; models and frameworks of `gpuplan step`.
 *
 * Entries stay documents until one is asked for; then they pass the same table of keys as a
 * scenario. The folder is, in this order: $GPUPLAN_CATALOG; models/catalog beside or one above the
 * program's own folder; ./models/catalog; the share folder of the installation. */
#ifndef GPUPLAN_IO_CATALOG_H
#define GPUPLAN_IO_CATALOG_H

#include "base/diag.h"
#include "io/keys_read.h"
#include "io/yaml.h"
#include "spec/scenario.h"
#include "spec/train.h"

enum catalog_kind { CATALOG_SERVERS, CATALOG_LINKS, CATALOG_FAILURES, CATALOG_PROFILES, CATALOG_MIXES,
                    CATALOG_COLLECTIVES, CATALOG_GPUS, CATALOG_MIG, CATALOG_PRICES, CATALOG_RELIABILITY,
                    CATALOG_MODELS, CATALOG_STACKS,
                    CATALOG_KINDS };

struct catalog {
    char folder[LIMIT_PATH_BYTES];
    char paths[CATALOG_KINDS][LIMIT_PATH_BYTES + 32];
    struct yaml_document documents[CATALOG_KINDS]; /* lists that share a file: each reads it again */
    bool tried[CATALOG_KINDS], usable[CATALOG_KINDS]; /* files are read when first asked for       */
};

/* Finds the folder; STATUS_WORLD when there is none. The catalog must not be moved after that. */
enum status catalog_open(struct catalog *catalog, struct diag *diag);
void catalog_close(struct catalog *catalog);

/* What the list of a kind is called: "servers"; and the paths of its keys in the table: "server.". */
const char *catalog_kind_name(enum catalog_kind kind);
const char *catalog_kind_keys(enum catalog_kind kind);

/* The entries of a kind in file order, or NULL after a problem; next of each leads on. */
const struct yaml_node *catalog_first(struct catalog *catalog, enum catalog_kind kind,
                                      struct diag *diag);

/* The id of an entry; "" when it has none. */
const char *catalog_id(const struct yaml_node *entry);

/* The entry called id, or NULL. */
const struct yaml_node *catalog_find(struct catalog *catalog, enum catalog_kind kind, const char *id,
                                     struct diag *diag);

/* Reads one entry with all its checks; problems go to reader->diag. What the entry leaves out comes
 * from `below`, another entry or NULL. An entry that says `refused` is an error: it is known, and not simulated. */
void catalog_read_server(struct key_reader *reader, const struct yaml_node *entry,
                         const struct yaml_node *below, struct server_type *server);
/* The collectives measured on the server type called id, scaled to its rates; all 0 when none are known. Called after its
 * numbers are read. */
void catalog_read_fit(struct catalog *catalog, const char *id, struct server_type *server,
                      struct diag *diag);
/* One entry of collectives.yaml. */
void catalog_read_collective(struct key_reader *reader, const struct yaml_node *entry,
                             struct server_fit *fit);
void catalog_read_link(struct key_reader *reader, const struct yaml_node *entry,
                       const struct yaml_node *below, struct link_type *link);
void catalog_read_profile(struct catalog *catalog, struct key_reader *reader,
                          const struct yaml_node *entry, struct profile *profile);
/* Its training plan, with the entries that it names. */
void catalog_read_train(struct catalog *catalog, struct key_reader *reader,
                        const struct yaml_node *node, struct train_job *train);

void catalog_read_gpu(struct key_reader *reader, const struct yaml_node *entry, struct gpu_type *gpu);
void catalog_read_model(struct key_reader *reader, const struct yaml_node *entry,
                        struct model_shape *model);
void catalog_read_stack(struct key_reader *reader, const struct yaml_node *entry,
                        struct train_stack *stack);

/* One component: `node` (may be NULL) over `below` (may be NULL). Law none without either. */
void catalog_read_component(struct key_reader *reader, const struct yaml_node *node,
                            const struct yaml_node *below, struct component_failures *component);

/* The entries of a mix, at most LIMIT_PROFILES; their profiles come from the catalog. */
void catalog_read_mix(struct catalog *catalog, struct key_reader *reader,
                      const struct yaml_node *entry, struct communication *communication);

/* The profiles that are not in the mix, behind it, with weight 0: jobs that name one have it. */
void catalog_read_others(struct catalog *catalog, struct diag *diag,
                         struct communication *communication);

/* Names of the components as keys: gpu, server, link, leaf, job. */
extern const char *const component_keys[COMPONENTS];

#endif
