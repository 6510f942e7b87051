/* plot_style.c - fills of the accounts, and the picture that has nothing to show.
 *
 * In the order in which they are stacked, neighbours differ in lightness (L* of CIELAB, in the
 * comments) by 15 or more, or in hatching, so that the pictures survive grey print. Useful work is
 * the one plain dark area; losses are hatched; free capacity is light. */
#include "report/plot_frame.h"
#include "report/plot_kinds.h"
#include "report/plot_words.h"

const struct share_style share_styles[SHARES] = {
    [SHARE_COMPUTE] = { "useful work", { "#2f6690", 0, NULL, '#' } },                      /* 41 */
    [SHARE_INTRA] = { "stall inside the server", { "#f4d35e", 0, NULL, 'i' } },            /* 85 */
    [SHARE_INTER] = { "stall on the network", { "#e07a3f", 5, "#5a2500", 'n' } },          /* 63 */
    [SHARE_CONTENTION] = { "stall by other jobs", { "#a8402c", 4, "#ffd9c9", 'N' } },      /* 41 */
    [SHARE_DATA] = { "stall on the storage", { "#8fd3d1", 1, "#1f6f6d", 'd' } },           /* 80 */
    [SHARE_BUBBLE] = { "pipeline bubble", { "#b98b5e", 0, NULL, 'b' } },                   /* 61 */
    [SHARE_OVERHEAD] = { "virtual machines", { "#f2c6d8", 0, NULL, 'v' } },                /* 84 */
    [SHARE_CHECKPOINT] = { "checkpoint", { "#c4e8cc", 7, "#3f7a55", 'c' } },               /* 85 */
    [SHARE_STARTUP] = { "start-up", { "#5f9e75", 4, "#f4fff6", 's' } },                    /* 60 */
    [SHARE_LOST] = { "lost work", { "#111111", 0, NULL, 'X' } },                           /*  5 */
    [SHARE_UNUSED] = { "held, not used", { "#c9a7d8", 1, "#5b3a70", 'u' } },               /* 72 */
    [SHARE_OTHER] = { "other waits in the job", { "#8d8d8d", 2, "#3a3a3a", 'o' } },        /* 58 */
    [SHARE_NO_DEMAND] = { "free: no demand", { "#f3f3f3", 0, NULL, '.' } },                /* 96 */
    [SHARE_SHORT] = { "free: too few left", { "#b9cfe4", 0, NULL, '-' } },                 /* 82 */
    [SHARE_FRAGMENTED] = { "free: fragmented", { "#e58aa5", 6, "#6e0f2e", 'f' } },         /* 68 */
    [SHARE_STARVED] = { "free: no CPU or memory left", { "#a9a35a", 2, "#33300a", 'r' } }, /* 66 */
    [SHARE_WITHHELD] = { "free: kept by policy", { "#e0d2ba", 5, "#8a7350", 'w' } },       /* 82 */
    [SHARE_GONE] = { "down or draining", { "#5c5c5c", 4, "#e8e8e8", 'D' } },               /* 39 */
};

/* Words alone. */
static bool frame_draw(struct canvas *canvas, const struct frame *frame)
{
    const double width = canvas->cells ? canvas->width : 860;
    const double height = frame_header(canvas, frame, width, false);
    if (!canvas_open(canvas, width, canvas->cells ? height : height + 120)) return false;
    frame_header(canvas, frame, width, true);
    canvas_flush(canvas);
    return canvas_close(canvas);
}

bool plot_nothing_draw(struct canvas *canvas, const char *title, const char *reason)
{
    struct frame frame = { .note_count = 0 };
    snprintf(frame.title, sizeof frame.title, "%s", title);
    frame_note(&frame, "Nothing to plot: %s", reason);
    return frame_draw(canvas, &frame);
}

bool plot_saturated_draw(struct canvas *canvas, const char *title, const struct plot_data *data,
                         const char *reason)
{
    struct frame frame = { .note_count = 0 };
    snprintf(frame.title, sizeof frame.title, "%s", title);
    frame_note(&frame, "Nothing to plot: the jobs ask for more GPUs than there are.");
    saturated_note(&frame, data, reason);
    return frame_draw(canvas, &frame);
}
