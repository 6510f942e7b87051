/* store_curves.c - see store_curves.h. store_read has made sure of the kind of database. */
#include "io/store_curves.h"

#include "base/limits.h"
#include "io/db.h"

#include <math.h>
#include <string.h>

/* One GPU-second in the remainder's unit: units * ns (schema.h). */
static const double rest_per_gpu_s = (double)UNITS_PER_GPU * 1e9;

static enum status bad_row(struct db *db, const char *table)
{
    return diag_error(db_diag(db), (struct place){ .file = db_path(db) },
                      "table '%s' holds a row that gpuplan does not write", table);
}

/* A row number below max; what is outside becomes max, which the caller refuses. */
static uint32_t take_row(struct db_query *query, uint32_t max)
{
    const int64_t value = db_take_int(query);
    return value >= 0 && value < (int64_t)max ? (uint32_t)value : max;
}

static uint8_t take_name(struct db_query *query, const char *const *names, uint8_t count)
{
    const char *name = db_take_text(query, NULL);
    uint8_t row = 0;
    while (row < count && strcmp(names[row], name) != 0) row++;
    return row;
}

enum { LAYOUTS_MAX = LIMIT_LAYOUTS * LIMIT_SLACKS };

static enum status ledger_rows(struct db *db, struct db_query *query, store_ledger_visit *visit,
                               void *with)
{
    for (bool has_row;;) {
        TRY(db_next(query, &has_row));
        if (!has_row) return STATUS_OK;
        struct stored_ledger row = { .layout = take_row(query, LAYOUTS_MAX) };
        row.replica = take_row(query, LIMIT_REPLICAS);
        row.account = take_name(query, account_names, ACCOUNTS);
        row.class_ = take_name(query, class_names, CLASSES);
        row.gpu_s = (double)db_take_int(query);
        row.gpu_s += (double)db_take_int(query) / rest_per_gpu_s;
        if (row.layout == LAYOUTS_MAX || row.replica == LIMIT_REPLICAS || row.account == ACCOUNTS ||
            row.class_ == CLASSES)
            return bad_row(db, "ledger");
        visit(&row, with);
    }
}

static enum status curve_rows(struct db *db, struct db_query *query, store_curve_visit *visit,
                              void *with)
{
    for (bool has_row;;) {
        TRY(db_next(query, &has_row));
        if (!has_row) return STATUS_OK;
        struct stored_curve row = { .layout = take_row(query, LAYOUTS_MAX) };
        row.replica = take_row(query, LIMIT_REPLICAS);
        row.bin_start_s = db_take_double(query);
        row.bin_end_s = db_take_double(query);
        row.account = take_name(query, account_names, ACCOUNTS);
        row.gpu_s = db_take_double(query);
        if (row.layout == LAYOUTS_MAX || row.replica == LIMIT_REPLICAS || row.account == ACCOUNTS ||
            !(row.bin_start_s < row.bin_end_s) || !isfinite(row.gpu_s))
            return bad_row(db, "curve");
        visit(&row, with);
    }
}

enum status store_each_ledger(const char *path, store_ledger_visit *visit, void *with,
                              struct diag *diag)
{
    struct db *db = NULL;
    struct db_query *query = NULL;
    TRY(db_open(path, DB_READ, &db, diag));
    enum status status =
        db_prepare(db,
                   "SELECT layout_id, replica, account, class, gpu_s, gpu_rest FROM ledger"
                   " WHERE replica >= 0",
                   &query);
    if (status == STATUS_OK) status = ledger_rows(db, query, visit, with);
    db_finish(query);
    const enum status closed = db_close(db);
    return status != STATUS_OK ? status : closed;
}

enum status store_each_curve(const char *path, store_curve_visit *visit, void *with,
                             struct diag *diag)
{
    struct db *db = NULL;
    struct db_query *query = NULL;
    TRY(db_open(path, DB_READ, &db, diag));
    enum status status =
        db_prepare(db,
                   "SELECT layout_id, replica, bin_start_s, bin_end_s, account, gpu_s FROM curve"
                   " WHERE replica >= 0 AND gpu_s <> 0",
                   &query);
    if (status == STATUS_OK) status = curve_rows(db, query, visit, with);
    db_finish(query);
    const enum status closed = db_close(db);
    return status != STATUS_OK ? status : closed;
}
