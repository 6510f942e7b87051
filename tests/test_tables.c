/* test_tables.c - what stands below the verdict: the overview and a table per layout, from hand-made replicas. */
#include "fixture_report.h"

#include <gsl/gsl_errno.h>

static unsigned widest_line(const char *text)
{
    unsigned widest = 0, columns = 0;
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            widest = columns > widest ? columns : widest;
            columns = 0;
        } else {
            columns += ((unsigned char)*text & 0xc0) != 0x80;
        }
    }
    return widest;
}

/* All metrics on all classes, hostile names, a hundred replicas: still 100 columns and no control character (P95). */
static void tables_are_100_columns_and_safe(void **state)
{
    struct fixture *f = *state;
    snprintf(f->scenario.layouts[0].name, LIMIT_NAME_BYTES, "%s", ESCAPE_NAME);
    snprintf(f->scenario.layouts[1].name, LIMIT_NAME_BYTES, "%s", HOSTILE_NAME);
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++) {
        for (uint32_t replica = 0; replica < 3; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            report_metrics(&r, 1 + 0.013 * layout + 0.1 * replica);
            fixture_store(store, &r, f->diag);
        }
        struct replica_result b = fixture_result(layout, REPLICA_BLAST);
        for (int i = 0; i < COMPONENTS; i++)
            fixture_incident(&b, (enum component)i, i, (uint32_t)i);
        fixture_store(store, &b, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    if (getenv("GPUPLAN_SHOW") != NULL) puts(text);
    assert_in_range(widest_line(text), 80, 100);
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 && *c != '\n') fail_msg("control character %d", *c);
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_null(strstr(text, " \n"));
    assert_non_null(strstr(text, "red\\x1b[31m"));
    free(text);
}

static void holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("'%s'\nis not in\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("'%s'\nis in\n%s", part, text);
}

/* Two replicas of both layouts; times of sparse4 are 1.5 of dense8's. */
static char *print_times(struct fixture *f, const double needs[2])
{
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            report_metrics(&r, (1 + 0.5 * layout) * (1 + 0.1 * replica));
            if (needs != NULL) fixture_metric(&r, "effective_load", "1", CLASS_NONE, needs[layout]);
            fixture_store(store, &r, f->diag);
        }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    return text;
}

static void overload_hides_waits(void **state)
{
    struct fixture *f = *state;
    f->plan.variants[0].offered_load = f->plan.variants[1].offered_load = 1.25;
    char *text = print_times(f, NULL);
    lacks(text, "wait p50");
    holds(text, "  times: not quoted, it is offered 1.25 of what it has\n");
    free(text);
}

/* 1.12 > 1: the waits of sparse4 are not quoted, those of dense8 are. */
static void what_a_layout_needs_hides_its_waits(void **state)
{
    char *text = print_times(*state, (const double[]){ 0.8, 1.12 });
    holds(text, "  times             wait p50      p95                      compl. p50      p95\n");
    holds(text, "  times: not quoted, it is asked for 1.12 of what it has\n");
    holds(text, "\nlayout                GPUs  load needs   yield alloc % wait p95 h 16+ later%  "
                "blast lost % unserved\n");
    /* 1.05 * (0.73, 0.71, 1234567.8 s, 3 accounts / 30, 7654321.2 GPU-hours); of sparse4 no wait and no completion. */
    holds(text,
          "\ndense8                  16  0.81  0.80  0.7665   74.55     360.08          -      "
          "-  10.50  8037037\n");
    holds(text,
          "\nsparse4                 16  0.81  1.12  1.1498  111.83          -          -      "
          "-  15.75 12055556\n");
    free(text);
}

/* The line of one class: p50 and p95 side by side, both differences of p95. */
static void a_size_class_is_one_line(void **state)
{
    char *text = print_times(*state, (const double[]){ 0.8, 0.9 });
    holds(text, "  times             wait p50      p95  minus dense8        compl. p50      p95  "
                "minus dense8\n");
    /* 1080.2 - 720.2 h; half: t(1, 0.9875) = tan(0.975 pi / 2) = 25.45 times (377.2 - 342.9) / 2 h. */
    holds(text, "   1 GPU, h             1080     1080  +360 [-76, +796]          1080     1080  "
                "+360 [-76, +796]\n");
    /* With a decimal the brackets do not fit any more. */
    holds(text, "   all jobs, h         540.1    540.1  +180.0 ± 218.2           540.1    540.1  "
                "+180.0 ± 218.2\n");
    free(text);
}

/* Own waits stand in the layout's columns; the difference and the overview are over the common jobs: 7200 s on
 * dense8, 9000 s on sparse4. */
static void common_jobs_are_compared(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            const double factor = 1 + 0.25 * layout;
            fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9);
            fixture_metric(&r, "wait_s_p50", "s", CLASS_NONE, 3600);
            fixture_metric(&r, "wait_s_p95", "s", CLASS_NONE, 36000);
            fixture_metric(&r, "completion_s_p50", "s", CLASS_NONE, 3600);
            fixture_metric(&r, "completion_s_p95", "s", CLASS_NONE, 36000);
            fixture_metric(&r, "common_wait_s_p95", "s", CLASS_NONE, 7200 * factor);
            fixture_metric(&r, "common_completion_s_p95", "s", CLASS_NONE, 14400 * factor);
            fixture_metric(&r, "common_jobs", "1", CLASS_NONE, 5);
            fixture_store(store, &r, f->diag);
        }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text, "   all jobs, h          1.00    10.00  +0.50 [+0.50, +0.50]      1.00    10.00  "
                "+1.00 [+1.00, +1.00]\n");
    holds(text, "0.9000       -       2.00          -");
    holds(text, "0.9000       -       2.50          -");
    holds(text, "Wait and completion here are over the jobs that every layout can hold.\n");
    holds(text,
          "Differences of waits and completion are over the jobs that every layout can hold.\n");
    free(text);
}

/* Every account in use, all classes, faults and blast: below 40 lines a layout. */
static void a_layout_is_below_40_lines(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++) {
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            report_metrics(&r, 1 + 0.1 * replica);
            fixture_metric(&r, "effective_load", "1", CLASS_NONE, 0.9);
            fixture_store(store, &r, f->diag);
        }
        struct replica_result b = fixture_result(layout, REPLICA_BLAST);
        for (int i = 0; i < COMPONENTS; i++)
            fixture_incident(&b, (enum component)i, i, (uint32_t)i);
        fixture_store(store, &b, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    const char *from = strstr(text, "\nsparse4: "), *to = strstr(text, "\n± is");
    assert_non_null(from);
    assert_non_null(to);
    unsigned lines = 0;
    for (const char *c = from + 1; c < to; c++) lines += *c == '\n';
    /* What stands beside the accounts: a real run uses a dozen of the 22. */
    assert_in_range(lines - ACCOUNTS, 20, 28);
    free(text);
}

/* What is 0 on all layouts has no line; what one layout has, has one on all. */
static void zeros_are_left_out(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++) {
        struct replica_result r = fixture_result(layout, 0);
        fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9);
        fixture_metric(&r, "share_compute", "1", CLASS_NONE, 0.9);
        fixture_metric(&r, "share_bubble", "1", CLASS_NONE, 0);
        fixture_metric(&r, "share_lost", "1", CLASS_NONE, 0.00004);
        fixture_metric(&r, "share_stall_inter", "1", CLASS_NONE, layout == 0 ? 0 : 0.05);
        fixture_metric(&r, "incidents", "1", CLASS_NONE, 0);
        fixture_metric(&r, "unserved_gpu_h", "gpu_h", CLASS_NONE, 0);
        fixture_store(store, &r, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text, "    compute, %                                 90.00\n"
                "    stall_inter, %                              0.00\n\n");
    lacks(text, "bubble");
    lacks(text, "    lost, %");
    lacks(text, "faults in the window");
    lacks(text, "unserved, GPU-hours");
    free(text);
}

/* Nothing is drawn by chance: two equal replicas are no sample, and no number has an interval. */
static void exact_numbers_stand_alone(void **state)
{
    struct fixture *f = *state;
    f->scenario.resample = RESAMPLE_NONE;
    f->scenario.failures.component[COMPONENT_SERVER].law = LAW_NONE;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            report_metrics(&r, 1 + 0.5 * layout);
            fixture_store(store, &r, f->diag);
        }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text, "  yield: useful part of held GPU-hours        1.0950               +0.3650\n");
    holds(text, "   1 GPU, h             1029     1029  +343                      1029     1029  "
                "+343\n");
    holds(text, "\nNothing is drawn by chance: the numbers are exact.\n");
    lacks(text, "±");
    free(text);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(tables_are_100_columns_and_safe),
        ROW(overload_hides_waits),
        ROW(what_a_layout_needs_hides_its_waits),
        ROW(a_size_class_is_one_line),
        ROW(common_jobs_are_compared),
        ROW(a_layout_is_below_40_lines),
        ROW(zeros_are_left_out),
        ROW(exact_numbers_stand_alone),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
