/* scenario_servers.c - what a layout is built of: one kind of server, or groups of several kinds in node order. */
#include "io/inventory.h"
#include "io/scenario_parts.h"

#include "base/quantity.h"
#include "base/text.h"
#include "spec/hostlist.h"
#include "spec/node_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names of so many nodes are compared one by one; of more a run would not start within a second. */
enum { NAMES_COMPARED_MOST = 1 << 20 };

void read_server_type(struct key_reader *reader, const struct key_found *found)
{
    struct server_group *group = found->target;
    read_server(reader, "type", found->node, &group->server);
}

/* ---- keys that overwrite the type's ---- */

void read_group_cores(struct key_reader *reader, const struct key_found *found)
{
    const struct server_group *group = found->target;
    char shown[SHOW_BYTES];
    key_show(reader, "cores", show_number(group->server.cores, shown), NULL,
             "default: as the server type has");
}

void read_group_memory(struct key_reader *reader, const struct key_found *found)
{
    const struct server_group *group = found->target;
    char shown[SHOW_BYTES];
    key_show(reader, "memory", show_size((double)group->server.memory_bytes, shown), NULL,
             "default: as the server type has");
}

/* ---- lists of words ---- */

static bool join(struct key_reader *reader, const struct key_found *found, const char *name,
                 const struct yaml_node *node, const char *key)
{
    char *field = (char *)found->target + found->row->offset;
    const size_t used = strlen(field);
    if (node->kind != YAML_SCALAR || node->text_bytes == 0) {
        key_wrong_kind(reader, name, node, "texts");
        return false;
    }
    if ((key || used > 0) && strchr(node->text, ',')) {
        diag_error(reader->diag, yaml_place(node), "%s%s: a comma inside '%s'", reader->path, name,
                   node->text);
        return false;
    }
    const int bytes = snprintf(field + used, found->row->bytes - used, "%s%s%s%s", used ? "," : "",
                               key ? key : "", key ? "=" : "", node->text);
    if (bytes >= 0 && used + (size_t)bytes < found->row->bytes) return true;
    diag_error(reader->diag, yaml_place(node), "%s%s: longer than %zu bytes", reader->path, name,
               found->row->bytes - 1);
    return false;
}

void read_words(struct key_reader *reader, const struct key_found *found)
{
    char *field = (char *)found->target + found->row->offset;
    const char *name = strrchr(found->row->path, '.') + 1;
    const struct yaml_node *node = found->node;
    field[0] = '\0';
    if (node == NULL) {
        key_show(reader, name, "\"\"", NULL, "default");
        return;
    }
    const bool map_allowed = strstr(found->row->form, "map") != NULL;
    if (node->kind == YAML_MAP && !map_allowed) {
        key_wrong_kind(reader, name, node, "a text or a list of texts");
        return;
    }
    bool good = true;
    if (node->kind == YAML_SCALAR) good = join(reader, found, name, node, NULL);
    for (const struct yaml_node *item = node->first; good && item; item = item->next)
        good = join(reader, found, name, item, node->kind == YAML_MAP ? item->key : NULL);
    if (good) key_show(reader, name, field, node, NULL);
}

/* ---- taints ---- */

/* Copies what stands before the next comma; false behind the last. */
static bool next_word(const char **at, char *out, size_t out_bytes)
{
    if (**at == '\0') return false;
    const size_t bytes = strcspn(*at, ",");
    text_copy(out, out_bytes, *at, bytes);
    *at += bytes + ((*at)[bytes] == ',');
    return true;
}

void read_taints(struct key_reader *reader, const struct key_found *found)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    struct server_group *group = found->target;
    const uint64_t errors = diag_error_count(reader->diag);
    read_words(reader, found);
    if (diag_error_count(reader->diag) > errors) return;
    char taint[LIMIT_TARGET_BYTES];
    for (const char *at = group->taints; next_word(&at, taint, sizeof taint);) {
        const char *effect = strrchr(taint, ':');
        bool known = false;
        for (size_t i = 0; effect && i < 3; i++) known |= strcmp(effect + 1, effects[i]) == 0;
        if (known && effect != taint) continue;
        const char *nearest = effect ? text_nearest(effect + 1, effects, 3) : NULL;
        diag_error(reader->diag, yaml_place(found->node),
                   "%staints: '%s' is no taint; write key=value:%s", reader->path, taint,
                   nearest ? nearest : "NoSchedule");
    }
}

/* ---- gres.conf ---- */

/* The items of a list, each a text for one GPU. */
static const struct yaml_node *gpu_list(struct key_reader *reader, const struct key_found *found,
                                        const char *name)
{
    const struct server_group *group = found->target;
    if (found->node == NULL) {
        key_show(reader, name, "none", NULL, "default");
        return NULL;
    }
    if (found->node->kind != YAML_LIST) {
        key_wrong_kind(reader, name, found->node, "a list with one text for each GPU");
        return NULL;
    }
    if (found->node->child_count != group->server.gpus) {
        diag_error(reader->diag, yaml_place(found->node),
                   "%s%s: %u texts for the %u GPUs of a server", reader->path, name,
                   found->node->child_count, group->server.gpus);
        return NULL;
    }
    for (const struct yaml_node *item = found->node->first; item; item = item->next)
        if (item->kind != YAML_SCALAR) {
            key_wrong_kind(reader, name, item, "a text");
            return NULL;
        }
    char shown[48];
    snprintf(shown, sizeof shown, "for %u GPUs", group->server.gpus);
    key_show(reader, name, shown, found->node, NULL);
    return found->node->first;
}

void read_links(struct key_reader *reader, const struct key_found *found)
{
    struct server_group *group = found->target;
    uint32_t gpu = 0;
    for (const struct yaml_node *item = gpu_list(reader, found, "links"); item; item = item->next) {
        uint32_t other = 0;
        char number[16];
        bool good = true;
        for (const char *at = item->text; good && next_word(&at, number, sizeof number); other++) {
            int64_t score = 0;
            struct why why;
            good = other < group->server.gpus &&
                   quantity_count(number, strlen(number), &score, &why) && score >= -1 &&
                   score <= 1000 && (score == -1) == (other == gpu);
            if (good) group->link_score[gpu][other] = (int16_t)score;
        }
        if (!good || other != group->server.gpus)
            diag_error(reader->diag, yaml_place(item),
                       "%slinks: '%s' must be %u numbers by commas, -1 at GPU %u itself",
                       reader->path, item->text, group->server.gpus, gpu);
        gpu++;
    }
}

void read_gpu_cores(struct key_reader *reader, const struct key_found *found)
{
    struct server_group *group = found->target;
    uint32_t gpu = 0;
    for (const struct yaml_node *item = gpu_list(reader, found, "gpu_cores"); item;
         item = item->next) {
        int64_t first = 0, last = 0;
        struct why why;
        const size_t bytes = strcspn(item->text, "-");
        const bool is_range = item->text[bytes] == '-';
        bool good = quantity_count(item->text, bytes, &first, &why);
        last = first;
        if (good && is_range)
            good =
                quantity_count(item->text + bytes + 1, item->text_bytes - bytes - 1, &last, &why);
        if (good && first >= 0 && first <= last && last < group->server.cores) {
            group->core_first[gpu] = (uint32_t)first;
            group->core_last[gpu] = (uint32_t)last;
        } else {
            diag_error(reader->diag, yaml_place(item),
                       "%sgpu_cores: '%s' must be FIRST-LAST among the %u cores of a server",
                       reader->path, item->text, group->server.cores);
        }
        gpu++;
    }
}

/* ---- one group ---- */

static void check_sharing(struct key_reader *reader, const struct yaml_node *node,
                          struct server_group *group)
{
    const struct yaml_node *sharing = yaml_child(node, "sharing");
    const struct place at = yaml_place(sharing ? sharing : node);
    const enum sharing kind = group->sharing;
    const bool counted = kind == SHARING_SHARD || kind == SHARING_TIME_SLICE || kind == SHARING_MPS;
    if (counted != (group->shares_per_gpu > 0))
        diag_error(reader->diag, at,
                   "%ssharing: per_gpu is for kinds shard, time_slice and mps, which need it",
                   reader->path);
    const bool mig = kind == SHARING_MIG_SINGLE || kind == SHARING_MIG_MIXED;
    if (mig != (group->mig[0] != '\0'))
        diag_error(reader->diag, at,
                   "%ssharing: profile is for kinds mig_single and mig_mixed, which need it",
                   reader->path);
    else if (mig)
        cut_gpus(reader, sharing ? sharing : node, group);
    if (kind != SHARING_NONE && group->server.gpus == 0)
        diag_error(reader->diag, at, "%ssharing: these servers have no GPU", reader->path);
    const uint32_t bit = kind == SHARING_SHARD                               ? 1u << KIND_SLURM
                         : kind == SHARING_TIME_SLICE || kind == SHARING_MPS ? 1u << KIND_KUBERNETES
                         : kind == SHARING_SHARE                             ? 1u << KIND_PLAIN
                                                                             : ~0u;
    if (mig && reader->kinds & (1u << KIND_PLAIN | 1u << KIND_STATIC))
        diag_error(reader->diag, at,
                   "%ssharing: this kind is for scheduler.kind slurm and kubernetes", reader->path);
    if (!(reader->kinds & bit))
        diag_error(reader->diag, at, "%ssharing: this kind is for scheduler.kind %s", reader->path,
                   kind == SHARING_SHARD   ? "slurm"
                   : kind == SHARING_SHARE ? "plain"
                                           : "kubernetes");
}

static void check_names(struct key_reader *reader, const struct yaml_node *node,
                        const struct server_group *group)
{
    const struct yaml_node *names = yaml_child(node, "names");
    uint32_t count = 0;
    if (names == NULL || group->names[0] == '\0') return;
    const char *why = hostlist_check(group->names, &count);
    if (why != NULL)
        diag_error(reader->diag, yaml_place(names), "%snames: '%s' as a host list %s", reader->path,
                   group->names, why);
    else if (count != (uint64_t)group->count * group->nodes_per_server)
        diag_error(reader->diag, yaml_place(names),
                   "%snames: %" PRIu32 " names for %" PRIu64 " nodes", reader->path, count,
                   (uint64_t)group->count * group->nodes_per_server);
}

static void read_group(struct key_reader *reader, const struct yaml_node *node,
                       struct server_group *group)
{
    const uint64_t errors = diag_error_count(reader->diag);
    keys_read(reader, "layouts[].servers.", node, NULL, group);
    if (diag_error_count(reader->diag) > errors) return;
    check_sharing(reader, node, group);
    check_names(reader, node, group);
    const uint32_t parts = group->nodes_per_server;
    const struct yaml_node *vm = yaml_child(node, "vm");
    if (vm && parts == 1)
        diag_error(reader->diag, yaml_key_place(vm),
                   "%svm: these servers are one node each; write nodes_per_server", reader->path);
    if (group->vm.shared_nvlink && group->vm.nvlink == VM_NVLINK_OFF)
        diag_error(reader->diag, yaml_place(yaml_child(vm, "shared_nvlink")),
                   "%svm.shared_nvlink: vm.nvlink is off", reader->path);
    if (group->server.gpus % parts || group->server.cores % parts)
        diag_error(reader->diag, yaml_place(yaml_child(node, "nodes_per_server")),
                   "%snodes_per_server: %u GPUs and %u cores cannot be cut into %u equal nodes",
                   reader->path, group->server.gpus, group->server.cores, parts);
    if (group->server.cores / parts % group->sockets && yaml_child(node, "sockets"))
        diag_error(reader->diag, yaml_place(yaml_child(node, "sockets")),
                   "%ssockets: the %u cores of a node cannot be split evenly over %u sockets",
                   reader->path, group->server.cores / parts, group->sockets);
}

/* ---- all groups of a layout ---- */

/* Nodes of two groups with one name; lists with many are not compared. */
static void check_twins(struct key_reader *reader, const struct layout *layout,
                        const struct yaml_node *at)
{
    if (layout_nodes(layout) > NAMES_COMPARED_MOST / (layout->group_count + 1)) return;
    for (uint32_t later = 1; later < layout->group_count; later++)
        for (uint32_t i = 0; i < group_nodes(&layout->groups[later]); i++) {
            char name[LIMIT_NAME_BYTES];
            uint32_t index;
            if (!hostlist_name(layout->groups[later].names, i, name)) break;
            for (uint32_t first = 0; first < later; first++)
                if (layout->groups[first].names[0] &&
                    hostlist_find(layout->groups[first].names, name, &index)) {
                    diag_error(reader->diag, yaml_place(at), "%sservers: two nodes are called '%s'",
                               reader->path, name);
                    return;
                }
        }
}

/* Only type and count: such a layout needs no groups. */
static bool is_plain(const struct yaml_node *map)
{
    for (const struct yaml_node *child = map->first; child; child = child->next)
        if (strcmp(child->key, "type") != 0 && strcmp(child->key, "count") != 0) return false;
    return true;
}

/* The layout's own type is that of the first group with GPUs; its count is that of all groups. */
static void sum_up(struct key_reader *reader, struct layout *layout, const struct yaml_node *at)
{
    const struct server_group *groups = layout->groups;
    uint64_t servers = 0;
    uint32_t with_gpus = layout->group_count;
    for (uint32_t i = 0; i < layout->group_count; i++) {
        servers += groups[i].count;
        if (with_gpus == layout->group_count && groups[i].server.gpus > 0) with_gpus = i;
    }
    if (with_gpus == layout->group_count) {
        diag_error(reader->diag, yaml_place(at), "%sservers: none of them has a GPU", reader->path);
        return;
    }
    layout->server = groups[with_gpus].server;
    layout->server_count = servers > UINT32_MAX ? UINT32_MAX : (uint32_t)servers;
}

static void read_groups(struct key_reader *reader, const struct yaml_node *node,
                        struct layout *layout)
{
    const bool is_list = node->kind == YAML_LIST;
    const uint32_t count = is_list ? node->child_count : 1;
    if (count == 0 || count > LIMIT_SERVER_GROUPS) {
        diag_error(reader->diag, yaml_place(node), "%sservers: 1 to %d groups, got %u",
                   reader->path, LIMIT_SERVER_GROUPS, count);
        return;
    }
    layout->groups = calloc(count, sizeof *layout->groups);
    if (layout->groups == NULL) {
        diag_world(reader->diag, "%s: out of memory", node->document->file);
        return;
    }
    const uint64_t errors = diag_error_count(reader->diag);
    for (const struct yaml_node *item = is_list ? node->first : node; item;
         item = is_list ? item->next : NULL) {
        char shown[32] = "servers.";
        if (is_list) snprintf(shown, sizeof shown, "servers[%u].", layout->group_count);
        if (item->kind != YAML_MAP) {
            key_wrong_kind(reader, "servers", item, "a mapping for each group");
            continue;
        }
        const size_t length = key_enter(reader, shown);
        read_group(reader, item, &layout->groups[layout->group_count++]);
        key_leave(reader, length);
    }
    if (diag_error_count(reader->diag) > errors) return;
    sum_up(reader, layout, node);
    check_twins(reader, layout, node);
    if (is_list || !is_plain(node)) return;
    free(layout->groups);
    layout->groups = NULL;
    layout->group_count = 0;
}

/* A file with one node a row. */
static void read_inventory(struct key_reader *reader, const struct yaml_node *node,
                           struct layout *layout)
{
    char path[LIMIT_PATH_BYTES], shown[LIMIT_PATH_BYTES + 64];
    uint32_t nodes = 0;
    if (!read_path(reader, "servers", node, path)) return;
    layout->from_inventory = true;
    layout->groups = calloc(LIMIT_SERVER_GROUPS, sizeof *layout->groups);
    if (layout->groups == NULL) {
        diag_world(reader->diag, "%s: out of memory", node->document->file);
        return;
    }
    if (inventory_read(path, layout->groups, &layout->group_count, &nodes, reader->diag) !=
        STATUS_OK)
        return;
    sum_up(reader, layout, node);
    snprintf(shown, sizeof shown, "%s (%" PRIu32 " nodes of %" PRIu32 " kinds)", node->text, nodes,
             layout->group_count);
    key_show(reader, "servers", shown, node, NULL);
}

void read_servers(struct key_reader *reader, const struct key_found *found)
{
    if (found->node->kind == YAML_SCALAR)
        read_inventory(reader, found->node, found->target);
    else
        read_groups(reader, found->node, found->target);
}
