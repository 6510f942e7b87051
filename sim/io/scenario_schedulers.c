/* scenario_schedulers.c - one scheduler, or several by name: then every layout stands under each of them. */
#include "io/scenario_parts.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_SCHEDULERS = 16 };

/* The kind that a map of scheduler keys chooses, as a bit. A word that is none stands for all, and is refused by
 * its own row. */
static uint32_t kind_of(const struct yaml_node *scheduler)
{
    const bool is_map = scheduler != NULL && scheduler->kind == YAML_MAP;
    const struct yaml_node *kind = is_map ? yaml_child(scheduler, "kind") : NULL;
    const char *words = key_find("scheduler.kind")->words;
    char word[32];
    bool built;
    if (kind == NULL || yaml_is_null(kind)) return 1u << KIND_PLAIN;
    if (kind->kind != YAML_SCALAR) return KINDS_UNKNOWN;
    for (size_t i = 0; key_word(words, i, word, sizeof word, &built); i++)
        if (strcmp(word, kind->text) == 0) return 1u << i;
    return KINDS_UNKNOWN;
}

/* Known before the walk, for it decides which rows there are. */
uint32_t chosen_kinds(const struct yaml_node *root)
{
    const struct yaml_node *several = yaml_child(root, "schedulers");
    if (several == NULL || several->kind != YAML_MAP || several->first == NULL)
        return kind_of(yaml_child(root, "scheduler"));
    uint32_t kinds = 0;
    for (const struct yaml_node *node = several->first; node; node = node->next)
        kinds |= kind_of(node);
    return kinds;
}

const struct scenario *scheduler_at(const struct scenario *scenario, uint32_t i)
{
    if (scenario->scheduler_count == 0) return i == 0 ? scenario : NULL;
    return i < scenario->scheduler_count ? &scenario->schedulers[i] : NULL;
}

/* Swaps what scenario_under copies. */
static void swap_scheduler(struct scenario *a, struct scenario *b, unsigned char *scratch)
{
    const size_t first = offsetof(struct scenario, kind);
    const size_t bytes = offsetof(struct scenario, failures) - first;
    memcpy(scratch, (char *)a + first, bytes);
    memcpy((char *)a + first, (char *)b + first, bytes);
    memcpy((char *)b + first, scratch, bytes);
}

/* The readers of scheduler keys write into the scenario: each scheduler is read there and put aside. */
static void read_one(struct key_reader *reader, const struct yaml_node *node,
                     struct scenario *aside, unsigned char *scratch)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const uint32_t kinds = reader->kinds;
    if (node->kind != YAML_MAP) {
        const size_t outer = key_enter(reader, "schedulers.");
        key_wrong_kind(reader, node->key, node, "a mapping, as scheduler");
        key_leave(reader, outer);
        return;
    }
    char shown[LIMIT_NAME_BYTES + 16];
    slurm_defaults(&aside->slurm);
    kube_defaults(&aside->kube);
    if (strlen(node->key) >= LIMIT_NAME_BYTES / 2)
        diag_error(reader->diag, yaml_key_place(node), "schedulers: a name of at most %d bytes",
                   LIMIT_NAME_BYTES / 2 - 1);
    snprintf(aside->name, sizeof aside->name, "%.31s", node->key);
    snprintf(shown, sizeof shown, "schedulers.%s.", aside->name);
    const size_t length = key_enter(reader, shown);
    swap_scheduler(scenario, aside, scratch);
    reader->kinds = kind_of(node);
    keys_read(reader, "scheduler.", node, NULL, scenario);
    swap_scheduler(scenario, aside, scratch);
    reader->kinds = kinds;
    key_leave(reader, length);
}

void read_schedulers(struct key_reader *reader, const struct key_found *found)
{
    struct scenario *scenario = reading_of(reader)->scenario;
    const struct yaml_node *map = found->node;
    if (map == NULL) return;
    if (map->kind != YAML_MAP || map->first == NULL) {
        key_wrong_kind(reader, "schedulers", map, "a mapping of names to schedulers");
        return;
    }
    if (map->child_count > LIMIT_SCHEDULERS) {
        diag_error(reader->diag, yaml_place(map), "schedulers: at most %d", LIMIT_SCHEDULERS);
        return;
    }
    unsigned char *scratch = malloc(sizeof *scenario);
    scenario->schedulers = calloc(map->child_count, sizeof *scenario->schedulers);
    if (scenario->schedulers == NULL || scratch == NULL)
        diag_world(reader->diag, "schedulers: out of memory");
    else
        for (const struct yaml_node *node = map->first; node; node = node->next)
            read_one(reader, node, &scenario->schedulers[scenario->scheduler_count++], scratch);
    free(scratch);
}

/* A layout under one of the schedulers; it owns its groups. */
static bool copy_layout(const struct layout *from, const char *scheduler, struct layout *to)
{
    *to = *from;
    snprintf(to->name, sizeof to->name, "%.31s/%.31s", from->name, scheduler);
    if (from->groups == NULL) return true;
    to->groups = malloc(from->group_count * sizeof *to->groups);
    if (to->groups == NULL) return false;
    memcpy(to->groups, from->groups, from->group_count * sizeof *to->groups);
    return true;
}

/* Layouts become layouts times schedulers, those of one layout side by side. */
void expand_schedulers(struct reading *reading)
{
    struct scenario *scenario = reading->scenario;
    struct diag *diag = reading->reader.diag;
    const uint32_t layouts = scenario->layout_count, schedulers = scenario->scheduler_count;
    if (schedulers == 0 || layouts == 0) return;
    if (layouts * schedulers > LIMIT_LAYOUTS) {
        diag_error(diag, yaml_place(yaml_child(reading->document.root, "schedulers")),
                   "%u layouts under %u schedulers are %u columns; at most %d", layouts, schedulers,
                   layouts * schedulers, LIMIT_LAYOUTS);
        return;
    }
    for (uint32_t row = layouts; row-- > 0;) {
        const struct layout layout = scenario->layouts[row];
        const struct yaml_node *node = reading->layout_nodes[row];
        for (uint32_t s = 0; s < schedulers; s++) {
            struct layout *to = &scenario->layouts[row * schedulers + s];
            if (!copy_layout(&layout, scenario->schedulers[s].name, to))
                diag_world(diag, "schedulers: out of memory");
            to->scheduler = s + 1;
            reading->layout_nodes[row * schedulers + s] = node;
        }
        free(layout.groups);
    }
    scenario->layout_count = layouts * schedulers;
}
