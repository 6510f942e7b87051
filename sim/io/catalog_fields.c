/* catalog_fields.c - walks an entry by the table of keys; see catalog_fields.h. */
#include "io/catalog_fields.h"

#include <string.h>

enum { PATH_BYTES = 128 };

/* A row, or a row within a row: where its keys stand in the table, and what its fields inherit. */
struct scope {
    const char *keys;  /* "server."                    */
    const char *shown; /* in front of names: "" or "gpu." */
    const char *mark, *source;
    const struct yaml_node *marks, *sources; /* maps by field, or NULL */
    catalog_visit *visit;
    void *context;
};

static const char *text_in(const struct yaml_node *map, const char *key, const char *otherwise)
{
    const struct yaml_node *child = map ? yaml_child(map, key) : NULL;
    return child != NULL && child->kind == YAML_SCALAR ? child->text : otherwise;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static const char *unit_of(const struct key_row *row)
{
    switch (row->type) {
    case KEY_SECONDS:
    case KEY_DURATION:
        return "s";
    case KEY_SIZE:
    case KEY_BYTES:
        return "B";
    case KEY_BANDWIDTH:
        return "B/s";
    case KEY_POWER:
        return "W";
    case KEY_PER_TIME:
        return "s"; /* stored as the mean time between two */
    default:
        return ends_with(row->path, "_usd")      ? "USD"
               : ends_with(row->path, "_tflops") ? "TFLOP/s"
                                                 : "";
    }
}

/* The number of a field, read by its row into a place of our own. */
static void take_number(struct catalog_field *field)
{
    double value = 0;
    uint64_t whole = 0;
    struct key_row row = *field->row;
    const bool is_whole =
        row.type == KEY_COUNT || row.type == KEY_BYTES || row.type == KEY_DURATION;
    row.offset = 0;
    row.bytes = 8;
    struct key_reader reader = { .diag = diag_create() };
    if (reader.diag == NULL) return;
    field->is_number =
        key_scalar(&reader, &row, field->node, is_whole ? (void *)&whole : (void *)&value);
    field->value = is_whole ? (double)whole : value;
    diag_destroy(reader.diag);
}

static void visit_field(const struct scope *scope, const struct key_row *row,
                        const struct yaml_node *node)
{
    struct catalog_field field = { .row = row, .node = node, .unit = unit_of(row) };
    snprintf(field.name, sizeof field.name, "%s%s", scope->shown, node->key);
    if (row->type >= KEY_COUNT && row->type <= KEY_POWER) take_number(&field);
    field.mark = text_in(scope->marks, node->key, scope->mark);
    field.source = text_in(scope->sources, node->key, scope->source);
    scope->visit(&field, scope->context);
}

static bool is_about(const char *key)
{
    static const char *const about[] = { "id",    "mark",    "source", "notes",
                                         "marks", "sources", "refused" };
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (strcmp(key, about[i]) == 0) return true;
    return false;
}

static void visit_scalars(const struct scope *scope, const struct yaml_node *map)
{
    for (const struct yaml_node *child = map->first; child; child = child->next) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s%s", scope->keys, child->key);
        const struct key_row *row = is_about(child->key) ? NULL : key_find(path);
        if (row != NULL && child->kind == YAML_SCALAR) visit_field(scope, row, child);
    }
}

/* A row and its notes. What it does not say about itself is said by the row around it. */
static void visit_row(const struct scope *around, const struct yaml_node *map)
{
    const struct yaml_node *notes = yaml_child(map, "notes");
    struct scope scope = *around;
    scope.mark = text_in(map, "mark", around->mark);
    scope.source = text_in(map, "source", around->source);
    scope.marks = notes ? yaml_child(notes, "marks") : NULL;
    scope.sources = notes ? yaml_child(notes, "sources") : NULL;
    visit_scalars(&scope, map);
    const struct yaml_node *train = yaml_child(map, "train");
    if (train != NULL) {
        struct scope plan = scope;
        plan.keys = plan.shown = "train.";
        visit_scalars(&plan, train);
    }
    if (notes == NULL) return;
    char keys_of_notes[PATH_BYTES], shown[PATH_BYTES];
    snprintf(keys_of_notes, sizeof keys_of_notes, "%snotes.", scope.keys);
    snprintf(shown, sizeof shown, "%snotes.", around->shown);
    scope.keys = keys_of_notes;
    scope.shown = shown;
    visit_scalars(&scope, notes);
}

void catalog_each_field(enum catalog_kind kind, const struct yaml_node *entry, catalog_visit *visit,
                        void *context)
{
    struct scope scope = { .keys = catalog_kind_keys(kind),
                           .shown = "",
                           .mark = "",
                           .source = "",
                           .visit = visit,
                           .context = context };
    char shown[PATH_BYTES];
    if (kind == CATALOG_FAILURES) {
        scope.keys = "component.";
        for (const struct yaml_node *part = entry->first; part; part = part->next) {
            if (part->kind != YAML_MAP) continue;
            snprintf(shown, sizeof shown, "%s.", part->key);
            scope.shown = shown;
            visit_row(&scope, part);
        }
        return;
    }
    const struct yaml_node *list = kind == CATALOG_MIXES ? yaml_child(entry, "entries") : NULL;
    if (list == NULL) {
        visit_row(&scope, entry);
        return;
    }
    scope.mark = text_in(entry, "mark", "");
    scope.source = text_in(entry, "source", "");
    unsigned number = 0;
    for (const struct yaml_node *part = list->first; part; part = part->next) {
        snprintf(shown, sizeof shown, "entries[%u].", number++);
        scope.shown = shown;
        visit_row(&scope, part);
    }
}
