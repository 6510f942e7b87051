/* scenario_layouts.c - layouts, the baseline, what may differ, gates. */
#include "io/scenario_parts.h"
#include "io/server_inside.h"

#include "base/quantity.h"

#include <math.h>
#include <string.h>

enum { IDS_MOST = 64 };

/* An entry of the catalog by its id; a wrong id gets a suggestion. */
static const struct yaml_node *entry_of(struct key_reader *reader, const char *name,
                                        const struct yaml_node *node, enum catalog_kind kind)
{
    struct reading *reading = reading_of(reader);
    const struct yaml_node *entry = catalog_find(&reading->catalog, kind, node->text, reader->diag);
    if (entry != NULL || !reading->catalog.usable[kind]) return entry;
    const char *names[IDS_MOST];
    size_t count = 0;
    for (entry = catalog_first(&reading->catalog, kind, reader->diag); entry && count < IDS_MOST;
         entry = entry->next)
        names[count++] = catalog_id(entry);
    key_unknown_word(reader, name, node, names, count);
    return NULL;
}

/* Where a type is read from: an entry of the catalog; or a map, and below it the entry that it is
 * like. node NULL after a problem. */
struct type_source {
    const struct yaml_node *node, *below;
};

static struct type_source type_source(struct key_reader *reader, const char *name,
                                      const struct yaml_node *node, enum catalog_kind kind)
{
    struct type_source source = { NULL, NULL };
    if (node->kind == YAML_LIST) {
        key_wrong_kind(reader, name, node, "a name of the catalog or a mapping");
    } else if (node->kind == YAML_SCALAR) {
        key_show(reader, name, node->text, node, NULL);
        source.node = entry_of(reader, name, node, kind);
    } else {
        const struct yaml_node *like = yaml_child(node, "like");
        source.node = node;
        if (like == NULL) return source;
        if (like->kind == YAML_SCALAR)
            source.below = entry_of(reader, name, like, kind);
        else
            key_wrong_kind(reader, "like", like, "a name of the catalog");
        if (source.below == NULL)
            source.node = NULL;
        else
            key_show(reader, name, like->text, like, NULL);
    }
    return source;
}

/* Whether a server's rings are as its links say: a map without their rate, of a server like none or with other links. What
 * was measured on the one that it is like holds no more. */
static bool rings_follow(const struct type_source *source)
{
    static const char *const links[] = { "nvlink",        "nvlink_links",  "nvlink_rate",
                                         "pcie",          "pcie_switches", "pcie_uplink",
                                         "gpu_pcie",      "socket_link",   "host_memory",
                                         "p2p_max_class", "matrix",        "sockets" };
    if (yaml_child(source->node, "scaleup") != NULL) return false;
    if (source->below == NULL) return true;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (yaml_child(source->node, links[i]) != NULL) return true;
    return false;
}

void read_server(struct key_reader *reader, const char *name, const struct yaml_node *node,
                 struct server_type *server)
{
    const struct type_source source = type_source(reader, name, node, CATALOG_SERVERS);
    if (source.node == NULL) return;
    char shown[32];
    snprintf(shown, sizeof shown, "%s.", name);
    const size_t length = key_enter(reader, shown);
    const uint64_t errors = diag_error_count(reader->diag);
    catalog_read_server(reader, source.node, source.below, server);
    const struct yaml_node *matrix = yaml_child(source.node, "matrix");
    char path[LIMIT_PATH_BYTES];
    if (matrix != NULL && diag_error_count(reader->diag) == errors &&
        read_path(reader, "matrix", matrix, path))
        server_inside_matrix(reader, matrix, path, server);
    key_leave(reader, length);
    if (rings_follow(&source)) {
        server->ring_from_links = true;
        if (server->tree.gpus > 1 && server->nvlink_bytes_per_s <= 0 &&
            tree_gpu_path(&server->tree, 0, 1) == LINK_NVL)
            diag_error(reader->diag, yaml_place(source.node),
                       "%s: 'scaleup' is missing, and 'nvlink_rate', from which it would follow",
                       name);
        return;
    }
    catalog_read_fit(&reading_of(reader)->catalog,
                     catalog_id(source.below ? source.below : source.node), server, reader->diag);
}

void read_link_type(struct key_reader *reader, const struct key_found *found)
{
    struct layout *layout = found->target;
    const struct type_source source = type_source(reader, "link", found->node, CATALOG_LINKS);
    if (source.node == NULL) return;
    const size_t length = key_enter(reader, "link.");
    catalog_read_link(reader, source.node, source.below, &layout->fabric.link);
    layout->fabric.sharp = found->node->kind == YAML_MAP && layout->fabric.link.sharp &&
                           yaml_child(found->node, "sharp") != NULL;
    key_leave(reader, length);
}

/* Left out: as many NICs as the server type has. */
void read_nics_per_gpu(struct key_reader *reader, const struct key_found *found)
{
    struct layout *layout = found->target;
    char shown[SHOW_BYTES];
    if (layout->server.gpus == 0) return; /* its own problem was said */
    layout->fabric.nics_per_gpu = (double)layout->server.nics / layout->server.gpus;
    key_show(reader, "nics_per_gpu", show_number(layout->fabric.nics_per_gpu, shown), NULL,
             "default: as the server type has");
}

/* ---- the list ---- */

static void read_layout(struct key_reader *reader, const struct yaml_node *node)
{
    struct reading *reading = reading_of(reader);
    struct scenario *scenario = reading->scenario;
    const uint32_t row = scenario->layout_count++;
    struct layout *layout = &scenario->layouts[row];
    reading->layout_nodes[row] = node;
    const struct yaml_node *name = yaml_child(node, "name");
    char shown[LIMIT_NAME_BYTES + 8];
    if (name != NULL && name->kind == YAML_SCALAR && name->text_bytes > 0)
        snprintf(shown, sizeof shown, "%.63s.", name->text);
    else
        snprintf(shown, sizeof shown, "%u.", row);
    const size_t length = key_enter(reader, shown);
    keys_read(reader, "layouts[].", node, NULL, layout);
    key_leave(reader, length);
    for (uint32_t i = 0; i < row && layout->name[0]; i++)
        if (strcmp(scenario->layouts[i].name, layout->name) == 0)
            diag_error(reader->diag, yaml_place(name), "two layouts are called '%s'", layout->name);
}

void read_layouts(struct key_reader *reader, const struct key_found *found)
{
    const struct yaml_node *list = found->node;
    if (list->kind != YAML_LIST) {
        key_wrong_kind(reader, "list", list, "a list of layouts");
        return;
    }
    if (list->child_count == 0 || list->child_count > LIMIT_LAYOUTS) {
        diag_error(reader->diag, yaml_place(list), "a comparison has 1 to %d layouts, got %u",
                   LIMIT_LAYOUTS, list->child_count);
        return;
    }
    for (const struct yaml_node *node = list->first; node; node = node->next) {
        if (node->kind == YAML_MAP)
            read_layout(reader, node);
        else
            key_wrong_kind(reader, "list", node, "a mapping for each layout");
    }
    expand_schedulers(reading_of(reader));
}

/* ---- keys that name layouts ---- */

/* The row of the layout called node->text, or layout_count after a problem. */
static uint32_t layout_row(struct key_reader *reader, const char *name,
                           const struct yaml_node *node)
{
    const struct scenario *scenario = reading_of(reader)->scenario;
    const char *names[LIMIT_LAYOUTS];
    uint32_t row = 0;
    for (; row < scenario->layout_count; row++) {
        if (strcmp(scenario->layouts[row].name, node->text) == 0) return row;
        names[row] = scenario->layouts[row].name;
    }
    if (row > 0) key_unknown_word(reader, name, node, names, row);
    return row;
}

void read_baseline(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *node = found->node;
    scenario->baseline = 0;
    if (node == NULL) {
        key_show(reader, "baseline", scenario->layouts[0].name, NULL, "default: the first layout");
        return;
    }
    if (node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, "baseline", node, "the name of a layout");
        return;
    }
    const uint32_t row = layout_row(reader, "baseline", node);
    if (row < scenario->layout_count) scenario->baseline = row;
    key_show(reader, "baseline", node->text, node, NULL);
}

void read_allow_different(struct key_reader *reader, const struct key_found *found)
{
    static const char *const words[] = { "gpu", "fabric" };
    struct reading *reading = reading_of(reader);
    const struct yaml_node *node = found->node;
    if (node != NULL && node->kind != YAML_LIST) {
        key_wrong_kind(reader, "allow_different", node, "a list of gpu, fabric");
        return;
    }
    for (const struct yaml_node *item = node ? node->first : NULL; item; item = item->next) {
        if (item->kind == YAML_SCALAR && strcmp(item->text, "gpu") == 0)
            reading->may_differ_gpu = true;
        else if (item->kind == YAML_SCALAR && strcmp(item->text, "fabric") == 0)
            reading->may_differ_fabric = true;
        else
            key_unknown_word(reader, "allow_different", item, words, 2);
    }
    const bool gpu = reading->may_differ_gpu, fabric = reading->may_differ_fabric;
    key_show(reader, "allow_different",
             gpu && fabric ? "[gpu, fabric]"
             : gpu         ? "[gpu]"
             : fabric      ? "[fabric]"
                           : "[]",
             node, "default");
}

void read_tornado(struct key_reader *reader, const struct key_found *found)
{
    (void)found;
    struct scenario *scenario = reading_of(reader)->scenario;
    scenario->tornado = true;
    for (uint32_t row = 0; row < scenario->layout_count; row++)
        if (is_mixed(&scenario->layouts[row])) scenario->tornado = false;
    key_show(reader, "tornado", scenario->tornado ? "true" : "false", NULL,
             scenario->tornado ? "default" : "default: servers of several types are mixed");
}

/* ---- gates ---- */

/* 4h is seconds, 50% a share, else a number: the unit of the metric itself. */
void read_gate_limit(struct key_reader *reader, const struct key_found *found)
{
    struct gate *gate = found->target;
    const struct yaml_node *node = found->node;
    if (node == NULL) return;
    const char *name = strrchr(found->row->path, '.') + 1;
    struct why why;
    if (node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, name, node, "one value");
        return;
    }
    gate->below = strcmp(name, "below") == 0;
    if (quantity_number(node->text, node->text_bytes, &gate->limit, &why) ||
        quantity_share(node->text, node->text_bytes, &gate->limit, &why) ||
        quantity_duration_s(node->text, node->text_bytes, &gate->limit, &why)) {
        key_show(reader, name, node->text, node, NULL);
        return;
    }
    diag_error(reader->diag, yaml_place(node), "%s%s: cannot read '%s': write 4h, 50%% or a number",
               reader->path, name, node->text);
}

/* Written, and not as nothing (P07). */
static bool has_value(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node = yaml_child(map, key);
    return node != NULL && !yaml_is_null(node);
}

void read_gates(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *list = found->node;
    if (list == NULL) {
        key_show(reader, "gates", "[]", NULL, "default");
        return;
    }
    if (list->kind != YAML_LIST) {
        key_wrong_kind(reader, "gates", list, "a list of gates");
        return;
    }
    if (list->child_count > LIMIT_GATES) {
        diag_error(reader->diag, yaml_place(list), "gates: at most %d", LIMIT_GATES);
        return;
    }
    for (const struct yaml_node *node = list->first; node; node = node->next) {
        if (node->kind != YAML_MAP) {
            key_wrong_kind(reader, "gates", node, "a mapping for each gate");
            continue;
        }
        char shown[32];
        snprintf(shown, sizeof shown, "gates[%u].", scenario->gate_count);
        const size_t length = key_enter(reader, shown);
        keys_read(reader, "gates[].", node, NULL, &scenario->gates[scenario->gate_count++]);
        if (!has_value(node, "below") && !has_value(node, "above"))
            diag_error(reader->diag, yaml_place(node), "a gate needs 'below' or 'above'");
        const struct yaml_node *layout = yaml_child(node, "layout");
        if (layout && layout->kind == YAML_SCALAR) layout_row(reader, "layout", layout);
        key_leave(reader, length);
    }
}
