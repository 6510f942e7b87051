/* plot_read.c - a result database -> what the plots show. */
#include "base/arena.h"
#include "base/clock.h"
#include "io/store_curves.h"
#include "io/store_read.h"
#include "report/compare.h"
#include "report/plot_canvas.h"
#include "report/plot_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_SHOWN = LIMIT_LAYOUTS };

struct loader {
    struct plot_data *data;
    const struct stored *stored;
    uint8_t row_of[LIMIT_LAYOUTS * LIMIT_SLACKS]; /* layout_id -> row of the plots, or NOT_SHOWN */
};

static enum status out_of_memory(struct diag *diag)
{
    return diag_world(diag, "the plots need more memory than there is");
}

/* The first slack rule of each layout. */
static void load_layouts(struct loader *loader)
{
    struct plot_data *data = loader->data;
    bool others = false;
    for (uint32_t id = 0; id < loader->stored->layout_count; id++) {
        const struct stored_layout *from = &loader->stored->layouts[id];
        const bool shown = from->slack == loader->stored->layouts[0].slack;
        loader->row_of[id] = NOT_SHOWN;
        others = others || !shown;
        if (!shown || data->layout_count == LIMIT_LAYOUTS) continue;
        loader->row_of[id] = (uint8_t)data->layout_count;
        struct plot_layout *to = &data->layouts[data->layout_count++];
        canvas_clean(from->name, strlen(from->name), to->name, sizeof to->name);
        to->servers = from->servers;
        to->gpus_per_server = from->gpus_per_server;
        to->gpus = from->gpus;
        to->need = from->offered_load;
        to->is_baseline = from->is_baseline;
    }
    const int32_t slack = loader->stored->layouts[0].slack;
    if (others && slack < 0)
        snprintf(data->notes, sizeof data->notes, ", slack any (other slack rules not shown)");
    else if (others)
        snprintf(data->notes, sizeof data->notes, ", slack %d (other slack rules not shown)",
                 slack);
}

static void load_words(struct plot_data *data, const struct stored *stored)
{
    const char *name = stored_meta(stored, "name");
    const char *complete = stored_meta(stored, "complete");
    const char *chance = stored_meta(stored, "chance");
    data->to_the_end = stored_plays_to_the_end(stored);
    data->exact = chance && strcmp(chance, "none") == 0;
    if (name) canvas_clean(name, strlen(name), data->scenario, sizeof data->scenario);
    if (complete && strcmp(complete, "1") != 0)
        strncat(data->notes, ", RUN NOT FINISHED", sizeof data->notes - strlen(data->notes) - 1);
}

/* Number of replicas, window and length of the failure-only run. */
static void load_times(struct loader *loader)
{
    struct plot_data *data = loader->data;
    const struct stored_replica *rows =
        LOG_ITEMS(&loader->stored->replicas, const struct stored_replica);
    for (uint64_t i = 0; i < loader->stored->replicas.count; i++) {
        const struct stored_replica *row = &rows[i];
        const uint32_t l = loader->row_of[row->layout];
        if (l == NOT_SHOWN) continue;
        if (row->replica < 0) {
            data->layouts[l].blast_s = s_from_ns(row->window_end_ns - row->window_start_ns);
            continue;
        }
        if ((uint32_t)row->replica >= data->replicas) data->replicas = (uint32_t)row->replica + 1;
        data->window_start_s = s_from_ns(row->window_start_ns);
        data->layouts[l].end_s = fmax(data->layouts[l].end_s, s_from_ns(row->window_end_ns));
    }
    /* Where nothing is drawn by chance all replicas are the same, and no interval is to be shown. */
    if (data->exact && data->replicas > 1) data->replicas = 1;
}

/* Bins of a layout: so many of the database's that at most PLOT_BINS_MAX are left. */
static void load_bins(struct plot_layout *layout, const struct stored *stored)
{
    const char *text = stored_meta(stored, "curve_bin_ns");
    double bin_s = text ? (double)strtoll(text, NULL, 10) / 1e9 : 0;
    if (!(layout->end_s > 0)) return;
    if (!(bin_s >= 1e-3) || bin_s > layout->end_s) bin_s = layout->end_s / PLOT_BINS_MAX;
    const double count = ceil(layout->end_s / bin_s - 1e-9);
    layout->bin_s = bin_s * ceil(count / PLOT_BINS_MAX);
    layout->bin_count = (uint32_t)fmin(ceil(layout->end_s / layout->bin_s - 1e-9), PLOT_BINS_MAX);
}

static bool take_arrays(struct plot_data *data, struct plot_layout *layout)
{
    const size_t n = data->replicas > 0 ? data->replicas : 1;
    layout->held = arena_take(data->arena, n, sizeof *layout->held);
    layout->capacity = arena_take(data->arena, n, sizeof *layout->capacity);
    layout->present = arena_take(data->arena, n, sizeof *layout->present);
    layout->wait = arena_take(data->arena, n, sizeof *layout->wait);
    layout->bins = arena_take(data->arena, PLOT_BINS_MAX, sizeof *layout->bins);
    if (!layout->held || !layout->capacity || !layout->present || !layout->wait || !layout->bins)
        return false;
    for (size_t i = 0; i < n; i++)
        for (int class_ = 0; class_ < CLASSES; class_++)
            layout->wait[i][class_][WAIT_P50] = layout->wait[i][class_][WAIT_P95] = NAN;
    return true;
}

static void load_present(struct loader *loader)
{
    const struct stored_replica *rows =
        LOG_ITEMS(&loader->stored->replicas, const struct stored_replica);
    for (uint64_t i = 0; i < loader->stored->replicas.count; i++) {
        const uint32_t l = loader->row_of[rows[i].layout];
        if (l == NOT_SHOWN || rows[i].replica < 0 ||
            (uint32_t)rows[i].replica >= loader->data->replicas)
            continue;
        loader->data->layouts[l].present[rows[i].replica] = true;
        loader->data->layouts[l].replicas_present++;
    }
}

/* The metric is stored when some layout can never hold some of the jobs. */
static void find_common(struct loader *loader)
{
    const struct stored_metric *rows =
        LOG_ITEMS(&loader->stored->metrics, const struct stored_metric);
    for (uint64_t i = 0; i < loader->stored->metrics.count && !loader->data->common; i++)
        loader->data->common = strcmp(rows[i].name, "common_jobs") == 0;
}

static void load_metrics(struct loader *loader)
{
    const struct plot_data *data = loader->data;
    const char *p50 = data->common ? "common_wait_s_p50" : "wait_s_p50";
    const char *p95 = data->common ? "common_wait_s_p95" : "wait_s_p95";
    double need_sum[LIMIT_LAYOUTS] = { 0 };
    uint32_t needs[LIMIT_LAYOUTS] = { 0 };
    const struct stored_metric *rows =
        LOG_ITEMS(&loader->stored->metrics, const struct stored_metric);
    for (uint64_t i = 0; i < loader->stored->metrics.count; i++) {
        const struct stored_metric *row = &rows[i];
        const uint32_t l = loader->row_of[row->layout];
        if (l == NOT_SHOWN || row->replica >= loader->data->replicas) continue;
        double *wait = loader->data->layouts[l].wait[row->replica][row->class_];
        if (strcmp(row->name, p50) == 0) wait[WAIT_P50] = row->value;
        if (strcmp(row->name, p95) == 0) wait[WAIT_P95] = row->value;
        if (strcmp(row->name, "jobs_stuck") == 0) loader->data->layouts[l].stuck |= row->value > 0;
        if (strcmp(row->name, "effective_load") != 0) continue;
        need_sum[l] += row->value;
        needs[l]++;
    }
    for (uint32_t l = 0; l < loader->data->layout_count; l++)
        if (needs[l] > 0) loader->data->layouts[l].need = need_sum[l] / needs[l];
}

/* Keeps the yields of all jobs of the rows, which are of any setting. */
static void load_yields(struct loader *loader, const struct log *rows_of)
{
    struct plot_data *data = loader->data;
    const struct stored_metric *rows = LOG_ITEMS(rows_of, const struct stored_metric);
    for (uint64_t i = 0; i < rows_of->count; i++) {
        const uint32_t l = loader->row_of[rows[i].layout];
        if (l == NOT_SHOWN || rows[i].replica >= data->replicas || rows[i].class_ != CLASS_NONE ||
            rows[i].setting >= data->setting_count || strcmp(rows[i].name, "yield") != 0)
            continue;
        data->settings[rows[i].setting].yields[(size_t)l * data->replicas + rows[i].replica] =
            rows[i].value;
    }
}

static bool load_settings(struct loader *loader)
{
    struct plot_data *data = loader->data;
    const struct log *settings = &loader->stored->settings;
    const struct stored_setting *rows = LOG_ITEMS(settings, const struct stored_setting);
    const size_t cells = (size_t)data->layout_count * data->replicas;
    if (settings->count == 0 || cells == 0) return true;
    data->settings = arena_take(data->arena, settings->count, sizeof *data->settings);
    if (!data->settings) return false;
    for (uint32_t s = 0; s < settings->count; s++) {
        struct plot_setting *setting = &data->settings[s];
        canvas_clean(rows[s].axis, strlen(rows[s].axis), setting->axis, sizeof setting->axis);
        setting->factor = rows[s].factor;
        setting->yields = arena_take(data->arena, cells, sizeof *setting->yields);
        if (!setting->yields) return false;
        for (size_t i = 0; i < cells; i++) setting->yields[i] = NAN;
    }
    data->setting_count = (uint32_t)settings->count;
    load_yields(loader, &loader->stored->metrics);
    load_yields(loader, &loader->stored->moved);
    return true;
}

static int by_layout_component_size(const void *left, const void *right)
{
    const struct stored_blast *a = left, *b = right;
    if (a->layout != b->layout) return a->layout < b->layout ? -1 : 1;
    if (a->component != b->component) return a->component < b->component ? -1 : 1;
    return (a->gpus_removed > b->gpus_removed) - (a->gpus_removed < b->gpus_removed);
}

/* Sorted incidents of one layout -> counts of equal ones. */
static bool count_blasts(struct plot_data *data, struct plot_layout *layout,
                         const struct stored_blast *rows, uint64_t count)
{
    layout->blast = arena_take(data->arena, count, sizeof *layout->blast);
    if (!layout->blast) return false;
    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || by_layout_component_size(&rows[i], &rows[i - 1]) != 0)
            layout->blast[layout->blast_count++] =
                (struct blast_row){ rows[i].component, rows[i].gpus_removed, 0 };
        layout->blast[layout->blast_count - 1].incidents++;
    }
    return true;
}

static bool load_blasts(struct loader *loader)
{
    const uint64_t count = loader->stored->blasts.count;
    if (count == 0) return true;
    struct stored_blast *rows = malloc(count * sizeof *rows);
    if (!rows) return false;
    memcpy(rows, loader->stored->blasts.items, count * sizeof *rows);
    qsort(rows, count, sizeof *rows, by_layout_component_size);
    bool loaded = true;
    for (uint64_t from = 0, to; from < count && loaded; from = to) {
        for (to = from; to < count && rows[to].layout == rows[from].layout;) to++;
        const uint32_t l = loader->row_of[rows[from].layout];
        if (l != NOT_SHOWN)
            loaded = count_blasts(loader->data, &loader->data->layouts[l], rows + from, to - from);
    }
    free(rows);
    return loaded;
}

static void add_ledger(const struct stored_ledger *row, void *with)
{
    const struct loader *loader = with;
    const uint32_t l = loader->row_of[row->layout];
    if (row->layout >= loader->stored->layout_count || l == NOT_SHOWN ||
        row->replica >= loader->data->replicas)
        return;
    struct plot_layout *layout = &loader->data->layouts[l];
    const uint8_t share = share_of_account[row->account];
    layout->capacity[row->replica][share] += row->gpu_s;
    if (row->account >= ACC_HELD_END) return;
    layout->held[row->replica][CLASS_NONE][share] += row->gpu_s;
    if (row->class_ != CLASS_NONE) layout->held[row->replica][row->class_][share] += row->gpu_s;
}

/* Spreads a bin of the database over the bins of the plots that it overlaps. */
static void add_curve(const struct stored_curve *row, void *with)
{
    const struct loader *loader = with;
    const uint32_t l = loader->row_of[row->layout];
    if (row->layout >= loader->stored->layout_count || l == NOT_SHOWN ||
        row->replica >= loader->data->replicas || row->bin_start_s < 0)
        return;
    struct plot_layout *layout = &loader->data->layouts[l];
    const double gpus = (double)layout->gpus * layout->replicas_present;
    const double length = row->bin_end_s - row->bin_start_s;
    if (row->bin_start_s >= layout->end_s || !(gpus > 0)) return;
    uint32_t bin = (uint32_t)(row->bin_start_s / layout->bin_s);
    for (; bin < layout->bin_count && bin * layout->bin_s < row->bin_end_s; bin++) {
        const double start = bin * layout->bin_s, end = layout_bin_end_s(layout, bin);
        const double from = fmax(row->bin_start_s, start), to = fmin(row->bin_end_s, end);
        if (to > from)
            layout->bins[bin][share_of_account[row->account]] +=
                row->gpu_s * (to - from) / length / (gpus * (end - start));
    }
}

static enum status load(const char *db_path, struct loader *loader, struct diag *diag)
{
    struct plot_data *data = loader->data;
    load_layouts(loader);
    load_words(data, loader->stored);
    load_times(loader);
    for (uint32_t l = 0; l < data->layout_count; l++) load_bins(&data->layouts[l], loader->stored);
    data->arena = arena_create(UINT64_C(2) << 30);
    if (!data->arena) return out_of_memory(diag);
    for (uint32_t l = 0; l < data->layout_count; l++)
        if (!take_arrays(data, &data->layouts[l])) return out_of_memory(diag);
    load_present(loader);
    find_common(loader);
    load_metrics(loader);
    if (!load_settings(loader) || !load_blasts(loader)) return out_of_memory(diag);
    TRY(store_each_ledger(db_path, add_ledger, loader, diag));
    return store_each_curve(db_path, add_curve, loader, diag);
}

enum status plot_data_read(const char *db_path, struct plot_data *data, struct diag *diag)
{
    struct stored stored;
    memset(data, 0, sizeof *data);
    enum status status = store_read(db_path, &stored, diag);
    if (status == STATUS_OK) {
        struct loader loader = { .data = data, .stored = &stored };
        status = load(db_path, &loader, diag);
    }
    stored_clear(&stored);
    if (status != STATUS_OK) plot_data_clear(data);
    return status;
}

void plot_data_clear(struct plot_data *data)
{
    arena_destroy(data->arena);
    memset(data, 0, sizeof *data);
}
