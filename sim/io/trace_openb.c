/* trace_openb.c - pods of Alibaba's openb trace; see trace_formats.h.
 *
 * Source: hkust-adsl/kubernetes-scheduler-simulator, data/README.md; alibaba/clusterdata, cluster-trace-gpu-v2023. */
#include "io/trace_formats.h"

#include "base/clock.h"
#include "io/csv.h"
#include "io/trace_number.h"

#include <stdio.h>
#include <string.h>

enum column {
    COLUMN_NAME,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_GPUS,
    COLUMN_SHARE,
    REQUIRED_COLUMNS,
    COLUMN_TYPE = REQUIRED_COLUMNS,
    COLUMN_CREATED,
    COLUMN_DELETED,
    COLUMN_SCHEDULED,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "name",     "cpu_milli",     "memory_mib",    "num_gpu",        "gpu_milli",
    "gpu_spec", "creation_time", "deletion_time", "scheduled_time",
};

enum { WHOLE_GPU_MILLI = 1000 };
static const int64_t time_most_ns = LIMIT_SPAN_S * NS_PER_S;

struct reader {
    struct trace_rows *rows;
    struct csv csv;
    uint32_t column[COLUMNS]; /* of the file, UINT32_MAX = it has none                          */
    const char *wrong;        /* what is wrong with the row, NULL = nothing                     */
    const struct csv_field *wrong_at;
};

bool trace_is_openb(const struct input *input)
{
    struct csv csv;
    bool found = false;
    struct diag *diag = diag_create();
    const bool is_csv =
        diag && csv_begin(&csv, input->name, input->bytes, input->byte_count, diag) == STATUS_OK;
    if (is_csv) {
        csv_skip_comments(&csv);
        found = csv_next(&csv, &found) == STATUS_OK && found &&
                csv_column(&csv, names[COLUMN_CPU]) != UINT32_MAX &&
                csv_column(&csv, names[COLUMN_SHARE]) != UINT32_MAX;
    }
    diag_destroy(diag);
    return found;
}

static enum status header_read(struct reader *reader)
{
    const struct csv *const csv = &reader->csv;
    const uint64_t errors_before = diag_error_count(csv->diag);
    for (int c = 0; c < COLUMNS; c++) {
        reader->column[c] = csv_column(csv, names[c]);
        if (c < REQUIRED_COLUMNS && reader->column[c] == UINT32_MAX)
            diag_error(csv->diag, csv_record_place(csv),
                       "column '%s' is missing from this header (format openb)", names[c]);
        for (uint32_t i = reader->column[c]; i != UINT32_MAX && ++i < csv->field_count;)
            if (csv_is(&csv->fields[i], names[c]))
                diag_error(csv->diag, csv_place(csv, &csv->fields[i]),
                           "column '%s' stands here twice", names[c]);
    }
    return diag_error_count(csv->diag) == errors_before ? STATUS_OK : STATUS_INPUT;
}

/* ---- cells --------------------------------------------------------------------------------- */

static const struct csv_field *cell(const struct reader *reader, enum column column)
{
    return reader->column[column] == UINT32_MAX ? NULL
                                                : &reader->csv.fields[reader->column[column]];
}

static bool wrong(struct reader *reader, const struct csv_field *at, const char *what)
{
    reader->wrong = what;
    reader->wrong_at = at;
    return false;
}

/* A whole number of the row, 0 .. most. */
static bool read_count(struct reader *reader, enum column column, int64_t most, const char *what,
                       int64_t *out)
{
    const struct csv_field *const field = cell(reader, column);
    if (number_count(field->bytes, field->byte_count, out) == NUMBER_OK && *out >= 0 &&
        *out <= most)
        return true;
    return wrong(reader, field, what);
}

/* A time; *has is false where the row or the whole list has none. */
static bool read_time(struct reader *reader, enum column column, const char *what, int64_t *out,
                      bool *has)
{
    const struct csv_field *const field = cell(reader, column);
    *has = false;
    if (field == NULL) return true;
    const enum number_result result =
        number_scaled(field->bytes, field->byte_count, NUMBER_NS_DECIMALS, out);
    if (result == NUMBER_MISSING) return true;
    if (result != NUMBER_OK || *out < 0 || *out > time_most_ns) return wrong(reader, field, what);
    *has = true;
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* What a row says in numbers. */
struct pod {
    int64_t cpu_milli, memory_mib, gpus, gpu_milli;
    int64_t created_ns, deleted_ns, scheduled_ns;
    bool has_created, has_deleted, has_scheduled;
};

static bool read_pod(struct reader *reader, struct pod *pod)
{
    if (!read_count(reader, COLUMN_CPU, UINT32_MAX, "cpu_milli is not a whole number in range",
                    &pod->cpu_milli) ||
        !read_count(reader, COLUMN_MEMORY, INT64_C(1) << 40,
                    "memory_mib is not a whole number in range", &pod->memory_mib) ||
        !read_count(reader, COLUMN_GPUS, LIMIT_GPUS_PER_SERVER,
                    "num_gpu is not a whole number from 0 to 32", &pod->gpus))
        return false;
    pod->gpu_milli = WHOLE_GPU_MILLI;
    if (pod->gpus == 1 &&
        !read_count(reader, COLUMN_SHARE, WHOLE_GPU_MILLI,
                    "gpu_milli is not a whole number from 1 to 1000", &pod->gpu_milli))
        return false;
    if (pod->gpu_milli == 0)
        return wrong(reader, cell(reader, COLUMN_SHARE), "gpu_milli is 0 where num_gpu is 1");
    return read_time(reader, COLUMN_CREATED, "creation_time is not a number of seconds in range",
                     &pod->created_ns, &pod->has_created) &&
           read_time(reader, COLUMN_DELETED, "deletion_time is not a number of seconds in range",
                     &pod->deleted_ns, &pod->has_deleted) &&
           read_time(reader, COLUMN_SCHEDULED, "scheduled_time is not a number of seconds in range",
                     &pod->scheduled_ns, &pod->has_scheduled);
}

/* Without a row's own time for it. */
static void repair(struct reader *reader, const char *what)
{
    trace_rows_repair(reader->rows, what, reader->csv.record, 1);
}

static bool has_times(const struct reader *reader)
{
    return cell(reader, COLUMN_CREATED) && cell(reader, COLUMN_DELETED);
}

static bool set_times(struct reader *reader, const struct pod *pod, struct trace_row *row)
{
    row->limit_ns = JOB_NO_LIMIT;
    if (!has_times(reader)) {
        row->submit_ns = (int64_t)reader->rows->report->rows_read * NS_PER_S;
        row->duration_ns = 0;
        return true;
    }
    if (!pod->has_created)
        return wrong(reader, cell(reader, COLUMN_CREATED), "creation_time is missing");
    if (!pod->has_deleted)
        return wrong(reader, cell(reader, COLUMN_DELETED), "deletion_time is missing");
    const int64_t begun_ns = pod->has_scheduled ? pod->scheduled_ns : pod->created_ns;
    if (begun_ns < pod->created_ns)
        return wrong(reader, cell(reader, COLUMN_SCHEDULED),
                     "scheduled_time is before creation_time");
    if (pod->deleted_ns < begun_ns)
        return wrong(reader, cell(reader, COLUMN_DELETED), "deletion_time is before the pod began");
    row->submit_ns = pod->created_ns;
    row->duration_ns = pod->deleted_ns - begun_ns;
    return true;
}

static enum status set_ask(struct reader *reader, const struct pod *pod, struct trace_row *row)
{
    struct ask ask;
    memset(&ask, 0,
           sizeof ask); /* the bytes between its members too: asks are told apart by bytes */
    const bool is_share = pod->gpu_milli < WHOLE_GPU_MILLI;
    row->gpus = is_share ? 0 : (uint32_t)pod->gpus;
    ask.mem_mib = ask.mem_per_cpu_mib = ask.mem_per_gpu_mib = ASK_MEMORY_NONE;
    ask.pods = 1;
    ask.pod_gpus = row->gpus;
    ask.pod_cpu_milli = (uint32_t)pod->cpu_milli;
    ask.pod_memory_bytes = (uint64_t)pod->memory_mib << 20;
    ask.gpu_milli = is_share ? (uint32_t)pod->gpu_milli : 0;
    const struct csv_field *const type = cell(reader, COLUMN_TYPE);
    if (type != NULL && pod->gpus > 0)
        TRY(trace_rows_intern(reader->rows, type->bytes, type->byte_count, &ask.gpu_type));
    return trace_rows_ask(reader->rows, &ask, &row->ask);
}

static void skip_row(struct reader *reader)
{
    const struct csv_field *const at = reader->wrong_at;
    trace_rows_skip(reader->rows, reader->wrong,
                    at ? (size_t)(at->bytes - reader->csv.text) : reader->csv.record,
                    at && at->byte_count ? at->byte_count : 1);
}

static enum status row_read(struct reader *reader, uint32_t fields)
{
    struct trace_row row = { .offset = reader->csv.record };
    struct pod pod;
    reader->wrong = NULL;
    if (reader->csv.field_count != fields)
        wrong(reader, NULL, "row has more or fewer fields than the header");
    else if (cell(reader, COLUMN_NAME)->byte_count == 0)
        wrong(reader, cell(reader, COLUMN_NAME), "name is missing");
    if (reader->wrong || !read_pod(reader, &pod) || !set_times(reader, &pod, &row)) {
        skip_row(reader);
        return STATUS_OK;
    }
    if (!has_times(reader))
        repair(reader, "the list has no times: it can fill a cluster, not be replayed");
    else if (cell(reader, COLUMN_SCHEDULED) && !pod.has_scheduled)
        repair(reader, "the pod never got a node: its lifetime is taken as its duration");
    const struct csv_field *const name = cell(reader, COLUMN_NAME);
    const struct csv_field *const created = cell(reader, COLUMN_CREATED);
    TRY(trace_rows_id(reader->rows, name->bytes, name->byte_count, &row.id));
    TRY(set_ask(reader, &pod, &row));
    return trace_rows_add(reader->rows, &row, created ? created->bytes : "0",
                          created ? created->byte_count : 1);
}

enum status trace_read_openb(struct trace_rows *rows)
{
    struct reader reader;
    const struct input *const input = rows->input;
    memset(&reader, 0, sizeof reader);
    reader.rows = rows;
    bool found;
    snprintf(rows->report->format, sizeof rows->report->format, "openb");
    TRY(csv_begin(&reader.csv, input->name, input->bytes, input->byte_count, rows->diag));
    csv_skip_comments(&reader.csv);
    TRY(csv_next(&reader.csv, &found));
    if (!found)
        return diag_error(rows->diag, (struct place){ .file = input->name },
                          "is empty: not even a header");
    TRY(header_read(&reader));
    rows->timeless = !has_times(&reader);
    for (const uint32_t fields = reader.csv.field_count;;) {
        TRY(csv_next(&reader.csv, &found));
        if (!found) return STATUS_OK;
        TRY(row_read(&reader, fields));
    }
}
