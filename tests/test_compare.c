/* test_compare.c - means, pairs, classes joined, blast radius, gates, JSON from hand-made replicas. */
#include "fixture_report.h"

#include "report/compare_json.h"
#include "report/gates.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <math.h>

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want))) fail_msg("%.17g, want %.17g", got, want);
}

/* ---- numbers ---- */

/* Yields 0.80, 0.84 on dense8 and 0.75, 0.77 on sparse4: means 0.82, 0.76; differences -0.05, -0.07: mean -0.06, s =
 * 0.02 / sqrt 2, half = t(1) * 0.01; t(1, 1 - a/2) = tan(pi/2 (1 - a)), a = 0.05 / 4 headlines. */
static void means_and_pairs(void **state)
{
    struct fixture *f = *state;
    struct report r;
    report_of(f, (double[]){ 0.80, 0.84 }, (double[]){ 0.75, 0.77 }, 2, &r);
    const struct quantity *yield = comparison_find(&r.c, "yield", CLASS_NONE);
    assert_non_null(yield);
    near(yield->cells[0].value.mean, 0.82);
    near(yield->cells[1].value.mean, 0.76);
    near(yield->cells[0].value.half, tan(acos(-1) / 2 * 0.95) * 0.02);
    near(yield->cells[1].pair.difference.mean, -0.06);
    near(yield->cells[1].pair.difference.half, tan(acos(-1) / 2 * 0.9875) * 0.01);
    near(yield->cells[1].relative, -0.06 / 0.82);
    assert_true(yield->cells[0].pair.difference.mean == 0); /* to itself */
    report_clear(&r);
}

static void equal_layouts_differ_by_exactly_0(void **state)
{
    struct fixture *f = *state;
    const double yields[] = { 0.1, 0.2, 0.30000000000000004 };
    struct report r;
    report_of(f, yields, yields, 3, &r);
    const struct interval d = comparison_find(&r.c, "yield", CLASS_NONE)->cells[1].pair.difference;
    assert_true(d.mean == 0 && d.half == 0);
    assert_int_equal(d.n, 3);
    report_clear(&r);
}

static void other_baseline_negates(void **state)
{
    struct fixture *f = *state;
    const double x[] = { 0.81, 0.83, 0.79 }, y[] = { 0.7, 0.77, 0.73 };
    struct report forth;
    report_of(f, x, y, 3, &forth);
    const struct interval a =
        comparison_find(&forth.c, "yield", CLASS_NONE)->cells[1].pair.difference;
    struct comparison back;
    assert_int_equal(comparison_build(&forth.stored, "sparse4", &back, f->diag), STATUS_OK);
    const struct interval b = comparison_find(&back, "yield", CLASS_NONE)->cells[0].pair.difference;
    assert_true(a.mean == -b.mean && a.half == b.half);
    comparison_clear(&back);
    report_clear(&forth);
}

static void unknown_baseline_is_refused(void **state)
{
    struct fixture *f = *state;
    struct report r;
    report_of(f, (double[]){ 1 }, (double[]){ 1 }, 1, &r);
    struct comparison c;
    assert_int_equal(comparison_build(&r.stored, "dense9", &c, f->diag), STATUS_INPUT);
    comparison_clear(&c);
    report_clear(&r);
}

/* Replica 1 of sparse4 has no job of 64 and more GPUs: one pair is left, and the gap is counted. */
static void missing_values_are_counted(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            if (layout == 0 || replica == 0)
                fixture_metric(&r, "wait_s_p95", "s", CLASS_64_UP, 100 + 10 * layout + replica);
            fixture_store(store, &r, f->diag);
        }
    struct report r;
    report_finish(f, store, &r);
    const struct cell *cell = &comparison_find(&r.c, "wait_s_p95", CLASS_64_UP)->cells[1];
    assert_int_equal(cell->missing, 1);
    assert_int_equal(cell->value.n, 1);
    assert_int_equal(cell->pair.difference.n, 1);
    near(cell->pair.difference.mean, 10);
    assert_true(isnan(cell->pair.difference.half));
    report_clear(&r);
}

/* 30 jobs of 16-63 at 100 s and 10 of 64+ at 300 s: mean 150 s; on sparse4 120 and 360: 180 s. Ratio 1.2. In the other replica
 * only 16-63: 100 and 110. So 0.2 and 0.1: mean 0.15. */
static void large_classes_join_by_their_jobs(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            const double factor = layout == 0 ? 1 : replica == 0 ? 1.2 : 1.1;
            fixture_metric(&r, "completion_s_mean", "s", CLASS_16_63, 100 * factor);
            fixture_metric(&r, "jobs_done", "1", CLASS_16_63, 30);
            if (replica == 0)
                fixture_metric(&r, "completion_s_mean", "s", CLASS_64_UP, 300 * factor);
            fixture_metric(&r, "jobs_done", "1", CLASS_64_UP, replica == 0 ? 10 : 0);
            fixture_store(store, &r, f->diag);
        }
    struct report r;
    report_finish(f, store, &r);
    const struct interval large = comparison_large(&r.c, 1, 0, 0.95);
    assert_int_equal(large.n, 2);
    near(large.mean, 0.15);
    report_clear(&r);
}

/* A class that no common job has is not compared by the layouts' own jobs. */
static void own_jobs_never_stand_for_common_ones(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++) {
        struct replica_result r = fixture_result(layout, 0);
        fixture_metric(&r, "completion_s_mean", "s", CLASS_64_UP, 100 + 100 * layout);
        fixture_metric(&r, "jobs_done", "1", CLASS_64_UP, 3);
        fixture_metric(&r, "common_jobs", "1", CLASS_64_UP, 0);
        fixture_store(store, &r, f->diag);
    }
    struct report r;
    report_finish(f, store, &r);
    assert_true(r.c.common);
    assert_int_equal(comparison_large(&r.c, 1, 0, 0.95).n, 0);
    report_clear(&r);
}

static void pairs_stay_within_a_slack(void **state)
{
    struct fixture *f = *state;
    f->scenario.slack_count = 2;
    f->scenario.slack[1] = SLACK_ANY;
    fixture_plan(f);
    struct store *store = open_store(f);
    static const double yields[] = { 0.8, 0.9, 0.7,
                                     0.6 }; /* dense8/0, dense8/any, sparse4/0, /any */
    for (uint32_t layout = 0; layout < 4; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, yields[layout]);
            fixture_store(store, &r, f->diag);
        }
    struct report r;
    report_finish(f, store, &r);
    const struct quantity *yield = comparison_find(&r.c, "yield", CLASS_NONE);
    near(yield->cells[2].pair.difference.mean, 0.7 - 0.8);
    near(yield->cells[3].pair.difference.mean, 0.6 - 0.9);
    char label[LABEL_BYTES];
    assert_string_equal(comparison_label(&r.c, 3, label), "sparse4/any");
    assert_string_equal(comparison_label(&r.c, 2, label), "sparse4/0");
    near(r.c.conf_difference, 1 - 0.05 / 4); /* one other layout, four headlines */
    report_clear(&r);
}

/* Ten years; servers take 8, 8, 8, 4: p50 8, max 8; a GPU fault takes 1; a job fault takes nothing and is no hardware. All hardware: 1 4 8 8 8,
 * p50 8, p95 = 8. */
static void blast_radius(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result b = fixture_result(0, REPLICA_BLAST);
    b.run_end_ns = 3650 * NS_PER_DAY;
    static const uint32_t taken[] = { 8, 8, 4, 8 };
    for (int i = 0; i < 4; i++) fixture_incident(&b, COMPONENT_SERVER, i, taken[i]);
    fixture_incident(&b, COMPONENT_SERVER, 8, 0); /* out already: counted, and no radius */
    fixture_incident(&b, COMPONENT_GPU, 9, 1);
    fixture_incident(&b, COMPONENT_JOB, 10, 0);
    fixture_store(store, &b, f->diag);
    struct report r;
    report_finish(f, store, &r);
    const struct blast *servers = &r.c.blasts[COMPONENT_SERVER], *all = &r.c.blasts[BLAST_PARTS];
    assert_int_equal(servers->incidents, 4);
    near(servers->per_year, 0.4);
    near(servers->p50, 8);
    near(servers->max, 8);
    assert_int_equal(all->incidents, 5);
    near(all->p50, 8);
    near(all->mean.mean, 5.8);
    assert_int_equal(comparison_blast_apart(&r.c, 0, BLAST_PARTS).n, 0); /* the baseline itself */
    assert_int_equal(comparison_blast_apart(&r.c, 1, BLAST_PARTS).n, 0); /* no run of sparse4   */
    assert_int_equal(r.c.blasts[COMPONENT_JOB].took_none, 1);
    assert_int_equal(servers->took_none, 1);
    assert_true(isnan(r.c.blasts[BLAST_ROWS + BLAST_PARTS].per_year)); /* no run of sparse4 */
    report_clear(&r);
}

static void measured_load_counts_when_larger(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    struct replica_result result = fixture_result(1, 0);
    fixture_metric(&result, "offered_load", "1", CLASS_NONE, 1.07);
    fixture_store(store, &result, f->diag);
    struct report r;
    report_finish(f, store, &r);
    near(r.c.load[0], 0.8125);
    near(r.c.load[1], 1.07);
    report_clear(&r);
}

/* ---- gates ---- */

static enum status run_gate(struct fixture *f, const struct report *r, const char *text)
{
    struct gate_rule rule;
    TRY(gate_parse(&r->c, text, &rule, f->diag));
    FILE *out = tmpfile();
    assert_non_null(out);
    const enum status status = gates_check(&r->c, &rule, 1, out, f->diag);
    fclose(out);
    return status;
}

static void fail_if(void **state)
{
    struct fixture *f = *state;
    snprintf(f->scenario.layouts[1].name, LIMIT_NAME_BYTES, "%s", "sparse 4 < 5");
    struct store *store = open_store(f);
    struct replica_result result = fixture_result(1, 0);
    fixture_metric(&result, "yield", "1", CLASS_NONE, 0.75);
    fixture_metric(&result, "wait_s_p95", "s", CLASS_16_63, 3000);
    fixture_metric(&result, "wait_s_p95", "s", CLASS_64_UP, 7200);
    fixture_store(store, &result, f->diag);
    struct report r;
    report_finish(f, store, &r);
    static const struct {
        const char *text;
        enum status want;
    } cases[] = {
        { "yield sparse 4 < 5 < 0.8", STATUS_GATE },
        { "yield sparse 4 < 5 < 80%", STATUS_GATE },
        { "yield sparse 4 < 5 < 0.75", STATUS_OK }, /* at the bound it is not below */
        { "yield sparse 4 < 5 > 0.75", STATUS_OK },
        { "yield sparse 4 < 5 > 0.7", STATUS_GATE },
        { "wait_s_p95:16-63 sparse 4 < 5 > 1h", STATUS_OK },
        { "wait_s_p95:64+ sparse 4 < 5 > 1h", STATUS_GATE },
        { "p95_wait_large sparse 4 < 5 > 1h", STATUS_GATE },
        { "p95_wait_large sparse 4 < 5 > 2h", STATUS_OK },
        { "wait_s_p95 sparse 4 < 5 > 2h", STATUS_GATE }, /* no value over all jobs */
        { "yield dense8 < 0.1", STATUS_GATE },           /* no replica */
        { "yeild dense8 < 0.1", STATUS_INPUT },
        { "yield:17 dense8 < 0.1", STATUS_INPUT },
        { "yield dense9 < 0.1", STATUS_INPUT },
        { "yield dense8 < 4h", STATUS_INPUT },
        { "yield dense8 = 4", STATUS_INPUT },
        { "yield < 4", STATUS_INPUT },
        { "", STATUS_INPUT },
        { "<", STATUS_INPUT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (run_gate(f, &r, cases[i].text) != cases[i].want) fail_msg("'%s'", cases[i].text);
    report_clear(&r);
}

static void gates_of_the_scenario_exit_5(void **state)
{
    struct fixture *f = *state;
    f->scenario.gate_count = 1;
    snprintf(f->scenario.gates[0].metric, LIMIT_NAME_BYTES, "yield");
    snprintf(f->scenario.gates[0].layout, LIMIT_NAME_BYTES, "dense8");
    f->scenario.gates[0].limit = 0.9;
    write_two(f); /* yield 0.8125 */
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_GATE);
    assert_non_null(strstr(text, "gate FAILED: yield on dense8 is 0.8125 ± 0, not above 0.9"));
    free(text);
    const char *const fail[] = { "yield sparse4 < 0.7" };
    f->scenario.gate_count = 0;
    write_two(f);
    const struct report_options options = { .fail_if = fail, .fail_if_count = 1, .brief = true };
    assert_int_equal(print_all(f, &options, &text), STATUS_OK);
    free(text);
}

/* ---- what is printed ---- */

static void json_holds_the_numbers(void **state)
{
    struct fixture *f = *state;
    snprintf(f->scenario.layouts[1].name, LIMIT_NAME_BYTES, "%s", ESCAPE_NAME);
    write_two(f);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ .json = true }, &text), STATUS_OK);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    json_t *layouts = json_object_get(root, "layouts"), *metrics = json_object_get(root, "metrics");
    assert_int_equal(json_array_size(layouts), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(layouts, 1), "name")),
                        ESCAPE_NAME);
    json_t *cells = json_object_get(json_array_get(metrics, 0), "layouts");
    near(json_real_value(json_object_get(json_array_get(cells, 1), "mean")), 0.75);
    near(json_real_value(json_object_get(json_array_get(cells, 1), "difference")), -0.0625);
    assert_true(json_is_null(json_object_get(json_array_get(layouts, 0), "completion_large")));
    assert_true(json_string_length(json_object_get(root, "verdict")) > 100);
    assert_null(strchr(text, '\x1b')); /* JSON escapes it */
    json_decref(root);
    free(text);
}

static void no_replica_is_said(void **state)
{
    struct fixture *f = *state;
    struct store *store = open_store(f);
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    char *text;
    assert_int_equal(print_all(f, &(struct report_options){ 0 }, &text), STATUS_OK);
    assert_non_null(strstr(text, "nothing to compare"));
    free(text);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(means_and_pairs),
        ROW(equal_layouts_differ_by_exactly_0),
        ROW(other_baseline_negates),
        ROW(unknown_baseline_is_refused),
        ROW(missing_values_are_counted),
        ROW(large_classes_join_by_their_jobs),
        ROW(pairs_stay_within_a_slack),
        ROW(blast_radius),
        ROW(measured_load_counts_when_larger),
        ROW(fail_if),
        ROW(gates_of_the_scenario_exit_5),
        ROW(own_jobs_never_stand_for_common_ones),
        ROW(json_holds_the_numbers),
        ROW(no_replica_is_said),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
