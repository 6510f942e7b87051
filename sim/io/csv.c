/* csv.c - one pass over the text, nothing is copied. */
#include "io/csv.h"

#include <string.h>

static struct place place_at(const struct csv *csv, size_t offset, size_t width)
{
    return place_in_text(csv->file, csv->text, csv->text_bytes, offset, width);
}

enum status csv_begin(struct csv *csv, const char *file, const char *text, size_t text_bytes,
                      struct diag *diag)
{
    csv->file = file;
    csv->text = text;
    csv->text_bytes = text_bytes;
    csv->at = csv->record = 0;
    csv->field_count = 0;
    csv->diag = diag;
    const unsigned char *head = (const unsigned char *)text;
    if (text_bytes >= 2 &&
        ((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff)))
        return diag_error(diag, (struct place){ .file = file },
                          "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
    const char *nul = text_bytes ? memchr(text, '\0', text_bytes) : NULL;
    if (nul != NULL)
        return diag_error(diag, place_at(csv, (size_t)(nul - text), 1),
                          "holds a NUL byte: not a text");
    if (text_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) csv->at = 3;
    return STATUS_OK;
}

/* Behind the line end at `at`, which must be CR or LF. */
static size_t behind_line_end(const struct csv *csv, size_t at)
{
    if (csv->text[at] == '\r' && at + 1 < csv->text_bytes && csv->text[at + 1] == '\n')
        return at + 2;
    return at + 1;
}

void csv_skip_comments(struct csv *csv)
{
    while (csv->at < csv->text_bytes) {
        const char first = csv->text[csv->at];
        if (first != '#' && first != '\n' && first != '\r') return;
        while (csv->at < csv->text_bytes && csv->text[csv->at] != '\n' &&
               csv->text[csv->at] != '\r')
            csv->at++;
        if (csv->at < csv->text_bytes) csv->at = behind_line_end(csv, csv->at);
    }
}

static enum status swallowed(const struct csv *csv)
{
    return diag_error(csv->diag, place_at(csv, csv->record, 1),
                      "the record that begins here does not end: is a closing quote missing?");
}

/* A quoted field; *at is its opening quote and ends up behind the closing one. */
static enum status quoted_field(struct csv *csv, struct csv_field *field, size_t *at,
                                uint32_t *lines)
{
    const size_t from = *at + 1;
    *field = (struct csv_field){ .bytes = csv->text + from, .is_quoted = true };
    for (size_t i = from; i < csv->text_bytes; i++) {
        if (i - from > LIMIT_FIELD_BYTES) return swallowed(csv);
        if (csv->text[i] == '\n' && ++*lines > LIMIT_RECORD_LINES) return swallowed(csv);
        if (csv->text[i] != '"') continue;
        if (i + 1 < csv->text_bytes && csv->text[i + 1] == '"') {
            field->has_doubled = true;
            i++;
            continue;
        }
        field->byte_count = (uint32_t)(i - from);
        *at = i + 1;
        return STATUS_OK;
    }
    return swallowed(csv);
}

static enum status plain_field(struct csv *csv, struct csv_field *field, size_t *at)
{
    const char *const text = csv->text;
    const size_t from = *at;
    size_t i = from;
    while (i < csv->text_bytes && text[i] != ',' && text[i] != '\n' && text[i] != '\r') i++;
    if (i - from > LIMIT_FIELD_BYTES)
        return diag_error(csv->diag, place_at(csv, from, 1), "this field is longer than %d bytes",
                          LIMIT_FIELD_BYTES);
    *field = (struct csv_field){ .bytes = text + from, .byte_count = (uint32_t)(i - from) };
    *at = i;
    return STATUS_OK;
}

enum status csv_next(struct csv *csv, bool *found)
{
    size_t at = csv->at;
    while (at < csv->text_bytes && (csv->text[at] == '\n' || csv->text[at] == '\r')) at++;
    csv->record = at;
    csv->field_count = 0;
    *found = at < csv->text_bytes;
    for (uint32_t lines = 0; *found;) {
        if (csv->field_count == LIMIT_CSV_COLUMNS)
            return diag_error(csv->diag, place_at(csv, csv->record, 1),
                              "this record has more than %d fields", LIMIT_CSV_COLUMNS);
        struct csv_field *field = &csv->fields[csv->field_count++];
        if (at < csv->text_bytes && csv->text[at] == '"')
            TRY(quoted_field(csv, field, &at, &lines));
        else
            TRY(plain_field(csv, field, &at));
        if (at == csv->text_bytes) break;
        if (csv->text[at] == ',') {
            at++;
            continue;
        }
        if (csv->text[at] != '\n' && csv->text[at] != '\r')
            return diag_error(
                csv->diag, place_at(csv, at, 1),
                "text behind a closing quote; a quote inside a field is written twice");
        at = behind_line_end(csv, at);
        break;
    }
    csv->at = at;
    return STATUS_OK;
}

bool csv_is(const struct csv_field *field, const char *text)
{
    const size_t bytes = strlen(text);
    return !field->has_doubled && field->byte_count == bytes &&
           (bytes == 0 || memcmp(field->bytes, text, bytes) == 0);
}

uint32_t csv_column(const struct csv *csv, const char *name)
{
    for (uint32_t i = 0; i < csv->field_count; i++)
        if (csv_is(&csv->fields[i], name)) return i;
    return UINT32_MAX;
}

size_t csv_copy(const struct csv_field *field, char *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < field->byte_count; i++) {
        out[count++] = field->bytes[i];
        if (field->has_doubled && field->bytes[i] == '"') i++;
    }
    return count;
}

struct place csv_place(const struct csv *csv, const struct csv_field *field)
{
    return place_at(csv, (size_t)(field->bytes - csv->text),
                    field->byte_count ? field->byte_count : 1);
}

struct place csv_record_place(const struct csv *csv)
{
    return place_at(csv, csv->record, 1);
}
