/* plot_blast.c - how many GPUs one incident takes: above, how often an incident takes at least x of
 * them, a line per layout; below, the mean and the range by component. Both share their axis.
 *
 * From the pooled failure-only run. Incidents that take no GPU are left out. Intervals are normal
 * approximations over incidents: the run holds hundreds of them. */
#include "report/plot_kinds.h"
#include "report/plot_rows.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "How many GPUs does one failure take?";
static const struct measure size_measure = { .noun = "", .scale = 1, .decimals = 1 };
static const double year_s = 365 * 86400; /* as rates a year have it (base/quantity) */
static const double normal_95 = 1.959964; /* two-sided 95 % of the standard normal */

static const double axis_min = -0.25; /* log2: a little left of one GPU */

enum { ALL_COMPONENTS = PLOT_COMPONENTS };

/* Incidents of one component (or all) of one layout. */
struct tally {
    double incidents, sum, squares; /* of GPUs taken */
    uint32_t least, most;
    double years;
};

static struct tally tally_of(const struct plot_layout *layout, uint32_t component)
{
    struct tally tally = { .least = UINT32_MAX, .years = layout->blast_s / year_s };
    for (uint32_t i = 0; i < layout->blast_count; i++) {
        const struct blast_row *row = &layout->blast[i];
        const double count = (double)row->incidents, size = row->gpus_removed;
        if (row->gpus_removed == 0) continue;
        if (component != ALL_COMPONENTS && component != row->component) continue;
        tally.incidents += count;
        tally.sum += count * size;
        tally.squares += count * size * size;
        if (row->gpus_removed < tally.least) tally.least = row->gpus_removed;
        if (row->gpus_removed > tally.most) tally.most = row->gpus_removed;
    }
    return tally;
}

static struct estimate mean_size(const struct tally *tally)
{
    const double n = tally->incidents;
    if (n < 1) return (struct estimate){ .mean = NAN, .lo = NAN, .hi = NAN };
    const double mean = tally->sum / n;
    if (n < 2) return (struct estimate){ mean, mean, mean, 1 };
    const double variance = fmax(tally->squares - n * mean * mean, 0) / (n - 1);
    const double half = normal_95 * sqrt(variance / n);
    return (struct estimate){ mean, mean - half, mean + half, (uint32_t)fmin(n, UINT32_MAX) };
}

/* GPUs taken per year, all incidents together: a compound Poisson sum. */
static struct estimate taken_per_year(const struct tally *tally)
{
    if (!(tally->incidents > 0) || !(tally->years > 0)) return (struct estimate){ .mean = NAN };
    const double mean = tally->sum / tally->years;
    const double half = normal_95 * sqrt(tally->squares) / tally->years;
    return (struct estimate){ mean, mean - half, mean + half, 2 };
}

/* Incidents a year that take `size` GPUs or more. */
static double rate_from(const struct plot_layout *layout, uint32_t size)
{
    double count = 0;
    for (uint32_t i = 0; i < layout->blast_count; i++)
        if (layout->blast[i].gpus_removed >= size) count += (double)layout->blast[i].incidents;
    return count / (layout->blast_s / year_s);
}

static void fill_group(struct row_group *group, const struct plot_data *data, uint32_t component)
{
    for (uint32_t l = 0; l < data->layout_count; l++) {
        struct row *row = &group->rows[group->row_count++];
        const struct tally tally = tally_of(&data->layouts[l], component);
        const struct estimate size = mean_size(&tally);
        char text[64];
        row->name = data->layouts[l].name;
        if (size.count == 0 || !(tally.years > 0)) {
            snprintf(row->value, sizeof row->value, "none seen");
            continue;
        }
        estimate_text(text, sizeof text, &size, &size_measure);
        snprintf(row->value, sizeof row->value, "%s GPUs; %.1f a year", text,
                 tally.incidents / tally.years);
        row->segment[0] = log2(tally.least) - axis_min; /* an empty bar up to the smallest */
        row->segment[1] = log2(tally.most) - log2(tally.least);
        row->mark[0] = (struct row_mark){ true, size.count > 1, log2(size.mean),
                                          log2(fmax(size.lo, tally.least)), log2(size.hi) };
    }
}

/* Who takes least over a year: many small incidents are weighed against few large ones. */
static void fill_notes(struct frame *frame, const struct plot_data *data)
{
    static const struct measure year = { .noun = "", .scale = 1 };
    uint32_t least = UINT32_MAX, most = 0;
    struct estimate taken[LIMIT_LAYOUTS];
    for (uint32_t l = 0; l < data->layout_count; l++) {
        const struct tally tally = tally_of(&data->layouts[l], ALL_COMPONENTS);
        taken[l] = taken_per_year(&tally);
        if (isnan(taken[l].mean)) continue;
        if (least == UINT32_MAX) least = most = l;
        if (taken[l].mean < taken[least].mean) least = l;
        if (taken[l].mean > taken[most].mean) most = l;
    }
    const uint32_t named[2] = { least, most };
    for (int i = 0; i < (least == most ? 1 : 2); i++) {
        const struct tally tally = tally_of(&data->layouts[named[i]], ALL_COMPONENTS);
        const struct estimate size = mean_size(&tally);
        char size_text[64], taken_text[64];
        estimate_text(size_text, sizeof size_text, &size, &size_measure);
        estimate_text(taken_text, sizeof taken_text, &taken[named[i]], &year);
        frame_note(frame, "%s: %s, %s GPUs taken a year; an average incident takes %s",
                   i == 0 ? "Least" : "Most", data->layouts[named[i]].name, taken_text, size_text);
    }
}

/* ---- the upper panel ---- */

/* Lines must be told apart without colour, by lightness, dashes and points, and show where they run
 * on top of each other: only the first is solid, and each is thinner than the one below it. */
static const struct line_style styles[] = {
    { "#111111", "solid", 7 },       { "#c8553d", "(12,4)", 5 },    { "#2f6690", "(3,3)", 9 },
    { "#d9a521", "(12,4,3,4)", 13 }, { "#5f9e75", "(6,6)", 11 },    { "#8e5fa8", "(20,5)", 4 },
    { "#7a7a7a", "(5,4)", 6 },       { "#00a0c0", "(8,3,2,3)", 8 },
};
enum { STYLES = sizeof styles / sizeof *styles };

struct upper {
    const struct plot_data *data;
    struct axis rates; /* log10 of incidents a year */
};

static void fill_rates(struct upper *upper)
{
    double least = HUGE_VAL, most = 0;
    for (uint32_t l = 0; l < upper->data->layout_count; l++) {
        const struct plot_layout *layout = &upper->data->layouts[l];
        for (uint32_t i = 0; i < layout->blast_count && layout->blast_s > 0; i++) {
            if (layout->blast[i].gpus_removed == 0) continue;
            const double rate = rate_from(layout, layout->blast[i].gpus_removed);
            least = fmin(least, rate);
            most = fmax(most, rate);
        }
    }
    if (!(most > 0)) least = most = 1; /* not reached: something was taken */
    const int first = (int)floor(log10(least)), last = (int)ceil(log10(most) + 0.02);
    upper->rates.min = first;
    upper->rates.max = last > first ? last : first + 1;
    for (int decade = first; decade <= upper->rates.max; decade++) {
        char text[16];
        snprintf(text, sizeof text, "%g", pow(10, decade));
        axis_tick(&upper->rates, decade, text);
    }
}

static void upper_words(struct canvas *canvas, const struct box *box, const void *with)
{
    const struct upper *upper = with;
    axis_left(canvas, &upper->rates, box->x0 - 6, box->y0, box->y1);
    canvas_vertical_text(canvas, box->x0 - 62, (box->y0 + box->y1) / 2, "incidents a year");
    canvas_text(canvas, box->x0, box->y0 - 13, ALIGN_LEFT, TEXT_BODY, true,
                "incidents a year that take at least x GPUs (both axes logarithmic)");
}

static int by_size(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The corners of the line, with the points as a second block of the file. */
static void write_steps(FILE *file, const struct plot_layout *layout, double x_min, double y_min,
                        uint32_t *sizes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->blast_count; i++)
        if (layout->blast[i].gpus_removed > 0) sizes[count++] = layout->blast[i].gpus_removed;
    qsort(sizes, count, sizeof *sizes, by_size);
    double x = x_min;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && sizes[i] == sizes[i - 1]) continue;
        const double y = log10(rate_from(layout, sizes[i]));
        fprintf(file, "%.6g %.6g\n%.6g %.6g\n", x, y, log2(sizes[i]), y);
        x = log2(sizes[i]);
    }
    fprintf(file, "%.6g %.6g\n\n\n", x, y_min);
    for (uint32_t i = 0; i < count; i++)
        fprintf(file, "%.6g %.6g\n", log2(sizes[i]), log10(rate_from(layout, sizes[i])));
}

static void upper_plot(struct canvas *canvas, const struct axis *x_axis, const void *with)
{
    const struct upper *upper = with;
    axis_grid(canvas, x_axis, 'x');
    axis_grid(canvas, &upper->rates, 'y');
    fprintf(canvas->script,
            "set border 3 linecolor rgb '#4d4d4d'\nset xrange [%.9g:%.9g]\n"
            "set yrange [%.9g:%.9g]\nplot NaN notitle",
            x_axis->min, x_axis->max, upper->rates.min, upper->rates.max);
    for (uint32_t l = 0; l < upper->data->layout_count; l++) {
        const struct plot_layout *layout = &upper->data->layouts[l];
        const struct line_style *style = &styles[l % STYLES];
        uint32_t *sizes = calloc(layout->blast_count + 1, sizeof *sizes);
        char name[16];
        FILE *file = layout->blast_count > 0 && sizes ? canvas_data(canvas, name) : NULL;
        if (file && layout->blast_s > 0) {
            write_steps(file, layout, x_axis->min, upper->rates.min, sizes);
            fprintf(canvas->script,
                    ", '%s' index 0 with lines linewidth %.1f linecolor rgb '%s'"
                    " dashtype %s, '' index 1 with points pointtype %d pointsize 0.9 linecolor"
                    " rgb '%s'",
                    name, fmax(3.4 - 0.4 * l, 1.6), style->color, style->dashes, style->point,
                    style->color);
        }
        if (file) canvas_data_close(canvas, file);
        free(sizes);
    }
    fprintf(canvas->script, "\nunset ytics\n");
}

/* ---- the whole ---- */

static const char *const headings[PLOT_COMPONENTS + 1] = {
    "GPU fails", "server fails", "link fails", "leaf switch fails", "job fails", "all incidents",
};

static void fill_axis(struct axis *axis, const struct plot_data *data)
{
    uint32_t most = 1;
    for (uint32_t l = 0; l < data->layout_count; l++) {
        const struct tally tally = tally_of(&data->layouts[l], ALL_COMPONENTS);
        if (tally.most > most) most = tally.most;
    }
    axis->min = axis_min;
    axis->max = ceil(log2(most)) + 0.25;
    for (int k = 0; k <= axis->max; k++) {
        char text[16];
        snprintf(text, sizeof text, "%u", 1u << k);
        axis_tick(axis, k, text);
    }
    snprintf(axis->label, sizeof axis->label, "GPUs taken by one incident");
}

static void fill_chart(struct row_chart *chart, const struct plot_data *data, struct upper *upper)
{
    double shortest = HUGE_VAL;
    snprintf(chart->frame.title, sizeof chart->frame.title, "%s", title);
    fill_notes(&chart->frame, data);
    for (uint32_t i = 0; i <= PLOT_COMPONENTS; i++) {
        const uint32_t component = i == 0 ? ALL_COMPONENTS : i - 1;
        struct row_group *group = &chart->groups[chart->group_count];
        bool any = component == ALL_COMPONENTS;
        for (uint32_t l = 0; l < data->layout_count; l++)
            any = any || tally_of(&data->layouts[l], component).incidents > 0;
        if (!any) continue;
        fill_group(group, data, component);
        snprintf(group->heading, sizeof group->heading, "%s", headings[component]);
        chart->group_count++;
    }
    for (uint32_t l = 0; l < data->layout_count; l++) {
        if (data->layouts[l].blast_s > 0) shortest = fmin(shortest, data->layouts[l].blast_s);
        chart->lines[l] = &styles[l % STYLES];
    }
    snprintf(chart->frame.footer, sizeof chart->frame.footer,
             "From failures alone, %.0f years simulated for each layout; GPUs of a server that is"
             " emptied for repair count as taken. In brackets the 95 %% interval of the mean. Bars"
             " run from the smallest to the largest incident. Scenario %s%s.",
             shortest / year_s, data->scenario, data->notes);
    snprintf(chart->value_heading, sizeof chart->value_heading, "mean [95 %% interval]; how often");
    chart->segment_count = 2;
    chart->fills[1] = (struct fill){ "#b9cfe4", 0, NULL, '=' };
    chart->mark_count = 1;
    chart->stems = true;
    fill_axis(&chart->axis, data);
    fill_rates(upper);
    chart->above = (struct row_above){ 250, upper_words, upper_plot, upper };
}

bool plot_blast_draw(struct canvas *canvas, const struct plot_data *data)
{
    bool any = false;
    for (uint32_t l = 0; l < data->layout_count; l++)
        any = any || (data->layouts[l].blast_s > 0 &&
                      tally_of(&data->layouts[l], ALL_COMPONENTS).incidents > 0);
    if (!any)
        return plot_nothing_draw(canvas, title,
                                 "no failure took a GPU in a failure-only run"
                                 " (failures may be off).");
    struct row_chart *chart = calloc(1, sizeof *chart);
    struct upper upper = { .data = data };
    bool drawn = false;
    if (chart) {
        fill_chart(chart, data, &upper);
        drawn = rows_draw(canvas, chart);
    }
    free(chart);
    return drawn;
}
