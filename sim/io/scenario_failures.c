/* scenario_failures.c - rates of the catalog, and components spelled out over them. */
#include "io/scenario_parts.h"

#include "base/text.h"

#include <string.h>

enum { IDS_MOST = 64 };

void read_rates(struct key_reader *reader, const struct key_found *found)
{
    struct reading *reading = reading_of(reader);
    struct failures *failures = &reading->scenario->failures;
    const struct yaml_node *node = found->node;
    if (node != NULL && node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, "rates", node, "an entry of catalog failures.yaml, or none");
        return;
    }
    const char *id = node ? node->text : "none";
    text_copy(failures->rates, sizeof failures->rates, id, strlen(id));
    key_show(reader, "rates", id, node, "default");
    if (strcmp(id, "none") == 0) return;
    reading->rates = catalog_find(&reading->catalog, CATALOG_FAILURES, id, reader->diag);
    if (reading->rates != NULL || !reading->catalog.usable[CATALOG_FAILURES]) return;
    const char *names[IDS_MOST] = { "none" };
    size_t count = 1;
    const struct yaml_node *entry =
        catalog_first(&reading->catalog, CATALOG_FAILURES, reader->diag);
    for (; entry && count < IDS_MOST; entry = entry->next) names[count++] = catalog_id(entry);
    key_unknown_word(reader, "rates", node, names, count);
}

/* One component: the scenario's keys over those of the catalog entry. */
void read_component(struct key_reader *reader, const struct key_found *found)
{
    struct reading *reading = reading_of(reader);
    struct failures *failures = &reading->scenario->failures;
    const char *name = strrchr(found->row->path, '.') + 1;
    size_t component = 0;
    while (strcmp(component_keys[component], name) != 0) component++;
    const struct yaml_node *node = found->node;
    const struct yaml_node *below = reading->rates ? yaml_child(reading->rates, name) : NULL;
    const bool none = node != NULL && node->kind == YAML_SCALAR && strcmp(node->text, "none") == 0;
    failures->component[component] = (struct component_failures){ .law = LAW_NONE };
    if (none || (node == NULL && below == NULL)) {
        key_show(reader, name, "none", node, "default");
        return;
    }
    if (node != NULL && node->kind != YAML_MAP) {
        key_wrong_kind(reader, name, node, "a mapping with a rate or an mtbf, or none");
        return;
    }
    if (node != NULL && strcmp(failures->rates, "none") == 0)
        text_copy(failures->rates, sizeof failures->rates, "inline", 6);
    char shown[32];
    snprintf(shown, sizeof shown, "%s.", name);
    const size_t length = key_enter(reader, shown);
    catalog_read_component(reader, node, below, &failures->component[component]);
    key_leave(reader, length);
}
