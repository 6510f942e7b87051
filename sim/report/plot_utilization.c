/* plot_utilization.c - the ledger's accounts over time, stacked to the whole capacity, a panel per
 * layout on equal axes.
 *
 * Painted from the top of the stack down, each layer from the axis to its upper edge, so that no
 * seam shows between layers. A line marks what jobs hold. */
#include "report/plot_frame.h"
#include "report/plot_kinds.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "Where do the GPU-hours go?";
static const struct measure useful_measure = { .noun = "of capacity is useful work",
                                               .scale = 100,
                                               .decimals = 1,
                                               .higher_is_better = true,
                                               .share = true };

/* The stack from the bottom up: what jobs hold, what is gone, what is free. Each layer takes up to
 * two shares and looks like the first. */
static const struct layer {
    uint8_t first, second;
    const char *name; /* NULL: the share's own */
} layers[] = {
    { SHARE_COMPUTE, SHARE_COMPUTE, NULL },
    { SHARE_INTRA, SHARE_INTRA, NULL },
    { SHARE_INTER, SHARE_INTER, NULL },
    { SHARE_CONTENTION, SHARE_CONTENTION, NULL },
    { SHARE_DATA, SHARE_DATA, NULL },
    { SHARE_BUBBLE, SHARE_BUBBLE, NULL },
    { SHARE_OVERHEAD, SHARE_OVERHEAD, NULL },
    { SHARE_CHECKPOINT, SHARE_STARTUP, "checkpoint and start-up" },
    { SHARE_LOST, SHARE_LOST, NULL },
    { SHARE_UNUSED, SHARE_OTHER, "held, not used" },
    { SHARE_GONE, SHARE_GONE, NULL },
    { SHARE_SHORT, SHARE_SHORT, NULL },
    { SHARE_FRAGMENTED, SHARE_FRAGMENTED, NULL },
    { SHARE_STARVED, SHARE_STARVED, NULL },
    { SHARE_WITHHELD, SHARE_WITHHELD, NULL },
    { SHARE_NO_DEMAND, SHARE_NO_DEMAND, NULL },
};
enum { LAYERS = sizeof layers / sizeof *layers, LAYERS_HELD = 10 };

struct page {
    const struct plot_data *data;
    struct frame frame;
    struct ranking useful;
    struct axis days, percent;
    bool shown[LAYERS];
    uint32_t columns, rows;
    double width, height, key_y, grid_y, footer_y;
    double panel_w, panel_h, title_h, left, between_x, between_y;
};

/* Upper edge of a layer in a bin, in percent of the capacity. */
static double edge(const struct plot_layout *layout, uint32_t bin, int layer)
{
    double sum = 0;
    for (int i = 0; i <= layer; i++) {
        sum += layout->bins[bin][layers[i].first];
        if (layers[i].second != layers[i].first) sum += layout->bins[bin][layers[i].second];
    }
    return 100 * fmin(sum, 1);
}

static void find_shown(struct page *page)
{
    for (int i = 0; i < LAYERS; i++) {
        page->shown[i] = false;
        for (uint32_t l = 0; l < page->data->layout_count; l++)
            for (uint32_t b = 0; b < page->data->bin_count; b++) {
                const double *bin = page->data->layouts[l].bins[b];
                if (bin[layers[i].first] > 0 || bin[layers[i].second] > 0) page->shown[i] = true;
            }
    }
}

static uint32_t key_entries(const struct page *page, bool cells, struct key_entry *entries)
{
    static const struct line_style held = { "#000000", "solid", 0 };
    uint32_t count = 0;
    for (int i = 0; i < LAYERS; i++) {
        const struct share_style *style = &share_styles[layers[i].first];
        if (!page->shown[i]) continue;
        entries[count++] =
            (struct key_entry){ .name = layers[i].name ? layers[i].name : style->name,
                                .fill = &style->fill };
    }
    if (!cells) entries[count++] = (struct key_entry){ .name = "held by jobs", .line = &held };
    return count;
}

/* Share of the capacity in the window per replica: useful work, or all that jobs hold. */
static void window_values(const struct plot_layout *layout, uint32_t replicas, bool all_held,
                          double *values)
{
    for (uint32_t i = 0; i < replicas; i++) {
        double total = 0, held = 0;
        for (int s = 0; s < SHARES; s++) total += layout->capacity[i][s];
        for (int s = 0; s < SHARE_HELD_END; s++) held += layout->capacity[i][s];
        const double part = all_held ? held : layout->capacity[i][SHARE_COMPUTE];
        values[i] = layout->present[i] && total > 0 ? part / total : NAN;
    }
}

static void panel_words(const struct page *page, uint32_t l, char *text, size_t text_bytes,
                        double *values)
{
    static const struct measure held_measure = {
        .noun = "", .scale = 100, .decimals = 1, .share = true
    };
    const struct plot_layout *layout = &page->data->layouts[l];
    char useful[64], held[64];
    window_values(layout, page->data->replicas, true, values);
    const struct estimate all = estimate_of(values, page->data->replicas, 0.95);
    estimate_text(useful, sizeof useful, &page->useful.value[l], &useful_measure);
    estimate_text(held, sizeof held, &all, &held_measure);
    snprintf(text, text_bytes, "%u %s %u GPUs; useful %s; held by jobs %s", layout->servers,
             (uint64_t)layout->servers * layout->gpus_per_server == layout->gpus ? "x" : "of up to",
             layout->gpus_per_server, useful, held);
}

/* Beside the name of a saturated layout. */
static void need_words(const struct plot_layout *layout, char *text, size_t text_bytes)
{
    char need[48];
    text[0] = '\0';
    if (!layout_saturated(layout)) return;
    need_text(need, sizeof need, layout);
    snprintf(text, text_bytes, "%s: its queue grows with the horizon", need);
}

/* Where they start, from the left edge of the panel. */
static double need_place(const struct canvas *canvas, const struct plot_layout *layout)
{
    return canvas_text_width(canvas, TEXT_BODY, true, layout->name) + (canvas->cells ? 2 : 10);
}

static void fill_words(struct page *page, double *values)
{
    const struct plot_data *data = page->data;
    snprintf(page->frame.title, sizeof page->frame.title, "%s", title);
    for (uint32_t l = 0; l < data->layout_count; l++)
        window_values(&data->layouts[l], data->replicas, false,
                      values + (size_t)l * data->replicas);
    ranking_make(&page->useful, data, values, true);
    finding_notes(&page->frame, data, &page->useful, &useful_measure);
    char extra[160] = "";
    if (data->window_start_s > 0)
        snprintf(extra, sizeof extra, "Pale: warm-up of %.1f days, not counted.",
                 data->window_start_s / 86400);
    footer_make(&page->frame, data, extra);
    axis_linear(&page->days, 0, data->bin_count * data->bin_s / 86400, 10);
    axis_linear(&page->percent, 0, 100, 5);
}

static void place(struct page *page, struct canvas *canvas, double *values)
{
    const bool cells = canvas->cells;
    const uint32_t count = page->data->layout_count;
    char words[256];
    double widest = 0;
    for (uint32_t l = 0; l < count; l++) {
        need_words(&page->data->layouts[l], words, sizeof words);
        widest = fmax(widest, need_place(canvas, &page->data->layouts[l]) +
                                  canvas_text_width(canvas, TEXT_SMALL, false, words));
        panel_words(page, l, words, sizeof words, values);
        widest = fmax(widest, canvas_text_width(canvas, TEXT_SMALL, false, words));
    }
    page->columns = cells || count < 3 ? 1 : 2;
    page->rows = (count + page->columns - 1) / page->columns;
    page->left = cells ? 4 : 66;
    page->between_x = cells ? 0 : 30;
    page->between_y = cells ? 1 : 16;
    page->title_h = cells ? 2 : 40;
    page->panel_h = cells ? 10 : count < 3 ? 190 : 150;
    const double margin = cells ? 1 : 20;
    page->width = fmax(canvas->width, page->left + margin + page->columns * widest +
                                          (page->columns - 1) * page->between_x);
    page->panel_w =
        floor((page->width - page->left - margin - (page->columns - 1) * page->between_x) /
              page->columns);
    struct key_entry entries[LAYERS + 1];
    page->key_y = frame_header(canvas, &page->frame, page->width, false);
    page->grid_y = key_draw(canvas, entries, key_entries(page, canvas->cells, entries), page->key_y,
                            page->width, false);
    double y = page->grid_y + page->rows * (page->title_h + page->panel_h + page->between_y);
    page->footer_y = axis_below(canvas, &page->days, 0, 1, y - page->between_y, false);
    page->height = frame_footer(canvas, &page->frame, page->footer_y, page->width, false);
}

/* Upper left corner of a panel's axes. */
static void corner(const struct page *page, uint32_t l, double *x, double *y)
{
    *x = page->left + (l % page->columns) * (page->panel_w + page->between_x);
    *y = page->grid_y + page->title_h +
         (l / page->columns) * (page->title_h + page->panel_h + page->between_y);
}

static void draw_words(const struct page *page, struct canvas *canvas, double *values)
{
    const bool cells = canvas->cells;
    const uint32_t count = page->data->layout_count;
    char words[256];
    for (uint32_t l = 0; l < count; l++) {
        double x, y;
        corner(page, l, &x, &y);
        panel_words(page, l, words, sizeof words, values);
        canvas_text(canvas, x, cells ? y - 2 : y - 30, ALIGN_LEFT, TEXT_BODY, true,
                    page->data->layouts[l].name);
        canvas_text(canvas, x, cells ? y - 1 : y - 12, ALIGN_LEFT, TEXT_SMALL, false, words);
        need_words(&page->data->layouts[l], words, sizeof words);
        canvas_text(canvas, x + need_place(canvas, &page->data->layouts[l]), cells ? y - 2 : y - 30,
                    ALIGN_LEFT, TEXT_SMALL, false, words);
        if (l % page->columns == 0 && !cells)
            axis_left(canvas, &page->percent, x - 6, y, y + page->panel_h);
        const bool last = l + page->columns >= count;
        struct axis axis = page->days;
        if (!last) axis.tick_count = 0;
        if (last) axis_below(canvas, &axis, x, x + page->panel_w, y + page->panel_h, true);
    }
    if (!cells)
        canvas_vertical_text(canvas, 18,
                             page->grid_y +
                                 page->rows * (page->title_h + page->panel_h + page->between_y) / 2,
                             "% of the layout's GPUs");
}

/* The upper edges of all layers as steps, corner by corner, in days and percent. */
static bool write_panel(const struct page *page, struct canvas *canvas, uint32_t l, char name[16])
{
    const struct plot_data *data = page->data;
    FILE *file = canvas_data(canvas, name);
    if (!file) return false;
    for (uint32_t corner_row = 0; corner_row < 2 * data->bin_count; corner_row++) {
        const uint32_t bin = corner_row / 2;
        fprintf(file, "%.7g", (bin + corner_row % 2) * data->bin_s / 86400);
        for (int i = 0; i < LAYERS; i++) fprintf(file, " %.4f", edge(&data->layouts[l], bin, i));
        putc('\n', file);
    }
    canvas_data_close(canvas, file);
    return true;
}

static void plot_layers(const struct page *page, struct canvas *canvas, const char *name)
{
    fprintf(canvas->script, "plot NaN notitle");
    for (int i = LAYERS - 1; i >= 0; i--) {
        const struct fill *fill = &share_styles[layers[i].first].fill;
        if (!page->shown[i]) continue;
        fprintf(canvas->script,
                ", '%s' using 1:%d with filledcurves x1 fillstyle solid 1 noborder"
                " fillcolor rgb '%s'",
                name, i + 2, fill->color);
        if (fill->pattern)
            fprintf(canvas->script,
                    ", '%s' using 1:%d with filledcurves x1 fillstyle transparent"
                    " pattern %d noborder fillcolor rgb '%s'",
                    name, i + 2, fill->pattern, fill->hatch);
    }
    fprintf(canvas->script, ", '%s' using 1:%d with lines linecolor rgb '#000000' linewidth 0.9\n",
            name, LAYERS_HELD + 1);
}

static void draw_panel(const struct page *page, struct canvas *canvas, uint32_t l)
{
    char name[16];
    double x, y;
    corner(page, l, &x, &y);
    if (!write_panel(page, canvas, l, name)) return;
    canvas_panel(canvas, x, y, x + page->panel_w, y + page->panel_h);
    fprintf(canvas->script,
            "set border 3 linecolor rgb '#4d4d4d'\nset xrange [0:%.9g]\n"
            "set yrange [0:100]\nset tics front\n",
            page->days.max);
    for (int letter = 'x'; letter <= 'y'; letter++) {
        const struct axis *axis = letter == 'x' ? &page->days : &page->percent;
        fprintf(canvas->script, "set %ctics scale 0.5 out nomirror (", letter);
        for (uint32_t i = 0; i < axis->tick_count; i++)
            fprintf(canvas->script, "%s'' %.9g", i ? ", " : "", axis->ticks[i].at);
        fprintf(canvas->script, ")\n");
    }
    if (page->data->window_start_s > 0) {
        const double day = page->data->window_start_s / 86400;
        fprintf(canvas->script,
                "set object 1 rectangle from first 0, graph 0 to first %.9g, graph 1"
                " front fillcolor rgb '#ffffff' fillstyle transparent solid 0.6 noborder\n"
                "set arrow 1 from first %.9g, graph 0 to first %.9g, graph 1 nohead front"
                " linecolor rgb '#000000' dashtype 2\n",
                day, day, day);
    }
    plot_layers(page, canvas, name);
    fprintf(canvas->script, "unset object\nunset arrow\n");
}

/* A panel of a terminal: each cell shows the layer at its middle. */
static void draw_cells(const struct page *page, struct canvas *canvas, uint32_t l)
{
    const struct plot_data *data = page->data;
    const uint32_t columns = page->panel_w > 250 ? 250 : (uint32_t)page->panel_w;
    double x, y;
    corner(page, l, &x, &y);
    for (uint32_t row = 0; row < (uint32_t)page->panel_h; row++) {
        char run[256];
        const double height = 100 - (row + 0.5) * 100 / page->panel_h;
        for (uint32_t c = 0; c < columns; c++) {
            const uint32_t bin = (uint32_t)((c + 0.5) * data->bin_count / columns);
            int layer = 0;
            while (layer < LAYERS - 1 && edge(&data->layouts[l], bin, layer) < height) layer++;
            run[c] = share_styles[layers[layer].first].fill.glyph;
        }
        run[columns] = '\0';
        canvas_text(canvas, x, y + row, ALIGN_LEFT, TEXT_BODY, false, run);
    }
    canvas_text(canvas, x - 1, y, ALIGN_RIGHT, TEXT_BODY, false, "100");
    canvas_text(canvas, x - 1, y + page->panel_h - 1, ALIGN_RIGHT, TEXT_BODY, false, "0 %");
}

static bool draw_page(struct page *page, struct canvas *canvas, double *values)
{
    struct key_entry entries[LAYERS + 1];
    find_shown(page);
    fill_words(page, values);
    snprintf(page->days.label, sizeof page->days.label, "days since the first submission");
    place(page, canvas, values);
    if (!canvas_open(canvas, page->width, page->height)) return false;
    frame_header(canvas, &page->frame, page->width, true);
    key_draw(canvas, entries, key_entries(page, canvas->cells, entries), page->key_y, page->width,
             true);
    draw_words(page, canvas, values);
    frame_footer(canvas, &page->frame, page->footer_y, page->width, true);
    for (uint32_t l = 0; canvas->cells && l < page->data->layout_count; l++)
        draw_cells(page, canvas, l);
    canvas_flush(canvas);
    for (uint32_t l = 0; !canvas->cells && l < page->data->layout_count; l++)
        draw_panel(page, canvas, l);
    return canvas_close(canvas);
}

bool plot_utilization_draw(struct canvas *canvas, const struct plot_data *data)
{
    if (data->bin_count == 0 || data->layout_count == 0)
        return plot_nothing_draw(canvas, title, "the database holds no curve.");
    struct page *page = calloc(1, sizeof *page);
    double *values = calloc((size_t)data->layout_count * data->replicas, sizeof *values);
    bool drawn = false;
    if (page && values) {
        page->data = data;
        drawn = draw_page(page, canvas, values);
    }
    free(page);
    free(values);
    return drawn;
}
