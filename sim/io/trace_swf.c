/* trace_swf.c - the Standard Workload Format, version 2.2: 18 blank-separated fields a line, -1 = unknown, ';' begins a comment.
 *
 * Source: D. Feitelson, Parallel Workloads Archive, definition of the format. Memory per processor, queue, partition, group and
 * dependencies are not used. */
#include "io/trace_formats.h"

#include "base/clock.h"
#include "io/trace_number.h"

#include <string.h>

enum field {
    FIELD_ID,
    FIELD_SUBMIT,
    FIELD_WAIT,
    FIELD_RUN,
    FIELD_ALLOCATED,
    FIELD_CPU,
    FIELD_MEMORY,
    FIELD_REQUESTED,
    FIELD_LIMIT,
    FIELD_REQUESTED_MEMORY,
    FIELD_STATUS,
    FIELD_USER,
    FIELDS = 18
};

struct token {
    const char *at;
    size_t bytes;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Splits [at, end) at blanks; counts all tokens, keeps the first 18. */
static size_t split(const char *at, const char *end, struct token token[FIELDS])
{
    size_t count = 0;
    for (;;) {
        while (at < end && is_blank(*at)) at++;
        if (at == end) return count;
        const char *const from = at;
        while (at < end && !is_blank(*at)) at++;
        if (count < FIELDS) token[count] = (struct token){ from, (size_t)(at - from) };
        count++;
    }
}

static const char *line_end(const char *at, const char *end)
{
    const char *const found = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return found ? found : end;
}

bool trace_is_swf(const struct input *input)
{
    const char *at = input->bytes, *const end = at + input->byte_count;
    while (at < end && (is_blank(*at) || *at == '\n')) at++;
    if (at < end && *at == ';') return true;
    struct token token[FIELDS];
    int64_t value;
    if (split(at, line_end(at, end), token) < FIELDS) return false;
    for (int i = 0; i < FIELDS; i++)
        if (number_scaled(token[i].at, token[i].bytes, NUMBER_NS_DECIMALS, &value) != NUMBER_OK)
            return false;
    return true;
}

/* ---- fields -------------------------------------------------------------------------------- */

/* What is wrong with the row, and where. */
struct problem {
    const char *reason;
    const struct token *at;
};

static bool wrong(struct problem *problem, const struct token *at, const char *reason)
{
    *problem = (struct problem){ reason, at };
    return false;
}

static bool is_unknown(const struct token *token)
{
    return token->bytes == 2 && memcmp(token->at, "-1", 2) == 0;
}

static bool read_times(const struct token *token, struct trace_row *row, struct problem *problem)
{
    const struct token *const submit = &token[FIELD_SUBMIT], *const run = &token[FIELD_RUN];
    if (number_scaled(submit->at, submit->bytes, NUMBER_NS_DECIMALS, &row->submit_ns) != NUMBER_OK)
        return wrong(problem, submit, "submit time is not a number of seconds");
    if (row->submit_ns < 0) return wrong(problem, submit, "submit time is negative or unknown");
    if (is_unknown(run)) return wrong(problem, run, "run time is unknown (-1)");
    if (number_scaled(run->at, run->bytes, NUMBER_NS_DECIMALS, &row->duration_ns) != NUMBER_OK)
        return wrong(problem, run, "run time is not a number of seconds");
    if (row->duration_ns < 0) return wrong(problem, run, "run time is negative");
    if (row->duration_ns > LIMIT_SPAN_S * NS_PER_S)
        return wrong(problem, run, "run time is over 50 years");
    const struct token *const limit = &token[FIELD_LIMIT];
    if (number_scaled(limit->at, limit->bytes, NUMBER_NS_DECIMALS, &row->limit_ns) != NUMBER_OK)
        return wrong(problem, limit, "requested time is not a number of seconds");
    if (row->limit_ns <= 0) row->limit_ns = JOB_NO_LIMIT;
    return true;
}

static bool read_processors(const struct token *token, struct trace_row *row,
                            struct problem *problem)
{
    const struct token *const asked =
        is_unknown(&token[FIELD_REQUESTED]) ? &token[FIELD_ALLOCATED] : &token[FIELD_REQUESTED];
    int64_t processors;
    if (is_unknown(asked)) return wrong(problem, asked, "processors are unknown (-1)");
    if (number_count(asked->at, asked->bytes, &processors) != NUMBER_OK)
        return wrong(problem, asked, "processors are not a whole number");
    if (processors == 0) return wrong(problem, asked, "asks for 0 processors");
    if (processors < 0 || processors > LIMIT_GPUS)
        return wrong(problem, asked, "processors are out of range");
    row->gpus = (uint32_t)processors;
    return true;
}

/* Status: 0 failed, 1 completed, 2 to 4 parts of a checkpointed job, 5 cancelled; -1 or anything else says nothing. */
static bool is_left_out(const struct token *token, bool drop_failed, struct problem *problem)
{
    int64_t status;
    const struct token *const at = &token[FIELD_STATUS];
    if (number_count(at->at, at->bytes, &status) != NUMBER_OK) return false;
    if (status >= 2 && status <= 4)
        return !wrong(problem, at, "part of a checkpointed job (status 2, 3 or 4)");
    if (drop_failed && (status == 0 || status == 5))
        return !wrong(problem, at, "failed or cancelled (status 0 or 5)");
    return false;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static enum status row_read(struct trace_rows *rows, const struct token *token, size_t count)
{
    const char *const text = rows->input->bytes;
    struct trace_row row = { .offset = (size_t)(token[0].at - text) };
    struct problem problem;
    if (is_left_out(token, rows->options->drop_failed, &problem) ||
        !read_times(token, &row, &problem) || !read_processors(token, &row, &problem)) {
        trace_rows_skip(rows, problem.reason, (size_t)(problem.at->at - text), problem.at->bytes);
        return STATUS_OK;
    }
    TRY(trace_rows_id(rows, token[FIELD_ID].at, token[FIELD_ID].bytes, &row.id));
    const struct token *const user = &token[FIELD_USER];
    if (!is_unknown(user)) TRY(trace_rows_intern(rows, user->at, user->bytes, &row.user));
    if (count > FIELDS)
        trace_rows_repair(rows, "more than 18 fields, the rest is not read", row.offset, 1);
    return trace_rows_add(rows, &row, token[FIELD_SUBMIT].at, token[FIELD_SUBMIT].bytes);
}

static enum status too_few(struct trace_rows *rows, const struct token *first, size_t count)
{
    if (diag_error_count(rows->diag) >= LIMIT_DIAG_PROBLEMS) return STATUS_INPUT;
    const size_t offset = (size_t)(first->at - rows->input->bytes);
    diag_error(
        rows->diag,
        place_in_text(rows->input->name, rows->input->bytes, rows->input->byte_count, offset, 1),
        "a line of SWF has 18 fields, this one has %zu", count);
    return STATUS_OK;
}

enum status trace_read_swf(struct trace_rows *rows)
{
    const struct input *const input = rows->input;
    const char *const end = input->bytes + input->byte_count;
    const uint64_t errors_before = diag_error_count(rows->diag);
    snprintf(rows->report->format, sizeof rows->report->format, "swf");
    const char *const nul =
        input->byte_count ? memchr(input->bytes, '\0', input->byte_count) : NULL;
    if (nul != NULL)
        return diag_error(rows->diag,
                          place_in_text(input->name, input->bytes, input->byte_count,
                                        (size_t)(nul - input->bytes), 1),
                          "holds a NUL byte: not a text");
    for (const char *at = input->bytes, *stop; at < end; at = stop + 1) {
        struct token token[FIELDS];
        stop = line_end(at, end);
        const size_t count = split(at, stop, token);
        if (count == 0 || token[0].at[0] == ';') continue;
        if (count < FIELDS) {
            TRY(too_few(rows, &token[0], count));
            continue;
        }
        TRY(row_read(rows, token, count));
    }
    return diag_error_count(rows->diag) == errors_before ? STATUS_OK : STATUS_INPUT;
}
