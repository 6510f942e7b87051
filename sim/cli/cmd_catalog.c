/* cmd_catalog.c - gpuplan catalog [ID] [--json]: what the catalog holds, each number with its mark and source. */
#include "cli/commands.h"

#include "base/text.h"
#include "cli/catalog_show.h"
#include "io/catalog_fields.h"

#include <string.h>

enum { IDS_MOST = 512 };

static const struct option_row options[] = {
    { .name = "--json", .help = "as one JSON object, numbers in SI units beside the text" },
    { .name = NULL },
};

/* Reads and checks every entry: nothing is shown of a catalog that is wrong. */
static enum status check_all(struct catalog *catalog, struct diag *diag)
{
    for (int kind = 0; kind < CATALOG_KINDS; kind++)
        for (const struct yaml_node *entry = catalog_first(catalog, (enum catalog_kind)kind, diag);
             entry != NULL; entry = entry->next)
            catalog_check(catalog, (enum catalog_kind)kind, entry, diag);
    return diag_status(diag);
}

static enum status unknown_id(struct catalog *catalog, const char *id, struct diag *diag)
{
    const char *names[IDS_MOST];
    size_t count = 0;
    for (int kind = 0; kind < CATALOG_KINDS; kind++)
        for (const struct yaml_node *entry = catalog_first(catalog, (enum catalog_kind)kind, diag);
             entry != NULL && count < IDS_MOST; entry = entry->next)
            names[count++] = catalog_id(entry);
    const char *nearest = text_nearest(id, names, count);
    if (nearest) return diag_usage(diag, "no '%s' in the catalog; did you mean '%s'?", id, nearest);
    return diag_usage(diag, "no '%s' in the catalog; gpuplan catalog lists what is", id);
}

static enum status show(struct catalog *catalog, const char *id, bool json, struct diag *diag)
{
    TRY(check_all(catalog, diag));
    if (id == NULL)
        return json ? catalog_show_json(catalog, NULL, CATALOG_KINDS, diag)
                    : catalog_show_list(catalog, diag);
    for (int i = 0; i < CATALOG_KINDS; i++) {
        const enum catalog_kind kind = (enum catalog_kind)i;
        const struct yaml_node *entry = catalog_find(catalog, kind, id, diag);
        if (entry == NULL) continue;
        if (json) return catalog_show_json(catalog, entry, kind, diag);
        catalog_show_entry(entry, kind);
        return STATUS_OK;
    }
    return unknown_id(catalog, id, diag);
}

static enum status run(struct cli *cli)
{
    static struct catalog catalog;
    TRY(catalog_open(&catalog, cli->diag));
    const enum status status = show(&catalog, cli->operand_count ? cli->operands[0] : NULL,
                                    cli_has(cli, "--json"), cli->diag);
    catalog_close(&catalog);
    return status;
}

const struct command command_catalog = {
    .name = "catalog",
    .operands = "[ID]",
    .summary = "hardware, rates, profiles and prices known, each number with its source",
    .options = options,
    .operands_min = 0,
    .operands_max = 1,
    .examples = { "gpuplan catalog dgx-h100", "gpuplan catalog --json" },
    .run = run,
};
