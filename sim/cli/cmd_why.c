/* cmd_why.c - gpuplan why DB JOB: why a job waited and where its time went. */
#include "cli/commands.h"

#include "base/limits.h"
#include "report/why.h"

static const struct option_row options[] = {
    { "--layout", 0, "NAME", "the baseline", "on which layout", false },
    { "--slack", 0, "N|any", "the first", "under which slack", false },
    { "--replica", 0, "N", "0", "in which replica; its detail must be kept", false },
    { "--serial", 0, NULL, NULL, "JOB is its number among the arrivals; ids may repeat", false },
    { "--longest", 0, "N", NULL, "instead of a job: the N that waited longest to start", false },
    { "--json", 0, NULL, NULL, "all spans and numbers as one JSON object", false },
    { NULL, 0, NULL, NULL, NULL, false },
};

enum { LONGEST_MAX = 10000 };

static enum status run(struct cli *cli)
{
    long long replica, longest;
    TRY(cli_count(cli, "--replica", 0, LIMIT_REPLICAS - 1, 0, &replica));
    TRY(cli_count(cli, "--longest", 1, LONGEST_MAX, 0, &longest));
    const bool has_job = cli->operand_count > 1;
    if (has_job == (longest > 0))
        return diag_usage(cli->diag, has_job ? "why: either a JOB or --longest, not both"
                                             : "why: JOB is missing; --longest N lists some");
    const struct why_options why = {
        .layout = cli_value(cli, "--layout"),
        .slack = cli_value(cli, "--slack"),
        .replica = (uint32_t)replica,
        .by_serial = cli_has(cli, "--serial"),
        .json = cli_has(cli, "--json"),
        .longest = (uint32_t)longest,
    };
    return why_print(cli->operands[0], has_job ? cli->operands[1] : NULL, stdout, &why, cli->diag);
}

const struct command command_why = {
    .name = "why",
    .operands = "DB [JOB]",
    .summary = "why a job waited and where its time went",
    .options = options,
    .operands_min = 1,
    .operands_max = 2,
    .examples = { "gpuplan why results/dense_vs_sparse.db --longest 10",
                  "gpuplan why results/dense_vs_sparse.db train-7 --layout sparse4" },
    .run = run,
};
