/* compare.c - see compare.h. */
#include "report/compare_parts.h"

#include "base/assert.h"
#include "base/text.h"

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
    const struct log *log = c->setting > 0 ? &c->stored->moved : &c->stored->metrics;
    const struct stored_metric *rows = LOG_ITEMS(log, const struct stored_metric);
    uint32_t row = 0;
    for (uint64_t i = 0; i < log->count; i++) {
        if (rows[i].replica >= c->replica_count) continue; /* its replica row is missing */
        if (rows[i].setting != c->setting) continue;
        row = quantity_row(c, &rows[i], row + 1);
        if (row == LAYOUT_NONE) return out_of_memory(diag);
        c->quantities[row].values[(size_t)rows[i].layout * c->replica_count + rows[i].replica] =
            rows[i].value;
    }
    return STATUS_OK;
}

const double *comparison_values(const struct comparison *c, const struct quantity *quantity,
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
    const double *x = comparison_values(c, quantity, layout);
    uint32_t n = gather_pairs(x, x, c->replica_count, xs, ys);
    cell->value = comparison_settle(c, layout, layout, t_ci(xs, n, c->conf));
    cell->missing = c->replicas[layout] > n ? c->replicas[layout] - n : 0;
    cell->relative = NAN;
    cell->pair = paired_ci(NULL, NULL, 0, c->conf_difference);
    const uint32_t base = c->baseline[layout];
    if (base == LAYOUT_NONE) return;
    n = gather_pairs(x, comparison_values(c, quantity, base), c->replica_count, xs, ys);
    cell->pair = paired_ci(xs, ys, n, c->conf_difference);
    cell->pair.difference = comparison_settle(c, layout, base, cell->pair.difference);
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

static bool comparison_has(const struct comparison *c, const char *name)
{
    for (uint32_t i = 0; i < c->quantity_count; i++)
        if (strcmp(c->quantities[i].name, name) == 0) return true;
    return false;
}

static const uint8_t large_classes[] = { CLASS_16_63, CLASS_64_UP };

static bool has_large(const struct comparison *c)
{
    bool any = false;
    for (size_t i = 0; i < sizeof large_classes; i++) {
        const struct quantity *jobs =
            comparison_find(c, c->common ? "common_jobs" : "jobs_done", large_classes[i]);
        for (uint32_t l = 0; jobs != NULL && l < c->layout_count; l++)
            any |= jobs->cells[l].value.mean > 0;
    }
    return any;
}

/* ---- public ---- */

static enum status make_room(struct comparison *c, struct diag *diag)
{
    c->replicas = calloc(c->layout_count, sizeof *c->replicas);
    c->baseline = calloc(c->layout_count, sizeof *c->baseline);
    c->order = calloc(c->layout_count, sizeof *c->order);
    c->load = calloc(c->layout_count, sizeof *c->load);
    c->needs = calloc(c->layout_count, sizeof *c->needs);
    c->blasts = calloc((size_t)c->layout_count * BLAST_ROWS, sizeof *c->blasts);
    const bool fits = c->replicas != NULL && c->baseline != NULL && c->order != NULL &&
                      c->load != NULL && c->needs != NULL && c->blasts != NULL;
    return fits ? STATUS_OK : out_of_memory(diag);
}

static bool meta_is(const struct stored *stored, const char *key, const char *want)
{
    const char *value = stored_meta(stored, key);
    return value != NULL && strcmp(value, want) == 0;
}

static const char ALL_NS[] = "9223372036854775807"; /* HORIZON_ALL */

bool stored_plays_to_the_end(const struct stored *stored)
{
    return meta_is(stored, "horizon_ns", ALL_NS);
}

/* What setting 0 and the others do alike. */
static enum status build_numbers(struct comparison *c, struct diag *diag)
{
    c->complete = meta_is(c->stored, "complete", "1");
    c->exact = meta_is(c->stored, "chance", "none");
    c->to_the_end = stored_plays_to_the_end(c->stored);
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
    comparison_fill_loads(c);
    c->common = comparison_has(c, "common_jobs");
    c->large = has_large(c);
    return STATUS_OK;
}

enum status comparison_build(const struct stored *stored, const char *baseline,
                             struct comparison *c, struct diag *diag)
{
    *c = (struct comparison){ .stored = stored, .layout_count = stored->layout_count };
    TRY(check_baseline(stored, baseline, diag));
    TRY(make_room(c, diag));
    find_baselines(c, baseline);
    TRY(build_numbers(c, diag));
    return comparison_fill_blasts(c, diag);
}

enum status comparison_build_moved(const struct comparison *base, uint32_t setting,
                                   struct comparison *moved, struct diag *diag)
{
    ASSERT(setting > 0);
    *moved = (struct comparison){ .stored = base->stored,
                                  .layout_count = base->layout_count,
                                  .group_layouts = base->group_layouts,
                                  .setting = setting };
    TRY(make_room(moved, diag));
    memcpy(moved->baseline, base->baseline, base->layout_count * sizeof *base->baseline);
    return build_numbers(moved, diag);
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
    free(c->needs);
    free(c->blasts);
    memset(c, 0, sizeof *c);
}

const struct quantity *comparison_find(const struct comparison *c, const char *name, uint8_t class_)
{
    for (uint32_t i = 0; i < c->quantity_count; i++)
        if (is_quantity(&c->quantities[i], name, class_)) return &c->quantities[i];
    return NULL;
}

const struct quantity *comparison_find_common(const struct comparison *c, const char *name,
                                              uint8_t class_)
{
    char common[sizeof c->quantities->name];
    if (!c->common) return comparison_find(c, name, class_);
    const int bytes = snprintf(common, sizeof common, "common_%s", name);
    ASSERT(bytes > 0 && (size_t)bytes < sizeof common);
    return comparison_find(c, common, class_);
}

static bool are_alike(const struct stored_layout *a, const struct stored_layout *b)
{
    return strcmp(a->server_type, b->server_type) == 0 && a->gpus == b->gpus &&
           strcmp(a->link_type, b->link_type) == 0 && strcmp(a->fabric_type, b->fabric_type) == 0 &&
           a->nics_per_server == b->nics_per_server && a->oversubscription == b->oversubscription &&
           a->slack == b->slack;
}

struct interval comparison_settle(const struct comparison *c, uint32_t x, uint32_t y,
                                  struct interval interval)
{
    const struct stored_layout *layouts = c->stored->layouts;
    const bool equal = interval.mean == 0 && are_alike(&layouts[x], &layouts[y]);
    if (interval.n > 0 && isnan(interval.half) && (c->exact || equal)) interval.half = 0;
    return interval;
}

struct paired comparison_pair(const struct comparison *c, const struct quantity *quantity,
                              uint32_t x, uint32_t y, double conf)
{
    ASSERT(x < c->layout_count && y < c->layout_count);
    double *scratch = calloc(2 * (size_t)c->replica_count + 1, sizeof *scratch);
    ASSERT(scratch != NULL);
    const uint32_t n =
        gather_pairs(comparison_values(c, quantity, x), comparison_values(c, quantity, y),
                     c->replica_count, scratch, scratch + c->replica_count);
    struct paired paired = paired_ci(scratch, scratch + c->replica_count, n, conf);
    paired.difference = comparison_settle(c, x, y, paired.difference);
    free(scratch);
    return paired;
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
