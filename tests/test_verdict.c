/* test_verdict.c - the sentences, word for word where the numbers are simple. */
#include "verdict_runs.h"

#include <gsl/gsl_errno.h>

/* No wobble: the intervals are points. 132 / 120 = 1.1. One fault in 11 days: 8 * 365 / 11 = 265.5 GPUs a year. */
static void two_layouts(void **state)
{
    const struct luck luck = { .yield = { 0.87, 0.79 },
                               .completion_s = { 120, 132 },
                               .blast_gpus = { 8, 4 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    assert_string_equal(
        text,
        "At 16 GPUs each, dense8 yields the most: 0.870 useful hours per held GPU-hour and 0.790 "
        "on "
        "sparse4 [0.080 to 0.080 less]. Compared with dense8, jobs of 16 GPUs and more finish 10 % "
        "later on sparse4 [10, 10]. On dense8 and sparse4 a hardware fault takes 8 and 4 GPUs; "
        "all faults of a year take 265 and 133; lost work and repairs cost 1.00 and 2.00 % of the "
        "hours.\n"
        "How far the assumptions may move before the verdict turns has not been computed.\n"
        "Brackets: joint 95 % over 4 replicas for luck in days and faults, without model error. 1 "
        "of "
        "4 rows of the log was skipped (no GPUs). It rests on communication by_size (profiles "
        "assumed) and failure rates llama3 (published). Durations are as recorded on 2 dgx-h100, "
        "with start-up, checkpoints and stalls, each job on the fewest servers (compact).\n");
    free(text);
}

static void the_better_may_be_the_other(void **state)
{
    const struct luck luck = { .yield = { 0.5, 0.625 }, .completion_s = { 200, 150 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text, "sparse4 yields the most: 0.625 useful hours per held GPU-hour and 0.500 on dense8 "
                "[0.125 to 0.125 less]");
    holds(text, "finish 25 % earlier on sparse4 [25, 25]");
    holds(text, "No fault of hardware is simulated.");
    free(text);
}

/* 120 s and 30 s, each 40 % up and down in turns: ratios 30/120 * 1.4/0.6 and 30/120 * 0.6/1.4, 65.5 % earlier -+ 23.8 in turns.
 * Of six replicas, one of four differences: half = 3.810 * 23.8 / sqrt(5) = 40.6. No job ends more than 100 % earlier. */
static void nothing_is_more_than_all_earlier(void **state)
{
    const struct luck luck = { .yield = { 0.87, 0.79 },
                               .completion_s = { 120, 30 },
                               .completion_wobble = 0.4 };
    char *text = verdict_of(*state, &luck, 6);
    holds(text, "finish 65 % earlier on sparse4 [25, 100]");
    free(text);
}

/* Shares that differ are told apart; those that differ by the rounding of a sum are not told. */
static void shares_read_as_what_they_are(void **state)
{
    const struct luck close = { .yield = { 0.87, 0.79 }, .goodput = { 0.60411, 0.60444 } };
    char *text = verdict_of(*state, &close, REPLICAS);
    holds(text,
          "but sparse4 does more useful work: 60.44 % of its capacity against 60.41 % [0.03 to "
          "0.03 points more]");
    free(text);
    const struct luck same = { .yield = { 0.87, 0.79 }, .goodput = { 0.3, 0.1 + 0.2 } };
    text = verdict_of(*state, &same, REPLICAS);
    lacks(text, "useful work");
    free(text);
}

/* Differences 0.01 -+ 0.1 in turns: the interval holds 0. */
static void luck_decides_nothing(void **state)
{
    const struct luck luck = { .yield = { 0.80, 0.79 }, .wobble = 0.05 };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text, "which layout yields the most cannot be told: 0.800 useful hours per held GPU-hour "
                "on dense8 and 0.790 on sparse4 [0.");
    lacks(text, "yields the most: ");
    holds(text, "No pair finished jobs on both layouts.");
    free(text);
}

static void equal_layouts_are_the_same(void **state)
{
    const struct luck luck = { .yield = { 0.8, 0.8 }, .completion_s = { 7, 7 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text, "all layouts yield the same: 0.800 useful hours per held GPU-hour. Compared");
    holds(text, "finish at the same time on sparse4");
    free(text);
}

static void one_replica_has_no_interval(void **state)
{
    const struct luck luck = { .yield = { 0.87, 0.79 }, .completion_s = { 120, 132 } };
    char *text = verdict_of(*state, &luck, 1);
    holds(text, "which layout yields the most cannot be told");
    holds(text, "0.790 on sparse4 [1 replica: cannot tell]");
    holds(text, "Whether jobs of 16 GPUs and more finish earlier or later than on dense8 cannot be "
                "told on sparse4 [1 replica: 10.0 % later].");
    holds(text, "1 replica: no interval exists, and no difference can be told from luck.");
    free(text);
}

/* The same hardware twice shares its luck: one replica tells that it does not differ. */
static void one_replica_tells_twins(void **state)
{
    struct fixture *f = *state;
    fixture_layout(&f->scenario, 1, "dense8 again", 2, 8);
    fixture_plan(f);
    const struct luck luck = { .yield = { 0.8, 0.8 }, .completion_s = { 7, 7 } };
    char *text = verdict_of(f, &luck, 1);
    holds(text, "all layouts yield the same: 0.800");
    holds(text, "finish at the same time on dense8 again");
    free(text);
}

static void without_chance(struct fixture *f)
{
    snprintf(f->scenario.failures.rates, LIMIT_NAME_BYTES, "none");
    f->scenario.failures.component[COMPONENT_SERVER].law = LAW_NONE;
    f->scenario.resample = RESAMPLE_NONE;
}

/* 0.5 - 0.344 = 0.156; 5220 / 3600 = 1.45. */
static void without_chance_one_replica_is_exact(void **state)
{
    struct fixture *f = *state;
    without_chance(f);
    const struct luck luck = { .yield = { 0.5, 0.344 }, .completion_s = { 3600, 5220 } };
    char *text = verdict_of(f, &luck, 1);
    assert_string_equal(
        text,
        "At 16 GPUs each, dense8 yields the most: exactly 0.500 useful hours per held GPU-hour and "
        "0.344 on sparse4 [0.156 less]. Compared with dense8, jobs of 16 GPUs and more finish "
        "exactly 45.0 % later on sparse4.\n"
        "How far the assumptions may move before the verdict turns has not been computed.\n"
        "Nothing is drawn by chance: one replica is exact and needs no interval. 1 of 4 rows of "
        "the "
        "log was skipped (no GPUs). It rests on "
        "communication by_size (profiles assumed) and hardware that never fails. Durations are as "
        "recorded on 2 dgx-h100, with start-up, checkpoints and stalls, each job on the fewest "
        "servers (compact).\n");
    free(text);
}

/* Each source of chance by itself ends exactness. */
static void any_chance_is_no_exactness(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.5, 0.344 } };
    for (int source = 0; source < 5; source++) {
        without_chance(f);
        f->scenario.communication.mix_count = 1;
        f->scenario.communication.mix[0].profile.spread = 0;
        if (source == 0) f->scenario.resample = RESAMPLE_DAYS;
        if (source == 1) f->scenario.failures.component[COMPONENT_JOB].law = LAW_EXPONENTIAL;
        if (source == 2) f->scenario.communication.mix_count = 2;
        if (source == 3) f->scenario.communication.mix[0].profile.spread = 0.1;
        if (source == 4) f->scenario.kind = KIND_KUBERNETES; /* it draws among equal nodes */
        char *text = verdict_of(f, &luck, 1);
        holds(text, "1 replica: no interval exists");
        lacks(text, "exact");
        free(text);
        f->scenario.failures.component[COMPONENT_JOB].law = LAW_NONE;
    }
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
          "most: 0.750 useful hours per held GPU-hour, 0.500 on sparse4 [0.250 to 0.250 less] and "
          "0.625 on sparse1 [0.125 to 0.125 less].");
    holds(text, "finish 10 % later on sparse4 [10, 10] and 50 % later on sparse1 [50, 50].");
    holds(text,
          " sparse1 can never hold 3 jobs (2.0 GPU-hours) of the trace: they count against it "
          "as unserved.");
    holds(text, "The layouts differ in their GPU models");
    holds(text, "The server of sparse1 is hypothetical.");
    free(text);
}

/* Two layouts leave the same jobs, a third fewer. */
static void unserved_jobs_are_joined(void **state)
{
    struct fixture *f = *state;
    fixture_layout(&f->scenario, 2, "sparse1", 16, 1);
    fixture_layout(&f->scenario, 3, "sparse2", 8, 2);
    f->scenario.layout_count = 4;
    fixture_plan(f);
    for (int row = 1; row < 4; row++) {
        f->plan.variants[row].jobs_never_fit = row == 2 ? 1 : 12;
        f->plan.variants[row].unserved_gpu_s = row == 2 ? 1800 : 36000;
    }
    const struct luck luck = { .yield = { 0.75, 0.5, 0.25, 0.375 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, " sparse4 and sparse2 can never hold 12 jobs (10.0 GPU-hours) of the trace: they "
                "count against them as unserved. sparse1 can never hold 1 job (0.5 GPU-hours) of "
                "the trace: it counts against it as unserved.");
    free(text);
}

/* Own completion says 10 % later; over the common jobs it is 150 / 100. */
static void common_jobs_are_compared(void **state)
{
    struct fixture *f = *state;
    f->plan.variants[1].jobs_never_fit = 3;
    f->plan.variants[1].unserved_gpu_s = 7200;
    const struct luck luck = { .yield = { 0.87, 0.79 },
                               .completion_s = { 120, 132 },
                               .common_s = { 100, 150 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "Compared with dense8, jobs of 16 GPUs and more that every layout can hold finish "
                "50 % later on sparse4 [50, 50].");
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
    holds(text, "dense8 yields the most, but cannot be told from sparse4: 0.800 useful hours per "
                "held GPU-hour, 0.790 on sparse4 [0.");
    free(text);
}

/* Nine layouts: the best and the next four are named. */
static void many_layouts_are_cut(void **state)
{
    struct fixture *f = *state;
    struct luck luck = { .yield = { 0.1 } };
    char name[16];
    for (uint32_t row = 0; row < 9; row++) {
        snprintf(name, sizeof name, "n%u", (unsigned)row);
        fixture_layout(&f->scenario, row, name, 16, 1);
        luck.yield[row] = 0.1 + 0.05 * row;
    }
    f->scenario.layout_count = 9;
    fixture_plan(f);
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "n8 yields the most: 0.500 useful hours per held GPU-hour, 0.300 on n4 [0.200 to "
                "0.200 less], 0.350 on n5 [0.150 to 0.150 less], 0.400 on n6 [0.100 to 0.100 less] "
                "and 0.450 on n7 [0.050 to 0.050 less]; 4 others, not named, yield no more.");
    free(text);
}

static void overload_is_said(void **state)
{
    struct fixture *f = *state;
    f->plan.variants[1].offered_load = 1.07;
    const struct luck luck = { .yield = { 0.87, 0.79 }, .completion_s = { 120, 132 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, " sparse4, offered 1.07 of its GPUs, is saturated: its waits grow with the horizon "
                "and are not quoted.");
    lacks(text, "later on");
    free(text);
}

/* Offered less than it has, sparse4 needs more at its own speed; dense8 at 1.00 is not above it. Of dense8 0.25 % is
 * down, of sparse4 0.5 %: 0.9975 / 0.9975 = 1 and 1.12 / 0.995 = 1.126. */
static void needs_decide_saturation(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.87, 0.79 },
                               .completion_s = { 120, 132 },
                               .needs = { 0.9975, 1.12 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, " sparse4, offered 0.81 of its GPUs, needs 1.13 of those in service at its own "
                "speed: its waits grow with the horizon and are not quoted.");
    lacks(text, "later on");
    free(text);
    const struct luck both = { .yield = { 0.87, 0.79 }, .needs = { 1.05, 1.12 } };
    text = verdict_of(f, &both, REPLICAS);
    holds(text,
          " dense8 and sparse4, offered 0.81 of their GPUs, need 1.05 and 1.13 of those in "
          "service at their own speed: their waits grow with the horizon and are not quoted.");
    free(text);
    f->plan.variants[1].offered_load = 1.07; /* asked for less than offered: it keeps up */
    const struct luck fast = { .yield = { 0.87, 0.79 },
                               .completion_s = { 120, 132 },
                               .needs = { 0.8, 0.9 } };
    text = verdict_of(f, &fast, REPLICAS);
    holds(text, "10 % later on sparse4");
    free(text);
}

static void few_days_are_said(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    f->plan.trace_days = 3;
    f->import.skipped_count = 2;
    f->import.skipped[1].rows = 2;
    snprintf(f->import.skipped[1].reason, sizeof f->import.skipped[1].reason, "never started");
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text,
          "for luck in days and faults, from only 3 different days, without model error. 3 of "
          "4 rows of the log were skipped (2 never started, 1 no GPUs).");
    free(text);
}

static void every_slack_has_its_sentence(void **state)
{
    struct fixture *f = *state;
    f->scenario.slack_count = 3;
    f->scenario.slack[1] = 2;
    f->scenario.slack[2] = SLACK_ANY;
    fixture_plan(f);
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, " With slack 2 dense8 yields 0.870 and sparse4 0.790. With slack any dense8 yields "
                "0.870 and sparse4 0.790.\n");
    free(text);
    const struct luck close = { .yield = { 0.80, 0.79 }, .wobble = 0.05 };
    text = verdict_of(f, &close, REPLICAS);
    holds(text, " With slack any dense8 yields 0.800 and sparse4 0.790 [cannot tell].\n");
    free(text);
}

static void one_layout_is_no_comparison(void **state)
{
    struct fixture *f = *state;
    f->scenario.layout_count = 1;
    fixture_plan(f);
    const struct luck luck = { .yield = { 0.87 }, .wobble = 0.01, .blast_gpus = { 1 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "At 16 GPUs, dense8 does 0.870 useful hours per held GPU-hour [0.");
    holds(text, "A hardware fault takes 1 GPU; all faults of a year take 33.2; lost work and "
                "repairs cost 1.00 % of the hours.");
    lacks(text, "joint");
    lacks(text, "finish");
    lacks(text, "How far");
    free(text);
}

/* Neither faults nor days: the verdict does not claim luck that was not drawn. */
static void sources_of_luck_are_named(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    f->scenario.resample = RESAMPLE_NONE;
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "for luck in faults, without other days or model error.");
    free(text);
    f->scenario.failures.scale = 3;
    f->scenario.communication.scale = 0.5;
    f->scenario.resample = RESAMPLE_DAYS;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text, "It rests on communication by_size times 0.5 (profiles assumed) and failure rates "
                "llama3 times 3 (published).");
    free(text);
    without_chance(f);
    f->scenario.communication.kind = COMM_NONE;
    f->scenario.communication.mix_count = 2; /* of jobs that do not communicate */
    f->scenario.resample = RESAMPLE_DAYS;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text, "over 4 replicas for luck in days, without model error.");
    holds(text, "It rests on jobs that do not communicate and hardware that never fails.");
    lacks(text, "No fault of hardware is simulated.");
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
    assert_int_equal(moves_build(&report.c, &report.moves, f->diag), STATUS_OK);
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    verdict_write(&report.c, &report.moves, out);
    fclose(out);
    holds(text, "The run is not complete: this is what it has stored so far.");
    free(text);
    report_clear(&report);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(two_layouts),
        ROW(the_better_may_be_the_other),
        ROW(nothing_is_more_than_all_earlier),
        ROW(shares_read_as_what_they_are),
        ROW(luck_decides_nothing),
        ROW(equal_layouts_are_the_same),
        ROW(one_replica_has_no_interval),
        ROW(one_replica_tells_twins),
        ROW(without_chance_one_replica_is_exact),
        ROW(any_chance_is_no_exactness),
        ROW(three_layouts_in_one_sentence),
        ROW(unserved_jobs_are_joined),
        ROW(common_jobs_are_compared),
        ROW(many_layouts_are_cut),
        ROW(a_close_second_is_named),
        ROW(overload_is_said),
        ROW(needs_decide_saturation),
        ROW(few_days_are_said),
        ROW(every_slack_has_its_sentence),
        ROW(one_layout_is_no_comparison),
        ROW(sources_of_luck_are_named),
        ROW(names_are_escaped),
        ROW(an_incomplete_run_says_so),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
