/* node_names.c - see node_names.h. */
#include "spec/node_names.h"

#include "base/assert.h"
#include "spec/hostlist.h"

#include <stdio.h>
#include <string.h>

uint32_t group_nodes(const struct server_group *group)
{
    return group->count * (group->nodes_per_server ? group->nodes_per_server : 1);
}

uint32_t layout_nodes(const struct layout *layout)
{
    if (layout->group_count == 0) return layout->server_count;
    uint32_t nodes = 0;
    for (uint32_t g = 0; g < layout->group_count; g++) nodes += group_nodes(&layout->groups[g]);
    return nodes;
}

void node_name(const struct layout *layout, uint32_t node, char name[LIMIT_NAME_BYTES])
{
    uint32_t row = node;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const uint32_t nodes = group_nodes(&layout->groups[g]);
        if (row < nodes && layout->groups[g].names[0]) {
            const bool named = hostlist_name(layout->groups[g].names, row, name);
            ASSERT(named);
            return;
        }
        if (row < nodes) break;
        row -= nodes;
    }
    char number[16];
    const int bytes = snprintf(number, sizeof number, "-%u", node);
    /* A layout under one of several schedulers is called LAYOUT/SCHEDULER: its nodes are those of the layout. */
    const char *const slash = layout->scheduler ? strrchr(layout->name, '/') : NULL;
    int most = LIMIT_NAME_BYTES - 1 - bytes;
    if (slash && slash - layout->name < most) most = (int)(slash - layout->name);
    snprintf(name, LIMIT_NAME_BYTES, "%.*s%s", most, layout->name, number);
}

/* Row of a node without a name of its own: what is behind the last '-' counts, and the name must come out again. */
static uint32_t find_by_number(const struct layout *layout, const char *name)
{
    const char *const dash = strrchr(name, '-');
    if (!dash || !dash[1]) return NODE_NONE;
    uint64_t row = 0;
    for (const char *at = dash + 1; *at; at++) {
        if (*at < '0' || *at > '9') return NODE_NONE;
        row = 10 * row + (uint64_t)(*at - '0');
        if (row >= layout_nodes(layout)) return NODE_NONE;
    }
    char again[LIMIT_NAME_BYTES];
    node_name(layout, (uint32_t)row, again);
    return strcmp(again, name) == 0 ? (uint32_t)row : NODE_NONE;
}

uint32_t node_find(const struct layout *layout, const char *name)
{
    uint32_t first = 0;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        uint32_t place;
        if (group->names[0] && hostlist_find(group->names, name, &place) &&
            place < group_nodes(group))
            return first + place;
        first += group_nodes(group);
    }
    return find_by_number(layout, name);
}

static bool is_all(const char *text)
{
    return strcmp(text, "ALL") == 0;
}

const char *node_list_check(const struct layout *layout, const char *text, uint32_t *count,
                            char name[LIMIT_NAME_BYTES])
{
    name[0] = '\0';
    if (is_all(text)) {
        *count = layout_nodes(layout);
        return NULL;
    }
    const char *const why = hostlist_check(text, count);
    if (why) return why;
    for (uint32_t i = 0; i < *count; i++) {
        hostlist_name(text, i, name);
        if (node_find(layout, name) == NODE_NONE)
            return "names a host that the layout does not have";
    }
    name[0] = '\0';
    return NULL;
}

uint32_t node_list_at(const struct layout *layout, const char *text, uint32_t index)
{
    if (is_all(text)) return index;
    char name[LIMIT_NAME_BYTES];
    const bool there = hostlist_name(text, index, name);
    ASSERT(there);
    return node_find(layout, name);
}
