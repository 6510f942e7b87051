/* trace_number.h - numbers of job logs, exactly: decimal text to integers by integers only.
 *
 * One grammar for all formats: [+-] digits [. digits] [e [+-] digits], at least one digit, `.5` and `1.` allowed, nothing else
 * (no leading zeros, no blanks, no hexadecimal, no thousands separators). The whole text must match.
 * Tests: tests/test_trace_number.c */
#ifndef GPUPLAN_IO_TRACE_NUMBER_H
#define GPUPLAN_IO_TRACE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_result {
    NUMBER_OK,
    NUMBER_MISSING,  /* empty, NA, NaN, nan, null, None, \N or - (P81) */
    NUMBER_BAD,      /* not a number                                   */
    NUMBER_RANGE,    /* does not fit into the result                   */
    NUMBER_FRACTION, /* number_count: not a whole number               */
};

enum { NUMBER_NS_DECIMALS = 9, NUMBER_GIB_DECIMALS = 12 /* 0.001 byte */ };
#define NUMBER_GIB_SCALE UINT64_C(1000000000000) /* 10^NUMBER_GIB_DECIMALS */

/* value * 10^decimals, rounded to nearest, halves away from zero. At most INT64_MAX in size. */
enum number_result number_scaled(const char *text, size_t bytes, int decimals, int64_t *out);

/* A whole number; `8.0` and `1e3` are whole (P84). At most INT64_MAX in size. */
enum number_result number_count(const char *text, size_t bytes, int64_t *out);

/* The shortest decimal of value / 10^decimals, which number_scaled reads back exactly; value >= 0, decimals 0 to 18. out holds
 * NUMBER_TEXT_BYTES and is not ended by NUL. Returns its length. */
enum { NUMBER_TEXT_BYTES = 24 };
size_t number_write(int64_t value, int decimals, char *out);

#endif
