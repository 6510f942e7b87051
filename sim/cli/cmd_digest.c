/* cmd_digest.c - gpuplan digest DB: one line of 32 hex digits for the content of a result database. */
#include "cli/commands.h"

#include "io/store_read.h"

#include <stdio.h>

static const struct option_row options[] = {
    { .name = "--table", .value = "T", .help = "of one table of the database instead of all" },
    { .name = NULL },
};

static enum status run(struct cli *cli)
{
    char digest[33];
    TRY(store_digest(cli->operands[0], cli_value(cli, "--table"), digest, cli->diag));
    puts(digest);
    return STATUS_OK;
}

const struct command command_digest = {
    .name = "digest",
    .operands = "DB",
    .summary = "digest of its content: equal runs, equal digest",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan digest results/dense_vs_sparse.db",
                  "gpuplan digest results/dense_vs_sparse.db --table ledger" },
    .run = run,
};
