/* scenario_slurm_lists.c - the keys of `scheduler.slurm` that are lists of maps. */
#include "io/scenario_slurm.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "io/scenario_lists.h"
#include "spec/hostlist.h"

#include <string.h>

/* More than any site has. Names are compared one with another: these are the roots of what that may take. */
enum {
    PARTITIONS_MOST = 1000,
    QOS_MOST = 1000,
    ASSOCIATIONS_MOST = 5000,
    RESERVATIONS_MOST = 1000
};
enum { SWITCHES_MOST = 5000 };

static struct slurm_spec *slurm_of(struct key_reader *reader)
{
    return &reading_of(reader)->scenario->slurm;
}

/* ---- topology.conf ---- */

static void check_line(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct slurm_switch *line = item;
    const bool is_block = yaml_child(node, "BlockName") != NULL;
    if (is_block && line->switches[0])
        diag_error(reader->diag, yaml_place(node), "%sSwitches: a block holds nodes", reader->path);
    else if ((line->nodes[0] == '\0') == (line->switches[0] == '\0'))
        diag_error(reader->diag, yaml_place(node), "%s: a line has either Nodes or Switches",
                   line->name);
    uint32_t count;
    const char *list = line->nodes[0] ? line->nodes : line->switches;
    const char *why = list[0] ? hostlist_check(list, &count) : NULL;
    if (why != NULL)
        diag_error(reader->diag, yaml_place(node), "%s: '%s' as a host list %s", line->name, list,
                   why);
}

/* All lines are of the plugin's kind. */
static void check_kinds(struct key_reader *reader, const struct key_found *found)
{
    const struct slurm_spec *slurm = slurm_of(reader);
    if (slurm->topology == TOPOLOGY_NONE && found->node->child_count > 0) {
        refuse_value(reader, found, "TopologyPlugin topology/flat knows no lines");
        return;
    }
    const char *wanted = slurm->topology == TOPOLOGY_BLOCK ? "BlockName" : "SwitchName";
    for (const struct yaml_node *node = found->node->first; node; node = node->next)
        if (yaml_child(node, wanted) == NULL) {
            diag_error(reader->diag, yaml_place(node),
                       "%stopology: this TopologyPlugin has lines "
                       "with %s",
                       reader->path, wanted);
            return;
        }
}

void read_topology_lines(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.slurm.topology[].",
                                           "the leaves of the layout's fabric",
                                           sizeof(struct slurm_switch), SWITCHES_MOST, check_line };
    struct slurm_spec *slurm = slurm_of(reader);
    const uint64_t errors = diag_error_count(reader->diag);
    slurm->switches = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, slurm->switches, &slurm->switch_count);
    if (found->node != NULL && diag_error_count(reader->diag) == errors) check_kinds(reader, found);
}

void read_block_sizes(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_spec *slurm = slurm_of(reader);
    char list[LIST_BYTES], word[LIST_BYTES];
    slurm->block_size_count = 0;
    if (found->node == NULL) {
        key_show(reader, "BlockSizes", "the nodes of a block and its doubles", NULL, "default");
        return;
    }
    read_word_list(reader, found, list);
    for (const char *at = list; list_word(&at, word, sizeof word);) {
        int64_t size = 0;
        struct why why;
        const uint32_t first = slurm->block_sizes[0], count = slurm->block_size_count;
        const uint32_t last = count > 0 ? slurm->block_sizes[count - 1] : 0;
        const bool good =
            quantity_count(word, strlen(word), &size, &why) && size > last && size <= LIMIT_GPUS;
        const int64_t times = good && count > 0 ? size / first : 1;
        if (!good || count == 16 ||
            (count > 0 && (size % first != 0 || (times & (times - 1)) != 0))) {
            refuse_value(reader, found, "'%s': sizes ascend, each the first times a power of two",
                         word);
            return;
        }
        slurm->block_sizes[slurm->block_size_count++] = (uint32_t)size;
    }
}

/* ---- partitions ---- */

void read_default_partition(struct key_reader *reader, const struct key_found *found)
{
    (void)reader; /* the only partition is the default one: known when all are read */
    (void)found;
}

static bool same_name(const char *names, size_t stride, uint32_t count)
{
    const char *last = names + (size_t)(count - 1) * stride;
    for (uint32_t i = 0; i + 1 < count; i++)
        if (strcmp(names + (size_t)i * stride, last) == 0) return true;
    return false;
}

static void check_partition(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct slurm_spec *slurm = slurm_of(reader);
    const struct slurm_partition *partition = item;
    const uint32_t count = slurm->partition_count;
    if (same_name(slurm->partitions[0].name, sizeof *partition, count))
        diag_error(reader->diag, yaml_place(node), "two partitions are called '%s'",
                   partition->name);
    for (uint32_t i = 0; partition->is_default && i + 1 < count; i++)
        if (slurm->partitions[i].is_default)
            diag_error(reader->diag, yaml_place(node), "%sDefault: '%s' is the default already",
                       reader->path, slurm->partitions[i].name);
    if (partition->default_time_ns > partition->max_time_ns)
        diag_error(reader->diag, yaml_place(node), "%sDefaultTime is longer than MaxTime",
                   reader->path);
    if (strchr(partition->name, ',') != NULL)
        diag_error(reader->diag, yaml_place(node), "%sname: a comma parts the names of partitions",
                   reader->path);
}

void read_partitions(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.slurm.partitions[].",
                                           "one partition 'batch' over ALL nodes",
                                           sizeof(struct slurm_partition), PARTITIONS_MOST,
                                           check_partition };
    struct slurm_spec *slurm = slurm_of(reader);
    const bool has_none = found->node == NULL;
    if (!has_none && found->node->kind == YAML_LIST && found->node->child_count == 0) {
        refuse_value(reader, found, "at least one");
        return;
    }
    slurm->partitions = list_room(reader, found, &form, has_none);
    list_items(reader, found, &form, slurm->partitions, &slurm->partition_count);
    if (slurm->partitions == NULL) return;
    if (has_none) {
        slurm->partition_count = 1;
        slurm->partitions[0] = (struct slurm_partition){ .name = "batch",
                                                         .nodes = "ALL",
                                                         .max_time_ns = TIME_NEVER,
                                                         .priority_tier = 1,
                                                         .priority_job_factor = 1,
                                                         .up = true,
                                                         .preempt_mode = PREEMPT_UNSET };
    }
    if (slurm->partition_count == 1) slurm->partitions[0].is_default = true;
}

/* ---- QOS ---- */

static void check_qos(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct slurm_spec *slurm = slurm_of(reader);
    const struct slurm_qos *qos = item;
    if (same_name(slurm->qos[0].name, sizeof *qos, slurm->qos_count))
        diag_error(reader->diag, yaml_place(node), "two QOSes are called '%s'", qos->name);
}

static const struct slurm_qos *qos_named(const struct slurm_spec *slurm, const char *name)
{
    for (uint32_t i = 0; i < slurm->qos_count; i++)
        if (strcmp(slurm->qos[i].name, name) == 0) return &slurm->qos[i];
    return NULL;
}

/* Preempt= may name QOSes that are written later. */
static void check_preempt(struct key_reader *reader, const struct yaml_node *list)
{
    const struct slurm_spec *slurm = slurm_of(reader);
    const char *names[64];
    size_t count = 0;
    for (uint32_t i = 0; i < slurm->qos_count && count < 64; i++)
        names[count++] = slurm->qos[i].name;
    uint32_t row = 0;
    for (const struct yaml_node *node = list->first; node; node = node->next, row++) {
        char word[LIMIT_TARGET_BYTES];
        const struct yaml_node *value = yaml_child(node, "Preempt");
        for (const char *at = slurm->qos[row].preempt; list_word(&at, word, sizeof word);) {
            if (qos_named(slurm, word) != NULL) continue;
            const struct yaml_node wrong = { .kind = YAML_SCALAR,
                                             .text = word,
                                             .document = value->document,
                                             .offset = value->offset,
                                             .width = value->width };
            key_unknown_word(reader, "qos[].Preempt", &wrong, names, count);
        }
    }
}

static const struct slurm_qos normal_qos = {
    .name = "normal",
    .preempt_mode = PREEMPT_UNSET,
    .grp = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET },
    .max_per_job = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET },
    .max_per_user = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET },
    .grp_run_mins = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET },
    .grp_jobs = LIMIT_UNSET,
    .max_jobs_per_user = LIMIT_UNSET,
};

void read_qos(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.slurm.qos[].", "normal, without limits",
                                           sizeof(struct slurm_qos), QOS_MOST, check_qos };
    struct slurm_spec *slurm = slurm_of(reader);
    const uint64_t errors = diag_error_count(reader->diag);
    slurm->qos = list_room(reader, found, &form, 1);
    list_items(reader, found, &form, slurm->qos, &slurm->qos_count);
    if (slurm->qos == NULL || diag_error_count(reader->diag) > errors) return;
    if (qos_named(slurm, "normal") == NULL) slurm->qos[slurm->qos_count++] = normal_qos;
    if (found->node != NULL) check_preempt(reader, found->node);
}

/* ---- associations ---- */

static bool has_account(const struct slurm_spec *slurm, const char *account)
{
    if (strcmp(account, "root") == 0) return true;
    for (uint32_t i = 0; i < slurm->association_count; i++)
        if (slurm->associations[i].user[0] == '\0' &&
            strcmp(slurm->associations[i].account, account) == 0)
            return true;
    return false;
}

/* A parent stands before its children, so that the tree has no cycle. */
static void check_association(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    struct slurm_spec *slurm = slurm_of(reader);
    struct slurm_association *row = item;
    slurm->association_count--; /* looks at the rows before it */
    const bool is_user = row->user[0] != '\0';
    if (is_user && row->parent[0])
        diag_error(reader->diag, yaml_place(node), "%sparent: a user hangs below his account",
                   reader->path);
    if (is_user && !has_account(slurm, row->account))
        diag_error(reader->diag, yaml_place(node),
                   "%saccount: no account '%s' is written before this user", reader->path,
                   row->account);
    if (!is_user && row->parent[0] && !has_account(slurm, row->parent))
        diag_error(reader->diag, yaml_place(node),
                   "%sparent: no account '%s' is written before this one", reader->path,
                   row->parent);
    for (uint32_t i = 0; i < slurm->association_count; i++)
        if (strcmp(slurm->associations[i].account, row->account) == 0 &&
            strcmp(slurm->associations[i].user, row->user) == 0)
            diag_error(reader->diag, yaml_place(node), "%s'%s%s%s' stands twice", reader->path,
                       row->account, is_user ? "." : "", row->user);
    slurm->association_count++;
}

void read_associations(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.slurm.associations[].", "[]",
                                           sizeof(struct slurm_association), ASSOCIATIONS_MOST,
                                           check_association };
    struct slurm_spec *slurm = slurm_of(reader);
    slurm->associations = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, slurm->associations, &slurm->association_count);
}

/* ---- reservations ---- */

static void check_reservation(struct key_reader *reader, const struct yaml_node *node, void *item)
{
    const struct slurm_spec *slurm = slurm_of(reader);
    struct slurm_reservation *reservation = item;
    reservation->end_ns = time_add(reservation->start_ns, reservation->end_ns);
    if (!reservation->users[0] && !reservation->accounts[0] && !reservation->maint)
        diag_error(reader->diag, yaml_place(node),
                   "reservation '%s' needs users, accounts, or flags: MAINT", reservation->name);
    if (same_name(slurm->reservations[0].name, sizeof *reservation, slurm->reservation_count))
        diag_error(reader->diag, yaml_place(node), "two reservations are called '%s'",
                   reservation->name);
}

void read_reservations(struct key_reader *reader, const struct key_found *found)
{
    static const struct list_form form = { "scheduler.slurm.reservations[].", "[]",
                                           sizeof(struct slurm_reservation), RESERVATIONS_MOST,
                                           check_reservation };
    struct slurm_spec *slurm = slurm_of(reader);
    slurm->reservations = list_room(reader, found, &form, 0);
    list_items(reader, found, &form, slurm->reservations, &slurm->reservation_count);
}
