/* cmd_schema.c - gpuplan schema: the keys of a scenario, for editors or for people. */
#include "cli/commands.h"

#include "io/key_schema.h"

static const struct option_row options[] = {
    { .name = "--reference",
      .help = "a table of Markdown instead: every key, as in scenarios/README.md" },
    { .name = NULL },
};

static enum status run(struct cli *cli)
{
    return cli_has(cli, "--reference") ? key_reference_write(stdout, cli->diag)
                                       : key_schema_write(stdout, cli->diag);
}

const struct command command_schema = {
    .name = "schema",
    .summary = "JSON Schema (draft-07) of a scenario, for editors; or the table of all keys",
    .options = options,
    .examples = { "gpuplan schema > scenarios/scenario.schema.json", "gpuplan schema --reference" },
    .run = run,
};
