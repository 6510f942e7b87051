/* test_diag.c - what a problem looks like on the screen. */
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static char printed_text[65536];

/* Prints the problems to a text; valid until the next call. */
static char *printed(const struct diag *diag)
{
    FILE *out = fmemopen(printed_text, sizeof printed_text, "w");
    assert_non_null(out);
    diag_print(diag, out);
    fclose(out);
    return printed_text;
}

static void expect(struct diag *diag, const char *want)
{
    assert_string_equal(printed(diag), want);
    diag_destroy(diag);
}

static const char yaml[] = "a: 1\r\ncluster:\r    gpus: -8\nlast";

static void an_error_shows_its_line(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    const size_t offset = (size_t)(strstr(yaml, "-8") - yaml);
    assert_int_equal(diag_error(diag, place_in_text("tiny.yaml", yaml, strlen(yaml), offset, 2),
                                "gpus must be 1 or more, got %d", -8),
                     STATUS_INPUT);
    assert_int_equal(diag_status(diag), STATUS_INPUT);
    expect(diag, "tiny.yaml:3:11: error: gpus must be 1 or more, got -8\n"
                 "    3 |     gpus: -8\n"
                 "      |           ^~\n");
}

static void P25_line_ends_of_all_kinds_count(void **state)
{
    (void)state;
    const char text[] = "a\r\nb\rc\nd";
    for (size_t i = 0; i < 4; i++) {
        const size_t offset = (size_t)(strchr(text, "abcd"[i]) - text);
        const struct place at = place_in_text("f", text, strlen(text), offset, 1);
        assert_int_equal(at.line, i + 1);
        assert_int_equal(at.column, 1);
        assert_int_equal(at.text_bytes, 1);
    }
    const struct place end = place_in_text("f", text, strlen(text), 1000, 1);
    assert_int_equal(end.line, 4);
    assert_int_equal(end.column, 2);
}

static void P95_hostile_text_is_escaped_everywhere(void **state)
{
    (void)state;
    const char text[] = "x: \x1b[2J\n";
    struct diag *diag = diag_create();
    diag_error(diag, place_in_text("a\x1b.yaml", text, strlen(text), 3, 4), "bad '%s'", "\x1b[2J");
    expect(diag, "a\\x1b.yaml:1:4: error: bad '\\x1b[2J'\n"
                 "    1 | x: \\x1b[2J\n"
                 "      |    ^~~~~~~\n");
}

static void carets_stand_under_characters_not_bytes(void **state)
{
    (void)state;
    const char text[] = "\xc3\xbc\xc3\xbc: \xc3\xa4o";
    struct diag *diag = diag_create();
    diag_error(diag, place_in_text("f", text, strlen(text), 6, 3), "no");
    expect(diag, "f:1:7: error: no\n    1 | \xc3\xbc\xc3\xbc: \xc3\xa4o\n      |     ^~\n");
}

static void a_long_line_is_cut_around_its_place(void **state)
{
    (void)state;
    char *text = malloc(1000001);
    memset(text, 'a', 1000000);
    text[1000000] = '\0';
    text[500000] = 'X';
    struct diag *diag = diag_create();
    diag_error(diag, place_in_text("f", text, 1000000, 500000, 400000), "no");
    char *out = printed(diag);
    assert_true(strlen(out) < 300);
    const char *line = strchr(out, '|'), *caret = strchr(out, '^');
    assert_int_equal(strchr(line, 'X') - line, caret - strrchr(out, '|'));
    free(text);
    diag_destroy(diag);
}

static void twenty_are_kept_and_the_rest_counted(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    for (int i = 0; i < 45; i++) diag_usage(diag, "problem %d", i);
    assert_int_equal(diag_error_count(diag), 45);
    char *text = printed(diag);
    assert_non_null(strstr(text, "gpuplan: problem 19\n"));
    assert_null(strstr(text, "problem 20\n"));
    assert_non_null(strstr(text, "gpuplan: and 25 more errors\n"));
    diag_destroy(diag);
}

static void warnings_are_no_errors(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    diag_warn(diag, (struct place){ .file = "t.csv", .line = 3 }, "leap second");
    assert_int_equal(diag_status(diag), STATUS_OK);
    assert_int_equal(diag_world(diag, "%s: cannot write: disk full", "x.db"), STATUS_WORLD);
    diag_error(diag, (struct place){ .file = "t.csv" }, "no rows");
    assert_int_equal(diag_status(diag), STATUS_WORLD); /* the first decides */
    assert_int_equal(diag_error_count(diag), 2);
    expect(diag, "t.csv:3: warning: leap second\n"
                 "gpuplan: x.db: cannot write: disk full\n"
                 "t.csv: error: no rows\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_shows_its_line),
        cmocka_unit_test(P25_line_ends_of_all_kinds_count),
        cmocka_unit_test(P95_hostile_text_is_escaped_everywhere),
        cmocka_unit_test(carets_stand_under_characters_not_bytes),
        cmocka_unit_test(a_long_line_is_cut_around_its_place),
        cmocka_unit_test(twenty_are_kept_and_the_rest_counted),
        cmocka_unit_test(warnings_are_no_errors),
    };
    return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
