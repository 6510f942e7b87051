/* scenario_slurm_check.c - what the lists of `scheduler.slurm` name must exist: nodes of each layout, switches. */
#include "io/scenario_slurm.h"

#include "io/scenario_parts.h"
#include "spec/hostlist.h"
#include "spec/node_names.h"

#include <string.h>

/* The place of item `row` of a list below scheduler.slurm. */
static struct place place_of_item(const struct reading *reading, const char *list, uint32_t row)
{
    const struct yaml_node *node = yaml_child(reading->document.root, "scheduler");
    node = node ? yaml_child(node, "slurm") : NULL;
    node = node && node->kind == YAML_MAP ? yaml_child(node, list) : NULL;
    const struct yaml_node *item = node ? node->first : NULL;
    for (; row > 0 && item; row--) item = item->next;
    if (item == NULL) return (struct place){ .file = reading->document.file };
    return yaml_place(item);
}

/* The same words on all layouts: a node that one of them lacks would make another cluster of it. */
static void check_nodes(struct reading *reading, const char *list, uint32_t row, const char *name,
                        const char *nodes)
{
    const struct scenario *scenario = reading->scenario;
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        char node[LIMIT_NAME_BYTES];
        uint32_t count;
        const char *why = node_list_check(&scenario->layouts[i], nodes, &count, node);
        if (why == NULL) continue;
        if (node[0])
            diag_error(reading->reader.diag, place_of_item(reading, list, row),
                       "%s '%s': layouts.%s has no node '%s'; name its nodes with servers.names",
                       list, name, scenario->layouts[i].name, node);
        else
            diag_error(reading->reader.diag, place_of_item(reading, list, row),
                       "%s '%s': nodes: '%s' as a host list %s", list, name, nodes, why);
        return;
    }
}

static bool has_switch(const struct slurm_spec *slurm, const char *name)
{
    for (uint32_t i = 0; i < slurm->switch_count; i++)
        if (strcmp(slurm->switches[i].name, name) == 0) return true;
    return false;
}

static void check_topology(struct reading *reading)
{
    const struct slurm_spec *slurm = &reading->scenario->slurm;
    struct diag *diag = reading->reader.diag;
    for (uint32_t row = 0; row < slurm->switch_count; row++) {
        const struct slurm_switch *line = &slurm->switches[row];
        if (line->nodes[0]) check_nodes(reading, "topology", row, line->name, line->nodes);
        for (uint32_t i = 0; i < row; i++)
            if (strcmp(slurm->switches[i].name, line->name) == 0)
                diag_error(diag, place_of_item(reading, "topology", row),
                           "topology: '%s' stands twice", line->name);
        char name[LIMIT_NAME_BYTES];
        for (uint32_t i = 0; line->switches[0] && hostlist_name(line->switches, i, name); i++) {
            if (has_switch(slurm, name) && strcmp(name, line->name) != 0) continue;
            diag_error(diag, place_of_item(reading, "topology", row),
                       "topology '%s': no line describes a switch '%s'", line->name, name);
            return;
        }
    }
}

void check_slurm(struct reading *reading)
{
    const struct scenario *scenario = reading->scenario;
    const struct slurm_spec *slurm = &scenario->slurm;
    if (scenario->kind != KIND_SLURM) return;
    for (uint32_t row = 0; row < slurm->partition_count; row++)
        check_nodes(reading, "partitions", row, slurm->partitions[row].name,
                    slurm->partitions[row].nodes);
    for (uint32_t row = 0; row < slurm->reservation_count; row++)
        check_nodes(reading, "reservations", row, slurm->reservations[row].name,
                    slurm->reservations[row].nodes);
    check_topology(reading);
}
