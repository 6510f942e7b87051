/* catalog_entry.c - entries -> the structs of spec, with the checks that one key alone cannot do. */
#include "io/catalog.h"
#include "io/server_inside.h"

#include <math.h>
#include <string.h>

const char *const component_keys[COMPONENTS] = { "gpu", "server", "link", "leaf", "job" };

/* Reads a type. One that is "like" an entry is not that entry: its id says so. */
static void read_type(struct key_reader *reader, const char *prefix, const struct yaml_node *entry,
                      const struct yaml_node *below, char *id, void *type)
{
    const bool changed = below != NULL && yaml_child(entry, "id") == NULL;
    reader->hidden = changed ? "id" : NULL;
    keys_read(reader, prefix, entry, below, type);
    reader->hidden = NULL;
    if (!changed) return;
    snprintf(id, LIMIT_NAME_BYTES, "%.54s-changed", catalog_id(below));
    key_show(reader, "id", id, NULL, "default");
}

/* An entry that is known and cannot be simulated says why. */
static bool refused(struct key_reader *reader, const struct yaml_node *entry,
                    const struct yaml_node *below)
{
    const struct yaml_node *source = below ? below : entry;
    const struct yaml_node *reason = yaml_child(source, "refused");
    if (reason == NULL) return false;
    const size_t path_bytes = strlen(reader->path); /* ends in a dot */
    diag_error(reader->diag, yaml_place(reason), "%.*s%s'%s' cannot be simulated: %s",
               path_bytes > 0 ? (int)path_bytes - 1 : 0, reader->path, path_bytes > 0 ? ": " : "",
               catalog_id(source), reason->kind == YAML_SCALAR ? reason->text : "no reason given");
    return true;
}

void catalog_read_server(struct key_reader *reader, const struct yaml_node *entry,
                         const struct yaml_node *below, struct server_type *server)
{
    if (refused(reader, entry, below)) return;
    const uint64_t errors = diag_error_count(reader->diag);
    server_inside_init(server);
    read_type(reader, "server.", entry, below, server->id, server);
    if (diag_error_count(reader->diag) == errors) server_inside_read(reader, entry, below, server);
    if (server->max_w > 0 && server->idle_w > server->max_w)
        diag_error(reader->diag, yaml_place(entry), "%sidle must not be above max", reader->path);
}

void catalog_read_link(struct key_reader *reader, const struct yaml_node *entry,
                       const struct yaml_node *below, struct link_type *link)
{
    if (refused(reader, entry, below)) return;
    read_type(reader, "link.", entry, below, link->id, link);
    snprintf(link->like, sizeof link->like, "%s", below ? catalog_id(below) : link->id);
}

/* kappa of a job is drawn from a Beta on (0, 1) when there is spread: such a law has a mean below
 * 1 and sd^2 < mean (1 - mean). */
static bool spread_fits(double kappa, double spread)
{
    return spread == 0 || kappa == 0 || (kappa < 1 && spread * spread * kappa < 1 - kappa);
}

/* A training plan works these out by itself. */
static void refuse_beside_train(struct key_reader *reader, const struct yaml_node *entry)
{
    static const char *const names[] = { "kappa_many", "hidden", "size", "spread" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct yaml_node *key = yaml_child(entry, names[i]);
        if (key != NULL)
            diag_error(reader->diag, yaml_key_place(key),
                       "%s%s goes with kappa_one, not with a training plan", reader->path,
                       names[i]);
    }
}

void catalog_read_profile(struct catalog *catalog, struct key_reader *reader,
                          const struct yaml_node *entry, struct profile *profile)
{
    const struct yaml_node *train = yaml_child(entry, "train");
    keys_read(reader, "profile.", entry, NULL, profile);
    if (train != NULL) catalog_read_train(catalog, reader, train, &profile->train);
    const struct yaml_node *one = yaml_child(entry, "kappa_one");
    const struct yaml_node *many = yaml_child(entry, "kappa_many");
    if (train == NULL && one == NULL)
        key_missing(reader, key_find("profile.kappa_one"), entry);
    else if (train == NULL && many == NULL)
        key_missing(reader, key_find("profile.kappa_many"), entry);
    else if (one == NULL)
        refuse_beside_train(reader, entry);
    if (!spread_fits(profile->kappa_one, profile->spread) ||
        !spread_fits(profile->kappa_many, profile->spread))
        diag_error(
            reader->diag, yaml_place(entry),
            "%sspread %g is wider than a kappa between 0 and 1 can vary; needs kappa below 1 "
            "and spread^2 below (1 - kappa) / kappa",
            reader->path, profile->spread);
}

void catalog_read_gpu(struct key_reader *reader, const struct yaml_node *entry,
                      struct gpu_type *gpu)
{
    keys_read(reader, "gpu.", entry, NULL, gpu);
}

void catalog_read_model(struct key_reader *reader, const struct yaml_node *entry,
                        struct model_shape *model)
{
    keys_read(reader, "model.", entry, NULL, model);
    if (model->active_parameters == 0) model->active_parameters = model->parameters;
    if (model->experts > 0 && model->expert_layers == 0) model->expert_layers = model->layers;
    if (model->active_parameters > model->parameters ||
        model->expert_parameters > model->parameters || model->expert_layers > model->layers)
        diag_error(reader->diag, yaml_place(entry), "%sa part is larger than the whole",
                   reader->path);
}

void catalog_read_stack(struct key_reader *reader, const struct yaml_node *entry,
                        struct train_stack *stack)
{
    keys_read(reader, "stack.", entry, NULL, stack);
}

/* What a component's fields must satisfy together. */
static void check_component(struct key_reader *reader, const struct yaml_node *node,
                            const struct component_failures *component)
{
    const struct place at = yaml_place(node);
    const int shown = (int)strlen(reader->path) - 1; /* without its last dot */
    if (component->law != LAW_NONE && component->mean_s == 0)
        diag_error(reader->diag, at, "%.*s needs a rate or an mtbf, or law: none", shown,
                   reader->path);
    if ((component->law == LAW_WEIBULL || component->law == LAW_LOGNORMAL) && component->shape == 0)
        diag_error(reader->diag, at, "%.*s needs a shape for this law", shown, reader->path);
    if (component->repair_p95_s < component->repair_median_s)
        diag_error(reader->diag, at, "%srepair_p95 must not be below repair_median", reader->path);
    if (component->repair_median_s == 0 && component->repair_p95_s > 0)
        diag_error(reader->diag, at, "%srepair_p95 needs a repair_median above 0s", reader->path);
}

void catalog_read_component(struct key_reader *reader, const struct yaml_node *node,
                            const struct yaml_node *below, struct component_failures *component)
{
    *component = (struct component_failures){ .law = LAW_NONE };
    if (node == NULL && below == NULL) return;
    const uint64_t errors = diag_error_count(reader->diag);
    component->repair_p95_s = -1; /* not written */
    keys_read(reader, "component.", node, below, component);
    /* A rate of one's own is of the servers it is written for. */
    if (node && below && (yaml_child(node, "rate") || yaml_child(node, "mtbf")) &&
        !yaml_child(node, "per_server_of"))
        component->per_server_of = 0;
    if (component->repair_p95_s < 0) component->repair_p95_s = component->repair_median_s;
    if (diag_error_count(reader->diag) == errors)
        check_component(reader, node ? node : below, component);
}

static void read_entry(struct catalog *catalog, struct key_reader *reader,
                       const struct yaml_node *node, struct mix_entry *entry)
{
    const uint64_t errors = diag_error_count(reader->diag);
    keys_read(reader, "mix.", node, NULL, entry);
    const struct yaml_node *id = yaml_child(node, "profile");
    if (id == NULL || id->kind != YAML_SCALAR || diag_error_count(reader->diag) > errors) return;
    const struct yaml_node *profile =
        catalog_find(catalog, CATALOG_PROFILES, id->text, reader->diag);
    if (profile == NULL) {
        diag_error(reader->diag, yaml_place(id), "no profile '%s' in the catalog", id->text);
        return;
    }
    catalog_read_profile(catalog, reader, profile, &entry->profile);
    if (entry->gpus_min > entry->gpus_max)
        diag_error(reader->diag, yaml_place(node), "gpus_min must not be above gpus_max");
}

void catalog_read_mix(struct catalog *catalog, struct key_reader *reader,
                      const struct yaml_node *entry, struct communication *communication)
{
    const struct yaml_node *list = yaml_child(entry, "entries");
    for (const struct yaml_node *child = entry->first; child; child = child->next)
        if (strcmp(child->key, "id") != 0 && strcmp(child->key, "source") != 0 &&
            strcmp(child->key, "mark") != 0 && strcmp(child->key, "entries") != 0)
            diag_error(reader->diag, yaml_key_place(child), "unknown key '%s' in a mix",
                       child->key);
    if (list == NULL || list->kind != YAML_LIST || list->child_count == 0 ||
        list->child_count > LIMIT_PROFILES) {
        diag_error(reader->diag, yaml_place(entry), "a mix has 1 to %d entries", LIMIT_PROFILES);
        return;
    }
    communication->mix_count = 0;
    for (const struct yaml_node *node = list->first; node; node = node->next) {
        if (node->kind != YAML_MAP) {
            key_wrong_kind(reader, "entries", node, "a mapping");
            return;
        }
        char shown[48];
        snprintf(shown, sizeof shown, "mix[%u].", communication->mix_count);
        const size_t length = key_enter(reader, shown);
        read_entry(catalog, reader, node, &communication->mix[communication->mix_count++]);
        key_leave(reader, length);
    }
}

void catalog_read_others(struct catalog *catalog, struct diag *diag,
                         struct communication *communication)
{
    struct key_reader quiet = { .diag = diag };
    const uint32_t drawn = communication->mix_count;
    const struct yaml_node *entry = catalog_first(catalog, CATALOG_PROFILES, diag);
    for (; entry && communication->mix_count < LIMIT_PROFILES; entry = entry->next) {
        uint32_t row = 0;
        while (row < drawn && strcmp(communication->mix[row].profile.id, catalog_id(entry)) != 0)
            row++;
        if (row < drawn) continue;
        struct mix_entry *other = &communication->mix[communication->mix_count++];
        *other = (struct mix_entry){ .gpus_max = LIMIT_GPUS };
        catalog_read_profile(catalog, &quiet, entry, &other->profile);
    }
}
