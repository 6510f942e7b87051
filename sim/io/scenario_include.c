/* scenario_include.c - include: [FILE, ...], the files that a scenario builds on (P97).
 *
 * An included file gives defaults: maps are merged key by key, and what the including file says
 * wins. Of two included files the later one wins. Lists and values are replaced as a whole, as by --set;
 * null takes the default back. A map over a value keeps the value under its short key (replicas: 20 below
 * replicas: {resample: none}). Files stay documents of their own, so that messages and origins name them.
 *
 * Whoever sends a scenario must not read other people's files with it: only regular files below the folder
 * of the scenario are opened. */
#include "io/scenario_parts.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CHAIN_BYTES = 512,
    ROW_BYTES = 256,
    KEYS_MOST = 1000, /* of one map of an included file: keys are searched one by one */
};

/* ---- which files ---- */

/* Writes "a.yaml -> b.yaml", from the scenario down to the file; returns the bytes used of out. */
static size_t write_chain(const struct include_file *file, char out[CHAIN_BYTES])
{
    const size_t used = file->above ? write_chain(file->above, out) : 0;
    if (used >= CHAIN_BYTES) return used;
    return used + (size_t)snprintf(out + used, CHAIN_BYTES - used, "%s%.200s", used ? " -> " : "",
                                   file->path);
}

/* Why no file of this name is opened, or NULL. */
static const char *name_problem(const char *name)
{
    if (name[0] == '\0') return "a file name is missing";
    if (name[0] == '/') return "absolute paths are not included; write it relative to this file";
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return "'..' is not included; put the file below the scenario's folder";
    }
    return NULL;
}

/* The folder part of a path, with its slash; "./" when it has none. */
static bool folder_of(const char *path, char out[LIMIT_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    return slash ? text_copy(out, LIMIT_PATH_BYTES, path, (size_t)(slash - path + 1))
                 : text_copy(out, LIMIT_PATH_BYTES, "./", 2);
}

/* Whether a link leads out of the scenario's folder; errno is set when it cannot be told. */
static bool is_below(const char *scenario_path, const char *path, bool *below)
{
    char folder[LIMIT_PATH_BYTES];
    if (!folder_of(scenario_path, folder)) return false;
    char *real_folder = realpath(folder, NULL), *real = realpath(path, NULL);
    const bool known = real_folder != NULL && real != NULL;
    const size_t bytes = known ? strlen(real_folder) : 0;
    *below = known && strncmp(real, real_folder, bytes) == 0 &&
             (real[bytes] == '/' || strcmp(real_folder, "/") == 0);
    free(real_folder);
    free(real);
    return known;
}

/* Checks the file behind `file->path`, which `node` asks for; nothing has been opened yet. */
static enum status check_file(struct reading *reading, struct include_file *file,
                              const struct yaml_node *node)
{
    struct diag *diag = reading->reader.diag;
    const struct place at = yaml_place(node);
    struct stat about;
    bool below = false;
    char chain[CHAIN_BYTES];
    if (stat(file->path, &about) != 0 || !is_below(reading->scenario->path, file->path, &below))
        return diag_world_at(diag, at, "include: cannot read '%s': %s", file->path,
                             strerror(errno));
    if (!below)
        return diag_error(
            diag, at, "include: '%s' is a link that leaves the scenario's folder; copy the file",
            file->path);
    if (!S_ISREG(about.st_mode))
        return diag_world_at(diag, at, "include: '%s' is not a regular file", file->path);
    file->device = (uint64_t)about.st_dev;
    file->inode = (uint64_t)about.st_ino;
    write_chain(file, chain);
    for (const struct include_file *above = file->above; above; above = above->above)
        if (above->device == file->device && above->inode == file->inode)
            return diag_error(diag, at, "include: a cycle: %s", chain);
    if (file->level > LIMIT_INCLUDE_LEVELS)
        return diag_error(diag, at, "include: more than %d levels: %s", LIMIT_INCLUDE_LEVELS,
                          chain);
    return STATUS_OK;
}

/* ---- merging ---- */

/* Whether the table holds both as two forms of one value. */
static bool are_twins(const char *key, const char *other)
{
    for (size_t i = 0; i < key_count; i++) {
        const char *dot = strrchr(keys[i].path, '.');
        if (keys[i].twin && strcmp(keys[i].twin, other) == 0 &&
            strcmp(dot ? dot + 1 : keys[i].path, key) == 0)
            return true;
    }
    return false;
}

static bool has_twin(const struct yaml_node *map, const char *key)
{
    for (const struct yaml_node *child = map->first; child; child = child->next)
        if (are_twins(child->key, key)) return true;
    return false;
}

static void append(struct yaml_node *map, struct yaml_node *child)
{
    struct yaml_node **tail = &map->first;
    while (*tail) tail = &(*tail)->next;
    *tail = child;
    child->next = NULL;
    child->parent = map;
    map->child_count++;
}

static void merge(const struct yaml_node *base, struct yaml_node *over, const char *row_path);

/* `over` and `base` have the same key: over wins, but for what its map leaves out. */
static void merge_child(struct yaml_node *base, struct yaml_node *over, const char *row_path)
{
    if (over->kind != YAML_MAP || yaml_is_null(base)) return;
    if (base->kind == YAML_MAP) {
        merge(base, over, row_path);
        return;
    }
    const struct key_row *row = key_find(row_path);
    if (row == NULL || row->short_key == NULL || yaml_child(over, row->short_key) != NULL) return;
    base->key = row->short_key;
    append(over, base);
}

/* Moves what `over` leaves out from `base` into it. */
static void merge(const struct yaml_node *base, struct yaml_node *over, const char *row_path)
{
    for (struct yaml_node *child = base->first, *next; child; child = next) {
        next = child->next;
        char path[ROW_BYTES];
        snprintf(path, sizeof path, "%s%s%s", row_path, row_path[0] ? "." : "", child->key);
        struct yaml_node *twin = yaml_child(over, child->key);
        if (strcmp(path, "include") == 0) continue;
        if (twin != NULL)
            merge_child(child, twin, path);
        else if (!has_twin(over, child->key))
            append(over, child);
    }
}

/* Bounds the searches of merge. */
static enum status check_width(struct diag *diag, const struct yaml_node *node)
{
    if (node->kind != YAML_MAP) return STATUS_OK;
    if (node->child_count > KEYS_MOST)
        return diag_error(diag, yaml_place(node), "more than %d keys in a mapping", KEYS_MOST);
    for (const struct yaml_node *child = node->first; child; child = child->next)
        TRY(check_width(diag, child));
    return STATUS_OK;
}

/* ---- files ---- */

static enum status expand(struct reading *reading, const struct include_file *file,
                          struct yaml_node *root);

/* Reads the file that `node` names, with all that it includes. */
static enum status load(struct reading *reading, const struct include_file *above,
                        const struct yaml_node *node, struct include_file **out)
{
    struct diag *diag = reading->reader.diag;
    if (node->kind != YAML_SCALAR)
        return diag_error(diag, yaml_place(node), "include: expected a file name, got %s",
                          yaml_kind_name(node));
    const char *problem = name_problem(node->text);
    if (problem) return diag_error(diag, yaml_place(node), "include: %s", problem);
    if (reading->include_count == LIMIT_INCLUDE_FILES)
        return diag_error(diag, yaml_place(node), "include: more than %d files",
                          LIMIT_INCLUDE_FILES);
    struct include_file *file = calloc(1, sizeof *file);
    if (file == NULL) return diag_world(diag, "%s: out of memory", above->path);
    *reading->include_tail = file;
    reading->include_tail = &file->next;
    reading->include_count++;
    *out = file;
    file->above = above;
    file->level = above->level + 1;
    const char *slash = strrchr(above->path, '/');
    const int folder_bytes = slash ? (int)(slash - above->path + 1) : 0;
    const int length =
        snprintf(file->path, sizeof file->path, "%.*s%s", folder_bytes, above->path, node->text);
    if (length < 0 || (size_t)length >= sizeof file->path)
        return diag_error(diag, yaml_place(node), "include: path longer than %d bytes",
                          LIMIT_PATH_BYTES - 1);
    TRY(check_file(reading, file, node));
    TRY(yaml_read_file(file->path, &file->document, diag));
    TRY(yaml_require_map(&file->document, diag));
    return expand(reading, file, file->document.root);
}

/* Puts below the root what its include: names; the root's own keys win. */
static enum status expand(struct reading *reading, const struct include_file *file,
                          struct yaml_node *root)
{
    const struct yaml_node *include = yaml_child(root, "include");
    if (include == NULL || yaml_is_null(include)) return STATUS_OK;
    TRY(check_width(reading->reader.diag, root));
    const struct yaml_node *name = include->kind == YAML_LIST ? include->first : include;
    struct yaml_node *base = NULL;
    while (name != NULL) {
        struct include_file *below = NULL;
        TRY(load(reading, file, name, &below));
        TRY(check_width(reading->reader.diag, below->document.root));
        if (base) merge(base, below->document.root, "");
        base = below->document.root;
        name = include->kind == YAML_LIST ? name->next : NULL;
    }
    if (base) merge(base, root, "");
    return STATUS_OK;
}

enum status scenario_include(struct reading *reading)
{
    struct include_file *top = &reading->top;
    struct stat about;
    reading->include_tail = &reading->includes;
    text_copy(top->path, sizeof top->path, reading->scenario->path,
              strlen(reading->scenario->path));
    if (stat(top->path, &about) == 0) {
        top->device = (uint64_t)about.st_dev;
        top->inode = (uint64_t)about.st_ino;
    }
    return expand(reading, top, reading->document.root);
}

void scenario_include_clear(struct reading *reading)
{
    while (reading->includes != NULL) {
        struct include_file *next = reading->includes->next;
        yaml_clear(&reading->includes->document);
        free(reading->includes);
        reading->includes = next;
    }
}

void read_include(struct key_reader *reader, const struct key_found *found)
{
    char list[1024] = "[";
    size_t used = 1;
    if (found->node == NULL) return; /* one line less in the scenarios that have none */
    if (strcmp(found->node->document->file, "--set") == 0) {
        diag_error(reader->diag, yaml_place(found->node), "include: stands in files only");
        return;
    }
    const bool is_list = found->node->kind == YAML_LIST;
    for (const struct yaml_node *name = is_list ? found->node->first : found->node; name;
         name = is_list ? name->next : NULL)
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 1 ? ", " : "",
                                     name->text);
    if (used < sizeof list) snprintf(list + used, sizeof list - used, "]");
    key_show(reader, "include", list, found->node, NULL);
}
