/* plot_utilization.c - the ledger's accounts over time, stacked to the whole capacity, a panel per
 * layout.
 *
 * The panels have one time axis while that leaves the shortest layout a seventh of it. Of lengths that
 * are further apart each has its own, in its own unit: a logarithmic axis would falsify the areas,
 * which are GPU-hours. Where jobs are played to the end, a share of capacity tells the layout's own
 * length, so that the yields are ranked instead.
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
static const struct measure yield_measure = { .noun = "useful hours per held GPU-hour",
                                              .scale = 1,
                                              .decimals = 3,
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

static const double SHORTEST_ON_ONE_AXIS = 0.15; /* of the longest */

/* Units of time, each for axes from its shortest on. */
static const struct unit {
    double s, shortest_s;
    const char *name;
} units[] = { { 86400, 3 * 86400, "days" },
              { 3600, 3 * 3600, "hours" },
              { 60, 3 * 60, "minutes" },
              { 1, 0, "seconds" } };

struct time_axis {
    struct axis axis; /* in the unit */
    double unit_s;
};

struct page {
    const struct plot_data *data;
    struct frame frame;
    struct estimate useful[LIMIT_LAYOUTS]; /* share of capacity */
    struct ranking ranking;                /* of that, or of the yields */
    struct time_axis times[LIMIT_LAYOUTS];
    struct axis percent;
    bool own_axes; /* of time, below each panel */
    bool shown[LAYERS];
    uint32_t columns, rows;
    double width, height, key_y, grid_y, footer_y;
    double panel_w, panel_h, title_h, below_h, left, between_x, between_y;
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
            for (uint32_t b = 0; b < page->data->layouts[l].bin_count; b++) {
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

/* Sum of the shares before `end` in the window of a replica. */
static double sum_until(const struct plot_layout *layout, uint32_t replica, int end)
{
    double sum = 0;
    for (int s = 0; s < end; s++) sum += layout->capacity[replica][s];
    return sum;
}

/* A part of a whole, both sums of shares before an end, in the window per replica. */
static void window_values(const struct plot_layout *layout, uint32_t replicas, int part, int whole,
                          double *values)
{
    for (uint32_t i = 0; i < replicas; i++) {
        const double total = sum_until(layout, i, whole);
        values[i] = layout->present[i] && total > 0 ? sum_until(layout, i, part) / total : NAN;
    }
}

static void length_text(double length_s, char *out, size_t out_bytes)
{
    static const struct measure measure = { .noun = "", .duration = true };
    const struct estimate length = { length_s, length_s, length_s, 1 };
    estimate_text(out, out_bytes, &length, &measure);
}

/* "40 x 8 GPUs; in 5.3 h: useful 81.5 %; held by jobs 92.5 %" */
static void panel_words(const struct page *page, uint32_t l, char *text, size_t text_bytes,
                        double *values)
{
    static const struct measure held_measure = {
        .noun = "", .scale = 100, .decimals = 1, .share = true
    };
    const struct plot_layout *layout = &page->data->layouts[l];
    const uint32_t replicas = page->data->replicas;
    char useful[64], held[64], length[64], in[96] = "";
    window_values(layout, replicas, SHARE_HELD_END, SHARES, values);
    const struct estimate all = estimate_of(values, replicas, 0.95);
    estimate_text(useful, sizeof useful, &page->useful[l], &useful_measure);
    estimate_text(held, sizeof held, &all, &held_measure);
    if (page->data->to_the_end) {
        length_text(layout->end_s, length, sizeof length);
        snprintf(in, sizeof in, "in %s%s: ", replicas > 1 ? "up to " : "", length);
    }
    snprintf(text, text_bytes, "%u %s %u GPUs; %suseful %s; held by jobs %s", layout->servers,
             (uint64_t)layout->servers * layout->gpus_per_server == layout->gpus ? "x" : "of up to",
             layout->gpus_per_server, in, useful, held);
}

/* Beside the name of a saturated layout. */
static void need_words(const struct plot_layout *layout, char *text, size_t text_bytes)
{
    char need[48];
    text[0] = '\0';
    if (!layout_saturated(layout)) return;
    need_text(need, sizeof need, layout);
    snprintf(text, text_bytes, layout->stuck ? "%s" : "%s: its queue grows with the horizon", need);
}

/* Where they start, from the left edge of the panel. */
static double need_place(const struct canvas *canvas, const struct plot_layout *layout)
{
    return canvas_text_width(canvas, TEXT_BODY, true, layout->name) + (canvas->cells ? 2 : 10);
}

static void fill_time(struct time_axis *time, double end_s)
{
    const struct unit *unit = units;
    while (end_s < unit->shortest_s) unit++;
    time->unit_s = unit->s;
    axis_linear(&time->axis, 0, end_s / unit->s, 10);
    snprintf(time->axis.label, sizeof time->axis.label, "%s since the first submission",
             unit->name);
}

static void fill_axes(struct page *page)
{
    const struct plot_data *data = page->data;
    double shortest = HUGE_VAL, longest = 0;
    for (uint32_t l = 0; l < data->layout_count; l++) {
        longest = fmax(longest, data->layouts[l].end_s);
        if (data->layouts[l].bin_count > 0) shortest = fmin(shortest, data->layouts[l].end_s);
    }
    page->own_axes = shortest < SHORTEST_ON_ONE_AXIS * longest;
    for (uint32_t l = 0; l < data->layout_count; l++)
        fill_time(&page->times[l], page->own_axes && data->layouts[l].bin_count > 0
                                       ? data->layouts[l].end_s
                                       : longest);
    axis_linear(&page->percent, 0, 100, 5);
}

/* What is blank behind the end of a layout. */
static bool some_end_early(const struct page *page)
{
    bool some = false;
    for (uint32_t l = 0; l < page->data->layout_count; l++)
        some |= page->data->layouts[l].end_s / page->times[l].unit_s < page->times[l].axis.max;
    return some;
}

/* What percentages are of, and how far apart the lengths are where the axes do not show it. */
static void ends_note(struct page *page)
{
    const struct plot_data *data = page->data;
    const struct plot_layout *shortest = NULL, *longest = data->layouts;
    char from[64], to[64];
    for (uint32_t l = 0; l < data->layout_count; l++) {
        const struct plot_layout *layout = &data->layouts[l];
        if (layout->end_s > longest->end_s) longest = layout;
        if (layout->bin_count > 0 && (!shortest || layout->end_s < shortest->end_s))
            shortest = layout;
    }
    frame_note(&page->frame,
               "Each layout plays all jobs to its own end: percentages are of its own "
               "time, and not ranked");
    if (!page->own_axes || !shortest) return;
    length_text(shortest->end_s, from, sizeof from);
    length_text(longest->end_s, to, sizeof to);
    frame_note(&page->frame, "Time axes differ: from %s on %s to %s on %s", from, shortest->name,
               to, longest->name);
}

static void fill_words(struct page *page, double *values)
{
    const struct plot_data *data = page->data;
    const uint32_t replicas = data->replicas;
    snprintf(page->frame.title, sizeof page->frame.title, "%s", title);
    for (uint32_t l = 0; l < data->layout_count; l++) {
        double *of_layout = values + (size_t)l * replicas;
        window_values(&data->layouts[l], replicas, SHARE_COMPUTE + 1, SHARES, of_layout);
        page->useful[l] = estimate_of(of_layout, replicas, 0.95);
        if (data->to_the_end)
            window_values(&data->layouts[l], replicas, SHARE_COMPUTE + 1, SHARE_HELD_END,
                          of_layout);
    }
    ranking_make(&page->ranking, data, values, true);
    finding_notes(&page->frame, data, &page->ranking,
                  data->to_the_end ? &yield_measure : &useful_measure);
    if (data->to_the_end && data->layout_count > 1) ends_note(page);
    char extra[160] = "";
    if (data->window_start_s > 0)
        snprintf(extra, sizeof extra, "Pale: warm-up of %.1f days, not counted.",
                 data->window_start_s / 86400);
    else if (some_end_early(page))
        snprintf(extra, sizeof extra, "Blank: all jobs have ended.");
    footer_make(&page->frame, data, extra);
}

enum { AXIS_GAP = 5 }; /* so that the first tick's text does not touch that of the other axis */

static double row_height(const struct page *page)
{
    return page->title_h + page->panel_h + page->below_h + page->between_y;
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
    const double axis_h =
        axis_below(canvas, &page->times[0].axis, 0, 1, cells ? 0 : AXIS_GAP, false);
    page->below_h = page->own_axes ? axis_h : 0;
    page->footer_y = page->grid_y + page->rows * row_height(page) - page->between_y +
                     (page->own_axes ? 0 : axis_h);
    page->height = frame_footer(canvas, &page->frame, page->footer_y, page->width, false);
}

/* Upper left corner of a panel's axes. */
static void corner(const struct page *page, uint32_t l, double *x, double *y)
{
    *x = page->left + (l % page->columns) * (page->panel_w + page->between_x);
    *y = page->grid_y + page->title_h + (l / page->columns) * row_height(page);
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
        if (page->own_axes || l + page->columns >= count)
            axis_below(canvas, &page->times[l].axis, x, x + page->panel_w,
                       y + page->panel_h + (cells ? 0 : AXIS_GAP), true);
    }
    if (!cells)
        canvas_vertical_text(canvas, 18, page->grid_y + page->rows * row_height(page) / 2,
                             "% of the layout's GPUs");
}

/* The upper edges of all layers as steps, corner by corner, in the unit of time and percent; down to 0
 * where the layout ends before the axis. */
static bool write_panel(const struct page *page, struct canvas *canvas, uint32_t l, char name[16])
{
    const struct plot_layout *layout = &page->data->layouts[l];
    const double unit_s = page->times[l].unit_s;
    FILE *file = canvas_data(canvas, name);
    if (!file) return false;
    for (uint32_t corner_row = 0; corner_row < 2 * layout->bin_count; corner_row++) {
        const uint32_t bin = corner_row / 2;
        const double at_s = corner_row % 2 ? layout_bin_end_s(layout, bin) : bin * layout->bin_s;
        fprintf(file, "%.7g", at_s / unit_s);
        for (int i = 0; i < LAYERS; i++) fprintf(file, " %.4f", edge(layout, bin, i));
        putc('\n', file);
    }
    if (layout->end_s / unit_s < page->times[l].axis.max) {
        fprintf(file, "%.7g", layout->end_s / unit_s);
        for (int i = 0; i < LAYERS; i++) fputs(" 0", file);
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
            page->times[l].axis.max);
    for (int letter = 'x'; letter <= 'y'; letter++) {
        const struct axis *axis = letter == 'x' ? &page->times[l].axis : &page->percent;
        fprintf(canvas->script, "set %ctics scale 0.5 out nomirror (", letter);
        for (uint32_t i = 0; i < axis->tick_count; i++)
            fprintf(canvas->script, "%s'' %.9g", i ? ", " : "", axis->ticks[i].at);
        fprintf(canvas->script, ")\n");
    }
    if (page->data->window_start_s > 0) {
        const double start = page->data->window_start_s / page->times[l].unit_s;
        fprintf(canvas->script,
                "set object 1 rectangle from first 0, graph 0 to first %.9g, graph 1"
                " front fillcolor rgb '#ffffff' fillstyle transparent solid 0.6 noborder\n"
                "set arrow 1 from first %.9g, graph 0 to first %.9g, graph 1 nohead front"
                " linecolor rgb '#000000' dashtype 2\n",
                start, start, start);
    }
    plot_layers(page, canvas, name);
    fprintf(canvas->script, "unset object\nunset arrow\n");
}

/* What a cell of a terminal shows: the layer at its middle. */
static char glyph_at(const struct plot_layout *layout, double at_s, double percent)
{
    const uint32_t bin = layout->bin_count > 0 ? (uint32_t)(at_s / layout->bin_s) : 0;
    if (bin >= layout->bin_count || at_s >= layout->end_s) return ' ';
    int layer = 0;
    while (layer < LAYERS - 1 && edge(layout, bin, layer) < percent) layer++;
    return share_styles[layers[layer].first].fill.glyph;
}

static void draw_cells(const struct page *page, struct canvas *canvas, uint32_t l)
{
    const uint32_t columns = page->panel_w > 250 ? 250 : (uint32_t)page->panel_w;
    const double length_s = page->times[l].axis.max * page->times[l].unit_s;
    double x, y;
    corner(page, l, &x, &y);
    for (uint32_t row = 0; row < (uint32_t)page->panel_h; row++) {
        char run[256];
        const double percent = 100 - (row + 0.5) * 100 / page->panel_h;
        for (uint32_t c = 0; c < columns; c++)
            run[c] = glyph_at(&page->data->layouts[l], (c + 0.5) / columns * length_s, percent);
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
    fill_axes(page);
    fill_words(page, values);
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
    uint32_t bins = 0;
    for (uint32_t l = 0; l < data->layout_count; l++) bins += data->layouts[l].bin_count;
    if (bins == 0) return plot_nothing_draw(canvas, title, "the database holds no curve.");
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
