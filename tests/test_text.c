/* test_text.c - escaping for terminals (P95), suggestions, bounded copies. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct escape_case {
    const char *name, *text;
    size_t bytes;
    const char *want;
};
static struct escape_case escapes[] = {
    { "P95 escape: plain", "a b", 3, "a b" },
    { "P95 escape: ESC", "a\x1b[2Jb", 6, "a\\x1b[2Jb" },
    { "P95 escape: NUL and line ends", "\0\r\n\t", 4, "\\x00\\x0d\\x0a\\x09" },
    { "P95 escape: DEL", "\x7f", 1, "\\x7f" },
    { "P95 escape: C1 CSI U+009B", "\xc2\x9b", 2, "\\x9b" },
    { "P95 escape: U+202E right-to-left override", "x\xe2\x80\xaey", 5, "x\\u202ey" },
    { "P95 escape: U+2067 isolate", "\xe2\x81\xa7", 3, "\\u2067" },
    { "P95 escape: umlaut stays", "\xc3\xbc", 2, "\xc3\xbc" },
    { "P95 escape: U+1F600 stays", "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" },
    { "P95 escape: no UTF-8", "\xff\xfe", 2, "\\xff\\xfe" },
    { "P95 escape: overlong slash", "\xc0\xaf", 2, "\\xc0\\xaf" },
    { "P95 escape: surrogate U+D800", "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" },
    { "P95 escape: cut sequence", "\xe2\x80", 2, "\\xe2\\x80" },
};

static void check_escape(void **state)
{
    const struct escape_case *row = *state;
    char out[128];
    assert_string_equal(text_escape(row->text, row->bytes, out, sizeof out), row->want);
}

static void check_escape_cut(void **state)
{
    (void)state;
    char out[8];
    assert_string_equal(text_escape("1234567", 7, out, sizeof out), "1234567");
    assert_string_equal(text_escape("12345678", 8, out, sizeof out), "1234...");
    assert_string_equal(text_escape("123\x1b"
                                    "56",
                                    6, out, sizeof out),
                        "123...");
    assert_string_equal(text_escape("1234", 4, out, 3), "..");
    assert_string_equal(text_escape("1234", 4, out, 1), "");
}

struct nearest_case {
    const char *name, *word, *want;
};
static const char *const keys[] = { "gpus", "gpus_per_node", "policy", "replicas", "time", "seed" };
static struct nearest_case nearest[] = {
    { "P18 nearest: a letter short", "polcy", "policy" },
    { "P18 nearest: singular", "gpu_per_node", "gpus_per_node" },
    { "P18 nearest: swapped letters", "tiem", "time" },
    { "P18 nearest: two letters off", "replcas_", "replicas" },
    { "P18 nearest: nothing near", "temperature", NULL },
    { "P18 nearest: three letters off a short word", "sxyz", NULL },
    { "P18 nearest: empty", "", NULL },
    { "P18 nearest: very long",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
};

static void check_nearest(void **state)
{
    const struct nearest_case *row = *state;
    const char *found = text_nearest(row->word, keys, COUNT(keys));
    if (row->want == NULL)
        assert_null(found);
    else
        assert_string_equal(found, row->want);
}

static void check_copy(void **state)
{
    (void)state;
    char out[4];
    assert_true(text_copy(out, sizeof out, "abcdef", 3));
    assert_string_equal(out, "abc");
    assert_false(text_copy(out, sizeof out, "abcdef", 4));
    assert_string_equal(out, "abc");
}

int main(void)
{
    struct CMUnitTest tests[COUNT(escapes) + COUNT(nearest) + 2];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(escapes); i++)
        tests[count++] =
            (struct CMUnitTest){ escapes[i].name, check_escape, NULL, NULL, &escapes[i] };
    for (size_t i = 0; i < COUNT(nearest); i++)
        tests[count++] =
            (struct CMUnitTest){ nearest[i].name, check_nearest, NULL, NULL, &nearest[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(check_escape_cut);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(check_copy);
    return _cmocka_run_group_tests("text", tests, count, NULL, NULL);
}
