/* test_store_files.c - a complete database or no file under its name; what a killed run leaves goes on. */
#include "fixture_store.h"

#include "io/store_internal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- failures of the world (P99) ---- */

static void read_only_folder_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store *store;
    if (geteuid() == 0) { /* root writes everywhere: a folder that is a file does as well */
        snprintf(f->path, sizeof f->path, "/dev/null/out.db");
    } else {
        assert_int_equal(chmod(f->folder, 0500), 0);
    }
    assert_int_equal(store_open(f->path, &f->plan, &store, f->diag), STATUS_WORLD);
    assert_null(store);
    assert_int_equal(diag_error_count(f->diag), 1);
    assert_int_equal(chmod(f->folder, 0700), 0);
    assert_false(exists(f, "out.db"));
}

/* Runs in a child so that the limit stays there. Exit code: the status of the first failure, plus
 * 100 when a file carries the final name. */
static int write_until_full(struct fixture *f, rlim_t limit_bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = { .rlim_cur = limit_bytes, .rlim_max = limit_bytes };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 99;
    struct store *store;
    enum status status = store_open(f->path, &f->plan, &store, f->diag);
    for (uint32_t replica = 0; status == STATUS_OK && replica < 200; replica++) {
        struct replica_result r = fixture_result(0, replica);
        status = store_replica(store, &r, f->diag);
        replica_result_clear(&r);
    }
    if (status == STATUS_OK)
        status = store_finish(store, f->diag);
    else
        store_abandon(store);
    return (int)status + (access(f->path, F_OK) == 0 ? 100 : 0);
}

static void full_disk(struct fixture *f, rlim_t limit_bytes, int want)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(write_until_full(f, limit_bytes));
    int code = 0;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), want);
}

static void full_disk_at_once(void **state)
{
    full_disk(*state, 20000, STATUS_WORLD);
}
static void full_disk_later(void **state)
{
    full_disk(*state, 400000, STATUS_WORLD);
}
static void disk_large_enough(void **state)
{
    full_disk(*state, 100000000, 100 + STATUS_OK);
}

static void a_foreign_file_is_kept(void **state)
{
    struct fixture *f = *state;
    FILE *file = fopen(f->path, "w");
    fputs("submit_s,duration_s,gpus\n", file);
    fclose(file);
    struct store *store;
    assert_int_equal(store_open(f->path, &f->plan, &store, f->diag), STATUS_WORLD);
    assert_false(exists(f, "out.db.partial"));
    assert_true(exists(f, "out.db"));
}

static void an_old_result_is_replaced(void **state)
{
    struct fixture *f = *state;
    write_two(f);
    write_two(f);
    assert_int_equal(read_int(f, "SELECT count(*) FROM replica"), 4);
}

/* A name of one's own choice may hold somebody's result: only that of the same scenario is replaced. */
static void another_scenarios_result_is_kept(void **state)
{
    struct fixture *f = *state;
    write_two(f);
    snprintf(f->scenario.name, sizeof f->scenario.name, "other");
    struct store *store;
    assert_int_equal(store_open(f->path, &f->plan, &store, f->diag), STATUS_INPUT);
    assert_null(store);
    assert_false(exists(f, "out.db.partial"));
    assert_int_equal(read_int(f, "SELECT count(*) FROM replica"), 4);
}

static void a_second_run_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store *first = open_store(f), *second;
    assert_int_equal(store_open(f->path, &f->plan, &second, f->diag), STATUS_WORLD);
    assert_int_equal(store_finish(first, f->diag), STATUS_OK);
    assert_true(exists(f, "out.db"));
}

/* A result that breaks a key is refused as a whole; the store goes on. */
static void a_replica_is_all_or_nothing(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(0, 0);
    fixture_metric(&r, "yield", "1", CLASS_NONE, 0.5);
    fixture_metric(&r, "yield", "1", CLASS_NONE, 0.75);
    assert_int_equal(store_replica(store, &r, f->diag), STATUS_WORLD);
    replica_result_clear(&r);
    assert_false(store_has(store, 0, 0, 0));
    r = fixture_result(0, 0);
    fixture_store(store, &r, f->diag);
    assert_true(store_has(store, 0, 0, 0));
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(read_int(f, "SELECT count(*) FROM replica"), 1);
    assert_int_equal(read_int(f, "SELECT count(*) FROM metric"), 0);
}

/* ---- resume ---- */

static void abandoned(struct fixture *f, uint32_t replicas)
{
    struct store *store = open_store(f);
    for (uint32_t replica = 0; replica < replicas; replica++) {
        struct replica_result r = fixture_result(0, replica);
        fixture_store(store, &r, f->diag);
    }
    store_abandon(store);
}

static void abandon_keeps_what_resume_needs(void **state)
{
    struct fixture *f = *state;
    abandoned(f, 0);
    assert_false(exists(f, "out.db.partial"));
    abandoned(f, 1);
    assert_true(exists(f, "out.db.partial"));
    assert_false(exists(f, "out.db"));
}

static void resume_goes_on(void **state)
{
    struct fixture *f = *state;
    abandoned(f, 1);
    struct store *store;
    assert_int_equal(store_resume(f->path, &f->plan, &store, f->diag), STATUS_OK);
    assert_true(store_has(store, 0, 0, 0));
    assert_false(store_has(store, 0, 1, 0));
    assert_false(store_has(store, 0, REPLICA_BLAST, 0));
    struct replica_result r = fixture_result(0, 1);
    fixture_store(store, &r, f->diag);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(read_int(f, "SELECT count(*) FROM replica"), 2);
}

/* A child is killed within a transaction large enough to have reached the disk; what it committed is read. */
static void what_a_killed_run_leaves_is_readable(void **state)
{
    struct fixture *f = *state;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *store = open_store(f);
        struct replica_result r = fixture_result(0, 0);
        fixture_store(store, &r, f->diag);
        db_exec(store->db, "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                           "UPDATE ledger SET gpu_s = -1; UPDATE ledger_run SET gpu_s = -1;"
                           "UPDATE gpu SET node = 77");
        raise(SIGKILL);
    }
    int code = 0;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFSIGNALED(code));
    assert_true(exists(f, "out.db.partial-journal"));
    char partial[160];
    snprintf(partial, sizeof partial, "%s.partial", f->path);
    struct db *db;
    int64_t wrong = -1;
    assert_int_equal(db_open(partial, DB_READ, &db, f->diag), STATUS_OK);
    assert_int_equal(db_read_int(db, "SELECT count(*) FROM ledger WHERE gpu_s < 0", &wrong),
                     STATUS_OK);
    assert_int_equal(wrong, 0);
    assert_int_equal(db_exec(db, "DELETE FROM ledger"), STATUS_WORLD);
    assert_int_equal(db_close(db), STATUS_OK);
}

static void resume_without_a_file_starts(void **state)
{
    struct fixture *f = *state;
    struct store *store;
    assert_int_equal(store_resume(f->path, &f->plan, &store, f->diag), STATUS_OK);
    store_abandon(store);
    assert_false(exists(f, "out.db.partial"));
}

static void resume_refuses_another_plan(void **state)
{
    struct fixture *f = *state;
    abandoned(f, 1);
    f->scenario.seed = 43;
    struct store *store;
    assert_int_equal(store_resume(f->path, &f->plan, &store, f->diag), STATUS_INPUT);
    assert_null(store);
    assert_true(exists(f, "out.db.partial"));
}

/* A finished run of the same plan leaves nothing to do; one of another seed is not replaced. */
static void resume_of_a_finished_run(void **state)
{
    struct fixture *f = *state;
    write_two(f);
    struct store *store;
    assert_int_equal(store_resume(f->path, &f->plan, &store, f->diag), STATUS_OK);
    assert_null(store);
    assert_false(exists(f, "out.db.partial"));
    f->scenario.seed = 43;
    assert_int_equal(store_resume(f->path, &f->plan, &store, f->diag), STATUS_INPUT);
    assert_null(store);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    diag_print(f->diag, out);
    fclose(out);
    assert_non_null(strstr(text, "it differs in the seed"));
    free(text);
    assert_false(exists(f, "out.db.partial"));
    assert_int_equal(read_int(f, "SELECT count(*) FROM replica"), 4);
}

static void P98_default_path_is_ours(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *scenario, *want;
    } cases[] = {
        { "scenarios/dense_vs_sparse.yaml", "results/dense_vs_sparse.db" },
        { "a.b/x y;z.yml", "results/x_y_z.db" },
        { "../../.hidden", "results/_hidden.db" },
        { "plain", "results/plain.db" },
        { "dir/", "results/run.db" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[LIMIT_PATH_BYTES];
        snprintf(f->scenario.path, sizeof f->scenario.path, "%s", cases[i].scenario);
        store_default_path(&f->scenario, path);
        assert_string_equal(path, cases[i].want);
    }
}

/* results/ is made for the default path and for no other. */
static void only_the_default_folder_is_made(void **state)
{
    struct fixture *f = *state;
    char before[LIMIT_PATH_BYTES];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    struct store *store;
    assert_int_equal(store_open("elsewhere/hand.db", &f->plan, &store, f->diag), STATUS_WORLD);
    assert_int_equal(store_open("results/other.db", &f->plan, &store, f->diag), STATUS_WORLD);
    assert_int_equal(store_open("results/hand.db", &f->plan, &store, f->diag), STATUS_OK);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(unlink("results/hand.db"), 0);
    assert_int_equal(rmdir("results"), 0);
    assert_int_equal(chdir(before), 0);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(read_only_folder_is_refused),
        ROW(full_disk_at_once),
        ROW(full_disk_later),
        ROW(disk_large_enough),
        ROW(a_foreign_file_is_kept),
        ROW(an_old_result_is_replaced),
        ROW(another_scenarios_result_is_kept),
        ROW(a_second_run_is_refused),
        ROW(a_replica_is_all_or_nothing),
        ROW(abandon_keeps_what_resume_needs),
        ROW(resume_goes_on),
        ROW(what_a_killed_run_leaves_is_readable),
        ROW(resume_without_a_file_starts),
        ROW(resume_refuses_another_plan),
        ROW(resume_of_a_finished_run),
        ROW(P98_default_path_is_ours),
        ROW(only_the_default_folder_is_made),
    };
    return cmocka_run_group_tests_name("store_files", tests, NULL, NULL);
}
