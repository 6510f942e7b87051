/* test_json.c - JSON becomes the same tree as YAML, everything else is refused at its place; jansson agrees. */
#include "io/json.h"

#include "io/scenario_read.h"
#include "tests/rows.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#define TEXT(literal) literal, sizeof literal - 1

struct json_case {
    const char *name, *text;
    size_t bytes;
    const char *want;
};

/* want: the tree in one line, texts in quotes. */
static const struct json_case trees[] = {
    { "values", TEXT("{\"a\": 1, \"b\": [\"x\", {\"c\": true}], \"d\": null}\n"),
      "{a:1,b:[\"x\",{c:true}],d:null}" },
    { "nothing in lists and maps", TEXT("{\"a\":[],\"b\":{}}"), "{a:[],b:{}}" },
    { "P07 null is no text", TEXT("[null, \"null\"]"), "[null,\"null\"]" },
    { "P24 UTF-8 mark",
      TEXT("\xef\xbb\xbf"
           "{}"),
      "{}" },
    { "P24 UTF-16", TEXT("\xff\xfe[\0001\0]\0"), "[1]" },
    { "P25 CRLF", TEXT("[1,\r\n2]\r\n"), "[1,2]" },
    { "P30 a surrogate pair", TEXT("[\"\\ud83d\\ude00\"]"), "[\"\xf0\x9f\x98\x80\"]" },
    { "P30 the last character of all", TEXT("[\"\\uDBFF\\uDFFF\"]"), "[\"\xf4\x8f\xbf\xbf\"]" },
    { "escapes", TEXT("[\"\\\"\\\\\\/\\u0041\\u00e9\\u20AC\"]"),
      "[\"\"\\/A\xc3\xa9\xe2\x82\xac\"]" },
    { "P74 integers beyond 2^53", TEXT("[9007199254740993, -9223372036854775808]"),
      "[9007199254740993,-9223372036854775808]" },
    { "numbers", TEXT("[0, -0.5, 1e3, 1E-4, 12.50e+1]"), "[0,-0.5,1e3,1E-4,12.50e+1]" },
    { "a value alone", TEXT(" \"x\" "), "\"x\"" },
};

/* want: what the first printed lines begin with. */
static const struct json_case refusals[] = {
    { "P17 a key twice", TEXT("{\"a\": 1,\n \"a\": 2}"),
      "f:2:2: error: key 'a' stands twice; it is also in line 1\n"
      "    2 |  \"a\": 2}\n"
      "      |  ^~~\n" },
    { "P17 a key twice, one of them escaped", TEXT("{\"a\": 1, \"\\u0061\": 2}"),
      "f:1:10: error: key 'a' stands twice" },
    { "P20 two documents", TEXT("{}\n{}"), "f:2:1: error: one document per file\n" },
    { "P21 empty", TEXT(" \n"), "f: error: no document in f\n" },
    { "P05 NaN", TEXT("{\"a\": NaN}"),
      "f:1:7: error: 'NaN' is no JSON value; texts stand in double quotes, and NaN is no number; "
      "leave the key out\n" },
    { "P05 Infinity", TEXT("[-Infinity]"), "f:1:2: error: a JSON number begins with a digit" },
    { "P74 a comma too many in a list", TEXT("[1,\n]"),
      "f:2:1: error: a comma too many before ']'\n" },
    { "P74 a comma too many in a map", TEXT("{\"a\":1,}"),
      "f:1:8: error: a comma too many before '}'\n" },
    { "comments", TEXT("{ // x\n}"),
      "f:1:3: error: comments are not JSON; leave them out or write YAML" },
    { "single quotes", TEXT("{'a': 1}"), "f:1:2: error: JSON texts stand in double quotes\n" },
    { "a bare key", TEXT("{a: 1}"),
      "f:1:2: error: 'a' where a key in double quotes should stand\n" },
    { "a bare word", TEXT("{\"a\": yes}"), "f:1:7: error: 'yes' is no JSON value; texts stand in" },
    { "a bare unit", TEXT("{\"a\": 3h}"),
      "f:1:7: error: text behind a number; values with a unit stand in double quotes\n" },
    { "P03 a leading zero", TEXT("[010]"), "f:1:2: error: a JSON number has no leading zero\n" },
    { "P03 a base prefix", TEXT("[0x1F]"), "f:1:2: error: text behind a number" },
    { "P02 a point without digits", TEXT("[1.]"),
      "f:1:2: error: digits are missing behind the point" },
    { "P02 a point in front", TEXT("[.5]"), "f:1:2: error: a JSON number begins with a digit" },
    { "an exponent without digits", TEXT("[1e+]"),
      "f:1:2: error: digits are missing in the exponent" },
    { "a plus", TEXT("[+1]"), "f:1:2: error: a JSON number begins with a digit" },
    { "P30 half of a pair", TEXT("[\"\\ud83d\"]"),
      "f:1:3: error: half of a surrogate pair; write both halves\n" },
    { "P30 the second half alone", TEXT("[\"\\ude00\"]"),
      "f:1:3: error: half of a surrogate pair" },
    { "P30 two first halves", TEXT("[\"\\ud83d\\ud83d\"]"), "f:1:3: error: half of a surrogate" },
    { "a NUL by its number", TEXT("[\"\\u0000\"]"), "f:1:3: error: a text with a NUL byte in it" },
    { "an unknown escape", TEXT("[\"C:\\x\"]"), "f:1:5: error: an escape that JSON does not know" },
    { "a cut escape", TEXT("[\"\\u12\"]"), "f:1:3: error: \\u needs four hexadecimal digits" },
    { "a text over lines", TEXT("[\"a\nb\"]"), "f:1:4: error: a line end or control character" },
    { "P26 a control byte", TEXT("[\"a\x01\"]"), "f:1:4: error: byte 3 is U+0001, a control" },
    { "P26 bad UTF-8", TEXT("[\"\xc0\x80\"]"), "f:1:3: error: byte 2 is not UTF-8" },
    { "P16 a no-break space",
      TEXT("[\xc2\xa0"
           "1]"),
      "f:1:2: error: U+00A0 where a value should stand" },
    { "no closing quote", TEXT("{\"a\": \"x}"),
      "f:1:7: error: a text without its closing double quote" },
    { "no closing bracket", TEXT("[1"),
      "f:1:3: error: the text ends where ',' or ']' should stand" },
    { "the wrong bracket", TEXT("[1}"), "f:1:3: error: '}' where ',' or ']' should stand\n" },
    { "no colon", TEXT("{\"a\" 1}"), "f:1:6: error: '1' where the ':' of a key should stand\n" },
    { "an empty key", TEXT("{\"\": 1}"), "f:1:2: error: a key without a name\n" },
};

static char shown[1 << 16];

static void dump(const struct yaml_node *node, FILE *out)
{
    if (node->kind == YAML_SCALAR) {
        fprintf(out, node->quoted ? "\"%s\"" : "%s", node->text);
        return;
    }
    fputc(node->kind == YAML_LIST ? '[' : '{', out);
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        if (child->key) fprintf(out, "%s:", child->key);
        dump(child, out);
        if (child->next) fputc(',', out);
    }
    fputc(node->kind == YAML_LIST ? ']' : '}', out);
}

/* Reads a copy of exactly these bytes, so that the sanitizers see each step beyond them. */
static enum status read_copy(const char *text, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, text, bytes);
    struct yaml_document document;
    struct diag *diag = diag_create();
    const enum status status = json_read_text("f", copy, bytes, &document, diag);
    free(copy);
    memset(shown, 0, sizeof shown);
    FILE *out = fmemopen(shown, sizeof shown - 1, "w");
    if (status == STATUS_OK)
        dump(document.root, out);
    else
        diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    yaml_clear(&document);
    return status;
}

static void check_tree(void **state)
{
    const struct json_case *row = *state;
    read_copy(row->text, row->bytes);
    assert_string_equal(shown, row->want);
}

static void check_refusal(void **state)
{
    const struct json_case *row = *state;
    const enum status status = read_copy(row->text, row->bytes);
    if (strncmp(shown, row->want, strlen(row->want)) != 0) fail_msg("got:\n%s", shown);
    assert_int_equal(status, STATUS_INPUT);
}

static void check_bomb(const char *part, size_t count, const char *want)
{
    const size_t bytes = strlen(part);
    char *text = malloc(bytes * count + 1);
    text[0] = '[';
    for (size_t i = 0; i < count; i++) memcpy(text + 1 + i * bytes, part, bytes);
    const clock_t start = clock();
    assert_int_equal(read_copy(text, bytes * count + 1), STATUS_INPUT);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
    free(text);
    if (strstr(shown, want) == NULL) fail_msg("got:\n%.2000s", shown);
}

static void P27_P28_bombs(void **state)
{
    (void)state;
    check_bomb("[", 5000000, "f:1:65: error: nested deeper than 64 levels");
    check_bomb("{\"a\":", 40000, "nested deeper than 64 levels");
    check_bomb("1,", 100001, "more than 100000 values");
    check_bomb("\"", 1, "without its closing");
}

/* ---- jansson as the judge ---- */

static bool same(const struct yaml_node *node, const json_t *want)
{
    if (node->kind == YAML_LIST) {
        size_t i = 0;
        if (!json_is_array(want) || json_array_size(want) != node->child_count) return false;
        for (const struct yaml_node *child = node->first; child; child = child->next)
            if (!same(child, json_array_get(want, i++))) return false;
        return true;
    }
    if (node->kind == YAML_MAP) {
        if (!json_is_object(want) || json_object_size(want) != node->child_count) return false;
        for (const struct yaml_node *child = node->first; child; child = child->next)
            if (!same(child, json_object_get(want, child->key))) return false;
        return true;
    }
    if (node->quoted)
        return json_is_string(want) && json_string_length(want) == node->text_bytes &&
               memcmp(json_string_value(want), node->text, node->text_bytes) == 0;
    if (strcmp(node->text, "null") == 0) return json_is_null(want);
    if (strcmp(node->text, "true") == 0) return json_is_true(want);
    if (strcmp(node->text, "false") == 0) return json_is_false(want);
    if (json_is_integer(want)) return json_integer_value(want) == strtoll(node->text, NULL, 10);
    return json_is_real(want) && json_real_value(want) == strtod(node->text, NULL);
}

/* Texts put together from pieces that are often valid; both readers take or refuse each. */
static void random_texts(void **state)
{
    /* The first VALUES of them are whole values. */
    enum { VALUES = 14 };
    static const char *const pieces[] = {
        "\"a\"",
        "1",
        "-2.5e1 ",
        "0",
        "true",
        "null",
        "[]",
        "{}",
        "\"\\ud83d\\ude00\"",
        "\"\\n\"",
        "\"\xc3\xa9\"",
        "\"\\u00e9\"",
        "1.0",
        "{\"k\":1,\"c\":[1,2]}",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\"b\":",
        "01",
        "\"\\q\"",
        "\"\\ud800\"",
        "1.",
        "-",
    };
    uint64_t x = (uint64_t)(uintptr_t)*state * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint32_t good = 0;
    for (int i = 0; i < 3000; i++) {
        char text[512] = "[";
        size_t used = 1;
        for (uint64_t count = 1 + i % 9; count > 0; count--) {
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const char *piece =
                pieces[(x >> 33) % (i % 4 == 1 ? VALUES : sizeof pieces / sizeof *pieces)];
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", piece,
                                     i % 2 && count > 1 ? "," : "");
        }
        if (i % 3) used += (size_t)snprintf(text + used, sizeof text - used, "]");
        json_error_t error;
        json_t *want = json_loadb(text, used, JSON_REJECT_DUPLICATES, &error);
        struct yaml_document document;
        struct diag *diag = diag_create();
        const enum status status = json_read_text("f", text, used, &document, diag);
        if ((status == STATUS_OK) != (want != NULL))
            fail_msg("jansson says '%s' of: %s", error.text, text);
        if (want != NULL && !same(document.root, want)) fail_msg("read differently: %s", text);
        good += want != NULL;
        json_decref(want);
        yaml_clear(&document);
        diag_destroy(diag);
    }
    assert_true(good > 100);
}

/* ---- a scenario ---- */

/* The tree as JSON: plain numbers stay, all else becomes a text. */
static void write_json(const struct yaml_node *node, FILE *out)
{
    if (node->kind == YAML_SCALAR) {
        const bool whole = strspn(node->text, "123456789") == node->text_bytes;
        fprintf(out, whole ? "%s" : "\"%s\"", node->text);
        return;
    }
    fputs(node->kind == YAML_LIST ? "[" : "{", out);
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        if (child->key) fprintf(out, "\"%s\": ", child->key);
        write_json(child, out);
        if (child->next) fputs(",\n", out);
    }
    fputs(node->kind == YAML_LIST ? "]" : "}", out);
}

/* Lines of a resolved scenario without their origins. */
static void strip(char *text)
{
    char *out = text;
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n"), *mark = strstr(line, "  # ");
        const size_t bytes = (size_t)((mark && mark < end ? mark : end) - line);
        char *next = *end ? end + 1 : end;
        memmove(out, line, bytes);
        out += bytes;
        *out++ = '\n';
        line = next;
    }
    *out = '\0';
}

static void tiny_as_json(void **state)
{
    (void)state;
    static struct scenario yaml, json;
    struct diag *diag = diag_create();
    struct yaml_document document;
    char path[] = "scenarios/test-json-XXXXXX.json";
    assert_int_equal(yaml_read_file("scenarios/tiny.yaml", &document, diag), STATUS_OK);
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    write_json(document.root, out);
    fclose(out);
    yaml_clear(&document);
    const enum status status = scenario_read(path, NULL, 0, &json, diag);
    remove(path);
    diag_print(diag, stderr);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(scenario_read("scenarios/tiny.yaml", NULL, 0, &yaml, diag), STATUS_OK);
    strip(yaml.resolved);
    strip(json.resolved);
    assert_string_equal(yaml.resolved, json.resolved);
    scenario_clear(&yaml);
    scenario_clear(&json);
    diag_destroy(diag);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        rows_add(&rows, check_tree, &trees[i], "%s", trees[i].name);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        rows_add(&rows, check_refusal, &refusals[i], "%s", refusals[i].name);
    rows_add(&rows, P27_P28_bombs, NULL, "P27 P28 bombs");
    for (uintptr_t seed = 1; seed <= 5; seed++)
        rows_add(&rows, random_texts, (const void *)seed, "jansson agrees, seed %d", (int)seed);
    rows_add(&rows, tiny_as_json, NULL, "P30 a scenario in JSON resolves to the same");
    return rows_run("json", &rows);
}
