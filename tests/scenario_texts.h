/* scenario_texts.h - for tests of the scenario's language: a text is read as a file, what is said about it is kept. */
#ifndef GPUPLAN_TESTS_SCENARIO_TEXTS_H
#define GPUPLAN_TESTS_SCENARIO_TEXTS_H

#include "io/scenario_read.h"
#include "tests/trace_files.h"

static struct scenario scenario;
static char said[32768]; /* the problems, with F for the file's name */

static inline void forget_name(const char *path)
{
    const size_t bytes = strlen(path);
    for (char *at; (at = strstr(said, path)) != NULL;) {
        at[0] = 'F';
        memmove(at + 1, at + bytes, strlen(at + bytes) + 1);
    }
}

/* Reads the text into `scenario`. */
static inline enum status read_text(const char *text)
{
    char path[FILE_PATH_BYTES];
    file_with(path, text, strlen(text));
    scenario_clear(&scenario);
    struct diag *diag = diag_create();
    const enum status status = scenario_read(path, NULL, 0, &scenario, diag);
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said - 1, "w");
    assert_non_null(out);
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    unlink(path);
    forget_name(path);
    return status;
}

static inline void read_good(const char *text)
{
    if (read_text(text) != STATUS_OK) fail_msg("%s", said);
}

/* A line of the resolved scenario begins with this. */
static inline void resolved_has(const char *line)
{
    if (strstr(scenario.resolved, line) == NULL) fail_msg("no '%s' in\n%s", line, scenario.resolved);
}

#endif
