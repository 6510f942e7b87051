/* commands.h - each command is defined in its own cmd_NAME.c and listed in commands.c. */
#ifndef GPUPLAN_CLI_COMMANDS_H
#define GPUPLAN_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct command command_catalog;
extern const struct command command_check;
extern const struct command command_collective;
extern const struct command command_compare;
extern const struct command command_completion;
extern const struct command command_digest;
extern const struct command command_flows;
extern const struct command command_plot;
extern const struct command command_run;
extern const struct command command_schema;
extern const struct command command_step;
extern const struct command command_topology;
extern const struct command command_trace;
extern const struct command command_version;
extern const struct command command_why;

#endif
