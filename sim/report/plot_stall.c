/* plot_stall.c - where a GPU-hour that a job holds goes, by size of the job and layout. */
#include "report/plot_kinds.h"
#include "report/plot_rows.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Held time of the class in all replicas of a layout. */
static double held_of(const struct plot_data *data, uint32_t l, int class_)
{
    double sum = 0;
    for (uint32_t i = 0; i < data->replicas; i++)
        sum += held_total(data->layouts[l].held[i][class_]);
    return sum;
}

static bool held_anywhere(const struct plot_data *data, int class_)
{
    for (uint32_t l = 0; l < data->layout_count; l++)
        if (held_of(data, l, class_) > 0) return true;
    return false;
}

/* "2.7 % of held GPU-hours on ndr, 0.0 % on eth1": the part of a layout's held time that jobs of the class held. Where a
 * slow layout holds its GPUs a hundred times as long, a pooled part would be that layout's alone. */
static void weight_words(const struct plot_data *data, int class_, char *out, size_t out_bytes)
{
    double part[LIMIT_LAYOUTS];
    uint32_t least = UINT32_MAX, most = UINT32_MAX;
    char low[16], high[16];
    for (uint32_t l = 0; l < data->layout_count; l++) {
        const double all = held_of(data, l, CLASS_NONE);
        if (!(all > 0)) continue;
        part[l] = 100 * held_of(data, l, class_) / all;
        if (least == UINT32_MAX || part[l] < part[least]) least = l;
        if (most == UINT32_MAX || part[l] > part[most]) most = l;
    }
    out[0] = '\0';
    if (least == UINT32_MAX) return;
    snprintf(low, sizeof low, "%.1f", part[least]);
    snprintf(high, sizeof high, "%.1f", part[most]);
    if (strcmp(low, high) == 0)
        snprintf(out, out_bytes, "%s %% of held GPU-hours", low);
    else
        snprintf(out, out_bytes, "%s %% of held GPU-hours on %s, %s %% on %s", high,
                 data->layouts[most].name, low, data->layouts[least].name);
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

/* The best of the group; where others print as it does, ties. */
static void mark_first(struct row_group *group, const struct plot_data *data,
                       const struct ranking *ranking)
{
    if (!ranking->known || ranking->next == ranking->best) return;
    const char *best = group->rows[ranking->best].value;
    uint32_t alike[LIMIT_LAYOUTS], count = 0;
    for (uint32_t l = 0; l < data->layout_count; l++)
        if (strcmp(group->rows[l].value, best) == 0) alike[count++] = l;
    if (count == 1 && ranking->clear) row_mark_best(&group->rows[ranking->best]);
    for (uint32_t i = 0; i < count && count > 1; i++) row_mark(&group->rows[alike[i]], "tie");
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
        row->mark[0] = (struct row_mark){ yield.count > 0, yield.count > 1, 100 * yield.mean,
                                          100 * yield.lo, 100 * yield.hi };
    }
    group->row_count = data->layout_count;
    mark_first(group, data, ranking);
    char weight[sizeof group->heading - 32];
    weight_words(data, class_, weight, sizeof weight);
    if (class_ == CLASS_NONE)
        snprintf(group->heading, sizeof group->heading, "%s", class_title(CLASS_NONE));
    else
        snprintf(group->heading, sizeof group->heading, "%s: %s",
                 class_title((enum size_class)class_), weight);
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
        if (!held_anywhere(data, class_)) continue;
        fill_group(group, data, class_, &ranking, values);
        if (class_ == CLASS_NONE) finding_notes(&chart->frame, data, &ranking, &yield_measure);
        chart->group_count++;
    }
    footer_make(&chart->frame, data,
                "'best': ahead of the next beyond chance; 'tie': the same in all digits shown.");
    snprintf(chart->value_heading, sizeof chart->value_heading, "useful share%s",
             data->replicas > 1 ? " [95 % interval]" : "");
    chart->mark_count = 1;
    axis_linear(&chart->axis, 0, 100, 10);
    snprintf(chart->axis.label, sizeof chart->axis.label, "%% of the GPU-hours held by jobs");
    fill_key(chart);
}

bool plot_stall_draw(struct canvas *canvas, const struct plot_data *data)
{
    if (!held_anywhere(data, CLASS_NONE))
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
