/* trace_csv.c - job logs in CSV: which columns a format has is a row in a table, how a column is
 * read is common to all. */
#include "io/trace_formats.h"

#include "base/clock.h"
#include "base/int128.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/trace_clock.h"
#include "io/trace_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role {
    ROLE_ID,
    ROLE_SUBMIT,
    ROLE_DURATION,
    ROLE_GPUS,
    ROLE_LIMIT,
    ROLE_NODES,
    ROLE_CORES,
    ROLE_MEMORY,
    ROLE_USER,
    ROLE_MODEL,
    ROLE_PARTITION,
    ROLE_QOS,
    ROLE_ACCOUNT,
    ROLE_TEAM,
    ROLE_PRIORITY,
    ROLES
};

/* A format: the name of the column for each role; NULL where it has none. */
struct csv_log {
    enum trace_format format;
    const char *name;
    const char *column[ROLES];
    const char *telling[3]; /* a header with one of these is of this format                    */
    uint32_t required;      /* bit set of roles                                                */
    bool is_wall_clock;     /* submit is a date and time                                       */
    bool is_ours;           /* unknown columns are worth a word                                */
    const char *zone;       /* when none is given                                              */
};

#define BIT(role) (1u << (role))

static const struct csv_log logs[] = {
    { .format = TRACE_GPUPLAN,
      .name = "gpuplan",
      .column = { "job_id", "submit_s", "duration_s", "gpus", "limit_s", "nodes", "cores",
                  "memory_gib", "user", "model", "partition", "qos", "account", "team",
                  "priority" },
      .telling = { "submit_s", "duration_s", "gpus" },
      .required = BIT(ROLE_ID) | BIT(ROLE_SUBMIT) | BIT(ROLE_DURATION) | BIT(ROLE_GPUS),
      .is_ours = true },
    { .format = TRACE_ITP,
      .name = "itp",
      .column = { "job_id", "submission_time", "duration", "num_gpu" },
      .telling = { "submission_time" },
      .required = BIT(ROLE_ID) | BIT(ROLE_SUBMIT) | BIT(ROLE_DURATION) | BIT(ROLE_GPUS) },
    /* Jeon et al., USENIX ATC 2019: times are those of the cluster, US Pacific. */
    { .format = TRACE_PHILLY,
      .name = "philly",
      .column = { [ROLE_SUBMIT] = "timestamp",
                  [ROLE_DURATION] = "duration",
                  [ROLE_GPUS] = "num_gpus",
                  [ROLE_USER] = "cluster" },
      .telling = { "timestamp" },
      .required = BIT(ROLE_SUBMIT) | BIT(ROLE_DURATION) | BIT(ROLE_GPUS),
      .is_wall_clock = true,
      .zone = "America/Los_Angeles" },
};

enum { LOGS = sizeof logs / sizeof *logs };

struct reader {
    struct trace_rows *rows;
    const struct csv_log *log;
    struct zone zone;
    struct csv csv;
    uint32_t column[ROLES]; /* of the file, UINT32_MAX = it has none                           */
    uint32_t columns_least,
        columns_most;  /* fields a row must have                                 */
    const char *wrong; /* what is wrong with the row, NULL = nothing                      */
    const struct csv_field *wrong_at;
    enum role wrong_role;
    bool is_leap; /* the row's submit time is a leap second                          */
};

/* ---- header -------------------------------------------------------------------------------- */

static const struct csv_log *log_of_header(const struct csv *csv, enum trace_format format)
{
    for (int i = 0; i < LOGS; i++) {
        if (format == logs[i].format) return &logs[i];
        for (int k = 0; format == TRACE_AUTO && k < 3 && logs[i].telling[k]; k++)
            if (csv_column(csv, logs[i].telling[k]) != UINT32_MAX) return &logs[i];
    }
    return NULL;
}

/* In our own format a near miss is a slip of the pen, anything else is somebody's extra column. */
static void judge_unknown_column(const struct reader *reader, const struct csv_field *field)
{
    const char *names[ROLES];
    size_t count = 0;
    char name[LIMIT_NAME_BYTES];
    for (int role = 0; role < ROLES; role++) {
        if (csv_is(field, reader->log->column[role])) return;
        if (reader->column[role] == UINT32_MAX) names[count++] = reader->log->column[role];
    }
    text_copy(name, sizeof name, field->bytes, field->byte_count);
    const char *const near = field->byte_count ? text_nearest(name, names, count) : NULL;
    if (near != NULL)
        diag_error(reader->rows->diag, csv_place(&reader->csv, field),
                   "unknown column '%s'; did you mean '%s'?", name, near);
    else if (field->byte_count > 0)
        diag_warn(reader->rows->diag, csv_place(&reader->csv, field), "column '%s' is not read",
                  name);
}

static enum status refuse_repeated_columns(const struct reader *reader)
{
    const struct csv *const csv = &reader->csv;
    for (int role = 0; role < ROLES; role++) {
        if (reader->column[role] == UINT32_MAX) continue;
        for (uint32_t i = reader->column[role] + 1; i < csv->field_count; i++)
            if (csv_is(&csv->fields[i], reader->log->column[role]))
                return diag_error(csv->diag, csv_place(csv, &csv->fields[i]),
                                  "column '%s' stands here twice", reader->log->column[role]);
    }
    return STATUS_OK;
}

static enum status header_read(struct reader *reader)
{
    const struct csv *const csv = &reader->csv;
    const uint64_t errors_before = diag_error_count(csv->diag);
    for (int role = 0; role < ROLES; role++)
        reader->column[role] =
            reader->log->column[role] ? csv_column(csv, reader->log->column[role]) : UINT32_MAX;
    reader->columns_most = reader->columns_least = csv->field_count;
    while (reader->columns_least > 0 && csv->fields[reader->columns_least - 1].byte_count == 0)
        reader->columns_least--; /* unnamed last columns may be left out (P82) */
    TRY(refuse_repeated_columns(reader));
    for (uint32_t i = 0; reader->log->is_ours && i < csv->field_count; i++)
        judge_unknown_column(reader, &csv->fields[i]);
    if (diag_error_count(csv->diag) != errors_before) return STATUS_INPUT;
    for (int role = 0; role < ROLES; role++)
        if ((reader->log->required & BIT(role)) && reader->column[role] == UINT32_MAX)
            diag_error(csv->diag, csv_record_place(csv),
                       "column '%s' is missing from this header (format %s)",
                       reader->log->column[role], reader->log->name);
    return diag_error_count(csv->diag) == errors_before ? STATUS_OK : STATUS_INPUT;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* Notes the first thing that is wrong with the row; always returns false. */
static bool wrong(struct reader *reader, enum role role, const char *what)
{
    reader->wrong = what;
    reader->wrong_role = role;
    reader->wrong_at = &reader->csv.fields[reader->column[role]];
    return false;
}

static const struct csv_field *cell(const struct reader *reader, enum role role)
{
    return reader->column[role] == UINT32_MAX ? NULL : &reader->csv.fields[reader->column[role]];
}

/* A missing optional cell leaves *out as it is. Not negative. */
static bool read_scaled(struct reader *reader, enum role role, int decimals, int64_t *out)
{
    const struct csv_field *const field = cell(reader, role);
    if (field == NULL) return true;
    int64_t value;
    switch (number_scaled(field->bytes, field->byte_count, decimals, &value)) {
    case NUMBER_OK:
        break;
    case NUMBER_MISSING:
        return reader->log->required & BIT(role) ? wrong(reader, role, "is missing") : true;
    case NUMBER_RANGE:
        return wrong(reader, role, "is out of range; are these milliseconds?");
    default:
        return wrong(reader, role, "is not a number");
    }
    if (value < 0) return wrong(reader, role, "is negative");
    *out = value;
    return true;
}

static bool read_count(struct reader *reader, enum role role, uint32_t *out)
{
    const struct csv_field *const field = cell(reader, role);
    if (field == NULL) return true;
    int64_t value;
    switch (number_count(field->bytes, field->byte_count, &value)) {
    case NUMBER_OK:
        break;
    case NUMBER_MISSING:
        return reader->log->required & BIT(role) ? wrong(reader, role, "is missing") : true;
    case NUMBER_RANGE:
        return wrong(reader, role, "is out of range");
    case NUMBER_FRACTION:
        return wrong(reader, role, "is not a whole number");
    default:
        return wrong(reader, role, "is not a number");
    }
    if (value < 0) return wrong(reader, role, "is negative");
    if (value > UINT32_MAX) return wrong(reader, role, "is out of range");
    *out = (uint32_t)value;
    return true;
}

static const char *clock_problem(enum clock_result result)
{
    switch (result) {
    case CLOCK_OK:
    case CLOCK_LEAP:
        return NULL;
    case CLOCK_MISSING:
        return "is missing";
    case CLOCK_NO_ZONE:
        return "has no offset and no time zone is given (--tz)";
    case CLOCK_SKIPPED:
        return "does not exist in this time zone";
    case CLOCK_TWICE:
        return "exists twice in this time zone";
    case CLOCK_OUTSIDE:
        return "lies outside what is known of this time zone";
    case CLOCK_BAD:
        break;
    }
    return "is not a date and time like 2017-10-09 07:01:55";
}

static bool read_submit(struct reader *reader, int64_t *out)
{
    if (!reader->log->is_wall_clock)
        return read_scaled(reader, ROLE_SUBMIT, NUMBER_NS_DECIMALS, out);
    const struct csv_field *const field = cell(reader, ROLE_SUBMIT);
    const enum clock_result result =
        clock_read(field->bytes, field->byte_count, &reader->zone, out);
    const char *const problem = clock_problem(result);
    if (problem != NULL) return wrong(reader, ROLE_SUBMIT, problem);
    reader->is_leap = result == CLOCK_LEAP;
    return true;
}

static bool read_times(struct reader *reader, struct trace_row *row)
{
    if (!read_submit(reader, &row->submit_ns)) return false;
    if (!read_scaled(reader, ROLE_DURATION, NUMBER_NS_DECIMALS, &row->duration_ns)) return false;
    if (row->duration_ns > LIMIT_SPAN_S * NS_PER_S)
        return wrong(reader, ROLE_DURATION, "is over 50 years; are these milliseconds?");
    if (!read_scaled(reader, ROLE_LIMIT, NUMBER_NS_DECIMALS, &row->limit_ns)) return false;
    if (row->limit_ns == 0)
        return wrong(reader, ROLE_LIMIT, "is not above 0; leave it empty for none");
    return true;
}

static bool read_demands(struct reader *reader, struct trace_row *row)
{
    int64_t memory = 0; /* 1e-12 GiB */
    if (!read_count(reader, ROLE_GPUS, &row->gpus)) return false;
    if (row->gpus == 0) return wrong(reader, ROLE_GPUS, "asks for no GPU");
    if (row->gpus > LIMIT_GPUS) return wrong(reader, ROLE_GPUS, "is out of range");
    if (!read_count(reader, ROLE_NODES, &row->nodes)) return false;
    if (row->nodes > row->gpus) return wrong(reader, ROLE_NODES, "is more than the job's GPUs");
    if (!read_count(reader, ROLE_CORES, &row->cores)) return false;
    if (!read_scaled(reader, ROLE_MEMORY, NUMBER_GIB_DECIMALS, &memory)) return false;
    row->memory_bytes =
        (uint64_t)((((uint128)memory << 30) + NUMBER_GIB_SCALE / 2) / NUMBER_GIB_SCALE);
    return true;
}

static enum status text_of(struct reader *reader, enum role role, uint32_t *out)
{
    const struct csv_field *const field = cell(reader, role);
    if (field == NULL && role != ROLE_ID) return STATUS_OK;
    const char *bytes = field ? field->bytes : NULL;
    size_t count = field ? field->byte_count : 0;
    char *copy = NULL;
    if (field != NULL && field->has_doubled) {
        copy = malloc(count);
        if (copy == NULL) return diag_world(reader->rows->diag, "not enough memory for a field");
        count = csv_copy(field, copy);
        bytes = copy;
    }
    const enum status status = role == ROLE_ID ? trace_rows_id(reader->rows, bytes, count, out)
                                               : trace_rows_intern(reader->rows, bytes, count, out);
    free(copy);
    return status;
}

/* A whole number of 32 bits with a sign; empty is 0. */
static bool read_priority(struct reader *reader, int32_t *out)
{
    const struct csv_field *const field = cell(reader, ROLE_PRIORITY);
    int64_t value = 0;
    *out = 0;
    if (field == NULL) return true;
    switch (number_count(field->bytes, field->byte_count, &value)) {
    case NUMBER_OK:
        break;
    case NUMBER_MISSING:
        return true;
    case NUMBER_FRACTION:
        return wrong(reader, ROLE_PRIORITY, "is not a whole number");
    case NUMBER_RANGE:
        return wrong(reader, ROLE_PRIORITY, "is out of range");
    default:
        return wrong(reader, ROLE_PRIORITY, "is not a number");
    }
    if (value < INT32_MIN || value > INT32_MAX)
        return wrong(reader, ROLE_PRIORITY, "is out of range");
    *out = (int32_t)value;
    return true;
}

/* The words of a scheduler, where the log has such columns. */
static enum status set_words(struct reader *reader, int32_t priority, struct trace_row *row)
{
    bool has_words = false;
    for (int role = ROLE_PARTITION; role <= ROLE_PRIORITY; role++)
        has_words |= reader->column[role] != UINT32_MAX;
    if (!has_words) return STATUS_OK;
    struct job_words words = { .array_first_row = JOB_NONE,
                               .het_first_row = JOB_NONE,
                               .requeue = -1,
                               .priority = priority,
                               .user = row->user };
    TRY(text_of(reader, ROLE_PARTITION, &words.partition));
    TRY(text_of(reader, ROLE_QOS, &words.qos));
    TRY(text_of(reader, ROLE_ACCOUNT, &words.account));
    TRY(text_of(reader, ROLE_TEAM, &words.team));
    if (words.team == TEXT_NONE) words.team = row->user;
    return trace_rows_words(reader->rows, &words, &row->words);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Fields behind the last column may only be empty (P82). */
static bool has_right_width(struct reader *reader)
{
    const struct csv *const csv = &reader->csv;
    uint32_t count = csv->field_count;
    while (count > reader->columns_most && csv->fields[count - 1].byte_count == 0) count--;
    if (count >= reader->columns_least && count <= reader->columns_most) return true;
    reader->wrong = count < reader->columns_least ? "has fewer fields than the header"
                                                  : "has more fields than the header";
    reader->wrong_at = NULL;
    return false;
}

static void skip_row(struct reader *reader)
{
    char reason[96];
    const struct csv_field *const field = reader->wrong_at;
    if (field == NULL) {
        snprintf(reason, sizeof reason, "row %s", reader->wrong);
        trace_rows_skip(reader->rows, reason, reader->csv.record, 1);
        return;
    }
    snprintf(reason, sizeof reason, "%s %s", reader->log->column[reader->wrong_role],
             reader->wrong);
    trace_rows_skip(reader->rows, reason, (size_t)(field->bytes - reader->csv.text),
                    field->byte_count ? field->byte_count : 1);
}

static enum status row_read(struct reader *reader)
{
    struct trace_row row = { .limit_ns = JOB_NO_LIMIT, .offset = reader->csv.record };
    reader->wrong = NULL;
    if (has_right_width(reader) && cell(reader, ROLE_ID) && cell(reader, ROLE_ID)->byte_count == 0)
        wrong(reader, ROLE_ID, "is missing");
    int32_t priority;
    if (reader->wrong || !read_times(reader, &row) || !read_demands(reader, &row) ||
        !read_priority(reader, &priority)) {
        skip_row(reader);
        return STATUS_OK;
    }
    TRY(text_of(reader, ROLE_ID, &row.id));
    TRY(text_of(reader, ROLE_USER, &row.user));
    TRY(text_of(reader, ROLE_MODEL, &row.model));
    TRY(set_words(reader, priority, &row));
    const struct csv_field *const submit = cell(reader, ROLE_SUBMIT);
    if (reader->is_leap)
        trace_rows_repair(reader->rows, "leap second read as :59",
                          (size_t)(submit->bytes - reader->csv.text), submit->byte_count);
    return trace_rows_add(reader->rows, &row, submit->bytes, submit->byte_count);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static enum status zone_choose(struct reader *reader)
{
    struct import_report *const report = reader->rows->report;
    const char *zone = reader->rows->options->zone;
    const bool is_given = zone != NULL && zone[0] != '\0';
    if (!reader->log->is_wall_clock) return STATUS_OK;
    if (!is_given) zone = reader->log->zone;
    TRY(zone_open(zone, &reader->zone, reader->rows->diag));
    snprintf(report->zone, sizeof report->zone, "%s%s", zone,
             is_given ? "" : " (default of the format)");
    return STATUS_OK;
}

static enum status rows_read(struct reader *reader)
{
    for (;;) {
        bool found;
        TRY(csv_next(&reader->csv, &found));
        if (!found) return STATUS_OK;
        TRY(row_read(reader));
    }
}

static enum status unknown_format(const struct csv *csv)
{
    return diag_error(
        csv->diag, csv_record_place(csv),
        "no known job log has this header. Known are: job_id,submit_s,duration_s,gpus (gpuplan); "
        "job_id,submission_time,duration,num_gpu (itp); timestamp,duration,num_gpus (philly); "
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli (openb); "
        "18 blank-separated numbers (swf)");
}

enum status trace_read_csv(struct trace_rows *rows, enum trace_format format)
{
    struct reader reader;
    const struct input *const input = rows->input;
    memset(&reader, 0, sizeof reader);
    reader.rows = rows;
    bool found;
    TRY(csv_begin(&reader.csv, input->name, input->bytes, input->byte_count, rows->diag));
    csv_skip_comments(&reader.csv);
    TRY(csv_next(&reader.csv, &found));
    if (!found)
        return diag_error(rows->diag, (struct place){ .file = input->name },
                          "is empty: not even a header");
    reader.log = log_of_header(&reader.csv, format);
    if (reader.log == NULL) return unknown_format(&reader.csv);
    snprintf(rows->report->format, sizeof rows->report->format, "%s", reader.log->name);
    TRY(header_read(&reader));
    TRY(zone_choose(&reader));
    enum status status = rows_read(&reader);
    zone_clear(&reader.zone);
    if (status == STATUS_OK && reader.log->format == TRACE_PHILLY)
        status = trace_rows_count_duplicates(rows);
    return status;
}
