/* plot_fragmentation.c - why GPUs are free, by layout, as shares of the capacity. */
#include "report/plot_kinds.h"
#include "report/plot_rows.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "How much capacity lies free although jobs wait, and why?";
static const struct measure free_measure = {
    .noun = "of capacity free while jobs wait", .scale = 100, .decimals = 2, .share = true
};

enum { CAUSE_TOTAL = SHARES }; /* all causes but "no demand" */

enum { SEGMENTS = SHARE_FREE_END - SHARE_NO_DEMAND + 1 }; /* the total, then the causes */

static const struct {
    int share;
    const char *heading;
} causes[] = {
    { CAUSE_TOTAL, "free while jobs wait (sum of the causes below but the last)" },
    { SHARE_SHORT, "too few left: every waiting job needs more GPUs than are free" },
    { SHARE_FRAGMENTED, "fragmented: enough GPUs in total, but not in this shape" },
    { SHARE_STARVED, "starved: the node has no CPU or memory left" },
    { SHARE_WITHHELD, "kept by policy: queue order, reservations" },
    { SHARE_NO_DEMAND, "no demand: nobody waits (no loss, for comparison)" },
};

static double capacity_of(const double shares[SHARES])
{
    double total = 0;
    for (int i = 0; i < SHARES; i++) total += shares[i];
    return total;
}

static void cause_values(const struct plot_layout *layout, uint32_t replicas, int share,
                         double *values)
{
    for (uint32_t i = 0; i < replicas; i++) {
        const double *at = layout->capacity[i];
        const double total = capacity_of(at);
        const double part = share != CAUSE_TOTAL ? at[share]
                                                 : at[SHARE_SHORT] + at[SHARE_FRAGMENTED] +
                                                       at[SHARE_STARVED] + at[SHARE_WITHHELD];
        values[i] = layout->present[i] && total > 0 ? part / total : NAN;
    }
}

/* One row; what lies free on a saturated layout is told, but not against the others: jobs always wait
 * there. */
static void fill_row(struct row *row, const struct plot_layout *layout, struct estimate value,
                     int share)
{
    char need[48];
    row->name = layout->name;
    estimate_text(row->value, sizeof row->value, &value, &free_measure);
    const int fill = share == CAUSE_TOTAL ? 0 : share - SHARE_NO_DEMAND + 1;
    row->segment[fill] = value.count > 0 ? 100 * value.mean : 0;
    row->mark[0] = (struct row_mark){ value.count > 1, true, 100 * value.mean, 100 * value.lo,
                                      100 * value.hi };
    if (!layout_saturated(layout) || share != CAUSE_TOTAL) return;
    const size_t used = strlen(row->value);
    need_text(need, sizeof need, layout);
    snprintf(row->value + used, sizeof row->value - used, "; %s", need);
}

static void fill_group(struct row_group *group, const struct plot_data *data, int share,
                       struct ranking *ranking, double *values)
{
    const uint32_t n = data->replicas;
    for (uint32_t l = 0; l < data->layout_count; l++) {
        double *own = values + (size_t)l * n;
        cause_values(&data->layouts[l], n, share, own);
        fill_row(&group->rows[l], &data->layouts[l],
                 estimate_within(estimate_of(own, n, 0.95), 0, 1), share);
        for (uint32_t i = 0; layout_saturated(&data->layouts[l]) && i < n; i++) own[i] = NAN;
    }
    ranking_make(ranking, data, values, false);
    if (ranking->clear && share != SHARE_NO_DEMAND) row_mark_best(&group->rows[ranking->best]);
    group->row_count = data->layout_count;
}

static double largest(const struct row_group *group)
{
    double most = 0;
    for (uint32_t r = 0; r < group->row_count; r++) {
        const struct row *row = &group->rows[r];
        for (int s = 0; s < SEGMENTS; s++) most = fmax(most, row->segment[s]);
        if (row->mark[0].present) most = fmax(most, row->mark[0].hi);
    }
    return most;
}

/* "No demand" is often many times the rest, which would shrink to nothing: then only its numbers
 * are given. Returns the end of the axis. */
static double fit(struct row_group *total, struct row_group *no_demand)
{
    const double blocked = largest(total), free = largest(no_demand);
    if (blocked > 0 && free > 2.5 * blocked) {
        for (uint32_t r = 0; r < no_demand->row_count; r++) {
            no_demand->rows[r].segment[1] = 0;
            no_demand->rows[r].mark[0].present = false;
        }
        snprintf(no_demand->heading, sizeof no_demand->heading,
                 "no demand: nobody waits (no loss; beyond the scale, not drawn)");
        return blocked * 1.02;
    }
    const double most = fmax(blocked, free);
    return most > 0 ? most * 1.02 : 1;
}

static void fill_chart(struct row_chart *chart, const struct plot_data *data, double *values)
{
    struct ranking ranking;
    bool left_out = false;
    snprintf(chart->frame.title, sizeof chart->frame.title, "%s", title);
    chart->segment_count = SEGMENTS;
    chart->fills[0] = (struct fill){ "#9a9a9a", 0, NULL, '=' };
    for (int share = SHARE_NO_DEMAND; share < SHARE_FREE_END; share++)
        chart->fills[share - SHARE_NO_DEMAND + 1] = share_styles[share].fill;
    chart->mark_count = 1;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        struct row_group *group = &chart->groups[chart->group_count];
        fill_group(group, data, causes[i].share, &ranking, values);
        snprintf(group->heading, sizeof group->heading, "%s", causes[i].heading);
        if (causes[i].share == CAUSE_TOTAL)
            finding_notes(&chart->frame, data, &ranking, &free_measure);
        const bool always = causes[i].share == CAUSE_TOTAL || causes[i].share == SHARE_NO_DEMAND;
        const bool shown = always || largest(group) > 0;
        left_out = left_out || !shown;
        if (shown)
            chart->group_count++;
        else
            memset(group, 0, sizeof *group);
    }
    saturated_note(&chart->frame, data,
                   "jobs wait nearly always, and little lies free because too much is asked for");
    footer_make(&chart->frame, data,
                left_out
                    ? "'best': least of its group beyond chance. Causes that never occurred are"
                      " left out."
                    : "'best': least of its group beyond chance.");
    snprintf(chart->value_heading, sizeof chart->value_heading, "share of capacity%s",
             data->replicas > 1 ? " [95 % interval]" : "");
    axis_linear(&chart->axis, 0, fit(&chart->groups[0], &chart->groups[chart->group_count - 1]), 8);
    snprintf(chart->axis.label, sizeof chart->axis.label, "%% of the GPU-hours of the layout");
}

bool plot_fragmentation_draw(struct canvas *canvas, const struct plot_data *data)
{
    bool any = false;
    for (uint32_t l = 0; l < data->layout_count; l++)
        any = any || data->layouts[l].replicas_present > 0;
    if (!any) return plot_nothing_draw(canvas, title, "the database holds no replica.");
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
