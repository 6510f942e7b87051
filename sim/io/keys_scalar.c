/* keys_scalar.c - one value by the type and range of its row. */
#include "io/keys_read.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "base/text.h"
#include "io/slurm_text.h"
#include "spec/scenario.h"

#include <inttypes.h>
#include <string.h>

enum { WORDS_MOST = 16, WORD_BYTES = 32 };

static const char *row_name(const struct key_row *row)
{
    const char *dot = strrchr(row->path, '.');
    return dot ? dot + 1 : row->path;
}

/* ---- words ---- */

/* The position of the word in the row's list, or -1 after a problem. */
static int read_word(struct key_reader *reader, const struct key_row *row,
                     const struct yaml_node *node)
{
    static char texts[WORDS_MOST][WORD_BYTES];
    const char *words[WORDS_MOST];
    size_t built_count = 0;
    bool built;
    char word[WORD_BYTES];
    for (size_t i = 0; key_word(row->words, i, word, sizeof word, &built); i++) {
        if (strcmp(word, node->text) == 0 && built) return (int)i;
        if (strcmp(word, node->text) == 0) {
            diag_error(reader->diag, yaml_place(node), "%s%s: '%s' is not built yet", reader->path,
                       row_name(row), node->text);
            return -1;
        }
        if (!built || built_count == WORDS_MOST) continue;
        text_copy(texts[built_count], WORD_BYTES, word, strlen(word));
        words[built_count] = texts[built_count];
        built_count++;
    }
    key_unknown_word(reader, row_name(row), node, words, built_count);
    return -1;
}

/* ---- texts ---- */

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) return true;
    return false;
}

static bool store_text(struct key_reader *reader, const struct key_row *row,
                       const struct yaml_node *node, char *field)
{
    const char *problem = NULL;
    if (row->type == KEY_NAME && node->text[0] == '\0') problem = "must not be empty";
    if (row->type == KEY_NAME && has_control(node->text))
        problem = "must not hold control characters (a block text '|' adds a line end)";
    if (problem != NULL) {
        diag_error(reader->diag, yaml_place(node), "%s%s: %s", reader->path, row_name(row),
                   problem);
        return false;
    }
    if (row->bytes == 0) return true; /* checked only */
    if (text_copy(field, row->bytes, node->text, node->text_bytes)) return true;
    diag_error(reader->diag, yaml_place(node), "%s%s: longer than %zu bytes", reader->path,
               row_name(row), row->bytes - 1);
    return false;
}

/* ---- numbers ---- */

/* A number of any type, as a double for the range and exactly for the field. */
struct number {
    double value;
    int64_t whole;
};

static bool read_number(const struct key_row *row, const struct yaml_node *node,
                        struct number *number, struct why *why)
{
    const char *text = node->text;
    const size_t bytes = node->text_bytes;
    double value = 0;
    bool done = false;
    switch (row->type) {
    case KEY_COUNT:
        done = quantity_count(text, bytes, &number->whole, why);
        number->value = (double)number->whole;
        return done;
    case KEY_DURATION:
        done = quantity_duration(text, bytes, &number->whole, why);
        number->value = (double)number->whole;
        return done;
    case KEY_CONF_MINUTES:
        done = slurm_minutes(text, bytes, &number->whole, why);
        number->value = (double)number->whole;
        return done;
    case KEY_CONF_SECONDS:
        done = slurm_seconds(text, bytes, &number->whole, why);
        number->value = (double)number->whole;
        return done;
    case KEY_CONF_MIB:
        done = slurm_mib(text, bytes, &number->whole, why);
        number->value = (double)number->whole;
        return done;
    case KEY_NUMBER:
        done = quantity_number(text, bytes, &value, why);
        break;
    case KEY_SHARE:
        done = quantity_share(text, bytes, &value, why);
        break;
    case KEY_SECONDS:
        done = quantity_duration_s(text, bytes, &value, why);
        break;
    case KEY_SIZE:
    case KEY_BYTES:
        done = quantity_size(text, bytes, &value, why);
        break;
    case KEY_BANDWIDTH:
        done = quantity_bandwidth(text, bytes, &value, why);
        break;
    case KEY_PER_TIME:
        done = quantity_rate(text, bytes, &value, why);
        if (done && value > 0) value = 1 / value; /* 0 stays 0: below every allowed mean */
        break;
    case KEY_POWER:
        done = quantity_power(text, bytes, &value, why);
        break;
    default:
        break;
    }
    number->value = value;
    number->whole = value < 9e18 ? (int64_t)value : INT64_MAX;
    return done;
}

/* A bound in the unit of the row. */
static const char *show_bound(const struct key_row *row, double bound, char out[SHOW_BYTES])
{
    switch (row->type) {
    case KEY_DURATION:
    case KEY_CONF_MINUTES:
    case KEY_CONF_SECONDS:
        return show_duration((int64_t)bound, out);
    case KEY_CONF_MIB:
        snprintf(out, SHOW_BYTES, "%.0f MiB", bound);
        return out;
    case KEY_SECONDS:
        return show_duration_s(bound, out);
    case KEY_SIZE:
    case KEY_BYTES:
        return show_size(bound, out);
    case KEY_BANDWIDTH:
        return show_bandwidth(bound, out);
    case KEY_PER_TIME:
        return show_rate(1 / bound, out);
    case KEY_POWER:
        return show_power(bound, out);
    default:
        return show_number(bound, out);
    }
}

/* "1 to 10000" */
void key_range_text(const struct key_row *row, char out[KEY_RANGE_BYTES])
{
    char least[SHOW_BYTES], most[SHOW_BYTES];
    const bool inverse = row->type == KEY_PER_TIME; /* the longest mean is the smallest rate */
    out[0] = '\0';
    if (row->min == 0 && row->max == 0) return;
    show_bound(row, inverse ? row->max : row->min, least);
    show_bound(row, inverse ? row->min : row->max, most);
    if (row->min == row->max)
        snprintf(out, KEY_RANGE_BYTES, "%s", least);
    else
        snprintf(out, KEY_RANGE_BYTES, "%s to %s", least, most);
}

static bool check_range(struct key_reader *reader, const struct key_row *row,
                        const struct yaml_node *node, double value)
{
    if ((row->min == 0 && row->max == 0) || (value >= row->min && value <= row->max)) return true;
    char range[KEY_RANGE_BYTES];
    key_range_text(row, range);
    diag_error(reader->diag, yaml_place(node), "%s%s must be %s, got %s", reader->path,
               row_name(row), range, node->text);
    return false;
}

/* A text that is no such number; one that is too large for any gets the range (P41). */
static void refuse_number(struct key_reader *reader, const struct key_row *row,
                          const struct yaml_node *node, const struct why *why)
{
    char range[KEY_RANGE_BYTES] = "";
    if (strncmp(why->text, "too ", 4) == 0) key_range_text(row, range);
    diag_error(reader->diag, yaml_place(node), "%s%s: cannot read '%s': %s%s%s%s%s%s", reader->path,
               row_name(row), node->text, why->text, range[0] ? "; it must be " : "", range,
               row->word ? ", or '" : "", row->word ? row->word : "", row->word ? "'" : "");
}

static void store_number(const struct key_row *row, struct number number, void *field)
{
    if (row->bytes == 0) return; /* checked only */
    const bool is_whole = row->type == KEY_DURATION || row->type == KEY_CONF_MINUTES ||
                          row->type == KEY_CONF_SECONDS || row->type == KEY_CONF_MIB ||
                          row->type == KEY_BYTES || (row->type == KEY_COUNT && row->bytes == 8);
    if (is_whole) {
        memcpy(field, &number.whole, 8);
    } else if (row->type == KEY_COUNT) {
        const uint32_t narrow = (uint32_t)number.whole; /* the row's range fits 32 bits */
        memcpy(field, &narrow, 4);
    } else {
        memcpy(field, &number.value, 8);
    }
}

static bool scalar_number(struct key_reader *reader, const struct key_row *row,
                          const struct yaml_node *node, void *field)
{
    if (row->word != NULL && strcmp(node->text, row->word) == 0) {
        store_number(row, (struct number){ (double)row->word_value, row->word_value }, field);
        return true;
    }
    struct number number = { 0 };
    struct why why;
    if (!read_number(row, node, &number, &why)) {
        refuse_number(reader, row, node, &why);
        return false;
    }
    const bool is_time = row->type == KEY_CONF_MINUTES || row->type == KEY_CONF_SECONDS;
    if (is_time && number.whole == TIME_NEVER) { /* UNLIMITED, INFINITE or -1 */
        if (row->word == NULL) {
            diag_error(reader->diag, yaml_place(node), "%s%s cannot be %s", reader->path,
                       row_name(row), node->text);
            return false;
        }
        number.whole = row->word_value;
    } else if (!check_range(reader, row, node, number.value)) {
        return false;
    }
    store_number(row, number, field);
    return true;
}

static bool tres(struct key_reader *reader, const struct key_row *row, const struct yaml_node *node,
                 struct tres_limit *field)
{
    struct why why;
    if (slurm_tres(node->text, node->text_bytes, field, &why)) return true;
    diag_error(reader->diag, yaml_place(node), "%s%s: cannot read '%s': %s", reader->path,
               row_name(row), node->text, why.text);
    return false;
}

bool key_scalar(struct key_reader *reader, const struct key_row *row, const struct yaml_node *node,
                void *target)
{
    if (node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, row_name(row), node, "one value");
        return false;
    }
    void *field = row->bytes > 0 ? (char *)target + row->offset : NULL; /* NULL: checked only */
    struct why why;
    int position;
    switch (row->type) {
    case KEY_TEXT:
    case KEY_NAME:
        return store_text(reader, row, node, field);
    case KEY_WORD:
        if (read_word(reader, row, node) < 0) return false;
        return row->bytes == 0 || text_copy(field, row->bytes, node->text, node->text_bytes);
    case KEY_CHOICE:
        position = read_word(reader, row, node);
        if (position >= 0 && row->bytes == sizeof(bool))
            *(bool *)field = position > 0;
        else if (position >= 0 && row->bytes > 0)
            memcpy(field, &position, sizeof position);
        return position >= 0;
    case KEY_TRES:
        return tres(reader, row, node, field);
    case KEY_BOOL:
        if (quantity_bool(node->text, node->text_bytes, field, &why)) return true;
        diag_error(reader->diag, yaml_place(node), "%s%s: cannot read '%s': %s", reader->path,
                   row_name(row), node->text, why.text);
        return false;
    default:
        return scalar_number(reader, row, node, field);
    }
}
