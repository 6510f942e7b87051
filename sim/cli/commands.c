/* commands.c - the commands that exist, in the order of --help. */
#include "cli/commands.h"

/* clang-format off */
const struct command *const commands[] = {
    &command_run,
    &command_check,
    &command_compare,
    &command_plot,
    &command_why,
    &command_digest,
    &command_step,
    &command_flows,
    &command_trace,
    &command_catalog,
    &command_collective,
    &command_topology,
    &command_schema,
    &command_completion,
    &command_version,
    NULL,
};

const char *const commands_not_built[] = {
    "blast",
    "sweep",
    "merge",
    "size",
    "calibrate",
    "inventory",
    "export",
    "report",
    NULL,
};
/* clang-format on */
