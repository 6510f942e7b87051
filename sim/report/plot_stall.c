/* plot_stall.c - where a GPU-hour that a job holds goes, by size of the job and layout. */
#include "report/plot_kinds.h"
#include "report/plot_rows.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>

static const char title[] = "How much of a GPU-hour that a job holds is useful work?";
static const struct measure yield_measure = { .noun = "useful hours per held GPU-hour, all jobs",
                                              .scale = 1,
                                              .decimals = 3,
                                              .higher_is_better = true,
                                              .share = true };

static double held_total(const double shares[SHARES])
{
    double total = 0;
    for (int i = 0; i < SHARE_HELD_END; i++) total += shares[i];
    return total;
}

/* One share of held time per replica, NAN where no job of the class held a GPU. */
static void share_values(const struct plot_layout *layout, uint32_t replicas, int class_,
                         enum share share, double *values)
{
    for (uint32_t i = 0; i < replicas; i++) {
        const double total = layout->present[i] ? held_total(layout->held[i][class_]) : 0;
        values[i] = total > 0 ? layout->held[i][class_][share] / total : NAN;
    }
}

/* Part of all held time that jobs of the class held, mean over everything. */
static double class_weight(const struct plot_data *data, int class_)
{
    double part = 0, all = 0;
    for (uint32_t l = 0; l < data->layout_count; l++)
        for (uint32_t i = 0; i < data->replicas; i++) {
            part += held_total(data->layouts[l].held[i][class_]);
            all += held_total(data->layouts[l].held[i][CLASS_NONE]);
        }
    return all > 0 ? part / all : 0;
}

static void fill_row(struct row *row, const struct plot_data *data, uint32_t l, int class_,
                     double *values)
{
    const struct plot_layout *layout = &data->layouts[l];
    row->name = layout->name;
    for (int share = 0; share < SHARE_HELD_END; share++) {
        share_values(layout, data->replicas, class_, (enum share)share, values);
        const struct estimate mean = estimate_of(values, data->replicas, 0.95);
        row->segment[share] = mean.count > 0 ? 100 * mean.mean : 0;
    }
}

/* All layouts of one class, with the yield and its interval beside each. */
static void fill_group(struct row_group *group, const struct plot_data *data, int class_,
                       struct ranking *ranking, double *values)
{
    const uint32_t n = data->replicas;
    for (uint32_t l = 0; l < data->layout_count; l++)
        fill_row(&group->rows[l], data, l, class_, values);
    for (uint32_t l = 0; l < data->layout_count; l++)
        share_values(&data->layouts[l], n, class_, SHARE_COMPUTE, values + (size_t)l * n);
    ranking_make(ranking, data, values, true);
    for (uint32_t l = 0; l < data->layout_count; l++) {
        struct row *row = &group->rows[l];
        const struct estimate yield = estimate_within(ranking->value[l], 0, 1);
        estimate_text(row->value, sizeof row->value, &yield, &yield_measure);
        if (ranking->clear && l == ranking->best) row_mark_best(row);
        row->mark[0] = (struct row_mark){ yield.count > 0, yield.count > 1, 100 * yield.mean,
                                          100 * yield.lo, 100 * yield.hi };
    }
    group->row_count = data->layout_count;
    if (class_ == CLASS_NONE)
        snprintf(group->heading, sizeof group->heading, "%s", class_title(CLASS_NONE));
    else
        snprintf(group->heading, sizeof group->heading, "%s: %.1f %% of held GPU-hours",
                 class_title((enum size_class)class_), 100 * class_weight(data, class_));
}

/* Fills and names of the shares that occur anywhere. */
static void fill_key(struct row_chart *chart)
{
    chart->segment_count = SHARE_HELD_END;
    for (int share = 0; share < SHARE_HELD_END; share++) {
        bool occurs = false;
        for (uint32_t g = 0; g < chart->group_count; g++)
            for (uint32_t r = 0; r < chart->groups[g].row_count; r++)
                occurs = occurs || chart->groups[g].rows[r].segment[share] > 0;
        chart->fills[share] = share_styles[share].fill;
        chart->segment_names[share] = occurs ? share_styles[share].name : NULL;
    }
}

static void fill_chart(struct row_chart *chart, const struct plot_data *data, double *values)
{
    struct ranking ranking;
    snprintf(chart->frame.title, sizeof chart->frame.title, "%s", title);
    for (int class_ = CLASS_NONE; class_ < CLASSES; class_++) {
        struct row_group *group = &chart->groups[chart->group_count];
        if (class_weight(data, class_) <= 0) continue;
        fill_group(group, data, class_, &ranking, values);
        if (class_ == CLASS_NONE) finding_notes(&chart->frame, data, &ranking, &yield_measure);
        chart->group_count++;
    }
    footer_make(&chart->frame, data, "'best': ahead of the next beyond chance.");
    snprintf(chart->value_heading, sizeof chart->value_heading, "useful share%s",
             data->replicas > 1 ? " [95 % interval]" : "");
    chart->mark_count = 1;
    axis_linear(&chart->axis, 0, 100, 10);
    snprintf(chart->axis.label, sizeof chart->axis.label, "%% of the GPU-hours held by jobs");
    fill_key(chart);
}

bool plot_stall_draw(struct canvas *canvas, const struct plot_data *data)
{
    if (class_weight(data, CLASS_NONE) <= 0)
        return plot_nothing_draw(canvas, title, "no job held a GPU in the measured window.");
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
