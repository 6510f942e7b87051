/* trace_rows.c - rows come in, reasons are counted. trace_columns.c makes the columns. */
#include "io/trace_rows.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { TEXT_BYTES_FIRST = 65536 };

/* Key: the name's own bytes behind the entry. */
struct interned_name {
    UT_hash_handle hh;
    uint32_t offset;
    char name[];
};

struct interned_ask {
    UT_hash_handle hh;
    uint32_t number;
    struct ask ask;
};

static enum status out_of_memory(const struct trace_rows *rows)
{
    return diag_world(rows->diag, "%s: not enough memory for its rows", rows->input->name);
}

enum status trace_rows_init(struct trace_rows *rows, const struct input *input,
                            const struct trace_options *options, struct import_report *report,
                            struct diag *diag)
{
    *rows = (struct trace_rows){
        .input = input,
        .options = options,
        .report = report,
        .diag = diag,
    };
    log_init(&rows->rows, sizeof(struct trace_row), LIMIT_JOBS);
    log_init(&rows->asks, sizeof(struct ask), LIMIT_JOBS);
    log_init(&rows->words, sizeof(struct job_words), LIMIT_JOBS);
    uint32_t empty;
    return trace_rows_text(rows, "", 0, &empty);
}

void trace_rows_clear(struct trace_rows *rows)
{
    struct interned_name *name, *next;
    HASH_ITER(hh, rows->names, name, next)
    {
        HASH_DEL(rows->names, name);
        free(name);
    }
    struct interned_ask *ask, *next_ask;
    HASH_ITER(hh, rows->ask_rows, ask, next_ask)
    {
        HASH_DEL(rows->ask_rows, ask);
        free(ask);
    }
    log_clear(&rows->asks);
    log_clear(&rows->words);
    log_clear(&rows->rows);
    free(rows->text);
    *rows = (struct trace_rows){ 0 };
}

enum status trace_rows_text(struct trace_rows *rows, const char *text, size_t bytes, uint32_t *out)
{
    const uint64_t want_bytes = rows->text_bytes + bytes + 1;
    if (want_bytes > UINT32_MAX)
        return diag_error(rows->diag, (struct place){ .file = rows->input->name },
                          "its ids and names are longer than 4 GiB in total");
    if (want_bytes > rows->text_capacity) {
        uint64_t capacity = rows->text_capacity ? rows->text_capacity * 2 : TEXT_BYTES_FIRST;
        if (capacity < want_bytes) capacity = want_bytes;
        char *grown = realloc(rows->text, capacity);
        if (grown == NULL) return out_of_memory(rows);
        rows->text = grown;
        rows->text_capacity = capacity;
    }
    *out = (uint32_t)rows->text_bytes;
    memcpy(rows->text + rows->text_bytes, text, bytes);
    rows->text[rows->text_bytes + bytes] = '\0';
    rows->text_bytes = want_bytes;
    return STATUS_OK;
}

enum status trace_rows_intern(struct trace_rows *rows, const char *text, size_t bytes,
                              uint32_t *out)
{
    *out = TEXT_NONE;
    if (bytes == 0) return STATUS_OK;
    struct interned_name *found;
    HASH_FIND(hh, rows->names, text, bytes, found);
    if (found == NULL) {
        uint32_t offset;
        TRY(trace_rows_text(rows, text, bytes, &offset));
        found = malloc(sizeof *found + bytes);
        if (found == NULL) return out_of_memory(rows);
        found->offset = offset;
        memcpy(found->name, text, bytes);
        HASH_ADD_KEYPTR(hh, rows->names, found->name, bytes, found);
    }
    *out = found->offset;
    return STATUS_OK;
}

enum status trace_rows_ask(struct trace_rows *rows, const struct ask *ask, uint32_t *out)
{
    struct interned_ask *found;
    HASH_FIND(hh, rows->ask_rows, ask, sizeof *ask, found);
    if (found == NULL) {
        found = malloc(sizeof *found);
        if (found == NULL || !log_append(&rows->asks, ask)) {
            free(found);
            return out_of_memory(rows);
        }
        found->number = (uint32_t)rows->asks.count;
        memcpy(&found->ask, ask, sizeof *ask);
        HASH_ADD(hh, rows->ask_rows, ask, sizeof *ask, found);
    }
    *out = found->number;
    return STATUS_OK;
}

enum status trace_rows_words(struct trace_rows *rows, const struct job_words *words, uint32_t *out)
{
    if (!log_append(&rows->words, words)) return out_of_memory(rows);
    *out = (uint32_t)rows->words.count;
    return STATUS_OK;
}

enum status trace_rows_id(struct trace_rows *rows, const char *text, size_t bytes, uint32_t *out)
{
    char number[24];
    if (text != NULL && !rows->options->renumber) return trace_rows_text(rows, text, bytes, out);
    const int length = snprintf(number, sizeof number, "%" PRIu64, rows->report->imported + 1);
    return trace_rows_text(rows, number, (size_t)length, out);
}

enum status trace_rows_add(struct trace_rows *rows, const struct trace_row *row, const char *submit,
                           size_t submit_bytes)
{
    ASSERT((row->gpus >= 1 || row->ask || row->cores) && row->duration_ns >= 0 &&
           row->limit_ns > 0);
    if (rows->rows.count == LIMIT_JOBS)
        return diag_error(rows->diag, (struct place){ .file = rows->input->name },
                          "more than %d jobs; cut the log into pieces", LIMIT_JOBS);
    if (rows->rows.count == 0 || row->submit_ns < rows->origin_ns) {
        rows->origin_ns = row->submit_ns;
        text_copy(rows->report->origin, sizeof rows->report->origin, submit, submit_bytes);
    }
    if (!log_append(&rows->rows, row)) return out_of_memory(rows);
    rows->report->rows_read++;
    rows->report->imported++;
    return STATUS_OK;
}

/* ---- reasons ------------------------------------------------------------------------------- */

/* Counts one row of `reason` and keeps the first place. A full list ends in "other reasons". */
static void count_reason(struct import_reason *reasons, uint32_t *count, struct reason_place *first,
                         const char *reason, struct reason_place place)
{
    uint32_t i = 0;
    while (i < *count && strcmp(reasons[i].reason, reason) != 0) i++;
    if (i == IMPORT_REASONS) i = IMPORT_REASONS - 1;
    if (i == *count) {
        if (i == IMPORT_REASONS - 1) reason = "other reasons";
        snprintf(reasons[i].reason, sizeof reasons[i].reason, "%s", reason);
        first[i] = place;
        ++*count;
    }
    reasons[i].rows++;
}

static struct place place_at(const struct trace_rows *rows, struct reason_place place)
{
    return place_in_text(rows->input->name, rows->input->bytes, rows->input->byte_count,
                         place.offset, place.width);
}

/* Finding a line costs a walk over the text: only for what is going to be printed. */
static void refuse_if_strict(const struct trace_rows *rows, const char *reason,
                             struct reason_place place)
{
    if (!rows->options->strict) return;
    const bool is_shown = diag_error_count(rows->diag) < LIMIT_DIAG_PROBLEMS;
    diag_error(rows->diag,
               is_shown ? place_at(rows, place) : (struct place){ .file = rows->input->name }, "%s",
               reason);
}

void trace_rows_skip(struct trace_rows *rows, const char *reason, size_t offset, size_t width)
{
    const struct reason_place place = { offset, width };
    count_reason(rows->report->skipped, &rows->report->skipped_count, rows->skip_first, reason,
                 place);
    rows->report->rows_read++;
    refuse_if_strict(rows, reason, place);
}

void trace_rows_repair(struct trace_rows *rows, const char *reason, size_t offset, size_t width)
{
    const struct reason_place place = { offset, width };
    count_reason(rows->report->repaired, &rows->report->repaired_count, rows->repair_first, reason,
                 place);
    refuse_if_strict(rows, reason, place);
}

void trace_rows_warn(const struct trace_rows *rows)
{
    const struct import_report *report = rows->report;
    if (rows->options->strict) return; /* each was an error already */
    for (uint32_t i = 0; i < report->skipped_count; i++)
        diag_warn(rows->diag, place_at(rows, rows->skip_first[i]),
                  "%" PRIu64 " row%s skipped: %s (the first is here)", report->skipped[i].rows,
                  report->skipped[i].rows == 1 ? "" : "s", report->skipped[i].reason);
    for (uint32_t i = 0; i < report->repaired_count; i++)
        diag_warn(rows->diag, place_at(rows, rows->repair_first[i]),
                  "%" PRIu64 " row%s kept: %s (the first is here)", report->repaired[i].rows,
                  report->repaired[i].rows == 1 ? "" : "s", report->repaired[i].reason);
}
