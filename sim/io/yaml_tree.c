/* yaml_tree.c - asking a parsed document. */
#include "io/yaml.h"

#include <string.h>

void yaml_clear(struct yaml_document *document)
{
    arena_destroy(document->arena);
    *document = (struct yaml_document){ 0 };
}

struct yaml_node *yaml_child(const struct yaml_node *map, const char *key)
{
    if (map->kind != YAML_MAP) return NULL;
    for (struct yaml_node *child = map->first; child != NULL; child = child->next)
        if (strcmp(child->key, key) == 0) return child;
    return NULL;
}

struct place yaml_place(const struct yaml_node *node)
{
    const struct yaml_document *document = node->document;
    return place_in_text(document->file, document->text, document->text_bytes, node->offset,
                         node->width);
}

struct place yaml_key_place(const struct yaml_node *node)
{
    const struct yaml_document *document = node->document;
    if (node->key == NULL) return yaml_place(node);
    return place_in_text(document->file, document->text, document->text_bytes, node->key_offset,
                         node->key_width);
}

bool yaml_is_null(const struct yaml_node *node)
{
    static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
    if (node->kind != YAML_SCALAR || node->quoted) return false;
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (strcmp(node->text, nulls[i]) == 0) return true;
    return false;
}

enum status yaml_require_map(const struct yaml_document *document, struct diag *diag)
{
    const struct yaml_node *root = document->root;
    if (root->kind == YAML_MAP) return STATUS_OK;
    const char *hint = root->kind == YAML_SCALAR && strchr(root->text, ':')
                           ? "; is the blank missing after ':'?"
                           : "";
    return diag_error(diag, yaml_place(root), "expected a mapping of keys to values, got %s%s",
                      root->kind == YAML_LIST ? "a list" : "one text", hint);
}
