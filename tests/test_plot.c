/* test_plot.c - plots: what is read from a database, who is said to be first, text, files, and what
 * happens without gnuplot. test_plot_pictures.c looks at the pictures. */
#include "fixture_plot.h"

#include "report/plot_frame.h"
#include "report/plot_kinds.h"
#include "report/plot_words.h"

#include <math.h>
#include <sys/stat.h>

static char old_path[4096]; /* PATH as it was */

static void data_of_the_database(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    make_database("one");
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    assert_string_equal(data.scenario, "tiny");
    assert_int_equal(data.layout_count, 2); /* the first slack rule of each */
    assert_string_equal(data.layouts[1].name, "other");
    assert_non_null(strstr(data.notes, "slack 0"));
    assert_int_equal(data.replicas, 2);
    assert_true(data.window_start_s == 3600 && data.layouts[0].end_s == 7200);
    /* the ledger, by hand */
    assert_true(data.layouts[0].held[0][CLASS_8_15][SHARE_COMPUTE] == 28800);
    assert_true(data.layouts[0].held[1][CLASS_NONE][SHARE_LOST] == 5760);
    assert_true(data.layouts[1].capacity[0][SHARE_GONE] == 23040); /* whole and rest */
    assert_true(data.layouts[1].held[1][CLASS_8_15][SHARE_CONTENTION] == 11520);
    /* waits: NAN where there is none */
    assert_true(data.layouts[0].wait[1][CLASS_NONE][WAIT_P95] == 300);
    assert_true(isnan(data.layouts[1].wait[1][CLASS_NONE][WAIT_P95]));
    assert_true(data.layouts[0].wait[0][CLASS_8_15][WAIT_P50] == 7);
    /* need: the mean of effective_load, else the offered load */
    assert_true(data.layouts[0].need == 0.625 && data.layouts[1].need == 0.5);
    /* yields of all jobs, by setting */
    assert_int_equal(data.setting_count, 4);
    assert_string_equal(data.settings[2].axis, "communication");
    assert_true(data.settings[2].factor == 2);
    assert_true(setting_yields(&data, 0, 0)[1] == 0.75);
    assert_true(setting_yields(&data, 2, 1)[0] == 0.375);
    /* bins: 16 GPUs * 1800 s * 2 replicas = 57600 GPU-s; what follows the window is not shown */
    assert_int_equal(data.layouts[0].bin_count, 4);
    assert_true(data.layouts[0].bins[0][SHARE_COMPUTE] == 43200.0 / 57600);
    assert_true(data.layouts[0].bins[1][SHARE_COMPUTE] == 7200.0 / 57600);
    assert_true(data.layouts[0].bins[1][SHARE_GONE] == 7200.0 / 57600);
    /* incidents of the failure-only run alone, by component and size */
    assert_int_equal(data.layouts[0].blast_count, 2);
    assert_int_equal(data.layouts[0].blast[0].incidents, 1);
    assert_int_equal(data.layouts[0].blast[1].gpus_removed, 8);
    assert_int_equal(data.layouts[0].blast[1].incidents, 2);
    assert_true(fabs(data.layouts[0].blast_s - 31557600) < 1e-6);
    plot_data_clear(&data);
    diag_destroy(diag);
}

static void many_bins_become_180_at_most(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    struct db *db = NULL;
    make_database("one");
    /* bins of 8 s: 900 in 7200 s, so 5 become one of 40 s */
    assert_int_equal(db_open(small_db, DB_APPEND, &db, diag), STATUS_OK);
    assert_int_equal(db_exec(db, "UPDATE meta SET value = '8000000000' WHERE key = 'curve_bin_ns'"),
                     STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    assert_int_equal(data.layouts[0].bin_count, PLOT_BINS_MAX);
    assert_true(fabs(data.layouts[0].bin_s - 40) < 1e-9);
    double sum = 0; /* nothing is lost by spreading: 14400 + 28800 + 7200 GPU-s of compute */
    for (uint32_t b = 0; b < PLOT_BINS_MAX; b++) sum += data.layouts[0].bins[b][SHARE_COMPUTE];
    assert_true(fabs(sum * 16 * 2 * 40 - 50400) < 1e-6);
    plot_data_clear(&data);
    diag_destroy(diag);
}

/* 60 min and 90 s of bins of 30 min: the third bin of layout 0 is 90 s long. In it 16 GPUs of two replicas
 * have 16 * 90 * 2 = 2880 GPU-s, of which 1440 + 720 compute. */
static void the_last_bin_ends_with_the_layout(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    struct db *db = NULL;
    make_database("one");
    assert_int_equal(db_open(small_db, DB_APPEND, &db, diag), STATUS_OK);
    assert_int_equal(db_exec(db,
                             "INSERT INTO meta VALUES('horizon_ns','9223372036854775807');"
                             "UPDATE replica SET window_start_ns = 0;"
                             "UPDATE replica SET window_end_ns = 3690000000000 WHERE layout_id = 0;"
                             "INSERT INTO curve VALUES(0,0,3600.0,3690.0,'compute',1440.0),"
                             " (0,1,3600.0,3690.0,'compute',720.0)"),
                     STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    assert_true(data.to_the_end);
    assert_int_equal(data.layouts[0].bin_count, 3);
    assert_int_equal(data.layouts[1].bin_count, 4);
    assert_true(layout_bin_end_s(&data.layouts[0], 1) == 3600);
    assert_true(layout_bin_end_s(&data.layouts[0], 2) == 3690);
    assert_true(data.layouts[0].bins[2][SHARE_COMPUTE] == 2160.0 / 2880);
    plot_data_clear(&data);
    diag_destroy(diag);
}

/* Where some layout cannot hold some jobs, waits are compared over the others. */
static void waits_of_common_jobs(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    struct db *db = NULL;
    make_database("one");
    assert_int_equal(db_open(small_db, DB_APPEND, &db, diag), STATUS_OK);
    assert_int_equal(db_exec(db, "INSERT INTO metric VALUES(0,0,'common_jobs','none','1',3.0),"
                                 " (0,0,'common_wait_s_p95','none','s',20.0)"),
                     STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    assert_true(data.common && data.layouts[0].wait[0][CLASS_NONE][WAIT_P95] == 20);
    assert_true(isnan(data.layouts[0].wait[1][CLASS_NONE][WAIT_P95]));
    plot_data_clear(&data);
    diag_destroy(diag);
}

/* Without chance all replicas are the same: one is read. */
static void one_of_exact_replicas(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    struct db *db = NULL;
    make_database("one");
    assert_int_equal(db_open(small_db, DB_APPEND, &db, diag), STATUS_OK);
    assert_int_equal(db_exec(db, "INSERT INTO meta VALUES('chance','none');"
                                 "INSERT INTO curve VALUES(0,0,0.0,1800.0,'no_demand',14400.0)"),
                     STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    assert_true(data.exact);
    assert_int_equal(data.replicas, 1);
    assert_int_equal(data.layouts[0].replicas_present, 1);
    /* 16 GPUs * 1800 s of one replica */
    assert_true(data.layouts[0].bins[0][SHARE_COMPUTE] == 14400.0 / 28800);
    assert_true(data.layouts[0].bins[1][SHARE_COMPUTE] == 7200.0 / 28800);
    plot_data_clear(&data);
    diag_destroy(diag);
}

static void not_a_database(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    static struct plot_data data;
    assert_int_equal(plot_data_read("Makefile", &data, diag), STATUS_INPUT);
    diag_destroy(diag);
}

/* ---- sums ---- */

static void every_account_is_drawn_in_its_group(void **state)
{
    (void)state;
    for (int account = 0; account < ACCOUNTS; account++) {
        const int share = share_of_account[account];
        const bool held = account < ACC_HELD_END, gone = account >= ACC_FREE_END;
        assert_int_equal(held, share < SHARE_HELD_END);
        assert_int_equal(gone, share == SHARE_GONE);
        assert_non_null(share_styles[share].name);
    }
}

/* Data of so many layouts and replicas. */
static const struct plot_data *shaped(uint32_t layout_count, uint32_t replicas)
{
    static struct plot_data data;
    data.layout_count = layout_count;
    data.replicas = replicas;
    return &data;
}

/* Differences 1, 2, 3: mean 2, s 1. One pair of layouts and four headlines: 98.75 %, half width
 * t(2, 0.99375) / sqrt 3 = 8.86020 / 1.73205, by the closed form t = (2p - 1) sqrt(2 / (4p (1 - p))). */
static void ranking_by_pairs(void **state)
{
    (void)state;
    const double values[] = { 11, 12, 14, 10, 10, 11 };
    struct ranking ranking;
    ranking_make(&ranking, shaped(2, 3), values, true);
    assert_true(ranking.known && ranking.best == 0 && ranking.next == 1);
    assert_true(fabs(ranking.difference.mean - 2) < 1e-12);
    assert_true(fabs(ranking.difference.hi - (2 + 8.86020003 / sqrt(3))) < 1e-6);
    assert_false(ranking.clear); /* 2 - 5.115 is below 0 */
    ranking_make(&ranking, shaped(2, 3), values, false);
    assert_int_equal(ranking.best, 1);
}

static void ranking_beyond_chance(void **state)
{
    (void)state;
    const double values[] = { 10, 10, 11, 15.0, 15.1, 16.2 };
    struct ranking ranking;
    ranking_make(&ranking, shaped(2, 3), values, true);
    assert_true(ranking.best == 1 && ranking.clear);
}

static void ranking_of_one_replica_is_never_clear(void **state)
{
    (void)state;
    const double values[] = { 1, 100 };
    struct ranking ranking;
    ranking_make(&ranking, shaped(2, 1), values, true);
    assert_true(ranking.known && ranking.best == 1 && !ranking.clear);
}

static void ranking_of_one_exact_replica(void **state)
{
    (void)state;
    const double values[] = { 1, 100, 1 };
    struct ranking ranking;
    static struct plot_data data;
    data = *shaped(2, 1);
    data.exact = true;
    ranking_make(&ranking, &data, values, true);
    assert_true(ranking.best == 1 && ranking.clear);
    data.layout_count = 3; /* of 1, 100 and 1 the lowest is not one */
    ranking_make(&ranking, &data, values, false);
    assert_false(ranking.clear);
}

/* 0.002 points apart, where 0.01 are printed. */
static void a_lead_without_a_digit_is_none(void **state)
{
    (void)state;
    const double values[] = { 0.10071, 0.10073, 0.0988 };
    const struct measure measure = {
        .noun = "of it", .scale = 100, .decimals = 1, .higher_is_better = true, .share = true
    };
    static struct plot_layout layouts[3] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
    static struct plot_data data;
    struct ranking ranking;
    struct frame frame = { .note_count = 0 };
    data = *shaped(3, 1);
    data.exact = true;
    for (int i = 0; i < 3; i++) data.layouts[i] = layouts[i];
    ranking_make(&ranking, &data, values, true);
    finding_notes(&frame, &data, &ranking, &measure);
    assert_int_equal(frame.note_count, 1);
    assert_string_equal(frame.notes[0], "No difference that shows: a and b, 10.1 % of it");
    const double waits[] = { 0, 0, 60 }; /* seconds that do not differ at all are ties, too */
    const struct measure wait = { .noun = "is it", .duration = true };
    frame.note_count = 0;
    ranking_make(&ranking, &data, waits, false);
    finding_notes(&frame, &data, &ranking, &wait);
    assert_int_equal(frame.note_count, 1);
    assert_string_equal(frame.notes[0], "No difference that shows: a and b, 0 s is it");
}

static void ranking_skips_what_is_not_known(void **state)
{
    (void)state;
    const double values[] = { NAN, NAN, 3, NAN, 2, 2 };
    struct ranking ranking;
    ranking_make(&ranking, shaped(3, 2), values, false);
    assert_true(ranking.known && ranking.best == 2 && ranking.next == 1);
    assert_int_equal(ranking.value[0].count, 0);
    assert_int_equal(ranking.difference.count, 1); /* one pair */
    ranking_make(&ranking, shaped(1, 2), values, false);
    assert_false(ranking.known);
}

/* ---- text ---- */

static void cleaned_text_is_xml(void **state)
{
    (void)state;
    char out[128];
    canvas_clean("a\x1b[31m\n\xef\xbf\xbf"
                 "b\xff",
                 12, out, sizeof out);
    assert_string_equal(out, "a\\x1b[31m\\x0a???b\\xff");
}

static void wrapped_lines_fit(void **state)
{
    (void)state;
    const struct canvas canvas = { .format = PLOT_TERM, .cells = true };
    struct text_lines lines;
    canvas_wrap(&canvas, TEXT_BODY, false, "one three seventeen characterswithoutspace", 10,
                &lines);
    assert_int_equal(lines.count, 5);
    assert_string_equal(lines.line[0], "one three");
    assert_string_equal(lines.line[1], "seventeen");
    assert_string_equal(lines.line[2], "characters");
    assert_string_equal(lines.line[3], "withoutspa");
    assert_string_equal(lines.line[4], "ce");
}

/* ---- the world ---- */

/* Puts a gnuplot of our own, or none, first in PATH. */
static void fake_gnuplot(const char *script)
{
    char folder[300], path[320];
    snprintf(folder, sizeof folder, "%s/.bin", work);
    snprintf(path, sizeof path, "%s/gnuplot", folder);
    mkdir(folder, 0700);
    unlink(path);
    if (script) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(script, file);
        fclose(file);
        chmod(path, 0700);
    }
    setenv("PATH", folder, 1);
}

static const struct world {
    const char *test, *script, *message;
} worlds[] = {
    { "gnuplot is missing", NULL, "install the package gnuplot-nox" },
    { "gnuplot fails", "#!/bin/sh\necho 'line 3:  no such style' >&2\nexit 3\n",
      "status 3; it said: line 3: no such style" },
    { "gnuplot crashes", "#!/bin/sh\nkill -9 $$\n", "signal 9" },
    { "gnuplot leaves nothing", "#!/bin/sh\nexit 0\n", "left no picture" },
};
enum { WORLDS = sizeof worlds / sizeof *worlds };

static void world_fails(void **state)
{
    const struct world *world = *state;
    char folder[300], said[4096];
    make_database("one");
    snprintf(folder, sizeof folder, "%s/.out", work);
    const struct plot_request request = {
        .db_path = small_db, .folder = folder, .kinds = 1u << PLOT_STALL, .formats = 1u << PLOT_SVG
    };
    struct diag *diag = diag_create();
    FILE *out = tmpfile(), *shown = tmpfile();
    fake_gnuplot(world->script);
    assert_int_equal(plot_write(&request, out, diag), STATUS_WORLD);
    setenv("PATH", old_path, 1);
    diag_print(diag, shown);
    rewind(shown);
    said[fread(said, 1, sizeof said - 1, shown)] = '\0';
    assert_non_null(strstr(said, world->message));
    assert_int_equal(ftell(out), 0);
    assert_int_equal(files_left(), 0);
    fclose(out);
    fclose(shown);
    assert_int_not_equal(access(folder, F_OK), 0); /* it is made for the first picture */
    diag_destroy(diag);
}

static void files_and_their_names(void **state)
{
    (void)state;
    char path[400], list[2048];
    need_gnuplot();
    make_database("one");
    const struct plot_request request = { .db_path = small_db,
                                          .kinds = 1u << PLOT_WAIT,
                                          .formats =
                                              1u << PLOT_SVG | 1u << PLOT_PNG | 1u << PLOT_PDF };
    struct diag *diag = diag_create();
    FILE *out = tmpfile();
    assert_int_equal(plot_write(&request, out, diag), STATUS_OK);
    rewind(out);
    list[fread(list, 1, sizeof list - 1, out)] = '\0';
    for (int format = PLOT_SVG; format <= PLOT_PDF; format++) {
        snprintf(path, sizeof path, "%s/small-plots/small-wait.%s", work,
                 plot_format_names[format]);
        assert_int_equal(access(path, R_OK), 0);
        assert_non_null(strstr(list, path));
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/small-plots", work);
    assert_int_equal(rmdir(path), 0); /* nothing else was left in it */
    fclose(out);
    diag_destroy(diag);
}

static void folder_that_cannot_be(void **state)
{
    (void)state;
    need_gnuplot();
    char folder[340];
    make_database("one");
    snprintf(folder, sizeof folder, "%s/below", small_db); /* below a file */
    const struct plot_request request = {
        .db_path = small_db, .folder = folder, .kinds = 1u << PLOT_WAIT, .formats = 1u << PLOT_SVG
    };
    struct diag *diag = diag_create();
    assert_int_equal(plot_write(&request, stdout, diag), STATUS_WORLD);
    diag_destroy(diag);
}

static int clean_up(void **state)
{
    char path[320];
    snprintf(path, sizeof path, "%s/.bin/gnuplot", work);
    unlink(path);
    snprintf(path, sizeof path, "%s/.bin", work);
    rmdir(path);
    return end_tests(state);
}

int main(void)
{
    static struct CMUnitTest tests[WORLDS + 32];
    size_t count = 0;
    if (!start_tests()) return 1;
    snprintf(old_path, sizeof old_path, "%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    const struct CMUnitTest single[] = {
        cmocka_unit_test(data_of_the_database),
        cmocka_unit_test(many_bins_become_180_at_most),
        cmocka_unit_test(not_a_database),
        cmocka_unit_test(the_last_bin_ends_with_the_layout),
        cmocka_unit_test(waits_of_common_jobs),
        cmocka_unit_test(one_of_exact_replicas),
        cmocka_unit_test(every_account_is_drawn_in_its_group),
        cmocka_unit_test(ranking_by_pairs),
        cmocka_unit_test(ranking_beyond_chance),
        cmocka_unit_test(ranking_of_one_replica_is_never_clear),
        cmocka_unit_test(ranking_skips_what_is_not_known),
        cmocka_unit_test(ranking_of_one_exact_replica),
        cmocka_unit_test(a_lead_without_a_digit_is_none),
        cmocka_unit_test(cleaned_text_is_xml),
        cmocka_unit_test(wrapped_lines_fit),
        cmocka_unit_test(files_and_their_names),
        cmocka_unit_test(folder_that_cannot_be),
    };
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) tests[count++] = single[i];
    for (size_t i = 0; i < WORLDS; i++)
        tests[count++] = (struct CMUnitTest){ .name = worlds[i].test,
                                              .test_func = world_fails,
                                              .initial_state = (void *)(uintptr_t)&worlds[i] };
    return _cmocka_run_group_tests("plot", tests, count, NULL, clean_up);
}
