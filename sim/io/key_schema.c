/* key_schema.c - rows of the table of keys -> JSON Schema draft-07.
 *
 * A map that several keys hold ("server.", "component.") is a definition, and so is each kind of
 * quantity. Where a value has several forms they stand in anyOf: what a map's short key takes, a
 * word instead of a number, nothing where there is a default. */
#include "io/key_schema.h"

#include "base/quantity.h"
#include "base/text.h"
#include "io/key_grammar.h"
#include "io/keys_read.h"

#include <jansson.h>

#include <math.h>
#include <string.h>

enum { TEXT_BYTES = 512, PATH_BYTES = 128, GROUPS_MOST = 2 };

/* The maps that stand in several places. "mix." is read from the catalog only. */
static const char *const shared_groups[] = { "layouts[]", "layouts[].servers", "server",
                                             "link",      "component",         "profile",
                                             "gates[]",   "scheduler" };

static const enum key_type quantities[] = { KEY_SHARE,        KEY_DURATION,     KEY_SIZE,
                                            KEY_BANDWIDTH,    KEY_PER_TIME,     KEY_POWER,
                                            KEY_CONF_MINUTES, KEY_CONF_SECONDS, KEY_CONF_MIB,
                                            KEY_TRES };

/* The keys of one map: below one group or two, one of them left out. */
struct group {
    char names[GROUPS_MOST][PATH_BYTES];
    size_t count;
    char without[PATH_BYTES];
};

/* ---- JSON; any failure is memory, and makes the whole schema NULL ---- */

static bool out_of_memory;

static void put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) out_of_memory = true;
}

static void add(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) out_of_memory = true;
}

static json_t *number_of(double value)
{
    const bool whole = value == floor(value) && fabs(value) < 9.3e18;
    return whole && fabs(value) < 9.22e18 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *with_type(const char *type)
{
    return json_pack("{s:s}", "type", type);
}

/* The name of a group without the marks of its lists: layouts[].servers is layouts.servers. */
static void definition_name(const char *group, char out[PATH_BYTES])
{
    size_t used = 0;
    for (; *group != '\0' && used + 1 < PATH_BYTES; group++)
        if (*group != '[' && *group != ']') out[used++] = *group;
    out[used] = '\0';
}

static json_t *reference_to(const char *name)
{
    char plain[PATH_BYTES], path[PATH_BYTES + 32];
    definition_name(name, plain);
    snprintf(path, sizeof path, "#/definitions/%s", plain);
    return json_pack("{s:s}", "$ref", path);
}

static bool has_range(const struct key_row *row)
{
    return row->min != 0 || row->max != 0;
}

/* ---- values of one type ---- */

static json_t *number_schema(const char *type, const struct key_row *row)
{
    json_t *schema = with_type(type);
    if (!has_range(row)) return schema;
    put(schema, "minimum", number_of(row->min));
    put(schema, "maximum", number_of(row->max));
    return schema;
}

/* YAML readers take 8 and true for a number and a truth value where a text is wanted. */
static json_t *text_schema(const struct key_row *row)
{
    json_t *schema = json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
    if (row->type == KEY_NAME) put(schema, "pattern", json_string("^[^\\u0000-\\u001f\\u007f]+$"));
    if (row->bytes > 0) put(schema, "maxLength", json_integer((json_int_t)row->bytes - 1));
    return schema;
}

static json_t *words_schema(const struct key_row *row)
{
    json_t *words = json_array();
    char word[64];
    bool built;
    for (size_t i = 0; key_word(row->words, i, word, sizeof word, &built); i++) {
        double number;
        struct why why;
        if (!built) continue;
        add(words, json_string(word));
        if (quantity_number(word, strlen(word), &number, &why)) /* 1 and 26.05 are none to YAML */
            add(words, number_of(number));
    }
    return json_pack("{s:o}", "enum", words);
}

static json_t *word_schema(const char *word, size_t bytes)
{
    return json_pack("{s:[s%]}", "enum", word, bytes);
}

static json_t *scalar_schema(const struct key_row *row)
{
    switch (row->type) {
    case KEY_TEXT:
    case KEY_NAME:
        return text_schema(row);
    case KEY_WORD:
    case KEY_CHOICE:
        return words_schema(row);
    case KEY_BOOL:
        return with_type("boolean");
    case KEY_COUNT:
        return number_schema("integer", row);
    case KEY_NUMBER:
        return number_schema("number", row);
    default:
        return reference_to(key_grammar_of(row->type)->name);
    }
}

/* ---- forms of custom rows ---- */

static json_t *group_schema(const struct group *group);
static void add_form(json_t *choices, const char **at, const struct key_row *row);

/* One choice alone, or several in anyOf. Takes `choices`. */
static json_t *any_of(json_t *choices)
{
    if (json_array_size(choices) != 1) return json_pack("{s:o}", "anyOf", choices);
    json_t *only = json_incref(json_array_get(choices, 0));
    json_decref(choices);
    return only;
}

static bool is_shared(const char *name)
{
    for (size_t i = 0; i < sizeof shared_groups / sizeof *shared_groups; i++)
        if (strcmp(shared_groups[i], name) == 0) return true;
    return false;
}

/* "{server}" or "{profile + workload.communication - kind}" */
static json_t *map_form(const char **at)
{
    struct group group = { .count = 0 };
    char sign = '+';
    for (++*at; **at != '}' && **at != '\0';) {
        const size_t bytes = strcspn(*at, " }");
        if (sign == '-')
            text_copy(group.without, PATH_BYTES, *at, bytes);
        else if (group.count < GROUPS_MOST)
            text_copy(group.names[group.count++], PATH_BYTES, *at, bytes);
        *at += bytes;
        if (**at != ' ') continue;
        sign = (*at)[1];
        *at += 3;
    }
    if (**at == '}') ++*at;
    if (group.count == 1 && is_shared(group.names[0])) return reference_to(group.names[0]);
    return group_schema(&group);
}

/* "[form]", "+" at least one, "!" none twice */
static json_t *list_form(const char **at, const struct key_row *row)
{
    json_t *items = json_array();
    ++*at;
    add_form(items, at, row);
    if (**at == ']') ++*at;
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", any_of(items));
    if (**at == '+') put(schema, "minItems", json_integer(1)), ++*at;
    if (**at == '!') put(schema, "uniqueItems", json_true()), ++*at;
    if (row->items_most > 0) put(schema, "maxItems", json_integer(row->items_most));
    return schema;
}

/* "<form>": the keys are the user's */
static json_t *named_form(const char **at, const struct key_row *row)
{
    json_t *values = json_array();
    ++*at;
    add_form(values, at, row);
    if (**at == '>') ++*at;
    json_t *schema =
        json_pack("{s:s, s:o}", "type", "object", "additionalProperties", any_of(values));
    put(schema, "minProperties", json_integer(1));
    return schema;
}

static json_t *plain_form(const char *name, size_t bytes, const struct key_row *row)
{
    static const struct {
        const char *name;
        enum key_type type;
    } plain[] = { { "name", KEY_TEXT },     { "path", KEY_TEXT },   { "count", KEY_COUNT },
                  { "number", KEY_NUMBER }, { "share", KEY_SHARE }, { "duration", KEY_DURATION } };
    if (bytes == 3 && memcmp(name, "map", 3) == 0) return with_type("object");
    if (bytes == 4 && memcmp(name, "bool", 4) == 0) return with_type("boolean");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strlen(plain[i].name) != bytes || memcmp(plain[i].name, name, bytes) != 0) continue;
        struct key_row like = *row;
        like.type = plain[i].type;
        like.bytes = 0;
        return scalar_schema(&like);
    }
    return NULL;
}

/* The choices of a form, up to its end or the ']' that closes it. */
static void add_form(json_t *choices, const char **at, const struct key_row *row)
{
    for (;;) {
        if (**at == '{') {
            add(choices, map_form(at));
        } else if (**at == '[') {
            add(choices, list_form(at, row));
        } else if (**at == '<') {
            add(choices, named_form(at, row));
        } else if (**at == '\'') {
            const size_t bytes = strcspn(*at + 1, "'");
            add(choices, word_schema(*at + 1, bytes));
            *at += bytes + 2;
        } else {
            const size_t bytes = strcspn(*at, " ]>");
            add(choices, plain_form(*at, bytes, row));
            *at += bytes;
        }
        if (strncmp(*at, " | ", 3) != 0) return;
        *at += 3;
    }
}

/* ---- one row ---- */

static void add_choices(json_t *choices, const struct key_row *row)
{
    char path[PATH_BYTES];
    if (row->type == KEY_MAP) {
        struct group group = { .count = 1 };
        text_copy(group.names[0], PATH_BYTES, row->path, strlen(row->path));
        add(choices, is_shared(row->path) ? reference_to(row->path) : group_schema(&group));
        snprintf(path, sizeof path, "%s.%s", row->path, row->short_key ? row->short_key : "");
        if (row->short_key != NULL) add_choices(choices, key_find(path));
    } else if (row->type == KEY_CUSTOM) {
        const char *form = row->form;
        add_form(choices, &form, row);
    } else {
        add(choices, scalar_schema(row));
        if (row->word != NULL) add(choices, word_schema(row->word, strlen(row->word)));
    }
}

/* The default as a value of its type; NULL when it is computed or says nothing. */
static json_t *default_of(const struct key_row *row)
{
    const char *text = row->fallback;
    int64_t count = 0;
    double number = 0;
    bool truth = false;
    struct why why;
    if (text == NULL || text[0] == '=' || text[0] == '\0') return NULL;
    const size_t bytes = strlen(text);
    if (row->type == KEY_COUNT && quantity_count(text, bytes, &count, &why))
        return json_integer(count);
    if ((row->type == KEY_NUMBER || row->type == KEY_SHARE) &&
        quantity_number(text, bytes, &number, &why))
        return number_of(number);
    if (row->type == KEY_BOOL && quantity_bool(text, bytes, &truth, &why))
        return json_boolean(truth);
    return json_string(text);
}

/* Meaning, then what a schema cannot say otherwise: ranges with units, defaults that are computed. */
static json_t *description_of(const struct key_row *row)
{
    char text[TEXT_BYTES], range[KEY_RANGE_BYTES];
    key_range_text(row, range);
    const bool quantity = key_grammar_of(row->type) && key_grammar_of(row->type)->pattern;
    const char *computed =
        row->fallback && row->fallback[0] == '=' && row->fallback[1] ? row->fallback + 1 : NULL;
    snprintf(text, sizeof text, "%s%s%s%s%s%s", row->help, quantity && range[0] ? "; " : "",
             quantity ? range : "", computed ? " (default: " : "", computed ? computed : "",
             computed ? ")" : "");
    return json_string(text);
}

static json_t *row_schema(const struct key_row *row)
{
    json_t *choices = json_array(), *schema = json_object();
    put(schema, "description", description_of(row));
    json_t *fallback = default_of(row);
    if (fallback != NULL) put(schema, "default", fallback);
    add_choices(choices, row);
    /* A value left out is the default, but for a key that another one calls for. */
    if (row->fallback != NULL && row->needed_with == NULL && !row->twin_needed)
        add(choices, with_type("null"));
    json_t *value = any_of(choices);
    if (json_object_get(value, "$ref")) /* draft-07 reads nothing beside a $ref */
        put(schema, "allOf", json_pack("[O]", value));
    else if (json_object_update(schema, value) != 0)
        out_of_memory = true;
    json_decref(value);
    return schema;
}

/* ---- one map ---- */

static const char *name_in(const struct key_row *row, const struct group *group)
{
    if (row->type == KEY_NOT_BUILT) return NULL;
    if (row->type == KEY_CUSTOM && row->form == NULL) return NULL; /* of the catalog */
    for (size_t i = 0; i < group->count; i++) {
        char prefix[PATH_BYTES + 1];
        snprintf(prefix, sizeof prefix, "%s%s", group->names[i], group->names[i][0] ? "." : "");
        const char *name = key_below(row, prefix);
        if (name != NULL && strcmp(name, group->without) != 0) return name;
    }
    return NULL;
}

/* Only one of two twins, and one of them where the table says so. */
static void add_twins(json_t *rules, const char *name, const struct key_row *row)
{
    if (strcmp(name, row->twin) > 0) return; /* each pair once */
    add(rules, json_pack("{s:{s:[s,s]}}", "not", "required", name, row->twin));
    if (row->twin_needed)
        add(rules,
            json_pack("{s:[{s:[s]},{s:[s]}]}", "anyOf", "required", name, "required", row->twin));
}

static json_t *needed_with(const char *name, const char *neighbour)
{
    return json_pack("{s:{s:[s], s:{s:{s:{s:s}}}}, s:{s:[s]}}", "if", "required", neighbour,
                     "properties", neighbour, "not", "type", "null", "then", "required", name);
}

/* An entry of the catalog, or other files. */
static bool gives_the_rest(const char *name)
{
    return strcmp(name, "like") == 0 || strcmp(name, "include") == 0;
}

static json_t *group_schema(const struct group *group)
{
    json_t *properties = json_object(), *required = json_array(), *rules = json_array();
    const char *giver = NULL; /* of what is not written here */
    const char *zero = NULL;  /* written as 0 it makes others needless */
    for (size_t i = 0; i < key_count; i++) {
        const char *name = name_in(&keys[i], group);
        if (name == NULL) continue;
        put(properties, name, row_schema(&keys[i]));
        if (gives_the_rest(name)) giver = name;
        if (keys[i].fallback == NULL) add(required, json_string(name));
        if (keys[i].unless_zero != NULL) zero = keys[i].unless_zero;
        if (keys[i].twin != NULL) add_twins(rules, name, &keys[i]);
        if (keys[i].needed_with != NULL) add(rules, needed_with(name, keys[i].needed_with));
    }
    json_t *schema = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
                               "properties", properties);
    if (giver != NULL)
        put(schema, "anyOf",
            json_pack("[{s:[s]}, {s:O}]", "required", giver, "required", required));
    if (giver != NULL && zero != NULL)
        add(json_object_get(schema, "anyOf"),
            json_pack("{s:[s], s:{s:{s:i}}}", "required", zero, "properties", zero, "const", 0));
    if (giver == NULL && json_array_size(required) > 0)
        put(schema, "required", json_incref(required));
    if (json_array_size(rules) > 0) put(schema, "allOf", json_incref(rules));
    json_decref(required);
    json_decref(rules);
    return schema;
}

/* ---- the whole ---- */

static json_t *definitions(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < sizeof shared_groups / sizeof *shared_groups; i++) {
        struct group group = { .count = 1 };
        char name[PATH_BYTES];
        text_copy(group.names[0], PATH_BYTES, shared_groups[i], strlen(shared_groups[i]));
        definition_name(shared_groups[i], name);
        put(all, name, group_schema(&group));
    }
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        const struct key_grammar *grammar = key_grammar_of(quantities[i]);
        json_t *text = json_pack("{s:s, s:s, s:s}", "description", grammar->form, "type", "string",
                                 "pattern", grammar->pattern);
        if (quantities[i] == KEY_SHARE) /* also a plain number */
            text = json_pack("{s:[{s:s, s:i, s:i}, o]}", "anyOf", "type", "number", "minimum", 0,
                             "maximum", 1, text);
        if (key_takes_bare(quantities[i]))
            text = json_pack("{s:[{s:s, s:i}, o]}", "anyOf", "type", "integer", "minimum",
                             quantities[i] == KEY_CONF_SECONDS ? -1 : 0, text);
        put(all, grammar->name, text);
    }
    return all;
}

enum status key_schema_write(FILE *out, struct diag *diag)
{
    out_of_memory = false;
    const struct group root = { .count = 1 };
    json_t *schema =
        json_pack("{s:s, s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#", "title",
                  "a scenario of gpuplan", "$comment",
                  "written by gpuplan schema from its table of keys; CC0-1.0");
    json_t *body = group_schema(&root);
    put(schema, "definitions", definitions());
    if (json_object_update(schema, body) != 0) out_of_memory = true;
    json_decref(body);
    const int failed = out_of_memory ? -1 : json_dumpf(schema, out, JSON_INDENT(1));
    json_decref(schema);
    if (out_of_memory) return diag_world(diag, "schema: out of memory");
    if (failed != 0 || fputc('\n', out) == EOF) return diag_world(diag, "schema: cannot write");
    return STATUS_OK;
}
