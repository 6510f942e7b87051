/* trace_files.h - for tests of readers: small files made on the spot, and the shared job logs. */
#ifndef GPUPLAN_TESTS_TRACE_FILES_H
#define GPUPLAN_TESTS_TRACE_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_PATH_BYTES = 512 };

/* Writes bytes[count] to a fresh file; its name goes to path. */
static inline const char *file_with(char path[FILE_PATH_BYTES], const void *bytes, size_t count)
{
    snprintf(path, FILE_PATH_BYTES, "%s/gpuplan-test-XXXXXX", P_tmpdir);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    assert_int_equal(fclose(out), 0);
    return path;
}

/* Path of a shared file, or NULL (said aloud) when it is absent. */
static inline const char *shared_file(char path[FILE_PATH_BYTES], const char *name)
{
    const char *shared = getenv("GPUPLAN_SHARED");
    snprintf(path, FILE_PATH_BYTES, "%s/%s", shared ? shared : "../shared", name);
    if (access(path, R_OK) == 0) return path;
    printf("skipped: %s is absent\n", path);
    return NULL;
}

#endif
