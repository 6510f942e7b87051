/* compare.c - see compare.h. */
#include "report/compare.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/sort.h"
#include "base/text.h"
#include "models/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CONFIDENCE = 0.95;

static enum status out_of_memory(struct diag *diag)
{
    return diag_world(diag, "out of memory while comparing layouts");
}

/* ---- layouts and their baselines ---- */

static bool has_layout(const struct stored *stored, const char *name)
{
    for (uint32_t i = 0; i < stored->layout_count; i++)
        if (strcmp(stored->layouts[i].name, name) == 0) return true;
    return false;
}

static enum status check_baseline(const struct stored *stored, const char *name, struct diag *diag)
{
    if (name == NULL || has_layout(stored, name)) return STATUS_OK;
    const char *names[LIMIT_LAYOUTS * LIMIT_SLACKS];
    for (uint32_t i = 0; i < stored->layout_count; i++) names[i] = stored->layouts[i].name;
    const char *near = text_nearest(name, names, stored->layout_count);
    return diag_usage(diag, "no layout '%s' in the database%s%s%s", name,
                      near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'?" : "");
}

static void find_baselines(struct comparison *c, const char *name)
{
    const struct stored_layout *layouts = c->stored->layouts;
    for (uint32_t i = 0; i < c->layout_count; i++) {
        c->baseline[i] = LAYOUT_NONE;
        for (uint32_t j = 0; j < c->layout_count; j++) {
            const bool is_it =
                name != NULL ? strcmp(layouts[j].name, name) == 0 : layouts[j].is_baseline;
            if (is_it && layouts[j].slack == layouts[i].slack) c->baseline[i] = j;
        }
        c->group_layouts += layouts[i].slack == layouts[0].slack;
    }
}

static void order_by_slack(struct comparison *c)
{
    const struct stored_layout *layouts = c->stored->layouts;
    uint32_t placed = 0;
    for (uint32_t i = 0; i < c->layout_count; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < i; j++) seen |= layouts[j].slack == layouts[i].slack;
        for (uint32_t j = i; !seen && j < c->layout_count; j++)
            if (layouts[j].slack == layouts[i].slack) c->order[placed++] = j;
    }
    ASSERT(placed == c->layout_count);
}

static void count_replicas(struct comparison *c)
{
    const struct stored_replica *rows =
        LOG_ITEMS(&c->stored->replicas, const struct stored_replica);
    for (uint64_t i = 0; i < c->stored->replicas.count; i++) {
        if (rows[i].replica < 0) continue;
        c->replicas[rows[i].layout]++;
        if ((uint32_t)rows[i].replica >= c->replica_count)
            c->replica_count = (uint32_t)rows[i].replica + 1;
    }
}

/* ---- quantities ---- */

static bool is_quantity(const struct quantity *quantity, const char *name, uint8_t class_)
{
    return quantity->class_ == class_ && strcmp(quantity->name, name) == 0;
}

/* Row of the metric's quantity, added when it is new; LAYOUT_NONE when memory is out. Metrics come in the same order
 * from replica to replica, so the row after the last one is tried first. */
static uint32_t quantity_row(struct comparison *c, const struct stored_metric *metric,
                             uint32_t hint)
{
    for (uint32_t i = 0; i < c->quantity_count; i++) {
        const uint32_t row = (hint + i) % c->quantity_count;
        if (is_quantity(&c->quantities[row], metric->name, metric->class_)) return row;
    }
    struct quantity *grown =
        realloc(c->quantities, (c->quantity_count + 1) * sizeof *c->quantities);
    if (grown == NULL) return LAYOUT_NONE;
    c->quantities = grown;
    struct quantity *quantity = &c->quantities[c->quantity_count];
    *quantity = (struct quantity){ .class_ = metric->class_ };
    memcpy(quantity->name, metric->name, sizeof quantity->name);
    memcpy(quantity->unit, metric->unit, sizeof quantity->unit);
    const size_t cells = (size_t)c->layout_count * c->replica_count;
    quantity->values = malloc(cells * sizeof *quantity->values);
    quantity->cells = calloc(c->layout_count, sizeof *quantity->cells);
    c->quantity_count++; /* comparison_clear frees what is there */
    if (quantity->values == NULL || quantity->cells == NULL) return LAYOUT_NONE;
    for (size_t i = 0; i < cells; i++) quantity->values[i] = NAN;
    return c->quantity_count - 1;
}

static enum status collect_metrics(struct comparison *c, struct diag *diag)
{
    const struct stored_metric *rows = LOG_ITEMS(&c->stored->metrics, const struct stored_metric);
    uint32_t row = 0;
    for (uint64_t i = 0; i < c->stored->metrics.count; i++) {
        if (rows[i].replica >= c->replica_count) continue; /* its replica row is missing */
        row = quantity_row(c, &rows[i], row + 1);
        if (row == LAYOUT_NONE) return out_of_memory(diag);
        c->quantities[row].values[(size_t)rows[i].layout * c->replica_count + rows[i].replica] =
            rows[i].value;
    }
    return STATUS_OK;
}

static const double *values_of(const struct comparison *c, const struct quantity *quantity,
                               uint32_t layout)
{
    return quantity->values + (size_t)layout * c->replica_count;
}

/* Values of x and y over the replicas that have both; returns their number. */
static uint32_t gather_pairs(const double *x, const double *y, uint32_t count, double *xs,
                             double *ys)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(x[i]) || isnan(y[i])) continue;
        xs[n] = x[i];
        ys[n++] = y[i];
    }
    return n;
}

static double mean_of(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

static void fill_cell(const struct comparison *c, struct quantity *quantity, uint32_t layout,
                      double *xs, double *ys)
{
    struct cell *cell = &quantity->cells[layout];
    const double *x = values_of(c, quantity, layout);
    uint32_t n = gather_pairs(x, x, c->replica_count, xs, ys);
    cell->value = t_ci(xs, n, c->conf);
    cell->missing = c->replicas[layout] > n ? c->replicas[layout] - n : 0;
    cell->relative = NAN;
    cell->pair = paired_ci(NULL, NULL, 0, c->conf_difference);
    if (c->baseline[layout] == LAYOUT_NONE) return;
    n = gather_pairs(x, values_of(c, quantity, c->baseline[layout]), c->replica_count, xs, ys);
    cell->pair = paired_ci(xs, ys, n, c->conf_difference);
    const double reference = n > 0 ? mean_of(ys, n) : 0;
    if (reference != 0) cell->relative = cell->pair.difference.mean / reference;
}

static enum status fill_cells(struct comparison *c, struct diag *diag)
{
    double *scratch = calloc(2 * (size_t)c->replica_count + 1, sizeof *scratch);
    if (scratch == NULL) return out_of_memory(diag);
    for (uint32_t i = 0; i < c->quantity_count; i++)
        for (uint32_t layout = 0; layout < c->layout_count; layout++)
            fill_cell(c, &c->quantities[i], layout, scratch, scratch + c->replica_count);
    free(scratch);
    return STATUS_OK;
}

static void fill_loads(struct comparison *c)
{
    const struct quantity *measured = comparison_find(c, "offered_load", CLASS_NONE);
    for (uint32_t i = 0; i < c->layout_count; i++) {
        c->load[i] = c->stored->layouts[i].offered_load;
        if (measured != NULL && measured->cells[i].value.mean > c->load[i])
            c->load[i] = measured->cells[i].value.mean;
    }
}

/* ---- blast radius ---- */

static void blast_from(struct blast *blast, int64_t *sizes, int64_t *spare, double *sorted,
                       uint32_t count)
{
    blast->incidents = count;
    blast->per_year = blast->years > 0 ? count / blast->years : NAN;
    sort_int64(sizes, spare, count);
    for (uint32_t i = 0; i < count; i++) sorted[i] = (double)sizes[i];
    blast->p50 = count > 0 ? quantile7(sorted, count, 0.5) : NAN;
    blast->p95 = count > 0 ? quantile7(sorted, count, 0.95) : NAN;
    blast->max = count > 0 ? sorted[count - 1] : NAN;
}

/* Whether an incident counts in a row of the blast table. Job faults take no hardware. */
static bool blast_counts(const struct stored_blast *blast, uint32_t row)
{
    if (row < BLAST_PARTS) return blast->component == row;
    return strcmp(stored_component_name(blast->component), "job") != 0;
}

static enum status fill_blasts(struct comparison *c, struct diag *diag)
{
    const struct stored_replica *runs =
        LOG_ITEMS(&c->stored->replicas, const struct stored_replica);
    const struct stored_blast *all = LOG_ITEMS(&c->stored->blasts, const struct stored_blast);
    const uint64_t count = c->stored->blasts.count;
    int64_t *sizes = calloc(count + 1, sizeof *sizes), *spare = calloc(count + 1, sizeof *spare);
    double *sorted = calloc(count + 1, sizeof *sorted);
    const bool fits = sizes != NULL && spare != NULL && sorted != NULL && count < UINT32_MAX;
    for (uint32_t layout = 0; fits && layout < c->layout_count; layout++) {
        double years = 0;
        for (uint64_t i = 0; i < c->stored->replicas.count; i++)
            if (runs[i].layout == layout && runs[i].replica < 0)
                years = (double)runs[i].run_end_ns / (365.0 * NS_PER_DAY);
        for (uint32_t row = 0; row < BLAST_ROWS; row++) {
            struct blast *blast = &c->blasts[layout * BLAST_ROWS + row];
            uint32_t n = 0;
            blast->years = years;
            for (uint64_t i = 0; i < count; i++)
                if (all[i].layout == layout && blast_counts(&all[i], row))
                    sizes[n++] = all[i].gpus_removed;
            blast_from(blast, sizes, spare, sorted, n);
        }
    }
    free(sizes);
    free(spare);
    free(sorted);
    return fits ? STATUS_OK : out_of_memory(diag);
}

/* ---- public ---- */

enum status comparison_build(const struct stored *stored, const char *baseline,
                             struct comparison *c, struct diag *diag)
{
    *c = (struct comparison){ .stored = stored, .layout_count = stored->layout_count };
    const char *complete = stored_meta(stored, "complete");
    c->complete = complete != NULL && strcmp(complete, "1") == 0;
    TRY(check_baseline(stored, baseline, diag));
    c->replicas = calloc(c->layout_count, sizeof *c->replicas);
    c->baseline = calloc(c->layout_count, sizeof *c->baseline);
    c->order = calloc(c->layout_count, sizeof *c->order);
    c->load = calloc(c->layout_count, sizeof *c->load);
    c->blasts = calloc((size_t)c->layout_count * BLAST_ROWS, sizeof *c->blasts);
    if (c->replicas == NULL || c->baseline == NULL || c->order == NULL || c->load == NULL ||
        c->blasts == NULL)
        return out_of_memory(diag);
    find_baselines(c, baseline);
    order_by_slack(c);
    count_replicas(c);
    const uint32_t layouts = c->group_layouts;
    const uint32_t others = layouts > 1 ? layouts - 1 : 1;
    c->conf = CONFIDENCE;
    c->conf_difference = joint_confidence(CONFIDENCE, others * HEADLINES);
    c->conf_any =
        joint_confidence(CONFIDENCE, (layouts > 1 ? layouts * (layouts - 1) / 2 : 1) * HEADLINES);
    TRY(collect_metrics(c, diag));
    TRY(fill_cells(c, diag));
    fill_loads(c);
    return fill_blasts(c, diag);
}

void comparison_clear(struct comparison *c)
{
    for (uint32_t i = 0; i < c->quantity_count; i++) {
        free(c->quantities[i].values);
        free(c->quantities[i].cells);
    }
    free(c->quantities);
    free(c->replicas);
    free(c->baseline);
    free(c->order);
    free(c->load);
    free(c->blasts);
    memset(c, 0, sizeof *c);
}

const struct quantity *comparison_find(const struct comparison *c, const char *name, uint8_t class_)
{
    for (uint32_t i = 0; i < c->quantity_count; i++)
        if (is_quantity(&c->quantities[i], name, class_)) return &c->quantities[i];
    return NULL;
}

struct paired comparison_pair(const struct comparison *c, const struct quantity *quantity,
                              uint32_t x, uint32_t y, double conf)
{
    ASSERT(x < c->layout_count && y < c->layout_count);
    double *scratch = calloc(2 * (size_t)c->replica_count + 1, sizeof *scratch);
    ASSERT(scratch != NULL);
    const uint32_t n = gather_pairs(values_of(c, quantity, x), values_of(c, quantity, y),
                                    c->replica_count, scratch, scratch + c->replica_count);
    const struct paired paired = paired_ci(scratch, scratch + c->replica_count, n, conf);
    free(scratch);
    return paired;
}

/* Mean completion over the jobs of 16 GPUs and more of one replica, NAN when it has none. */
static double large_mean_s(const struct comparison *c, uint32_t layout, uint32_t replica)
{
    static const uint8_t classes[] = { CLASS_16_63, CLASS_64_UP };
    double sum_s = 0, jobs = 0;
    for (size_t i = 0; i < sizeof classes; i++) {
        const struct quantity *mean = comparison_find(c, "completion_s_mean", classes[i]);
        const struct quantity *done = comparison_find(c, "jobs_done", classes[i]);
        if (mean == NULL || done == NULL) continue;
        const double mean_s = values_of(c, mean, layout)[replica];
        const double count = values_of(c, done, layout)[replica];
        if (isnan(mean_s) || !(count > 0)) continue;
        sum_s += mean_s * count;
        jobs += count;
    }
    return jobs > 0 ? sum_s / jobs : NAN;
}

struct interval comparison_large(const struct comparison *c, uint32_t x, uint32_t y, double conf)
{
    double *ratios = calloc((size_t)c->replica_count + 1, sizeof *ratios);
    ASSERT(ratios != NULL);
    uint32_t n = 0;
    for (uint32_t replica = 0; replica < c->replica_count; replica++) {
        const double on_x_s = large_mean_s(c, x, replica), on_y_s = large_mean_s(c, y, replica);
        if (!isnan(on_x_s) && on_y_s > 0) ratios[n++] = on_x_s / on_y_s - 1;
    }
    const struct interval interval = t_ci(ratios, n, conf);
    free(ratios);
    return interval;
}

double comparison_lost_share(const struct comparison *c, uint32_t layout)
{
    static const char *const names[] = { "share_lost", "share_down", "share_draining" };
    double sum = NAN;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct quantity *share = comparison_find(c, names[i], CLASS_NONE);
        if (share == NULL || share->cells[layout].value.n == 0) continue;
        sum = (isnan(sum) ? 0 : sum) + share->cells[layout].value.mean;
    }
    return sum;
}

const char *comparison_label(const struct comparison *c, uint32_t layout, char out[LABEL_BYTES])
{
    const struct stored_layout *row = &c->stored->layouts[layout];
    text_escape(row->name, strlen(row->name), out, LABEL_BYTES - 16);
    const size_t used = strlen(out);
    if (c->group_layouts == c->layout_count) return out;
    if (row->slack < 0)
        snprintf(out + used, LABEL_BYTES - used, "/any");
    else
        snprintf(out + used, LABEL_BYTES - used, "/%" PRId32, row->slack);
    return out;
}
