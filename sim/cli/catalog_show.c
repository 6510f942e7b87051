/* catalog_show.c - the catalog as text; see catalog_show.h. */
#include "cli/catalog_show.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { SOURCES_MOST = 64, SAFE_BYTES = 1024 };

/* What the line of a kind says: fields, and whether their names are said too. */
static const struct {
    const char *file;
    bool is_named;
    const char *fields[5];
} lines[CATALOG_KINDS] = {
    [CATALOG_SERVERS] = { "servers.yaml", true, { "gpus", "gpu", "nics", "nic", "scaleup" } },
    [CATALOG_LINKS] = { "links.yaml", true, { "rate", "hop", "switch_ports" } },
    [CATALOG_FAILURES] = { "failures.yaml",
                           true,
                           { "gpu.rate", "gpu.mtbf", "server.rate", "server.mtbf", "link.rate" } },
    [CATALOG_PROFILES] = { "profiles.yaml",
                           true,
                           { "kappa_one", "kappa_many", "size", "train.model", "train.stack" } },
    [CATALOG_MIXES] = { "profiles.yaml", false, { "entries[0].profile", "entries[1].profile" } },
    [CATALOG_COLLECTIVES] = { "collectives.yaml", true, { "servers", "all_reduce", "nvls" } },
    [CATALOG_GPUS] = { "gpus.yaml", true, { "form", "memory", "peak_bf16_tflops", "max" } },
    [CATALOG_MIG] = { "mig.yaml", true, { "compute_slices", "memory_slices", "max_instances" } },
    [CATALOG_PRICES] = { "prices.yaml", false, { "value", "least", "most", "unit", "date" } },
    [CATALOG_MODELS] = { "models.yaml",
                         true,
                         { "parameters", "layers", "hidden", "experts", "fixed" } },
    [CATALOG_STACKS] = { "models.yaml", true, { "gpu", "efficiency", "overlap", "tp_overlap" } },
    [CATALOG_RELIABILITY] = { "reliability.yaml", false, { "quantity", "value", "unit" } },
};

static const char *safe(const char *text, char out[SAFE_BYTES])
{
    return text_escape(text, strlen(text), out, SAFE_BYTES);
}

static const char *text_of(const struct yaml_node *entry, const char *key)
{
    const struct yaml_node *child = yaml_child(entry, key);
    return child != NULL && child->kind == YAML_SCALAR ? child->text : NULL;
}

/* ---- the list ---- */

struct line {
    enum catalog_kind kind;
    bool is_begun;
};

static void print_in_line(const struct catalog_field *field, void *context)
{
    struct line *line = context;
    char text[SAFE_BYTES];
    for (size_t i = 0; i < 5 && lines[line->kind].fields[i]; i++) {
        if (strcmp(lines[line->kind].fields[i], field->name) != 0) continue;
        printf("%s%s%s%s", line->is_begun ? ", " : "",
               lines[line->kind].is_named ? field->name : "", lines[line->kind].is_named ? " " : "",
               safe(field->node->text, text));
        line->is_begun = true;
    }
}

enum status catalog_show_list(struct catalog *catalog, struct diag *diag)
{
    char text[SAFE_BYTES];
    for (int i = 0; i < CATALOG_KINDS; i++) {
        const enum catalog_kind kind = (enum catalog_kind)i;
        printf("%s%s (%s)\n", i ? "\n" : "", catalog_kind_name(kind), lines[kind].file);
        for (const struct yaml_node *entry = catalog_first(catalog, kind, diag); entry;
             entry = entry->next) {
            struct line line = { .kind = kind };
            printf("  %-24s ", safe(catalog_id(entry), text));
            catalog_each_field(kind, entry, print_in_line, &line);
            if (text_of(entry, "refused")) printf("%snot simulated", line.is_begun ? ", " : "");
            if (text_of(entry, "mark")) printf(" (%s)", text_of(entry, "mark"));
            putchar('\n');
        }
    }
    return diag_status(diag);
}

/* ---- one entry ---- */

struct table {
    const char *sources[SOURCES_MOST];
    size_t source_count;
};

/* The number of a source, from 1; 0 = none, or too many. */
static size_t number_of(struct table *table, const char *source)
{
    if (source[0] == '\0') return 0;
    for (size_t i = 0; i < table->source_count; i++)
        if (strcmp(table->sources[i], source) == 0) return i + 1;
    if (table->source_count == SOURCES_MOST) return 0;
    table->sources[table->source_count++] = source;
    return table->source_count;
}

/* Numbers whose unit is not written with them get it from the table of keys. */
static const char *unit_beside(const struct catalog_field *field)
{
    return field->row->type == KEY_NUMBER ? field->unit : "";
}

static void print_row(const struct catalog_field *field, void *context)
{
    struct table *table = context;
    char text[SAFE_BYTES], value[SAFE_BYTES + 16];
    const char *unit = unit_beside(field);
    const bool is_note = strncmp(field->name, "notes.", 6) == 0;
    snprintf(value, sizeof value, "%s%s%s", safe(field->node->text, text), unit[0] ? " " : "",
             unit);
    printf("  %-20s %-24s %-12s", is_note ? field->name + 6 : field->name, value, field->mark);
    const size_t number = number_of(table, field->source);
    if (number)
        printf(" [%zu]  %s\n", number, field->row->help);
    else
        printf("      %s\n", field->row->help);
}

void catalog_show_entry(const struct yaml_node *entry, enum catalog_kind kind)
{
    struct table table = { .source_count = 0 };
    char text[SAFE_BYTES];
    printf("%s (%s, %s:%" PRIu64 ")\n", safe(catalog_id(entry), text), catalog_kind_name(kind),
           lines[kind].file, yaml_place(entry).line);
    if (text_of(entry, "refused"))
        printf("not simulated: %s\n", safe(text_of(entry, "refused"), text));
    catalog_each_field(kind, entry, print_row, &table);
    printf("\nsources\n");
    for (size_t i = 0; i < table.source_count; i++)
        printf("  [%zu] %s\n", i + 1, safe(table.sources[i], text));
}
