/* diag.c - problems are rendered when they are found, so that nothing of the input must live on. */
#include "base/diag.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE_BYTES = 1024,
    FILE_BYTES = 512,
    EXCERPT_BYTES = 96, /* of the line, around the place: one row of a screen               */
    SHOWN_BYTES = 512,  /* the same with everything escaped                                 */
    PROBLEM_BYTES = 3072,
};

struct problem {
    char text[PROBLEM_BYTES]; /* ready to print, ends in a line end */
};

struct diag {
    struct problem problems[2 * LIMIT_DIAG_PROBLEMS]; /* errors and warnings share the order */
    size_t problem_count;
    uint64_t error_count, warning_count;
    enum status first;
};

struct diag *diag_create(void)
{
    return calloc(1, sizeof(struct diag));
}
void diag_destroy(struct diag *diag)
{
    free(diag);
}

/* Bytes of the line end at `at`: CR LF counts as one, a lone CR is one too (P25). */
static size_t line_end_bytes(const char *text, size_t text_bytes, size_t at)
{
    if (text[at] == '\n') return 1;
    if (text[at] != '\r') return 0;
    return at + 1 < text_bytes && text[at + 1] == '\n' ? 2 : 1;
}

struct place place_in_text(const char *file, const char *text, size_t text_bytes, size_t offset,
                           size_t width)
{
    if (offset > text_bytes) offset = text_bytes;
    uint64_t line = 1;
    size_t start = 0;
    for (size_t at = 0; at < offset;) {
        const size_t end = line_end_bytes(text, text_bytes, at);
        if (end != 0 && at + end <= offset) {
            line++;
            start = at + end;
        }
        at += end ? end : 1;
    }
    size_t stop = start;
    while (stop < text_bytes && line_end_bytes(text, text_bytes, stop) == 0) stop++;
    return (struct place){
        .file = file,
        .line = line,
        .column = (uint32_t)(offset - start + 1),
        .width = (uint32_t)(width < UINT32_MAX ? width : UINT32_MAX),
        .text = text + start,
        .text_bytes = stop - start,
    };
}

/* Characters on the screen of a text that is already escaped. */
static int columns_of(const char *shown)
{
    int columns = 0;
    for (; *shown; shown++) columns += ((unsigned char)*shown & 0xc0) != 0x80;
    return columns;
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The line with a caret under the place, cut to a window around it. */
static void render_excerpt(const struct place *at, char *out, size_t out_bytes)
{
    const size_t column = at->column > 0 ? at->column - 1 : 0;
    if (column > at->text_bytes) return;
    size_t from = column > EXCERPT_BYTES * 2 / 3 ? column - EXCERPT_BYTES * 2 / 3 : 0;
    while (from > 0 && is_continuation(at->text[from])) from--;
    size_t stop = at->text_bytes - from > EXCERPT_BYTES ? from + EXCERPT_BYTES : at->text_bytes;
    while (stop < at->text_bytes && is_continuation(at->text[stop])) stop++;
    size_t marked = at->width > 1 ? at->width : 1;
    if (marked > stop - column) marked = stop - column;

    char shown[SHOWN_BYTES], part[SHOWN_BYTES];
    text_escape(at->text + from, stop - from, shown, sizeof shown);
    int used = snprintf(out, out_bytes, "%5" PRIu64 " | %s\n", at->line, shown);
    if (at->column == 0) return;
    const int indent = columns_of(text_escape(at->text + from, column - from, part, sizeof part));
    const int carets = columns_of(text_escape(at->text + column, marked, part, sizeof part));
    if (used < 0 || (size_t)used + (size_t)(indent + carets) + 16 > out_bytes) return;
    used += snprintf(out + used, out_bytes - (size_t)used, "%5s | %*s^", "", indent, "");
    for (int i = 1; i < carets; i++) out[used++] = '~';
    out[used++] = '\n';
    out[used] = '\0';
}

__attribute__((format(printf, 4, 0))) static void render(struct problem *problem, const char *kind,
                                                         const struct place *at, const char *format,
                                                         va_list arguments)
{
    char message[MESSAGE_BYTES], safe[MESSAGE_BYTES], file[FILE_BYTES], where[64] = "";
    vsnprintf(message, sizeof message, format, arguments);
    text_escape(message, strlen(message), safe, sizeof safe);
    const char *name = at->file ? at->file : "gpuplan";
    text_escape(name, strlen(name), file, sizeof file);
    if (at->line > 0 && at->column > 0)
        snprintf(where, sizeof where, ":%" PRIu64 ":%" PRIu32, at->line, at->column);
    else if (at->line > 0)
        snprintf(where, sizeof where, ":%" PRIu64, at->line);
    const int used =
        snprintf(problem->text, sizeof problem->text, "%s%s: %s%s\n", file, where, kind, safe);
    if (at->line > 0 && at->text != NULL && used > 0)
        render_excerpt(at, problem->text + used, sizeof problem->text - (size_t)used);
}

__attribute__((format(printf, 5, 0))) static void add(struct diag *diag, enum status status,
                                                      const char *kind, struct place at,
                                                      const char *format, va_list arguments)
{
    uint64_t *count = status == STATUS_OK ? &diag->warning_count : &diag->error_count;
    if (status != STATUS_OK && diag->first == STATUS_OK) diag->first = status;
    if ((*count)++ >= LIMIT_DIAG_PROBLEMS) return;
    render(&diag->problems[diag->problem_count++], kind, &at, format, arguments);
}

enum status diag_error(struct diag *diag, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diag, STATUS_INPUT, "error: ", at, format, arguments);
    va_end(arguments);
    return STATUS_INPUT;
}

enum status diag_usage(struct diag *diag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diag, STATUS_INPUT, "", (struct place){ 0 }, format, arguments);
    va_end(arguments);
    return STATUS_INPUT;
}

enum status diag_world(struct diag *diag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diag, STATUS_WORLD, "", (struct place){ 0 }, format, arguments);
    va_end(arguments);
    return STATUS_WORLD;
}

enum status diag_world_at(struct diag *diag, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diag, STATUS_WORLD, "error: ", at, format, arguments);
    va_end(arguments);
    return STATUS_WORLD;
}

void diag_warn(struct diag *diag, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diag, STATUS_OK, "warning: ", at, format, arguments);
    va_end(arguments);
}

uint64_t diag_error_count(const struct diag *diag)
{
    return diag->error_count;
}
enum status diag_status(const struct diag *diag)
{
    return diag->first;
}

static void print_rest(uint64_t count, const char *what, FILE *out)
{
    if (count == LIMIT_DIAG_PROBLEMS)
        fprintf(out, "gpuplan: %d %s shown, there may be more\n", LIMIT_DIAG_PROBLEMS, what);
    if (count > LIMIT_DIAG_PROBLEMS)
        fprintf(out, "gpuplan: and %" PRIu64 " more %s\n", count - LIMIT_DIAG_PROBLEMS, what);
}

void diag_print(const struct diag *diag, FILE *out)
{
    for (size_t i = 0; i < diag->problem_count; i++) fputs(diag->problems[i].text, out);
    print_rest(diag->error_count, "errors", out);
    print_rest(diag->warning_count, "warnings", out);
}
