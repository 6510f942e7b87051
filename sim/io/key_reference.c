/* key_reference.c - the table of keys as a table of Markdown: key, form, range, default, meaning. */
#include "io/key_schema.h"

#include "base/text.h"
#include "io/key_grammar.h"
#include "io/keys_read.h"

#include <string.h>

enum { CELL_BYTES = 512 };

/* A bar ends a cell of a table. */
static void put_cell(FILE *out, const char *text)
{
    fputs(" ", out);
    for (; *text != '\0'; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

/* "fcfs|easy|!sjf" -> "`fcfs` or `easy`" */
static void words_text(const struct key_row *row, char out[CELL_BYTES])
{
    char word[64];
    bool built;
    size_t used = 0;
    for (size_t i = 0; key_word(row->words, i, word, sizeof word, &built); i++)
        if (built && used < CELL_BYTES)
            used +=
                (size_t)snprintf(out + used, CELL_BYTES - used, "%s`%s`", used ? " or " : "", word);
}

/* "count | 'any' | [count | 'any']+!" -> "count, `any` or list of count or `any`" in words. */
static void form_text(const struct key_row *row, char out[CELL_BYTES])
{
    static const struct {
        const char *mark, *words;
    } marks[] = { { " | ", " or " },
                  { "'", "`" },
                  { "[]}", "` keys" },
                  { "[", "list of (" },
                  { "]", ")" },
                  { "+!", ", one or more, none twice" },
                  { "+", ", one or more" },
                  { "!", ", none twice" },
                  { " + ", "` and `" },
                  { " - ", "` without `" },
                  { "<", "map of names to (" },
                  { ">", ")" },
                  { "{", "map of `" },
                  { "}", "` keys" } };
    enum { MARKS = sizeof marks / sizeof *marks };
    size_t used = 0;
    for (const char *at = row->form; *at != '\0' && used + 40 < CELL_BYTES;) {
        size_t i = 0;
        while (i < MARKS && strncmp(at, marks[i].mark, strlen(marks[i].mark)) != 0) i++;
        if (i == MARKS) {
            out[used++] = *at++;
            out[used] = '\0';
            continue;
        }
        used += (size_t)snprintf(out + used, CELL_BYTES - used, "%s", marks[i].words);
        at += strlen(marks[i].mark);
    }
}

static void form_of(const struct key_row *row, char out[CELL_BYTES])
{
    if (row->type == KEY_MAP && row->short_key == NULL)
        snprintf(out, CELL_BYTES, "map");
    else if (row->type == KEY_MAP)
        snprintf(out, CELL_BYTES, "map, or the value of `%s`", row->short_key);
    else if (row->type == KEY_CUSTOM)
        form_text(row, out);
    else if (row->words != NULL)
        words_text(row, out);
    else
        snprintf(out, CELL_BYTES, "%s%s%s%s", key_grammar_of(row->type)->form,
                 row->word ? "; or `" : "", row->word ? row->word : "", row->word ? "`" : "");
}

static void default_of(const struct key_row *row, char out[CELL_BYTES])
{
    if (row->needed_with != NULL)
        snprintf(out, CELL_BYTES, "required with `%s`", row->needed_with);
    else if (row->twin_needed)
        snprintf(out, CELL_BYTES, "this or `%s` required", row->twin);
    else if (row->unless_zero != NULL)
        snprintf(out, CELL_BYTES, "required unless `%s` is 0", row->unless_zero);
    else if (row->fallback == NULL)
        snprintf(out, CELL_BYTES, "required");
    else if (row->fallback[0] == '=')
        snprintf(out, CELL_BYTES, "%s", row->fallback + 1);
    else
        snprintf(out, CELL_BYTES, "%s%s%s", row->fallback[0] ? "`" : "", row->fallback,
                 row->fallback[0] ? "`" : "");
}

/* The meaning; and which schedulers know it, where the path does not say so. */
static void put_help(FILE *out, const struct key_row *row)
{
    char text[CELL_BYTES], word[32];
    bool built, first = true;
    size_t used = (size_t)snprintf(text, sizeof text, "%s", row->help);
    const char *words = key_find("scheduler.kind")->words;
    const bool said = row->kinds == 0 || strncmp(row->path, "scheduler.", 10) == 0;
    for (size_t i = 0; !said && key_word(words, i, word, sizeof word, &built); i++) {
        if (!(row->kinds & (1u << i))) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s `%s`",
                                 first ? " - kind" : " or", word);
        first = false;
    }
    put_cell(out, text);
}

static void put_row(FILE *out, const struct key_row *row)
{
    char cell[CELL_BYTES] = "", range[KEY_RANGE_BYTES];
    snprintf(cell, sizeof cell, "`%s`", row->path);
    fputs("|", out);
    put_cell(out, cell);
    form_of(row, cell);
    put_cell(out, cell);
    key_range_text(row, range);
    put_cell(out, range);
    default_of(row, cell);
    put_cell(out, cell);
    put_help(out, row);
    fputc('\n', out);
}

/* Rows that no scenario can hold: not built, or of the catalog alone. */
static bool is_left_out(const struct key_row *row)
{
    static const char *const catalog[] = { "mix.",   "failure.", "collective.", "gpu.",   "model.",
                                           "stack.", "mig.",     "price.",      "figure." };
    for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++)
        if (strncmp(row->path, catalog[i], strlen(catalog[i])) == 0) return true;
    return row->type == KEY_NOT_BUILT || strstr(row->path, ".notes.") != NULL ||
           (row->type == KEY_CUSTOM && row->form == NULL);
}

enum status key_reference_write(FILE *out, struct diag *diag)
{
    fputs("| key | form and unit | range | default | meaning |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < key_count; i++)
        if (!is_left_out(&keys[i])) put_row(out, &keys[i]);
    return ferror(out) ? diag_world(diag, "schema: cannot write") : STATUS_OK;
}
