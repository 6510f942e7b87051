/* fixture_store.h - a hand-made plan and hand-made replicas for the tests of store and report.
 *
 * Two layouts of 16 GPUs, "dense8" (2 x 8, the baseline) and "sparse4" (4 x 4), at slack 0; tests
 * change what they need before the store is opened. */
#ifndef GPUPLAN_TESTS_FIXTURE_STORE_H
#define GPUPLAN_TESTS_FIXTURE_STORE_H

#include "base/clock.h"
#include "base/diag.h"
#include "io/db.h"
#include "io/store_write.h"
#include "ledger/results.h"
#include "spec/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HOSTILE_NAME "x'); DROP TABLE jobs;--"
#define ESCAPE_NAME  "red\x1b[31m\xe2\x80\xae"

struct fixture {
    struct scenario scenario;
    struct jobs jobs;
    struct import_report import;
    struct plan plan;
    struct diag *diag;
    char folder[64]; /* a fresh one per test */
    char path[128];  /* FOLDER/out.db        */
};

static char fixture_text[] = "\0job-a\0" HOSTILE_NAME "\0" ESCAPE_NAME;
static uint32_t fixture_ids[] = {1, 7, 7 + sizeof HOSTILE_NAME};
static uint32_t fixture_gpus[] = {1, 8, 16};
static int64_t fixture_submit_ns[] = {0, 5 * NS_PER_S, 7 * NS_PER_S};
static int64_t fixture_duration_ns[] = {60 * NS_PER_S, 61 * NS_PER_S, 62 * NS_PER_S};
static char fixture_scenario_text[] = "gpuplan: 1\nname: hand\n";
static char fixture_resolved[] = "name: hand # scenario:2\n";
static char fixture_overrides[] = "";

static inline void fixture_layout(struct scenario *scenario, uint32_t row, const char *name,
                                  uint32_t servers, uint32_t gpus)
{
    struct layout *layout = &scenario->layouts[row];
    snprintf(layout->name, sizeof layout->name, "%s", name);
    snprintf(layout->server.id, sizeof layout->server.id, "type-%u", (unsigned)gpus);
    snprintf(layout->server.gpu, sizeof layout->server.gpu, "h100-sxm");
    snprintf(layout->server.source, sizeof layout->server.source, "a data sheet");
    layout->server.gpus = gpus;
    layout->server.nics = gpus;
    layout->server.cores = 64;
    layout->server.memory_bytes = UINT64_C(1) << 40;
    layout->server_count = servers;
    snprintf(layout->fabric.link.id, sizeof layout->fabric.link.id, "ib-ndr400");
    layout->fabric.nics_per_server = gpus;
    layout->fabric.nics_per_gpu = 1;
    layout->fabric.oversubscription = 1;
}

static inline void fixture_assume(struct scenario *scenario)
{
    scenario->communication.kind = COMM_BY_SIZE;
    scenario->communication.scale = 1;
    scenario->communication.mix_count = 1;
    for (uint32_t i = 0; i < LIMIT_PROFILES; i++) scenario->communication.mix[i].weight = 1;
    struct profile *profile = &scenario->communication.mix[0].profile;
    snprintf(profile->id, sizeof profile->id, "by-size");
    snprintf(profile->source, sizeof profile->source, "chosen here");
    profile->mark = MARK_ASSUMED;
    profile->kappa_one = 0.11;
    profile->kappa_many = 0.37;
    snprintf(scenario->failures.rates, sizeof scenario->failures.rates, "llama3");
    scenario->failures.scale = 1;
    struct component_failures *server = &scenario->failures.component[COMPONENT_SERVER];
    server->law = LAW_EXPONENTIAL;
    server->mean_s = 7.3e6;
    snprintf(server->source, sizeof server->source, "a paper");
}

/* Derives the plan from the scenario's layouts and slacks. */
static inline void fixture_plan(struct fixture *f)
{
    struct plan *plan = &f->plan;
    plan->scenario = &f->scenario;
    plan->jobs = &f->jobs;
    plan->import = &f->import;
    plan->variant_count = 0;
    for (uint32_t i = 0; i < LIMIT_PROFILES; i++) plan->profile_used[i] = true;
    plan->profiles_drawn = true;
    for (uint32_t layout = 0; layout < f->scenario.layout_count; layout++)
        for (uint32_t slack = 0; slack < f->scenario.slack_count; slack++)
            plan->variants[plan->variant_count++] = (struct variant){
                .layout = layout,
                .slack = f->scenario.slack[slack],
                .servers = f->scenario.layouts[layout].server_count,
                .gpus_per_server = f->scenario.layouts[layout].server.gpus,
                .nodes = f->scenario.layouts[layout].server_count,
                .gpus_per_node = f->scenario.layouts[layout].server.gpus,
                .gpus = f->scenario.layouts[layout].server_count *
                        f->scenario.layouts[layout].server.gpus,
                .fabric = { .servers_per_leaf = 2, .leaves = 1 },
                .offered_load = 0.8125,
            };
    plan->horizon_ns = 10 * NS_PER_DAY;
    plan->warmup_ns = NS_PER_DAY;
    plan->follow_ns = NS_PER_DAY;
    plan->trace_days = 11;
}

static inline int fixture_setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->scenario.text = fixture_scenario_text;
    f->scenario.text_bytes = strlen(fixture_scenario_text);
    f->scenario.overrides = fixture_overrides;
    f->scenario.resolved = fixture_resolved;
    snprintf(f->scenario.path, sizeof f->scenario.path, "scenarios/hand.yaml");
    snprintf(f->scenario.name, sizeof f->scenario.name, "hand");
    snprintf(f->scenario.detail, sizeof f->scenario.detail, "first");
    f->scenario.seed = 42;
    f->scenario.curve_bin_ns = NS_PER_HOUR;
    f->scenario.slack_count = 1;
    f->scenario.resample = RESAMPLE_DAYS;
    snprintf(f->scenario.recorded_server.id, LIMIT_NAME_BYTES, "dgx-h100");
    f->scenario.recorded_count = 2;
    f->scenario.contains_startup = f->scenario.contains_checkpoint = f->scenario.contains_stalls = true;
    fixture_layout(&f->scenario, 0, "dense8", 2, 8);
    fixture_layout(&f->scenario, 1, "sparse4", 4, 4);
    f->scenario.layout_count = 2;
    fixture_assume(&f->scenario);
    f->jobs = (struct jobs){.count = 3,
                            .submit_ns = fixture_submit_ns,
                            .id = fixture_ids,
                            .duration_ns = fixture_duration_ns,
                            .gpus = fixture_gpus,
                            .text = fixture_text,
                            .text_bytes = sizeof fixture_text};
    snprintf(f->import.source, sizeof f->import.source, "some/folder/hand.csv");
    snprintf(f->import.format, sizeof f->import.format, "gpuplan");
    f->import.rows_read = 4;
    f->import.imported = 3;
    f->import.skipped_count = 1;
    f->import.skipped[0].rows = 1;
    snprintf(f->import.skipped[0].reason, sizeof f->import.skipped[0].reason, "no GPUs");
    fixture_plan(f);
    f->plan.replicas = 2;
    f->diag = diag_create();
    const char *temporary = getenv("TMPDIR");
    snprintf(f->folder, sizeof f->folder, "%s/gpuplan-test-%06d",
             temporary != NULL ? temporary : P_tmpdir, 0);
    memset(f->folder + strlen(f->folder) - 6, 'X', 6); /* what mkdtemp replaces */
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/out.db", f->folder);
    *state = f;
    return 0;
}

static inline void fixture_remove(const struct fixture *f, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    unlink(path);
}

static inline int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    diag_destroy(f->diag);
    static const char *const names[] = {"out.db", "out.db.partial", "out.db.partial-journal",
                                        "other.db", "other.db.partial"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) fixture_remove(f, names[i]);
    rmdir(f->folder);
    free(f);
    return 0;
}

/* A replica of 16 GPUs over [0, 10 days]: half of the GPU-time computes for jobs of 8-15 GPUs, the
 * rest has no demand. */
static inline struct replica_result fixture_result(uint32_t layout_row, uint32_t replica)
{
    struct replica_result r = {.layout_row = layout_row,
                               .replica = replica,
                               .events = 1234,
                               .seconds = 0.25 + replica,
                               .window_end_ns = 10 * NS_PER_DAY,
                               .run_end_ns = 11 * NS_PER_DAY,
                               .jobs_submitted = 3};
    r.capacity_units = 16 * UNITS_PER_GPU;
    const int128 whole = (int128)r.capacity_units * r.window_end_ns;
    r.ledger[ACC_COMPUTE][CLASS_8_15] = whole / 2;
    r.ledger[ACC_NO_DEMAND][CLASS_NONE] = whole - whole / 2;
    r.ledger_all[ACC_NO_DEMAND][CLASS_NONE] = (int128)r.capacity_units * r.run_end_ns;
    r.jobs_end[END_FINISHED] = 2;
    r.jobs_end[END_QUEUED] = 1;
    log_init(&r.metrics, sizeof(struct metric_row), 0);
    log_init(&r.incidents, sizeof(struct incident), 0);
    log_init(&r.jobs, sizeof(struct job_row), 0);
    log_init(&r.attempts, sizeof(struct attempt_row), 0);
    log_init(&r.allocations, sizeof(struct allocation_row), 0);
    return r;
}

static inline void fixture_metric(struct replica_result *r, const char *name, const char *unit,
                                  enum size_class class, double value)
{
    struct metric_row row = {.class_ = (uint8_t) class, .value = value};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.unit, sizeof row.unit, "%s", unit);
    assert_true(log_append(&r->metrics, &row));
}

static inline void fixture_incident(struct replica_result *r, enum component component,
                                    int64_t at_ns, uint32_t gpus_removed)
{
    const struct incident row = {.at_ns = at_ns,
                                 .repaired_ns = TIME_NEVER,
                                 .component = (uint8_t)component,
                                 .gpus_broken = gpus_removed,
                                 .gpus_removed = gpus_removed,
                                 .lost_gpu_ns = 3 * NS_PER_S};
    assert_true(log_append(&r->incidents, &row));
}

/* Stores and clears the replica. */
static inline void fixture_store(struct store *store, struct replica_result *r, struct diag *diag)
{
    assert_int_equal(store_replica(store, r, diag), STATUS_OK);
    replica_result_clear(r);
}

/* ---- looking at a store ---- */

static inline struct store *open_store(struct fixture *f)
{
    struct store *store;
    assert_int_equal(store_open(f->path, &f->plan, &store, f->diag), STATUS_OK);
    return store;
}

static inline bool exists(const struct fixture *f, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return access(path, F_OK) == 0;
}

static inline int64_t read_int(struct fixture *f, const char *sql)
{
    struct db *db;
    int64_t value = -77;
    assert_int_equal(db_open(f->path, DB_READ, &db, f->diag), STATUS_OK);
    assert_int_equal(db_read_int(db, sql, &value), STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    return value;
}

static inline void read_text(struct fixture *f, const char *sql, char *out, size_t out_bytes)
{
    struct db *db;
    struct db_query *query;
    bool row;
    assert_int_equal(db_open(f->path, DB_READ, &db, f->diag), STATUS_OK);
    assert_int_equal(db_prepare(db, sql, &query), STATUS_OK);
    assert_int_equal(db_next(query, &row), STATUS_OK);
    assert_true(row);
    snprintf(out, out_bytes, "%s", db_take_text(query, NULL));
    assert_int_equal(db_next(query, &row), STATUS_OK);
    db_finish(query);
    assert_int_equal(db_close(db), STATUS_OK);
}

static inline void write_two(struct fixture *f)
{
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, 0.8125 - 0.0625 * layout);
            fixture_store(store, &r, f->diag);
        }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
}

#endif
