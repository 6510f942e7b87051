/* cmd_plot.c - gpuplan plot DB [KIND]... */
#include "cli/commands.h"

#include "base/text.h"
#include "report/plot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const kinds_not_built[] = { "queue", "power", "cost", NULL };

static size_t find(const char *const *names, const char *name)
{
    size_t at = 0;
    while (names[at] && strcmp(names[at], name) != 0) at++;
    return at;
}

static enum status unknown(struct cli *cli, const char *what, const char *const *names,
                           const char *name)
{
    char shown[LIMIT_NAME_BYTES], list[128] = "";
    size_t count = 0;
    for (; names[count]; count++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "",
                 names[count]);
    const char *nearest = text_nearest(name, names, count);
    text_escape(name, strlen(name), shown, sizeof shown);
    if (nearest)
        return diag_usage(cli->diag, "plot: unknown %s '%s'; did you mean '%s'?", what, shown,
                          nearest);
    return diag_usage(cli->diag, "plot: unknown %s '%s'; there are %s", what, shown, list);
}

static enum status read_kinds(struct cli *cli, unsigned *kinds)
{
    *kinds = cli->operand_count > 1 ? 0 : (1u << PLOT_KINDS) - 1;
    for (size_t i = 1; i < cli->operand_count; i++) {
        const char *name = cli->operands[i];
        const size_t kind = find(plot_kind_names, name);
        if (kinds_not_built[find(kinds_not_built, name)])
            return diag_usage(cli->diag, "plot: '%s' is not built yet", name);
        if (kind == PLOT_KINDS) return unknown(cli, "kind", plot_kind_names, name);
        *kinds |= 1u << kind;
    }
    return STATUS_OK;
}

static enum status read_formats(struct cli *cli, unsigned *formats)
{
    const char *name;
    *formats = cli_has(cli, "--format") ? 0 : 1u << PLOT_SVG | 1u << PLOT_PNG;
    for (size_t i = 0; (name = cli_nth(cli, "--format", i)) != NULL; i++) {
        const size_t format = find(plot_format_names, name);
        if (format == PLOT_FORMATS) return unknown(cli, "format", plot_format_names, name);
        *formats |= 1u << format;
    }
    return STATUS_OK;
}

/* Columns of the terminal that reads our output; 0 when it is a file or a pipe. */
static uint32_t terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return 0;
    return size.ws_col;
}

static enum status run(struct cli *cli)
{
    struct plot_request request = {
        .db_path = cli->operands[0],
        .folder = cli_value(cli, "--output"),
        .columns = terminal_columns(),
    };
    TRY(read_kinds(cli, &request.kinds));
    TRY(read_formats(cli, &request.formats));
    return plot_write(&request, stdout, cli->diag);
}

static const struct option_row options[] = {
    { "--format", 'f', "FORMAT", "svg and png", "svg, png, pdf, or term: text on the terminal",
      true },
    { "--output", 'o', "FOLDER", "DB without its ending, and -plots", "where the files go", false },
    { NULL, 0, NULL, NULL, NULL, false },
};

const struct command command_plot = {
    .name = "plot",
    .operands = "DB [KIND]...",
    .words = "utilization|stall|blast|wait|fragmentation|tornado",
    .summary = "pictures: utilization, stall, blast, wait, fragmentation, tornado",
    .options = options,
    .operands_min = 1,
    .operands_max = 1 + PLOT_KINDS,
    .examples = { "gpuplan plot results/dense_vs_sparse.db",
                  "gpuplan plot results/dense_vs_sparse.db stall --format term" },
    .run = run,
};
