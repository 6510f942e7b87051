/* test_schema.c - the files made from the table of keys are as the table is; every key has a form. */
#include "io/key_schema.h"

#include "io/key_grammar.h"
#include "spec/keys.h"
#include "tests/rows.h"

#include <dirent.h>
#include <jansson.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 19 };

static char written[TEXT_BYTES], tracked[TEXT_BYTES];

static void read_tracked(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t bytes = fread(tracked, 1, TEXT_BYTES - 1, file);
    fclose(file);
    assert_true(bytes < TEXT_BYTES - 1);
    tracked[bytes] = '\0';
}

static void take(enum status (*write)(FILE *, struct diag *))
{
    struct diag *diag = diag_create();
    FILE *out = fmemopen(written, TEXT_BYTES, "w");
    assert_non_null(out);
    assert_int_equal(write(out, diag), STATUS_OK);
    assert_int_equal(fclose(out), 0);
    diag_destroy(diag);
}

/* Mend: gpuplan schema > scenarios/scenario.schema.json */
static void schema_is_the_tracked_one(void **state)
{
    (void)state;
    take(key_schema_write);
    read_tracked("scenarios/scenario.schema.json");
    assert_string_equal(written, tracked);
}

/* Mend: the lines between the two marks are what gpuplan schema --reference prints. */
static void reference_is_the_tracked_one(void **state)
{
    (void)state;
    take(key_reference_write);
    read_tracked("scenarios/README.md");
    char *begin = strstr(tracked, KEY_REFERENCE_BEGIN "\n");
    assert_non_null(begin);
    begin += strlen(KEY_REFERENCE_BEGIN "\n");
    char *end = strstr(begin, KEY_REFERENCE_END "\n");
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(written, begin);
}

static void scenarios_name_their_schema(void **state)
{
    (void)state;
    static const char line[] = "# yaml-language-server: $schema=scenario.schema.json\n";
    size_t count = 0;
    DIR *folder = opendir("scenarios");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const size_t bytes = strlen(entry->d_name);
        if (bytes < 5 || strcmp(entry->d_name + bytes - 5, ".yaml") != 0) continue;
        char path[512];
        snprintf(path, sizeof path, "scenarios/%s", entry->d_name);
        read_tracked(path);
        if (strncmp(tracked, line, strlen(line)) != 0) fail_msg("%s lacks the line", path);
        count++;
    }
    closedir(folder);
    assert_true(count >= 4);
}

static json_t *schema_read(void)
{
    take(key_schema_write);
    json_t *schema = json_loads(written, 0, NULL);
    assert_non_null(schema);
    return schema;
}

static json_t *at(json_t *node, const char *key)
{
    json_t *child = json_object_get(node, key);
    if (child == NULL) fail_msg("no '%s'", key);
    return child;
}

/* Values as the table in spec/keys.c states them. */
static void schema_says_what_the_table_says(void **state)
{
    (void)state;
    json_t *schema = schema_read();
    assert_string_equal(json_string_value(at(schema, "$schema")),
                        "http://json-schema.org/draft-07/schema#");
    assert_true(json_is_false(at(schema, "additionalProperties")));
    assert_null(json_object_get(schema, "required")); /* included files may hold it all */
    json_t *required = at(json_array_get(at(schema, "anyOf"), 1), "required");
    assert_int_equal(json_array_size(required), 3);
    assert_string_equal(json_string_value(json_array_get(required, 2)), "layouts");
    json_t *seed = at(at(schema, "properties"), "seed");
    assert_int_equal(json_integer_value(at(seed, "default")), 1);
    json_t *number = json_array_get(at(seed, "anyOf"), 0);
    assert_string_equal(json_string_value(at(number, "type")), "integer");
    assert_int_equal(json_integer_value(at(number, "maximum")), INT64_C(9200000000000000000));
    json_t *server = at(at(schema, "definitions"), "server");
    json_t *gpus = at(at(server, "properties"), "gpus");
    assert_int_equal(json_integer_value(at(gpus, "minimum")), 0);
    assert_int_equal(json_integer_value(at(gpus, "maximum")), 32);
    json_t *growth = json_object_get(at(at(schema, "properties"), "workload"), "properties");
    assert_null(json_object_get(growth, "growth")); /* not built */
    json_decref(schema);
}

static void a_row_has_a_form(void **state)
{
    const struct key_row *row = *state;
    switch (row->type) {
    case KEY_CUSTOM:
        /* Without a form: of the catalog. */
        assert_true(row->form != NULL || strstr(row->path, ".notes") ||
                    strstr(row->path, ".refused") || strncmp(row->path, "failure.", 8) == 0 ||
                    !strcmp(row->path, "component.mark"));
        return;
    case KEY_MAP:
    case KEY_NOT_BUILT:
        assert_null(row->form);
        return;
    case KEY_WORD:
    case KEY_CHOICE:
        assert_non_null(row->words);
        return;
    default:
        assert_non_null(key_grammar_of(row->type));
    }
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, schema_is_the_tracked_one, NULL, "the schema is the tracked one");
    rows_add(&rows, reference_is_the_tracked_one, NULL, "the reference is the tracked one");
    rows_add(&rows, scenarios_name_their_schema, NULL, "scenarios name their schema");
    rows_add(&rows, schema_says_what_the_table_says, NULL, "the schema says what the table says");
    for (size_t i = 0; i < key_count; i++)
        rows_add(&rows, a_row_has_a_form, &keys[i], "form of %s", keys[i].path);
    return rows_run("schema", &rows);
}
