/* scenario_events.c - `events[]` of a scenario: what happens to nodes, GPUs and jobs at stated times. */
#include "io/scenario_parts.h"

#include "base/quantity.h"
#include "base/sort.h"
#include "io/scenario_lists.h"
#include "spec/hostlist.h"
#include "spec/jobs.h"
#include "spec/node_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MOST = 1000000 };

/* Twice the words of Kubernetes for what Slurm calls drain and resume. */
static enum user_action action_named(const char *name)
{
    if (strcmp(name, "cordon") == 0) return ACTION_DRAIN;
    if (strcmp(name, "uncordon") == 0) return ACTION_RESUME;
    int action = 0;
    while (action < ACTIONS && strcmp(user_action_names[action], name) != 0) action++;
    return (enum user_action)action;
}

static bool is_of_nodes(enum user_action action)
{
    return action == ACTION_NODE_DOWN || action == ACTION_NODE_UP || action == ACTION_DRAIN ||
           action == ACTION_RESUME;
}

/* A part of a node: NODE:INDEX. */
static bool is_of_parts(enum user_action action)
{
    return action == ACTION_GPU_FAIL || action == ACTION_GPU_REPAIR ||
           action == ACTION_NIC_DEGRADE || action == ACTION_NIC_REPAIR;
}

/* ---- targets ---- */

/* Nodes of one layout at least: others of other names go on without the event. */
static void check_nodes(struct key_reader *reader, const struct key_found *found, const char *list)
{
    const struct scenario *scenario = reading_of(reader)->scenario;
    char node[LIMIT_NAME_BYTES] = "";
    const char *why = NULL;
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        uint32_t count;
        why = node_list_check(&scenario->layouts[i], list, &count, node);
        if (why == NULL) return;
    }
    if (node[0])
        refuse_value(reader, found, "no layout has a node '%s'", node);
    else if (why != NULL)
        refuse_value(reader, found, "'%s' as a host list %s", list, why);
}

/* Parts of a node that are counted from 0: its GPUs, or the NICs of its server; 0 where the layout lacks the node. */
static uint32_t parts_of_node(const struct layout *layout, const char *node, bool nics)
{
    uint32_t row = node_find(layout, node);
    if (row == NODE_NONE) return 0;
    if (nics) return (uint32_t)(layout->fabric.nics_per_gpu * layout->server.gpus + 0.5);
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        const uint32_t nodes = group_nodes(group);
        if (row < nodes) return group->server.gpus / (nodes / group->count);
        row -= nodes;
    }
    return layout->server.gpus;
}

/* NODE:INDEX, of one node of one layout at least. */
static void check_part(struct key_reader *reader, const struct key_found *found, const char *target)
{
    const struct scenario *scenario = reading_of(reader)->scenario;
    const bool nics = found_name(found)[0] == 'n';
    const char *const what = nics ? "NIC" : "GPU", *const colon = strrchr(target, ':');
    char node[LIMIT_TARGET_BYTES];
    int64_t index = 0;
    uint32_t most = 0;
    struct why why;
    if (colon == NULL || !quantity_count(colon + 1, strlen(colon + 1), &index, &why) || index < 0) {
        refuse_value(reader, found, "'%s': write NODE:INDEX, the %ss of a node from 0", target,
                     what);
        return;
    }
    snprintf(node, sizeof node, "%.*s", (int)(colon - target), target);
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        const uint32_t parts = parts_of_node(&scenario->layouts[i], node, nics);
        if (parts > most) most = parts;
    }
    if (most == 0)
        refuse_value(reader, found, "no layout has a node '%s'; an event is of one %s of one node",
                     node, what);
    else if (index >= most)
        refuse_value(reader, found, "'%s' has the %ss 0 to %u, got %" PRId64, node, what, most - 1,
                     index);
}

/* A leaf of a layout that is here; how many leaves that has is known when its network is wired (campaign/plan_build). */
static void check_leaf(struct key_reader *reader, const struct key_found *found, const char *target)
{
    const struct scenario *scenario = reading_of(reader)->scenario;
    for (uint32_t i = 0; i < scenario->layout_count; i++)
        if (leaf_of_target(target, scenario->layouts[i].name) != LEAF_NONE) return;
    refuse_value(reader, found, "'%s': write LAYOUT-leafN, the leaves of a layout from 0", target);
}

/* Where the jobs are written here. Those of a log are read later, and an event that meets none of them has no effect. */
static void check_job(struct key_reader *reader, const struct key_found *found, const char *target)
{
    const struct jobs *jobs = reading_of(reader)->scenario->jobs;
    const size_t bytes = strlen(target);
    if (jobs == NULL) return;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const char *id = jobs->text + jobs->id[row];
        if (strncmp(id, target, bytes) == 0 &&
            (id[bytes] == '\0' || id[bytes] == '_' || id[bytes] == '+'))
            return;
        if (strcmp(jobs->text + jobs->words[row].name, target) == 0) return;
    }
    refuse_value(reader, found, "no job has the id or name '%s'", target);
}

/* Whoever does not know the default of slurm.conf would wonder why nothing comes of it. */
static void warn_of_return(struct key_reader *reader, const struct yaml_node *node)
{
    const struct scenario *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(reading_of(reader)->scenario, i)) != NULL; i++) {
        if (scheduler->kind != KIND_SLURM || scheduler->slurm.return_to_service > 0) continue;
        diag_warn(reader->diag, yaml_key_place(node),
                  "%snode_up: under ReturnToService 0 of Slurm, its default, a node stays down "
                  "until an event 'resume'; ReturnToService 1 lets it return",
                  reader->path);
        return;
    }
}

void read_event_action(struct key_reader *reader, const struct key_found *found)
{
    struct user_event *event = found->target;
    const struct yaml_node *node = found->node;
    if (node == NULL) return;
    if (node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, found_name(found), node, "a text");
        return;
    }
    if (event->target[0] != '\0') {
        diag_error(reader->diag, yaml_key_place(node), "%s%s: one action an event; it has '%s' too",
                   reader->path, found_name(found), user_action_names[event->action]);
        return;
    }
    if (node->text_bytes == 0 || node->text_bytes >= sizeof event->target) {
        refuse_value(reader, found, "write 1 to %zu bytes", sizeof event->target - 1);
        return;
    }
    event->action = action_named(found_name(found));
    memcpy(event->target, node->text, node->text_bytes + 1);
    if (is_of_nodes(event->action))
        check_nodes(reader, found, event->target);
    else if (is_of_parts(event->action))
        check_part(reader, found, event->target);
    else if (is_of_uplinks(event->action))
        check_leaf(reader, found, event->target);
    else
        check_job(reader, found, event->target);
    if (event->action == ACTION_NODE_UP) warn_of_return(reader, node);
    key_show(reader, found_name(found), event->target, node, NULL);
}

static void check_event(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct user_event *event = item;
    if (event->target[0] == '\0')
        diag_error(reader->diag, yaml_place(node),
                   "%.*s says not what happens: node_down, node_up, drain, resume, nic_degrade, "
                   "nic_repair, uplink_degrade, uplink_repair, gpu_fail, gpu_repair, scancel, "
                   "requeue, requeue_hold, hold or release",
                   (int)strlen(reader->path) - 1, reader->path);
    const struct yaml_node *factor = yaml_child(node, "factor");
    const bool slow = event->action == ACTION_NIC_DEGRADE || event->action == ACTION_UPLINK_DEGRADE;
    if (factor == NULL && slow)
        diag_error(reader->diag, yaml_place(node),
                   "%.*s: %s needs factor, the part of its bandwidth that is left: "
                   "factor: 50%%",
                   (int)strlen(reader->path) - 1, reader->path, user_action_names[event->action]);
    if (factor != NULL && event->action == ACTION_UPLINK_DEGRADE && !(event->factor > 0))
        diag_error(
            reader->diag, yaml_place(factor),
            "%sfactor: a leaf whose cables up carry nothing kills the jobs that cross it, which "
            "no event does yet; write more than 0%%",
            reader->path);
    if (factor != NULL && !slow)
        diag_error(reader->diag, yaml_key_place(factor),
                   "%sfactor: goes with nic_degrade and uplink_degrade, this event is '%s'",
                   reader->path, user_action_names[event->action]);
}

/* ---- the list ---- */

/* Rows of a whole array or heterogeneous job that the target names: ID_0, ID+1. */
static uint32_t parts_of(const struct jobs *jobs, const struct user_event *event,
                         struct user_event *out)
{
    const size_t bytes = strlen(event->target);
    uint32_t count = 0;
    if (jobs == NULL || is_of_nodes(event->action) || is_of_parts(event->action) ||
        is_of_uplinks(event->action))
        return 0;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const char *id = jobs->text + jobs->id[row];
        if (strncmp(id, event->target, bytes) != 0 || (id[bytes] != '_' && id[bytes] != '+'))
            continue;
        if (out != NULL) {
            out[count] = *event;
            snprintf(out[count].target, sizeof out->target, "%s", id);
        }
        count++;
    }
    return count;
}

/* The engine knows rows by their ids: an event of a whole array becomes one of each task. */
static bool spread(struct scenario *scenario)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scenario->event_count; i++) {
        const uint32_t parts = parts_of(scenario->jobs, &scenario->events[i], NULL);
        count += parts ? parts : 1;
    }
    if (count == scenario->event_count) return true;
    struct user_event *events = calloc(count, sizeof *events);
    if (events == NULL) return false;
    uint32_t used = 0;
    for (uint32_t i = 0; i < scenario->event_count; i++) {
        const uint32_t parts = parts_of(scenario->jobs, &scenario->events[i], events + used);
        if (parts == 0) events[used] = scenario->events[i];
        used += parts ? parts : 1;
    }
    free(scenario->events);
    scenario->events = events;
    scenario->event_count = count;
    return true;
}

static bool is_of_nic(const struct user_event *event)
{
    return event->action == ACTION_NIC_DEGRADE || event->action == ACTION_NIC_REPAIR;
}

static bool carries(const struct user_event *event)
{
    return event->action != ACTION_NIC_DEGRADE || event->factor > 0;
}

/* Whether a NIC that an event leaves dead is still so when what it should send is given up. */
static bool stays_dead(const struct scenario *scenario, uint32_t row)
{
    const struct user_event *event = &scenario->events[row];
    if (carries(event)) return false;
    for (uint32_t i = row + 1; i < scenario->event_count; i++) {
        const struct user_event *next = &scenario->events[i];
        if (next->at_ns - event->at_ns > NIC_RETRY_NS) break;
        if (is_of_nic(next) && strcmp(next->target, event->target) == 0 && carries(next))
            return false;
    }
    return true;
}

/* A link that flaps for longer than it is tried again kills those who use it (MODELS 5.1). The events are sorted. */
static bool add_deaths(struct scenario *scenario)
{
    uint32_t count = scenario->event_count;
    for (uint32_t i = 0; i < scenario->event_count; i++) count += stays_dead(scenario, i);
    if (count == scenario->event_count) return true;
    struct user_event *events = realloc(scenario->events, count * sizeof *events);
    if (events == NULL) return false;
    scenario->events = events;
    const uint32_t written = scenario->event_count;
    for (uint32_t i = 0, at = written; i < written; i++) {
        if (!stays_dead(scenario, i)) continue;
        events[at] = events[i];
        events[at].action = ACTION_NIC_DEAD;
        events[at++].at_ns += NIC_RETRY_NS;
    }
    scenario->event_count = count;
    return true;
}

/* By time, then as written. */
static bool sort_events(struct scenario *scenario)
{
    const uint32_t count = scenario->event_count;
    uint32_t *order = malloc(2 * (size_t)count * sizeof *order);
    uint64_t *key = calloc(count, sizeof *key);
    struct user_event *sorted = calloc(count, sizeof *sorted);
    const bool good = order && key && sorted;
    if (good) {
        for (uint32_t i = 0; i < count; i++) {
            order[i] = i;
            key[i] = sort_key_int64(scenario->events[i].at_ns);
        }
        sort_rows(order, order + count, count, key);
        for (uint32_t i = 0; i < count; i++) sorted[i] = scenario->events[order[i]];
        free(scenario->events);
        scenario->events = sorted;
    } else {
        free(sorted);
    }
    free(order);
    free(key);
    return good;
}

void read_events(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "events[].", "[]", sizeof(struct user_event),
                                           EVENTS_MOST, check_event };
    struct scenario *scenario = reading_of(reader)->scenario;
    const uint64_t errors = diag_error_count(reader->diag);
    scenario->events = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, scenario->events, &scenario->event_count);
    if (scenario->event_count == 0 || diag_error_count(reader->diag) > errors) return;
    if (!spread(scenario) || !sort_events(scenario) || !add_deaths(scenario) ||
        !sort_events(scenario))
        diag_world(reader->diag, "%s: out of memory", scenario->path);
}
