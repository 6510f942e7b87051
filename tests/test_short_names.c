/* test_short_names.c - names cut for a narrow column stay apart. */
#include "fixture_report.h"
#include "report/short_names.h"

#include <gsl/gsl_errno.h>

static const struct row {
    const char *test, *names[2], *shown[2];
    bool numbered;
} rows[] = {
    { "what fits stays", { "dense8", "fourteen chars" }, { "dense8", "fourteen chars" }, false },
    { "cut at the end", { "a long name: dense", "dense" }, { "a long name...", "dense" }, false },
    { "the end tells them apart",
      { "a long name: dense", "a long name: sparse" },
      { "a long...dense", "a long...parse" },
      false },
    { "the middle tells them apart",
      { "a long name 0 and words", "a long name 1 and words" },
      { "1 a long na...", "2 a long na..." },
      true },
    { "characters are not halved",
      { "größe größe größe", "dense" },
      { "größe größe...", "dense" },
      false },
};
enum { ROWS = sizeof rows / sizeof *rows };

static void names_of_14_columns(void **state)
{
    const struct row *row = *state;
    void *fixture;
    assert_int_equal(fixture_setup(&fixture), 0);
    struct fixture *f = fixture;
    for (uint32_t i = 0; i < 2; i++)
        snprintf(f->scenario.layouts[i].name, LIMIT_NAME_BYTES, "%s", row->names[i]);
    struct report report;
    report_of(f, (const double[]){ 0.5 }, (const double[]){ 0.5 }, 1, &report);
    static struct short_names names;
    short_names_make(&report.c, 14, &names);
    for (uint32_t i = 0; i < 2; i++) assert_string_equal(names.name[i], row->shown[i]);
    assert_int_equal(names.numbered, row->numbered);
    report_clear(&report);
    fixture_teardown(&fixture);
}

int main(void)
{
    gsl_set_error_handler_off();
    struct CMUnitTest tests[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        tests[i] = (struct CMUnitTest){ .name = rows[i].test,
                                        .test_func = names_of_14_columns,
                                        .initial_state = (void *)(uintptr_t)&rows[i] };
    return _cmocka_run_group_tests("short_names", tests, ROWS, NULL, NULL);
}
