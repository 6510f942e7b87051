/* test_prose.c - wrapping, and the decimals that an interval needs. */
#include "report/prose.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void wrapping(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "" },
        { "one", "one\n" },
        { "one two three", "one two\nthree\n" },
        { "a longerword b", "a\nlongerword\nb\n" },
        { "x\ny z", "x\ny z\n" },
        { "12 3 % x", "12 3 %\nx\n" },
        { "abcd 3 % x", "abcd\n3 % x\n" }, /* "abcd 3" would fit */
        { "± ± ± ±", "± ± ± ±\n" },        /* 7 characters, 11 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        prose_wrap(out, cases[i].text, 7);
        fclose(out);
        assert_string_equal(text, cases[i].want);
        free(text);
    }
}

static void decimals_show_the_interval(void **state)
{
    (void)state;
    assert_int_equal(prose_decimals(0.0123, 3), 3);
    assert_int_equal(prose_decimals(0.00042, 3), 4);
    assert_int_equal(prose_decimals(0, 3), 3);
    assert_int_equal(prose_decimals(7e-7, 3), 6);
    assert_int_equal(prose_decimals(1e-15, 3), 3); /* rounding, not luck */
    assert_int_equal(prose_decimals(NAN, 2), 2);
    assert_int_equal(prose_decimals(12, 0), 0);
    assert_int_equal(prose_decimals_apart(60.411, 60.444, 1), 2);
    assert_int_equal(prose_decimals_apart(60.4, 61.4, 1), 1);
    assert_int_equal(prose_decimals_apart(60.4, 60.4, 1), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapping),
        cmocka_unit_test(decimals_show_the_interval),
    };
    return cmocka_run_group_tests_name("prose", tests, NULL, NULL);
}
