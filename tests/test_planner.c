/* test_planner.c - what a planner must be told beside the yield: useful work, waits, what is down, faults that take
 * nothing, and a window in which nothing ran. */
#include "fixture_report.h"

#include <gsl/gsl_errno.h>

static void holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("'%s'\nis not in\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("'%s'\nis in\n%s", part, text);
}

/* Faults take a tenth of dense8 away: 0.95 of what it has is 1.056 of what is left. */
static void what_is_down_is_not_there(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(row, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9);
            fixture_metric(&r, "effective_load", "1", CLASS_NONE, 0.95);
            fixture_metric(&r, "share_down", "1", CLASS_NONE, row == 0 ? 0.06 : 0.01);
            fixture_metric(&r, "share_draining", "1", CLASS_NONE, row == 0 ? 0.04 : 0);
            fixture_metric(&r, "wait_s_p95", "s", CLASS_NONE, 3600);
            fixture_store(store, &r, f->diag);
        }
    char *text = finish_verdict(f, store);
    holds(text,
          " dense8, offered 0.81 of its GPUs, needs 1.06 of those in service at its own speed: ");
    lacks(text, "p95 wait");
    free(text);
}

/* Waits 4 h and 6 h, one each; useful shares 0.5 and 0.6, the winner by yield does less. */
static void less_useful_work_and_waits_are_said(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t replica = 0; replica < 3; replica++) {
            struct replica_result r = fixture_result(row, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, row == 0 ? 0.9 : 0.8);
            fixture_metric(&r, "goodput", "1", CLASS_NONE, row == 0 ? 0.5 : 0.625);
            if (replica < 2)
                fixture_metric(&r, "wait_s_p95", "s", CLASS_NONE, row == 0 ? 14400 : 21600);
            fixture_store(store, &r, f->diag);
        }
    char *text = finish_verdict(f, store);
    holds(text, "0.800 on sparse4 [0.100 to 0.100 less], but sparse4 does more useful work: 62.5 % "
                "of its capacity against 50.0 % [12.5 to 12.5 points more].");
    holds(text,
          " The p95 wait of all jobs is 4.0 h on dense8 (2 of 3 replicas); it is 2.0 h longer "
          "on sparse4 [2.0, 2.0].");
    free(text);
}

/* Played to the end: what was offered in the window counts, not what was planned for so many days; all do the same work. */
static void to_the_end_all_do_the_same(void **state)
{
    struct fixture *f = *state;
    f->scenario.horizon_ns = HORIZON_ALL;
    f->plan.horizon_ns = HORIZON_ALL;
    struct store *store = open_store(f);
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(row, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, row == 0 ? 0.9 : 0.8);
            fixture_metric(&r, "goodput", "1", CLASS_NONE, row == 0 ? 0.5 : 0.625);
            fixture_metric(&r, "offered_load", "1", CLASS_NONE, 0.5);
            fixture_metric(&r, "effective_load", "1", CLASS_NONE, 1.25);
            fixture_store(store, &r, f->diag);
        }
    char *text = finish_verdict(f, store);
    lacks(text, "more useful work");
    holds(text, "dense8 and sparse4, offered 0.50 of their GPUs, need 1.25 ");
    free(text);
}

/* Most faults hit what was out already: the median is that of the one that took eight. */
static void faults_that_take_nothing_are_counted(void **state)
{
    struct fixture *f = *state;
    for (int took = 0; took < 2; took++) {
        struct store *store = open_store(f);
        for (uint32_t row = 0; row < 2; row++) {
            struct replica_result r = fixture_result(row, 0),
                                  b = fixture_result(row, REPLICA_BLAST);
            fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9);
            for (int i = 0; i < 3; i++) fixture_incident(&b, COMPONENT_SERVER, i, 0);
            if (took > 0) fixture_incident(&b, COMPONENT_SERVER, 5, row == 0 ? 8 : 4);
            fixture_store(store, &r, f->diag);
            fixture_store(store, &b, f->diag);
        }
        char *text = finish_verdict(f, store);
        lacks(text, "No fault of hardware");
        if (took > 0)
            holds(text, " On dense8 and sparse4 a hardware fault takes 8 and 4 GPUs; all faults of "
                        "a year take 265 and 133. Of 8 "
                        "simulated faults 6 are left out: what they hit was out of "
                        "service already.");
        else
            holds(text, " None of 6 hardware faults took a GPU.");
        free(text);
    }
}

/* Replicas are stored, but no job ever held a GPU: there is no yield. */
static void nothing_held_is_said(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result r = fixture_result(0, 0);
    fixture_metric(&r, "utilization", "1", CLASS_NONE, 0);
    fixture_store(store, &r, f->diag);
    char *text = finish_verdict(f, store);
    holds(text, "no job held a GPU inside the window: there is nothing to compare.");
    lacks(text, "stored yet");
    free(text);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(what_is_down_is_not_there),  ROW(less_useful_work_and_waits_are_said),
        ROW(to_the_end_all_do_the_same), ROW(faults_that_take_nothing_are_counted),
        ROW(nothing_held_is_said),
    };
    return cmocka_run_group_tests_name("planner", tests, NULL, NULL);
}
