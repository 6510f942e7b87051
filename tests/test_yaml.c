/* test_yaml.c - documents become trees, everything doubtful is refused at its place (P13-P34). */
#include "io/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array)  (sizeof(array) / sizeof *(array))
#define TEXT(literal) literal, sizeof literal - 1

struct yaml_case {
    const char *name, *text;
    size_t bytes;
    const char *want;
};

/* want: the tree in one line, quoted scalars in quotes. */
static struct yaml_case trees[] = {
    { "block and flow", TEXT("a: 1\nb: [x, {c: y}]\n"), "{a:1,b:[x,{c:y}]}" },
    { "P01 no stays text", TEXT("region: no\nmode: on\n"), "{region:no,mode:on}" },
    { "P03 010 stays text", TEXT("id: 010\n"), "{id:010}" },
    { "P07 nothing, ~, null, quoted null", TEXT("a:\nb: ~\nc: null\nd: \"null\"\n"),
      "{a:,b:~,c:null,d:\"null\"}" },
    { "P11 number-like names stay", TEXT("a: 1.10\nb: 0123\nc: 5319E7\n"),
      "{a:1.10,b:0123,c:5319E7}" },
    { "P12 dates stay text", TEXT("start: 2024-01-01\n"), "{start:2024-01-01}" },
    { "P15 a hash without blank belongs to the value", TEXT("gpus: 8#spare\nb: 8 # spare\n"),
      "{gpus:8#spare,b:8}" },
    { "P16 curly quotes in quotes and comments are fine",
      TEXT("a: 'x \xe2\x80\x9cy\xe2\x80\x9d' # \xc2\xa0\n"),
      "{a:\"x \xe2\x80\x9cy\xe2\x80\x9d\"}" },
    { "P19 aliases are copied", TEXT("a: &x {b: 1}\nc: [*x, *x]\n"), "{a:{b:1},c:[{b:1},{b:1}]}" },
    { "P19 an anchor may be set again", TEXT("a: &x 1\nb: &x 2\nc: *x\n"), "{a:1,b:2,c:2}" },
    { "P24 UTF-8 mark",
      TEXT("\xef\xbb\xbf"
           "a: 1\n"),
      "{a:1}" },
    { "P24 UTF-16 little",
      TEXT("\xff\xfe"
           "a\0:\0 \0001\0\n\0"),
      "{a:1}" },
    { "P24 UTF-16 big, beyond the first plane",
      TEXT("\xfe\xff"
           "\0a\0:\0 \xd8\x3d\xde\x00\0\n"),
      "{a:\xf0\x9f\x98\x80}" },
    { "P25 CRLF", TEXT("a: 1\r\nb: 2\r\n"), "{a:1,b:2}" },
    { "P25 lone CR", TEXT("a: 1\rb: 2\r"), "{a:1,b:2}" },
    { "P31 %YAML 1.1", TEXT("%YAML 1.1\n---\na: 1\n"), "{a:1}" },
    { "P31 %YAML 1.2", TEXT("%YAML 1.2\n---\na: 1\n"), "{a:1}" },
    { "P32 block text keeps its line end", TEXT("a: |\n  x\n"), "{a:\"x\n\"}" },
    { "an explicit end", TEXT("---\na: 1\n...\n"), "{a:1}" },
};

/* want: what the first printed lines begin with. */
static struct yaml_case refusals[] = {
    { "P13 python object", TEXT("a: !!python/object:os.system x\n"),
      "f:1:4: error: tag 'tag:yaml.org,2002:python/object:os.system' is not read; the key decides "
      "the type\n" },
    { "P13 float", TEXT("a: !!float \"1\"\n"), "f:1:4: error: tag 'tag:yaml.org,2002:float' is" },
    { "P13 on a list", TEXT("a: !x [1]\n"), "f:1:4: error: tag '!x' is not read" },
    { "P14 @", TEXT("name: @x\n"),
      "f:1:7: error: '@' cannot start a value; put the value in quotes\n"
      "    1 | name: @x\n"
      "      |       ^\n" },
    { "P14 back-tick", TEXT("name: `x`\n"), "f:1:7: error: '`' cannot start a value; put" },
    { "P14 percent", TEXT("share: %5\n"), "f:1:8: error: '%' cannot start a value; put" },
    { "P16 no-break space",
      TEXT("a: 1\nb:\xc2\xa0"
           "2\n"),
      "f:2:3: error: U+00A0 only looks" },
    { "P16 no-break space is named", TEXT("a: 1\xc2\xa0\n"),
      "f:1:5: error: U+00A0 only looks like a plain character; retype it, or quote the text\n" },
    { "P16 zero width", TEXT("a: 8\xe2\x80\x8b\n"), "f:1:5: error: U+200B only looks" },
    { "P16 curly quotes", TEXT("a: \xe2\x80\x9cx\xe2\x80\x9d\n"),
      "f:1:4: error: U+201C only looks" },
    { "P16 wide colon",
      TEXT("a: {b\xef\xbc\x9a"
           "1: 2}\n"),
      "f:1:6: error: U+FF1A only looks" },
    { "P17 the same key twice", TEXT("seed: 1\nx: 2\nseed: 3\n"),
      "f:3:1: error: key 'seed' stands twice; it is also in line 1\n"
      "    3 | seed: 3\n"
      "      | ^~~~\n" },
    { "P17 twice in a flow map", TEXT("a: {b: 1, b: 2}\n"), "f:1:11: error: key 'b' stands twice" },
    { "P19 undefined alias", TEXT("a: *nix\n"),
      "f:1:4: error: alias '*nix' has no anchor '&nix' before it\n" },
    { "P19 alias in its own anchor", TEXT("a: &x [*x]\n"),
      "f:1:8: error: alias '*x' stands inside its own anchor\n" },
    { "P19 merge keys", TEXT("a: &x {b: 1}\nc: {<<: *x}\n"), "f:2:5: error: merge keys '<<'" },
    { "P20 two documents", TEXT("a: 1\n---\nb: 2\n"), "f:2:1: error: one document per file\n" },
    { "P21 empty", TEXT(""), "f: error: no document in f\n" },
    { "P21 comments only", TEXT("# x\n\n# y\n"), "f: error: no document in f\n" },
    { "P22 no blank behind the colon", TEXT("gpus:4\n"),
      "f:1:1: error: expected a mapping of keys to values, got one text; is the blank missing "
      "after ':'?\n" },
    { "P22 no blank in a later line", TEXT("a: 1\ngpus:4\n"),
      "f:2:1: error: no key with its ':'; is the blank missing after ':'?\n"
      "    2 | gpus:4\n"
      "      | ^~~~~~\n" },
    { "P23 tab", TEXT("a:\n\tb: 1\n"), "f:2:1: error: tab used for indentation; use blanks\n" },
    { "P24 a mark inside",
      TEXT("a: 1\n\xef\xbb\xbf"
           "b: 2\n"),
      "f:2:1: error: byte 5 is U+FEFF, a byte order mark inside the text (are two files joined" },
    { "P24 cut UTF-16",
      TEXT("\xff\xfe"
           "a\0:"),
      "f: error: UTF-16 text ends inside a character\n" },
    { "P24 lone surrogate",
      TEXT("\xff\xfe\x3d\xd8"
           "a\0"),
      "f: error: byte 2: half of a UTF-16" },
    { "P26 bad UTF-8", TEXT("a: 1\nb: \xff\n"), "f:2:4: error: byte 8 is not UTF-8\n" },
    { "P26 overlong", TEXT("a: \xc0\xaf\n"), "f:1:4: error: byte 3 is not UTF-8\n" },
    { "P26 surrogate", TEXT("a: \xed\xa0\x80\n"), "f:1:4: error: byte 3 is not UTF-8\n" },
    { "P26 control byte", TEXT("a: \x01\n"),
      "f:1:4: error: byte 3 is U+0001, a control character\n" },
    { "P26 DEL", TEXT("a: \x7f\n"), "f:1:4: error: byte 3 is U+007F, a control character\n" },
    { "P26 NUL", TEXT("a: \0\n"), "f:1:4: error: byte 3 is U+0000, a control character\n" },
    { "P26 escaped NUL", TEXT("a: \"x\\0y\"\n"), "f:1:4: error: a text with a NUL byte in it\n" },
    { "P29 a list as key", TEXT("? [a, b]\n: 1\n"), "f:1:3: error: keys are plain names\n" },
    { "P29 an alias as key", TEXT("a: &x 1\n*x : 2\n"), "f:2:1: error: keys are plain names\n" },
    { "P29 no name", TEXT(": 1\n"), "f:1:1: error: did not find expected key while parsing" },
    { "P29 an empty name", TEXT("{\"\": 1}\n"), "f:1:2: error: a key without a name\n" },
    { "P30 surrogate pair of JSON", TEXT("{\"a\": \"\\ud83d\\ude00\"}"),
      "f:1:10: error: found invalid Unicode character escape code while parsing a quoted scalar" },
    { "P31 %YAML 3.0", TEXT("%YAML 3.0\n---\na: 1\n"), "f:1:1: error: found incompatible YAML" },
    { "P34 marks count bytes from 1", TEXT("\xc3\xa4: [1\n"),
      "f:2:1: error: did not find expected" },
    { "P34 behind wide characters", TEXT("a: {\xc3\xa4: 1, \xc3\xa4: 2}\n"),
      "f:1:12: error: key '\xc3\xa4' stands twice" },
    { "several problems together", TEXT("a: 1\na: 2\nb: !x 3\nb: 4\n"),
      "f:2:1: error: key 'a' stands twice; it is also in line 1\n"
      "    2 | a: 2\n      | ^\n"
      "f:3:4: error: tag '!x' is not read; the key decides the type\n"
      "    3 | b: !x 3\n      |    ^~~~\n"
      "f:4:1: error: key 'b' stands twice" },
};

static void dump(const struct yaml_node *node, FILE *out)
{
    if (node->kind == YAML_SCALAR) {
        fprintf(out, node->quoted ? "\"%s\"" : "%s", node->text);
        return;
    }
    fputc(node->kind == YAML_MAP ? '{' : '[', out);
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        if (child != node->first) fputc(',', out);
        if (child->key) fprintf(out, "%s:", child->key);
        dump(child, out);
    }
    fputc(node->kind == YAML_MAP ? '}' : ']', out);
}

static char shown[1 << 16];

/* Reads an exact copy, so that a byte read behind the end is found. */
static enum status read_copy(const char *text, size_t bytes, struct diag *diag)
{
    char *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, text, bytes);
    struct yaml_document document;
    enum status status = yaml_read_text("f", copy, bytes, &document, diag);
    free(copy);
    if (status == STATUS_OK) status = yaml_require_map(&document, diag);
    FILE *out = fmemopen(shown, sizeof shown, "w");
    if (status == STATUS_OK)
        dump(document.root, out);
    else
        diag_print(diag, out);
    fclose(out);
    yaml_clear(&document);
    return status;
}

static void check_tree(void **state)
{
    const struct yaml_case *row = *state;
    struct diag *diag = diag_create();
    read_copy(row->text, row->bytes, diag);
    diag_destroy(diag);
    assert_string_equal(shown, row->want);
}

static void check_refusal(void **state)
{
    const struct yaml_case *row = *state;
    struct diag *diag = diag_create();
    const enum status status = read_copy(row->text, row->bytes, diag);
    diag_destroy(diag);
    if (strncmp(shown, row->want, strlen(row->want)) != 0) fail_msg("got:\n%s", shown);
    assert_int_equal(status, STATUS_INPUT);
}

/* `count` times `part`; must be refused with `want` within a second. */
static void check_bomb(const char *part, size_t count, const char *want)
{
    const size_t bytes = strlen(part);
    char *text = malloc(bytes * count);
    for (size_t i = 0; i < count; i++) memcpy(text + i * bytes, part, bytes);
    struct diag *diag = diag_create();
    const clock_t start = clock();
    assert_int_equal(read_copy(text, bytes * count, diag), STATUS_INPUT);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
    diag_destroy(diag);
    free(text);
    if (strstr(shown, want) == NULL) fail_msg("got:\n%.2000s", shown);
}

static void P27_five_million_brackets(void **state)
{
    (void)state;
    check_bomb("[", 5000000, "f:1:65: error: nested deeper than 64 levels");
}

static void P27_forty_thousand_maps(void **state)
{
    (void)state;
    check_bomb("{a: ", 40000, "nested deeper than 64 levels");
}

static void P27_nested_dashes(void **state)
{
    (void)state;
    check_bomb("- ", 100000, "nested deeper than 64 levels");
}

static void P28_long_values_and_files(void **state)
{
    (void)state;
    check_bomb("a", 1048577 + 3, "a value of more than 1 MiB");
    check_bomb("- x\n", 100001, "more than 100000 values");
}

static void P28_long_keys(void **state)
{
    (void)state;
    static char text[4000];
    memset(text, 'k', 2000);
    strcpy(text + 2000, ": 1\n");
    struct diag *diag = diag_create();
    assert_int_equal(read_copy(text, strlen(text), diag), STATUS_INPUT);
    diag_destroy(diag);
    assert_non_null(strstr(shown, "key longer than 1024 characters"));
    strcpy(text, "a: {\"");
    memset(text + 5, 'k', 1500);
    strcpy(text + 1505, "\": 1}\n");
    diag = diag_create();
    assert_int_equal(read_copy(text, strlen(text), diag), STATUS_INPUT);
    diag_destroy(diag);
    assert_non_null(strstr(shown, "longer than 1024"));
}

static void P19_a_billion_laughs(void **state)
{
    (void)state;
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 20; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "*a%d,", i - 1);
        used += (size_t)snprintf(text + used, sizeof text - used, "]\n");
    }
    struct diag *diag = diag_create();
    assert_int_equal(read_copy(text, used, diag), STATUS_INPUT);
    diag_destroy(diag);
    assert_non_null(strstr(shown, "more than 100000 values, aliases expanded"));
}

static void P19_depth_by_aliases(void **state)
{
    (void)state;
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "a0: &a0 [x]\n");
    for (int i = 1; i < 80; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    struct diag *diag = diag_create();
    assert_int_equal(read_copy(text, used, diag), STATUS_INPUT);
    diag_destroy(diag);
    assert_non_null(strstr(shown, "nested deeper than 64 levels"));
}

static void many_problems_stop_early(void **state)
{
    (void)state;
    check_bomb("a: 1\n", 200000, "f:21:1: error: key 'a' stands twice");
}

static void ninety_thousand_keys_are_quick(void **state)
{
    (void)state;
    char *text = malloc(90000 * 16);
    size_t used = 0;
    for (int i = 0; i < 90000; i++) used += (size_t)sprintf(text + used, "key%d: %d\n", i, i);
    struct diag *diag = diag_create();
    struct yaml_document document;
    const clock_t start = clock();
    assert_int_equal(yaml_read_text("f", text, used, &document, diag), STATUS_OK);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2.0);
    assert_int_equal(document.root->child_count, 90000);
    assert_string_equal(yaml_child(document.root, "key89999")->text, "89999");
    assert_null(yaml_child(document.root, "key90000"));
    yaml_clear(&document);
    diag_destroy(diag);
    free(text);
}

static void files_that_are_none(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    struct yaml_document document;
    assert_int_equal(yaml_read_file("tests/no-such.yaml", &document, diag), STATUS_WORLD);
    yaml_clear(&document);
    assert_int_equal(yaml_read_file("tests", &document, diag), STATUS_WORLD);
    yaml_clear(&document);
    FILE *out = fmemopen(shown, sizeof shown, "w");
    diag_print(diag, out);
    fclose(out);
    assert_string_equal(shown, "gpuplan: tests/no-such.yaml: No such file or directory\n"
                               "gpuplan: tests: is a directory\n");
    diag_destroy(diag);
}

int main(void)
{
    struct CMUnitTest tests[COUNT(trees) + COUNT(refusals)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(trees); i++)
        tests[count++] = (struct CMUnitTest){ trees[i].name, check_tree, NULL, NULL, &trees[i] };
    for (size_t i = 0; i < COUNT(refusals); i++)
        tests[count++] =
            (struct CMUnitTest){ refusals[i].name, check_refusal, NULL, NULL, &refusals[i] };
    const struct CMUnitTest more[] = {
        cmocka_unit_test(P27_five_million_brackets),
        cmocka_unit_test(P27_forty_thousand_maps),
        cmocka_unit_test(P27_nested_dashes),
        cmocka_unit_test(P28_long_values_and_files),
        cmocka_unit_test(P28_long_keys),
        cmocka_unit_test(P19_a_billion_laughs),
        cmocka_unit_test(P19_depth_by_aliases),
        cmocka_unit_test(many_problems_stop_early),
        cmocka_unit_test(ninety_thousand_keys_are_quick),
        cmocka_unit_test(files_that_are_none),
    };
    const int failed = _cmocka_run_group_tests("yaml", tests, count, NULL, NULL);
    return failed + cmocka_run_group_tests_name("yaml caps", more, NULL, NULL);
}
