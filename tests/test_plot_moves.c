/* test_plot_moves.c - what moved assumptions do to the verdict: by hand, on data in memory. */
#include "report/plot_moves.h"
#include "report/statistics.h"

#include <gsl/gsl_errno.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LAYOUTS = 3, REPLICAS = 4, SETTINGS = 4 };

static struct plot_data data;
static struct plot_setting settings[SETTINGS];
static double yields[SETTINGS][LAYOUTS][REPLICAS];
static struct plot_moves moves;

static void set(uint32_t setting, uint32_t layout, double a, double b)
{
    yields[setting][layout][0] = a;
    yields[setting][layout][1] = b;
}

/* Three layouts, four replicas as written and two of each move; layout 1 is the best, by 0.125 and 0.25
 * in each replica, so that as written every difference is exact. */
static void make_data(void)
{
    memset(&data, 0, sizeof data);
    data.layout_count = LAYOUTS;
    data.replicas = REPLICAS;
    data.settings = settings;
    data.setting_count = SETTINGS;
    static const char *const axes[SETTINGS] = { "none", "communication", "communication", "load" };
    for (int s = 0; s < SETTINGS; s++) {
        snprintf(settings[s].axis, sizeof settings[s].axis, "%s", axes[s]);
        settings[s].yields = yields[s][0];
        for (int l = 0; l < LAYOUTS; l++)
            for (int i = 0; i < REPLICAS; i++) {
                const double lost[LAYOUTS] = { 0.125, 0, 0.25 };
                yields[s][l][i] = s > 0 && i > 1 ? NAN : 0.75 + i * 0.03125 - lost[l];
            }
    }
}

static const struct plot_bar *bar_of(uint32_t row, uint32_t assumption)
{
    const struct plot_bar *bar = moves.layouts[row].bars;
    while (bar->assumption != assumption) bar++;
    return bar;
}

static void the_best_is_the_reference(void **state)
{
    (void)state;
    make_data();
    data.layouts[0].is_baseline = true;
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.reference, 1);
    assert_int_equal(moves.layout_count, 2);
    assert_int_equal(moves.layouts[0].layout, 0);
    assert_int_equal(moves.layouts[1].layout, 2);
    assert_int_equal(moves.replicas, 2);
    assert_true(moves.any_told && moves.layouts[0].told);
    assert_true(moves.layouts[0].as_written.mean == -0.125);
    assert_int_equal(moves.layouts[0].as_written.count, 4);
    assert_int_equal(moves.assumption_count, 2);
    assert_int_equal(moves.assumptions[0].move_count, 2);
    assert_int_equal(moves.assumptions[1].move_count, 1);
    for (int l = 0; l < LAYOUTS; l++) /* equals: the baseline goes first */
        for (int i = 0; i < REPLICAS; i++) yields[0][l][i] = 0.5;
    data.layouts[0].is_baseline = false;
    data.layouts[2].is_baseline = true;
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.reference, 2);
}

/* Two layouts of which the first loses 0.125 in each replica: what one move makes of it. The pairs
 * are (a, 0.75) and (b, 0.75) under the move. */
static const struct fates {
    const char *test;
    double a, b;
    enum fate want;
    double mean; /* of the difference under the move: as written + mean shift */
} fates[] = {
    { "less behind", 0.71875, 0.71875, FATE_HOLDS, -0.03125 },
    { "further behind", 0.25, 0.25, FATE_HOLDS, -0.5 },
    { "no difference left", 0.75, 0.75, FATE_UNKNOWN, 0 }, /* two replicas of four */
    { "now ahead", 0.875, 0.875, FATE_AHEAD, 0.125 },
    { "ahead, but by chance", 0.6875, 0.875, FATE_UNKNOWN, 0.03125 },
    { "one replica of the move", 0.875, NAN, FATE_UNKNOWN, 0.125 },
    { "the move was not run", NAN, NAN, FATE_NOT_RUN, NAN },
};
enum { FATE_ROWS = sizeof fates / sizeof *fates };

static void fate_by_hand(void **state)
{
    const struct fates *row = *state;
    make_data();
    data.layout_count = 2;
    for (int i = 0; i < REPLICAS; i++) yields[0][1][i] = 0.75;
    for (int i = 0; i < REPLICAS; i++) yields[0][0][i] = 0.625;
    set(3, 1, 0.75, 0.75);
    set(3, 0, row->a, row->b);
    plot_moves_make(&moves, &data);
    const struct plot_bar *bar = bar_of(0, 1);
    assert_int_equal(bar->fate[0], row->want);
    assert_int_equal(bar->known, row->want != FATE_NOT_RUN);
    assert_int_equal(fate_turns(bar->fate[0]), row->want == FATE_UNTOLD || row->want == FATE_AHEAD);
    if (row->want != FATE_NOT_RUN) {
        assert_true(fabs(bar->moved[0].mean - row->mean) < 1e-12);
        assert_true(bar->lo == fmin(-0.125, bar->moved[0].mean));
        assert_true(bar->hi == fmax(-0.125, bar->moved[0].mean));
    }
}

/* As written the differences are -0.25, 0, 0, 0: nobody can tell. */
static void what_could_not_be_told(void **state)
{
    (void)state;
    make_data();
    data.layout_count = 2;
    for (int i = 0; i < REPLICAS; i++) {
        yields[0][1][i] = 0.75;
        yields[0][0][i] = i == 0 ? 0.5 : 0.75;
    }
    for (int s = 1; s < SETTINGS; s++) set(s, 1, 0.75, 0.75);
    set(1, 0, 0.5, 0.75);
    set(2, 0, -1e3, -1e3 + 0.25);
    plot_moves_make(&moves, &data);
    assert_false(moves.any_told);
    assert_int_equal(bar_of(0, 0)->fate[0], FATE_HOLDS);
    assert_int_equal(bar_of(0, 0)->fate[1], FATE_TOLD);
}

/* Bars in order of their spans, which hold the scenario as written: communication to -0.25 and +0.03125
 * is 0.28125 long, load to -0.625 is 0.5. But communication changes the sign, and so turns the verdict. */
static void the_longest_bar_goes_first(void **state)
{
    (void)state;
    make_data();
    for (int s = 1; s < SETTINGS; s++) set(s, 1, 0.75, 0.75);
    set(1, 0, 0.5, 0.5);
    set(2, 0, 0.78125, 0.78125);
    set(3, 0, 0.125, 0.125);
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.layouts[0].bars[0].assumption, 1);
    assert_true(fabs(moves.layouts[0].bars[0].hi - moves.layouts[0].bars[0].lo - 0.5) < 1e-12);
    assert_true(fabs(moves.layouts[0].bars[1].hi - moves.layouts[0].bars[1].lo - 0.28125) < 1e-12);
    assert_int_equal(moves.main, 0);
    assert_int_equal(moves.shown, 0);
    set(2, 0, 0.6875, 0.6875); /* where nothing turns it, the greatest shift counts */
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.main, 1);
}

/* Layouts 0 and 2 lose 0.125 and 0.25: the closest call is layout 0, on which load moves most. */
static void the_closest_call_counts(void **state)
{
    (void)state;
    make_data();
    set(2, 2, 0.125, 0.125 + 0.03125);
    set(3, 0, 0.5, 0.5 + 0.03125);
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.rival, 0);
    assert_int_equal(moves.main, 1);
    set(1, 2, 0.875, 0.875 + 0.03125); /* layout 2 is ahead: it turns the verdict */
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.main, 0);
    assert_int_equal(moves.shown, 1);
}

static void one_replica(void **state)
{
    (void)state;
    make_data();
    data.replicas = 1;
    data.layout_count = 2;
    for (int s = 0; s < SETTINGS; s++) { /* [layout][1 replica] */
        yields[s][0][0] = s == 3 ? 0.875 : 0.625;
        yields[s][0][1] = 0.75;
    }
    plot_moves_make(&moves, &data);
    assert_false(moves.any_told);
    assert_int_equal(bar_of(0, 1)->fate[0], FATE_UNKNOWN);
    data.exact = true;
    plot_moves_make(&moves, &data);
    assert_true(moves.any_told);
    assert_int_equal(bar_of(0, 0)->fate[0], FATE_HOLDS);
    assert_int_equal(bar_of(0, 1)->fate[0], FATE_AHEAD);
}

static void nothing_was_moved(void **state)
{
    (void)state;
    make_data();
    data.setting_count = 1;
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.replicas, 0);
    make_data();
    data.layout_count = 1;
    plot_moves_make(&moves, &data);
    assert_int_equal(moves.replicas, 0);
    assert_int_equal(moves.layout_count, 0);
}

int main(void)
{
    static struct CMUnitTest tests[FATE_ROWS + 8];
    size_t count = 0;
    gsl_set_error_handler_off();
    const struct CMUnitTest single[] = {
        cmocka_unit_test(the_best_is_the_reference),  cmocka_unit_test(what_could_not_be_told),
        cmocka_unit_test(the_longest_bar_goes_first), cmocka_unit_test(one_replica),
        cmocka_unit_test(nothing_was_moved),          cmocka_unit_test(the_closest_call_counts),
    };
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) tests[count++] = single[i];
    for (size_t i = 0; i < FATE_ROWS; i++)
        tests[count++] = (struct CMUnitTest){ .name = fates[i].test,
                                              .test_func = fate_by_hand,
                                              .initial_state = (void *)(uintptr_t)&fates[i] };
    return _cmocka_run_group_tests("plot moves", tests, count, NULL, NULL);
}
