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
    lacks(text, "  p50 ± half");
    holds(text,
          "  wait, completion: not quoted, they grow with the horizon (offered 1.25 of what it "
          "has)\n");
    free(text);
}

/* 1.12 > 1: the waits of sparse4 are not quoted, those of dense8 are. In service are 1 - 2 factor / 30: 1.12 / 0.9 and
 * 1.12 / 0.89 are 1.25 together, 0.8 / 0.933 and 0.8 / 0.927 0.86. */
static void what_a_layout_needs_hides_its_waits(void **state)
{
    char *text = print_times(*state, (const double[]){ 0.8, 1.12 });
    holds(text, "  wait                p50 ± half                                p95 ± half\n");
    holds(text,
          "  wait, completion: not quoted, they grow with the horizon (asked for 1.25 of what "
          "is in service)\n");
    holds(text, "\nlayout             GPUs  load needs  yield alloc % wait p95 h 16+ later% "
                "blast lost % unserved GPU-h\n");
    /* 1.05 * (0.73, 0.71, 1234567.8 s, 3 accounts / 30, 7654321.2 GPU-hours); of sparse4 no wait and no completion. */
    holds(text, "\ndense8               16  0.81  0.86 0.7665   74.55     360.08          -     "
                "-  10.50        8037037\n");
    holds(text, "\nsparse4              16  0.81  1.25 1.1498  111.83          -          -     "
                "-  15.75       12055556\n");
    free(text);
}

/* The baseline saturated, the other layout not: its times stand there, their differences do not. */
static void a_saturated_baseline_has_no_differences(void **state)
{
    char *text = print_times(*state, (const double[]){ 1.12, 0.8 });
    holds(text, "  all jobs, h       540.1 ± 326.8  not quoted                 540.1 ± 326.8  not "
                "quoted\n");
    free(text);
}

/* The line of one class: p50 and p95 side by side, each with its interval and its difference. */
static void a_size_class_is_one_line(void **state)
{
    char *text = print_times(*state, (const double[]){ 0.8, 0.85 });
    holds(text, "  wait                p50 ± half                                p95 ± half\n"
                "  all jobs, h       360.1 ± 217.9                             360.1 ± 217.9\n");
    holds(text,
          "  wait                p50 ± half   minus dense8                 p95 ± half   minus "
          "dense8\n");
    /* 1080.2 - 720.2 h; half: t(1, 0.99375) = tan(0.49375 pi) = 50.92 times (377.2 - 342.9) / 2 h. Own half: t(1, 0.975)
     * = 12.706 times (1131.7 - 1028.8) / 2 h. */
    holds(text, "  1 GPU, h           1080 ± 654      +360 [-513, +1233]        1080 ± 654      "
                "+360 [-513, +1233]\n");
    holds(text,
          "  all jobs, h       540.1 ± 326.8  +180.0 [-256.5, +616.6]    540.1 ± 326.8  +180.0 "
          "[-256.5, +616.6]\n");
    holds(text, "  completion          p50 ± half   minus dense8 ");
    free(text);
}

/* Two of three replicas have jobs of 64 GPUs; the third has no p95 of all jobs. */
static void gaps_are_marked(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 3; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9);
            fixture_metric(&r, "wait_s_p50", "s", CLASS_NONE, 3600);
            if (replica < 2) fixture_metric(&r, "wait_s_p95", "s", CLASS_NONE, 36000);
            if (replica < 2) fixture_metric(&r, "wait_s_p50", "s", CLASS_64_UP, 7200);
            fixture_store(store, &r, f->diag);
        }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text,
          "  all jobs*, h       1.00 ± 0.00                              10.00 ± 0.00\n"
          "  64+ GPUs*, h       2.00 ± 0.00                               none\n"
          "  * known in some replicas only: p95 of all jobs in 2, p50 of 64+ GPUs in 2 of 3\n");
    free(text);
}

/* Three faults of servers of eight, two of servers of four: means 8 and 4 without spread; a fabric fault takes 16. */
static void blast_radius_has_a_mean(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++) {
        struct replica_result r = fixture_result(layout, 0),
                              b = fixture_result(layout, REPLICA_BLAST);
        fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9);
        b.run_end_ns = 365 * NS_PER_DAY;
        for (int i = 0; i < 3 - (int)layout; i++)
            fixture_incident(&b, COMPONENT_SERVER, i, layout == 0 ? 8 : 4);
        fixture_incident(&b, COMPONENT_LEAF, 9, 16);
        fixture_store(store, &b, f->diag);
        fixture_store(store, &r, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text,
          "                  incidents    a year   p50   p95   max    mean ± half   minus dense8\n"
          "    server                2      2.00     4     4     4    4.00 ± 0.00   -4.00 "
          "[-4.00, -4.00]\n"
          "    leaf                  1      1.00    16    16    16   16.00          +0.00 [1 ");
    /* 8 8 8 16: 10 +- t(3, 0.975) = 3.1824 times 4 / 2; p95 = 8 + 0.85 * 8. */
    holds(text, "    all hardware          4      4.00     8  14.8    16   10.00 ± 6.36\n");
    /* 4 4 16: mean 8, s = 6.928. Difference: t(3, 0.99375) = 5.3919 * 2, t(2, 0.99375) = 8.8602 * 4, as squares. */
    holds(text, "    all hardware          3      3.00     4  14.8    16    8.00 ± 17.21  -2.00 "
                "[-39.05, +35.05]\n");
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
            fixture_metric(&r, "common_wait_s_p50", "s", CLASS_NONE, 3600 * factor);
            fixture_metric(&r, "common_completion_s_p50", "s", CLASS_NONE, 3600 * factor);
            fixture_metric(&r, "common_wait_s_p95", "s", CLASS_NONE, 7200 * factor);
            fixture_metric(&r, "common_completion_s_p95", "s", CLASS_NONE, 14400 * factor);
            fixture_metric(&r, "common_jobs", "1", CLASS_NONE, 5);
            fixture_store(store, &r, f->diag);
        }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text,
          "  all jobs, h        1.00 ± 0.00    +0.25 [+0.25, +0.25]      10.00 ± 0.00    +0.50 "
          "[+0.50, +0.50]\n");
    holds(text,
          "  all jobs, h        1.00 ± 0.00    +0.25 [+0.25, +0.25]      10.00 ± 0.00    +1.00 "
          "[+1.00, +1.00]\n");
    holds(text, "0.9000       -       2.00          -");
    holds(text, "0.9000       -       2.50          -");
    holds(text, "Wait and completion here are over the jobs that every layout can hold.\n");
    holds(text,
          "Differences of waits and completion are over the jobs that every layout can hold.\n");
    free(text);
}

/* Every account in use, all classes, faults and blast: below 60 lines a layout. */
static void a_layout_is_below_60_lines(void **state)
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
    assert_in_range(lines - ACCOUNTS, 30, 38);
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
        fixture_metric(&r, "lost_frac", "1", CLASS_NONE, 0);
        fixture_metric(&r, "unserved_gpu_h", "gpu_h", CLASS_NONE, 0);
        fixture_metric(&r, "at_risk_gpu_h", "gpu_h", CLASS_NONE, 0);
        fixture_store(store, &r, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text, "    compute, %                                 90.00\n"
                "    stall_inter, %                              0.00\n");
    lacks(text, "bubble");
    lacks(text, "    lost, %");
    lacks(text, "at risk at the end");
    /* Those that readers look for stay. */
    holds(text, "\n  faults in the window (incidents)               0.0\n"
                "  lost, of held hours, %                       0.000\n"
                "  unserved in the window, GPU-hours              0.0\n\n");
    holds(
        text,
        "\n  unserved in the window, GPU-hours              0.0                  +0.0 [1 pair]\n");
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
    holds(text, "  1 GPU, h           1029            +343                      1029            "
                "+343\n");
    holds(text, "\nNothing is drawn by chance: the numbers are exact.\n");
    lacks(text, "±");
    free(text);
}

/* Jobs 0 to count - 1, submitted an hour after each other; each takes (row + 1) hours, twice that on the second layout,
 * and the last one never ends there; the fourth is turned away there after a minute. */
static void store_jobs_of(struct fixture *f, uint32_t count)
{
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++) {
        struct replica_result r = fixture_result(layout, 0);
        report_metrics(&r, 1);
        for (uint32_t i = 0; i < count; i++) {
            const int64_t submit_ns = i * NS_PER_HOUR;
            const bool ends = layout == 0 || i + 1 < count;
            const bool refused = layout == 1 && i == 3;
            const struct job_row job = { .serial = i,
                                         .trace_row = i % 3,
                                         .submit_ns = submit_ns,
                                         .first_start_ns = submit_ns,
                                         .end_ns = refused ? submit_ns + 60 * NS_PER_S
                                                   : ends  ? submit_ns +
                                                                (1 + layout) * (i + 1) * NS_PER_HOUR
                                                          : TIME_NEVER,
                                         .gpus = 8,
                                         .attempts = 1,
                                         .end = refused ? END_REJECTED
                                                : ends  ? END_FINISHED
                                                        : END_RUNNING };
            assert_true(log_append(&r.jobs, &job));
        }
        fixture_store(store, &r, f->diag);
    }
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
}

static void few_jobs_stand_one_by_one(void **state)
{
    struct fixture *f = *state;
    char *text;
    store_jobs_of(f, 5);
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    holds(text, "\ncompletion of each, h     GPUs ");
    holds(text, "     8             1.00     2.00 (x2.00)\n");
    holds(text, "     8             2.00     4.00 (x2.00)\n");
    holds(text, "     8             3.00     6.00 (x2.00)\n");
    holds(text, "     8             4.00                -\n");
    holds(text, "     8             5.00                -\n");
    free(text);
}

static void many_jobs_do_not(void **state)
{
    struct fixture *f = *state;
    char *text;
    store_jobs_of(f, 33);
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    lacks(text, "completion of each");
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
        ROW(a_saturated_baseline_has_no_differences),
        ROW(a_size_class_is_one_line),
        ROW(gaps_are_marked),
        ROW(blast_radius_has_a_mean),
        ROW(common_jobs_are_compared),
        ROW(a_layout_is_below_60_lines),
        ROW(zeros_are_left_out),
        ROW(exact_numbers_stand_alone),
        ROW(few_jobs_stand_one_by_one),
        ROW(many_jobs_do_not),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
