/* test_store.c - what the engine leaves behind comes back from the file, exactly. */
#include "fixture_store.h"

#include "io/schema.h"
#include "io/store_read.h"

/* ---- what is stored ---- */

static void P93_the_name_appears_with_the_end(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(0, 0);
    fixture_store(store, &r, f->diag);
    assert_false(exists(f, "out.db"));
    assert_true(exists(f, "out.db.partial"));
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_true(exists(f, "out.db"));
    assert_false(exists(f, "out.db.partial"));
    assert_false(exists(f, "out.db.partial-journal"));
    assert_false(exists(f, "out.db-wal") || exists(f, "out.db-shm") || exists(f, "out.db-journal"));
    assert_int_equal(read_int(f, "PRAGMA application_id"), STORE_APPLICATION_ID);
    assert_int_equal(read_int(f, "PRAGMA user_version"), STORE_VERSION);
    assert_int_equal(read_int(f, "SELECT value = '1' FROM meta WHERE key = 'complete'"), 1);
}

/* The seed is text: 2^63 and more would turn negative (P92). */
static void plan_comes_back(void **state)
{
    struct fixture *f = *state;
    f->scenario.seed = UINT64_MAX - 4;
    f->scenario.layouts[1].server.mark = MARK_HYPOTHETICAL;
    write_two(f);
    char text[64];
    read_text(f, "SELECT value FROM meta WHERE key = 'seed'", text, sizeof text);
    assert_string_equal(text, "18446744073709551611");
    read_text(f, "SELECT value FROM meta WHERE key = 'scenario_text'", text, sizeof text);
    assert_string_equal(text, fixture_scenario_text);
    assert_int_equal(read_int(f, "SELECT sum(rows) FROM import_report WHERE outcome <> 'read'"), 4);
    read_text(f, "SELECT source FROM import_report LIMIT 1", text, sizeof text);
    assert_string_equal(text, "hand.csv");
    assert_int_equal(read_int(f, "SELECT count(*) FROM layout WHERE is_baseline"), 1);
    assert_int_equal(read_int(f, "SELECT hypothetical FROM layout WHERE name = 'sparse4'"), 1);
    assert_int_equal(read_int(f, "SELECT server_price_usd IS NULL FROM layout LIMIT 1"), 1);
    assert_int_equal(read_int(f, "SELECT count(*) FROM server"), 2 + 4);
    assert_int_equal(read_int(f, "SELECT leaf FROM server WHERE layout_id = 1 AND server = 3"), 1);
    assert_int_equal(read_int(f, "SELECT count(*) FROM gpu JOIN node USING(layout_id, node)"), 32);
    assert_int_equal(read_int(f, "SELECT node FROM gpu WHERE layout_id = 1 AND gpu = 11"), 2);
}

/* 5 GPU-seconds and 7 units * ns over; and 2^90, beyond 64 bits: quotient and
 * remainder by 1.008e15 from Python's whole numbers. */
static void ledger_split_is_exact(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(0, 0);
    r.ledger[ACC_LOST][CLASS_16_63] = (int128)5 * 1008000 * 1000000000 + 7;
    r.ledger[ACC_LOST][CLASS_64_UP] = (int128)1 << 90;
    fixture_store(store, &r, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
#define LOST(column, class)                                                                        \
    "SELECT " column " FROM ledger WHERE account = 'lost' AND class = '" class "'"
    assert_int_equal(read_int(f, LOST("gpu_s", "16-63")), 5);
    assert_int_equal(read_int(f, LOST("gpu_rest", "16-63")), 7);
    assert_int_equal(read_int(f, LOST("gpu_s", "64+")), INT64_C(1228115118338));
    assert_int_equal(read_int(f, LOST("gpu_rest", "64+")), INT64_C(676274899124224));
    assert_int_equal(read_int(f, "SELECT count(*) FROM ledger"), ACCOUNTS * CLASSES);
}

static void closure_view_closes(void **state)
{
    struct fixture *f = *state;
    write_two(f);
    assert_int_equal(read_int(f, "SELECT count(*) FROM closure"), 4);
    assert_int_equal(read_int(f, "SELECT count(*) FROM closure WHERE difference_gpu_s <> 0"), 0);
    assert_int_equal(read_int(f, "SELECT capacity_gpu_s FROM closure LIMIT 1"), 16 * 864000);
}

/* What differs between replicas is told to readers: chance is none only when nothing is drawn. */
static void chance_is_named(void **state)
{
    struct fixture *f = *state;
    char text[64];
    write_two(f);
    read_text(f, "SELECT value FROM meta WHERE key = 'chance'", text, sizeof text);
    assert_string_equal(text, "days faults");
    f->scenario.communication.mix[0].profile.spread = 0.2;
    f->scenario.failures.scale = 0;
    write_two(f);
    read_text(f, "SELECT value FROM meta WHERE key = 'chance'", text, sizeof text);
    assert_string_equal(text, "days profiles");
    f->scenario.communication.kind = COMM_NONE;
    f->scenario.resample = RESAMPLE_NONE;
    write_two(f);
    read_text(f, "SELECT value FROM meta WHERE key = 'chance'", text, sizeof text);
    assert_string_equal(text, "none");
    f->scenario.communication.kind = COMM_PROFILE;
    f->scenario.contention = NETWORK_ESTIMATE;
    f->scenario.layouts[1].fabric.routing = ROUTING_SAMPLED;
    assert_int_equal(store_finish(open_store(f), f->diag), STATUS_OK);
    read_text(f, "SELECT value FROM meta WHERE key = 'chance'", text, sizeof text);
    assert_non_null(strstr(text, "routing"));
}

static void curve_comes_back(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(1, 1);
    r.bin_count = 2;
    r.bin_start_ns = calloc(3, sizeof *r.bin_start_ns);
    r.bins = calloc(2 * ACCOUNTS, sizeof *r.bins);
    assert_non_null(r.bin_start_ns);
    assert_non_null(r.bins);
    r.bin_start_ns[1] = NS_PER_HOUR;
    r.bin_start_ns[2] = NS_PER_HOUR + NS_PER_S / 2;
    r.bins[ACCOUNTS + ACC_COMPUTE] = (int128)4 * UNITS_PER_GPU * (NS_PER_S / 2); /* 4 GPUs */
    fixture_store(store, &r, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(read_int(f, "SELECT count(*) FROM curve"), 1); /* zeros have no row */
    assert_int_equal(read_int(f, "SELECT 1000 * bin_end_s = 3600500 AND gpu_s = 2.0 FROM curve"
                                 " WHERE bin_start_s = 3600 AND account = 'compute'"),
                     1);
    /* 4 of 16 GPUs */
    assert_int_equal(read_int(f, "SELECT share = 0.25 FROM utilization"
                                 " WHERE bin_start_s = 3600 AND account = 'compute'"),
                     1);
}

static void detail_comes_back(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(0, 0);
    const struct job_row jobs[] = {
        { .serial = 0,
          .trace_row = 1,
          .gpus = 8,
          .attempts = 2,
          .first_start_ns = 3,
          .end_ns = TIME_NEVER,
          .end = END_RUNNING,
          .in_cohort = 1 },
        { .serial = 1,
          .trace_row = 2,
          .gpus = 16,
          .first_start_ns = TIME_NEVER,
          .end_ns = TIME_NEVER,
          .end = END_QUEUED },
    };
    for (int i = 0; i < 2; i++) assert_true(log_append(&r.jobs, &jobs[i]));
    struct attempt_row attempt = { .start_ns = 3,
                                   .end_ns = 9,
                                   .fault_ns = TIME_NEVER,
                                   .gpus_held = 8,
                                   .gpus_asked = 8,
                                   .servers = 1,
                                   .end = ATTEMPT_FINISHED,
                                   .class_ = CLASS_8_15 };
    attempt.units[ACC_COMPUTE] = 7 * UNITS_PER_GPU;
    attempt.units[ACC_CHECKPOINT] = UNITS_PER_GPU;
    attempt.checkpoint_fix_unit_ns[0] = -1; /* -2^64 + 5 */
    attempt.checkpoint_fix_unit_ns[1] = 5;
    assert_true(log_append(&r.attempts, &attempt));
    assert_true(log_append(&r.allocations, &(struct allocation_row){ .gpu_mask = 0xffffffff }));
    fixture_store(store, &r, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char text[128];
    read_text(f, "SELECT id FROM job WHERE serial = 0", text, sizeof text);
    assert_string_equal(text, HOSTILE_NAME);
    read_text(f, "SELECT id FROM job WHERE serial = 1", text, sizeof text);
    assert_string_equal(text, ESCAPE_NAME);
    assert_int_equal(read_int(f, "SELECT first_start_ns IS NULL AND outcome = 'queued' FROM job"
                                 " WHERE serial = 1"),
                     1);
    read_text(f, "SELECT units FROM attempt", text, sizeof text);
    assert_string_equal(text, "compute=7056000 checkpoint=1008000");
    read_text(f, "SELECT checkpoint_fix FROM attempt", text, sizeof text);
    assert_string_equal(text, "-18446744073709551611");
    assert_int_equal(read_int(f, "SELECT gpu_mask FROM allocation"), 0xffffffff);
}

/* Policies end attempts in more ways than faults do: each has a word in the database. */
static void every_end_of_an_attempt_is_stored(void **state)
{
    struct fixture *f = *state;
    snprintf(f->scenario.detail, sizeof f->scenario.detail, "all");
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(0, 0);
    for (uint32_t end = 0; end < ATTEMPT_ENDS; end++) {
        const struct attempt_row row = { .attempt = end, .end = (uint8_t)end };
        assert_true(log_append(&r.attempts, &row));
    }
    fixture_store(store, &r, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(read_int(f, "SELECT count(DISTINCT outcome) FROM attempt"), ATTEMPT_ENDS);
}

static void blast_run_is_replica_minus_one(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(1, REPLICA_BLAST);
    fixture_incident(&r, COMPONENT_SERVER, 5 * NS_PER_S / 2, 4);
    fixture_incident(&r, COMPONENT_GPU, 7 * NS_PER_S, 1);
    fixture_incident(&r, COMPONENT_SERVER, 8 * NS_PER_S, 0);
    fixture_store(store, &r, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(read_int(f, "SELECT replica FROM replica WHERE kind = 'blast'"), -1);
    assert_int_equal(read_int(f, "SELECT at_s = 2.5 AND repaired_s IS NULL AND lost_gpu_s = 3.0"
                                 " AND component = 'server' FROM incident WHERE incident = 0"),
                     1);
    assert_int_equal(read_int(f, "SELECT sum(incidents) FROM blast_radius"), 2);
    assert_int_equal(read_int(f, "SELECT sum(incidents_took_none) FROM blast_radius"), 1);
    assert_int_equal(
        read_int(f, "SELECT gpus_removed_mean = 4.0 FROM blast_radius WHERE component = 'server'"),
        1);
}

static void hostile_layout_name_is_text(void **state)
{
    struct fixture *f = *state;
    snprintf(f->scenario.layouts[1].name, LIMIT_NAME_BYTES, "%s", HOSTILE_NAME);
    write_two(f);
    char text[128];
    read_text(f, "SELECT name FROM layout WHERE layout_id = 1", text, sizeof text);
    assert_string_equal(text, HOSTILE_NAME);
    assert_int_equal(read_int(f, "SELECT count(*) FROM job"), 0);
}

/* ---- what the report reads ---- */

static void reader_returns_what_was_written(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t replica = 0; replica < 2; replica++) {
        struct replica_result r = fixture_result(1, replica);
        fixture_metric(&r, "wait_s_p95", "s", CLASS_16_63, 7.3125 + replica);
        fixture_store(store, &r, f->diag);
    }
    struct replica_result blast = fixture_result(1, REPLICA_BLAST);
    fixture_incident(&blast, COMPONENT_SERVER, 5, 4);
    fixture_store(store, &blast, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    struct stored stored;
    assert_int_equal(store_read(f->path, &stored, f->diag), STATUS_OK);
    assert_int_equal(stored.layout_count, 2);
    assert_string_equal(stored.layouts[1].name, "sparse4");
    assert_int_equal(stored.layouts[1].gpus, 16);
    assert_true(stored.layouts[0].is_baseline);
    assert_int_equal(stored.metrics.count, 2);
    const struct stored_metric *metric = LOG_ITEMS(&stored.metrics, struct stored_metric);
    assert_int_equal(metric[1].layout, 1);
    assert_int_equal(metric[1].replica, 1);
    assert_int_equal(metric[1].class_, CLASS_16_63);
    assert_true(metric[1].value == 8.3125);
    assert_int_equal(stored.replicas.count, 3);
    assert_int_equal(stored.blasts.count, 1);
    assert_int_equal(LOG_ITEMS(&stored.blasts, struct stored_blast)[0].gpus_removed, 4);
    assert_string_equal(stored_meta(&stored, "name"), "hand");
    assert_null(stored_meta(&stored, "no such key"));
    stored_clear(&stored);
}

static void reader_refuses(void **state)
{
    struct fixture *f = *state;
    struct stored stored;
    assert_int_equal(store_read("no/such/file.db", &stored, f->diag), STATUS_WORLD);
    stored_clear(&stored);
    struct db *db;
    assert_int_equal(db_open(f->path, DB_CREATE, &db, f->diag), STATUS_OK);
    assert_int_equal(db_exec(db, "CREATE TABLE meta(key, value)"), STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(store_read(f->path, &stored, f->diag), STATUS_INPUT); /* another application */
    stored_clear(&stored);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(P93_the_name_appears_with_the_end),
        ROW(plan_comes_back),
        ROW(ledger_split_is_exact),
        ROW(closure_view_closes),
        ROW(chance_is_named),
        ROW(curve_comes_back),
        ROW(detail_comes_back),
        ROW(every_end_of_an_attempt_is_stored),
        ROW(blast_run_is_replica_minus_one),
        ROW(hostile_layout_name_is_text),
        ROW(reader_returns_what_was_written),
        ROW(reader_refuses),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
