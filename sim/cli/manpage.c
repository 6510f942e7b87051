/* manpage.c - gpuplan(1) in roff, from the tables of the commands. */
#include "cli/completion.h"

#include "cli/commands.h"

/* Of the version: a page made twice is the same page. */
static const char version_date[] = "2026-11-30";

/* A line that begins with a point or a quote would be a request; a hyphen is typed as it is shown. */
static void print_text(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

static void print_line(FILE *out, const char *text)
{
    print_text(out, text);
    fputc('\n', out);
}

static void print_option(FILE *out, const struct option_row *row)
{
    fputs(".TP\n\\fB", out);
    if (row->letter) fprintf(out, "\\-%c\\fR, \\fB", row->letter);
    print_text(out, row->name);
    fputs("\\fR", out);
    if (row->value) fprintf(out, " \\fI%s\\fR", row->value);
    fputc('\n', out);
    print_text(out, row->help);
    if (row->repeated) fputs("; may be repeated", out);
    if (row->fallback) {
        fputs(" (default: ", out);
        print_text(out, row->fallback);
        fputc(')', out);
    }
    fputc('\n', out);
}

static void print_examples(FILE *out, const struct command *command)
{
    for (size_t i = 0; i < 2; i++) {
        if (command->examples[i] == NULL) continue;
        fputs(i ? ".br\n" : ".PP\nExamples:\n.PP\n.RS\n", out);
        print_line(out, command->examples[i]);
    }
    fputs(".RE\n", out);
}

static void print_command(FILE *out, const struct command *command)
{
    fputs(".SS gpuplan ", out);
    print_text(out, command->name);
    if (command->operands) {
        fputc(' ', out);
        print_text(out, command->operands);
    }
    fputc('\n', out);
    print_line(out, command->summary);
    for (const struct option_row *row = command->options; row && row->name; row++)
        print_option(out, row);
    print_examples(out, command);
}

static void print_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; cli_exits[i].meaning; i++) {
        fprintf(out, ".TP\n.B %d\n", cli_exits[i].code);
        print_line(out, cli_exits[i].meaning);
    }
}

void manpage_write(FILE *out)
{
    fprintf(out,
            ".TH GPUPLAN 1 %s \"gpuplan " GPUPLAN_VERSION "\" \"User Commands\"\n"
            ".SH NAME\n"
            "gpuplan \\- which layout of a GPU cluster serves a job trace better\n"
            ".SH SYNOPSIS\n"
            ".B gpuplan\n"
            ".I command\n"
            ".RI [ operands ]\n"
            ".RI [ options ]\n"
            ".SH DESCRIPTION\n",
            version_date);
    print_line(out, cli_purpose);
    fputs(".PP\n"
          "Results go to standard output, problems to standard error. Every command knows\n"
          ".BR \\-\\-help .\n"
          ".SH COMMANDS\n",
          out);
    for (size_t i = 0; commands[i]; i++) print_command(out, commands[i]);
    print_exit_status(out);
    fputs(".SH ENVIRONMENT\n.TP\n.B GPUPLAN_CATALOG\n"
          "folder of the catalog, instead of the one that was installed\n",
          out);
}
