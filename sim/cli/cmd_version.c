/* cmd_version.c - gpuplan version */
#include "cli/commands.h"

static enum status run(struct cli *cli)
{
    (void)cli;
    puts("gpuplan " GPUPLAN_VERSION);
    return STATUS_OK;
}

const struct command command_version = {
    .name = "version",
    .summary = "print the version",
    .examples = { "gpuplan version", "gpuplan --version" },
    .run = run,
};
