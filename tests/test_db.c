/* test_db.c - every result of SQLite is checked, and data never becomes SQL. */
#include "fixture_store.h"

#include "io/db.h"

#include <math.h>

static void values_come_back(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    struct db_query *put, *get;
    assert_int_equal(db_open(f->path, DB_CREATE, &db, f->diag), STATUS_OK);
    assert_int_equal(db_exec(db, "CREATE TABLE t(a INTEGER, b REAL, c TEXT, d)"), STATUS_OK);
    assert_int_equal(db_prepare(db, "INSERT INTO t VALUES(?,?,?,?)", &put), STATUS_OK);
    db_put_int(put, INT64_MIN + 7);
    db_put_double(put, 0x1.fffffffffffffp-1022);
    db_put_text(put, "007\0b", 5);
    db_put_null(put);
    assert_int_equal(db_run(put), STATUS_OK);
    db_finish(put);
    assert_int_equal(db_prepare(db, "SELECT a, b, c, d FROM t", &get), STATUS_OK);
    bool row;
    assert_int_equal(db_next(get, &row), STATUS_OK);
    assert_true(row);
    assert_int_equal(db_take_int(get), INT64_MIN + 7);
    assert_true(db_take_double(get) == 0x1.fffffffffffffp-1022);
    size_t bytes;
    assert_memory_equal(db_take_text(get, &bytes), "007\0b", 5);
    assert_int_equal(bytes, 5);
    assert_int_equal(db_peek(get), DB_NULL);
    db_skip(get);
    assert_int_equal(db_next(get, &row), STATUS_OK);
    assert_false(row);
    db_finish(get);
    assert_int_equal(db_close(db), STATUS_OK);
}

static void hostile_text_is_data(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    struct db_query *put;
    int64_t count = -1;
    assert_int_equal(db_open(f->path, DB_CREATE, &db, f->diag), STATUS_OK);
    assert_int_equal(db_exec(db, "CREATE TABLE jobs(name TEXT)"), STATUS_OK);
    assert_int_equal(db_prepare(db, "INSERT INTO jobs VALUES(?)", &put), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        db_put_name(put, HOSTILE_NAME);
        assert_int_equal(db_run(put), STATUS_OK);
    }
    db_finish(put);
    assert_int_equal(db_read_int(db, "SELECT count(*) FROM jobs", &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(db_close(db), STATUS_OK);
}

/* A constraint that fails is reported, and the query can be used again. */
static void failures_are_reported_once(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    struct db_query *put;
    assert_int_equal(db_open(f->path, DB_CREATE, &db, f->diag), STATUS_OK);
    assert_int_equal(db_exec(db, "CREATE TABLE t(a INTEGER PRIMARY KEY)"), STATUS_OK);
    assert_int_equal(db_prepare(db, "INSERT INTO t VALUES(?)", &put), STATUS_OK);
    db_put_int(put, 5);
    assert_int_equal(db_run(put), STATUS_OK);
    db_put_int(put, 5);
    assert_int_equal(db_run(put), STATUS_WORLD);
    assert_int_equal(diag_error_count(f->diag), 1);
    db_put_int(put, 6);
    assert_int_equal(db_run(put), STATUS_OK);
    db_finish(put);
    assert_int_equal(db_close(db), STATUS_OK);
}

static void a_wrong_type_is_an_error_of_the_file(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    struct db_query *get;
    bool row;
    assert_int_equal(db_open("memory", DB_MEMORY, &db, f->diag), STATUS_OK);
    assert_int_equal(db_prepare(db, "SELECT 'eight' AS gpus", &get), STATUS_OK);
    assert_int_equal(db_next(get, &row), STATUS_OK);
    assert_int_equal(db_take_int(get), 0);
    assert_int_equal(db_next(get, &row), STATUS_INPUT);
    db_finish(get);
    assert_int_equal(db_prepare(db, "SELECT 9e999", &get), STATUS_OK); /* infinity */
    assert_int_equal(db_next(get, &row), STATUS_OK);
    assert_true(db_take_double(get) == 0);
    assert_int_equal(db_next(get, &row), STATUS_INPUT);
    db_finish(get);
    assert_int_equal(db_close(db), STATUS_OK);
}

static void a_missing_file_is_the_worlds(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    assert_int_equal(db_open(f->path, DB_READ, &db, f->diag), STATUS_WORLD);
    assert_null(db);
}

static void a_text_file_is_the_users(void **state)
{
    struct fixture *f = *state;
    FILE *file = fopen(f->path, "w");
    for (int i = 0; i < 300; i++) fputs("submit_s,duration_s,gpus\n", file);
    fclose(file);
    struct db *db = NULL;
    enum status status = db_open(f->path, DB_READ, &db, f->diag);
    int64_t value;
    if (status == STATUS_OK) status = db_read_int(db, "PRAGMA user_version", &value);
    assert_int_equal(status, STATUS_INPUT);
    db_close(db);
}

/* "file:x?mode=memory" is a file name, not a URI. */
static void a_path_has_no_second_meaning(void **state)
{
    struct fixture *f = *state;
    char before[LIMIT_PATH_BYTES];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    static const char *const names[] = { "file:x?mode=memory", ":memory:" };
    for (size_t i = 0; i < 2; i++) {
        struct db *db;
        assert_int_equal(db_open(names[i], DB_CREATE, &db, f->diag), STATUS_OK);
        assert_int_equal(db_exec(db, "CREATE TABLE t(a)"), STATUS_OK);
        assert_int_equal(db_close(db), STATUS_OK);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(chdir(before), 0);
}

static void a_second_writer_is_refused(void **state)
{
    struct fixture *f = *state;
    struct db *first, *second;
    assert_int_equal(db_open(f->path, DB_CREATE, &first, f->diag), STATUS_OK);
    assert_int_equal(db_exec(first, "CREATE TABLE t(a)"), STATUS_OK);
    enum status status = db_open(f->path, DB_APPEND, &second, f->diag);
    if (status == STATUS_OK) {
        status = db_exec(second, "BEGIN EXCLUSIVE");
        db_close(second);
    }
    assert_int_equal(status, STATUS_WORLD);
    assert_int_equal(db_close(first), STATUS_OK);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(values_come_back),
        ROW(hostile_text_is_data),
        ROW(failures_are_reported_once),
        ROW(a_wrong_type_is_an_error_of_the_file),
        ROW(a_missing_file_is_the_worlds),
        ROW(a_text_file_is_the_users),
        ROW(a_path_has_no_second_meaning),
        ROW(a_second_writer_is_refused),
    };
    return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
