/* rows.h - tests that get their names at run time: one for each row of a table or each seed. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct rows {
    struct CMUnitTest *tests;
    size_t count, capacity;
};

/* state: what the test finds in *state; a number is passed as (const void *)(uintptr_t)number. */
__attribute__((format(printf, 4, 5))) static inline void
rows_add(struct rows *rows, void (*test)(void **state), const void *state, const char *format, ...)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? 2 * rows->capacity : 64;
        rows->tests = realloc(rows->tests, rows->capacity * sizeof *rows->tests);
        if (!rows->tests) abort();
    }
    char text[160];
    va_list args;
    va_start(args, format);
    const int bytes = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *name = malloc(sizeof text);
    if (!name || bytes < 0) abort();
    snprintf(name, sizeof text, "%s", text);
    rows->tests[rows->count++] =
        (struct CMUnitTest){ .name = name, .test_func = test, .initial_state = (void *)(uintptr_t)state };
}

static inline uint64_t rows_number(void **state) { return (uint64_t)(uintptr_t)*state; }

/* Runs them all, gives the memory back, returns the number that failed. */
static inline int rows_run(const char *group, struct rows *rows)
{
    const int failed = _cmocka_run_group_tests(group, rows->tests, rows->count, NULL, NULL);
    for (size_t i = 0; i < rows->count; i++) free((void *)(uintptr_t)rows->tests[i].name);
    free(rows->tests);
    return failed;
}

#endif
