/* test_verdict.c - the sentences, word for word where the numbers are simple. */
#include "fixture_report.h"

#include "report/prose.h"
#include "report/verdict.h"

#include <gsl/gsl_errno.h>

enum { REPLICAS = 4 };

struct luck {
    double yield[LIMIT_LAYOUTS],
        wobble; /* wobble: what differs from replica to replica, and not alike */
    double completion_s
        [LIMIT_LAYOUTS]; /* 0 = no job of 16 GPUs and more                              */
    uint32_t
        blast_gpus[LIMIT_LAYOUTS]; /* 0 = no failure-only run                                     */
};

/* Stores `replicas` of each variant; row's layout gives its values. The verdict's text is the caller's to free. */
static char *verdict_of(struct fixture *f, const struct luck *luck, uint32_t replicas)
{
    struct store *store = open_store(f);
    for (uint32_t row = 0; row < f->plan.variant_count; row++) {
        const uint32_t layout = f->plan.variants[row].layout;
        for (uint32_t replica = 0; replica < replicas; replica++) {
            struct replica_result r = fixture_result(row, replica);
            const double sign = (replica + layout) % 2 ? 1 : -1;
            fixture_metric(&r, "yield", "1", CLASS_NONE, luck->yield[layout] + sign * luck->wobble);
            fixture_metric(&r, "share_lost", "1", CLASS_NONE, 0.0075 * (1 + layout));
            fixture_metric(&r, "share_down", "1", CLASS_NONE, 0.0025 * (1 + layout));
            if (luck->completion_s[layout] > 0) {
                fixture_metric(&r, "completion_s_mean", "s", CLASS_16_63,
                               luck->completion_s[layout]);
                fixture_metric(&r, "jobs_done", "1", CLASS_16_63, 31);
            }
            fixture_store(store, &r, f->diag);
        }
        if (luck->blast_gpus[layout] > 0) {
            struct replica_result b = fixture_result(row, REPLICA_BLAST);
            fixture_incident(&b, COMPONENT_SERVER, 5, luck->blast_gpus[layout]);
            fixture_store(store, &b, f->diag);
        }
    }
    struct report report;
    report_finish(f, store, &report);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    verdict_write(&report.c, out);
    fclose(out);
    report_clear(&report);
    if (getenv("GPUPLAN_SHOW") != NULL) prose_wrap(stdout, text, PROSE_COLUMNS);
    return text;
}

static void holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("'%s'\nis not in\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("'%s'\nis in\n%s", part, text);
}

/* No wobble: the intervals are points. 132 / 120 = 1.1. */
static void two_layouts(void **state)
{
    const struct luck luck = { .yield = { 0.87, 0.79 },
                               .completion_s = { 120, 132 },
                               .blast_gpus = { 8, 4 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text,
          "At 16 GPUs each, dense8 yields the most: a held GPU-hour does 0.870 useful hours on "
          "dense8 and 0.790 on sparse4 [0.080 to 0.080 less]. Compared with dense8, jobs of 16 "
          "GPUs and more finish 10 % later on sparse4 [10, 10]. A fault of hardware takes 8 "
          "GPUs on dense8 and 4 GPUs on sparse4 (median); the layouts lose 1.00 and 2.00 % "
          "of their hours to rolled-back work, broken and draining GPUs.\n");
    holds(text,
          "Brackets hold 95 % intervals over 4 replicas, jointly for 2 layouts and 2 headline "
          "quantities; they cover both sources of luck, the days of the trace and the faults, "
          "not what the model leaves out.");
    holds(text,
          "It rests on communication by_size, scale 1 (profiles: 1 assumed; which job has which "
          "is assumed) and on failure rates llama3, scale 1 (1 published). How far these may "
          "move before the verdict turns has not been computed.");
    free(text);
}

static void the_better_may_be_the_other(void **state)
{
    const struct luck luck = { .yield = { 0.5, 0.625 }, .completion_s = { 200, 150 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text, "sparse4 yields the most");
    holds(text, "0.625 useful hours on sparse4 and 0.500 on dense8 [0.125 to 0.125 less]");
    holds(text, "finish 25 % earlier on sparse4 [25, 25]");
    holds(text, "No fault of hardware is simulated.");
    free(text);
}

/* Differences 0.01 -+ 0.1 in turns: the interval holds 0. */
static void luck_decides_nothing(void **state)
{
    const struct luck luck = { .yield = { 0.80, 0.79 }, .wobble = 0.05 };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text,
          "which layout yields the most cannot be told: a held GPU-hour does 0.800 useful hours "
          "on dense8 and 0.790 on sparse4 [cannot tell: from ");
    lacks(text, "yields the most: ");
    holds(text, "No pair finished jobs of 16 GPUs and more on both layouts.");
    free(text);
}

static void equal_layouts_are_the_same(void **state)
{
    const struct luck luck = { .yield = { 0.8, 0.8 }, .completion_s = { 7, 7 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text, "0.800 on sparse4 [exactly the same]");
    holds(text, "finish at exactly the same time on sparse4");
    free(text);
}

static void one_replica_has_no_interval(void **state)
{
    const struct luck luck = { .yield = { 0.87, 0.79 }, .completion_s = { 120, 132 } };
    char *text = verdict_of(*state, &luck, 1);
    holds(text, "which layout yields the most cannot be told");
    holds(text, "0.790 on sparse4 [no interval (1 replica): cannot tell]");
    holds(text, "10.0 % later on sparse4 [no interval (1 replica): cannot tell]");
    holds(text, "1 replica: no interval exists, and no difference can be told from luck.");
    free(text);
}

static void three_layouts_in_one_sentence(void **state)
{
    struct fixture *f = *state;
    fixture_layout(&f->scenario, 2, "sparse1", 15, 1);
    f->scenario.layout_count = 3;
    f->scenario.layouts[2].server.mark = MARK_HYPOTHETICAL;
    snprintf(f->scenario.layouts[2].server.gpu, LIMIT_NAME_BYTES, "a100");
    fixture_plan(f);
    f->plan.variants[2].jobs_never_fit = 3;
    f->plan.variants[2].unserved_gpu_s = 7200;
    const struct luck luck = { .yield = { 0.75, 0.5, 0.625 }, .completion_s = { 100, 110, 150 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text,
          "With 16 GPUs on dense8, 16 GPUs on sparse4 and 15 GPUs on sparse1, dense8 yields the "
          "most: a held GPU-hour does 0.750 useful hours on dense8, 0.500 on sparse4 [0.250 to "
          "0.250 less] and 0.625 on sparse1 [0.125 to 0.125 less].");
    holds(text, "finish 10 % later on sparse4 [10, 10] and 50 % later on sparse1 [50, 50].");
    holds(text, "sparse1 can never hold 3 jobs of the trace (2.0 GPU-hours)");
    holds(text, "The layouts differ in their GPU models");
    holds(text, "The server of sparse1 is hypothetical: nobody sells it.");
    free(text);
}

/* sparse4 wobbles against dense8, sparse1 is far below both. */
static void a_close_second_is_named(void **state)
{
    struct fixture *f = *state;
    fixture_layout(&f->scenario, 2, "sparse1", 16, 1);
    f->scenario.layout_count = 3;
    fixture_plan(f);
    const struct luck luck = { .yield = { 0.80, 0.79, 0.3 }, .wobble = 0.01 };
    char *text = verdict_of(f, &luck, 8);
    holds(text, "dense8 yields the most, but cannot be told from sparse4: a held GPU-hour does");
    free(text);
}

static void overload_is_said(void **state)
{
    struct fixture *f = *state;
    f->plan.variants[1].offered_load = 1.07;
    const struct luck luck = { .yield = { 0.87, 0.79 }, .completion_s = { 120, 132 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text,
          "The offered load is 1.07 on sparse4: waits and completion there grow with the horizon "
          "and are not quoted.");
    lacks(text, "later on");
    free(text);
}

static void every_slack_has_its_line(void **state)
{
    struct fixture *f = *state;
    f->scenario.slack_count = 3;
    f->scenario.slack[1] = 2;
    f->scenario.slack[2] = SLACK_ANY;
    fixture_plan(f);
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text,
          "\nWith slack 2 (up to so many servers more rather than wait): dense8 yields the most");
    holds(text,
          "\nWith slack any (a job takes any servers rather than wait): dense8 yields the most");
    free(text);
}

static void one_layout_is_no_comparison(void **state)
{
    struct fixture *f = *state;
    f->scenario.layout_count = 1;
    fixture_plan(f);
    const struct luck luck = { .yield = { 0.87 }, .blast_gpus = { 1 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "At 16 GPUs, a held GPU-hour does 0.870 useful hours on dense8 [0.870, 0.870].");
    holds(text, "A fault of hardware takes 1 GPU on dense8 (median); the layout loses 1.00 %");
    lacks(text, "jointly");
    lacks(text, "finish");
    free(text);
}

/* Neither faults nor days: the verdict does not claim luck that was not drawn. */
static void sources_of_luck_are_named(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    f->scenario.resample = RESAMPLE_NONE;
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "they cover the faults alone, since the trace's days are not resampled");
    free(text);
    snprintf(f->scenario.failures.rates, LIMIT_NAME_BYTES, "none");
    f->scenario.communication.kind = COMM_NONE;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text, "neither the trace's days nor faults vary between them");
    holds(text, "It rests on jobs that do not communicate and on hardware that never fails.");
    free(text);
    f->scenario.resample = RESAMPLE_DAYS;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text, "they cover the days of the trace; no failures are simulated");
    free(text);
}

static void names_are_escaped(void **state)
{
    struct fixture *f = *state;
    snprintf(f->scenario.layouts[0].name, LIMIT_NAME_BYTES, "%s", ESCAPE_NAME);
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "red\\x1b[31m\\u202e yields the most");
    assert_null(strchr(text, '\x1b'));
    free(text);
}

static void an_incomplete_run_says_so(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t row = 0; row < 2; row++) {
        struct replica_result r = fixture_result(row, 0);
        fixture_metric(&r, "yield", "1", CLASS_NONE, 0.5);
        fixture_store(store, &r, f->diag);
    }
    store_abandon(store);
    char partial[160], *text;
    snprintf(partial, sizeof partial, "%s.partial", f->path);
    struct report report;
    assert_int_equal(store_read(partial, &report.stored, f->diag), STATUS_OK);
    assert_int_equal(comparison_build(&report.stored, NULL, &report.c, f->diag), STATUS_OK);
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    verdict_write(&report.c, out);
    fclose(out);
    holds(text, "The run is not complete: this is what it has stored so far.");
    free(text);
    report_clear(&report);
}

/* ---- prose ---- */

static void wrapping(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "" },
        { "one", "one\n" },
        { "one two three", "one two\nthree\n" },
        { "a longerword b", "a\nlongerword\nb\n" },
        { "x\ny z", "x\ny z\n" },
        { "12 3 % x", "12 3 %\nx\n" },
        { "abcd 3 % x", "abcd\n3 % x\n" }, /* "abcd 3" would fit */
        { "± ± ± ±", "± ± ± ±\n" },        /* 7 characters, 11 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        prose_wrap(out, cases[i].text, 7);
        fclose(out);
        assert_string_equal(text, cases[i].want);
        free(text);
    }
}

static void decimals_show_the_interval(void **state)
{
    (void)state;
    assert_int_equal(prose_decimals(0.0123, 3), 3);
    assert_int_equal(prose_decimals(0.00042, 3), 4);
    assert_int_equal(prose_decimals(0, 3), 3);
    assert_int_equal(prose_decimals(1e-30, 3), 6);
    assert_int_equal(prose_decimals(12, 0), 0);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(two_layouts),
        ROW(the_better_may_be_the_other),
        ROW(luck_decides_nothing),
        ROW(equal_layouts_are_the_same),
        ROW(one_replica_has_no_interval),
        ROW(three_layouts_in_one_sentence),
        ROW(a_close_second_is_named),
        ROW(overload_is_said),
        ROW(every_slack_has_its_line),
        ROW(one_layout_is_no_comparison),
        ROW(sources_of_luck_are_named),
        ROW(names_are_escaped),
        ROW(an_incomplete_run_says_so),
        cmocka_unit_test(wrapping),
        cmocka_unit_test(decimals_show_the_interval),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
