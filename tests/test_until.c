/* test_until.c - replicas until an interval is narrow: the rule by hand, the campaign, the program. */
#include "fixture.h"

#include "campaign/campaign.h"
#include "cli/until.h"
#include "io/db.h"
#include "io/digest.h"
#include "io/store_read.h"
#include "tests/rows.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the rule ------------------------------------------------------------------------------------ */

/* Values 0.95, 1.05, 0.95, ...: with d = 0.05 the standard deviation of n values is d sqrt(n/(n - 1)) for even n and
 * d sqrt((1 - 1/n^2) n/(n - 1)) for odd n, the mean 1 or 1 - d/n. Half over mean by Student's t from a table:
 *
 *     n 10: 2.262157 * 0.05 / sqrt(9)                        = 0.037703
 *     n 15: 2.144787 * 0.05 sqrt((224/225)/14) / 0.996667    = 0.028693
 *     n 20: 2.093024 * 0.05 / sqrt(19)                       = 0.024009
 *     n 25: 2.063899 * 0.05 sqrt((624/625)/24) / 0.998       = 0.021090
 *     n 30: 2.045230 * 0.05 / sqrt(29)                       = 0.018990
 *
 * gamma/(1 + gamma) is 0.038462 for 4 %, 0.029126 for 3 %, 0.024390 for 2.5 %, 0.019608 for 2 %. */
static const struct stop_row {
    const char *name;
    double half_width_frac;
    uint32_t at, max; /* at 0: not by the maximum */
} stops[] = {
    { "4 % after 10", 0.04, 10, 200 },    { "3 % after 15", 0.03, 15, 200 },
    { "2.5 % after 20", 0.025, 20, 200 }, { "2 % after 30", 0.02, 30, 200 },
    { "2 % not by 25", 0.02, 0, 25 },     { "2 % not by 27", 0.02, 0, 27 },
};

static void watch_of(struct until_watch *watch, struct plan *plan, struct scenario *scenario,
                     const struct stop_row *row)
{
    scenario->until = (struct until){ .given = true, .half_width_frac = row->half_width_frac };
    *plan = (struct plan){ .scenario = scenario, .variant_count = 2, .replicas = row->max };
    assert_true(until_init(watch, plan));
}

static void by_hand(void **state)
{
    const struct stop_row *row = *state;
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct plan plan;
    struct until_watch watch;
    watch_of(&watch, &plan, scenario, row);
    uint32_t at = 0;
    for (uint32_t r = 0; r < row->max && at == 0; r++) {
        until_note(&watch, 0, r, r % 2 ? 1.05 : 0.95);
        until_note(&watch, 1, r, r % 2 ? 7.001 : 6.999); /* well known */
        const uint32_t n = r + 1;
        if (n >= 10 && (n % 5 == 0 || n == row->max) && until_enough(&watch, n)) at = n;
    }
    assert_int_equal(at, row->at);
    until_clear(&watch);
    free(scenario);
}

/* One layout that is not known well holds all up; so do values that are missing. */
static void every_layout(void **state)
{
    (void)state;
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct plan plan;
    struct until_watch watch;
    watch_of(&watch, &plan, scenario, &stops[0]);
    for (uint32_t r = 0; r < 20; r++) until_note(&watch, 0, r, r % 2 ? 1.05 : 0.95);
    assert_false(until_enough(&watch, 10)); /* nothing is known of the other one */
    for (uint32_t r = 0; r < 20; r++) until_note(&watch, 1, r, r % 2 ? 1.2 : 0.8);
    assert_false(until_enough(&watch, 10)); /* 0.15 */
    for (uint32_t r = 0; r < 20; r++) until_note(&watch, 1, r, 3);
    assert_true(until_enough(&watch, 10));
    until_note(&watch, 1, 4, NAN);
    assert_false(until_enough(&watch, 10)); /* nine values */
    assert_true(until_enough(&watch, 15));
    until_note(&watch, 1, REPLICA_BLAST, 1000); /* no value of a replica */
    assert_true(until_enough(&watch, 15));
    until_clear(&watch);
    free(scenario);
}

/* ---- the campaign -------------------------------------------------------------------------------- */

struct seen {
    uint32_t taken, asked, next, until_at;
    bool in_order;
};

static enum status see(void *context, const struct replica_result *result, struct diag *diag)
{
    (void)diag;
    struct seen *seen = context;
    seen->in_order &= result->replica * 2 + result->layout_row == seen->taken;
    seen->taken++;
    return STATUS_OK;
}

static bool ask(void *context, uint32_t replicas)
{
    static const uint32_t looks[] = { 10, 15, 20, 23 };
    struct seen *seen = context;
    assert_int_equal(replicas, looks[seen->asked++]);
    assert_int_equal(seen->taken, 2 * replicas);
    return replicas == seen->until_at;
}

static void campaign_stops(void **state)
{
    const uint32_t workers = (uint32_t)rows_number(state) % 10,
                   at = (uint32_t)rows_number(state) / 10;
    struct fixture fixture;
    fixture_init(&fixture, 20);
    fixture.scenario.replicas = 23;
    fixture.scenario.until = (struct until){ .given = true, .half_width_frac = 0.01 };
    fixture_layout(&fixture, "a", 2, 4);
    fixture_layout(&fixture, "b", 8, 1);
    for (uint32_t row = 0; row < 20; row++) fixture_job(&fixture, row, row, 100 + row, 0, 1);
    fixture_ready(&fixture);
    struct seen seen = { .until_at = at, .in_order = true };
    const struct campaign_sink sink = { .context = &seen, .take = see, .enough = ask };
    struct campaign_totals totals;
    assert_int_equal(campaign_run(&fixture.plan, workers, false, &sink, &totals, fixture.diag),
                     STATUS_OK);
    const uint32_t want = at == 0 ? 23 : at;
    assert_true(seen.in_order);
    assert_int_equal(seen.taken, 2 * want);
    assert_int_equal(totals.replicas, 2 * want);
    assert_int_equal(totals.replicas_each, want);
    assert_true(totals.enough == (at != 0));
    fixture_clear(&fixture);
}

/* ---- the program --------------------------------------------------------------------------------- */

#define UNTIL "replicas.until={metric: wait_s_mean, half_width: 20%, max: 40}"

static char folder[] = "/tmp/test_until_XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[4][64];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void run_tiny(const char *set, const char *workers, const char *out, bool resume)
{
    char program[4096];
    const char *build = getenv("BUILD");
    snprintf(program, sizeof program, "%s/gpuplan", build ? build : "build");
    const char *words[] = { program,
                            "run",
                            "scenarios/tiny.yaml",
                            "-q",
                            "--json",
                            "--set",
                            "replicas=null",
                            "--set",
                            set,
                            "-j",
                            workers,
                            "-o",
                            out,
                            resume ? "--resume" : NULL,
                            NULL };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int status = -1;
    assert_int_equal(
        posix_spawn(&child, program, &actions, NULL, (char *const *)(void *)words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void digest_of(const char *path, char out[DIGEST_TEXT_BYTES])
{
    struct diag *diag = diag_create();
    assert_int_equal(store_digest(path, NULL, out, diag), STATUS_OK);
    diag_destroy(diag);
}

static int64_t number_in(const char *path, const char *sql)
{
    struct diag *diag = diag_create();
    struct db *db;
    int64_t value = -1;
    assert_int_equal(db_open(path, DB_READ, &db, diag), STATUS_OK);
    assert_int_equal(db_read_int(db, sql, &value), STATUS_OK);
    db_close(db);
    diag_destroy(diag);
    return value;
}

static void workers_do_not_matter(void **state)
{
    (void)state;
    char one[DIGEST_TEXT_BYTES], two[DIGEST_TEXT_BYTES];
    run_tiny(UNTIL, "1", in_folder("one.db"), false);
    run_tiny(UNTIL, "2", in_folder("two.db"), false);
    digest_of(in_folder("one.db"), one);
    digest_of(in_folder("two.db"), two);
    assert_string_equal(one, two);
    const char *path = in_folder("one.db");
    const int64_t run =
        number_in(path, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'replicas_run'");
    assert_true(run > 10 && run < 40 && run % 5 == 0);
    assert_int_equal(number_in(path, "SELECT max(replica) + 1 FROM replica"), run);
    assert_int_equal(number_in(path, "SELECT count(*) FROM replica WHERE replica >= 0"), 2 * run);
    assert_int_equal(number_in(path, "SELECT count(*) FROM meta WHERE key = 'replicas_stop'"
                                     " AND value = 'half_width'"),
                     1);
}

static void maximum_is_said(void **state)
{
    (void)state;
    const char *path = in_folder("max.db");
    run_tiny("replicas.until={metric: wait_s_mean, half_width: 1%, max: 12}", "2", path, false);
    assert_int_equal(number_in(path, "SELECT max(replica) + 1 FROM replica"), 12);
    assert_int_equal(number_in(path, "SELECT count(*) FROM meta WHERE key = 'replicas_stop'"
                                     " AND value = 'max' OR key = 'replicas_run' AND value = '12'"),
                     2);
}

/* What a kill leaves: the first 7, or 12, or all replicas, without moves; and a kill between the last word and the name. */
static void resumed_equals_unbroken(void **state)
{
    static const char *const tables[] = { "replica", "ledger", "ledger_run",
                                          "curve",   "metric", "incident" };
    const unsigned kept = (unsigned)rows_number(state);
    char want[DIGEST_TEXT_BYTES], got[DIGEST_TEXT_BYTES], partial[80];
    const char *path = in_folder("resumed.db");
    run_tiny(UNTIL, "2", path, false);
    digest_of(path, want);
    snprintf(partial, sizeof partial, "%s.partial", path);
    assert_int_equal(rename(path, partial), 0);
    struct diag *diag = diag_create();
    struct db *db;
    assert_int_equal(db_open(partial, DB_APPEND, &db, diag), STATUS_OK);
    for (size_t t = 0; kept < 40 && t < sizeof tables / sizeof *tables; t++) {
        char sql[128];
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE replica >= %u", tables[t], kept);
        assert_int_equal(db_exec(db, sql), STATUS_OK);
    }
    if (kept < 40)
        assert_int_equal(db_exec(db, "DELETE FROM tornado WHERE replica >= 2;"
                                     "DELETE FROM meta WHERE key LIKE 'replicas_%'"),
                         STATUS_OK);
    db_close(db);
    diag_destroy(diag);
    run_tiny(UNTIL, "2", path, true);
    digest_of(path, got);
    assert_string_equal(got, want);
}

static void remove_folder(void)
{
    static const char *const names[] = { "one.db", "two.db", "max.db", "resumed.db" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]));
    rmdir(folder);
}

int main(void)
{
    struct rows rows = { 0 };
    if (mkdtemp(folder) == NULL) return 1;
    for (size_t s = 0; s < sizeof stops / sizeof *stops; s++)
        rows_add(&rows, by_hand, (void *)&stops[s], "by hand: %s", stops[s].name);
    rows_add(&rows, every_layout, NULL, "every layout must be known");
    for (uintptr_t workers = 1; workers <= 3; workers++) {
        rows_add(&rows, campaign_stops, (void *)(100 + workers), "stops after 10, %u workers",
                 (unsigned)workers);
        rows_add(&rows, campaign_stops, (void *)(150 + workers), "stops after 15, %u workers",
                 (unsigned)workers);
        rows_add(&rows, campaign_stops, (void *)workers, "never enough, %u workers",
                 (unsigned)workers);
    }
    rows_add(&rows, workers_do_not_matter, NULL, "-j 1 and -j 2 stop alike, one digest");
    rows_add(&rows, maximum_is_said, NULL, "the maximum is reached and said");
    static const unsigned kept[] = { 7, 12, 15, 40 };
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        rows_add(&rows, resumed_equals_unbroken, (void *)(uintptr_t)kept[k],
                 "resumed with %u replicas", kept[k]);
    const int failed = rows_run("until", &rows);
    remove_folder();
    return failed;
}
