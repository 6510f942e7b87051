/* test_plot_pictures.c - each picture drawn by gnuplot: hostile names stay text (P87-P89), odd cases
 * have a picture (P90), the finding is in it. Skipped when gnuplot is not installed. */
#include "fixture_plot.h"

#include <math.h>

/* A well-formed SVG: tags match, attributes are quoted, '&' begins an entity, no control bytes. */
static void check_svg(const char *text, size_t count)
{
    char open[64][32];
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char c = (unsigned char)text[i];
        assert_true(c >= 0x20 || c == '\n' || c == '\t' || c == '\r');
        if (c == '&') assert_non_null(memchr(text + i, ';', count - i < 8 ? count - i : 8));
        if (c != '<') continue;
        char quote = 0;
        size_t end = i + 1;
        if (strncmp(text + i, "<![CDATA[", 9) == 0) {
            i = (size_t)(strstr(text + i, "]]>") - text) + 2;
            continue;
        }
        for (; end < count && (quote || text[end] != '>'); end++) {
            if (!quote && (text[end] == '"' || text[end] == '\''))
                quote = text[end];
            else if (quote == text[end])
                quote = 0;
            assert_true(text[end] != '<');
        }
        assert_true(end < count);
        const bool closes = text[i + 1] == '/', whole = text[end - 1] == '/';
        const size_t name = i + (closes ? 2 : 1), bytes = strcspn(text + name, " \t\r\n/>");
        if (text[name] != '?' && text[name] != '!') {
            assert_true(bytes < sizeof open[0]);
            if (closes) {
                assert_true(depth > 0);
                assert_true(strncmp(open[--depth], text + name, bytes) == 0);
            } else if (!whole) {
                assert_true(depth < 64);
                snprintf(open[depth++], sizeof open[0], "%.*s", (int)bytes, text + name);
            }
        }
        i = end;
    }
    assert_int_equal(depth, 0);
}

static char *render(const struct plot_data *data, enum plot_kind kind, enum plot_format format)
{
    struct diag *diag = diag_create();
    char *bytes = NULL;
    size_t count = 0;
    const enum status status = plot_render(data, kind, format, 0, &bytes, &count, diag);
    if (status != STATUS_OK) diag_print(diag, stderr);
    assert_int_equal(status, STATUS_OK);
    bytes = realloc(bytes, count + 1);
    assert_non_null(bytes);
    bytes[count] = '\0';
    if (format == PLOT_SVG) check_svg(bytes, count);
    if (format == PLOT_PNG) assert_memory_equal(bytes, "\x89PNG", 4);
    if (format == PLOT_PDF) assert_memory_equal(bytes, "%PDF", 4);
    diag_destroy(diag);
    return bytes;
}

/* One hostile name (P87, P88, P89) and how the SVG must show it. */
static const struct probe {
    const char *test, *name, *shown;
} probes[] = {
    { "back-ticks", "`touch pwned`", "`touch pwned`" },
    { "double quotes", "\"`touch pwned`\"", "`touch pwned`" },
    { "starts with <", "<touch pwned", "&lt;touch pwned" },
    { "a pipe", "|touch pwned", "|touch pwned" },
    { "a quote ends the text", "'; system('touch pwned'); '", "system(" },
    { "a doubled quote", "''; system('touch pwned') #", "system(" },
    { "a quote at the end", "x'", "x'" },
    { "quotes alone", "''''", "''''" },
    { "a line break", "x\nsystem('touch pwned')\n", "x\\x0asystem(" },
    { "the end of a data block", "\nEOD\nsystem('touch pwned')\n", "\\x0aEOD" },
    { "a macro", "@GPVAL_PWD @system", "@GPVAL_PWD @system" },
    { "a format", "%s%n%d %%", "%s%n%d %%" },
    { "enhanced text", "a100_80gb x^2 {/Symbol a} ~", "a100_80gb x^2 {/Symbol a} ~" },
    { "entities", "<b>&amp;", "&amp;amp;" },
    { "escape sequences", "\x1b[31mred\x07", "\\x1b[31mred\\x07" },
    { "a backslash", "\\' system('touch pwned') \\", "system(" },
    { "an attribute", "font-family=\"DejaVu Sans:Bold\"", "font-family=\"DejaVu Sans:Bold\"<" },
    { "a comment", "# x", "# x" },
    { "a dollar", "$data $(touch pwned)", "$data $(touch pwned)" },
    { "right to left", "\u202egnp", "\\u202egnp" },
    { "another script", "größe 集群", "größe 集群" },
    { "63 characters", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
      "wwwwwww" },
};
enum { PROBES = sizeof probes / sizeof *probes };

static void hostile_name(void **state)
{
    const struct probe *probe = *state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    need_gnuplot();
    make_database(probe->name);
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    for (int kind = 0; kind < PLOT_KINDS; kind++) {
        char *svg = render(&data, (enum plot_kind)kind, PLOT_SVG);
        char shown[128];
        snprintf(shown, sizeof shown, "%s", probe->shown);
        if (kind == PLOT_TORNADO) shown[strcspn(shown, "<")] = '\0'; /* inside a sentence there */
        assert_non_null(strstr(svg, shown));
        free(svg);
        free(render(&data, (enum plot_kind)kind, PLOT_TERM));
    }
    plot_data_clear(&data);
    assert_int_equal(files_left(), 0);
    assert_int_not_equal(access("pwned", F_OK), 0);
    diag_destroy(diag);
}

/* Ways in which there is little or nothing to show. */
enum odd {
    ODD_NONE,
    ODD_ONE_REPLICA,
    ODD_ONE_EXACT,
    ODD_ONE_LAYOUT,
    ODD_NO_REPLICA,
    ODD_ALL_ZERO,
    ODD_NO_WAIT,
    ODD_SATURATED,
    ODD_ALL_SATURATED,
    ODD_NOTHING_MOVED,
    ODD_NOT_RUN,
    ODD_EIGHT,
    ODDS
};
static const char *const odd_names[ODDS] = {
    "pictures of two layouts",
    "pictures of one replica",
    "pictures of one replica without chance",
    "pictures of one layout",
    "pictures without a replica",
    "pictures of zeros alone",
    "pictures without waits",
    "pictures of a layout that needs more GPUs",
    "pictures of layouts that all need more GPUs",
    "pictures without a moved assumption",
    "pictures of moves that were not run yet",
    "pictures of eight layouts",
};

/* The same two layouts four times, with names that cannot be mistaken. */
static void make_eight(struct plot_data *data)
{
    static double yields[4][8][2];
    for (uint32_t l = 0; l < 8; l++) {
        data->layouts[l] = data->layouts[l % 2];
        snprintf(data->layouts[l].name, sizeof data->layouts[l].name, "layout-%u", l);
        for (uint32_t s = 0; s < 4; s++)
            for (int i = 0; i < 2; i++)
                yields[s][l][i] = setting_yields(data, s, l % 2)[i] - 0.03125 * l;
    }
    for (uint32_t s = 0; s < 4; s++) data->settings[s].yields = yields[s][0];
    data->layout_count = 8;
}

static void make_odd(struct plot_data *data, enum odd odd)
{
    struct plot_layout *layouts = data->layouts;
    for (int l = 0; l < 2; l++)
        for (uint32_t i = 0; i < data->replicas; i++) {
            if (odd == ODD_ALL_ZERO) {
                memset(layouts[l].held[i], 0, sizeof layouts[l].held[i]);
                memset(layouts[l].capacity[i], 0, sizeof layouts[l].capacity[i]);
                memset(layouts[l].bins, 0, PLOT_BINS_MAX * sizeof *layouts[l].bins);
                layouts[l].blast_count = 0;
            }
            for (int c = 0; c < CLASSES && (odd == ODD_NO_WAIT || odd == ODD_ALL_ZERO); c++)
                layouts[l].wait[i][c][0] = layouts[l].wait[i][c][1] = odd == ODD_NO_WAIT ? NAN : 0;
        }
    if (odd == ODD_ONE_REPLICA || odd == ODD_ONE_EXACT) data->replicas = 1;
    data->exact = odd == ODD_ONE_EXACT;
    if (odd == ODD_ONE_LAYOUT) data->layout_count = 1;
    if (odd == ODD_NO_REPLICA) {
        data->replicas = 0;
        for (int l = 0; l < 2; l++)
            layouts[l].replicas_present = layouts[l].blast_count = layouts[l].bin_count = 0;
    }
    if (odd == ODD_NOTHING_MOVED) data->setting_count = 1;
    for (uint32_t s = 1; s < data->setting_count && odd == ODD_NOT_RUN; s++)
        for (uint32_t i = 0; i < 2 * data->replicas; i++) data->settings[s].yields[i] = NAN;
    if (odd == ODD_EIGHT) make_eight(data);
    if (odd == ODD_SATURATED || odd == ODD_ALL_SATURATED) layouts[1].need = 1.12;
    if (odd == ODD_ALL_SATURATED) layouts[0].need = 1.002;
}

/* The layout "other" asks for 1.12 of its GPUs. Its wait, 50 s, would be the lowest. */
static void check_saturated(const char *svg, enum plot_kind kind)
{
    if (kind == PLOT_WAIT) {
        assert_non_null(strstr(svg, "needs 1.12 of its GPUs: the wait grows with the horizon"));
        assert_non_null(strstr(svg, "Only value: one, "));
        assert_null(strstr(svg, "50 s"));
    }
    if (kind == PLOT_FRAGMENTATION) { /* free on "other": 0 and 11520 / 57600 */
        assert_non_null(strstr(svg, "Only value: one, 0.00 %"));
        assert_non_null(strstr(svg, "Not ranked: other needs 1.12 of its GPUs; jobs wait"));
        assert_non_null(strstr(svg, "10.00 % [0.00, 100.00]; needs 1.12 of its GPUs"));
    }
    if (kind == PLOT_UTILIZATION)
        assert_non_null(strstr(svg, "needs 1.12 of its GPUs: its queue grows"));
    if (kind == PLOT_STALL || kind == PLOT_BLAST) assert_null(strstr(svg, "of its GPUs"));
}

static void check_all_saturated(const char *svg, enum plot_kind kind)
{
    if (kind == PLOT_WAIT)
        assert_non_null(strstr(svg, "Nothing to plot: the jobs ask for more GPUs than there are"));
    if (kind == PLOT_WAIT || kind == PLOT_FRAGMENTATION)
        assert_non_null(strstr(svg, "one needs a little more than its GPUs, other needs 1.12 of"));
    assert_null(strstr(svg, "Only value"));
    if (kind == PLOT_FRAGMENTATION) assert_null(strstr(svg, "Lowest"));
}

static void check_tornado(const char *svg, size_t row)
{
    const bool nothing = strstr(svg, "Nothing to plot") != NULL;
    assert_int_equal(nothing, row == ODD_ONE_LAYOUT || row == ODD_NO_REPLICA ||
                                  row == ODD_NOTHING_MOVED || row == ODD_NOT_RUN);
    if (row == ODD_ONE_LAYOUT) assert_non_null(strstr(svg, "there is one layout"));
    if (row == ODD_NOTHING_MOVED) assert_non_null(strstr(svg, "no assumption was moved"));
    if (row == ODD_NOT_RUN) assert_non_null(strstr(svg, "were not run yet"));
    if (row == ODD_ONE_REPLICA) assert_non_null(strstr(svg, "one replica: cannot be told"));
    for (uint32_t l = 1; l < 8 && row == ODD_EIGHT; l++) {
        char heading[48];
        snprintf(heading, sizeof heading, "layout-%u minus layout-0", l);
        assert_non_null(strstr(svg, heading));
    }
}

static void odd_case(void **state)
{
    const size_t row = (size_t)((const char *const *)*state - odd_names);
    static struct plot_data data;
    struct diag *diag = diag_create();
    need_gnuplot();
    make_database("one");
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    make_odd(&data, (enum odd)row);
    for (int kind = 0; kind < PLOT_KINDS; kind++) {
        char *svg = render(&data, (enum plot_kind)kind, PLOT_SVG);
        const bool nothing = strstr(svg, "Nothing to plot") != NULL;
        if (row == ODD_NO_REPLICA) assert_true(nothing);
        if (kind == PLOT_TORNADO) check_tornado(svg, row);
        if (row == ODD_NONE || (row == ODD_ONE_LAYOUT && kind != PLOT_TORNADO))
            assert_false(nothing);
        if (row == ODD_NO_WAIT) assert_int_equal(nothing, kind == PLOT_WAIT);
        if (row == ODD_ALL_ZERO && kind == PLOT_WAIT)
            assert_non_null(strstr(svg, "No difference: on every layout 0 s"));
        if (row == ODD_ONE_EXACT && kind == PLOT_STALL)
            assert_non_null(strstr(svg, "exactly: nothing is drawn by chance"));
        if (row == ODD_ONE_REPLICA && kind == PLOT_STALL)
            assert_non_null(strstr(svg, "no interval, so chance is not ruled out"));
        if (row == ODD_EIGHT && kind == PLOT_STALL) { /* four times the same two */
            assert_non_null(strstr(svg, "] tie"));
            assert_null(strstr(svg, "] best"));
        }
        if (row == ODD_SATURATED) check_saturated(svg, (enum plot_kind)kind);
        if (row == ODD_ALL_SATURATED) check_all_saturated(svg, (enum plot_kind)kind);
        free(svg);
        free(render(&data, (enum plot_kind)kind, PLOT_TERM));
    }
    plot_data_clear(&data);
    assert_int_equal(files_left(), 0);
    diag_destroy(diag);
}

/* The finding of the small database, by hand: yield of "one" 28800/34560 and 40320/46080, mean
 * 0.854; of "other" 23040/34560 and 34560/46080, mean 0.708. */
static void finding_is_in_the_picture(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    need_gnuplot();
    make_database("one");
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    char *text = render(&data, PLOT_STALL, PLOT_TERM);
    assert_non_null(strstr(text, "one, 0.854 ["));
    assert_non_null(strstr(text, "Next: other, 0.708 ["));
    /* of "other" jobs of one GPU held 11520 of 34560 + 46080 GPU-s, of "one" none */
    assert_non_null(strstr(text, "1 GPU: 14.3 % of held GPU-hours on other, 0.0 % on one"));
    assert_non_null(strstr(text, "8-15 GPUs: 100.0 % of held GPU-hours on one, 85.7 % on other"));
    assert_null(strstr(text, "] tie"));
    free(text);
    text = render(&data, PLOT_BLAST, PLOT_TERM); /* one year: 1 + 8 + 8 GPUs */
    assert_non_null(strstr(text, "one, 17 ["));
    assert_non_null(strstr(text, "3.0 a year"));
    free(text);
    text = render(&data, PLOT_WAIT, PLOT_TERM);
    assert_non_null(strstr(text, "Lowest: other, 50 s"));
    for (const char *c = text; *c; c++) assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    free(text);
    text = render(&data, PLOT_TORNADO, PLOT_TERM); /* of the fixture's yields */
    assert_non_null(
        strstr(text, "on yield rests most on the number of NICs; 1 of 3 moves turns it"));
    assert_non_null(strstr(text, "other minus one: -0.1250 [-0.1250, -0.1250] as written"));
    assert_non_null(strstr(text, "x 2: -0.3750 [-0.3750, -0.3750]"));
    assert_non_null(strstr(text, "x 0.5: 0.0000 [0.0000, 0.0000] TURNS: not told"));
    assert_true(strstr(text, "NICs per server") > strstr(text, "-0.3750 [")); /* the shorter bar */
    free(text);
    text = render(&data, PLOT_UTILIZATION, PLOT_TERM); /* (28800 + 40320) / 2 / 57600 */
    assert_non_null(strstr(text, "one, 60.0 % [0.0, 100.0]"));
    free(text);
    plot_data_clear(&data);
    diag_destroy(diag);
}

/* Every move yields what the scenario does as written. */
static void nothing_rests_on_what_does_not_move(void **state)
{
    (void)state;
    static struct plot_data data;
    struct diag *diag = diag_create();
    struct db *db = NULL;
    need_gnuplot();
    make_database("one");
    assert_int_equal(db_open(small_db, DB_APPEND, &db, diag), STATUS_OK);
    assert_int_equal(
        db_exec(db, "UPDATE tornado SET value = CASE layout_id WHEN 0 THEN 0.75 ELSE 0.625 END"),
        STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    char *text = render(&data, PLOT_TORNADO, PLOT_TERM);
    assert_non_null(strstr(text, "The verdict on yield does not rest on what was moved"));
    free(text);
    plot_data_clear(&data);
    diag_destroy(diag);
}

/* The picture of where the GPU-hours go when layout "one" ends after end_s and "other" after 7200 s, all jobs
 * played to their end. */
static char *picture_of_ends(double end_s)
{
    static struct plot_data data;
    struct diag *diag = diag_create();
    make_database("one");
    assert_int_equal(plot_data_read(small_db, &data, diag), STATUS_OK);
    data.window_start_s = 0;
    data.to_the_end = true;
    data.layouts[0].end_s = end_s;
    data.layouts[0].bin_count = (uint32_t)ceil(end_s / data.layouts[0].bin_s);
    char *svg = render(&data, PLOT_UTILIZATION, PLOT_SVG);
    free(render(&data, PLOT_UTILIZATION, PLOT_TERM));
    plot_data_clear(&data);
    diag_destroy(diag);
    return svg;
}

/* 3690 s beside 7200 s stand on one axis of minutes; 20 s would be a sliver on it. Shares of unequal lengths are not
 * ranked, but the yields, 0.854 and 0.708 (see finding_is_in_the_picture). */
static void layouts_that_end_apart(void **state)
{
    (void)state;
    need_gnuplot();
    char *svg = picture_of_ends(3690);
    assert_non_null(strstr(svg, "minutes since the first submission"));
    assert_null(strstr(svg, "days since"));
    assert_null(strstr(svg, "Time axes differ"));
    assert_non_null(strstr(svg, "in up to 62 min: useful"));
    assert_non_null(strstr(svg, "in up to 2.0 h: useful"));
    assert_non_null(strstr(svg, "one, 0.854 ["));
    assert_non_null(strstr(svg, "percentages are of its own time, and not ranked"));
    assert_non_null(strstr(svg, "Blank:"));
    free(svg);
    svg = picture_of_ends(20);
    assert_non_null(strstr(svg, "seconds since the first submission"));
    assert_non_null(strstr(svg, "minutes since the first submission"));
    assert_non_null(strstr(svg, "Time axes differ: from 20 s on one to 2.0 h on other"));
    assert_null(strstr(svg, "Blank:"));
    free(svg);
}

int main(void)
{
    static struct CMUnitTest tests[PROBES + ODDS + 3];
    size_t count = 0;
    if (!start_tests()) return 1;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(finding_is_in_the_picture);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(nothing_rests_on_what_does_not_move);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(layouts_that_end_apart);
    for (size_t i = 0; i < PROBES; i++)
        tests[count++] = (struct CMUnitTest){ .name = probes[i].test,
                                              .test_func = hostile_name,
                                              .initial_state = (void *)(uintptr_t)&probes[i] };
    for (size_t i = 0; i < ODDS; i++)
        tests[count++] = (struct CMUnitTest){ .name = odd_names[i],
                                              .test_func = odd_case,
                                              .initial_state = (void *)(uintptr_t)&odd_names[i] };
    return _cmocka_run_group_tests("plot pictures", tests, count, NULL, end_tests);
}
