/* test_digest.c - equal content, equal digest; any other value, another digest. */
#include "fixture_store.h"

#include "io/db.h"
#include "io/digest.h"
#include "io/schema.h"
#include "io/store_read.h"

enum { REPLICAS = 2 };

/* Stores layouts x replicas, backwards when asked, and returns the digest. */
static void digest_of_run(struct fixture *f, bool backwards, double yield, char out[33])
{
    struct store *store;
    assert_int_equal(store_open(f->path, &f->plan, &store, f->diag), STATUS_OK);
    for (uint32_t step = 0; step < 2 * REPLICAS; step++) {
        const uint32_t row = backwards ? 2 * REPLICAS - 1 - step : step;
        struct replica_result r = fixture_result(row / REPLICAS, row % REPLICAS);
        r.seconds = backwards ? 7.25 : 0.5; /* volatile */
        fixture_metric(&r, "yield", "1", CLASS_NONE, yield + 0.001 * row);
        fixture_incident(&r, COMPONENT_SERVER, 7, 8);
        fixture_store(store, &r, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(store_digest(f->path, NULL, out, f->diag), STATUS_OK);
    assert_int_equal(strlen(out), 32);
    assert_int_equal(strspn(out, "0123456789abcdef"), 32);
}

static void order_and_wall_time_do_not_matter(void **state)
{
    struct fixture *f = *state;
    char one[33], two[33];
    digest_of_run(f, false, 0.75, one);
    snprintf(f->scenario.path, sizeof f->scenario.path, "elsewhere/hand.yaml");
    snprintf(f->import.source, sizeof f->import.source, "elsewhere/hand.csv");
    digest_of_run(f, true, 0.75, two);
    assert_string_equal(one, two);
}

static void resumed_equals_unbroken(void **state)
{
    struct fixture *f = *state;
    char one[33], two[33];
    digest_of_run(f, false, 0.75, one);
    struct store *store;
    assert_int_equal(store_open(f->path, &f->plan, &store, f->diag), STATUS_OK);
    for (uint32_t step = 0; step < 2 * REPLICAS; step++) {
        if (step == 3) {
            store_abandon(store);
            assert_int_equal(store_resume(f->path, &f->plan, &store, f->diag), STATUS_OK);
        }
        struct replica_result r = fixture_result(step / REPLICAS, step % REPLICAS);
        fixture_metric(&r, "yield", "1", CLASS_NONE, 0.75 + 0.001 * step);
        fixture_incident(&r, COMPONENT_SERVER, 7, 8);
        fixture_store(store, &r, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(store_digest(f->path, NULL, two, f->diag), STATUS_OK);
    assert_string_equal(one, two);
}

/* One unit in the last place of one double. */
static void the_last_bit_matters(void **state)
{
    struct fixture *f = *state;
    char one[33], two[33];
    digest_of_run(f, false, 0.75, one);
    digest_of_run(f, false, 0x1.8000000000001p-1, two);
    assert_string_not_equal(one, two);
}

static void seed_matters(void **state)
{
    struct fixture *f = *state;
    char one[33], two[33];
    digest_of_run(f, false, 0.75, one);
    f->scenario.seed++;
    digest_of_run(f, false, 0.75, two);
    assert_string_not_equal(one, two);
}

static void one_table(void **state)
{
    struct fixture *f = *state;
    char all[33], before[33], after[33];
    digest_of_run(f, false, 0.75, all);
    assert_int_equal(store_digest(f->path, "metric", before, f->diag), STATUS_OK);
    assert_string_not_equal(all, before);
    f->scenario.seed++;
    digest_of_run(f, false, 0.75, all);
    assert_int_equal(store_digest(f->path, "metric", after, f->diag), STATUS_OK);
    assert_string_equal(before, after);
    assert_int_equal(store_digest(f->path, "metrik", after, f->diag), STATUS_INPUT);
}

/* The value of an integer and of a text or a double that looks like it are different contents. */
static void types_matter(void **state)
{
    struct fixture *f = *state;
    static const char *const values[] = { "7", "7.0", "'7'", "NULL", "x'37'" };
    char digests[5][33];
    for (int i = 0; i < 5; i++) {
        struct db *db;
        char sql[128];
        assert_int_equal(db_open("memory", DB_MEMORY, &db, f->diag), STATUS_OK);
        assert_int_equal(db_exec(db, "CREATE TABLE server(layout_id, server, leaf)"), STATUS_OK);
        snprintf(sql, sizeof sql, "INSERT INTO server VALUES(0, 0, %s)", values[i]);
        assert_int_equal(db_exec(db, sql), STATUS_OK);
        assert_int_equal(digest_database(db, "server", digests[i]), STATUS_OK);
        assert_int_equal(db_close(db), STATUS_OK);
        for (int j = 0; j < i; j++) assert_string_not_equal(digests[i], digests[j]);
    }
}

/* Every table of the schema is digested, with every column but the volatile one. */
static void list_covers_the_schema(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    struct db_query *query;
    bool row;
    assert_int_equal(db_open("memory", DB_MEMORY, &db, f->diag), STATUS_OK);
    assert_int_equal(db_exec(db, store_schema), STATUS_OK);
    assert_int_equal(db_prepare(db,
                                "SELECT name, (SELECT group_concat(c.name, ', ') FROM"
                                " pragma_table_info(t.name) c WHERE t.name <> 'replica' OR"
                                " c.name <> 'seconds') FROM sqlite_schema t WHERE type = 'table'",
                                &query),
                     STATUS_OK);
    int tables = 0, listed = 0;
    while (db_next(query, &row) == STATUS_OK && row) {
        char name[64];
        snprintf(name, sizeof name, "%s", db_take_text(query, NULL));
        const char *columns = digest_columns(name);
        if (columns == NULL) fail_msg("table '%s' is not digested", name);
        assert_string_equal(columns, db_take_text(query, NULL));
        tables++;
    }
    db_finish(query);
    assert_int_equal(db_close(db), STATUS_OK);
    while (digest_tables[listed] != NULL) listed++;
    assert_int_equal(tables, listed);
}

/* The volatile keys exist (a renamed key would silently become digested). */
static void volatile_keys_exist(void **state)
{
    struct fixture *f = *state;
    char digest[33];
    digest_of_run(f, false, 0.75, digest);
    struct stored stored;
    assert_int_equal(store_read(f->path, &stored, f->diag), STATUS_OK);
    for (int i = 0; digest_volatile_meta[i] != NULL; i++)
        assert_non_null(stored_meta(&stored, digest_volatile_meta[i]));
    stored_clear(&stored);
}

static void foreign_file_is_refused(void **state)
{
    struct fixture *f = *state;
    char digest[33];
    struct db *db;
    assert_int_equal(db_open(f->path, DB_CREATE, &db, f->diag), STATUS_OK);
    assert_int_equal(db_exec(db, "CREATE TABLE meta(key, value)"), STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(store_digest(f->path, NULL, digest, f->diag), STATUS_INPUT);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(order_and_wall_time_do_not_matter),
        ROW(resumed_equals_unbroken),
        ROW(the_last_bit_matters),
        ROW(seed_matters),
        ROW(one_table),
        ROW(types_matter),
        ROW(list_covers_the_schema),
        ROW(volatile_keys_exist),
        ROW(foreign_file_is_refused),
    };
    return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
