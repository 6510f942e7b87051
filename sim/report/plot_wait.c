/* plot_wait.c - how long jobs wait for their GPUs, by size and layout, on a logarithmic axis.
 *
 * Waits below one second are drawn at one second: most are exactly 0, which has no logarithm. */
#include "report/plot_kinds.h"
#include "report/plot_rows.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>

static const char title[] = "How long do jobs wait for their GPUs?";
static const struct measure wait_measure = { .noun = "is the wait that 95 % of all jobs stay below",
                                             .scale = 1,
                                             .duration = true };

static const char grows[] =
    "the queue grows with the horizon, so a wait there says nothing about the layout";

static const struct {
    double seconds;
    const char *text;
} ticks[] = {
    { 1, "<1 s" },       { 10, "10 s" },      { 60, "1 min" },      { 600, "10 min" },
    { 3600, "1 h" },     { 14400, "4 h" },    { 86400, "1 d" },     { 345600, "4 d" },
    { 1296000, "15 d" }, { 5184000, "60 d" }, { 31536000, "1 yr" },
};

static double log_wait(double seconds)
{
    return seconds > 1 ? log10(seconds) : 0;
}

/* The waits of a saturated layout are left out. */
static void wait_values(const struct plot_layout *layout, uint32_t replicas, int class_,
                        enum wait_kind kind, double *values)
{
    for (uint32_t i = 0; i < replicas; i++)
        values[i] =
            layout->present[i] && !layout_saturated(layout) ? layout->wait[i][class_][kind] : NAN;
}

static struct row_mark mark_of(const struct estimate *wait)
{
    return (struct row_mark){ wait->count > 0, wait->count > 1, log_wait(wait->mean),
                              log_wait(wait->lo), log_wait(wait->hi) };
}

static void fill_row(struct row *row, const struct plot_layout *layout, struct estimate p50,
                     struct estimate p95)
{
    char left[56], right[56], need[48];
    row->name = layout->name;
    if (layout_saturated(layout)) {
        need_text(need, sizeof need, layout);
        snprintf(row->remark, sizeof row->remark,
                 layout->stuck ? "%s" : "%s: the wait grows with the horizon", need);
        return;
    }
    p50 = estimate_within(p50, 0, HUGE_VAL);
    row->mark[WAIT_P50] = mark_of(&p50);
    row->mark[WAIT_P95] = mark_of(&p95);
    const struct estimate median = { p50.mean, p50.mean, p50.mean, p50.count ? 1 : 0 };
    estimate_text(left, sizeof left, &median, &wait_measure);
    estimate_text(right, sizeof right, &p95, &wait_measure);
    snprintf(row->value, sizeof row->value, "%s; %s", left, right);
}

/* Returns false when no job of the class has a wait that is shown. */
static bool fill_group(struct row_group *group, const struct plot_data *data, int class_,
                       struct ranking *ranking, double *values)
{
    const uint32_t n = data->replicas;
    for (uint32_t l = 0; l < data->layout_count; l++)
        wait_values(&data->layouts[l], n, class_, WAIT_P95, values + (size_t)l * n);
    ranking_make(ranking, data, values, false);
    if (!ranking->known) return false;
    for (uint32_t l = 0; l < data->layout_count; l++) {
        struct row *row = &group->rows[l];
        ranking->value[l] = estimate_within(ranking->value[l], 0, HUGE_VAL);
        wait_values(&data->layouts[l], n, class_, WAIT_P50, values);
        fill_row(row, &data->layouts[l], estimate_of(values, n, 0.95), ranking->value[l]);
        if (ranking->clear && l == ranking->best) row_mark_best(row);
    }
    group->row_count = data->layout_count;
    snprintf(group->heading, sizeof group->heading, "%s", class_title((enum size_class)class_));
    return true;
}

/* From the tick below the shortest to the tick above the longest. */
static void fill_axis(struct row_chart *chart)
{
    double least = 99, most = 0;
    for (uint32_t g = 0; g < chart->group_count; g++)
        for (uint32_t r = 0; r < chart->groups[g].row_count; r++)
            for (int m = 0; m < WAIT_KINDS; m++) {
                const struct row_mark *mark = &chart->groups[g].rows[r].mark[m];
                if (!mark->present) continue;
                least = fmin(least, mark->whisker ? mark->lo : mark->at);
                most = fmax(most, mark->whisker ? mark->hi : mark->at);
            }
    const size_t count = sizeof ticks / sizeof *ticks;
    size_t first = 0, last = count - 1;
    while (first + 2 < count && log_wait(ticks[first + 1].seconds) <= least) first++;
    while (last > first + 1 && log_wait(ticks[last - 1].seconds) >= most) last--;
    chart->axis.min = log_wait(ticks[first].seconds) - 0.08;
    chart->axis.max = fmax(log_wait(ticks[last].seconds), most) + 0.08;
    for (size_t i = first; i <= last; i++)
        axis_tick(&chart->axis, log_wait(ticks[i].seconds), ticks[i].text);
    snprintf(chart->axis.label, sizeof chart->axis.label,
             "wait from submission to first start (logarithmic)");
}

static void fill_chart(struct row_chart *chart, const struct plot_data *data, double *values)
{
    struct ranking ranking;
    snprintf(chart->frame.title, sizeof chart->frame.title, "%s", title);
    for (int class_ = CLASS_NONE; class_ < CLASSES; class_++) {
        if (!fill_group(&chart->groups[chart->group_count], data, class_, &ranking, values))
            continue;
        chart->group_count++;
        if (class_ == CLASS_NONE) finding_notes(&chart->frame, data, &ranking, &wait_measure);
    }
    saturated_note(&chart->frame, data, grows);
    footer_make(&chart->frame, data,
                data->common ? "'best': shortest p95 beyond chance. Only jobs that every layout can"
                               " hold."
                             : "'best': shortest p95 beyond chance.");
    snprintf(chart->value_heading, sizeof chart->value_heading, "median; p95%s",
             data->replicas > 1 ? " [95 % interval]" : "");
    chart->mark_count = WAIT_KINDS;
    chart->mark_names[WAIT_P50] = "half of the jobs wait less (median)";
    chart->mark_names[WAIT_P95] = "95 % of the jobs wait less (p95)";
    chart->join_marks = true;
    fill_axis(chart);
}

/* Whether there is a wait to show, or one of a saturated layout. */
static bool any_wait(const struct plot_data *data, bool saturated)
{
    for (uint32_t l = 0; l < data->layout_count; l++)
        for (uint32_t i = 0; i < data->replicas; i++)
            for (int class_ = 0; class_ < CLASSES; class_++)
                if (!isnan(data->layouts[l].wait[i][class_][WAIT_P95]) &&
                    layout_saturated(&data->layouts[l]) == saturated)
                    return true;
    return false;
}

bool plot_wait_draw(struct canvas *canvas, const struct plot_data *data)
{
    if (!any_wait(data, false) && any_wait(data, true))
        return plot_saturated_draw(canvas, title, data, grows);
    if (!any_wait(data, false)) return plot_nothing_draw(canvas, title, "no job has a wait time.");
    struct row_chart *chart = calloc(1, sizeof *chart);
    double *values = calloc((size_t)data->layout_count * data->replicas, sizeof *values);
    bool drawn = false;
    if (chart && values) {
        fill_chart(chart, data, values);
        drawn = rows_draw(canvas, chart);
    }
    free(chart);
    free(values);
    return drawn;
}
