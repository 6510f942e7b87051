/* plot_topology.c - see plot_topology.h.
 *
 *     cores      [0] [1] [2] ...             or, of a dragonfly, one bar for the cables between groups
 *     spines    +[0]--[1]-+  +[32]-[33]-+
 *     leaves    |[0]  [1] |  |[32] [33] |    a frame for each pod or group
 *     servers   + 0-3  4-7+  + ...      +
 */
#include "report/plot_topology.h"

#include "base/text.h"
#include "report/plot.h"
#include "report/plot_frame.h"

#include <inttypes.h>
#include <string.h>

enum {
    PODS_SHOWN = 3,
    LEAVES_SHOWN = 16,
    LEAVES_OF_PODS = 12,
    SPINES_SHOWN = 8,
    SPINES_OF_RAILS = 16,
    CORES_SHOWN = 8,
    WIDTH = 1080
};

static const double LABELS_PX = 76, BOX_PX = 22, ROW_PX = 76, POD_GAP_PX = 18;

static const struct fill core_fill = { "#6fa8d6", 0, NULL, 'C' };
static const struct fill spine_fill = { "#b9cfe4", 0, NULL, 'S' };
static const struct fill leaf_fill = { "#c4e8cc", 0, NULL, 'L' };
static const struct fill server_fill = { "#f4d35e", 0, NULL, 's' };
static const struct fill frame_fill = { "#f6f6f6", 0, NULL, ' ' };
static const struct line_style trunk_line = { "#9a9a9a", "1", 0 };
static const struct line_style cable_line = { "#5c5c5c", "1", 0 };

/* A row of boxes of which the first ones and the last one are shown; of leaves with rails, whole units of `step` boxes. */
struct tier {
    uint32_t first, count, shown; /* numbers first .. first + count - 1              */
    uint32_t step;
    double x0, x1, y; /* y: of their upper edge                          */
};

static double box_x(const struct tier *tier, uint32_t i)
{
    return tier->x0 + (tier->x1 - tier->x0) * (i + 0.5) / tier->shown;
}

static double box_half(const struct tier *tier)
{
    const double half = 0.45 * (tier->x1 - tier->x0) / tier->shown;
    return half < 34 ? half : 34;
}

/* The number, from 0, that the i-th box stands for. */
static uint32_t box_number(const struct tier *tier, uint32_t i)
{
    const uint32_t part = i / tier->step, parts = tier->shown / tier->step;
    const bool last = parts > 1 && part + 1 == parts;
    return (last ? tier->count / tier->step - 1 : part) * tier->step + i % tier->step;
}

static void draw_tier(struct canvas *canvas, const struct tier *tier, const struct fill *fill)
{
    for (uint32_t i = 0; i < tier->shown; i++) {
        const double x = box_x(tier, i), half = box_half(tier);
        const uint32_t number = box_number(tier, i);
        const bool skips = number > i && i % tier->step == 0;
        char text[16];
        snprintf(text, sizeof text, "%s%" PRIu32, skips ? "..." : "", tier->first + number);
        canvas_box(canvas, x - half, tier->y, x + half, tier->y + BOX_PX, fill);
        canvas_text(canvas, x, tier->y + BOX_PX / 2, ALIGN_CENTER, TEXT_SMALL, false, text);
    }
}

/* rails above 1: nothing joins two of them; the spines of a rail stand side by side, its leaves one in each unit. */
static void join_tiers(struct canvas *canvas, const struct tier *upper, const struct tier *lower,
                       uint32_t rails)
{
    const uint32_t each = rails > 1 ? upper->count / rails : 1;
    for (uint32_t a = 0; a < upper->shown; a++)
        for (uint32_t b = 0; b < lower->shown; b++)
            if (rails == 1 || box_number(upper, a) / each == box_number(lower, b) % rails)
                canvas_edge(canvas, box_x(upper, a), upper->y + BOX_PX, box_x(lower, b), lower->y,
                            &trunk_line);
}

static uint32_t at_most(uint32_t count, uint32_t most)
{
    return count < most ? count : most;
}

/* ---- one panel ---- */

struct panel {
    struct canvas *canvas;
    const struct topology_panel *what;
    const struct fabric_shape *shape;
    double y_top, y_spines, y_leaves, y_servers;
    bool has_top, has_spines;
};

/* Leaves of one pod that are shown: with rails those of whole units, one at least. */
static uint32_t leaves_shown(const struct tier *leaves, uint32_t pods)
{
    const uint32_t most = pods > 1 ? LEAVES_OF_PODS / pods : LEAVES_SHOWN;
    const uint32_t units = most / leaves->step;
    return at_most(leaves->count, (units ? units : 1) * leaves->step);
}

/* A box of servers below each shown leaf, or below the leaves of a unit. */
static void draw_servers(struct panel *panel, const struct tier *leaves)
{
    const struct fabric_shape *shape = panel->shape;
    const double y = panel->y_servers;
    for (uint32_t i = 0; i < leaves->shown; i += leaves->step) {
        const uint32_t unit = (leaves->first + box_number(leaves, i)) / shape->rails;
        const uint32_t first = unit * shape->servers_per_leaf;
        uint32_t last = first + shape->servers_per_leaf - 1;
        if (last >= shape->servers) last = shape->servers - 1;
        const double x0 = box_x(leaves, i) - box_half(leaves);
        const double x1 = box_x(leaves, i + leaves->step - 1) + box_half(leaves);
        char text[32];
        snprintf(text, sizeof text, first == last ? "%" PRIu32 : "%" PRIu32 "-%" PRIu32, first,
                 last);
        if (canvas_text_width(panel->canvas, TEXT_SMALL, false, text) > x1 - x0)
            snprintf(text, sizeof text, "%" PRIu32 "...", first);
        for (uint32_t leaf = i; leaf < i + leaves->step; leaf++)
            canvas_edge(panel->canvas, box_x(leaves, leaf), leaves->y + BOX_PX, box_x(leaves, leaf),
                        y, &cable_line);
        canvas_box(panel->canvas, x0, y, x1, y + BOX_PX, &server_fill);
        canvas_text(panel->canvas, (x0 + x1) / 2, y + BOX_PX / 2, ALIGN_CENTER, TEXT_SMALL, false,
                    text);
    }
}

/* The cables of spines to the cores, or up to the bar of a dragonfly. */
static void join_top(struct panel *panel, const struct tier *cores, const struct tier *spines)
{
    if (panel->shape->cores > 0) {
        join_tiers(panel->canvas, cores, spines, 1);
        return;
    }
    for (uint32_t i = 0; i < spines->shown; i++)
        canvas_edge(panel->canvas, box_x(spines, i), cores->y + BOX_PX, box_x(spines, i), spines->y,
                    &trunk_line);
}

static void draw_frame(struct panel *panel, uint32_t pod, bool skips, double x0, double x1)
{
    char text[48];
    const double bottom = panel->y_servers + BOX_PX + 24;
    snprintf(text, sizeof text, "%s%s %" PRIu32, skips ? "... " : "",
             panel->shape->kind == FABRIC_DRAGONFLY ? "group" : "pod", pod);
    canvas_box(panel->canvas, x0, panel->y_spines - 10, x1, bottom, &frame_fill);
    canvas_text(panel->canvas, (x0 + x1) / 2, bottom - 11, ALIGN_CENTER, TEXT_SMALL, false, text);
}

static void draw_pod(struct panel *panel, uint32_t pod, uint32_t pods, double x0, double x1,
                     const struct tier *cores)
{
    const struct fabric_shape *shape = panel->shape;
    const uint32_t per_pod = shape->units_per_pod * shape->rails, first = pod * per_pod;
    const uint32_t spines_each = (shape->spines + shape->pods - 1) / shape->pods;
    const uint32_t spine_first = pod * spines_each;
    struct tier leaves = {
        first, at_most(per_pod, shape->leaves - first), 0, shape->rails, x0, x1, panel->y_leaves
    };
    struct tier spines = { spine_first, 0, 0, 1, x0, x1, panel->y_spines };
    leaves.shown = leaves_shown(&leaves, pods);
    if (spine_first < shape->spines)
        spines.count = at_most(spines_each, shape->spines - spine_first);
    spines.shown = at_most(spines.count, SPINES_SHOWN / pods);
    if (shape->kind == FABRIC_RAIL_ONLY && spines.count > 0)
        spines.shown = at_most(spines.count, SPINES_OF_RAILS);
    join_tiers(panel->canvas, &spines, &leaves,
               shape->kind == FABRIC_RAIL_ONLY && spines.count > 0 ? shape->rails : 1);
    if (panel->has_top) join_top(panel, cores, &spines);
    draw_servers(panel, &leaves);
    draw_tier(panel->canvas, &leaves, &leaf_fill);
    draw_tier(panel->canvas, &spines, &spine_fill);
}

/* The first pods and the last one. */
static void draw_pods(struct panel *panel, const struct tier *cores, double x0, double x1)
{
    const uint32_t pods = at_most(panel->shape->pods, PODS_SHOWN);
    const double wide = (x1 - x0 + POD_GAP_PX) / pods;
    for (uint32_t i = 0; i < pods; i++) {
        const uint32_t pod = i + 1 == pods ? panel->shape->pods - 1 : i;
        const double left = x0 + i * wide, right = left + wide - POD_GAP_PX;
        if (pods > 1) draw_frame(panel, pod, pod > i, left, right);
        draw_pod(panel, pod, pods, left, right, cores);
    }
}

static void counts_text(const struct fabric_shape *shape, char *out, size_t bytes)
{
    size_t used =
        (size_t)snprintf(out, bytes, "%" PRIu64 " switch%s of %" PRIu32 " ports: %" PRIu32 " lea%s",
                         shape->switches, shape->switches == 1 ? "" : "es", shape->radix,
                         shape->leaves, shape->leaves == 1 ? "f" : "ves");
    if (shape->spines)
        used += (size_t)snprintf(out + used, bytes - used, ", %" PRIu32 " spines", shape->spines);
    if (shape->cores)
        used += (size_t)snprintf(out + used, bytes - used, ", %" PRIu32 " cores", shape->cores);
    if (shape->pods > 1)
        used += (size_t)snprintf(out + used, bytes - used, ", %" PRIu32 " %s", shape->pods,
                                 shape->kind == FABRIC_DRAGONFLY ? "groups" : "pods");
    if (shape->rails > 1)
        used += (size_t)snprintf(out + used, bytes - used, ", %" PRIu32 " rails", shape->rails);
    snprintf(out + used, bytes - used,
             "; %" PRIu64 " NIC ports, %" PRIu64 " trunks; oversubscription %.3g",
             (uint64_t)shape->servers * shape->nics_per_server, shape->trunks,
             shape->oversubscription);
}

static void tier_label(struct panel *panel, double y, const char *text)
{
    canvas_text(panel->canvas, frame_margin(panel->canvas), y + BOX_PX / 2, ALIGN_LEFT, TEXT_BODY,
                false, text);
}

/* Names each tier at the left; the cables between groups of a dragonfly are a bar on top. */
static void draw_labels(struct panel *panel, struct tier *cores)
{
    const struct fabric_shape *shape = panel->shape;
    if (panel->has_top && shape->cores == 0) {
        char text[96];
        snprintf(text, sizeof text, "%" PRIu32 " cable%s between each two groups",
                 shape->global_links, shape->global_links == 1 ? "" : "s");
        canvas_box(panel->canvas, cores->x0, cores->y, cores->x1, cores->y + BOX_PX, &frame_fill);
        canvas_text(panel->canvas, (cores->x0 + cores->x1) / 2, cores->y + BOX_PX / 2, ALIGN_CENTER,
                    TEXT_BODY, false, text);
        tier_label(panel, cores->y, "global");
    } else if (panel->has_top) {
        cores->shown = at_most(shape->cores, CORES_SHOWN);
        tier_label(panel, cores->y, "cores");
    }
    if (panel->has_spines) tier_label(panel, panel->y_spines, "spines");
    tier_label(panel, panel->y_leaves, "leaves");
    tier_label(panel, panel->y_servers, "servers");
}

/* Height of a panel, and where its rows are; y: of its upper edge. */
static double place_rows(struct panel *panel, double y)
{
    const struct fabric_shape *shape = panel->shape;
    panel->has_spines = shape->spines > 0;
    panel->has_top = shape->cores > 0 || (shape->pods > 1 && shape->global_links > 0);
    y += 2 * canvas_line_height(panel->canvas, TEXT_LEAD) + 10;
    panel->y_top = y;
    panel->y_spines = panel->y_top + (panel->has_top ? ROW_PX : 0);
    panel->y_leaves = panel->y_spines + (panel->has_spines ? ROW_PX : 0);
    panel->y_servers = panel->y_leaves + ROW_PX * 0.7;
    return panel->y_servers + BOX_PX + (shape->pods > 1 ? 42 : 26);
}

static double draw_panel(struct canvas *canvas, const struct topology_panel *what, double y,
                         bool draw)
{
    struct panel panel = { .canvas = canvas, .what = what, .shape = what->shape };
    const double bottom = place_rows(&panel, y);
    if (!draw) return bottom;
    const double x0 = frame_margin(canvas) + LABELS_PX, x1 = canvas->width - frame_margin(canvas);
    const double line = canvas_line_height(canvas, TEXT_LEAD);
    struct tier cores = { 0, panel.shape->cores, 0, 1, x0, x1, panel.y_top };
    char text[512], name[128], link[128];
    canvas_clean(what->name, strlen(what->name), name, sizeof name);
    canvas_clean(what->link, strlen(what->link), link, sizeof link);
    snprintf(text, sizeof text,
             "%s: %" PRIu32 " servers of %" PRIu32 " GPUs and %" PRIu32 " NIC%s, %s of %s", name,
             panel.shape->servers, what->gpus_per_server, panel.shape->nics_per_server,
             panel.shape->nics_per_server == 1 ? "" : "s", fabric_kind_names[panel.shape->kind],
             link);
    canvas_text(canvas, frame_margin(canvas), y + line / 2, ALIGN_LEFT, TEXT_LEAD, true, text);
    counts_text(panel.shape, text, sizeof text);
    canvas_text(canvas, frame_margin(canvas), y + 1.5 * line, ALIGN_LEFT, TEXT_BODY, false, text);
    draw_labels(&panel, &cores);
    draw_pods(&panel, &cores, x0, x1);
    if (panel.shape->cores > 0) draw_tier(canvas, &cores, &core_fill);
    return bottom;
}

static bool draw_picture(struct canvas *canvas, const void *what)
{
    const struct topology_picture *picture = what;
    struct frame frame = { .title = "How do switches join the servers?" };
    char title[128];
    canvas_clean(picture->title, strlen(picture->title), title, sizeof title);
    snprintf(
        frame.footer, sizeof frame.footer,
        "%s. Of many switches the first and the last are drawn; a line is one or several cables.",
        title);
    double y = frame_header(canvas, &frame, WIDTH, false);
    for (uint32_t i = 0; i < picture->panel_count; i++)
        y = draw_panel(canvas, &picture->panels[i], y, false);
    if (!canvas_open(canvas, WIDTH, frame_footer(canvas, &frame, y, WIDTH, false))) return false;
    y = frame_header(canvas, &frame, WIDTH, true);
    for (uint32_t i = 0; i < picture->panel_count; i++)
        y = draw_panel(canvas, &picture->panels[i], y, true);
    frame_footer(canvas, &frame, y, WIDTH, true);
    canvas_flush(canvas);
    return canvas_close(canvas);
}

enum status plot_topology_write(const struct topology_picture *picture, const char *path,
                                struct diag *diag)
{
    const char *dot = strrchr(path, '.');
    for (int format = 0; dot && format < PLOT_TERM; format++)
        if (strcmp(dot + 1, plot_format_names[format]) == 0)
            return plot_file(draw_picture, picture, (enum plot_format)format, path, diag);
    char safe[LIMIT_PATH_BYTES];
    return diag_usage(diag, "'%s': a picture ends in .svg, .png or .pdf",
                      text_escape(path, strlen(path), safe, sizeof safe));
}
