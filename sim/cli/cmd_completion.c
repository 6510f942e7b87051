/* cmd_completion.c - gpuplan completion bash | zsh | man: what an installation puts in place. */
#include "cli/commands.h"

#include "cli/completion.h"

#include <string.h>

static enum status run(struct cli *cli)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } kinds[] = { { "bash", completion_bash },
                  { "zsh", completion_zsh },
                  { "man", manpage_write } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, cli->operands[0]) != 0) continue;
        kinds[i].write(stdout);
        return STATUS_OK;
    }
    return diag_usage(cli->diag, "completion: unknown kind '%s'; known are bash, zsh and man",
                      cli->operands[0]);
}

const struct command command_completion = {
    .name = "completion",
    .operands = "bash|zsh|man",
    .words = "bash|zsh|man",
    .summary = "completion for a shell, or the man page in roff",
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "source <(gpuplan completion bash)", "gpuplan completion man | man -l -" },
    .run = run,
};
