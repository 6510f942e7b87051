/* csv.h - a CSV text in memory, record by record, each field with its place.
 *
 * RFC 4180 with what real files add: a byte-order mark, CR LF or LF or CR as line end, no end on the last line, empty
 * lines between records (skipped), quotes inside an unquoted field (kept as they are). Refused:
 * NUL bytes, UTF-16, text behind a closing quote, a field over LIMIT_FIELD_BYTES or a record over
 * LIMIT_RECORD_LINES (an unclosed quote swallows the file, P80), more than LIMIT_CSV_COLUMNS.
 *
 * Why not libcsv: it copies every field and calls back without a place; measured, it takes almost 3 times as
 * long. The two are compared over random texts in the test.
 * Tests: tests/test_csv.c */
#ifndef GPUPLAN_IO_CSV_H
#define GPUPLAN_IO_CSV_H

#include "base/diag.h"
#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field as it stands in the text. `bytes` are what lies between the quotes when it has any. */
struct csv_field {
    const char *bytes; /* borrowed from the text                                               */
    uint32_t byte_count;
    bool is_quoted;
    bool has_doubled; /* quoted and holds doubled quotes: csv_copy makes one of each two       */
};

struct csv {
    const char *file; /* borrowed: the name for messages                                      */
    const char *text; /* borrowed                                                             */
    size_t text_bytes;
    size_t at;            /* where the next record begins                                         */
    size_t record;        /* where the current record begins                                      */
    uint32_t field_count; /* of the current record                                                */
    struct csv_field fields[LIMIT_CSV_COLUMNS];
    struct diag *diag; /* borrowed                                                             */
};

/* Begins at the first byte behind a byte-order mark. */
enum status csv_begin(struct csv *csv, const char *file, const char *text, size_t text_bytes,
                      struct diag *diag);

/* Skips lines that begin with '#'. Used before the header only: an id may begin with it. */
void csv_skip_comments(struct csv *csv);

/* Reads the next record into csv->fields. *found is false at the end of the text. */
enum status csv_next(struct csv *csv, bool *found);

/* Column of the header record just read whose name is `name`, or UINT32_MAX. */
uint32_t csv_column(const struct csv *csv, const char *name);

/* The field's text with doubled quotes made single; `out` must hold byte_count bytes (no NUL is
 * written). Returns the number of bytes. */
size_t csv_copy(const struct csv_field *field, char *out);

/* Whether the field's text is `text`. Fields with doubled quotes never are. */
bool csv_is(const struct csv_field *field, const char *text);

/* Place of a field of the current record, and of the current record itself. */
struct place csv_place(const struct csv *csv, const struct csv_field *field);
struct place csv_record_place(const struct csv *csv);

#endif
