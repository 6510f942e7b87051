/* test_quantity.c - what is a number, a duration, a size; what is refused and what the reason says.
 *
 * Wanted values are decimal literals or unit conversions written out by hand. */
#include "base/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum kind { NUMBER, TALLY, SHARE, TRUTH, TIME, TIME_S, SIZE, BAND, RATE, POWER };

/* want: the value; or, when refused, a part of the reason. */
struct read_case {
    const char *item;
    enum kind kind;
    const char *text;
    double want;
    const char *why;
};
static struct read_case cases[] = {
    { "P01", TRUTH, "true", 1, NULL },
    { "P01", TRUTH, "False", 0, NULL },
    { "P01", TRUTH, "TRUE", 1, NULL },
    { "P01", TRUTH, "no", 0, "write true or false" },
    { "P01", TRUTH, "on", 0, "write true or false" },
    { "P01", TRUTH, "tRUE", 0, "truth" },
    { "P02", NUMBER, "1e3", 1000, NULL },
    { "P02", NUMBER, "1E6", 1e6, NULL },
    { "P02", NUMBER, "1e-4", 1e-4, NULL },
    { "P02", NUMBER, ".5", 0.5, NULL },
    { "P02", NUMBER, "1.", 1, NULL },
    { "P02", NUMBER, "-2.5e+1", -25, NULL },
    { "P02", NUMBER, "0", 0, NULL },
    { "P02", NUMBER, "0.0625", 0.0625, NULL },
    { "P02", NUMBER, ".", 0, "not a number" },
    { "P02", NUMBER, "e5", 0, "not a number" },
    { "P02", NUMBER, "1e", 0, "'e' follows" },
    { "P02", NUMBER, "--1", 0, "not a number" },
    { "P03", TALLY, "010", 0, "write 8 or 10" },
    { "P03", TALLY, "0o10", 0, "write 8 or 10" },
    { "P03", TALLY, "0x1F", 0, "write 8 or 10" },
    { "P03", TALLY, "0b11", 0, "write 8 or 10" },
    { "P03", NUMBER, "-00.5", 0, "leading zero" },
    { "P04", TIME, "90s", 90e9, NULL },
    { "P04", TIME, "1h30m", 5400e9, NULL },
    { "P04", TIME, "2d", 172800e9, NULL },
    { "P04", TIME, "500ms", 5e8, NULL },
    { "P04", TIME, "1:02:03", 3723e9, NULL },
    { "P04", TIME, "2-03:04:05", 183845e9, NULL },
    { "P04", TIME, "100:00:00", 360000e9, NULL },
    { "P04", TIME, "1.5h", 5400e9, NULL },
    { "P04", TIME, "3 h", 10800e9, NULL },
    { "P04", TIME, "1h 30m", 5400e9, NULL },
    { "P04", TIME, "1e3s", 1000e9, NULL },
    { "P04", TIME, "0s", 0, NULL },
    { "P04", TIME, "0.1s", 1e8, NULL },
    { "P04", TIME, "1us1ns", 1001, NULL },
    { "P04", TIME, "1:30", 0, "write 1h30m or 1m30s" },
    { "P04", TIME, "90", 0, "needs a unit" },
    { "P04", TIME, "0", 0, "needs a unit" },
    { "P04", TIME, "1:75:00", 0, "H:MM:SS" },
    { "P04", TIME, "1-25:00:00", 0, "D-HH:MM:SS" },
    { "P04", TIME, "1-12:30", 0, "D-HH:MM:SS" },
    { "P04", TIME, "1:2:3", 0, "H:MM:SS" },
    { "P04", TIME, "30m1h", 0, "large to small" },
    { "P04", TIME, "1h1h", 0, "each once" },
    { "P04", TIME, "-5s", 0, "negative" },
    { "P04", TIME, "293y", 0, "'y' is no unit" },
    { "P04", TIME, "300000d", 0, "292 years" },
    { "P04", TIME, "1e12d", 0, "292 years" },
    { "P04", TIME, "99999999999999999999s", 0, "292 years" },
    { "P04", TIME, "1h30", 0, "needs a unit" },
    { "P04", TIME, "", 0, "missing" },
    { "P05", NUMBER, ".nan", 0, "finite" },
    { "P05", NUMBER, "nan", 0, "finite" },
    { "P05", NUMBER, "-.inf", 0, "finite" },
    { "P05", NUMBER, "inf", 0, "finite" },
    { "P05", NUMBER, "Infinity", 0, "finite" },
    { "P05", TIME, "inf", 0, "not a duration" },
    { "P06", TALLY, "1_000", 0, "write 1000" },
    { "P06", TALLY, "1,000", 0, "write 1000" },
    { "P06", TALLY, "1 000", 0, "write 1000" },
    { "P06", TALLY, "1'000", 0, "write 1000" },
    { "P09", TALLY, "8.0", 8, NULL },
    { "P09", TALLY, "936.0", 936, NULL },
    { "P09", TALLY, "1e3", 1000, NULL },
    { "P09", TALLY, "8.5", 0, "write 8 or 9" },
    { "P10", SHARE, "50%", 0.5, NULL },
    { "P10", SHARE, "0.5", 0.5, NULL },
    { "P10", SHARE, "1", 1, NULL },
    { "P10", SHARE, "0%", 0, NULL },
    { "P10", SHARE, "50", 0, "write 50% or 0.5" },
    { "P10", SHARE, "150%", 0, "0% to 100%" },
    { "P10", SHARE, "-0.1", 0, "0 to 1" },
    { "P10", SHARE, "50 %", 0, "follows" },
    { "P15", TALLY, "8#spare", 0, "blank before its '#'" },
    { "P35", BAND, "400Gb/s", 5e10, NULL },
    { "P35", BAND, "400Gbps", 5e10, NULL },
    { "P35", BAND, "40 GB/s", 4e10, NULL },
    { "P35", BAND, "400GBps", 4e11, NULL },
    { "P35", BAND, "8Gibps", 1073741824, NULL },
    { "P35", BAND, "3.2TB/s", 3.2e12, NULL },
    { "P35", BAND, "8b/s", 1, NULL },
    { "P35", BAND, "8kb/s", 1000, NULL },
    { "P35", BAND, "400", 0, "needs a unit" },
    { "P35", BAND, "400G", 0, "not a unit" },
    { "P35", BAND, "400GB", 0, "not a unit" },
    { "P35", BAND, "400gb/s", 0, "not a unit" },
    { "P35", BAND, "-1GB/s", 0, "negative" },
    { "P35", BAND, "GB/s", 0, "missing" },
    { "P36", SIZE, "80GB", 8e10, NULL },
    { "P36", SIZE, "80GiB", 85899345920.0, NULL },
    { "P36", SIZE, "80 GB", 8e10, NULL },
    { "P36", SIZE, "1.5KiB", 1536, NULL },
    { "P36", SIZE, "7B", 7, NULL },
    { "P36", SIZE, "2e3MB", 2e9, NULL },
    { "P36", SIZE, "2EiB", 2305843009213693952.0, NULL },
    { "P36", SIZE, "5EB", 5e18, NULL },
    { "P36", SIZE, "80", 0, "needs a unit" },
    { "P36", SIZE, "80G", 0, "80GB or 80GiB" },
    { "P36", SIZE, "80KB", 0, "kilo is k" },
    { "P36", SIZE, "80kiB", 0, "kibi is Ki" },
    { "P36", SIZE, "80Gb", 0, "b is bit" },
    { "P36", SIZE, "1,000GB", 0, "write 1000" },
    { "P38", TIME, "5M", 0, "minutes are m" },
    { "P38", TIME, "5m", 300e9, NULL },
    { "P38", SIZE, "5mB", 0, "mega is M" },
    { "P38", SIZE, "5MB", 5e6, NULL },
    { "P38", RATE, "1/m", 0, "per minute is /min" },
    { "P39", POWER, "700W", 700, NULL },
    { "P39", POWER, "10.2 kW", 10200, NULL },
    { "P39", POWER, "1kWh", 0, "energy" },
    { "P39", POWER, "700", 0, "needs a unit" },
    { "P39", POWER, "700w", 0, "not a unit" },
    { "P40", RATE, "3/day", 3.0 / 86400, NULL },
    { "P40", RATE, "0.02/h", 0.02 / 3600, NULL },
    { "P40", RATE, "2.5e-6/h", 2.5e-6 / 3600, NULL },
    { "P40", RATE, "9/year", 9.0 / 31536000, NULL },
    { "P40", RATE, "3", 0, "needs a unit" },
    { "P40", RATE, "3/fortnight", 0, "not a unit" },
    { "P41", TALLY, "99999999999999999999", 0, "too large" },
    { "P41", TALLY, "9223372036854775807", 9223372036854775807.0, NULL },
    { "P41", TALLY, "9223372036854775808", 0, "too large" },
    { "P41", TALLY, "1e300", 0, "too large" },
    { "P41", NUMBER, "1e999", 0, "too large" },
    { "P41", NUMBER, "1e-999", 0, "too small" },
    { "P41", NUMBER, "-1e999", 0, "too large" },
    { "P42", TALLY, "8x", 0, "'x' follows" },
    { "P42", TALLY, "4 GPUs", 0, "' GPUs' follows" },
    { "P42", TALLY, "8 ", 0, "' ' follows" },
    { "P42", TALLY, " 8", 0, "not a number" },
    { "P42", NUMBER, "1.2.3", 0, "'.3' follows" },
    { "P43", NUMBER, "1.5", 1.5, NULL },
    { "P43", NUMBER, "1,5", 0, "grouped" },
    { "P44", NUMBER, "0x1p3", 0, "base prefix" },
    { "P38", TIME_S, "3.4us", 3.4e-6, NULL },
    { "P38", TIME_S, "0.7ns", 0.7e-9, NULL },
    { "P38", TIME_S, "1h30m", 5400, NULL },
    { "P38", TIME_S, "14", 0, "needs a unit" },
};

static bool read_text(const struct read_case *row, const char *text, size_t bytes, double *value,
                      struct why *why)
{
    int64_t whole = 0;
    bool truth = false, done = false;
    switch (row->kind) {
    case NUMBER:
        return quantity_number(text, bytes, value, why);
    case SHARE:
        return quantity_share(text, bytes, value, why);
    case TIME_S:
        return quantity_duration_s(text, bytes, value, why);
    case SIZE:
        return quantity_size(text, bytes, value, why);
    case BAND:
        return quantity_bandwidth(text, bytes, value, why);
    case RATE:
        return quantity_rate(text, bytes, value, why);
    case POWER:
        return quantity_power(text, bytes, value, why);
    case TALLY:
        done = quantity_count(text, bytes, &whole, why);
        break;
    case TIME:
        done = quantity_duration(text, bytes, &whole, why);
        break;
    case TRUTH:
        done = quantity_bool(text, bytes, &truth, why);
        whole = truth;
        break;
    }
    *value = (double)whole;
    return done;
}

static void check_case(void **state)
{
    const struct read_case *row = *state;
    const size_t bytes = strlen(row->text);
    char *copy = malloc(bytes ? bytes : 1); /* no byte behind the text may be read */
    memcpy(copy, row->text, bytes);
    double value = 0;
    struct why why = { "" };
    const bool done = read_text(row, copy, bytes, &value, &why);
    free(copy);
    if (row->why != NULL) {
        assert_false(done);
        if (strstr(why.text, row->why) == NULL) fail_msg("'%s' is not in '%s'", row->why, why.text);
        return;
    }
    if (!done) fail_msg("refused: %s", why.text);
    if (value != row->want) fail_msg("got %.17g, want %.17g", value, row->want);
}

static void a_million_digits_end_at_once(void **state)
{
    (void)state;
    char *text = malloc(1000000);
    memset(text, '7', 1000000);
    double value;
    int64_t whole;
    struct why why;
    assert_false(quantity_number(text, 1000000, &value, &why));
    assert_false(quantity_count(text, 1000000, &whole, &why));
    assert_false(quantity_duration(text, 1000000, &whole, &why));
    assert_false(quantity_size(text, 1000000, &value, &why));
    free(text);
}

struct show_case {
    const char *name;
    int64_t ns;
    const char *want;
};
static struct show_case shows[] = {
    { "show 0", 0, "0s" },
    { "show 90 s", INT64_C(90000000000), "1m30s" },
    { "show 30 d", INT64_C(2592000000000000), "30d" },
    { "show 1 d 3 h 1 ns", INT64_C(97200000000001), "1d3h1ns" },
    { "show 0.5 s", 500000000, "500ms" },
    { "show the longest", INT64_MAX - 1, "106751d23h47m16s854ms775us806ns" },
};

static void check_show(void **state)
{
    const struct show_case *row = *state;
    char out[SHOW_BYTES];
    assert_string_equal(show_duration(row->ns, out), row->want);
    int64_t back = 0;
    struct why why;
    assert_true(quantity_duration(out, strlen(out), &back, &why));
    assert_true(back == row->ns);
}

/* Whatever is shown reads back as the same double. */
static void numbers_come_back(void **state)
{
    (void)state;
    uint64_t bits = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 20000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double value = (double)(bits >> 11) * (i % 2 ? 1e-20 : 1e-3);
        char out[SHOW_BYTES];
        double back = 0;
        struct why why;
        show_number(value, out);
        assert_true(quantity_number(out, strlen(out), &back, &why));
        if (back != value) fail_msg("%.17g came back as %.17g from %s", value, back, out);
    }
}

static void units_are_shown(void **state)
{
    (void)state;
    char out[SHOW_BYTES];
    assert_string_equal(show_size(8e10, out), "80 GB");
    assert_string_equal(show_size(0, out), "0 B");
    assert_string_equal(show_bandwidth(4.85e10, out), "48.5 GB/s");
    assert_string_equal(show_rate(2.5e-6 / 3600, out), "2.5e-06/h");
    assert_string_equal(show_power(10200, out), "10.2 kW");
    assert_string_equal(show_duration_s(3.4e-6, out), "3.4us");
    assert_string_equal(show_duration_s(5400, out), "1h30m");
    assert_string_equal(show_number(1e15, out), "1e+15");
    assert_string_equal(show_number(0.1, out), "0.1");
}

int main(void)
{
    static char names[COUNT(cases)][64];
    struct CMUnitTest tests[COUNT(cases) + COUNT(shows) + 3];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(names[i], sizeof names[i], "%s %s '%s'", cases[i].item,
                 cases[i].why ? "refuses" : "reads", cases[i].text);
        tests[count++] = (struct CMUnitTest){ names[i], check_case, NULL, NULL, &cases[i] };
    }
    for (size_t i = 0; i < COUNT(shows); i++)
        tests[count++] = (struct CMUnitTest){ shows[i].name, check_show, NULL, NULL, &shows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_million_digits_end_at_once);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(numbers_come_back);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(units_are_shown);
    return _cmocka_run_group_tests("quantity", tests, count, NULL, NULL);
}
