/* catalog_check.c - an entry against the table of keys, before anybody believes it. */
#include "io/catalog_fields.h"

#include <string.h>

static const struct yaml_node *child_of(const struct yaml_node *map, const char *key)
{
    return map ? yaml_child(map, key) : NULL;
}

/* Every key of a map of marks or sources is a field of the row or of its notes. */
static void check_about(struct key_reader *reader, const struct yaml_node *row,
                        const struct yaml_node *notes, const char *name)
{
    const struct yaml_node *about = child_of(notes, name);
    if (about == NULL) return;
    if (about->kind != YAML_MAP) {
        key_wrong_kind(reader, name, about, "a mapping of fields");
        return;
    }
    for (const struct yaml_node *child = about->first; child; child = child->next) {
        if (yaml_child(row, child->key) == NULL && yaml_child(notes, child->key) == NULL)
            diag_error(reader->diag, yaml_key_place(child), "%s of '%s': it has no such field",
                       name, child->key);
        else if (child->kind != YAML_SCALAR)
            key_wrong_kind(reader, name, child, "one value");
        else if (strcmp(name, "marks") == 0)
            key_scalar(reader, key_find("gpu.mark"), child, NULL);
    }
}

/* The notes of a row, and the mark of one whose mark is not stored. */
static void check_notes(struct key_reader *reader, const char *keys_of_row,
                        const struct yaml_node *row)
{
    char prefix[64];
    const struct yaml_node *notes = yaml_child(row, "notes"), *mark = yaml_child(row, "mark");
    if (mark != NULL) key_scalar(reader, key_find("gpu.mark"), mark, NULL);
    if (notes == NULL) return;
    if (notes->kind != YAML_MAP) {
        key_wrong_kind(reader, "notes", notes, "a mapping");
        return;
    }
    snprintf(prefix, sizeof prefix, "%snotes.", keys_of_row);
    keys_read(reader, prefix, notes, NULL, NULL);
    check_about(reader, row, notes, "marks");
    check_about(reader, row, notes, "sources");
}

static void check_failures(struct key_reader *reader, const struct yaml_node *entry)
{
    struct component_failures component;
    keys_read(reader, "failure.", entry, NULL, NULL);
    for (int i = 0; i < COMPONENTS; i++) {
        const struct yaml_node *part = yaml_child(entry, component_keys[i]);
        if (part == NULL) continue;
        if (part->kind != YAML_MAP) {
            key_wrong_kind(reader, component_keys[i], part, "a mapping");
            continue;
        }
        catalog_read_component(reader, part, NULL, &component);
        check_notes(reader, "component.", part);
    }
}

/* A server names a GPU of the catalog. */
static void check_gpu(struct catalog *catalog, struct diag *diag, const struct yaml_node *entry)
{
    const struct yaml_node *gpu = yaml_child(entry, "gpu");
    if (gpu == NULL || gpu->kind != YAML_SCALAR) return;
    if (catalog_find(catalog, CATALOG_GPUS, gpu->text, diag) == NULL)
        diag_error(diag, yaml_place(gpu), "no GPU '%s' in gpus.yaml", gpu->text);
}

/* Measured collectives name servers of the catalog. */
static void check_servers(struct catalog *catalog, struct diag *diag, const struct yaml_node *entry)
{
    const struct yaml_node *servers = yaml_child(entry, "servers");
    if (servers == NULL || servers->kind != YAML_SCALAR) return;
    char word[LIMIT_NAME_BYTES];
    for (const char *text = servers->text; catalog_word(&text, word, sizeof word);)
        if (catalog_find(catalog, CATALOG_SERVERS, word, diag) == NULL)
            diag_error(diag, yaml_place(servers), "no server '%s' in servers.yaml", word);
}

enum status catalog_check(struct catalog *catalog, enum catalog_kind kind,
                          const struct yaml_node *entry, struct diag *diag)
{
    struct key_reader reader = { .diag = diag };
    struct server_type server;
    struct server_fit fit;
    struct link_type link;
    struct profile profile;
    struct gpu_type gpu;
    struct model_shape model;
    struct train_stack stack;
    static struct communication communication;
    const bool is_refused = yaml_child(entry, "refused") != NULL;
    const char *rows = catalog_kind_keys(kind);
    switch (kind) {
    case CATALOG_SERVERS:
        if (!is_refused) catalog_read_server(&reader, entry, NULL, &server);
        check_gpu(catalog, diag, entry);
        break;
    case CATALOG_LINKS:
        if (!is_refused) catalog_read_link(&reader, entry, NULL, &link);
        break;
    case CATALOG_COLLECTIVES:
        catalog_read_collective(&reader, entry, &fit);
        check_servers(catalog, diag, entry);
        break;
    case CATALOG_PROFILES:
        catalog_read_profile(catalog, &reader, entry, &profile);
        break;
    case CATALOG_MIXES:
        catalog_read_mix(catalog, &reader, entry, &communication);
        break;
    case CATALOG_GPUS:
        catalog_read_gpu(&reader, entry, &gpu);
        break;
    case CATALOG_MODELS:
        catalog_read_model(&reader, entry, &model);
        break;
    case CATALOG_STACKS:
        catalog_read_stack(&reader, entry, &stack);
        break;
    case CATALOG_FAILURES:
        check_failures(&reader, entry);
        return diag_status(diag);
    default:
        keys_read(&reader, rows, entry, NULL, NULL);
        break;
    }
    check_notes(&reader, rows, entry);
    return diag_status(diag);
}
