/* test_slurm_ready.c - policy/slurm_ready against recordings s21, s22 and s23, and random lives of arrays. */
#include "policy/slurm_ready.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

#define S NS_PER_S

struct site {
    struct slurm_spec spec;
    struct jobs jobs;
    struct slurm_ready ready;
    int64_t now_ns;
};

static void site_init(struct site *site, const struct job_line *lines, uint32_t count)
{
    *site = (struct site){ .jobs = jobs_of_lines(lines, count) };
    assert_true(slurm_ready_init(&site->ready, &site->spec, &site->jobs));
}

static void site_clear(struct site *site)
{
    assert_false(site->ready.out_of_memory);
    slurm_ready_clear(&site->ready);
    jobs_free(&site->jobs);
}

/* What is told at a time: "3+" ready, "3-" blocked, "3!" to be refused. Live rows are rows of the list here. */
static const char *told(struct site *site, int64_t now_s)
{
    static char text[400];
    size_t at = 0;
    uint32_t live;
    enum slurm_ready_change change;
    const char *reason;
    text[0] = '\0';
    while (slurm_ready_next(&site->ready, now_s * S, &live, &change, &reason))
        at += (size_t)snprintf(&text[at], sizeof text - at, "%u%c ", live, "+-!"[change]);
    return text;
}

static void submit_all(struct site *site)
{
    for (uint32_t row = 0; row < site->jobs.count; row++)
        slurm_ready_submit(&site->ready, row, row, 0);
}

static void waits_for(struct site *site, uint32_t live, const char *want)
{
    const char *got = slurm_ready_reason(&site->ready, live);
    CHECK(want ? got && strcmp(got, want) == 0 : !got, "job %u waits for %s, want %s", live,
          got ? got : "nothing", want ? want : "nothing");
}

/* Array a of s22: 0-5%2. Two tasks at 0 s, two more when these end at 6 s, the last two at 13 s. */
static void recording_s22(void **state)
{
    (void)state;
    struct job_line lines[7] = { { 0 } };
    char ids[6][8];
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(ids[i], sizeof ids[i], "1_%u", i);
        lines[i] =
            (struct job_line){ .id = ids[i], .array = 1, .array_index = i, .array_limit = 2 };
    }
    lines[6] = (struct job_line){ .id = "3" };
    struct site site;
    site_init(&site, lines, 7);
    submit_all(&site);
    assert_string_equal(told(&site, 0), "0+ 1+ 2- 3- 4- 5- 6+ ");
    waits_for(&site, 2, "JobArrayTaskLimit");
    waits_for(&site, 0, NULL);
    for (uint32_t pair = 0; pair < 6; pair += 2) {
        slurm_ready_start(&site.ready, pair, 7 * pair * S);
        slurm_ready_start(&site.ready, pair + 1, 7 * pair * S);
        slurm_ready_over(&site.ready, pair, true, (7 * pair + 6) * S);
        slurm_ready_over(&site.ready, pair + 1, true, (7 * pair + 6) * S);
        assert_string_equal(told(&site, 7 * pair + 6), pair == 0   ? "2+ 3+ "
                                                       : pair == 2 ? "4+ 5+ "
                                                                   : "");
        if (pair == 0) assert_true(slurm_ready_since_ns(&site.ready, 2) == 6 * S);
    }
    site_clear(&site);
}

/* s21: b ends with a code of RequeueExit and is eligible 7 s later; c with one of RequeueExitHold and stays held. */
static void recording_s21(void **state)
{
    (void)state;
    static const struct job_line lines[] = { { .id = "2" }, { .id = "3" } };
    struct site site;
    site_init(&site, lines, 2);
    submit_all(&site);
    assert_string_equal(told(&site, 0), "0+ 1+ ");
    slurm_ready_start(&site.ready, 0, 0);
    slurm_ready_stop(&site.ready, 0, 5 * S);
    slurm_ready_start(&site.ready, 1, 5 * S);
    slurm_ready_stop(&site.ready, 1, 11 * S);
    slurm_ready_special(&site.ready, 1, 11 * S);
    assert_string_equal(told(&site, 11), "");
    slurm_ready_again(&site.ready, 0, false, 12 * S);
    assert_string_equal(told(&site, 12), "0+ ");
    assert_true(slurm_ready_since_ns(&site.ready, 0) == 12 * S); /* its age starts anew */
    slurm_ready_again(&site.ready, 1, true, 18 * S);
    assert_string_equal(told(&site, 18), "1- ");
    waits_for(&site, 1, "JobHeldUser");
    slurm_ready_hold(&site.ready, 1, false, 30 * S);
    assert_string_equal(told(&site, 30), "1+ ");
    site_clear(&site);
}

/* Holds, begin times and dependencies at once: the job is ready when the last of them is gone. */
static void reasons_in_turn(void **state)
{
    (void)state;
    static const struct job_line lines[] = {
        { .id = "1" },
        { .id = "2", .hold = true, .begin_s = 20, .dependency = "afterok:1" },
        { .id = "3", .begin_s = 10 },
        { .id = "4", .dependency = "after:1+1" },
    };
    struct site site;
    site_init(&site, lines, 4);
    submit_all(&site);
    assert_string_equal(told(&site, 0), "0+ 1- 2- 3- ");
    waits_for(&site, 1, "JobHeldUser");
    waits_for(&site, 2, "BeginTime");
    assert_true(slurm_ready_wake_ns(&site.ready) == 10 * S);
    slurm_ready_start(&site.ready, 0, 5 * S);
    slurm_ready_hold(&site.ready, 1, false, 6 * S);
    waits_for(&site, 1, "Dependency");
    assert_string_equal(told(&site, 9), "");
    assert_string_equal(told(&site, 10), "2+ ");
    assert_true(slurm_ready_since_ns(&site.ready, 2) == 10 * S);
    slurm_ready_over(&site.ready, 0, true, 15 * S);
    waits_for(&site, 1, "BeginTime");
    assert_true(slurm_ready_wake_ns(&site.ready) == 20 * S);
    assert_string_equal(told(&site, 20), "1+ ");
    waits_for(&site, 3, "Dependency");
    assert_true(slurm_ready_wake_ns(&site.ready) == 65 * S);
    assert_string_equal(told(&site, 64), "");
    assert_string_equal(told(&site, 65), "3+ ");
    assert_true(slurm_ready_wake_ns(&site.ready) == TIME_NEVER);
    site_clear(&site);
}

/* A user holds a ready job and releases it; both before anybody asks: nothing to tell. */
static void hold_and_release(void **state)
{
    (void)state;
    static const struct job_line lines[] = { { .id = "1" } };
    struct site site;
    site_init(&site, lines, 1);
    submit_all(&site);
    assert_string_equal(told(&site, 0), "0+ ");
    slurm_ready_hold(&site.ready, 0, true, S);
    assert_string_equal(told(&site, 1), "0- ");
    slurm_ready_hold(&site.ready, 0, false, 2 * S);
    slurm_ready_hold(&site.ready, 0, true, 2 * S);
    assert_string_equal(told(&site, 2), "");
    slurm_ready_hold(&site.ready, 0, false, 3 * S);
    assert_string_equal(told(&site, 3), "0+ ");
    assert_true(slurm_ready_since_ns(&site.ready, 0) == 3 * S);
    site_clear(&site);
}

/* d of s23 depends on a job that failed: it waits for ever, or leaves with kill_invalid_depend, and then whoever waits
 * for it to end well leaves too. One that names nobody leaves in any case. */
static void impossible(void **state)
{
    const bool kill = rows_number(state);
    static const struct job_line lines[] = { { .id = "1" },
                                             { .id = "2", .dependency = "afterok:1" },
                                             { .id = "3", .dependency = "afterok:2" },
                                             { .id = "4", .dependency = "afterok:77" } };
    struct site site;
    site_init(&site, lines, 4);
    site.spec.kill_invalid_depend = kill;
    submit_all(&site);
    assert_string_equal(told(&site, 0), "0+ 1- 2- 3! ");
    slurm_ready_over(&site.ready, 3, false, 0);
    slurm_ready_start(&site.ready, 0, 0);
    slurm_ready_over(&site.ready, 0, false, 6 * S);
    assert_string_equal(told(&site, 6), kill ? "1! " : "");
    waits_for(&site, 1, "DependencyNeverSatisfied");
    if (kill) {
        slurm_ready_over(&site.ready, 1, false, 6 * S);
        assert_string_equal(told(&site, 6), "2! ");
    }
    site_clear(&site);
}

/* Live rows are used again: a timer or a change of the job before means nothing to the new one. */
static void rows_used_again(void **state)
{
    (void)state;
    static const struct job_line lines[] = { { .id = "1", .begin_s = 10 },
                                             { .id = "2", .begin_s = 30 },
                                             { .id = "3" } };
    struct site site;
    site_init(&site, lines, 3);
    slurm_ready_submit(&site.ready, 0, 0, 0);
    slurm_ready_over(&site.ready, 0, false, 5 * S); /* cancelled, untold */
    slurm_ready_submit(&site.ready, 0, 1, 5 * S);
    assert_string_equal(told(&site, 5), "0- ");
    assert_string_equal(told(&site, 34), "");
    assert_string_equal(told(&site, 35), "0+ ");
    slurm_ready_start(&site.ready, 0, 35 * S);
    slurm_ready_over(&site.ready, 0, true, 36 * S);
    slurm_ready_over(&site.ready, 0, true, 36 * S); /* twice is harmless */
    slurm_ready_submit(&site.ready, 0, 2, 37 * S);
    assert_string_equal(told(&site, 37), "0+ ");
    site_clear(&site);
}

/* Three arrays with throttles 1, 2 and 7, held, started, requeued and ended at random: never more than k tasks are ready
 * or run, and a task is parked only while k are. Of parked tasks the first becomes ready. */
enum { TASKS = 60 };

static void array_invariants(struct site *site, const bool *gone)
{
    static const uint32_t limit[] = { 1, 2, 7 };
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t counted = 0, parked = 0, first_parked = TASKS;
        for (uint32_t i = 20 * a; i < 20 * a + 20; i++) {
            const struct slurm_ready_job *job = &site->ready.lives[i];
            if (gone[i]) continue;
            const bool runs = job->state == READY_RUNS && !job->stopped;
            if (runs || (job->state == READY_WAITS && job->blocked == 0)) counted++;
            if (job->state == READY_WAITS && job->blocked == BLOCKED_ARRAY) {
                parked++;
                if (first_parked == TASKS) first_parked = i;
            }
            assert_int_equal(job->blocked & BLOCKED_ARRAY ? job->blocked : BLOCKED_ARRAY,
                             BLOCKED_ARRAY);
        }
        assert_in_range(counted, 0, limit[a]);
        if (parked == 0) continue;
        assert_int_equal(counted, limit[a]);
        assert_int_equal(site->ready.arrays[site->ready.array_of[20 * a]].first_parked,
                         first_parked);
    }
}

static void random_arrays(void **state)
{
    const uint64_t seed = rows_number(state);
    static const uint32_t limit[] = { 1, 2, 7 };
    struct job_line lines[TASKS];
    bool gone[TASKS] = { false }, knows_ready[TASKS] = { false };
    for (uint32_t i = 0; i < TASKS; i++)
        lines[i] = (struct job_line){ .id = "t",
                                      .array = 20 * (i / 20) + 1,
                                      .array_index = i % 20,
                                      .array_limit = limit[i / 20],
                                      .hold = any(seed, i) < 0.2,
                                      .begin_s = any(seed, 100 + i) < 0.2 ? 50 : 0 };
    struct site site;
    site_init(&site, lines, TASKS);
    submit_all(&site);
    for (uint32_t step = 0; step < 1500; step++) {
        const uint32_t i = any_count(seed, 1000 + 2 * step, 0, TASKS - 1);
        const double what = any(seed, 1001 + 2 * step);
        struct slurm_ready_job *job = &site.ready.lives[i];
        const int64_t now_ns = step / 10 * S;
        if (job->state == READY_WAITS && job->blocked == 0 && what < 0.3)
            slurm_ready_start(&site.ready, i, now_ns);
        else if (job->state == READY_WAITS && what < 0.6)
            slurm_ready_hold(&site.ready, i, !(job->blocked & BLOCKED_HELD), now_ns);
        else if (job->state == READY_RUNS && !job->stopped && what < 0.5)
            slurm_ready_stop(&site.ready, i, now_ns);
        else if (job->state == READY_RUNS && what < 0.9)
            slurm_ready_again(&site.ready, i, what < 0.6, now_ns);
        else if (what > 0.98) {
            slurm_ready_over(&site.ready, i, true, now_ns);
            gone[i] = true;
        }
        uint32_t live;
        enum slurm_ready_change change;
        const char *reason;
        while (slurm_ready_next(&site.ready, now_ns, &live, &change, &reason))
            knows_ready[live] = change == CHANGE_READY;
        for (uint32_t t = 0; t < TASKS; t++)
            if (!gone[t] && site.ready.lives[t].state == READY_WAITS)
                assert_int_equal(knows_ready[t], site.ready.lives[t].blocked == 0);
        array_invariants(&site, gone);
    }
    site_clear(&site);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, recording_s22, NULL, "recording s22: a throttled array");
    rows_add(&rows, recording_s21, NULL, "recording s21: requeued, and requeued held");
    rows_add(&rows, reasons_in_turn, NULL, "hold, begin time and dependency");
    rows_add(&rows, hold_and_release, NULL, "hold and release");
    rows_add(&rows, impossible, (void *)0, "an impossible dependency waits");
    rows_add(&rows, impossible, (void *)1, "an impossible dependency is killed");
    rows_add(&rows, rows_used_again, NULL, "rows are used again");
    for (uint64_t seed = 1; seed <= 40; seed++)
        rows_add(&rows, random_arrays, (void *)(uintptr_t)seed, "arrays %u", (unsigned)seed);
    return rows_run("slurm_ready", &rows);
}
