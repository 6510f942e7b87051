/* node_names.h - names of the nodes of a layout, and lists of them in the words of Slurm.
 *
 * Node rows go through the groups in order; a group's names are its host list, or LAYOUT-ROW where it has none. */
#ifndef GPUPLAN_SPEC_NODE_NAMES_H
#define GPUPLAN_SPEC_NODE_NAMES_H

#include "spec/scenario.h"

#define NODE_NONE UINT32_MAX

/* Nodes of a layout, of one of its groups: servers times the nodes that each is cut into. */
uint32_t layout_nodes(const struct layout *layout);
uint32_t group_nodes(const struct server_group *group);

/* Name of a row; row of a name or NODE_NONE. */
void node_name(const struct layout *layout, uint32_t node, char name[LIMIT_NAME_BYTES]);
uint32_t node_find(const struct layout *layout, const char *name);

/* A list is "ALL" or a host list. node_list_check: NULL when the text is well formed and the layout has each of its
 * hosts, their number in *count; else why not, with the host in name when one is unknown ("" else).
 * node_list_at: row of the host at place `index` < count of a list that was found right. */
const char *node_list_check(const struct layout *layout, const char *text, uint32_t *count,
                            char name[LIMIT_NAME_BYTES]);
uint32_t node_list_at(const struct layout *layout, const char *text, uint32_t index);

#endif
