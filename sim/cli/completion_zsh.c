/* completion_zsh.c - the commands and their options as specifications of zsh's _arguments. */
#include "cli/completion.h"

#include "cli/commands.h"

#include <string.h>

static const char *const globs[] = {
    [FILES_NONE] = "",
    [FILES_SCENARIO] = "_files -g \"*.(yaml|json)\"",
    [FILES_DB] = "_files -g \"*.db\"",
    [FILES_ANY] = "_files",
    [FILES_FOLDER] = "_files -/",
};

/* Text inside '...' and [...]: a quote ends the first, brackets and colons the second. */
static void print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_spec(FILE *out, const struct option_row *row)
{
    fputs("            ", out);
    if (row->repeated)
        fputs("'*'", out);
    else if (row->letter)
        fprintf(out, "'(-%c %s)'", row->letter, row->name);
    if (row->letter)
        fprintf(out, "{-%c,%s}'[", row->letter, row->name);
    else
        fprintf(out, "%s'[", row->name);
    print_text(out, row->help);
    fputc(']', out);
    if (row->value) {
        fputc(':', out);
        print_text(out, row->value);
        fprintf(out, ":%s", globs[completion_files(row->value)]);
    }
    fputs("' \\\n", out);
}

static void print_operands(FILE *out, const struct command *command)
{
    const enum file_kind kind = completion_files(command->operands);
    if (command->operands == NULL) {
        fputs("            && return\n", out);
        return;
    }
    fputs("            '*:", out);
    print_text(out, command->operands);
    if (command->words == NULL)
        fprintf(out, ":%s'", globs[kind]);
    else
        fprintf(out, ":_gpuplan_%s'", command->name);
    fputs(" && return\n", out);
}

/* Words and files of an operand together. */
static void print_words(FILE *out, const struct command *command)
{
    if (command->words == NULL) return;
    fprintf(out, "_gpuplan_%s() {\n    compadd ", command->name);
    for (const char *at = command->words; *at; at++) fputc(*at == '|' ? ' ' : *at, out);
    fprintf(out, "\n    %s\n}\n\n",
            completion_files(command->operands) ? globs[completion_files(command->operands)]
                                                : "return 0");
}

void completion_zsh(FILE *out)
{
    static const struct option_row help = { "--help", 'h', NULL, NULL, "show its help", false };
    fputs("#compdef gpuplan\n"
          "# Completion of gpuplan for zsh; written by: gpuplan completion zsh\n\n",
          out);
    for (size_t i = 0; commands[i]; i++) print_words(out, commands[i]);
    fputs("_gpuplan() {\n    local -a commands\n    commands=(\n", out);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, "        '%s:", commands[i]->name);
        print_text(out, commands[i]->summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe -t commands command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          out);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, "    %s)\n        _arguments -s : \\\n", commands[i]->name);
        const struct option_row *row = commands[i]->options;
        for (; row && row->name; row++) print_spec(out, row);
        print_spec(out, &help);
        print_operands(out, commands[i]);
        fputs("        ;;\n", out);
    }
    fputs("    esac\n}\n\n_gpuplan \"$@\"\n", out);
}
