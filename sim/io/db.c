/* db.c - see db.h. */
#include "io/db.h"

#include "base/assert.h"
#include "base/text.h"

#include <sqlite3.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A reader waits this long for a writer to end; a second writer is refused at once, since the first
 * holds the file for its whole run. */
enum { BUSY_MS = 5000 };

struct db {
    sqlite3 *handle;
    struct diag *diag;
    enum db_mode mode;
    char path[LIMIT_PATH_BYTES];
};

struct db_query {
    struct db *db;
    sqlite3_stmt *statement;
    int parameter, column; /* the next to put, the next to take                          */
    int put_result;        /* first failure of a put, or SQLITE_OK                        */
    int bad_column;        /* column whose type was wrong, from 1; 0 = none               */
    bool has_row;
};

static struct place place_of(const struct db *db)
{
    return (struct place){ .file = db->path };
}

/* Says what failed. A file that is no database, or a broken one, is the user's input when we only
 * read it; everything else is the world's. */
static enum status failed(struct db *db, int result)
{
    const int last = errno;
    const int code = result & 0xff;
    if (code == SQLITE_NOTADB)
        return diag_error(db->diag, place_of(db), "not a result database of gpuplan");
    if (db->mode == DB_READ && (code == SQLITE_CORRUPT || code == SQLITE_ERROR))
        return diag_error(db->diag, place_of(db), "not readable as a result database: %s",
                          sqlite3_errmsg(db->handle));
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return diag_world(db->diag, "%s: in use by another run; wait for it or choose another file",
                          db->path);
    /* SQLite forgets the reason of a failed write; errno is still that of the last system call. */
    const int known = sqlite3_system_errno(db->handle);
    const int why = known != 0 ? known : last;
    const bool with_reason = why != 0 && (code == SQLITE_IOERR || code == SQLITE_CANTOPEN);
    return diag_world(db->diag, "%s: %s%s%s", db->path, sqlite3_errmsg(db->handle),
                      with_reason ? ": " : "", with_reason ? strerror(why) : "");
}

/* ---- databases ---- */

/* Debian's SQLite reads "file:" as a URI and ":memory:" as no file at all: "./" in front of a
 * relative name takes that meaning away. */
static enum status open_handle(struct db *db, const char *path)
{
    static const int flags[] = {
        /* Not READONLY: what a killed run left beside the file must be rolled back before it can be
         * read. SQLite falls back to read-only by itself, and query_only refuses every write. */
        [DB_READ] = SQLITE_OPEN_READWRITE,
        [DB_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        [DB_APPEND] = SQLITE_OPEN_READWRITE,
        [DB_MEMORY] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
    };
    char plain[LIMIT_PATH_BYTES + 2];
    snprintf(plain, sizeof plain, "%s%s", path[0] == '/' ? "" : "./", path);
    const int result =
        sqlite3_open_v2(db->mode == DB_MEMORY ? ":memory:" : plain, &db->handle,
                        flags[db->mode] | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (db->handle == NULL) return diag_world(db->diag, "%s: out of memory", path);
    return result == SQLITE_OK ? STATUS_OK : failed(db, result);
}

static enum status settle(struct db *db)
{
    int unused;
    sqlite3_busy_timeout(db->handle, db->mode == DB_READ ? BUSY_MS : 0);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, &unused);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &unused);
    if (db->mode == DB_READ)
        return db_exec(db, "PRAGMA query_only = 1; PRAGMA cell_size_check = 1;");
    /* synchronous NORMAL: a killed process loses nothing, and store_finish syncs the whole file
     * before it gets its final name. */
    return db_exec(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE;"
                       "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
                       "PRAGMA foreign_keys = 0;");
}

enum status db_open(const char *path, enum db_mode mode, struct db **out, struct diag *diag)
{
    *out = NULL;
    struct db *db = calloc(1, sizeof *db);
    if (db == NULL) return diag_world(diag, "%s: out of memory", path);
    db->diag = diag;
    db->mode = mode;
    if (!text_copy(db->path, sizeof db->path, path, strlen(path))) {
        free(db);
        return diag_usage(diag, "the database's path is longer than %d bytes",
                          LIMIT_PATH_BYTES - 1);
    }
    enum status status = open_handle(db, path);
    if (status == STATUS_OK) status = settle(db);
    if (status != STATUS_OK) {
        db_close(db);
        return status;
    }
    *out = db;
    return STATUS_OK;
}

enum status db_close(struct db *db)
{
    if (db == NULL) return STATUS_OK;
    enum status status = STATUS_OK;
    const int result = sqlite3_close(db->handle);
    if (result != SQLITE_OK) {
        status = failed(db, result);
        sqlite3_close_v2(db->handle);
    }
    free(db);
    return status;
}

const char *db_path(const struct db *db)
{
    return db->path;
}

struct diag *db_diag(const struct db *db)
{
    return db->diag;
}

void db_report_to(struct db *db, struct diag *diag)
{
    db->diag = diag;
}

enum status db_exec(struct db *db, const char *sql)
{
    const int result = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return result == SQLITE_OK ? STATUS_OK : failed(db, result);
}

void db_rollback(struct db *db)
{
    if (!sqlite3_get_autocommit(db->handle)) /* some failures have rolled back already */
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- queries ---- */

enum status db_prepare(struct db *db, const char *sql, struct db_query **out)
{
    *out = NULL;
    struct db_query *query = calloc(1, sizeof *query);
    if (query == NULL) return diag_world(db->diag, "%s: out of memory", db->path);
    query->db = db;
    const int result = sqlite3_prepare_v2(db->handle, sql, -1, &query->statement, NULL);
    if (result != SQLITE_OK) {
        free(query);
        return failed(db, result);
    }
    *out = query;
    return STATUS_OK;
}

void db_finish(struct db_query *query)
{
    if (query == NULL) return;
    sqlite3_finalize(query->statement); /* repeats the last failure, which was reported */
    free(query);
}

static void note_put(struct db_query *query, int result)
{
    if (query->put_result == SQLITE_OK) query->put_result = result;
}

void db_put_int(struct db_query *query, int64_t value)
{
    note_put(query, sqlite3_bind_int64(query->statement, ++query->parameter, value));
}

void db_put_double(struct db_query *query, double value)
{
    ASSERT(isfinite(value));
    note_put(query, sqlite3_bind_double(query->statement, ++query->parameter, value));
}

void db_put_text(struct db_query *query, const char *text, size_t text_bytes)
{
    note_put(query, sqlite3_bind_text64(query->statement, ++query->parameter, text, text_bytes,
                                        SQLITE_STATIC, SQLITE_UTF8));
}

void db_put_name(struct db_query *query, const char *text)
{
    db_put_text(query, text, strlen(text));
}

void db_put_null(struct db_query *query)
{
    note_put(query, sqlite3_bind_null(query->statement, ++query->parameter));
}

/* Back to the state before the first put. */
static void rewind_query(struct db_query *query)
{
    sqlite3_reset(query->statement);
    query->parameter = query->column = query->bad_column = 0;
    query->put_result = SQLITE_OK;
    query->has_row = false;
}

static enum status fail_query(struct db_query *query, int result)
{
    const enum status status = failed(query->db, result);
    rewind_query(query);
    return status;
}

static enum status check_taken(struct db_query *query)
{
    if (query->bad_column == 0) return STATUS_OK;
    const int column = query->bad_column;
    rewind_query(query);
    return diag_error(query->db->diag, place_of(query->db),
                      "column '%s' holds a value of another type than gpuplan writes",
                      sqlite3_column_name(query->statement, column - 1));
}

enum status db_run(struct db_query *query)
{
    bool has_row;
    TRY(db_next(query, &has_row));
    ASSERT(!has_row);
    return STATUS_OK;
}

enum status db_next(struct db_query *query, bool *has_row)
{
    *has_row = false;
    TRY(check_taken(query));
    if (!query->has_row) ASSERT(query->parameter == sqlite3_bind_parameter_count(query->statement));
    if (query->put_result != SQLITE_OK) return fail_query(query, query->put_result);
    const int result = sqlite3_step(query->statement);
    query->column = 0;
    if (result == SQLITE_ROW) {
        query->has_row = *has_row = true;
        return STATUS_OK;
    }
    if (result != SQLITE_DONE) return fail_query(query, result);
    rewind_query(query);
    return STATUS_OK;
}

/* ---- columns ---- */

enum db_type db_peek(const struct db_query *query)
{
    ASSERT(query->has_row && query->column < sqlite3_column_count(query->statement));
    switch (sqlite3_column_type(query->statement, query->column)) {
    case SQLITE_INTEGER:
        return DB_INT;
    case SQLITE_FLOAT:
        return DB_DOUBLE;
    case SQLITE_TEXT:
        return DB_TEXT;
    case SQLITE_BLOB:
        return DB_BLOB;
    default:
        return DB_NULL;
    }
}

/* The index of the next column; `fits` is whether its type is the wanted one. */
static int take(struct db_query *query, bool fits)
{
    if (!fits && query->bad_column == 0) query->bad_column = query->column + 1;
    return query->column++;
}

int64_t db_take_int(struct db_query *query)
{
    const bool fits = db_peek(query) == DB_INT;
    const int column = take(query, fits);
    return fits ? sqlite3_column_int64(query->statement, column) : 0;
}

double db_take_double(struct db_query *query)
{
    const enum db_type type = db_peek(query);
    double value = 0;
    if (type == DB_DOUBLE || type == DB_INT)
        value = sqlite3_column_double(query->statement, query->column);
    const bool fits = (type == DB_DOUBLE || type == DB_INT) && isfinite(value);
    take(query, fits);
    return fits ? value : 0;
}

const char *db_take_text(struct db_query *query, size_t *text_bytes)
{
    const bool fits = db_peek(query) == DB_TEXT;
    const int column = take(query, fits);
    const char *text = fits ? (const char *)sqlite3_column_text(query->statement, column) : NULL;
    if (text_bytes != NULL)
        *text_bytes = text != NULL ? (size_t)sqlite3_column_bytes(query->statement, column) : 0;
    return text != NULL ? text : "";
}

const void *db_take_blob(struct db_query *query, size_t *bytes)
{
    const int column = take(query, db_peek(query) == DB_BLOB);
    *bytes = (size_t)sqlite3_column_bytes(query->statement, column);
    return sqlite3_column_blob(query->statement, column);
}

void db_skip(struct db_query *query)
{
    take(query, true);
}

enum status db_read_int(struct db *db, const char *sql, int64_t *value)
{
    struct db_query *query;
    TRY(db_prepare(db, sql, &query));
    bool has_row;
    enum status status = db_next(query, &has_row);
    if (status == STATUS_OK && !has_row)
        status = diag_error(db->diag, place_of(db), "not a result database of gpuplan");
    if (status == STATUS_OK) {
        *value = db_take_int(query);
        status = check_taken(query);
    }
    db_finish(query);
    return status;
}
