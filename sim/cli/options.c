/* options.c - argv -> struct cli, by the tables of the commands. */
#include "cli/cli.h"

#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { NAMES_MOST = 64 };

static const struct option_row help_row = { "--help", 'h', NULL, NULL, "show this help", false };

/* ---- finding names ---- */

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static enum status unknown_command(struct diag *diag, const char *name)
{
    const char *names[NAMES_MOST];
    size_t count = 0;
    for (size_t i = 0; commands[i] != NULL && count < NAMES_MOST; i++)
        names[count++] = commands[i]->name;
    for (size_t i = 0; commands_not_built[i] != NULL; i++)
        if (strcmp(commands_not_built[i], name) == 0)
            return diag_usage(diag, "'%s' is not built yet; gpuplan --help lists what is", name);
    const char *nearest = text_nearest(name, names, count);
    if (nearest) return diag_usage(diag, "unknown command '%s'; did you mean '%s'?", name, nearest);
    return diag_usage(diag, "unknown command '%s'; gpuplan --help lists them", name);
}

static const struct option_row *find_option(const struct command *command, const char *name,
                                            size_t name_bytes)
{
    const struct option_row *row = command->options;
    for (; row != NULL && row->name != NULL; row++)
        if (strlen(row->name) == name_bytes && memcmp(row->name, name, name_bytes) == 0) return row;
    return strlen(help_row.name) == name_bytes && memcmp(help_row.name, name, name_bytes) == 0
               ? &help_row
               : NULL;
}

static const struct option_row *find_letter(const struct command *command, char letter)
{
    const struct option_row *row = command->options;
    for (; row != NULL && row->name != NULL; row++)
        if (row->letter == letter && letter != '\0') return row;
    return letter == help_row.letter ? &help_row : NULL;
}

static enum status unknown_option(struct cli *cli, const char *word, size_t word_bytes)
{
    char name[LIMIT_NAME_BYTES];
    const char *names[NAMES_MOST];
    size_t count = 0;
    names[count++] = help_row.name;
    text_copy(name, sizeof name, word, word_bytes);
    const struct option_row *row = cli->command->options;
    for (; row != NULL && row->name != NULL && count < NAMES_MOST; row++)
        names[count++] = row->name;
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        return diag_usage(cli->diag, "%s: unknown option '%s'; did you mean '%s'?",
                          cli->command->name, name, nearest);
    return diag_usage(cli->diag, "%s: unknown option '%s'; gpuplan %s --help lists them",
                      cli->command->name, name, cli->command->name);
}

/* ---- reading ---- */

/* Two values of an option that has one are a slip: neither is taken. A switch says the same twice. */
static enum status keep_value(struct cli *cli, const struct option_row *row, const char *value)
{
    if (row->value != NULL && !row->repeated && cli_has(cli, row->name))
        return diag_usage(cli->diag, "%s: %s is given twice, as '%s' and '%s'", cli->command->name,
                          row->name, cli_value(cli, row->name), value);
    if (cli->value_count == CLI_VALUES)
        return diag_usage(cli->diag, "%s: more than %d options", cli->command->name, CLI_VALUES);
    cli->values[cli->value_count].option = row;
    cli->values[cli->value_count++].value = value;
    return STATUS_OK;
}

static enum status keep_operand(struct cli *cli, const char *word)
{
    const struct command *command = cli->command;
    if (cli->operand_count < CLI_OPERANDS && cli->operand_count < command->operands_max) {
        cli->operands[cli->operand_count++] = word;
        return STATUS_OK;
    }
    return diag_usage(cli->diag,
                      "%s: '%s' is one operand too many; gpuplan %s --help shows the form",
                      command->name, word, command->name);
}

/* One option at argv[*at]; moves *at onto a value of its own word. */
static enum status read_option(struct cli *cli, int argc, char *const *argv, int *at)
{
    const char *word = argv[*at];
    const bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const size_t name_bytes = equals ? (size_t)(equals - word) : is_long ? strlen(word) : 2;
    const struct option_row *row =
        is_long ? find_option(cli->command, word, name_bytes) : find_letter(cli->command, word[1]);
    if (row == NULL) return unknown_option(cli, word, is_long ? name_bytes : strlen(word));
    const char *value = equals ? equals + 1 : !is_long && word[2] != '\0' ? word + 2 : NULL;
    if (row->value == NULL && value != NULL)
        return diag_usage(cli->diag, "%s: %s takes no value", cli->command->name, row->name);
    if (row->value != NULL && value == NULL) {
        if (*at + 1 >= argc)
            return diag_usage(cli->diag, "%s: %s needs a value: %s %s", cli->command->name,
                              row->name, row->name, row->value);
        value = argv[++*at];
    }
    return keep_value(cli, row, value);
}

enum status cli_read_words(struct cli *cli, int argc, char *const *argv)
{
    bool only_operands = false;
    for (int at = 0; at < argc; at++) {
        const char *word = argv[at];
        if (!only_operands && strcmp(word, "--") == 0)
            only_operands = true;
        else if (!only_operands && word[0] == '-' && word[1] != '\0')
            TRY(read_option(cli, argc, argv, &at));
        else
            TRY(keep_operand(cli, word));
    }
    return STATUS_OK;
}

enum status cli_parse(struct cli *cli, int argc, char *const *argv, enum cli_request *request)
{
    *request = CLI_HELP;
    if (argc < 2) return diag_usage(cli->diag, "a command is missing; gpuplan --help lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return STATUS_OK;
    *request = CLI_VERSION;
    if (strcmp(argv[1], "--version") == 0) return STATUS_OK;
    *request = CLI_RUN;
    if (argv[1][0] == '-')
        return diag_usage(cli->diag, "options follow a command; gpuplan --help lists the commands");
    cli->command = find_command(argv[1]);
    if (cli->command == NULL) return unknown_command(cli->diag, argv[1]);
    TRY(cli_read_words(cli, argc - 2, argv + 2));
    if (cli_has(cli, "--help")) {
        *request = CLI_HELP;
        return STATUS_OK;
    }
    if (cli->operand_count >= cli->command->operands_min) return STATUS_OK;
    return diag_usage(cli->diag, "%s: %s is missing; gpuplan %s --help shows the form",
                      cli->command->name, cli->command->operands, cli->command->name);
}

/* ---- asking ---- */

const char *cli_value(const struct cli *cli, const char *name)
{
    for (size_t i = cli->value_count; i-- > 0;)
        if (strcmp(cli->values[i].option->name, name) == 0) return cli->values[i].value;
    return NULL;
}

bool cli_has(const struct cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->value_count; i++)
        if (strcmp(cli->values[i].option->name, name) == 0) return true;
    return false;
}

const char *cli_nth(const struct cli *cli, const char *name, size_t n)
{
    for (size_t i = 0; i < cli->value_count; i++)
        if (strcmp(cli->values[i].option->name, name) == 0 && n-- == 0) return cli->values[i].value;
    return NULL;
}

enum status cli_count(const struct cli *cli, const char *name, long long min, long long max,
                      long long fallback, long long *out)
{
    const char *text = cli_value(cli, name);
    *out = fallback;
    if (text == NULL) return STATUS_OK;
    int64_t value = 0;
    struct why why;
    if (!quantity_count(text, strlen(text), &value, &why))
        return diag_usage(cli->diag, "%s: cannot read %s '%s': %s", cli->command->name, name, text,
                          why.text);
    if (value < min || value > max)
        return diag_usage(cli->diag, "%s: %s must be %lld to %lld, got %" PRId64,
                          cli->command->name, name, min, max, value);
    *out = value;
    return STATUS_OK;
}

size_t cli_sets(const struct cli *cli, const char *sets[CLI_VALUES])
{
    size_t count = 0;
    for (; count < CLI_VALUES && cli_nth(cli, "--set", count); count++)
        sets[count] = cli_nth(cli, "--set", count);
    return count;
}
