/* db.h - SQLite with every result checked; sqlite3.h is included by db.c only.
 *
 * A call that fails says so once in the diag given at db_open, with the file and the reason, and
 * returns STATUS_WORLD (disk full, locked, unreadable) or STATUS_INPUT (not such a database). SQL
 * text is always a constant of the program; data goes in by db_put_*, in the order of its
 * parameters, and comes out by db_take_*, in the order of its columns (P91). Errors of put and
 * take are kept in the query and returned by the next db_run or db_next. */
#ifndef GPUPLAN_IO_DB_H
#define GPUPLAN_IO_DB_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_query;

enum db_mode {
    DB_READ,   /* an existing file, not written but for the roll-back of a killed run; its schema not trusted */
    DB_CREATE, /* a new file; the caller has made sure that none is there        */
    DB_APPEND, /* an existing file, read and written                             */
    DB_MEMORY, /* no file; path is a name for messages                           */
};

/* Opens a database; the diag is borrowed until db_close. A path is always a file name: ":memory:"
 * and "file:..." have no other meaning. Writers hold the file's lock from their first statement to
 * db_close, so a second writer is refused, and keep a rollback journal beside it (P93). */
enum status db_open(const char *path, enum db_mode mode, struct db **db, struct diag *diag);

/* Closes the database after every query was finished; NULL is allowed. */
enum status db_close(struct db *db);

/* Name of the file as given, and the diag. */
const char *db_path(const struct db *db);
struct diag *db_diag(const struct db *db);
void db_report_to(struct db *db, struct diag *diag); /* replaces the diag of db_open */

/* Runs statements without parameters or result. */
enum status db_exec(struct db *db, const char *sql);

/* Undoes an open transaction after a failure, without adding a second message. */
void db_rollback(struct db *db);

/* Prepares one statement; on failure *query is NULL. */
enum status db_prepare(struct db *db, const char *sql, struct db_query **query);
void db_finish(struct db_query *query); /* NULL is allowed */

/* Values of the next parameters. Doubles must be finite (asserted, P92). Text is copied when the
 * query runs: it must live until db_run, or the first db_next, returns. */
void db_put_int(struct db_query *query, int64_t value);
void db_put_double(struct db_query *query, double value);
void db_put_text(struct db_query *query, const char *text, size_t text_bytes);
void db_put_name(struct db_query *query, const char *text); /* ends in NUL */
void db_put_null(struct db_query *query);

/* Runs a statement without result and makes it ready for the next values. */
enum status db_run(struct db_query *query);

/* Moves to the next row; *has_row is false behind the last, and the query is ready for new
 * parameters. Reports what a take of the row before has found. */
enum status db_next(struct db_query *query, bool *has_row);

enum db_type { DB_NULL, DB_INT, DB_DOUBLE, DB_TEXT, DB_BLOB };

/* Type of the value that the next take returns. */
enum db_type db_peek(const struct db_query *query);

/* The next column. A value of another type is an error of the file (a whole number is allowed as a
 * double) and gives 0 or "". Text is borrowed until the next call of db_next. */
int64_t db_take_int(struct db_query *query);
double db_take_double(struct db_query *query);
const char *db_take_text(struct db_query *query, size_t *text_bytes /* may be NULL */);
const void *db_take_blob(struct db_query *query, size_t *bytes);
void db_skip(struct db_query *query);

/* One whole number: SELECT with a single row and column. */
enum status db_read_int(struct db *db, const char *sql, int64_t *value);

#endif
