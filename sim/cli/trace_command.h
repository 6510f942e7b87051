/* trace_command.h - the parts of `gpuplan trace`, one file each. */
#ifndef GPUPLAN_CLI_TRACE_COMMAND_H
#define GPUPLAN_CLI_TRACE_COMMAND_H

#include "cli/cli.h"
#include "io/trace_read.h"

/* --format, --tz, --strict, --renumber. */
enum status trace_command_options(const struct cli *cli, struct trace_options *options);

enum status trace_info(const struct cli *cli);
enum status trace_synth(const struct cli *cli);

#endif
