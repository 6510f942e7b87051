/* store_read.c - see store_read.h. The file may come from anywhere: types, ranges and counts are
 * checked on the way in. */
#include "io/store_read.h"

#include "base/text.h"
#include "io/db.h"
#include "io/digest.h"
#include "io/schema.h"
#include "ledger/results.h"
#include "spec/plan.h"

#include <stdlib.h>
#include <string.h>

/* Of the campaign: 128 layout variants, 10,000 replicas and some hundred metrics stay below. */
enum { READ_ROWS_MAX = 200000000 };

struct reader {
    struct db *db;
    struct db_query *query;
    struct stored *stored;
};

static struct place whole_file(const struct reader *reader)
{
    return (struct place){ .file = db_path(reader->db) };
}

static enum status bad_row(const struct reader *reader, const char *table)
{
    return diag_error(db_diag(reader->db), whole_file(reader),
                      "table '%s' holds a row that gpuplan does not write", table);
}

static enum status keep(const struct reader *reader, struct log *log, const void *item)
{
    if (log_append(log, item)) return STATUS_OK;
    return diag_world(db_diag(reader->db), "%s: out of memory", db_path(reader->db));
}

static void take_name(struct reader *reader, char *out, size_t out_bytes)
{
    size_t bytes;
    const char *text = db_take_text(reader->query, &bytes);
    text_copy(out, out_bytes, text, bytes);
}

/* A whole number within [0, max]; what lies outside becomes max + 1. */
static uint32_t take_row(struct reader *reader, uint32_t max)
{
    const int64_t value = db_take_int(reader->query);
    return value >= 0 && value <= (int64_t)max ? (uint32_t)value : max + 1;
}

static uint32_t find_name(const char *const *names, uint32_t count, const char *name)
{
    uint32_t row = 0;
    while (row < count && strcmp(names[row], name) != 0) row++;
    return row;
}

/* ---- one function per table: takes the columns of one row ---- */

static enum status read_meta(struct reader *reader)
{
    struct stored_key row = { 0 };
    row.key = strdup(db_take_text(reader->query, NULL));
    row.value = strdup(db_take_text(reader->query, NULL));
    if (row.key != NULL && row.value != NULL && log_append(&reader->stored->meta, &row))
        return STATUS_OK;
    free(row.key);
    free(row.value);
    return diag_world(db_diag(reader->db), "%s: out of memory", db_path(reader->db));
}

static enum status read_layout(struct reader *reader)
{
    struct stored *stored = reader->stored;
    const int64_t id = db_take_int(reader->query);
    if (id != stored->layout_count || id >= LIMIT_LAYOUTS * LIMIT_SLACKS)
        return bad_row(reader, "layout");
    struct stored_layout *row = &stored->layouts[stored->layout_count++];
    take_name(reader, row->name, sizeof row->name);
    row->slack = (int32_t)db_take_int(reader->query);
    row->is_baseline = db_take_int(reader->query) != 0;
    take_name(reader, row->server_type, sizeof row->server_type);
    row->hypothetical = db_take_int(reader->query) != 0;
    row->servers = take_row(reader, LIMIT_GPUS);
    row->gpus_per_server = take_row(reader, LIMIT_GPUS_PER_SERVER);
    row->gpus = take_row(reader, LIMIT_GPUS);
    take_name(reader, row->gpu_type, sizeof row->gpu_type);
    take_name(reader, row->link_type, sizeof row->link_type);
    take_name(reader, row->fabric_type, sizeof row->fabric_type);
    row->nics_per_server = take_row(reader, INT32_MAX);
    row->oversubscription = db_take_double(reader->query);
    row->offered_load = db_take_double(reader->query);
    row->jobs_never_fit = (uint64_t)db_take_int(reader->query);
    row->unserved_gpu_s = db_take_double(reader->query);
    return STATUS_OK;
}

static enum status read_replica(struct reader *reader)
{
    struct stored_replica row = { 0 };
    row.layout = take_row(reader, LIMIT_LAYOUTS * LIMIT_SLACKS);
    row.replica = (int32_t)take_row(reader, LIMIT_REPLICAS) - 1; /* the query adds 1 */
    row.window_start_ns = db_take_int(reader->query);
    row.window_end_ns = db_take_int(reader->query);
    row.run_end_ns = db_take_int(reader->query);
    if (row.layout >= reader->stored->layout_count || row.replica >= LIMIT_REPLICAS ||
        row.run_end_ns < 0)
        return bad_row(reader, "replica");
    return keep(reader, &reader->stored->replicas, &row);
}

static enum status read_metric_row(struct reader *reader, const char *table,
                                   struct stored_metric *out)
{
    struct stored_metric row = { .setting = out->setting };
    char class[16];
    row.layout = take_row(reader, LIMIT_LAYOUTS * LIMIT_SLACKS);
    row.replica = take_row(reader, LIMIT_REPLICAS);
    take_name(reader, row.name, sizeof row.name);
    take_name(reader, class, sizeof class);
    take_name(reader, row.unit, sizeof row.unit);
    row.value = db_take_double(reader->query);
    row.class_ = (uint8_t)find_name(class_names, CLASSES, class);
    if (row.layout >= reader->stored->layout_count || row.replica >= LIMIT_REPLICAS ||
        row.class_ >= CLASSES)
        return bad_row(reader, table);
    *out = row;
    return STATUS_OK;
}

static enum status read_metric(struct reader *reader)
{
    struct stored_metric row = { 0 };
    TRY(read_metric_row(reader, "metric", &row));
    return keep(reader, &reader->stored->metrics, &row);
}

static enum status read_setting(struct reader *reader)
{
    struct stored_setting row = { 0 };
    const int64_t setting = db_take_int(reader->query);
    take_name(reader, row.axis, sizeof row.axis);
    row.factor = db_take_double(reader->query);
    if (setting != (int64_t)reader->stored->settings.count || setting >= LIMIT_SETTINGS)
        return bad_row(reader, "setting");
    return keep(reader, &reader->stored->settings, &row);
}

static enum status read_moved(struct reader *reader)
{
    struct stored_metric row = { .setting = take_row(reader, LIMIT_SETTINGS) };
    TRY(read_metric_row(reader, "tornado", &row));
    if (row.setting == 0 || row.setting >= reader->stored->settings.count)
        return bad_row(reader, "tornado");
    return keep(reader, &reader->stored->moved, &row);
}

static enum status read_blast(struct reader *reader)
{
    struct stored_blast row = { 0 };
    char component[16];
    row.layout = take_row(reader, LIMIT_LAYOUTS * LIMIT_SLACKS);
    take_name(reader, component, sizeof component);
    row.gpus_removed = take_row(reader, LIMIT_GPUS);
    row.component = (uint8_t)find_name(incident_component_names, COMPONENTS, component);
    if (row.layout >= reader->stored->layout_count || row.component >= COMPONENTS ||
        row.gpus_removed > LIMIT_GPUS)
        return bad_row(reader, "incident");
    return keep(reader, &reader->stored->blasts, &row);
}

static enum status read_import(struct reader *reader)
{
    struct stored_import row = { 0 };
    take_name(reader, row.outcome, sizeof row.outcome);
    take_name(reader, row.reason, sizeof row.reason);
    const int64_t rows = db_take_int(reader->query);
    if (rows < 0) return bad_row(reader, "import_report");
    row.rows = (uint64_t)rows;
    return keep(reader, &reader->stored->imports, &row);
}

static enum status read_gate(struct reader *reader)
{
    struct stored_gate row = { 0 };
    take_name(reader, row.metric, sizeof row.metric);
    take_name(reader, row.layout, sizeof row.layout);
    row.below = db_take_int(reader->query) != 0;
    row.bound = db_take_double(reader->query);
    return keep(reader, &reader->stored->gates, &row);
}

static enum status read_assumption(struct reader *reader)
{
    struct stored_assumption row = { 0 };
    take_name(reader, row.subject, sizeof row.subject);
    take_name(reader, row.name, sizeof row.name);
    take_name(reader, row.mark, sizeof row.mark);
    take_name(reader, row.source, sizeof row.source);
    return keep(reader, &reader->stored->assumptions, &row);
}

static const struct {
    const char *sql;
    enum status (*read)(struct reader *reader);
} tables[] = {
    { "SELECT key, value FROM meta ORDER BY key", read_meta },
    { "SELECT layout_id, name, slack, is_baseline, server_type, hypothetical, servers,"
      " gpus_per_server, gpus, gpu_type, link_type, fabric_type, nics_per_server, "
      "oversubscription, "
      "offered_load,"
      " jobs_never_fit, unserved_gpu_s FROM layout ORDER BY layout_id",
      read_layout },
    { "SELECT layout_id, replica + 1, window_start_ns, window_end_ns, run_end_ns FROM replica"
      " ORDER BY layout_id, replica",
      read_replica },
    { "SELECT layout_id, replica, name, class, unit, value FROM metric WHERE replica >= 0"
      " ORDER BY layout_id, replica, name, class",
      read_metric },
    { "SELECT setting, axis, factor FROM setting ORDER BY setting", read_setting },
    { "SELECT setting, layout_id, replica, name, class, unit, value FROM tornado"
      " WHERE name IN ('yield', 'effective_load', 'share_down', 'share_draining',"
      " 'completion_s_mean', 'jobs_done', 'common_completion_s_mean', 'common_jobs')"
      " ORDER BY setting, layout_id, replica, name, class",
      read_moved },
    { "SELECT layout_id, component, gpus_removed FROM incident WHERE replica = -1"
      " ORDER BY layout_id, component, incident",
      read_blast },
    { "SELECT outcome, reason, rows FROM import_report ORDER BY source, outcome, rows DESC, reason",
      read_import },
    { "SELECT metric, layout, below, bound FROM gate ORDER BY gate", read_gate },
    { "SELECT subject, name, mark, source FROM assumption ORDER BY subject, name",
      read_assumption },
};

static enum status read_rows(struct reader *reader, enum status (*read)(struct reader *reader))
{
    bool has_row;
    for (uint64_t rows = 0; rows < READ_ROWS_MAX; rows++) {
        TRY(db_next(reader->query, &has_row));
        if (!has_row) return STATUS_OK;
        TRY(read(reader));
    }
    return diag_error(db_diag(reader->db), whole_file(reader), "more than %d rows in one table",
                      READ_ROWS_MAX);
}

static enum status check_kind(const struct reader *reader)
{
    int64_t id = 0, version = 0;
    TRY(db_read_int(reader->db, "PRAGMA application_id", &id));
    TRY(db_read_int(reader->db, "PRAGMA user_version", &version));
    if (id != STORE_APPLICATION_ID)
        return diag_error(db_diag(reader->db), whole_file(reader),
                          "not a result database of gpuplan");
    if (version != STORE_VERSION)
        return diag_error(db_diag(reader->db), whole_file(reader),
                          "result database of form %lld; this program reads form %d",
                          (long long)version, STORE_VERSION);
    return STATUS_OK;
}

static enum status read_all(struct reader *reader)
{
    TRY(check_kind(reader));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        TRY(db_prepare(reader->db, tables[i].sql, &reader->query));
        const enum status status = read_rows(reader, tables[i].read);
        db_finish(reader->query);
        TRY(status);
    }
    if (reader->stored->layout_count == 0)
        return diag_error(db_diag(reader->db), whole_file(reader), "holds no layout");
    return STATUS_OK;
}

enum status store_read(const char *path, struct stored *stored, struct diag *diag)
{
    memset(stored, 0, sizeof *stored);
    log_init(&stored->meta, sizeof(struct stored_key), 0);
    log_init(&stored->replicas, sizeof(struct stored_replica), 0);
    log_init(&stored->metrics, sizeof(struct stored_metric), 0);
    log_init(&stored->settings, sizeof(struct stored_setting), 0);
    log_init(&stored->moved, sizeof(struct stored_metric), 0);
    log_init(&stored->blasts, sizeof(struct stored_blast), 0);
    log_init(&stored->imports, sizeof(struct stored_import), 0);
    log_init(&stored->gates, sizeof(struct stored_gate), 0);
    log_init(&stored->assumptions, sizeof(struct stored_assumption), 0);
    stored->layouts = calloc(LIMIT_LAYOUTS * LIMIT_SLACKS, sizeof *stored->layouts);
    if (stored->layouts == NULL) return diag_world(diag, "%s: out of memory", path);
    struct reader reader = { .stored = stored };
    TRY(db_open(path, DB_READ, &reader.db, diag));
    const enum status status = read_all(&reader);
    const enum status closed = db_close(reader.db);
    return status != STATUS_OK ? status : closed;
}

void stored_clear(struct stored *stored)
{
    for (uint64_t i = 0; i < stored->meta.count; i++) {
        free(LOG_ITEMS(&stored->meta, struct stored_key)[i].key);
        free(LOG_ITEMS(&stored->meta, struct stored_key)[i].value);
    }
    log_clear(&stored->meta);
    log_clear(&stored->replicas);
    log_clear(&stored->metrics);
    log_clear(&stored->settings);
    log_clear(&stored->moved);
    log_clear(&stored->blasts);
    log_clear(&stored->imports);
    log_clear(&stored->gates);
    log_clear(&stored->assumptions);
    free(stored->layouts);
    memset(stored, 0, sizeof *stored);
}

const char *stored_meta(const struct stored *stored, const char *key)
{
    const struct stored_key *rows = LOG_ITEMS(&stored->meta, const struct stored_key);
    for (uint64_t i = 0; i < stored->meta.count; i++)
        if (strcmp(rows[i].key, key) == 0) return rows[i].value;
    return NULL;
}

const char *stored_component_name(uint32_t component)
{
    return component < COMPONENTS ? incident_component_names[component] : NULL;
}

enum status store_digest(const char *path, const char *table, char out[33], struct diag *diag)
{
    struct reader reader = { 0 };
    TRY(db_open(path, DB_READ, &reader.db, diag));
    enum status status = check_kind(&reader);
    if (status == STATUS_OK) status = digest_database(reader.db, table, out);
    const enum status closed = db_close(reader.db);
    return status != STATUS_OK ? status : closed;
}
