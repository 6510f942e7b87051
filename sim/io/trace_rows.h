/* trace_rows.h - what every reader of job logs fills: rows in file order, then columns in submit order.
 *
 * A row is either added or skipped for a reason; both count as read, so rows read = imported + skipped holds by
 * construction. A repair is counted beside the row that is kept. With `strict` a skip or a repair
 * is an error at its place instead.
 * Tests: tests/test_trace_read.c */
#ifndef GPUPLAN_IO_TRACE_ROWS_H
#define GPUPLAN_IO_TRACE_ROWS_H

#include "base/diag.h"
#include "base/log.h"
#include "io/input.h"
#include "io/trace_read.h"
#include "spec/jobs.h"

#include <stddef.h>
#include <stdint.h>

/* One job as the file says it. Texts are offsets in trace_rows.text. */
struct trace_row {
    int64_t submit_ns; /* on the file's own clock                                                 */
    int64_t duration_ns, limit_ns; /* as in struct jobs                                           */
    uint64_t memory_bytes;
    size_t offset; /* of the row in the input, for messages                                   */
    uint32_t gpus, nodes, cores, id, user, model;
    uint32_t ask; /* from trace_rows_ask; 0 = the columns say it all                                */
    uint32_t words; /* from trace_rows_words; 0 = none                                              */
};

struct interned_name; /* uthash entries */
struct interned_ask;

/* The first place of each reason, told when the file is read. */
struct reason_place {
    size_t offset, width;
};

struct trace_rows {
    const struct input *input; /* all four borrowed until trace_rows_clear               */
    const struct trace_options *options;
    struct import_report *report;
    struct diag *diag;
    struct log rows; /* struct trace_row                                      */
    bool timeless;   /* as in struct jobs                                              */
    char *text;      /* owned until trace_rows_clear                         */
    uint64_t text_bytes, text_capacity;
    struct interned_name *names;
    struct log asks; /* struct ask, each once                                           */
    struct interned_ask *ask_rows;
    struct log words; /* struct job_words; their first rows count in file order              */
    bool keeps_clock; /* time 0 is 0 as it is written, not the first submission              */
    int64_t origin_ns; /* earliest submission so far                            */
    struct reason_place skip_first[IMPORT_REASONS], repair_first[IMPORT_REASONS];
};

enum status trace_rows_init(struct trace_rows *rows, const struct input *input,
                            const struct trace_options *options, struct import_report *report,
                            struct diag *diag);
void trace_rows_clear(struct trace_rows *rows);

/* Appends a text and gives its offset. Interned texts are stored once; an empty one is TEXT_NONE. */
enum status trace_rows_text(struct trace_rows *rows, const char *text, size_t bytes, uint32_t *out);
enum status trace_rows_intern(struct trace_rows *rows, const char *text, size_t bytes,
                              uint32_t *out);

/* A request in a scheduler's words, stored once: its number, from 1 on. Bytes between its members must be 0. */
enum status trace_rows_ask(struct trace_rows *rows, const struct ask *ask, uint32_t *out);

/* The id of the next row: `text`, or its number when ids are renumbered or text is NULL. */
enum status trace_rows_id(struct trace_rows *rows, const char *text, size_t bytes, uint32_t *out);

/* submit[submit_bytes] is the submit time as the file writes it; the earliest becomes the report's origin. */
enum status trace_rows_add(struct trace_rows *rows, const struct trace_row *row, const char *submit,
                           size_t submit_bytes);

/* Leaves a row out. `reason` is a constant or short text without line ends; offset and width are its place in the input. */
void trace_rows_skip(struct trace_rows *rows, const char *reason, size_t offset, size_t width);
void trace_rows_repair(struct trace_rows *rows, const char *reason, size_t offset, size_t width);

/* One warning per reason, at its first place. Nothing when strict: each was an error already. */
void trace_rows_warn(const struct trace_rows *rows);

/* The words of one row: always a row of its own. */
enum status trace_rows_words(struct trace_rows *rows, const struct job_words *words, uint32_t *out);

/* Counts rows that say the same as an earlier one in submit time, duration, GPUs and user: they are
 * kept, as a repair. In trace_columns.c. */
enum status trace_rows_count_duplicates(struct trace_rows *rows);

/* Checks ids and span, sorts by submit time, shifts the first submission to 0 and builds the
 * columns, which jobs->arena owns. In trace_columns.c. */
enum status trace_rows_finish(struct trace_rows *rows, struct jobs *jobs);

#endif
