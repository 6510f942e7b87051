/* help.c - help texts of 80 columns, printed from the same tables that parse. */
#include "cli/cli.h"

#include <string.h>

enum { COLUMNS = 80, OPTION_COLUMN = 27, COMMAND_COLUMN = 26, HEAD_BYTES = 64, TEXT_BYTES = 512 };

const char *const cli_purpose =
    "gpuplan replays a job trace on GPU clusters that are built differently and says which layout "
    "serves the work better, with error bars.";

const struct cli_exit cli_exits[] = {
    { 0, "done" },
    { 1, "the world failed (disk, memory, a file that cannot be read)" },
    { 2, "input or usage wrong" },
    { 3, "a ledger does not close (a bug)" },
    { 5, "a gate failed" },
    { 6, "stopped at a limit with partial results" },
    { 0, NULL },
};

/* Prints words behind `used` columns of a line; further lines begin at `indent`. */
static void print_wrapped(FILE *out, const char *text, size_t used, size_t indent)
{
    for (bool first = true; *text; first = false) {
        const size_t bytes = strcspn(text, " ");
        if (!first && used + 1 + bytes > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            used = indent;
        } else if (!first) {
            fputc(' ', out);
            used++;
        }
        fprintf(out, "%.*s", (int)bytes, text);
        used += bytes;
        text += bytes + (text[bytes] == ' ');
    }
    fputc('\n', out);
}

/* A head, then its text in a column of its own. A head that is too long has a line of its own. */
static void print_item(FILE *out, const char *head, const char *text, size_t column)
{
    fprintf(out, "  %-*s", (int)(column - 2), head);
    if (strlen(head) + 3 > column) fprintf(out, "\n%*s", (int)column, "");
    print_wrapped(out, text, column, column);
}

static void print_option(const struct option_row *row, FILE *out)
{
    char head[HEAD_BYTES], text[TEXT_BYTES];
    const char letter[] = { '-', row->letter, ',', ' ', '\0' };
    snprintf(head, sizeof head, "%s%s%s%s", row->letter ? letter : "    ", row->name,
             row->value ? " " : "", row->value ? row->value : "");
    snprintf(text, sizeof text, "%s%s%s%s%s", row->help, row->repeated ? "; may be repeated" : "",
             row->fallback ? " (default: " : "", row->fallback ? row->fallback : "",
             row->fallback ? ")" : "");
    print_item(out, head, text, OPTION_COLUMN);
}

static void print_command_help(const struct command *command, FILE *out)
{
    fprintf(out, "usage: gpuplan %s%s%s [options]\n\n", command->name, command->operands ? " " : "",
            command->operands ? command->operands : "");
    print_wrapped(out, command->summary, 0, 0);
    fputs("\noptions:\n", out);
    const struct option_row *row = command->options;
    for (; row != NULL && row->name != NULL; row++) print_option(row, out);
    const struct option_row help = { "--help", 'h', NULL, NULL, "show this help", false };
    print_option(&help, out);
    fputs("\nexamples:\n", out);
    for (size_t i = 0; i < 2; i++)
        if (command->examples[i]) fprintf(out, "  %s\n", command->examples[i]);
}

static void print_exits(FILE *out)
{
    char text[TEXT_BYTES];
    size_t used = (size_t)snprintf(text, sizeof text, "exit:");
    for (size_t i = 0; cli_exits[i].meaning && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %d %s", i ? "," : "",
                                 cli_exits[i].code, cli_exits[i].meaning);
    print_wrapped(out, text, 0, 0);
}

static void print_program_help(FILE *out)
{
    print_wrapped(out, cli_purpose, 0, 0);
    fputs("\nusage: gpuplan COMMAND [operands] [options]\n\ncommands:\n", out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        char head[HEAD_BYTES];
        snprintf(head, sizeof head, "%s%s%s", commands[i]->name, commands[i]->operands ? " " : "",
                 commands[i]->operands ? commands[i]->operands : "");
        print_item(out, head, commands[i]->summary, COMMAND_COLUMN);
    }
    fputs("\ngpuplan COMMAND --help shows options. Results go to stdout, problems to stderr.\n",
          out);
    print_exits(out);
    fputs("\nexamples:\n", out);
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
