/* test_trace_number.c - decimals become integers without a rounding on the way. */
#include "io/trace_number.h"

#include "trace_files.h"

static const struct {
    const char *text;
    enum number_result want;
    int64_t ns;
} seconds[] = {
    { "0", NUMBER_OK, 0 },
    { "7", NUMBER_OK, 7000000000 },
    { "66.0", NUMBER_OK, 66000000000 },
    { "0.1", NUMBER_OK, 100000000 }, /* as a double it is not a tenth */
    { "4503599.627370497", NUMBER_OK,
      4503599627370497 }, /* 2^52 + 1 ns: a double of seconds loses it */
    { "9223372036.854775807", NUMBER_OK, INT64_MAX },
    { "9223372036.854775808", NUMBER_RANGE, 0 },
    { "1356996147000000", NUMBER_RANGE, 0 },
    { "0.0000000004999", NUMBER_OK, 0 },
    { "0.0000000005", NUMBER_OK, 1 }, /* halves go up */
    { "1.0000000015", NUMBER_OK, 1000000002 },
    { "-0.0000000005", NUMBER_OK, -1 },
    { "-3.5", NUMBER_OK, -3500000000 },
    { "+2", NUMBER_OK, 2000000000 },
    { ".5", NUMBER_OK, 500000000 },
    { "1.", NUMBER_OK, 1000000000 },
    { "1e3", NUMBER_OK, 1000000000000 },
    { "12.5E-1", NUMBER_OK, 1250000000 },
    { "1e-10", NUMBER_OK, 0 },
    { "5e-10", NUMBER_OK, 1 },
    { "0e999999999", NUMBER_OK, 0 },
    { "1e999999999", NUMBER_RANGE, 0 },
    { "1e-999999999", NUMBER_OK, 0 },
    { "0.00", NUMBER_OK, 0 },
    { "", NUMBER_MISSING, 0 },
    { "NA", NUMBER_MISSING, 0 },
    { "NaN", NUMBER_MISSING, 0 },
    { "null", NUMBER_MISSING, 0 },
    { "None", NUMBER_MISSING, 0 },
    { "\\N", NUMBER_MISSING, 0 },
    { "-", NUMBER_MISSING, 0 },
    { "+", NUMBER_BAD, 0 },
    { ".", NUMBER_BAD, 0 },
    { "8x", NUMBER_BAD, 0 },
    { "8 ", NUMBER_BAD, 0 },
    { " 8", NUMBER_BAD, 0 },
    { "1,5", NUMBER_BAD, 0 },
    { "1_000", NUMBER_BAD, 0 },
    { "0x1F", NUMBER_BAD, 0 },
    { "010", NUMBER_BAD, 0 },
    { "inf", NUMBER_BAD, 0 },
    { "1e", NUMBER_BAD, 0 },
    { "1e+", NUMBER_BAD, 0 },
    { "1e5.", NUMBER_BAD, 0 },
    { "1.2.3", NUMBER_BAD, 0 },
    { "--1", NUMBER_BAD, 0 },
};

static void second_row(void **state)
{
    const size_t row = *(const size_t *)*state;
    int64_t ns = 0;
    const char *text = seconds[row].text;
    assert_int_equal(number_scaled(text, strlen(text), NUMBER_NS_DECIMALS, &ns), seconds[row].want);
    if (seconds[row].want == NUMBER_OK) assert_true(ns == seconds[row].ns);
}

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum number_result want;
        int64_t count;
    } cases[] = {
        { "8", NUMBER_OK, 8 },
        { "8.0", NUMBER_OK, 8 },
        { "8.000", NUMBER_OK, 8 },
        { "1e3", NUMBER_OK, 1000 },
        { "12.5e1", NUMBER_OK, 125 },
        { "-1", NUMBER_OK, -1 },
        { "0.5", NUMBER_FRACTION, 0 },
        { "8.01", NUMBER_FRACTION, 0 },
        { "5e-1", NUMBER_FRACTION, 0 },
        { "9223372036854775807", NUMBER_OK, INT64_MAX },
        { "9223372036854775808", NUMBER_RANGE, 0 },
        { "99999999999999999999", NUMBER_RANGE, 0 },
        { "4 GPUs", NUMBER_BAD, 0 },
        { "", NUMBER_MISSING, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t count = 0;
        assert_int_equal(number_count(cases[i].text, strlen(cases[i].text), &count), cases[i].want);
        if (cases[i].want == NUMBER_OK) assert_true(count == cases[i].count);
    }
}

static void written_values(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        int decimals;
        const char *want;
    } cases[] = {
        { 0, 9, "0" },
        { 1, 9, "0.000000001" },
        { 66000000000, 9, "66" },
        { 1250000000, 9, "1.25" },
        { 100, 9, "0.0000001" },
        { INT64_MAX, 9, "9223372036.854775807" },
        { 976562500, 12, "0.0009765625" }, /* 1 MiB in GiB */
        { 8, 0, "8" },
        { 0, 0, "0" },
        { 120, 0, "120" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NUMBER_TEXT_BYTES + 1];
        text[number_write(cases[i].value, cases[i].decimals, text)] = '\0';
        assert_string_equal(text, cases[i].want);
    }
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        const int64_t value = (int64_t)(x >> (1 + i % 63));
        for (int decimals = 0; decimals <= 12; decimals += 3) {
            char text[NUMBER_TEXT_BYTES];
            int64_t back;
            const size_t bytes = number_write(value, decimals, text);
            assert_int_equal(number_scaled(text, bytes, decimals, &back), NUMBER_OK);
            assert_true(back == value);
        }
    }
}

int main(void)
{
    enum { SECONDS = sizeof seconds / sizeof *seconds, OTHERS = 3 };
    static size_t rows[SECONDS];
    struct CMUnitTest tests[SECONDS + OTHERS] = {
        [SECONDS] = cmocka_unit_test(counts),
        [SECONDS + 1] = cmocka_unit_test(written_values),
        [SECONDS + 2] = cmocka_unit_test(what_is_written_reads_back),
    };
    for (size_t i = 0; i < SECONDS; i++) {
        rows[i] = i;
        tests[i] = (struct CMUnitTest){ .name = seconds[i].text[0] ? seconds[i].text : "(empty)",
                                        .test_func = second_row,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_number", tests, NULL, NULL);
}
