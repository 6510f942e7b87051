/* catalog.c - finding the catalog's folder, its files and its entries. */
#include "io/catalog.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *file, *list, *keys;
    const char *
        more; /* a second list of the same kind further down, or NULL: rows of the first keep their lines,
                         which results record */
} kinds[CATALOG_KINDS] = {
    [CATALOG_SERVERS] = { "servers.yaml", "servers", "server.", NULL },
    [CATALOG_LINKS] = { "links.yaml", "links", "link.", NULL },
    [CATALOG_FAILURES] = { "failures.yaml", "failures", "failure.", NULL },
    [CATALOG_PROFILES] = { "profiles.yaml", "profiles", "profile.", "more_profiles" },
    [CATALOG_MIXES] = { "profiles.yaml", "mixes", "mix.", NULL },
    [CATALOG_COLLECTIVES] = { "collectives.yaml", "collectives", "collective.", NULL },
    [CATALOG_GPUS] = { "gpus.yaml", "gpus", "gpu.", NULL },
    [CATALOG_MIG] = { "mig.yaml", "mig", "mig.", NULL },
    [CATALOG_PRICES] = { "prices.yaml", "prices", "price.", NULL },
    [CATALOG_RELIABILITY] = { "reliability.yaml", "reliability", "figure.", NULL },
    [CATALOG_MODELS] = { "models.yaml", "models", "model.", NULL },
    [CATALOG_STACKS] = { "models.yaml", "stacks", "stack.", NULL },
};

/* Takes the folder when it holds the servers' file. */
static bool try_folder(struct catalog *catalog, const char *folder, const char *below)
{
    char path[LIMIT_PATH_BYTES + 32];
    const int length = snprintf(catalog->folder, sizeof catalog->folder, "%s%s", folder, below);
    if (length < 0 || (size_t)length >= sizeof catalog->folder) return false;
    snprintf(path, sizeof path, "%s/%s", catalog->folder, kinds[CATALOG_SERVERS].file);
    return access(path, R_OK) == 0;
}

/* The folder of the running program; "." when the system does not tell. */
static void program_folder(char *out, size_t out_bytes)
{
    const ssize_t length = readlink("/proc/self/exe", out, out_bytes - 1);
    out[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    else
        snprintf(out, out_bytes, ".");
}

enum status catalog_open(struct catalog *catalog, struct diag *diag)
{
    char program[LIMIT_PATH_BYTES];
    *catalog = (struct catalog){ 0 };
    const char *given = getenv("GPUPLAN_CATALOG");
    if (given != NULL && given[0] != '\0') {
        if (try_folder(catalog, given, "")) return STATUS_OK;
        return diag_world(diag, "GPUPLAN_CATALOG=%s: no servers.yaml in this folder", given);
    }
    program_folder(program, sizeof program);
    if (try_folder(catalog, program, "/../models/catalog") ||
        try_folder(catalog, program, "/../../models/catalog") ||
        try_folder(catalog, "models/catalog", "") ||
        try_folder(catalog, GPUPLAN_SHARE, "/models/catalog"))
        return STATUS_OK;
    return diag_world(diag,
                      "no catalog beside the program, in ./models/catalog or in " GPUPLAN_SHARE
                      "; set GPUPLAN_CATALOG to its folder");
}

void catalog_close(struct catalog *catalog)
{
    for (size_t i = 0; i < CATALOG_KINDS; i++) yaml_clear(&catalog->documents[i]);
}

/* Hangs the entries of the second list behind those of the first. */
static void join_lists(struct yaml_node *list, const struct yaml_node *more)
{
    struct yaml_node **end = &list->first;
    while (*end != NULL) end = &(*end)->next;
    *end = more->first;
    list->child_count += more->child_count;
}

static enum status load(struct catalog *catalog, enum catalog_kind kind, struct diag *diag)
{
    struct yaml_document *document = &catalog->documents[kind];
    const size_t length = strlen(catalog->folder);
    char *path = catalog->paths[kind];
    memcpy(path, catalog->folder, length);
    snprintf(path + length, sizeof catalog->paths[kind] - length, "/%s", kinds[kind].file);
    TRY(yaml_read_file(path, document, diag));
    TRY(yaml_require_map(document, diag));
    struct yaml_node *list = yaml_child(document->root, kinds[kind].list);
    const struct yaml_node *more =
        kinds[kind].more ? yaml_child(document->root, kinds[kind].more) : NULL;
    if (list == NULL || list->kind != YAML_LIST)
        return diag_error(diag, (struct place){ .file = document->file }, "'%s' must be a list",
                          kinds[kind].list);
    if (more != NULL && more->kind == YAML_LIST) join_lists(list, more);
    for (const struct yaml_node *entry = list->first; entry; entry = entry->next)
        if (entry->kind != YAML_MAP || catalog_id(entry)[0] == '\0')
            return diag_error(diag, yaml_place(entry), "expected a mapping with an id");
    catalog->usable[kind] = true;
    return STATUS_OK;
}

const char *catalog_kind_name(enum catalog_kind kind)
{
    return kinds[kind].list;
}

const char *catalog_kind_keys(enum catalog_kind kind)
{
    return kinds[kind].keys;
}

const struct yaml_node *catalog_first(struct catalog *catalog, enum catalog_kind kind,
                                      struct diag *diag)
{
    if (!catalog->tried[kind]) {
        catalog->tried[kind] = true;
        load(catalog, kind, diag);
    }
    if (!catalog->usable[kind]) return NULL;
    return yaml_child(catalog->documents[kind].root, kinds[kind].list)->first;
}

const char *catalog_id(const struct yaml_node *entry)
{
    const struct yaml_node *id = yaml_child(entry, "id");
    return id != NULL && id->kind == YAML_SCALAR ? id->text : "";
}

const struct yaml_node *catalog_find(struct catalog *catalog, enum catalog_kind kind,
                                     const char *id, struct diag *diag)
{
    const struct yaml_node *entry = catalog_first(catalog, kind, diag);
    while (entry != NULL && strcmp(catalog_id(entry), id) != 0) entry = entry->next;
    return entry;
}
