/* test_moves.c - what flips the verdict: judged, said, tabled and as JSON, from hand-made runs under moved assumptions. */
#include "fixture_report.h"

#include "report/compare_json.h"
#include "report/moves_text.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <math.h>

enum { REPLICAS = 8, MOVED = 5, LAYOUTS = 3 };

/* What a setting gives on each layout; replica r adds wobble * (0, 1, 0, -1, 0, 1, ...) times the layout's number. */
struct world {
    double yield[LAYOUTS], wobble;
    double completion_s[LAYOUTS]; /* of jobs of 16-63; 0 = no such job                           */
    double needs[LAYOUTS];        /* 0 = 0.8                                                     */
};

static void add_setting(struct fixture *f, enum axis axis, double value)
{
    if (f->plan.setting_count == 0) f->plan.settings[f->plan.setting_count++].value = 1;
    f->plan.settings[f->plan.setting_count++] = (struct setting){ axis, value };
}

static void store_world(struct fixture *f, struct store *store, uint32_t setting, uint32_t replicas,
                        const struct world *world)
{
    static const double turns[] = { 0, 1, 0, -1 };
    for (uint32_t row = 0; row < f->plan.variant_count; row++)
        for (uint32_t replica = 0; replica < replicas; replica++) {
            const uint32_t layout = f->plan.variants[row].layout;
            if (setting > 0 && f->plan.variants[row].slack != f->plan.variants[0].slack) continue;
            struct replica_result r = fixture_result(row, replica);
            r.setting = setting;
            const double luck = world->wobble * layout * turns[replica % 4];
            fixture_metric(&r, "yield", "1", CLASS_NONE, world->yield[layout] + luck);
            fixture_metric(&r, "effective_load", "1", CLASS_NONE,
                           world->needs[layout] > 0 ? world->needs[layout] : 0.8);
            if (world->completion_s[layout] > 0) {
                fixture_metric(&r, "completion_s_mean", "s", CLASS_16_63,
                               world->completion_s[layout] * (1 + luck));
                fixture_metric(&r, "jobs_done", "1", CLASS_16_63, 31);
            }
            fixture_store(store, &r, f->diag);
        }
}

/* worlds[0] as written, then one a setting, in `moved` replicas. */
static void judge_in(struct fixture *f, const struct world *worlds, uint32_t moved,
                     struct report *report)
{
    struct store *store = open_store(f);
    store_world(f, store, 0, REPLICAS, &worlds[0]);
    for (uint32_t s = 1; s < f->plan.setting_count; s++)
        store_world(f, store, s, moved, &worlds[s]);
    report_finish(f, store, report);
}

static void judge(struct fixture *f, const struct world *worlds, struct report *report)
{
    judge_in(f, worlds, MOVED, report);
}

static char *sentences_of(const struct report *report)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    moves_sentences(&report->moves, out);
    fclose(out);
    return text;
}

static void says_in(struct fixture *f, const struct world *worlds, uint32_t moved, const char *want)
{
    struct report report;
    judge_in(f, worlds, moved, &report);
    char *text = sentences_of(&report);
    assert_string_equal(text, want);
    free(text);
    report_clear(&report);
}

static void says(struct fixture *f, const struct world *worlds, const char *want)
{
    says_in(f, worlds, MOVED, want);
}

static void all_axes(struct fixture *f)
{
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    add_setting(f, AXIS_COMMUNICATION, 2);
    add_setting(f, AXIS_FAILURES, 1.0 / 3);
    add_setting(f, AXIS_FAILURES, 3);
    add_setting(f, AXIS_SERVER_GROWTH, 1);
    add_setting(f, AXIS_NICS, 0.5);
    add_setting(f, AXIS_LOAD, 0.9);
    add_setting(f, AXIS_LOAD, 1.1);
}

/* ---- sentences ---- */

static void it_holds_with_all_moves(void **state)
{
    struct fixture *f = *state;
    all_axes(f);
    struct world worlds[9];
    for (int s = 0; s < 9; s++)
        worlds[s] = (struct world){ .yield = { 0.9, 0.8 }, .completion_s = { 100, 120 } };
    worlds[1].yield[1] = 0.88;
    worlds[2].yield[1] = 0.67;
    says(
        f, worlds,
        "The verdict holds with communication at half and twice, failures at a third and three "
        "times, a server's failures in step with its GPUs, half of the NICs, and jobs a tenth "
        "shorter and longer. It moves most with communication: dense8's lead over sparse4 is 0.100 "
        "as written, 0.020 at half and 0.230 at twice.\n");
}

static void another_winner_turns_it(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    add_setting(f, AXIS_NICS, 0.5);
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } },
                                    { .yield = { 0.9, 0.95 } },
                                    { .yield = { 0.9, 0.7 } } };
    says(f, worlds,
         "The verdict turns with communication at half (assumed): sparse4 then yields more than "
         "dense8. It holds with the other 1 move tried. It moves most with communication: dense8's "
         "lead over sparse4 is 0.100 as written and -0.050 at half.\n");
}

/* As written 0.1 apart and the same in all replicas; failures bring luck and leave 0.01 between them. Both moves turn
 * alike and are published: one sentence. Over as many replicas as written that turns it; five of eight only lack power,
 * though the shift itself is told. */
static void a_lost_difference_turns_it(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_FAILURES, 1.0 / 3);
    add_setting(f, AXIS_FAILURES, 3);
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } },
                                    { .yield = { 0.9, 0.89 }, .wobble = 0.02 },
                                    { .yield = { 0.9, 0.88 }, .wobble = 0.03 },
                                    { .yield = { 0.9, 0.8 } } };
    says(f, worlds,
         "The verdict on yield holds with communication at half. It moves most with failures: "
         "dense8's lead over sparse4 is 0.100 as written, 0.010 at a third and 0.020 at three "
         "times. 5 replicas cannot tell it with failures at a third and three times.\n");
    says_in(
        f, worlds, REPLICAS,
        "The verdict turns with failures at a third and three times (published): dense8 can then "
        "not be told from sparse4. It holds with the other 1 move tried. It moves most with "
        "failures: dense8's lead over sparse4 is "
        "0.100 as written, 0.010 at a third and 0.020 at three times.\n");
}

/* The same 0.1 between them, but so much luck that five replicas tell neither it nor a shift. */
static void luck_is_no_turn(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_COMMUNICATION, 2);
    add_setting(f, AXIS_FAILURES, 3);
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } },
                                    { .yield = { 0.9, 0.75 } },
                                    { .yield = { 0.9, 0.8 }, .wobble = 0.2 } };
    says(
        f, worlds,
        "The verdict on yield holds with communication at twice. It moves most with communication: "
        "dense8's lead over sparse4 is 0.100 as written and 0.150 at twice. 5 replicas cannot tell "
        "it with failures at three times.\n");
}

/* Apart by less than luck as written; half of the NICs takes them apart, which is no turn. */
static void what_could_not_be_told_now_can(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_NICS, 0.5);
    add_setting(f, AXIS_LOAD, 0.9);
    const struct world worlds[] = { { .yield = { 0.9, 0.895 }, .wobble = 0.02 },
                                    { .yield = { 0.9, 0.6 }, .wobble = 0.02 },
                                    { .yield = { 0.9, 0.894 }, .wobble = 0.02 } };
    says(
        f, worlds,
        "The layouts cannot be told apart with jobs a tenth shorter either. They can with half of "
        "the NICs (published): dense8 then yields the most. It moves most with the number of NICs: "
        "dense8's lead over sparse4 is 0.005 as written and 0.300 with half of them.\n");
}

static void completion_may_turn_alone(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    add_setting(f, AXIS_LOAD, 1.1);
    const struct world worlds[] = {
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 120 } },
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 90 } },
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 101 }, .wobble = 0.02 },
    };
    says(
        f, worlds,
        "The verdict on yield holds with communication at half and jobs a tenth longer. Completion "
        "turns with communication at half (assumed): sparse4 then finishes 10 % earlier. 5 "
        "replicas cannot tell completion with jobs a tenth longer.\n");
    says_in(
        f, worlds, REPLICAS,
        "The verdict on yield holds with communication at half and jobs a tenth longer. Completion "
        "turns with communication at half (assumed): sparse4 then finishes 10 % earlier. It turns "
        "with jobs a tenth longer (trace): sparse4 can then not be told from dense8.\n");
}

/* Saturated as written or under the move: its completion is not judged. */
static void saturation_is_not_judged(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_LOAD, 1.1);
    const struct world worlds[] = {
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 120 } },
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 90 }, .needs = { 0.9, 1.01 } },
    };
    struct report report;
    judge(f, worlds, &report);
    assert_int_equal(report.moves.rows[0].large.turn, TURN_SATURATED);
    assert_int_equal(report.moves.rows[0].layouts[1].later.n, 0);
    assert_true(report.moves.rows[0].layouts[1].needs > 1);
    char *text = sentences_of(&report);
    assert_non_null(strstr(text, "The verdict on yield holds with jobs a tenth longer."));
    free(text);
    report_clear(&report);
}

static void no_tornado_is_said(void **state)
{
    struct fixture *f = *state;
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } } };
    says(f, worlds,
         "How far the assumptions may move before the verdict turns has not been computed.\n");
    f->scenario.tornado = true; /* wanted, but nothing could be moved */
    f->plan.settings[0].value = 1;
    f->plan.setting_count = 1;
    says(f, worlds, "It rests on no assumption that could be moved.\n");
}

/* A killed run has settings, but no runs of them yet. */
static void missing_runs_are_not_computed(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    const struct world written = { .yield = { 0.9, 0.8 } };
    struct store *store = open_store(f);
    store_world(f, store, 0, REPLICAS, &written);
    struct report report;
    report_finish(f, store, &report);
    char *text = sentences_of(&report);
    assert_string_equal(
        text, "How far the assumptions may move before the verdict turns has not been computed.\n");
    free(text);
    report_clear(&report);
}

static void one_replica_of_each_tells_nothing(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } }, { .yield = { 0.9, 0.7 } } };
    struct store *store = open_store(f);
    store_world(f, store, 0, REPLICAS, &worlds[0]);
    store_world(f, store, 1, 1, &worlds[1]);
    struct report report;
    report_finish(f, store, &report);
    char *text = sentences_of(&report);
    assert_string_equal(text, "How far the assumptions may move before the verdict turns cannot be "
                              "told from 1 replica of each.\n");
    free(text);
    report_clear(&report);
}

/* Nothing is drawn by chance: one replica of each decides. */
static void exact_runs_need_one_replica(void **state)
{
    struct fixture *f = *state;
    f->scenario.resample = RESAMPLE_NONE;
    f->scenario.failures.component[COMPONENT_SERVER].law = LAW_NONE;
    add_setting(f, AXIS_COMMUNICATION, 2);
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } }, { .yield = { 0.9, 0.901 } } };
    struct store *store = open_store(f);
    store_world(f, store, 0, 1, &worlds[0]);
    store_world(f, store, 1, 1, &worlds[1]);
    struct report report;
    report_finish(f, store, &report);
    assert_true(report.c.exact);
    assert_int_equal(report.moves.rows[0].yield.turn, TURN_OTHER);
    assert_true(report.moves.rows[0].lead.half == 0);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    moves_table(&report.moves, out);
    fclose(out);
    assert_string_equal(text, "\nwhat moves it: useful hours per held GPU-hour, and minus dense8\n"
                              "assumption         mark      verdict     dense8            sparse4\n"
                              "as written                                0.900       0.800 -0.100\n"
                              "communication x2   assumed   TURNS        0.900       0.901 +0.001\n"
                              "TURNS: one is told with the other sign, or over as many replicas is "
                              "told no more.\n");
    free(text);
    report_clear(&report);
}

/* ---- numbers ---- */

/* Of three, the nearest that can be told is the rival; only the first slack is judged. */
static void the_rival_is_the_next_that_can_be_told(void **state)
{
    struct fixture *f = *state;
    fixture_layout(&f->scenario, 2, "sparse2", 8, 2);
    f->scenario.layout_count = 3;
    f->scenario.slack_count = 2;
    f->scenario.slack[1] = SLACK_ANY;
    fixture_plan(f);
    add_setting(f, AXIS_COMMUNICATION, 2);
    const struct world worlds[] = { { .yield = { 0.9, 0.899, 0.7 }, .wobble = 0.01 },
                                    { .yield = { 0.9, 0.899, 0.5 }, .wobble = 0.01 } };
    struct report report;
    judge(f, worlds, &report);
    assert_int_equal(report.moves.best, 0);
    assert_int_equal(report.moves.rival, 4); /* row: layout-major, two slacks */
    assert_false(report.moves.all_near);
    assert_true(fabs(report.moves.rows[0].lead.mean - 0.4) < 1e-12);
    assert_int_equal(report.moves.rows[0].layouts[1].yield.n, 0); /* slack any */
    report_clear(&report);
}

static void marks_are_the_weakest(void **state)
{
    struct fixture *f = *state;
    all_axes(f);
    f->scenario.communication.mix[0].profile.mark = MARK_DERIVED;
    f->scenario.layouts[0].server.mark = MARK_CONFIRMED;
    f->scenario.layouts[1].server.mark = MARK_HYPOTHETICAL;
    struct world worlds[9];
    for (int s = 0; s < 9; s++) worlds[s] = (struct world){ .yield = { 0.9, 0.8 } };
    struct report report;
    judge(f, worlds, &report);
    static const char *const want[] = { "derived", "derived", "published", "published",
                                        "assumed", "assumed", "trace",     "trace" };
    for (int i = 0; i < 8; i++) assert_string_equal(report.moves.rows[i].mark, want[i]);
    report_clear(&report);
}

/* ---- table and JSON ---- */

static void the_table(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    add_setting(f, AXIS_SERVER_GROWTH, 1);
    const struct world worlds[] = {
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 120 } },
        { .yield = { 0.9, 0.95 }, .completion_s = { 100, 90 } },
        { .yield = { 0.9, 0.8 }, .completion_s = { 100, 120 }, .needs = { 0.9, 1.2 } },
    };
    struct report report;
    judge(f, worlds, &report);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    moves_table(&report.moves, out);
    fclose(out);
    assert_string_equal(text,
                        "\nwhat moves it: useful hours per held GPU-hour, and minus dense8\n"
                        "assumption         mark      verdict     dense8            sparse4\n"
                        "as written                                0.900 0.800 -0.100±0.000\n"
                        "communication x0.5 assumed   TURNS        0.900 0.950 +0.050±0.000\n"
                        "server growth 1    assumed   holds        0.900 0.800 -0.100±0.000\n"
                        "completion of jobs of 16 GPUs and more, % later than dense8\n"
                        "assumption         mark      verdict                 sparse4\n"
                        "as written                                         +20.0±0.0\n"
                        "communication x0.5 assumed   TURNS                 -10.0±0.0\n"
                        "server growth 1    assumed   saturated             saturated\n"
                        "holds: the differences that are told keep their sign. TURNS: one is "
                        "told with the other sign, or\nover as many replicas is told no more. "
                        "saturated: a layout is asked for more than it has.\n");
    free(text);
    report_clear(&report);
}

/* Seven layouts with long names: six beside the baseline in three blocks of 100 columns. */
static void many_layouts_go_on_below(void **state)
{
    struct fixture *f = *state;
    char name[48], *text;
    for (uint32_t row = 0; row < 7; row++) {
        snprintf(name, sizeof name, "a layout with a long name, number %u", (unsigned)row);
        fixture_layout(&f->scenario, row, name, 16, 1);
    }
    f->scenario.layout_count = 7;
    fixture_plan(f);
    add_setting(f, AXIS_COMMUNICATION, 0.5);
    struct store *store = open_store(f);
    for (uint32_t setting = 0; setting < 2; setting++)
        for (uint32_t row = 0; row < 7; row++)
            for (uint32_t replica = 0; replica < 2; replica++) {
                struct replica_result r = fixture_result(row, replica);
                r.setting = setting;
                fixture_metric(&r, "yield", "1", CLASS_NONE, 0.9 - 0.1 * row + 0.01 * replica);
                fixture_store(store, &r, f->diag);
            }
    struct report report;
    report_finish(f, store, &report);
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    moves_table(&report.moves, out);
    fclose(out);
    unsigned lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned columns = 0;
        for (const char *c = line; *c != '\0'; c++) columns += ((unsigned char)*c & 0xc0) != 0x80;
        assert_true(columns <= 100);
        lines++;
    }
    assert_int_equal(lines, 1 + 3 * 3 + 1);
    free(text);
    report_clear(&report);
}

static void the_json(void **state)
{
    struct fixture *f = *state;
    add_setting(f, AXIS_NICS, 0.5);
    const struct world worlds[] = { { .yield = { 0.9, 0.8 } }, { .yield = { 0.9, 0.95 } } };
    struct report report;
    judge(f, worlds, &report);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(compare_json(&report.c, &report.moves, out, f->diag), STATUS_OK);
    fclose(out);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    json_t *move = json_array_get(json_object_get(root, "moves"), 0);
    assert_string_equal(json_string_value(json_object_get(move, "axis")), "nics");
    assert_string_equal(json_string_value(json_object_get(move, "mark")), "published");
    assert_int_equal(json_integer_value(json_object_get(move, "replicas")), MOVED);
    json_t *yield = json_object_get(move, "yield");
    assert_string_equal(json_string_value(json_object_get(yield, "turn")), "turns");
    assert_true(json_is_true(json_object_get(yield, "turned")));
    assert_string_equal(json_string_value(json_object_get(yield, "layout")), "sparse4");
    json_t *sparse = json_array_get(json_object_get(move, "layouts"), 1);
    assert_true(fabs(json_real_value(json_object_get(sparse, "difference")) - 0.05) < 1e-12);
    assert_true(json_is_null(json_object_get(sparse, "completion_large")));
    json_decref(root);
    free(text);
    report_clear(&report);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(it_holds_with_all_moves),        ROW(another_winner_turns_it),
        ROW(a_lost_difference_turns_it),     ROW(luck_is_no_turn),
        ROW(what_could_not_be_told_now_can), ROW(completion_may_turn_alone),
        ROW(saturation_is_not_judged),       ROW(no_tornado_is_said),
        ROW(missing_runs_are_not_computed),  ROW(one_replica_of_each_tells_nothing),
        ROW(exact_runs_need_one_replica),    ROW(the_rival_is_the_next_that_can_be_told),
        ROW(marks_are_the_weakest),          ROW(the_table),
        ROW(many_layouts_go_on_below),       ROW(the_json),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
