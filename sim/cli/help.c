/* help.c - help texts, printed from the same tables that parse. */
#include "cli/cli.h"

#include <string.h>

static void print_option(const struct option_row *row, FILE *out)
{
    char head[64];
    const char letter[] = { '-', row->letter, ',', ' ', '\0' };
    snprintf(head, sizeof head, "%s%s%s%s", row->letter ? letter : "    ", row->name,
             row->value ? " " : "", row->value ? row->value : "");
    fprintf(out, "  %-24s %s", head, row->help);
    if (row->repeated) fputs("; may be repeated", out);
    if (row->fallback) fprintf(out, " (default: %s)", row->fallback);
    fputc('\n', out);
}

static void print_command_help(const struct command *command, FILE *out)
{
    fprintf(out, "usage: gpuplan %s%s%s [options]\n\n%s\n\noptions:\n", command->name,
            command->operands ? " " : "", command->operands ? command->operands : "",
            command->summary);
    const struct option_row *row = command->options;
    for (; row != NULL && row->name != NULL; row++) print_option(row, out);
    const struct option_row help = { "--help", 'h', NULL, NULL, "show this help", false };
    print_option(&help, out);
    fputs("\nexamples:\n", out);
    for (size_t i = 0; i < 2; i++)
        if (command->examples[i]) fprintf(out, "  %s\n", command->examples[i]);
}

static void print_program_help(FILE *out)
{
    fputs("gpuplan replays a job trace on GPU clusters that are built differently and says which\n"
          "layout serves the work better, with error bars.\n\n"
          "usage: gpuplan COMMAND [operands] [options]\n\ncommands:\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s%s", commands[i]->name, commands[i]->operands ? " " : "",
                 commands[i]->operands ? commands[i]->operands : "");
        fprintf(out, "  %-22s%s %s\n", head, strlen(head) > 22 ? "\n                        " : "",
                commands[i]->summary);
    }
    fputs("\ngpuplan COMMAND --help shows its options. Results go to stdout, problems to stderr.\n"
          "exit: 0 done, 1 the world failed, 2 input or usage wrong, 3 a ledger does not close (a\n"
          "bug), 5 a gate failed, 6 stopped at a limit with partial results\n\n"
          "examples:\n",
          out);
    for (size_t i = 0; i < 2 && commands[i] != NULL; i++)
        if (commands[i]->examples[0]) fprintf(out, "  %s\n", commands[i]->examples[0]);
}

void cli_print_help(const struct command *command, FILE *out)
{
    if (command != NULL)
        print_command_help(command, out);
    else
        print_program_help(out);
}
