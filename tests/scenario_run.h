/* scenario_run.h - a scenario written as text, read, planned, run and stored as `gpuplan run` does it; then who started when
 * and where, out of the database. Header only. */
#ifndef GPUPLAN_TESTS_SCENARIO_RUN_H
#define GPUPLAN_TESTS_SCENARIO_RUN_H

#include "io/scenario_read.h"
#include "spec/node_names.h"
#include "stored_run.h"

#define SCENARIO_HEAD                                                                              \
    "gpuplan: 1\nname: cases\ntime: {horizon: all, warmup: 0s}\nseed: 1\n"                         \
    "replicas: {count: 1, resample: none}\n"                                                       \
    "failures: {rates: none}\ndetail: all\nverdict: {tornado: false}\n"

#define SCENARIO_WORKLOAD "workload: {communication: none}\n"

enum { TEXT_BYTES = 1 << 16, PLACE_BYTES = 4096, NEVER = -1, REFUSED = -2 };

/* A job's start in whole seconds, NEVER or REFUSED, and its place: "n0 n1", or with GPUs "n0:0,1 n1:2"; NULL = not said. */
struct start {
    const char *job;
    int64_t at_s;
    const char *place;
};

static inline void scenario_run(struct stored_run *run, const char *text)
{
    char path[] = "/tmp/gpuplan-cases-XXXXXX.yaml";
    FILE *out = fdopen(mkstemps(path, 5), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    *run = (struct stored_run){ 0 };
    struct fixture *fixture = &run->fixture;
    fixture->diag = diag_create();
    fixture->arena = arena_create(UINT64_C(1) << 36);
    const enum status status =
        scenario_read(path, NULL, 0, &fixture->scenario, fixture->diag) != STATUS_OK
            ? STATUS_INPUT
            : plan_build(&fixture->scenario, fixture->scenario.jobs, &fixture->import, NULL, 0, 1,
                         &fixture->plan, fixture->diag);
    unlink(path);
    if (status != STATUS_OK) {
        diag_print(fixture->diag, stdout);
        fail_msg("refused:\n%s", text);
    }
    assert_int_equal(run_shared_init(&fixture->shared, &fixture->plan, fixture->arena), STATUS_OK);
    store_layouts(run);
}

/* One layout, "lab", of these servers. `scheduler` may hold further keys of the top level. */
static inline void run_with(struct stored_run *run, const char *workload, const char *scheduler,
                     const char *servers, const char *jobs)
{
    static char text[TEXT_BYTES];
    const int bytes =
        snprintf(text, sizeof text,
                 SCENARIO_HEAD
                 "%s%slayouts:\n- name: lab\n"
                 "  fabric: {link: {like: ib-ndr400, switch_ports: 4096}, nics_per_gpu: 1}\n"
                 "  servers:\n%sjobs:\n%s",
                 workload, scheduler, servers, jobs);
    assert_true(bytes > 0 && bytes < TEXT_BYTES);
    scenario_run(run, text);
}

static inline void run_lab(struct stored_run *run, const char *scheduler, const char *servers,
                    const char *jobs)
{
    run_with(run, SCENARIO_WORKLOAD, scheduler, servers, jobs);
}

static inline void scenario_forget(struct stored_run *run)
{
    scenario_clear(&run->fixture.scenario);
    forget_run(run);
}

/* A column of the job's row, `missing` for NULL. */
static inline int64_t job_number(const struct stored_run *run, const char *column, const char *job,
                                 int64_t missing)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "SELECT ifnull((SELECT %s FROM job WHERE layout_id = 0 AND id = '%s'), %d)", column, job,
             (int)missing);
    return number_of(run, sql, -1);
}

static inline int64_t job_start_s(const struct stored_run *run, const char *job)
{
    if (job_number(run, "outcome = 'rejected'", job, -7) == 1) return REFUSED;
    return job_number(run, "first_start_ns / 1000000000", job, NEVER);
}

static inline int64_t job_end_s(const struct stored_run *run, const char *job)
{
    return job_number(run, "end_ns / 1000000000", job, NEVER);
}

/* Nodes of the job's first attempt, in order; with `gpus`, GPU by GPU. */
static inline void job_place(const struct stored_run *run, const char *job, bool gpus,
                             char out[PLACE_BYTES])
{
    char sql[512], name[LIMIT_NAME_BYTES];
    struct db *db;
    struct db_query *query;
    bool has_row;
    snprintf(sql, sizeof sql,
             "SELECT a.server, a.gpu_mask FROM allocation a JOIN job j USING(layout_id, replica,"
             " serial) WHERE layout_id = 0 AND j.id = '%s' AND a.attempt = 0 ORDER BY a.server",
             job);
    assert_int_equal(db_open(run->path, DB_READ, &db, run->fixture.diag), STATUS_OK);
    assert_int_equal(db_prepare(db, sql, &query), STATUS_OK);
    *out = 0;
    for (size_t at = 0; db_next(query, &has_row) == STATUS_OK && has_row;) {
        const uint32_t node = (uint32_t)db_take_int(query);
        const uint64_t mask = (uint64_t)db_take_int(query);
        node_name(&run->fixture.scenario.layouts[0], node, name);
        at += (size_t)snprintf(out + at, PLACE_BYTES - at, "%s%s", at ? " " : "", name);
        char mark = ':';
        for (int gpu = 0; gpus && gpu < 64; gpu++) {
            if (!(mask >> gpu & 1)) continue;
            at += (size_t)snprintf(out + at, PLACE_BYTES - at, "%c%d", mark, gpu);
            mark = ',';
        }
        assert_true(at < PLACE_BYTES);
    }
    db_finish(query);
    assert_int_equal(db_close(db), STATUS_OK);
}

/* Starts within `late_s` behind the wanted second: Slurm's passes and binding of pods take a moment. */
static inline void check_starts(const struct stored_run *run, const struct start *starts,
                                size_t most, int64_t late_s)
{
    for (size_t i = 0; i < most && starts[i].job; i++) {
        const struct start *want = &starts[i];
        const int64_t at_s = job_start_s(run, want->job);
        const bool is_good = want->at_s < 0 ? at_s == want->at_s
                                            : at_s >= want->at_s && at_s <= want->at_s + late_s;
        if (!is_good)
            fail_msg("%s starts at %d s, not at %d", want->job, (int)at_s, (int)want->at_s);
        char place[PLACE_BYTES];
        if (!want->place) continue;
        job_place(run, want->job, strchr(want->place, ':') != NULL, place);
        if (strcmp(place, want->place) != 0)
            fail_msg("%s runs on '%s', not on '%s'", want->job, place, want->place);
    }
}

/* GPU-seconds of an account over the whole run, rounded down. */
static inline int64_t account_s(const struct stored_run *run, const char *account)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT sum(gpu_s) + sum(gpu_rest) / (1008000 * 1000000000) FROM ledger_run"
             " WHERE layout_id = 0 AND replica = 0 AND account = '%s'",
             account);
    return number_of(run, sql, -1);
}

#endif
