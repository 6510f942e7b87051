/* scenario_set.c - --set path=value, grafted into the document before it is read.
 *
 * The line becomes a document of its own, named --set, so that a problem points into it. A path
 * goes through maps by key and through lists by [index] or by the name of an element:
 * layouts.dense8.servers.count, layouts[0].servers.count. Where a value stands for a map by its
 * short key (replicas: 20) the map is written out first, so that replicas.resample can be set. */
#include "io/scenario_parts.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 256, NAMES_MOST = 64 };

/* Where the walk along the path is. */
struct walk {
    struct reading *reading;
    struct yaml_document *set;
    const char *line;
    size_t path_bytes, at;
    struct yaml_node *node;
    char row[ROW_BYTES]; /* path of the node in the table: "layouts[].servers" */
};

static struct place place_at(const struct walk *walk, size_t offset, size_t width)
{
    return place_in_text("--set", walk->line, strlen(walk->line), offset, width);
}

static enum status out_of_memory(struct walk *walk)
{
    return diag_world(walk->reading->reader.diag, "--set: out of memory");
}

/* Points a node at the segment [offset, offset + width) of the line. */
static void move_to_line(struct walk *walk, struct yaml_node *node, size_t offset, size_t width)
{
    node->document = walk->set;
    node->offset = node->key_offset = offset;
    node->width = node->key_width = width;
}

static struct yaml_node *new_child(struct walk *walk, const char *key, size_t key_bytes)
{
    struct yaml_node *child = ARENA_ARRAY(walk->set->arena, struct yaml_node, 1);
    char *name = arena_take(walk->set->arena, key_bytes + 1, 1);
    if (child == NULL || name == NULL) return NULL;
    memcpy(name, key, key_bytes);
    child->kind = YAML_MAP;
    child->text = "";
    child->key = name;
    child->parent = walk->node;
    child->next = walk->node->first;
    walk->node->first = child;
    walk->node->child_count++;
    return child;
}

/* Makes a map of the node; what stood there goes below the short key of its row. */
static enum status make_map(struct walk *walk, size_t offset, size_t width)
{
    if (walk->node->kind == YAML_MAP) return STATUS_OK;
    struct yaml_node old = *walk->node;
    const struct key_row *row = key_find(walk->row);
    walk->node->kind = YAML_MAP;
    walk->node->first = NULL;
    walk->node->child_count = 0;
    if (row != NULL && row->short_key != NULL && !yaml_is_null(&old)) {
        struct yaml_node *child = new_child(walk, row->short_key, strlen(row->short_key));
        if (child == NULL) return out_of_memory(walk);
        old.key = child->key;
        old.parent = walk->node;
        old.next = NULL;
        *child = old;
        for (struct yaml_node *below = child->first; below; below = below->next)
            below->parent = child;
        return STATUS_OK;
    }
    move_to_line(walk, walk->node, offset, width);
    return STATUS_OK;
}

/* The list that the node is, or holds below its short key. */
static struct yaml_node *list_of(struct walk *walk)
{
    if (walk->node->kind == YAML_LIST) return walk->node;
    const struct key_row *row = key_find(walk->row);
    if (walk->node->kind != YAML_MAP || row == NULL || row->short_key == NULL) return NULL;
    struct yaml_node *list = yaml_child(walk->node, row->short_key);
    return list != NULL && list->kind == YAML_LIST ? list : NULL;
}

static bool is_row(const char *row, const char *name, size_t name_bytes)
{
    char path[ROW_BYTES];
    const int most = name_bytes < sizeof path ? (int)name_bytes : (int)sizeof path;
    const int bytes = snprintf(path, sizeof path, "%s%s%.*s", row, row[0] ? "." : "", most, name);
    return bytes > 0 && (size_t)bytes < sizeof path && key_find(path) != NULL;
}

static const char *element_name(const struct yaml_node *element)
{
    const struct yaml_node *name = yaml_child(element, "name");
    return name != NULL && name->kind == YAML_SCALAR ? name->text : "";
}

/* The element whose name stands at the walk's place; the longest wins, as names may hold dots. */
static struct yaml_node *element_by_name(struct walk *walk, struct yaml_node *list)
{
    struct yaml_node *best = NULL;
    size_t best_bytes = 0;
    for (struct yaml_node *element = list->first; element; element = element->next) {
        const char *name = element_name(element);
        const size_t bytes = strlen(name);
        if (bytes <= best_bytes || walk->at + bytes > walk->path_bytes) continue;
        const char behind = walk->line[walk->at + bytes];
        if (memcmp(walk->line + walk->at, name, bytes) == 0 && strchr(".[=", behind)) {
            best = element;
            best_bytes = bytes;
        }
    }
    walk->at += best_bytes;
    return best;
}

static enum status no_element(struct walk *walk, const struct yaml_node *list, size_t bytes)
{
    char word[LIMIT_NAME_BYTES];
    const char *names[NAMES_MOST];
    size_t count = 0;
    text_copy(word, sizeof word, walk->line + walk->at, bytes);
    for (const struct yaml_node *element = list->first; element && count < NAMES_MOST;
         element = element->next)
        names[count++] = element_name(element);
    const char *nearest = text_nearest(word, names, count);
    return diag_error(walk->reading->reader.diag, place_at(walk, walk->at, bytes),
                      "no element named '%s' in '%s'%s%s%s", word, walk->row,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

static void enter_element(struct walk *walk, struct yaml_node *element)
{
    const size_t length = strlen(walk->row);
    snprintf(walk->row + length, sizeof walk->row - length, "[]");
    walk->node = element;
}

/* [index] */
static enum status step_index(struct walk *walk)
{
    struct diag *diag = walk->reading->reader.diag;
    const size_t start = walk->at++;
    uint32_t index = 0;
    const size_t digits_at = walk->at;
    for (; walk->at < walk->path_bytes && walk->line[walk->at] >= '0' &&
           walk->line[walk->at] <= '9' && walk->at - digits_at < 6;
         walk->at++)
        index = index * 10 + (uint32_t)(walk->line[walk->at] - '0');
    if (walk->at == digits_at || walk->line[walk->at] != ']')
        return diag_error(diag, place_at(walk, start, 1), "expected [0], [1], ... here");
    walk->at++;
    struct yaml_node *list = list_of(walk);
    if (list == NULL)
        return diag_error(diag, place_at(walk, start, walk->at - start), "'%s' is no list",
                          walk->row);
    struct yaml_node *element = list->first;
    for (uint32_t i = 0; i < index && element; i++) element = element->next;
    if (element == NULL)
        return diag_error(diag, place_at(walk, start, walk->at - start),
                          "'%s' has %u elements, counted from 0", walk->row, list->child_count);
    enter_element(walk, element);
    return STATUS_OK;
}

/* A key of a map, or the name of an element of a list. */
static enum status step_name(struct walk *walk)
{
    const char *name = walk->line + walk->at;
    size_t bytes = 0;
    while (walk->at + bytes < walk->path_bytes && name[bytes] != '.' && name[bytes] != '[') bytes++;
    if (bytes == 0)
        return diag_error(walk->reading->reader.diag, place_at(walk, walk->at, 1),
                          "a name is missing here");
    struct yaml_node *list = is_row(walk->row, name, bytes) ? NULL : list_of(walk);
    if (list != NULL) {
        struct yaml_node *element = element_by_name(walk, list);
        if (element == NULL) return no_element(walk, list, bytes);
        enter_element(walk, element);
        return STATUS_OK;
    }
    TRY(make_map(walk, walk->at, bytes));
    struct yaml_node *child = walk->node->first;
    while (child && !(strlen(child->key) == bytes && memcmp(child->key, name, bytes) == 0))
        child = child->next;
    if (child == NULL) {
        child = new_child(walk, name, bytes);
        if (child == NULL) return out_of_memory(walk);
        move_to_line(walk, child, walk->at, bytes);
    }
    const size_t length = strlen(walk->row);
    snprintf(walk->row + length, sizeof walk->row - length, "%s%s", length ? "." : "", child->key);
    walk->node = child;
    walk->at += bytes;
    return STATUS_OK;
}

/* The value takes the place of the node. */
static void replace(struct walk *walk, size_t key_offset)
{
    const struct yaml_node *value = walk->set->root;
    struct yaml_node *node = walk->node;
    struct yaml_node *next = node->next, *parent = node->parent;
    const char *key = node->key;
    *node = *value;
    node->key = key;
    node->next = next;
    node->parent = parent;
    node->key_offset = key_offset;
    node->key_width = walk->path_bytes - key_offset;
    for (struct yaml_node *child = node->first; child; child = child->next) child->parent = node;
}

/* Reads what follows the '=': blanks in place of the path keep the columns right. */
static enum status read_value(struct walk *walk)
{
    struct diag *diag = walk->reading->reader.diag;
    const size_t bytes = strlen(walk->line);
    if (strspn(walk->line + walk->path_bytes + 1, " ") == bytes - walk->path_bytes - 1)
        return diag_error(diag, place_at(walk, walk->path_bytes, 1),
                          "a value is missing behind '='");
    char *blanked = malloc(bytes + 1);
    if (blanked == NULL) return out_of_memory(walk);
    memcpy(blanked, walk->line, bytes + 1);
    memset(blanked, ' ', walk->path_bytes + 1);
    const enum status status = yaml_read_text("--set", blanked, bytes, walk->set, diag);
    free(blanked);
    if (status == STATUS_OK && walk->set->text_bytes == bytes)
        memcpy(walk->set->text, walk->line, bytes);
    return status;
}

enum status scenario_set(struct reading *reading, const char *line, struct yaml_document *set)
{
    const char *equals = strchr(line, '=');
    if (equals == NULL)
        return diag_usage(reading->reader.diag, "--set '%s': write it as path=value", line);
    struct walk walk = { .reading = reading,
                         .set = set,
                         .line = line,
                         .path_bytes = (size_t)(equals - line),
                         .node = reading->document.root };
    TRY(read_value(&walk));
    size_t key_offset = 0;
    do {
        const bool is_index = line[walk.at] == '[';
        if (!is_index && walk.at > 0 && line[walk.at++] != '.')
            return diag_error(reading->reader.diag, place_at(&walk, walk.at - 1, 1),
                              "expected '.', '[' or '=' here");
        key_offset = walk.at;
        TRY(is_index ? step_index(&walk) : step_name(&walk));
    } while (walk.at < walk.path_bytes);
    replace(&walk, key_offset);
    return STATUS_OK;
}
