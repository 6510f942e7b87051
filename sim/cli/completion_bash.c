/* completion_bash.c - the commands and their options as a completion function for bash. */
#include "cli/completion.h"

#include "cli/commands.h"

#include <string.h>

/* The word behind "[" or a blank; "info FILE | convert FILE" names files too. */
static bool names(const char *text, const char *word)
{
    const char *found = text ? strstr(text, word) : NULL;
    if (found == NULL) return false;
    const char behind = found[strlen(word)];
    return (found == text || strchr(" [", found[-1]) != NULL) &&
           (behind == '\0' || strchr(" ].", behind) != NULL);
}

enum file_kind completion_files(const char *name)
{
    return names(name, "SCENARIO") ? FILES_SCENARIO
           : names(name, "DB")     ? FILES_DB
           : names(name, "FILE")   ? FILES_ANY
           : names(name, "FOLDER") ? FILES_FOLDER
                                   : FILES_NONE;
}

static const char *const kind_names[] = { "", "scenario", "db", "any", "folder" };

static void print_command(FILE *out, const struct command *command)
{
    fprintf(out, "    %s)\n        options='--help -h", command->name);
    const struct option_row *row = command->options;
    for (; row && row->name; row++) {
        fprintf(out, " %s", row->name);
        if (row->letter) fprintf(out, " -%c", row->letter);
    }
    fputs("' words='", out);
    for (const char *at = command->words ? command->words : ""; *at; at++)
        fputc(*at == '|' ? ' ' : *at, out);
    fprintf(out, "' files=%s\n", kind_names[completion_files(command->operands)]);
    fputs("        case $previous in\n", out);
    for (row = command->options; row && row->name; row++) {
        if (row->value == NULL) continue;
        fprintf(out, "        %s", row->name);
        if (row->letter) fprintf(out, " | -%c", row->letter);
        fprintf(out, ") options='' words='' files=%s ;;\n",
                kind_names[completion_files(row->value)]);
    }
    fputs("        esac\n        ;;\n", out);
}

/* --output=x comes as three words, as '=' parts words in bash. */
static const char head[] =
    "# Completion of gpuplan for bash 4 and later; written by: gpuplan completion bash\n"
    "_gpuplan()\n{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local options='' words='' files=''\n"
    "    COMPREPLY=()\n"
    "    if [ \"$current\" = = ]; then\n"
    "        current=''\n"
    "    elif [ \"$previous\" = = ] && [ \"$COMP_CWORD\" -ge 3 ]; then\n"
    "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W '";

static const char middle[] = " --help --version' -- \"$current\")\n"
                             "        return\n"
                             "    fi\n"
                             "    case ${COMP_WORDS[1]} in\n";

static const char tail[] =
    "    esac\n"
    "    case $current in\n"
    "    -*)\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
    "        return\n"
    "        ;;\n"
    "    esac\n"
    "    [ -z \"$files\" ] || compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(\n"
    "        compgen -W \"$words\" -- \"$current\"\n"
    "        case $files in\n"
    "        scenario) compgen -f -X '!*.yaml' -- \"$current\"\n"
    "            compgen -f -X '!*.json' -- \"$current\" ;;\n"
    "        db) compgen -f -X '!*.db' -- \"$current\" ;;\n"
    "        any) compgen -f -- \"$current\" ;;\n"
    "        esac\n"
    "        case $files in scenario | db | folder) compgen -d -- \"$current\" ;; esac\n"
    "    )\n"
    "}\n"
    "complete -F _gpuplan gpuplan\n";

void completion_bash(FILE *out)
{
    fputs(head, out);
    for (size_t i = 0; commands[i]; i++) fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fputs(middle, out);
    for (size_t i = 0; commands[i]; i++) print_command(out, commands[i]);
    fputs(tail, out);
}
