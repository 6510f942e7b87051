/* test_slurm_depend.c - policy/slurm_depend against recording s23, hand cases, and a twin that tests every term of every
 * job after every event. */
#include "policy/slurm_depend.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

#define S NS_PER_S

struct site {
    struct jobs jobs;
    struct slurm_depend depend;
};

static void site_init(struct site *site, const struct job_line *lines, uint32_t count)
{
    site->jobs = jobs_of_lines(lines, count);
    assert_true(slurm_depend_init(&site->depend, &site->jobs));
}

static void site_clear(struct site *site)
{
    slurm_depend_clear(&site->depend);
    jobs_free(&site->jobs);
}

static enum slurm_depend_state state_of(struct site *site, uint32_t row)
{
    int64_t ready_ns;
    return slurm_depend_state(&site->depend, row, &ready_ns);
}

/* The rows that changed, as text. */
static const char *changes(struct site *site)
{
    static char text[200];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t row; (row = slurm_depend_changed(&site->depend)) != JOB_NONE;)
        at += (size_t)snprintf(&text[at], sizeof text - at, "%u%s ", row,
                               state_of(site, row) == DEPENDS_NEVER ? "!" : "");
    return text;
}

/* Jobs a to h of s23 (rows 0 to 6 and 10) and the three of name x (7, 8, 9). Ends as recorded. */
static void recording_s23(void **state)
{
    (void)state;
    static const struct job_line lines[] = {
        { .id = "1", .name = "a" },
        { .id = "2", .name = "b" },
        { .id = "3", .name = "c", .dependency = "afterok:1" },
        { .id = "4", .name = "d", .dependency = "afterok:2" },
        { .id = "5", .name = "e", .dependency = "afternotok:2" },
        { .id = "6", .name = "f", .dependency = "afterany:1:2" },
        { .id = "7", .name = "g", .dependency = "after:1" },
        { .id = "8", .name = "x" },
        { .id = "9", .name = "x", .dependency = "singleton" },
        { .id = "10", .name = "x", .dependency = "singleton" },
        { .id = "11", .name = "h", .dependency = "afterok:1?afterok:2" },
    };
    enum { A, B, C, D, E, F, G, X8, X9, X10, H, COUNT };
    struct site site;
    site_init(&site, lines, COUNT);
    for (uint32_t row = 0; row < COUNT; row++) slurm_depend_submitted(&site.depend, row, 0);
    assert_string_equal(changes(&site), "");
    assert_int_equal(state_of(&site, A), DEPENDS_ON_NOTHING);
    assert_int_equal(state_of(&site, X8), DEPENDS_ON_NOTHING);
    assert_int_equal(state_of(&site, X9), DEPENDS_WAITS);
    slurm_depend_started(&site.depend, A, 0);
    slurm_depend_started(&site.depend, B, 0);
    slurm_depend_started(&site.depend, X8, 0);
    assert_string_equal(changes(&site), "6 ");
    slurm_depend_over(&site.depend, X8, true, 5 * S);
    assert_string_equal(changes(&site), "8 ");
    slurm_depend_started(&site.depend, X9, 5 * S);
    slurm_depend_over(&site.depend, B, false, 6 * S);
    assert_string_equal(changes(&site), "3! 4 ");
    slurm_depend_over(&site.depend, A, true, 8 * S);
    assert_string_equal(changes(&site), "2 5 10 ");
    slurm_depend_over(&site.depend, X9, true, 11 * S);
    assert_string_equal(changes(&site), "9 ");
    site_clear(&site);
}

/* Arrays: 0-2 are tasks 0, 1, 5 of array "7"; 3-5 tasks 0, 1, 2 of "8", which corresponds; 6 wants all of 7. */
static const struct job_line arrays[] = {
    { .id = "7_0", .array = 1, .array_index = 0 },
    { .id = "7_1", .array = 1, .array_index = 1 },
    { .id = "7_5", .array = 1, .array_index = 5 },
    { .id = "8_0", .array = 4, .array_index = 0, .dependency = "aftercorr:7" },
    { .id = "8_1", .array = 4, .array_index = 1, .dependency = "aftercorr:7" },
    { .id = "8_2", .array = 4, .array_index = 2, .dependency = "aftercorr:7" },
    { .id = "9", .dependency = "afterok:7" },
    { .id = "10", .dependency = "after:7_*" },
    { .id = "11", .dependency = "afterok:7_5" },
    { .id = "12", .dependency = "afternotok:7" },
};

static void arrays_as_a_whole(void **state)
{
    (void)state;
    struct site site;
    site_init(&site, arrays, 10);
    for (uint32_t row = 0; row < 10; row++) slurm_depend_submitted(&site.depend, row, 0);
    slurm_depend_started(&site.depend, 0, 0);
    slurm_depend_started(&site.depend, 1, 0);
    slurm_depend_over(&site.depend, 0, true, S);
    assert_string_equal(changes(&site), "3 ");
    slurm_depend_over(&site.depend, 1, false, S);
    assert_string_equal(changes(&site), "4! ");
    slurm_depend_started(&site.depend, 2, S);
    assert_string_equal(changes(&site), "7 "); /* only now all tasks have started */
    slurm_depend_over(&site.depend, 2, true, 2 * S);
    assert_string_equal(changes(&site), "8 5! 6! 9 ");
    site_clear(&site);
}

/* A heterogeneous job is named as a whole, or by one component. */
static void components(void **state)
{
    (void)state;
    static const struct job_line lines[] = {
        { .id = "x+0", .het = 1 },
        { .id = "x+1", .het = 1 },
        { .id = "2", .dependency = "afterok:x" },
        { .id = "3", .dependency = "afterok:x+0" },
        { .id = "4", .dependency = "after:x+1" },
        { .id = "5", .dependency = "after:x+2" },
    };
    struct site site;
    site_init(&site, lines, 6);
    for (uint32_t row = 0; row < 6; row++) slurm_depend_submitted(&site.depend, row, 0);
    slurm_depend_started(&site.depend, 0, 0);
    assert_string_equal(changes(&site), "");
    slurm_depend_started(&site.depend, 1, 0);
    slurm_depend_over(&site.depend, 0, true, S);
    assert_string_equal(changes(&site), "4 5 3 ");
    int64_t ready_ns; /* "x+1" after `after` means x and one minute, "x+2" two */
    slurm_depend_state(&site.depend, 5, &ready_ns);
    assert_true(ready_ns == 120 * S);
    slurm_depend_over(&site.depend, 1, true, 2 * S);
    assert_string_equal(changes(&site), "2 ");
    site_clear(&site);
}

/* A job that is requeued has not ended; what waited for its start goes on; a singleton waits for it again. */
static void requeue(void **state)
{
    (void)state;
    static const struct job_line lines[] = {
        { .id = "1", .name = "n" },
        { .id = "2", .dependency = "after:1" },
        { .id = "3", .dependency = "afterany:1" },
        { .id = "4", .name = "n", .dependency = "singleton" },
        { .id = "5", .dependency = "afternotok:1" },
    };
    struct site site;
    site_init(&site, lines, 5);
    for (uint32_t row = 0; row < 5; row++) slurm_depend_submitted(&site.depend, row, 0);
    slurm_depend_started(&site.depend, 0, 0);
    assert_string_equal(changes(&site), "1 ");
    slurm_depend_requeued(&site.depend, 0, false, S);
    assert_string_equal(changes(&site), "");
    slurm_depend_started(&site.depend, 0, 9 * S);
    slurm_depend_requeued(&site.depend, 0, true, 10 * S); /* RequeueExitHold */
    assert_string_equal(changes(&site), "4 ");
    slurm_depend_started(&site.depend, 0, 20 * S);
    slurm_depend_over(&site.depend, 0, true, 21 * S);
    assert_string_equal(changes(&site), "2 3 ");
    site_clear(&site);
}

/* after:ID+MINUTES: all terms wait for the latest, any for the earliest. */
static void delays(void **state)
{
    (void)state;
    static const struct job_line lines[] = {
        { .id = "1" },
        { .id = "2" },
        { .id = "3", .dependency = "after:1+10,after:2+3" },
        { .id = "4", .dependency = "after:1+10?after:2+3" },
    };
    struct site site;
    site_init(&site, lines, 4);
    for (uint32_t row = 0; row < 4; row++) slurm_depend_submitted(&site.depend, row, 0);
    slurm_depend_started(&site.depend, 0, 5 * S);
    slurm_depend_started(&site.depend, 1, 65 * S);
    assert_string_equal(changes(&site), "3 2 ");
    int64_t ready_ns;
    assert_int_equal(slurm_depend_state(&site.depend, 2, &ready_ns), DEPENDS_MET);
    assert_true(ready_ns == 605 * S);
    assert_int_equal(slurm_depend_state(&site.depend, 3, &ready_ns), DEPENDS_MET);
    assert_true(ready_ns == 245 * S);
    site_clear(&site);
}

static const struct {
    const char *name, *dependency;
    enum slurm_depend_state want; /* after all others have ended well, before it was submitted */
} late[] = {
    { "unknown id", "afterok:99", DEPENDS_INVALID },
    { "itself", "afterany:3", DEPENDS_INVALID },
    { "malformed", "afterok", DEPENDS_INVALID },
    { "an unknown one among others", "afterok:1?afterok:99", DEPENDS_INVALID },
    { "met before its submission", "afterok:1:2", DEPENDS_MET },
    { "lost before its submission", "afternotok:1", DEPENDS_NEVER },
    { "one of several", "afternotok:1?afterany:2", DEPENDS_MET },
    { "none of several", "afternotok:1?afternotok:2", DEPENDS_NEVER },
    { "singleton of no others", "singleton", DEPENDS_WAITS },
};

static void late_submission(void **state)
{
    const size_t row = (size_t)rows_number(state);
    const struct job_line lines[] = {
        { .id = "1" }, { .id = "2" }, { .id = "3", .name = "n", .dependency = late[row].dependency }
    };
    struct site site;
    site_init(&site, lines, 3);
    for (uint32_t job = 0; job < 2; job++) {
        slurm_depend_submitted(&site.depend, job, 0);
        slurm_depend_started(&site.depend, job, 0);
        slurm_depend_over(&site.depend, job, true, S);
    }
    assert_string_equal(changes(&site), ""); /* nobody is told about a job that is not there */
    assert_int_equal(state_of(&site, 2), late[row].want);
    slurm_depend_submitted(&site.depend, 2, 2 * S);
    if (late[row].want == DEPENDS_WAITS) {
        assert_string_equal(changes(&site), "2 ");
        assert_int_equal(state_of(&site, 2), DEPENDS_MET);
    }
    site_clear(&site);
}

/* A cancelled job counts as started and as not ended well. */
static void cancelled(void **state)
{
    (void)state;
    static const struct job_line lines[] = { { .id = "1" },
                                             { .id = "2", .dependency = "after:1" },
                                             { .id = "3", .dependency = "afterok:1" },
                                             { .id = "4", .dependency = "afterok:3" } };
    struct site site;
    site_init(&site, lines, 4);
    for (uint32_t row = 0; row < 4; row++) slurm_depend_submitted(&site.depend, row, 0);
    slurm_depend_over(&site.depend, 0, false, S);
    assert_string_equal(changes(&site), "1 2! ");
    slurm_depend_over(&site.depend, 2, false, S); /* kill_invalid_depend */
    assert_string_equal(changes(&site), "3! ");
    site_clear(&site);
}

static void nobody_depends(void **state)
{
    (void)state;
    static const struct job_line lines[] = { { .id = "1" }, { .id = "2" } };
    struct site site;
    site_init(&site, lines, 2);
    assert_int_equal(site.depend.job_count, 0);
    slurm_depend_submitted(&site.depend, 0, 0);
    slurm_depend_started(&site.depend, 0, 0);
    slurm_depend_over(&site.depend, 0, true, 0);
    assert_int_equal(state_of(&site, 1), DEPENDS_ON_NOTHING);
    assert_string_equal(changes(&site), "");
    site_clear(&site);
}

/* The twin: states of all jobs from what has happened, term by term, as slurmctld does. */
enum { JOBS = 60, NOT_YET = 0, PENDING, RUNNING, GOOD, BAD };

struct twin {
    struct job_line lines[JOBS];
    char ids[JOBS][8], names[JOBS][8], texts[JOBS][64];
    int phase[JOBS];
    bool began[JOBS],
        alone[JOBS]; /* alone: its singleton term was met once                        */
};

static void twin_make(struct twin *twin, uint64_t seed)
{
    static const char *const types[] = { "after", "afterok", "afternotok", "afterany" };
    for (uint32_t row = 0; row < JOBS; row++) {
        snprintf(twin->ids[row], sizeof twin->ids[row], "%u", 100 + row);
        snprintf(twin->names[row], sizeof twin->names[row], "n%u",
                 any_count(seed, 100 * row, 0, 5));
        size_t at = 0;
        const uint32_t terms = row == 0 ? 0 : any_count(seed, 100 * row + 1, 0, 3);
        const char separator = any(seed, 100 * row + 2) < 0.5 ? ',' : '?';
        for (uint32_t t = 0; t < terms; t++) {
            if (t > 0) twin->texts[row][at++] = separator;
            at += (size_t)snprintf(&twin->texts[row][at], sizeof twin->texts[row] - at, "%s:%u",
                                   types[any_count(seed, 100 * row + 10 + t, 0, 3)],
                                   100 + any_count(seed, 100 * row + 20 + t, 0, row - 1));
        }
        if (any(seed, 100 * row + 3) < 0.3)
            snprintf(&twin->texts[row][at], sizeof twin->texts[row] - at, "%s%s",
                     terms > 0 ? (separator == ',' ? "," : "?") : "", "singleton");
        twin->lines[row] = (struct job_line){ .id = twin->ids[row],
                                              .name = twin->names[row],
                                              .dependency = twin->texts[row] };
    }
}

static bool twin_alone(struct twin *twin, uint32_t row)
{
    bool alone = twin->phase[row] == PENDING;
    for (uint32_t other = 0; other < JOBS; other++) {
        if (other == row || strcmp(twin->names[other], twin->names[row]) != 0) continue;
        if (twin->phase[other] == RUNNING) alone = false;
        if (other < row && twin->phase[other] < GOOD) alone = false;
    }
    return twin->alone[row] |= alone;
}

static enum slurm_depend_state twin_state(struct twin *twin, uint32_t row)
{
    struct depend_reader reader = { .text = twin->texts[row] };
    struct depend_term term;
    uint32_t met = 0, failed = 0, terms = 0;
    while (depend_next(&reader, &term)) {
        terms++;
        if (term.type == DEPEND_SINGLETON) {
            met += twin_alone(twin, row);
            continue;
        }
        const uint32_t other = (uint32_t)atoi(term.id) - 100;
        const int phase = twin->phase[other];
        if (term.type == DEPEND_AFTER)
            met += twin->began[other] || phase >= GOOD;
        else if (phase >= GOOD) {
            const bool good =
                term.type == DEPEND_AFTER_ANY || (phase == GOOD) == (term.type == DEPEND_AFTER_OK);
            good ? met++ : failed++;
        }
    }
    if (terms == 0) return DEPENDS_ON_NOTHING;
    if (depend_is_any(twin->texts[row]))
        return met > 0 ? DEPENDS_MET : failed == terms ? DEPENDS_NEVER : DEPENDS_WAITS;
    return failed > 0 ? DEPENDS_NEVER : met == terms ? DEPENDS_MET : DEPENDS_WAITS;
}

static void like_the_twin(void **state)
{
    const uint64_t seed = rows_number(state);
    struct twin *twin = calloc(1, sizeof *twin);
    assert_non_null(twin);
    twin_make(twin, seed);
    struct site site;
    site_init(&site, twin->lines, JOBS);
    uint32_t submitted = 0;
    for (uint64_t step = 0; step < 600; step++) {
        const uint32_t row = any_count(seed, 100000 + 2 * step, 0, JOBS - 1);
        const double what = any(seed, 100001 + 2 * step);
        int *phase = &twin->phase[row];
        if (submitted < JOBS && what < 0.3) {
            twin->phase[submitted] = PENDING;
            slurm_depend_submitted(&site.depend, submitted++, (int64_t)step);
        } else if (*phase == PENDING && what < 0.9 &&
                   (twin_state(twin, row) == DEPENDS_MET ||
                    twin_state(twin, row) == DEPENDS_ON_NOTHING)) {
            *phase = RUNNING;
            twin->began[row] = true;
            slurm_depend_started(&site.depend, row, (int64_t)step);
        } else if (*phase == RUNNING && what < 0.5) {
            *phase = PENDING;
            slurm_depend_requeued(&site.depend, row, false, (int64_t)step);
        } else if (*phase == RUNNING || (*phase == PENDING && what > 0.97)) {
            const bool ok = *phase == RUNNING && what < 0.8;
            *phase = ok ? GOOD : BAD;
            slurm_depend_over(&site.depend, row, ok, (int64_t)step);
        }
        for (uint32_t each = 0; each < JOBS; each++) {
            /* The twin looks at singletons that are pending; the module when something happens to them. */
            const enum slurm_depend_state want = twin_state(twin, each);
            CHECK(state_of(&site, each) == want, "step %u: job %u (%s) is %d, want %d",
                  (unsigned)step, each, twin->texts[each], state_of(&site, each), want);
        }
        for (uint32_t told; (told = slurm_depend_changed(&site.depend)) != JOB_NONE;)
            assert_true(twin->phase[told] == PENDING);
    }
    site_clear(&site);
    free(twin);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, recording_s23, NULL, "recording s23");
    rows_add(&rows, arrays_as_a_whole, NULL, "arrays");
    rows_add(&rows, components, NULL, "heterogeneous jobs");
    rows_add(&rows, requeue, NULL, "requeue");
    rows_add(&rows, delays, NULL, "after with minutes");
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        rows_add(&rows, late_submission, (void *)(uintptr_t)i, "%s", late[i].name);
    rows_add(&rows, cancelled, NULL, "a cancelled job");
    rows_add(&rows, nobody_depends, NULL, "nobody depends on anything");
    for (uint64_t seed = 1; seed <= 60; seed++)
        rows_add(&rows, like_the_twin, (void *)(uintptr_t)seed, "jobs %u", (unsigned)seed);
    return rows_run("slurm_depend", &rows);
}
