/* cmd_compare.c - gpuplan compare DB: the verdict, the tables, the gates. */
#include "cli/commands.h"

#include "report/report.h"

static const struct option_row options[] = {
    { .name = "--baseline",
      .value = "L",
      .fallback = "the scenario's",
      .help = "layout that the others are compared with" },
    { .name = "--brief", .help = "verdict and one line per layout, without the tables" },
    { .name = "--json", .help = "all numbers as one JSON object" },
    { .name = "--fail-if",
      .value = "RULE",
      .help = "exit 5 when 'METRIC LAYOUT < VALUE' is true; also >, METRIC:CLASS",
      .repeated = true },
    { .name = NULL },
};

static enum status run(struct cli *cli)
{
    const char *fail_if[CLI_VALUES];
    struct report_options report = {
        .baseline = cli_value(cli, "--baseline"),
        .brief = cli_has(cli, "--brief"),
        .json = cli_has(cli, "--json"),
        .fail_if = fail_if,
    };
    while (report.fail_if_count < CLI_VALUES &&
           cli_nth(cli, "--fail-if", report.fail_if_count) != NULL) {
        fail_if[report.fail_if_count] = cli_nth(cli, "--fail-if", report.fail_if_count);
        report.fail_if_count++;
    }
    return report_print(cli->operands[0], stdout, &report, cli->diag);
}

const struct command command_compare = {
    .name = "compare",
    .operands = "DB",
    .summary = "the verdict: paired differences with intervals",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan compare results/dense_vs_sparse.db --baseline sparse4",
                  "gpuplan compare results/dense_vs_sparse.db --fail-if 'yield dense8 < 0.8'" },
    .run = run,
};
