/* test_model_cases.c - every row of tests/cases/models against the models; each row is a test of its own name.
 *
 * The rows were computed apart from the C code: step by step, by exact fractions, by bisection in 50 digits, by enumerating
 * states, or by hand. The shared oracle rows are run by `make oracles`. */
#include "tests/model_table.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROWS_MAX = 2000, NAME_BYTES = 160 };

static struct row *rows[ROWS_MAX];
static char names[ROWS_MAX][NAME_BYTES];
static size_t row_count;

static void check_row(void **state)
{
    const struct row *row = *state;
    const struct model_func *func = model_func_find(row->func);
    if (!func) fail_msg("%s: no function %s", row->id, row->func);
    struct query query = { .row = row };
    func->ask(&query);
    if (!answer_is_right(&query))
        fail_msg("%s %s: got %s, want %s", row->inputs, row->output, answer_text(&query),
                 row->expected);
}

/* The folder is part of the project: it must be there, and each of its lines must be a row. */
static void cases_are_read(void **state)
{
    (void)state;
    assert_true(row_count >= 950);
    for (size_t i = 0; i < row_count; i++) assert_non_null(rows[i]);
}

/* Every function of the table stands on rows of its own, not on the shared ones alone. */
enum { OWN_ROWS_MIN = 3 };
static void function_has_rows(void **state)
{
    const struct model_func *func = *state;
    unsigned own = 0;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i] && strcmp(rows[i]->func, func->name) == 0) own++;
    if (own < OWN_ROWS_MIN) fail_msg("%s has %u rows, wanted %d", func->name, own, OWN_ROWS_MIN);
}

static void read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return;
    struct row *row = calloc(1, sizeof *row);
    while (row && row_count < ROWS_MAX && fgets(row->line, sizeof row->line, file)) {
        if (strncmp(row->line, "id,", 3) == 0) continue;
        rows[row_count] = row_parse(row) ? row : NULL;
        snprintf(names[row_count], NAME_BYTES, "%s:%s %s(%s) %s",
                 strrchr(path, '/') ? strrchr(path, '/') + 1 : path, row->id, row->func,
                 row->inputs, row->output);
        row_count++;
        row = calloc(1, sizeof *row);
    }
    free(row);
    fclose(file);
}

int main(void)
{
    enum { FUNCTIONS = sizeof model_funcs / sizeof *model_funcs };
    static struct CMUnitTest tests[ROWS_MAX + FUNCTIONS + 1];
    glob_t files;
    if (glob("tests/cases/models/*.csv", 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++) read_file(files.gl_pathv[i]);
        globfree(&files);
    }
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(cases_are_read);
    for (size_t i = 0; i < FUNCTIONS; i++)
        tests[count++] = (struct CMUnitTest){ model_funcs[i].name, function_has_rows, NULL, NULL,
                                              (void *)(uintptr_t)&model_funcs[i] };
    for (size_t i = 0; i < row_count; i++)
        if (rows[i])
            tests[count++] = (struct CMUnitTest){ names[i], check_row, NULL, NULL, rows[i] };
    const int failed = _cmocka_run_group_tests("model cases", tests, count, NULL, NULL);
    for (size_t i = 0; i < row_count; i++) free(rows[i]);
    return failed;
}
