/* quantity.h - texts such as "48.5 GB/s" or "1h30m" -> numbers in SI units, and back for people.
 *
 * One grammar for numbers everywhere (P02-P06, P41-P44): sign, decimal digits with a point, an
 * exponent. No leading zeros, no base prefixes, no digit separators, no nan or inf. The whole text
 * must match, and a bare number is refused where a unit is expected. b is bit and B is byte; k, M,
 * G are powers of 1000 and Ki, Mi, Gi of 1024 (P35, P36). One blank may stand before a unit.
 *
 * All readers take the text as bytes (no NUL needed), return false on failure and then leave a
 * reason in `why` that ends with the legal form, ready to stand behind "cannot read 'TEXT': ". */
#ifndef GPUPLAN_BASE_QUANTITY_H
#define GPUPLAN_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct why {
    char text[192];
};

/* Finite; a value that rounds to zero or overflows is refused. */
bool quantity_number(const char *text, size_t bytes, double *out, struct why *why);

/* A whole number, also written 8.0 or 1e3 (P09); digits alone are exact up to 2^63 - 1. */
bool quantity_count(const char *text, size_t bytes, int64_t *out, struct why *why);

/* 0.5 or 50%; within [0, 1] (P10). */
bool quantity_share(const char *text, size_t bytes, double *out, struct why *why);

/* true, True, TRUE, false, False, FALSE; nothing else (P01). */
bool quantity_bool(const char *text, size_t bytes, bool *out, struct why *why);

/* Nanoseconds, >= 0: parts of d, h, m, s, ms, us, ns in this order (1h30m, 2d, 500ms), or H:MM:SS,
 * or D-HH:MM:SS (P04, P38). At most 292 years. Digits are exact; finer than 1 ns is rounded. */
bool quantity_duration(const char *text, size_t bytes, int64_t *out_ns, struct why *why);

/* The same kinds of text in seconds, kept as a double: "3.4us" is 3.4e-6. */
bool quantity_duration_s(const char *text, size_t bytes, double *out_s, struct why *why);

/* Bytes: 80GB, 80 GiB, 512B. */
bool quantity_size(const char *text, size_t bytes, double *out_bytes, struct why *why);

/* Bytes per second: 400Gb/s, 400Gbps, 40 GB/s, 3.2TBps. */
bool quantity_bandwidth(const char *text, size_t bytes, double *out_bytes_per_s, struct why *why);

/* Per second: 3/day, 0.02/h, 2.5e-6/h, 0.09/year. Per s, min, h, day (d), week, year (y; 365 days). */
bool quantity_rate(const char *text, size_t bytes, double *out_per_s, struct why *why);

/* Watts: 10.2kW, 700 W (P39). */
bool quantity_power(const char *text, size_t bytes, double *out_w, struct why *why);

enum { SHOW_BYTES = 64 };

/* Texts that the readers above take back. Durations exactly, numbers with the fewest digits that
 * give the same double. All return `out`. */
char *show_number(double value, char out[SHOW_BYTES]);
char *show_duration(int64_t ns, char out[SHOW_BYTES]);
char *show_duration_s(double seconds, char out[SHOW_BYTES]);
char *show_size(double size_bytes, char out[SHOW_BYTES]);
char *show_bandwidth(double bytes_per_s, char out[SHOW_BYTES]);
char *show_rate(double per_s, char out[SHOW_BYTES]); /* per h */
char *show_power(double w, char out[SHOW_BYTES]);

#endif
