/* scenario_communication.c - workload.communication in its forms: a word, a profile's id, a map of
 * kind and scale, or the numbers of a profile. */
#include "io/scenario_parts.h"

#include <string.h>

enum { IDS_MOST = 64, CHILDREN_MOST = 32 };

/* The whole mix is one profile for jobs of all sizes. */
static void one_profile(struct communication *communication, enum comm_kind kind)
{
    communication->kind = kind;
    communication->mix_count = 1;
    communication->mix[0].weight = 1;
    communication->mix[0].gpus_min = 1;
    communication->mix[0].gpus_max = LIMIT_GPUS;
}

static void unknown_profile(struct key_reader *reader, const struct yaml_node *node)
{
    struct reading *reading = reading_of(reader);
    const char *names[IDS_MOST] = { "none", "by_model_mix" };
    size_t count = 2;
    const struct yaml_node *entry =
        catalog_first(&reading->catalog, CATALOG_PROFILES, reader->diag);
    for (; entry && count < IDS_MOST; entry = entry->next) names[count++] = catalog_id(entry);
    key_unknown_word(reader, "kind", node, names, count);
}

static void read_profile(struct key_reader *reader, const struct yaml_node *node, const char *id)
{
    struct reading *reading = reading_of(reader);
    struct communication *communication = &reading->scenario->communication;
    const struct yaml_node *entry =
        catalog_find(&reading->catalog, CATALOG_PROFILES, id, reader->diag);
    if (entry == NULL && reading->catalog.usable[CATALOG_PROFILES]) {
        unknown_profile(reader, node);
        return;
    }
    if (entry == NULL) return;
    one_profile(communication, strcmp(id, "by_size") == 0 ? COMM_BY_SIZE : COMM_PROFILE);
    const size_t length = key_enter(reader, "mix[0].");
    catalog_read_profile(&reading->catalog, reader, entry, &communication->mix[0].profile);
    key_leave(reader, length);
}

static void read_mix(struct key_reader *reader, const struct yaml_node *node)
{
    struct reading *reading = reading_of(reader);
    struct communication *communication = &reading->scenario->communication;
    communication->kind = COMM_BY_MODEL_MIX;
    const struct yaml_node *entry =
        catalog_find(&reading->catalog, CATALOG_MIXES, "default", reader->diag);
    if (entry != NULL) {
        catalog_read_mix(&reading->catalog, reader, entry, communication);
        catalog_read_others(&reading->catalog, reader->diag, communication);
    } else if (reading->catalog.usable[CATALOG_MIXES])
        diag_error(reader->diag, node ? yaml_place(node) : (struct place){ 0 },
                   "the catalog has no mix 'default'");
}

/* The row of the kind; also called for its default. */
void read_communication_kind(struct key_reader *reader, const struct key_found *found)
{
    struct reading *reading = reading_of(reader);
    const struct yaml_node *node = found->node;
    if (node != NULL && node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, "kind", node, "one value");
        return;
    }
    const char *kind = node ? node->text : "by_model_mix";
    key_show(reader, "kind", kind, node, "default");
    if (strcmp(kind, "none") == 0)
        reading->scenario->communication.kind = COMM_NONE;
    else if (strcmp(kind, "by_model_mix") == 0)
        read_mix(reader, node);
    else
        read_profile(reader, node, kind);
}

/* A map is split in two: what belongs to the communication, and the numbers of a profile. */
struct split {
    struct yaml_node common, profile, copies[CHILDREN_MOST];
};

static void split_map(const struct yaml_node *map, struct split *split)
{
    split->common = split->profile = *map;
    struct yaml_node **common_tail = &split->common.first, **profile_tail = &split->profile.first;
    *common_tail = *profile_tail = NULL;
    size_t count = 0;
    for (const struct yaml_node *child = map->first; child && count < CHILDREN_MOST;
         child = child->next) {
        struct yaml_node *copy = &split->copies[count++];
        char path[128];
        *copy = *child;
        copy->next = NULL;
        snprintf(path, sizeof path, "profile.%.64s", child->key);
        struct yaml_node ***tail = key_find(path) ? &profile_tail : &common_tail;
        **tail = copy;
        *tail = &copy->next;
    }
}

static void read_inline_profile(struct key_reader *reader, const struct split *split)
{
    struct communication *communication = &reading_of(reader)->scenario->communication;
    one_profile(communication, COMM_PROFILE);
    const struct yaml_node *kind = yaml_child(&split->common, "kind");
    if (kind != NULL)
        diag_error(reader->diag, yaml_key_place(kind),
                   "give either a kind or the numbers of a profile");
    catalog_read_profile(&reading_of(reader)->catalog, reader, &split->profile,
                         &communication->mix[0].profile);
    struct yaml_node rest = split->common;
    if (kind != NULL) return;
    /* The kind is said by the numbers: the other keys are left to read. */
    for (const struct yaml_node *child = rest.first; child; child = child->next) {
        char path[128];
        snprintf(path, sizeof path, "workload.communication.%.64s", child->key);
        const struct key_row *row = key_find(path);
        if (row == NULL)
            diag_error(reader->diag, yaml_key_place(child),
                       "unknown key '%s' among the numbers of a profile", child->key);
        else if (key_scalar(reader, row, child, reading_of(reader)->scenario))
            key_show(reader, child->key, child->text, child, NULL);
    }
}

void read_communication(struct key_reader *reader, const struct key_found *found)
{
    const struct yaml_node *node = found->node;
    struct scenario *scenario = reading_of(reader)->scenario;
    const size_t length = key_enter(reader, "communication.");
    scenario->communication.scale = 1;
    scenario->communication.allreduce = RULE_AUTO;
    static struct split split; /* the tree of the map stays as it is */
    if (node != NULL && node->kind == YAML_MAP) {
        split_map(node, &split);
        if (split.profile.first != NULL)
            read_inline_profile(reader, &split);
        else
            keys_read(reader, "workload.communication.", &split.common, NULL, scenario);
    } else {
        const struct key_found kind = { .node = node };
        read_communication_kind(reader, &kind);
        key_show(reader, "allreduce", "auto", NULL, "default");
        key_show(reader, "scale", "1", NULL, "default");
    }
    key_leave(reader, length);
}
