/* keys_read.c - walks the table of keys over a map of a document. */
#include "io/keys_read.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 256, NAMES_MOST = 128, NAME_ROOM = 64 };

/* ---- paths and the resolved text ---- */

size_t key_enter(struct key_reader *reader, const char *name)
{
    const size_t length = strlen(reader->path);
    snprintf(reader->path + length, sizeof reader->path - length, "%s", name);
    return length;
}

void key_leave(struct key_reader *reader, size_t length)
{
    reader->path[length] = '\0';
}

/* File names without folders: a resolved scenario is the same wherever it was read. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void key_show(struct key_reader *reader, const char *name, const char *value,
              const struct yaml_node *node, const char *origin)
{
    if (reader->resolved == NULL) return;
    if (reader->hidden != NULL && strcmp(reader->hidden, name) == 0) return;
    char safe[1024];
    text_escape(value, strlen(value), safe, sizeof safe);
    fprintf(reader->resolved, "%s%s: %s  # ", reader->path, name, safe);
    if (node == NULL) {
        fprintf(reader->resolved, "%s\n", origin);
        return;
    }
    const char *file = base_name(node->document->file);
    if (strcmp(file, "--set") == 0)
        fprintf(reader->resolved, "--set\n");
    else
        fprintf(reader->resolved, "%s:%" PRIu64 "\n", file, yaml_place(node).line);
}

/* ---- problems ---- */

const char *yaml_kind_name(const struct yaml_node *node)
{
    return node->kind == YAML_LIST ? "a list" : node->kind == YAML_MAP ? "a mapping" : "a value";
}

void key_missing(struct key_reader *reader, const struct key_row *row, const struct yaml_node *map)
{
    const char *dot = strrchr(row->path, '.');
    const struct place at = map == NULL ? (struct place){ 0 }
                            : map->parent == NULL && map->key == NULL
                                ? (struct place){ .file = map->document->file }
                                : yaml_key_place(map);
    diag_error(reader->diag, at, "'%s%s' is missing: %s", reader->path, dot ? dot + 1 : row->path,
               row->help);
}

void key_wrong_kind(struct key_reader *reader, const char *name, const struct yaml_node *node,
                    const char *wanted)
{
    diag_error(reader->diag, yaml_place(node), "%s%s: expected %s, got %s", reader->path, name,
               wanted, yaml_kind_name(node));
}

void key_unknown_word(struct key_reader *reader, const char *name, const struct yaml_node *node,
                      const char *const *words, size_t count)
{
    const char *nearest = text_nearest(node->text, words, count);
    char list[512] = "";
    for (size_t i = 0, used = 0; i < count && used + NAME_ROOM + 2 < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%.64s", i ? ", " : "", words[i]);
    if (nearest)
        diag_error(reader->diag, yaml_place(node), "%s%s: unknown '%s'; did you mean '%s'?",
                   reader->path, name, node->text, nearest);
    else
        diag_error(reader->diag, yaml_place(node), "%s%s: unknown '%s'; known: %s", reader->path,
                   name, node->text, list);
}

/* The names of the rows directly below a prefix. */
static size_t names_below(const char *prefix, const char *names[NAMES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < key_count && count < NAMES_MOST; i++)
        if (key_below(&keys[i], prefix) && keys[i].type != KEY_NOT_BUILT)
            names[count++] = key_below(&keys[i], prefix);
    return count;
}

static void unknown_key(struct key_reader *reader, const char *prefix, const struct yaml_node *node)
{
    const char *names[NAMES_MOST];
    const size_t count = names_below(prefix, names);
    char inside[PATH_BYTES + 16] = "", list[512] = "";
    const size_t length = strlen(reader->path);
    if (length > 0) snprintf(inside, sizeof inside, " in '%.*s'", (int)(length - 1), reader->path);
    if (strchr(node->key, ':')) { /* {gpus:8} is a key of its own to YAML (P22) */
        diag_error(reader->diag, yaml_key_place(node),
                   "unknown key '%s'%s; is the blank missing after ':'?", node->key, inside);
        return;
    }
    const char *nearest = text_nearest(node->key, names, count);
    if (nearest) {
        diag_error(reader->diag, yaml_key_place(node), "unknown key '%s'%s; did you mean '%s'?",
                   node->key, inside, nearest);
        return;
    }
    for (size_t i = 0, used = 0; i < count && used + NAME_ROOM + 2 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    diag_error(reader->diag, yaml_key_place(node), "unknown key '%s'%s; known: %s", node->key,
               inside, list);
}

/* Keys that the table does not hold (P18), or holds as not built. */
static void refuse_unknown(struct key_reader *reader, const char *prefix,
                           const struct yaml_node *node)
{
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        if (diag_error_count(reader->diag) >= LIMIT_DIAG_PROBLEMS) return;
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s%s", prefix, child->key);
        const struct key_row *row = strpbrk(child->key, ".[") ? NULL : key_find(path);
        if (row == NULL)
            unknown_key(reader, prefix, child);
        else if (row->type == KEY_NOT_BUILT)
            diag_error(reader->diag, yaml_key_place(child), "'%s%s' is not built yet (%s)",
                       reader->path, child->key, row->help);
    }
}

/* ---- rows ---- */

static const struct yaml_node *child_of(const struct yaml_node *map, const char *name)
{
    return map ? yaml_child(map, name) : NULL;
}

/* The value for a row: of the map, else of the one below it. A twin in the nearer map hides both. */
static const struct yaml_node *value_of(struct key_reader *reader, const struct key_row *row,
                                        const char *name, const struct yaml_node *map,
                                        const struct yaml_node *below)
{
    const struct yaml_node *node = child_of(map, name);
    const struct yaml_node *twin = row->twin ? child_of(map, row->twin) : NULL;
    if (node && twin && node->offset > twin->offset)
        diag_error(reader->diag, yaml_key_place(node), "%s%s: give either '%s' or '%s'",
                   reader->path, name, row->twin, name);
    if (node || twin) return node;
    return child_of(below, name);
}

static void read_map(struct key_reader *reader, const struct key_row *row, const char *name,
                     const struct yaml_node *node, const struct yaml_node *map, void *target)
{
    if (node == NULL && row->fallback == NULL) {
        key_missing(reader, row, map);
        return;
    }
    struct yaml_node wrapped = { 0 }, inner;
    if (node != NULL && node->kind != YAML_MAP) {
        if (row->short_key == NULL) {
            key_wrong_kind(reader, name, node, "a mapping");
            return;
        }
        /* A value in the map's place stands for its short key: replicas: 20. */
        inner = *node;
        inner.key = row->short_key;
        inner.next = NULL;
        wrapped = *node;
        wrapped.kind = YAML_MAP;
        wrapped.first = inner.parent = &inner;
        inner.parent = &wrapped;
        wrapped.first = &inner;
        node = &wrapped;
    }
    char prefix[PATH_BYTES], shown[NAME_ROOM + 2];
    snprintf(prefix, sizeof prefix, "%s.", row->path);
    snprintf(shown, sizeof shown, "%s.", name);
    const size_t length = key_enter(reader, shown);
    keys_read(reader, prefix, node, NULL, target);
    key_leave(reader, length);
}

static void read_custom(struct key_reader *reader, const struct key_found *found)
{
    for (const struct key_custom *custom = reader->customs; custom && custom->path; custom++)
        if (strcmp(custom->path, found->row->path) == 0) {
            custom->read(reader, found);
            return;
        }
}

/* The default of a row, read as if it were written. A computed one is left to its reader. */
static void take_default(struct key_reader *reader, const struct key_found *found, const char *name)
{
    const struct key_row *row = found->row;
    if (row->fallback[0] == '=') {
        read_custom(reader, found);
        return;
    }
    const struct yaml_document document = { .file = "default" };
    const struct yaml_node node = { .kind = YAML_SCALAR,
                                    .text = row->fallback,
                                    .text_bytes = strlen(row->fallback),
                                    .document = &document };
    key_scalar(reader, row, &node, found->target);
    key_show(reader, name, row->fallback[0] ? row->fallback : "\"\"", NULL, "default");
}

/* Names of the schedulers among bits, "plain or static". */
static void kind_names(uint32_t kinds, char *out, size_t out_bytes)
{
    const struct key_row *row = key_find("scheduler.kind");
    char word[32];
    bool built;
    size_t used = 0;
    for (size_t i = 0; key_word(row->words, i, word, sizeof word, &built); i++)
        if ((kinds & (1u << i)) && used < out_bytes)
            used +=
                (size_t)snprintf(out + used, out_bytes - used, "%s%s", used ? " or " : "", word);
}

/* A key of a scheduler that is not chosen would be silently without effect. */
static void refuse_kind(struct key_reader *reader, const struct key_row *row, const char *name,
                        const struct yaml_node *node)
{
    char known[80], chosen[80];
    kind_names(row->kinds, known, sizeof known);
    kind_names(reader->kinds, chosen, sizeof chosen);
    diag_error(reader->diag, yaml_key_place(node),
               "'%s%s' belongs to scheduler.kind %s, but this scenario's is %s; take it out or "
               "change the kind",
               reader->path, name, known, chosen);
}

static bool is_zero(const struct key_found *around, const char *name)
{
    const struct yaml_node *node = child_of(around->map, name);
    return node != NULL && node->kind == YAML_SCALAR && strcmp(node->text, "0") == 0;
}

static void read_row(struct key_reader *reader, const struct key_row *row, const char *name,
                     const struct key_found *around)
{
    const struct yaml_node *node = value_of(reader, row, name, around->map, around->below);
    if (reader->kinds && row->kinds && !(row->kinds & reader->kinds)) {
        if (node != NULL) refuse_kind(reader, row, name, node);
        return;
    }
    if (row->kinds && reader->kinds == KINDS_UNKNOWN && node == NULL) return;
    if (node == NULL && row->unless_zero && is_zero(around, row->unless_zero)) return;
    if (node != NULL && yaml_is_null(node)) { /* P07 */
        if (row->fallback == NULL) {
            diag_error(reader->diag, yaml_key_place(node), "%s%s: value missing: %s", reader->path,
                       name, row->help);
            return;
        }
        node = NULL;
    }
    const struct key_found found = { row, node, around->map, around->below, around->target };
    if (row->type == KEY_MAP) {
        /* The other form of it is written: this one has nothing to say, not even defaults. */
        if (node == NULL && row->twin && child_of(around->map, row->twin)) return;
        read_map(reader, row, name, node, around->map, around->target);
    } else if (row->type == KEY_CUSTOM) {
        if (node == NULL && row->fallback == NULL)
            key_missing(reader, row, around->map);
        else
            read_custom(reader, &found);
    } else if (node != NULL) {
        if (key_scalar(reader, row, node, around->target))
            key_show(reader, name, node->text[0] ? node->text : "\"\"", node, NULL);
    } else if (row->fallback == NULL) {
        key_missing(reader, row, around->map);
    } else if (row->twin == NULL || child_of(around->map, row->twin) == NULL) {
        take_default(reader, &found, name);
    }
}

void keys_read(struct key_reader *reader, const char *prefix, const struct yaml_node *node,
               const struct yaml_node *below, void *target)
{
    if (node != NULL) refuse_unknown(reader, prefix, node);
    const struct key_found around = { .map = node, .below = below, .target = target };
    for (size_t i = 0; i < key_count; i++) {
        const char *name = key_below(&keys[i], prefix);
        if (name == NULL || keys[i].type == KEY_NOT_BUILT) continue;
        if (diag_error_count(reader->diag) >= LIMIT_DIAG_PROBLEMS) return;
        read_row(reader, &keys[i], name, &around);
    }
}
