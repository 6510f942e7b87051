/* plot_tornado.c - which assumption moves the verdict: for each layout, how far each moved assumption
 * takes its difference in yield to the baseline, the longest bar first. */
#include "report/plot_kinds.h"
#include "report/plot_moves.h"
#include "report/plot_rows.h"
#include "report/plot_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char question[] = "Which assumption moves the verdict?";

/* From left to right: the pieces below and above the scenario as written, each looking like what the
 * moves on its side do. */
enum {
    SEGMENT_SPACE,
    SEGMENT_BELOW,
    SEGMENT_ABOVE = SEGMENT_BELOW + 3,
    SEGMENTS = SEGMENT_ABOVE + 3
};
enum look { LOOK_HOLDS, LOOK_TURNS, LOOK_UNTOLD };

static const struct {
    struct fill fill;
    const char *name;
} looks[] = {
    [LOOK_HOLDS] = { { "#b9cfe4", 0, NULL, '=' }, "moved, the verdict holds" },
    [LOOK_TURNS] = { { "#e07a3f", 5, "#5a2500", 'X' }, "moved, the verdict turns" },
    [LOOK_UNTOLD] = { { "#f3f3f3", 4, "#8d8d8d", '-' }, "moved, cannot be told" },
};

static const struct {
    const char *axis, *row, *words, *label; /* label NULL: "x 0.5"  */
} axes[] = {
    { "communication", "communication", "communication", NULL },
    { "failures", "failure rates", "failure rates", NULL },
    { "server_growth", "server failures with GPUs", "how a server's failures grow with its GPUs",
      "in step" },
    { "nics", "NICs per server", "the number of NICs", NULL },
    { "load", "job lengths", "the length of jobs", NULL },
};
enum { AXIS_WORDS = sizeof axes / sizeof *axes };

/* Left of its bar, or inside a sentence. */
static const char *axis_words(const char *axis, bool sentence)
{
    for (int i = 0; i < AXIS_WORDS; i++)
        if (strcmp(axes[i].axis, axis) == 0) return sentence ? axes[i].words : axes[i].row;
    return axis; /* of a newer version */
}

static void move_label(const struct plot_setting *setting, char *out, size_t out_bytes)
{
    for (int i = 0; i < AXIS_WORDS; i++)
        if (strcmp(axes[i].axis, setting->axis) == 0 && axes[i].label) {
            snprintf(out, out_bytes, "%s", axes[i].label);
            return;
        }
    snprintf(out, out_bytes, "x %.2g", setting->factor);
}

/* ---- rows ---- */

/* Small differences, and an interval that ends near 0, need a digit more. */
static struct measure measure_of(const struct plot_moved *layout)
{
    bool small = fabs(layout->as_written.mean) < 0.0995;
    for (uint32_t b = 0; b < ASSUMPTIONS_MAX; b++)
        for (uint32_t m = 0; m < BAR_MOVES; m++) {
            const struct plot_bar *bar = &layout->bars[b];
            if (bar->fate[m] == FATE_NOT_RUN) continue;
            small = small || fmin(fabs(bar->moved[m].lo), fabs(bar->moved[m].hi)) < 0.0005;
        }
    return (struct measure){ .noun = "", .scale = 1, .decimals = small ? 4 : 3 };
}

static void fill_value(struct row *row, const struct plot_data *data,
                       const struct plot_moves *moves, const struct plot_moved *layout,
                       const struct plot_bar *bar)
{
    static const char *const words[FATES] = { [FATE_TOLD] = " told",
                                              [FATE_UNKNOWN] = " unknown",
                                              [FATE_UNTOLD] = " TURNS: not told",
                                              [FATE_AHEAD] = " TURNS: ahead" };
    const struct assumption *assumption = &moves->assumptions[bar->assumption];
    const struct measure measure = measure_of(layout);
    size_t used = 0;
    for (uint32_t m = 0; m < assumption->move_count; m++) {
        char label[24], text[64];
        const enum fate fate = bar->fate[m];
        if (fate == FATE_NOT_RUN) continue;
        move_label(&data->settings[assumption->settings[m]], label, sizeof label);
        estimate_text(text, sizeof text, &bar->moved[m], &measure);
        const int bytes =
            snprintf(row->value + used, sizeof row->value - used, "%s%s: %s%s",
                     used > 0 ? "; " : "", label, text, words[fate] ? words[fate] : "");
        if (bytes < 0 || (size_t)bytes >= sizeof row->value - used) return;
        used += (size_t)bytes;
        row->bold = row->bold || fate_turns(fate);
    }
}

/* Which move is at which end of the bar; nothing beside a bar that is too short to be seen. */
static void fill_ends(struct row *row, const struct axis *axis, const struct plot_data *data,
                      const struct assumption *assumption, const struct plot_moved *layout,
                      const struct plot_bar *bar)
{
    if (bar->hi - bar->lo < 0.004 * (axis->max - axis->min)) return;
    row->end[0].at = bar->lo;
    row->end[1].at = bar->hi;
    for (uint32_t m = 0; m < assumption->move_count; m++) {
        const double at = bar->moved[m].mean;
        if (bar->fate[m] == FATE_NOT_RUN || at == layout->as_written.mean) continue;
        struct row_end *end = &row->end[at > layout->as_written.mean];
        const size_t used = strlen(end->text);
        char label[24];
        move_label(&data->settings[assumption->settings[m]], label, sizeof label);
        snprintf(end->text + used, sizeof end->text - used, "%s%s", used ? ", " : "", label);
    }
}

/* What the moves below or above the scenario as written do, at worst. */
static enum look look_of(const struct plot_moved *layout, const struct plot_bar *bar, bool above)
{
    enum look look = layout->told ? LOOK_HOLDS : LOOK_UNTOLD;
    for (uint32_t m = 0; m < BAR_MOVES; m++) {
        if (bar->fate[m] == FATE_NOT_RUN) continue;
        if ((bar->moved[m].mean > layout->as_written.mean) != above) continue;
        if (fate_turns(bar->fate[m])) return LOOK_TURNS;
        if (bar->fate[m] == FATE_UNKNOWN) look = LOOK_UNTOLD;
    }
    return look;
}

static void fill_segments(struct row *row, const struct axis *axis, const struct plot_moved *layout,
                          const struct plot_bar *bar)
{
    const double written = layout->as_written.mean;
    row->segment[SEGMENT_SPACE] = bar->lo - axis->min;
    row->segment[SEGMENT_BELOW + look_of(layout, bar, false)] = written - bar->lo;
    row->segment[SEGMENT_ABOVE + look_of(layout, bar, true)] = bar->hi - written;
}

static void fill_group(struct row_chart *chart, const struct plot_data *data,
                       const struct plot_moves *moves, const struct plot_moved *layout)
{
    struct row_group *group = &chart->groups[chart->group_count++];
    const struct measure measure = measure_of(layout);
    char text[64];
    estimate_text(text, sizeof text, &layout->as_written, &measure);
    snprintf(group->heading, sizeof group->heading, "%s minus %s: %s as written%s",
             data->layouts[layout->layout].name, data->layouts[moves->reference].name, text,
             layout->told                   ? ""
             : data->exact                  ? ", the same"
             : layout->as_written.count > 1 ? ", cannot be told apart"
                                            : ", one replica: cannot be told");
    for (uint32_t b = 0; b < moves->assumption_count; b++) {
        const struct plot_bar *bar = &layout->bars[b];
        if (!bar->known) continue;
        struct row *row = &group->rows[group->row_count++];
        row->name = axis_words(moves->assumptions[bar->assumption].axis, false);
        row->mark[0] = (struct row_mark){ .present = layout->as_written.count > 0,
                                          .at = layout->as_written.mean };
        fill_value(row, data, moves, layout, bar);
        fill_ends(row, &chart->axis, data, &moves->assumptions[bar->assumption], layout, bar);
        fill_segments(row, &chart->axis, layout, bar);
    }
}

/* From the least to the greatest difference, and 0. */
static void fill_axis(struct axis *axis, const struct plot_moves *moves)
{
    double least = 0, most = 0;
    for (uint32_t i = 0; i < moves->layout_count; i++)
        for (uint32_t b = 0; b < moves->assumption_count; b++) {
            const struct plot_bar *bar = &moves->layouts[i].bars[b];
            if (!bar->known) continue;
            least = fmin(least, bar->lo);
            most = fmax(most, bar->hi);
        }
    const double room = most > least ? 0.03 * (most - least) : 0.01;
    axis_linear(axis, least - room, most + room, 8);
    snprintf(axis->label, sizeof axis->label,
             "difference in useful hours per held GPU-hour (below 0 the layout yields less)");
}

/* ---- words ---- */

/* Settings; each counts once, as the worst that it does to any layout. */
struct counts {
    uint32_t run, known, turning;
};

static struct counts count_moves(const struct plot_moves *moves)
{
    struct counts counts = { 0 };
    for (uint32_t row = 0; row < moves->assumption_count; row++)
        for (uint32_t m = 0; m < moves->assumptions[row].move_count; m++) {
            enum fate worst = FATE_NOT_RUN;
            for (uint32_t i = 0; i < moves->layout_count; i++)
                for (uint32_t b = 0; b < moves->assumption_count; b++) {
                    const struct plot_bar *bar = &moves->layouts[i].bars[b];
                    if (bar->assumption == row && bar->fate[m] > worst) worst = bar->fate[m];
                }
            counts.run += worst > FATE_NOT_RUN;
            counts.known += worst > FATE_NOT_RUN && worst != FATE_UNKNOWN;
            counts.turning += fate_turns(worst);
        }
    return counts;
}

/* "The verdict on yield rests most on communication; 1 of 7 moves turns it, 1 is not known" */
static void verdict_words(char *out, size_t out_bytes, const char *words,
                          const struct counts *counts)
{
    char turning[24] = "none", unknown[40] = "";
    const uint32_t rest = counts->run - counts->known;
    if (counts->turning > 0) snprintf(turning, sizeof turning, "%u", counts->turning);
    if (rest > 0)
        snprintf(unknown, sizeof unknown, ", %u %s not known", rest, rest == 1 ? "is" : "are");
    snprintf(out, out_bytes, "The verdict on yield rests most on %s; %s of %u moves turn%s it%s",
             words, turning, counts->known, counts->turning > 1 ? "" : "s", unknown);
}

/* The most that the main assumption moves the difference on the layout where it counts. */
static double main_length(const struct plot_moves *moves)
{
    const struct plot_bar *bar = moves->layouts[moves->shown].bars;
    while (bar->assumption != moves->main) bar++;
    return bar->known ? bar->hi - bar->lo : 0;
}

static const double LEAST_LENGTH = 0.0005; /* not a digit of what is printed */

static void title_words(char *out, size_t out_bytes, const struct plot_moves *moves,
                        const struct counts *counts)
{
    const char *words = axis_words(moves->assumptions[moves->main].axis, true);
    if (!moves->any_told)
        snprintf(out, out_bytes,
                 "As written no layout can be told from the best; what moves it most: %s", words);
    else if (counts->turning == 0 && counts->known == counts->run &&
             main_length(moves) < LEAST_LENGTH)
        snprintf(out, out_bytes, "The verdict on yield does not rest on what was moved");
    else if (counts->known == 0)
        snprintf(out, out_bytes,
                 "The verdict on yield moves most with %s; too few replicas to tell more", words);
    else
        verdict_words(out, out_bytes, words, counts);
}

/* The main assumption on the layout where it counts, in words. */
static void main_note(struct frame *frame, const struct plot_data *data,
                      const struct plot_moves *moves)
{
    const struct plot_moved *shown = &moves->layouts[moves->shown];
    const struct plot_bar *bar = shown->bars;
    while (bar->assumption != moves->main) bar++;
    const struct assumption *assumption = &moves->assumptions[moves->main];
    const int decimals = measure_of(shown).decimals;
    char list[160] = "";
    for (uint32_t m = 0; m < assumption->move_count; m++) {
        char label[24];
        const size_t used = strlen(list);
        if (bar->fate[m] == FATE_NOT_RUN) continue;
        move_label(&data->settings[assumption->settings[m]], label, sizeof label);
        snprintf(list + used, sizeof list - used, ", %+.*f at %s", decimals, bar->moved[m].mean,
                 label);
    }
    frame_note(frame, "%s minus %s by %s: %+.*f as written%s (useful hours per held GPU-hour)",
               data->layouts[shown->layout].name, data->layouts[moves->reference].name,
               axis_words(assumption->axis, true), decimals, shown->as_written.mean, list);
}

/* "Turned, ahead: sparse4 by communication x 0.5, 0.004 [0.001, 0.007]", for all moves of one fate. */
static void fate_note(struct frame *frame, const struct plot_data *data,
                      const struct plot_moves *moves, enum fate fate, const char *words)
{
    enum { NAMED = 2 }; /* so that names of any length fit a note */
    char list[TEXT_LINE_BYTES] = "";
    uint32_t count = 0;
    for (uint32_t i = 0; i < moves->layout_count; i++)
        for (uint32_t b = 0; b < moves->assumption_count; b++) {
            const struct plot_bar *bar = &moves->layouts[i].bars[b];
            const struct assumption *assumption = &moves->assumptions[bar->assumption];
            const struct measure measure = measure_of(&moves->layouts[i]);
            for (uint32_t m = 0; m < assumption->move_count; m++) {
                char label[24], text[64];
                const size_t used = strlen(list);
                if (bar->fate[m] != fate || ++count > NAMED) continue;
                move_label(&data->settings[assumption->settings[m]], label, sizeof label);
                estimate_text(text, sizeof text, &bar->moved[m], &measure);
                snprintf(list + used, sizeof list - used, "%s%s by %s %s, %s", used ? "; " : "",
                         data->layouts[moves->layouts[i].layout].name,
                         axis_words(assumption->axis, true), label, text);
            }
        }
    if (count > NAMED)
        frame_note(frame, "%s: %s; and %u more", words, list, count - NAMED);
    else if (count > 0)
        frame_note(frame, "%s: %s", words, list);
}

static void footer_words(struct frame *frame, const struct plot_data *data,
                         const struct plot_moves *moves)
{
    char runs[256];
    if (data->exact)
        snprintf(runs, sizeof runs, "Nothing is drawn by chance.");
    else if (data->replicas == 1 || moves->replicas == 1)
        snprintf(runs, sizeof runs,
                 "One replica of each move: there is no interval, and chance is not ruled out.");
    else
        snprintf(
            runs, sizeof runs,
            "%u of %u replicas run again: their pairs tell how far a move takes the difference as"
            " written. In brackets the interval; those of one move hold together at 95 %%, over"
            " all pairs of layouts.",
            moves->replicas, data->replicas);
    snprintf(frame->footer, sizeof frame->footer,
             "Each assumption moved by itself. %s Scenario %s%s.", runs, data->scenario,
             data->notes);
}

static void fill_words(struct row_chart *chart, const struct plot_data *data,
                       const struct plot_moves *moves)
{
    struct frame *frame = &chart->frame;
    const struct counts counts = count_moves(moves);
    title_words(frame->title, sizeof frame->title, moves, &counts);
    main_note(frame, data, moves);
    fate_note(frame, data, moves, FATE_AHEAD, "Turned, now ahead");
    fate_note(frame, data, moves, FATE_UNTOLD, "Turned, can not be told from the best any more");
    if (counts.known > 0 && counts.known < counts.run)
        fate_note(frame, data, moves, FATE_UNKNOWN, "Not known, too few replicas");
    fate_note(frame, data, moves, FATE_TOLD, "Can be told from the best now");
    footer_words(frame, data, moves);
}

/* Names of what occurs. */
static void fill_key(struct row_chart *chart)
{
    for (uint32_t g = 0; g < chart->group_count; g++)
        for (uint32_t r = 0; r < chart->groups[g].row_count; r++)
            for (int look = LOOK_HOLDS; look <= LOOK_UNTOLD; look++) {
                const double *segment = chart->groups[g].rows[r].segment;
                if (segment[SEGMENT_BELOW + look] > 0 || segment[SEGMENT_ABOVE + look] > 0)
                    chart->segment_names[SEGMENT_BELOW + look] = looks[look].name;
            }
}

static void fill_chart(struct row_chart *chart, const struct plot_data *data,
                       const struct plot_moves *moves)
{
    chart->segment_count = SEGMENTS;
    for (int look = LOOK_HOLDS; look <= LOOK_UNTOLD; look++)
        chart->fills[SEGMENT_BELOW + look] = chart->fills[SEGMENT_ABOVE + look] = looks[look].fill;
    chart->mark_count = 1;
    chart->mark_names[0] = "the scenario as written";
    chart->ticks = true;
    chart->zero_name = "verdict turns";
    snprintf(chart->value_heading, sizeof chart->value_heading, "difference at each move%s",
             data->replicas > 1 && moves->replicas > 1 ? " [interval]" : "");
    fill_axis(&chart->axis, moves);
    fill_words(chart, data, moves);
    for (uint32_t i = 0; i < moves->layout_count; i++)
        fill_group(chart, data, moves, &moves->layouts[i]);
    fill_key(chart);
}

bool plot_tornado_draw(struct canvas *canvas, const struct plot_data *data)
{
    if (data->layout_count < 2)
        return plot_nothing_draw(canvas, question, "there is one layout, and so no verdict.");
    if (data->setting_count < 2)
        return plot_nothing_draw(canvas, question,
                                 "no assumption was moved (verdict.tornado is off, or none can"
                                 " move this scenario).");
    struct plot_moves *moves = calloc(1, sizeof *moves);
    struct row_chart *chart = calloc(1, sizeof *chart);
    bool drawn = false;
    if (moves && chart) {
        plot_moves_make(moves, data);
        if (moves->replicas == 0) {
            drawn = plot_nothing_draw(canvas, question, "the moved assumptions were not run yet.");
        } else {
            fill_chart(chart, data, moves);
            drawn = rows_draw(canvas, chart);
        }
    }
    free(moves);
    free(chart);
    return drawn;
}
