/* test_trace_clock.c - instants by hand: 2017-10-09T00:00:00Z is 17,448 days after 1970-01-01. */
#include "io/trace_clock.h"

#include "trace_files.h"

#define DAY         INT64_C(86400)
#define OCT_9_2017  (17448 * DAY)
#define MAR_12_2017 (17237 * DAY)
#define NOV_5_2017  (17475 * DAY)

static const struct {
    const char *zone, *text;
    enum clock_result want;
    int64_t utc_s;
} cases[] = {
    { "UTC", "1970-01-01 00:00:00", CLOCK_OK, 0 },
    { "UTC", "2017-10-09 07:01:55", CLOCK_OK, OCT_9_2017 + 7 * 3600 + 115 },
    { "UTC", "2017-10-09T07:01:55", CLOCK_OK, OCT_9_2017 + 7 * 3600 + 115 },
    { "UTC", "2017-10-09 07:01", CLOCK_OK, OCT_9_2017 + 7 * 3600 + 60 },
    { "UTC", "2017-10-08 24:00:00", CLOCK_OK, OCT_9_2017 },
    { "UTC", "2017-10-09 23:59:60", CLOCK_LEAP, OCT_9_2017 + DAY - 1 },
    { "UTC", "2024-02-29 00:00:00", CLOCK_OK, 19782 * DAY },
    { "UTC", "2023-02-29 00:00:00", CLOCK_BAD, 0 },
    { "UTC", "2000-02-29 00:00:00", CLOCK_OK, 11016 * DAY },
    { "UTC", "2100-02-29 00:00:00", CLOCK_BAD, 0 },
    { "-07:00", "2017-10-09 00:00:00", CLOCK_OK, OCT_9_2017 + 7 * 3600 },
    { "+0530", "2017-10-09 00:00:00", CLOCK_OK, OCT_9_2017 - 5 * 3600 - 1800 },
    { "+08", "2017-10-09 00:00:00", CLOCK_OK, OCT_9_2017 - 8 * 3600 },
    /* An offset in the text goes first (P49). */
    { "UTC", "2017-10-09T00:00:00+08:00", CLOCK_OK, OCT_9_2017 - 8 * 3600 },
    { "", "2017-10-09T00:00:00Z", CLOCK_OK, OCT_9_2017 },
    { "", "2017-10-09T00:00:00", CLOCK_NO_ZONE, 0 },
    /* US Pacific 2017: daylight time from March 12, 10:00 UTC, to November 5, 09:00 UTC. */
    { "America/Los_Angeles", "2017-03-12 01:59:59", CLOCK_OK, MAR_12_2017 + 10 * 3600 - 1 },
    { "America/Los_Angeles", "2017-03-12 02:00:00", CLOCK_SKIPPED, 0 },
    { "America/Los_Angeles", "2017-03-12 02:59:59", CLOCK_SKIPPED, 0 },
    { "America/Los_Angeles", "2017-03-12 03:00:00", CLOCK_OK, MAR_12_2017 + 10 * 3600 },
    { "America/Los_Angeles", "2017-10-09 00:00:00", CLOCK_OK, OCT_9_2017 + 7 * 3600 },
    { "America/Los_Angeles", "2017-11-05 00:59:59", CLOCK_OK, NOV_5_2017 + 8 * 3600 - 1 },
    { "America/Los_Angeles", "2017-11-05 01:00:00", CLOCK_TWICE, 0 },
    { "America/Los_Angeles", "2017-11-05 01:59:59", CLOCK_TWICE, 0 },
    { "America/Los_Angeles", "2017-11-05 02:00:00", CLOCK_OK, NOV_5_2017 + 10 * 3600 },
    { "US/Pacific", "2018-01-01 00:00:00", CLOCK_OK, 17532 * DAY + 8 * 3600 },
    { "US/Pacific", "2006-07-01 00:00:00", CLOCK_OUTSIDE, 0 },
    { "UTC", "", CLOCK_MISSING, 0 },
    { "UTC", "NA", CLOCK_MISSING, 0 },
    { "UTC", "01/02/2024 00:00:00", CLOCK_BAD, 0 },
    { "UTC", "2024-13-01 00:00:00", CLOCK_BAD, 0 },
    { "UTC", "2024-04-31 00:00:00", CLOCK_BAD, 0 },
    { "UTC", "2024-04-30 24:00:01", CLOCK_BAD, 0 },
    { "UTC", "2024-04-30 12:60:00", CLOCK_BAD, 0 },
    { "UTC", "2024-04-30", CLOCK_BAD, 0 },
    { "UTC", "2024-04-30 12:00:00 ", CLOCK_BAD, 0 },
    { "UTC", "2024-04-30 12:00:00.", CLOCK_BAD, 0 },
    { "UTC", "2024-04-30 12:00:00+25:00", CLOCK_BAD, 0 },
    { "UTC", "1696834915", CLOCK_BAD, 0 },
};

static void clock_row(void **state)
{
    const size_t row = *(const size_t *)*state;
    struct zone zone;
    struct diag *diag = diag_create();
    int64_t ns = 0;
    assert_int_equal(zone_open(cases[row].zone, &zone, diag), STATUS_OK);
    const enum clock_result got = clock_read(cases[row].text, strlen(cases[row].text), &zone, &ns);
    assert_int_equal(got, cases[row].want);
    if (got == CLOCK_OK || got == CLOCK_LEAP) assert_true(ns == cases[row].utc_s * 1000000000);
    zone_clear(&zone);
    diag_destroy(diag);
}

static void fractions_are_exact(void **state)
{
    (void)state;
    struct zone zone;
    struct diag *diag = diag_create();
    int64_t ns;
    assert_int_equal(zone_open("UTC", &zone, diag), STATUS_OK);
    assert_int_equal(clock_read("1970-01-01 00:00:01.1234567", 27, &zone, &ns), CLOCK_OK);
    assert_true(ns == 1123456700);
    diag_destroy(diag);
}

static void bad_zones_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "Mars/Phobos", "../../etc/passwd", "/etc/localtime",
                                         "-7",          "+15:00",           "-07:0",
                                         "PST",         "America/",         "." };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct zone zone;
        struct diag *diag = diag_create();
        assert_int_equal(zone_open(names[i], &zone, diag), STATUS_INPUT);
        zone_clear(&zone);
        diag_destroy(diag);
    }
}

/* The built-in rule against the system's table, where there is one: every half hour of 16 years. */
static void pacific_rule_equals_the_table(void **state)
{
    (void)state;
    if (access("/usr/share/zoneinfo/PST8PDT", R_OK) != 0) {
        printf("skipped: no zone tables here\n");
        skip();
    }
    struct zone rule, table;
    struct diag *diag = diag_create();
    assert_int_equal(zone_open("US/Pacific", &rule, diag), STATUS_OK);
    assert_int_equal(zone_open("PST8PDT", &table, diag), STATUS_OK);
    assert_int_equal(table.kind, ZONE_FILE);
    for (int year = 2008; year < 2024; year++) {
        for (int slot = 0; slot < 12 * 28 * 48; slot++) {
            char text[48];
            int64_t by_rule = 0, by_table = 0;
            snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:00", year, slot / 48 / 28 + 1,
                     slot / 48 % 28 + 1, slot % 48 / 2, slot % 2 * 30);
            const enum clock_result a = clock_read(text, 19, &rule, &by_rule);
            const enum clock_result b = clock_read(text, 19, &table, &by_table);
            if (a != b || by_rule != by_table) fail_msg("%s: %d %d", text, a, b);
        }
    }
    zone_clear(&table);
    diag_destroy(diag);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases, OTHERS = 3 };
    static size_t rows[CASES];
    static char names[CASES][96];
    struct CMUnitTest tests[CASES + OTHERS] = {
        [CASES] = cmocka_unit_test(fractions_are_exact),
        [CASES + 1] = cmocka_unit_test(bad_zones_are_refused),
        [CASES + 2] = cmocka_unit_test(pacific_rule_equals_the_table),
    };
    for (size_t i = 0; i < CASES; i++) {
        rows[i] = i;
        snprintf(names[i], sizeof names[i], "'%s' in '%s'", cases[i].text, cases[i].zone);
        tests[i] = (struct CMUnitTest){ .name = names[i],
                                        .test_func = clock_row,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_clock", tests, NULL, NULL);
}
