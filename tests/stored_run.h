/* stored_run.h - the real engine's replica 0 of every layout of a fixture in a database of its own folder, and what `gpuplan
 * why` says of it. */
#ifndef TESTS_STORED_RUN_H
#define TESTS_STORED_RUN_H

#include "fixture.h"

#include "io/db.h"
#include "io/store_write.h"
#include "report/why.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

struct stored_run {
    struct fixture fixture;
    char folder[64], path[128];
};

static inline void name_jobs(struct fixture *fixture)
{
    struct jobs *jobs = &fixture->jobs;
    jobs->text = ARENA_ARRAY(jobs->arena, char, 16 * (size_t)jobs->count + 1);
    jobs->text_bytes = 1;
    for (uint32_t row = 0; row < jobs->count; row++) {
        jobs->id[row] = (uint32_t)jobs->text_bytes;
        jobs->text_bytes +=
            1 + (uint64_t)snprintf(jobs->text + jobs->text_bytes, 16, "job-%u", row);
    }
}

/* Runs replica 0 of every layout of a plan that is ready into a file of its own folder; the books must close. */
static inline void store_layouts(struct stored_run *run)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(run->folder, sizeof run->folder, "%s/gpuplan-why-XXXXXX",
             temporary != NULL ? temporary : P_tmpdir);
    assert_non_null(mkdtemp(run->folder));
    snprintf(run->path, sizeof run->path, "%s/out.db", run->folder);
    struct store *store;
    assert_int_equal(store_open(run->path, &run->fixture.plan, &store, run->fixture.diag),
                     STATUS_OK);
    for (uint32_t variant = 0; variant < run->fixture.plan.variant_count; variant++) {
        struct replica_result result;
        const enum status status = fixture_run(&run->fixture, variant, 0, &result);
        assert_true(status == STATUS_OK || status == STATUS_LIMIT);
        assert_true(result.closure_error == 0);
        assert_int_equal(store_replica(store, &result, run->fixture.diag), STATUS_OK);
        replica_result_clear(&result);
    }
    assert_int_equal(store_finish(store, run->fixture.diag), STATUS_OK);
}

/* The same with the plan of a fixture. */
static inline void store_run(struct stored_run *run)
{
    static char empty[] = "";
    struct scenario *scenario = &run->fixture.scenario;
    scenario->text = scenario->resolved = scenario->overrides = empty;
    fixture_ready(&run->fixture);
    store_layouts(run);
}

static inline void forget_run(struct stored_run *run)
{
    unlink(run->path);
    rmdir(run->folder);
    fixture_clear(&run->fixture);
}

static inline int64_t number_of(const struct stored_run *run, const char *sql, int64_t a)
{
    struct db *db;
    struct db_query *query;
    bool has_row;
    assert_int_equal(db_open(run->path, DB_READ, &db, run->fixture.diag), STATUS_OK);
    assert_int_equal(db_prepare(db, sql, &query), STATUS_OK);
    if (a >= 0) db_put_int(query, a);
    assert_int_equal(db_next(query, &has_row), STATUS_OK);
    assert_true(has_row);
    const int64_t value = db_take_int(query);
    assert_int_equal(db_next(query, &has_row), STATUS_OK);
    db_finish(query);
    assert_int_equal(db_close(db), STATUS_OK);
    return value;
}

/* What why_print says; the caller's to free. */
static inline char *say(struct stored_run *run, const char *job, struct why_options options,
                 enum status want)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    const enum status status = why_print(run->path, job, out, &options, run->fixture.diag);
    if (status != want) diag_print(run->fixture.diag, stderr);
    assert_int_equal(status, want);
    fclose(out);
    if (getenv("GPUPLAN_SHOW") != NULL) puts(text);
    return text;
}

static inline void holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("'%s'\nis not in\n%s", part, text);
}

#endif
