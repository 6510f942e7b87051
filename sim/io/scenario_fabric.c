/* scenario_fabric.c - keys of a fabric that belong to one kind of it, and where they stand for the plan's refusals. */
#include "io/scenario_parts.h"

/* Where a key is written; nothing when it comes from an included file, from --set or from a default. */
static struct text_span span_of(const struct reading *reading, const struct yaml_node *node)
{
    if (node == NULL || node->document != &reading->document) return (struct text_span){ 0 };
    return (struct text_span){ .offset = node->offset, .width = node->width };
}

/* The kinds that know a key; bits of enum fabric_kind. */
static uint32_t kinds_of(enum fabric_key key)
{
    switch (key) {
    case FABRIC_KEY_RAILS:
        return 1u << FABRIC_RAIL | 1u << FABRIC_RAIL_ONLY;
    case FABRIC_KEY_GROUPS:
    case FABRIC_KEY_GLOBAL_LINKS:
        return 1u << FABRIC_DRAGONFLY;
    default:
        return ~0u;
    }
}

/* What the rule sharp needs of a layout whose servers have a network to cross. */
static void check_sharp(struct reading *reading, uint32_t row)
{
    const struct scenario *scenario = reading->scenario;
    const struct layout *layout = &scenario->layouts[row];
    if (scenario->communication.kind == COMM_NONE ||
        scenario->communication.allreduce != RULE_SHARP || layout->fabric.link.sharp)
        return;
    const struct yaml_node *fabric = yaml_child(reading->layout_nodes[row], "fabric");
    const struct yaml_node *link = fabric ? yaml_child(fabric, "link") : NULL;
    diag_error(
        reading->reader.diag, yaml_place(link ? link : reading->layout_nodes[row]),
        "workload.communication.allreduce sharp: the switches of layouts.%s.fabric.link, %s, "
        "do not sum; take a link that says sharp: true, or another rule",
        layout->name, layout->fabric.link.id);
}

void check_fabric(struct reading *reading, uint32_t row)
{
    struct layout *layout = &reading->scenario->layouts[row];
    const struct yaml_node *map = yaml_child(reading->layout_nodes[row], "fabric");
    for (int key = 0; map && map->kind == YAML_MAP && key < FABRIC_KEYS; key++) {
        const struct yaml_node *node = yaml_child(map, fabric_key_names[key]);
        layout->fabric.at[key] = span_of(reading, node);
        if (node == NULL || kinds_of((enum fabric_key)key) & 1u << layout->fabric.kind) continue;
        diag_error(reading->reader.diag, yaml_key_place(node),
                   "layouts.%s.fabric.%s belongs to type %s, but this one is %s", layout->name,
                   fabric_key_names[key],
                   key == FABRIC_KEY_RAILS ? "rail and rail-only" : "dragonfly+",
                   fabric_kind_names[layout->fabric.kind]);
    }
    check_sharp(reading, row);
    const struct yaml_node *pairs = map ? yaml_child(map, "queue_pairs") : NULL;
    const enum routing routing = layout->fabric.routing;
    if (pairs != NULL && routing != ROUTING_SAMPLED && routing != ROUTING_EXPECTED)
        diag_warn(
            reading->reader.diag, yaml_key_place(pairs),
            "layouts.%s.fabric.queue_pairs has no effect under routing: %s: no flow is hashed",
            layout->name, routing_names[routing]);
}
