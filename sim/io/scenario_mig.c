/* scenario_mig.c - how the GPUs of a group are cut into MIG instances, by the profiles of the catalog. */
#include "io/scenario_parts.h"

#include "base/text.h"
#include "models/mig.h"

#include <stdlib.h>
#include <string.h>

/* 1 / UNITS of a GPU is the unit of the ledger; sevenths and fourths of it are whole (DESIGN 3). */
enum { UNITS_OF_GPU = 1008000 };

struct table {
    struct mig_gpu gpu;
    const char *names[MIG_KINDS_MOST];
};

static uint32_t count_of(const struct yaml_node *entry, const char *key)
{
    const struct yaml_node *node = yaml_child(entry, key);
    return node ? (uint32_t)strtoul(node->text, NULL, 10) : 0;
}

/* "0 2 4" -> bits */
static uint32_t starts_of(const struct yaml_node *entry)
{
    const struct yaml_node *node = yaml_child(entry, "starts");
    uint32_t starts = 0;
    if (node == NULL) return 0;
    for (char *at = (char *)(uintptr_t)node->text, *end; *at; at = end) {
        const unsigned long start = strtoul(at, &end, 10);
        if (end == at) break;
        if (start < MIG_SLICES_MOST) starts |= 1u << start;
    }
    return starts;
}

/* Bytes of the family in front of the first '-': "h100" of "h100-sxm". */
static bool same_family(const char *a, const char *b)
{
    const size_t bytes = strcspn(a, "-");
    return bytes == strcspn(b, "-") && memcmp(a, b, bytes) == 0;
}

/* Profiles of a GPU: of the entry whose name begins its id ("a100-40" of "a100-40-sxm"), else of its family when that
 * has one table. */
static const char *table_name(const struct yaml_node *first, const char *gpu)
{
    const char *family = NULL;
    bool several = false;
    for (const struct yaml_node *entry = first; entry; entry = entry->next) {
        const struct yaml_node *node = yaml_child(entry, "gpu");
        if (node == NULL) continue;
        if (strncmp(gpu, node->text, node->text_bytes) == 0) return node->text;
        if (!same_family(gpu, node->text)) continue;
        several |= family != NULL && strcmp(family, node->text) != 0;
        family = node->text;
    }
    return several ? NULL : family;
}

static bool read_table(const struct yaml_node *first, const char *gpu, struct table *table)
{
    const char *name = table_name(first, gpu);
    *table = (struct table){ 0 };
    for (const struct yaml_node *entry = first; name && entry; entry = entry->next) {
        const struct yaml_node *node = yaml_child(entry, "gpu");
        const struct yaml_node *profile = yaml_child(entry, "profile");
        const uint32_t row = table->gpu.profile_count;
        if (!node || !profile || strcmp(node->text, name) != 0 || row == MIG_KINDS_MOST) continue;
        const struct mig_profile made = { .compute = count_of(entry, "compute_slices"),
                                          .memory = count_of(entry, "memory_slices"),
                                          .starts = starts_of(entry),
                                          .most = count_of(entry, "max_instances") };
        table->gpu.profiles[row] = made;
        table->names[row] = profile->text;
        table->gpu.profile_count++;
        /* The largest profile is the whole GPU. */
        if (made.compute > table->gpu.compute_slices) table->gpu.compute_slices = made.compute;
        if (made.memory > table->gpu.memory_slices) table->gpu.memory_slices = made.memory;
    }
    return table->gpu.profile_count > 0;
}

static uint32_t profile_row(const struct table *table, const char *name, size_t bytes)
{
    uint32_t row = 0;
    while (row < table->gpu.profile_count &&
           (strlen(table->names[row]) != bytes || memcmp(table->names[row], name, bytes) != 0))
        row++;
    return row;
}

/* Places instances[from..count) in any legal way; the first found, lowest starts first. */
static bool place(const struct table *table, const uint32_t *instances, uint32_t count,
                  uint32_t from, struct mig_state *state, struct server_group *group)
{
    if (from == count) return true;
    const uint32_t profile = instances[from];
    for (uint32_t start = 0; start < table->gpu.memory_slices; start++) {
        if (!mig_legal(&table->gpu, state, profile, start)) continue;
        mig_make(&table->gpu, state, profile, start);
        if (place(table, instances, count, from + 1, state, group)) {
            struct gpu_cut *cut = &group->cuts[from];
            const struct mig_profile *made = &table->gpu.profiles[profile];
            *cut =
                (struct gpu_cut){ .units = UNITS_OF_GPU / table->gpu.compute_slices * made->compute,
                                  .slice_first = (uint8_t)start,
                                  .slice_count = (uint8_t)made->memory };
            text_copy(cut->profile, sizeof cut->profile, table->names[profile],
                      strlen(table->names[profile]));
            return true;
        }
        mig_unmake(&table->gpu, state, profile, start);
    }
    return false;
}

static void unknown_profile(struct key_reader *reader, const struct yaml_node *node,
                            const struct table *table, const char *name, size_t bytes)
{
    char copy[64];
    struct yaml_node word = *node;
    text_copy(copy, sizeof copy, name, bytes < sizeof copy ? bytes : sizeof copy - 1);
    word.kind = YAML_SCALAR;
    word.text = copy;
    word.text_bytes = strlen(copy);
    key_unknown_word(reader, "sharing.profile", &word, table->names, table->gpu.profile_count);
}

/* The instances of one GPU by rows of the table; 0 after a problem. */
static uint32_t list_instances(struct key_reader *reader, const struct yaml_node *node,
                               const struct server_group *group, const struct table *table,
                               uint32_t instances[LIMIT_GPU_CUTS])
{
    uint32_t count = 0;
    for (const char *at = group->mig; *at;) {
        const size_t bytes = strcspn(at, ",");
        const uint32_t row = profile_row(table, at, bytes);
        if (row == table->gpu.profile_count) {
            unknown_profile(reader, node, table, at, bytes);
            return 0;
        }
        if (count < LIMIT_GPU_CUTS) instances[count++] = row;
        at += bytes + (at[bytes] == ',');
    }
    if (group->sharing == SHARING_MIG_MIXED) return count;
    if (count != 1) {
        diag_error(reader->diag, yaml_place(node),
                   "%ssharing: mig_single cuts a GPU into one profile; several are mig_mixed",
                   reader->path);
        return 0;
    }
    const uint32_t most = table->gpu.profiles[instances[0]].most;
    for (; count < most && count < LIMIT_GPU_CUTS; count++) instances[count] = instances[0];
    return count;
}

void cut_gpus(struct key_reader *reader, const struct yaml_node *sharing,
              struct server_group *group)
{
    struct reading *reading = reading_of(reader);
    const struct yaml_node *profile = yaml_child(sharing, "profile");
    const struct yaml_node *node = profile ? profile : sharing;
    const struct yaml_node *first = catalog_first(&reading->catalog, CATALOG_MIG, reader->diag);
    uint32_t instances[LIMIT_GPU_CUTS];
    struct mig_state state = { 0 };
    struct table table;
    if (!read_table(first, group->server.gpu, &table)) {
        diag_error(reader->diag, yaml_place(node),
                   "%ssharing: no MIG profiles are known for GPU '%s' (gpuplan catalog mig)",
                   reader->path, group->server.gpu);
        return;
    }
    const uint32_t count = list_instances(reader, node, group, &table, instances);
    if (count == 0) return;
    group->cut_count = count;
    if (!place(&table, instances, count, 0, &state, group))
        diag_error(reader->diag, yaml_place(node),
                   "%ssharing: these instances do not fit one GPU of %u compute and %u memory "
                   "slices together",
                   reader->path, table.gpu.compute_slices, table.gpu.memory_slices);
}
