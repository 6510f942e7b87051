/* scenario_kube.c - the keys of `scheduler.kubernetes`, `.static` and `.defragmentation` that are lists and maps. */
#include "io/scenario_kube.h"

#include "base/quantity.h"
#include "io/kube_text.h"
#include "io/scenario_lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES_MOST = 1000, GROUPS_MOST = 64, TEAMS_MOST = 1000 };

static struct kube_spec *kube_of(struct key_reader *reader)
{
    return &reading_of(reader)->scenario->kube;
}

static struct place whole_file(struct key_reader *reader)
{
    return (struct place){ .file = reading_of(reader)->document.file };
}

/* ---- resources ---- */

static enum kube_resource resource_named(const char *name)
{
    return strcmp(name, "cpu") == 0      ? KUBE_CPU
           : strcmp(name, "memory") == 0 ? KUBE_MEMORY
                                         : KUBE_GPU;
}

/* Weights by resource; 0 = not in the list. False when it is left out or wrong. */
static bool read_resources(struct key_reader *reader, const struct key_found *found,
                           const char *empty, uint32_t weight[KUBE_RESOURCES])
{
    const struct list_form form = { "scheduler.kubernetes.resources[].", empty,
                                    sizeof(struct kube_resource_line), KUBE_RESOURCES, NULL };
    const uint64_t errors = diag_error_count(reader->diag);
    uint32_t count = 0;
    struct kube_resource_line *lines = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, lines, &count);
    const bool good = lines != NULL && diag_error_count(reader->diag) == errors;
    memset(weight, 0, KUBE_RESOURCES * sizeof *weight);
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t *at = &weight[resource_named(lines[i].name)];
        if (*at != 0) refuse_value(reader, found, "'%s' stands twice", lines[i].name);
        *at = lines[i].weight;
    }
    free(lines);
    return good;
}

void read_fit_resources(struct key_reader *reader, const struct key_found *found)
{
    uint32_t weight[KUBE_RESOURCES];
    if (read_resources(reader, found, "cpu 1, memory 1", weight))
        memcpy(kube_of(reader)->profile.fit_weight, weight, sizeof weight);
}

void read_balanced_resources(struct key_reader *reader, const struct key_found *found)
{
    uint32_t weight[KUBE_RESOURCES];
    if (!read_resources(reader, found, "cpu 1, memory 1", weight)) return;
    for (int i = 0; i < KUBE_RESOURCES; i++) {
        if (weight[i] > 1) refuse_value(reader, found, "weights are 1 here: all count alike");
        kube_of(reader)->profile.balanced_resource[i] = weight[i] > 0;
    }
}

void read_binpack_resources(struct key_reader *reader, const struct key_found *found)
{
    uint32_t weight[KUBE_RESOURCES];
    if (read_resources(reader, found, "none", weight))
        memcpy(kube_of(reader)->binpack_resource, weight, sizeof weight);
}

void read_shape(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.kubernetes.shape[].", "none",
                                           sizeof(struct kube_shape_line), SHAPE_POINTS, NULL };
    struct kube_profile *profile = &kube_of(reader)->profile;
    const bool is_ratio = profile->strategy == FIT_REQUESTED_TO_CAPACITY;
    const uint64_t errors = diag_error_count(reader->diag);
    uint32_t count = 0;
    struct kube_shape_line *lines = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, lines, &count);
    for (uint32_t i = 0; i < count && diag_error_count(reader->diag) == errors; i++) {
        if (i > 0 && lines[i].utilization <= lines[i - 1].utilization)
            refuse_value(reader, found, "utilizations must ascend");
        profile->shape[i].utilization = lines[i].utilization;
        profile->shape[i].score = lines[i].score;
    }
    profile->shape_count = count;
    free(lines);
    if (found->node != NULL && !is_ratio)
        refuse_value(reader, found, "it is for type RequestedToCapacityRatio");
    if (is_ratio && count == 0)
        diag_error(reader->diag, found->map ? yaml_place(found->map) : whole_file(reader),
                   "%sshape is missing: the points of RequestedToCapacityRatio", reader->path);
}

/* ---- queues ---- */

static void set_quota(struct key_reader *reader, const struct key_found *found,
                      const struct kube_quota_line *line, struct kube_cluster_queue *queue)
{
    const enum kube_resource resource = resource_named(line->name);
    const size_t bytes = strlen(line->nominal);
    struct why why;
    int64_t value = 0;
    const bool good = resource == KUBE_CPU ? kube_cpu(line->nominal, bytes, &value, &why)
                      : resource == KUBE_MEMORY
                          ? kube_bytes(line->nominal, bytes, &value, &why)
                          : quantity_count(line->nominal, bytes, &value, &why);
    if (!good || value < 0) {
        refuse_value(reader, found, "%s: cannot read '%s': %s", line->name, line->nominal,
                     good ? "below 0" : why.text);
        return;
    }
    if (resource == KUBE_CPU) queue->nominal_cpu_milli = value;
    if (resource == KUBE_MEMORY) queue->nominal_memory_bytes = value;
    if (resource == KUBE_GPU) {
        queue->nominal_gpus = value;
        queue->borrowing_gpus = line->borrowing;
        queue->lending_gpus = line->lending;
    } else if (line->borrowing != INT64_MAX || line->lending != INT64_MAX) {
        refuse_value(reader, found,
                     "%s: limits of borrowing and lending are built for "
                     "nvidia.com/gpu alone",
                     line->name);
    }
}

void read_quotas(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.kubernetes.quota[].", "no limits",
                                           sizeof(struct kube_quota_line), KUBE_RESOURCES, NULL };
    struct kube_cluster_queue *queue = found->target;
    const uint64_t errors = diag_error_count(reader->diag);
    uint32_t count = 0;
    queue->nominal_cpu_milli = queue->nominal_memory_bytes = INT64_MAX;
    queue->borrowing_gpus = queue->lending_gpus = INT64_MAX;
    if (found->node != NULL && yaml_child(found->map, "quota"))
        refuse_value(reader, found, "quota says the GPUs already");
    struct kube_quota_line *lines = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, lines, &count);
    for (uint32_t i = 0; i < count && diag_error_count(reader->diag) == errors; i++)
        set_quota(reader, found, &lines[i], queue);
    free(lines);
}

static void check_queue(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct kube_spec *kube = kube_of(reader);
    const struct kube_cluster_queue *queue = item;
    for (uint32_t i = 0; i + 1 < kube->queue_count; i++)
        if (strcmp(kube->queues[i].name, queue->name) == 0)
            diag_error(reader->diag, yaml_place(node), "two queues are called '%s'", queue->name);
}

void read_cluster_queues(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.kubernetes.clusterQueues[].", "[]",
                                           sizeof(struct kube_cluster_queue), QUEUES_MOST,
                                           check_queue };
    struct kube_spec *kube = kube_of(reader);
    kube->queues = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, kube->queues, &kube->queue_count);
    if (kube->gang == GANG_KUEUE && found->node == NULL)
        diag_error(reader->diag, found->map ? yaml_place(found->map) : whole_file(reader),
                   "%sclusterQueues is missing: gang kueue admits jobs by their quota",
                   reader->path);
}

void read_levels(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.kubernetes.topology.levels[].", "none",
                                           sizeof(struct kube_level_line), 8, NULL };
    struct kube_spec *kube = kube_of(reader);
    const uint64_t errors = diag_error_count(reader->diag);
    uint32_t count = 0;
    struct kube_level_line *lines = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, lines, &count);
    for (uint32_t i = 0; i < count && diag_error_count(reader->diag) == errors; i++) {
        const uint32_t above = i > 0 ? kube->level_nodes[i - 1] : 0;
        memcpy(kube->levels[i], lines[i].name, sizeof lines[i].name);
        kube->level_nodes[i] = lines[i].nodes;
        if (above && lines[i].nodes && (lines[i].nodes >= above || above % lines[i].nodes != 0))
            refuse_value(reader, found, "%u nodes of '%s' do not divide the %u of '%s' above",
                         lines[i].nodes, lines[i].name, above, lines[i - 1].name);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(lines[j].name, lines[i].name) == 0)
                refuse_value(reader, found, "'%s' stands twice", lines[i].name);
    }
    kube->level_count = count;
    free(lines);
}

/* ---- autoscaler ---- */

void read_autoscaler_groups(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.kubernetes.autoscaler.groups[].", "none",
                                           sizeof(struct kube_group), GROUPS_MOST, NULL };
    struct kube_spec *kube = kube_of(reader);
    kube->groups = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, kube->groups, &kube->group_count);
    for (uint32_t i = 0; i < kube->group_count; i++)
        if (kube->groups[i].max > 0 && kube->groups[i].min > kube->groups[i].max)
            refuse_value(reader, found, "'%s': min is above max", kube->groups[i].group);
}

/* A map whose mere presence switches something on. */
static bool read_switched(struct key_reader *reader, const struct key_found *found,
                          const char *prefix)
{
    char shown[64];
    if (found->node == NULL) {
        key_show(reader, found_name(found), "none", NULL, "default");
        return false;
    }
    if (found->node->kind != YAML_MAP) {
        key_wrong_kind(reader, found_name(found), found->node, "a mapping");
        return false;
    }
    snprintf(shown, sizeof shown, "%s.", found_name(found));
    const size_t length = key_enter(reader, shown);
    keys_read(reader, prefix, found->node, NULL, reading_of(reader)->scenario);
    key_leave(reader, length);
    return true;
}

void read_autoscaler(struct key_reader *reader, const struct key_found *found)
{
    kube_of(reader)->autoscaler = read_switched(reader, found, "scheduler.kubernetes.autoscaler.");
}

void read_defragmentation(struct key_reader *reader, const struct key_found *found)
{
    read_switched(reader, found, "scheduler.defragmentation.");
}

/* ---- static ---- */

static void check_team(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct scenario *scenario = reading_of(reader)->scenario;
    const struct static_team *team = item;
    for (uint32_t i = 0; i + 1 < scenario->team_count; i++)
        if (strcmp(scenario->teams[i].name, team->name) == 0)
            diag_error(reader->diag, yaml_place(node), "two teams are called '%s'", team->name);
    if ((scenario->teams[0].servers > 0) != (team->servers > 0))
        diag_error(reader->diag, yaml_place(node),
                   "%sservers are written for all teams, or shares are", reader->path);
}

void read_teams(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.static.teams[].", "none",
                                           sizeof(struct static_team), TEAMS_MOST, check_team };
    struct scenario *scenario = reading_of(reader)->scenario;
    if (found->node == NULL) {
        key_show(reader, "teams", "by user", NULL,
                 "default: the users of the trace, by the GPU time they ask for");
        return;
    }
    if (found->node->kind == YAML_LIST && found->node->child_count == 0) {
        refuse_value(reader, found, "one team and more");
        return;
    }
    scenario->teams = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, scenario->teams, &scenario->team_count);
}

/* ---- with the layouts ---- */

static bool has_group(const struct layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->group_count; i++)
        if (strcmp(layout->groups[i].name, name) == 0) return true;
    return false;
}

static void check_groups(struct reading *reading, const struct layout *layout,
                         const struct kube_spec *kube, const struct yaml_node *at)
{
    for (uint32_t i = 0; kube->autoscaler && i < kube->group_count; i++)
        if (!has_group(layout, kube->groups[i].group))
            diag_error(reading->reader.diag, yaml_place(at),
                       "layouts.%s has no group of servers with name: %s, which the autoscaler is "
                       "to change",
                       layout->name, kube->groups[i].group);
}

static void check_teams(struct reading *reading, const struct layout *layout,
                        const struct scenario *scheduler, const struct yaml_node *at)
{
    uint64_t servers = 0;
    for (uint32_t i = 0; i < scheduler->team_count; i++) servers += scheduler->teams[i].servers;
    if (servers > 0 && servers != layout->server_count)
        diag_error(reading->reader.diag, yaml_place(at),
                   "layouts.%s has %u servers, but the teams own %" PRIu64, layout->name,
                   layout->server_count, servers);
    else if (scheduler->team_count > layout->server_count)
        diag_error(reading->reader.diag, yaml_place(at), "layouts.%s has %u servers for %u teams",
                   layout->name, layout->server_count, scheduler->team_count);
}

void check_kube(struct reading *reading)
{
    const struct scenario *scenario = reading->scenario;
    for (uint32_t row = 0; row < scenario->layout_count; row++) {
        const struct layout *layout = &scenario->layouts[row];
        const struct scenario *scheduler =
            layout->scheduler ? &scenario->schedulers[layout->scheduler - 1] : scenario;
        const struct yaml_node *at = reading->layout_nodes[row];
        if (scheduler->kind == KIND_KUBERNETES) check_groups(reading, layout, &scheduler->kube, at);
        if (scheduler->kind == KIND_STATIC) check_teams(reading, layout, scheduler, at);
    }
}
