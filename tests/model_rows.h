/* model_rows.h - rows of model cases: id,kind,func,inputs,output,expected,unit,rtol,atol,note
 * (MODELS 0.6).
 *
 * A row is put to a function as a query: the function reads its inputs by key with in() and offers
 * every output it has with put(); the one the row asks for is kept. Shared by oracle_models.c and
 * test_model_cases.c. */
#ifndef TESTS_MODEL_ROWS_H
#define TESTS_MODEL_ROWS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 4096, ROW_FIELDS = 10, LIST_MAX = 256 };

struct row {
    char line[ROW_BYTES]; /* cut into the fields below */
    const char *id, *kind, *func, *inputs, *output, *expected;
    double rtol, atol;
};

struct query {
    const struct row *row;
    char number_text[64];
    bool answered, is_text;
    double number;
    char text[128];
    char problem[128]; /* a missing or malformed input; "" when none */
};

/* --- reading a row ---------------------------------------------------------------------------- */

static inline bool number_of(const char *text, size_t bytes, double *number)
{
    char copy[64];
    if (bytes == 0 || bytes >= sizeof copy) return false;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    char *end;
    *number = strtod(copy, &end);
    return *end == '\0';
}

/* False when the line is not a row: the header, a blank line, too few fields. */
static inline bool row_parse(struct row *row)
{
    row->line[strcspn(row->line, "\r\n")] = '\0';
    const char *field[ROW_FIELDS];
    int count = 0;
    for (char *at = row->line; at && count < ROW_FIELDS;) {
        field[count++] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    if (count < ROW_FIELDS - 1 || strcmp(field[0], "id") == 0) return false;
    row->id = field[0];
    row->kind = field[1];
    row->func = field[2];
    row->inputs = field[3];
    row->output = field[4];
    row->expected = field[5];
    return number_of(field[7], strlen(field[7]), &row->rtol) &&
           number_of(field[8], strlen(field[8]), &row->atol);
}

/* --- inputs ------------------------------------------------------------------------------------
 */

/* The text of key=..., up to the next ';'. False when absent. */
static inline bool input_span(const struct query *q, const char *key, const char **text,
                              size_t *bytes)
{
    const size_t key_bytes = strlen(key);
    for (const char *at = q->row->inputs; at && *at;) {
        const size_t all = strcspn(at, ";");
        if (all > key_bytes && memcmp(at, key, key_bytes) == 0 && at[key_bytes] == '=') {
            *text = at + key_bytes + 1;
            *bytes = all - key_bytes - 1;
            return true;
        }
        at = at[all] ? at + all + 1 : NULL;
    }
    return false;
}

static inline void input_problem(struct query *q, const char *key)
{
    if (!q->problem[0]) snprintf(q->problem, sizeof q->problem, "input %s", key);
}

static inline bool has(const struct query *q, const char *key)
{
    const char *text;
    size_t bytes;
    return input_span(q, key, &text, &bytes);
}

/* A number; 0 with a problem noted when it is missing or malformed. */
static inline double in(struct query *q, const char *key)
{
    const char *text;
    size_t bytes;
    double number = 0;
    if (!input_span(q, key, &text, &bytes) || !number_of(text, bytes, &number))
        input_problem(q, key);
    return number;
}

static inline double in_or(struct query *q, const char *key, double absent)
{
    return has(q, key) ? in(q, key) : absent;
}

static inline uint32_t in_u32(struct query *q, const char *key)
{
    const double number = in(q, key);
    if (!(number >= 0 && number <= UINT32_MAX) || number != floor(number)) {
        input_problem(q, key);
        return 0;
    }
    return (uint32_t)number;
}

/* Text of an input, "" when absent. Valid until the next call. */
static inline const char *in_text(struct query *q, const char *key)
{
    static char copy[1024];
    const char *text;
    size_t bytes;
    copy[0] = '\0';
    if (!input_span(q, key, &text, &bytes) || bytes >= sizeof copy) {
        input_problem(q, key);
        return copy;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

static inline bool in_is(struct query *q, const char *key, const char *word)
{
    return strcmp(in_text(q, key), word) == 0;
}

/* Calls for items a|b|c of a list with sub-fields x:y:z or x+y+z: column `part` of each becomes a
 * number in out[]. part 0 of "name:3:4" is not a number: it stays 0 when `named`. Returns the
 * count. */
static inline size_t in_parts(struct query *q, const char *key, const char *separators, int part,
                              double out[LIST_MAX])
{
    const char *text;
    size_t bytes, count = 0;
    if (!input_span(q, key, &text, &bytes)) {
        input_problem(q, key);
        return 0;
    }
    for (const char *at = text, *end = text + bytes; at <= end && count < LIST_MAX; count++) {
        const char *stop = at;
        while (stop < end && *stop != '|') stop++;
        const char *from = at;
        for (int skip = part; skip > 0; skip--) {
            while (from < stop && !strchr(separators, *from)) from++;
            if (from < stop) from++;
        }
        const char *to = from;
        while (to < stop && !strchr(separators, *to)) to++;
        if (!number_of(from, (size_t)(to - from), &out[count])) input_problem(q, key);
        at = stop + 1;
    }
    return count;
}

/* A plain list a|b|c. */
static inline size_t in_list(struct query *q, const char *key, double out[LIST_MAX])
{
    return in_parts(q, key, "", 0, out);
}

/* --- outputs -----------------------------------------------------------------------------------
 */

static inline void put(struct query *q, const char *output, double value)
{
    if (strcmp(q->row->output, output) != 0) return;
    q->answered = true;
    q->number = value;
}

static inline void put_text(struct query *q, const char *output, const char *text)
{
    if (strcmp(q->row->output, output) != 0) return;
    q->answered = q->is_text = true;
    snprintf(q->text, sizeof q->text, "%s", text);
}

static inline void put_hex64(struct query *q, const char *output, uint64_t bits)
{
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)bits);
    put_text(q, output, text);
}

/* --- judging ------------------------------------------------------------------------------------
 */

/* What the query answered, as text. */
static inline const char *answer_text(struct query *q)
{
    if (q->problem[0]) return q->problem;
    if (!q->answered) return "no such output";
    if (q->is_text) return q->text;
    snprintf(q->number_text, sizeof q->number_text, "%.17g", q->number);
    return q->number_text;
}

/* |value - expected| <= rtol |expected| + atol; texts compare equal. */
static inline bool answer_is_right(const struct query *q)
{
    if (q->problem[0] || !q->answered) return false;
    if (q->is_text) return strcmp(q->text, q->row->expected) == 0;
    double want;
    if (!number_of(q->row->expected, strlen(q->row->expected), &want)) return false;
    if (isinf(want) || isinf(q->number)) return q->number == want;
    return fabs(q->number - want) <= q->row->rtol * fabs(want) + q->row->atol;
}

#endif
