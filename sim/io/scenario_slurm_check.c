/* scenario_slurm_check.c - what the lists of `scheduler.slurm` name must exist: nodes of each layout, switches; and
 * nodes must come up in time. */
#include "io/scenario_slurm.h"

#include "base/clock.h"
#include "io/scenario_parts.h"
#include "spec/hostlist.h"
#include "spec/node_names.h"

#include <string.h>

/* One of the schedulers while it is looked at. */
struct checked {
    struct reading *reading;
    const struct scenario *scheduler;
};

/* The value of a key below scheduler.slurm; NULL when it is not written. */
static const struct yaml_node *written(const struct checked *checked, const char *key)
{
    const struct reading *reading = checked->reading;
    const bool several = reading->scenario->scheduler_count > 0;
    const struct yaml_node *node =
        yaml_child(reading->document.root, several ? "schedulers" : "scheduler");
    if (several) node = node ? yaml_child(node, checked->scheduler->name) : NULL;
    node = node && node->kind == YAML_MAP ? yaml_child(node, "slurm") : NULL;
    return node && node->kind == YAML_MAP ? yaml_child(node, key) : NULL;
}

static struct place place_of(const struct checked *checked, const struct yaml_node *node)
{
    if (node == NULL) return (struct place){ .file = checked->reading->document.file };
    return yaml_place(node);
}

/* The place of item `row` of a list. */
static struct place place_of_item(const struct checked *checked, const char *list, uint32_t row)
{
    const struct yaml_node *node = written(checked, list);
    const struct yaml_node *item = node ? node->first : NULL;
    for (; row > 0 && item; row--) item = item->next;
    return place_of(checked, item);
}

/* The same words on all layouts: a node that one of them lacks would make another cluster of it. */
static void check_nodes(const struct checked *checked, const char *list, uint32_t row,
                        const char *name, const char *nodes)
{
    const struct scenario *scenario = checked->reading->scenario;
    struct diag *diag = checked->reading->reader.diag;
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        char node[LIMIT_NAME_BYTES];
        uint32_t count;
        const char *why = node_list_check(&scenario->layouts[i], nodes, &count, node);
        if (why == NULL) continue;
        if (node[0])
            diag_error(diag, place_of_item(checked, list, row),
                       "%s '%s': layouts.%s has no node '%s'; name its nodes with servers.names",
                       list, name, scenario->layouts[i].name, node);
        else
            diag_error(diag, place_of_item(checked, list, row),
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

static void check_topology(const struct checked *checked)
{
    const struct slurm_spec *slurm = &checked->scheduler->slurm;
    struct diag *diag = checked->reading->reader.diag;
    for (uint32_t row = 0; row < slurm->switch_count; row++) {
        const struct slurm_switch *line = &slurm->switches[row];
        if (line->nodes[0]) check_nodes(checked, "topology", row, line->name, line->nodes);
        for (uint32_t i = 0; i < row; i++)
            if (strcmp(slurm->switches[i].name, line->name) == 0)
                diag_error(diag, place_of_item(checked, "topology", row),
                           "topology: '%s' stands twice", line->name);
        char name[LIMIT_NAME_BYTES];
        for (uint32_t i = 0; line->switches[0] && hostlist_name(line->switches, i, name); i++) {
            if (has_switch(slurm, name) && strcmp(name, line->name) != 0) continue;
            diag_error(diag, place_of_item(checked, "topology", row),
                       "topology '%s': no line describes a switch '%s'", line->name, name);
            return;
        }
    }
}

/* slurmctld gives up a node that is not up by ResumeTimeout, and would then do so with each. */
static void check_power(const struct checked *checked)
{
    const struct slurm_spec *slurm = &checked->scheduler->slurm;
    if (slurm->suspend_time_ns == TIME_NEVER || slurm->resume_ns <= slurm->resume_timeout_ns)
        return;
    diag_error(checked->reading->reader.diag, place_of(checked, written(checked, "power_up")),
               "power_up: nodes take %.9g s to come up, longer than ResumeTimeout, %.9g s",
               s_from_ns(slurm->resume_ns), s_from_ns(slurm->resume_timeout_ns));
}

static void check_one(const struct checked *checked)
{
    const struct slurm_spec *slurm = &checked->scheduler->slurm;
    for (uint32_t row = 0; row < slurm->partition_count; row++)
        check_nodes(checked, "partitions", row, slurm->partitions[row].name,
                    slurm->partitions[row].nodes);
    for (uint32_t row = 0; row < slurm->reservation_count; row++)
        check_nodes(checked, "reservations", row, slurm->reservations[row].name,
                    slurm->reservations[row].nodes);
    check_topology(checked);
    check_power(checked);
}

void check_slurm(struct reading *reading)
{
    struct checked checked = { .reading = reading };
    for (uint32_t i = 0; (checked.scheduler = scheduler_at(reading->scenario, i)) != NULL; i++)
        if (checked.scheduler->kind == KIND_SLURM) check_one(&checked);
}
