/* cli.h - commands and their options: one table drives parsing, --help and suggestions.
 *
 * A command is a constant struct in its own file cmd_NAME.c and a line in the list of commands.c. */
#ifndef GPUPLAN_CLI_CLI_H
#define GPUPLAN_CLI_CLI_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct option_row {
    const char *name;       /* "--replicas"; the long name                                    */
    char letter;            /* 'o' for -o, 0 for none                                         */
    const char *value;      /* "N" in --help; NULL for a switch                               */
    const char *fallback;   /* default shown in --help, with its unit; NULL = none            */
    const char *help;       /* one line                                                       */
    bool repeated;          /* may have several values; else a second one is refused          */
};

enum { CLI_OPERANDS = 64, CLI_VALUES = 256 };

/* A parsed command line; all texts are borrowed from argv. */
struct cli {
    const struct command *command;
    const char *operands[CLI_OPERANDS];
    size_t operand_count;
    struct { const struct option_row *option; const char *value; } values[CLI_VALUES];
    size_t value_count;
    struct diag *diag;
};

struct command {
    const char *name, *operands /* "SCENARIO" */, *summary;
    const struct option_row *options; /* ends with a row whose name is NULL                     */
    size_t operands_min, operands_max;
    const char *words;                /* "info|convert|synth": words that may stand as operands, or NULL */
    const char *examples[2];          /* lines shown at the end of --help                       */
    enum status (*run)(struct cli *cli);
};

extern const struct command *const commands[]; /* ends with NULL */

/* Names that DESIGN 10 promises and nothing answers to so far; ends with NULL. */
extern const char *const commands_not_built[];

/* What the program is for, in a sentence; its exit codes, up to a NULL meaning. */
extern const char *const cli_purpose;
struct cli_exit {
    int code;
    const char *meaning;
};
extern const struct cli_exit cli_exits[];

/* What the command line asks for besides running its command. */
enum cli_request { CLI_RUN, CLI_HELP, CLI_VERSION };

/* Reads argv by the tables above; problems go to cli->diag. cli->command stays NULL for the
 * program's own --help and --version. */
enum status cli_parse(struct cli *cli, int argc, char *const *argv, enum cli_request *request);

/* The part behind the command's name: options and operands of cli->command. */
enum status cli_read_words(struct cli *cli, int argc, char *const *argv);

/* Help on one screen: of a command, or of the program when command is NULL. */
void cli_print_help(const struct command *command, FILE *out);

/* Value of an option, of a repeated one the last; NULL when it is absent. */
const char *cli_value(const struct cli *cli, const char *name);
bool cli_has(const struct cli *cli, const char *name);
/* The n-th value of a repeated option, from 0, or NULL. */
const char *cli_nth(const struct cli *cli, const char *name, size_t n);
/* The values of --set, as scenario_read wants them; returns how many. */
size_t cli_sets(const struct cli *cli, const char *sets[CLI_VALUES]);
/* Whole number of an option within [min, max], or `fallback` when it is absent. */
enum status cli_count(const struct cli *cli, const char *name, long long min, long long max,
                      long long fallback, long long *out);

#endif
