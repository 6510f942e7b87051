/* catalog_json.c - the catalog as JSON; see catalog_show.h. */
#include "cli/catalog_show.h"

#include <jansson.h>

#include <string.h>

/* Functions of jansson return failure when memory is out; it reaches the root as NULL or -1. */
static void add_field(const struct catalog_field *field, void *context)
{
    json_t *row = json_pack("{s:s, s:s}", "name", field->name, "text", field->node->text);
    if (row == NULL) return;
    if (field->is_number) json_object_set_new(row, "value", json_real(field->value));
    if (field->is_number && field->unit[0])
        json_object_set_new(row, "unit", json_string(field->unit));
    json_object_set_new(row, "mark", field->mark[0] ? json_string(field->mark) : json_null());
    json_object_set_new(row, "source", field->source[0] ? json_string(field->source) : json_null());
    json_array_append_new(context, row);
}

static void add_text(json_t *object, const struct yaml_node *entry, const char *key)
{
    const struct yaml_node *child = yaml_child(entry, key);
    if (child != NULL && child->kind == YAML_SCALAR)
        json_object_set_new(object, key, json_string(child->text));
}

static json_t *entry_of(const struct yaml_node *entry, enum catalog_kind kind)
{
    const char *slash = strrchr(entry->document->file, '/');
    json_t *fields = json_array();
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:I}", "id", catalog_id(entry), "kind", catalog_kind_name(kind), "file",
        slash ? slash + 1 : entry->document->file, "line", (json_int_t)yaml_place(entry).line);
    add_text(object, entry, "mark");
    add_text(object, entry, "source");
    add_text(object, entry, "refused");
    catalog_each_field(kind, entry, add_field, fields);
    if (json_object_set_new(object, "fields", fields) == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *all_of(struct catalog *catalog, struct diag *diag)
{
    json_t *root = json_object();
    for (int i = 0; i < CATALOG_KINDS; i++) {
        const enum catalog_kind kind = (enum catalog_kind)i;
        json_t *list = json_array();
        for (const struct yaml_node *entry = catalog_first(catalog, kind, diag); entry;
             entry = entry->next)
            json_array_append_new(list, entry_of(entry, kind));
        json_object_set_new(root, catalog_kind_name(kind), list);
    }
    return root;
}

enum status catalog_show_json(struct catalog *catalog, const struct yaml_node *entry,
                              enum catalog_kind kind, struct diag *diag)
{
    json_t *root = entry ? entry_of(entry, kind) : all_of(catalog, diag);
    const bool written =
        root != NULL && json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    if (!written) return diag_world(diag, "memory is out, or stdout is gone");
    putchar('\n');
    return diag_status(diag);
}
