/* plot_moves.c - see plot_moves.h. */
#include "report/plot_moves.h"

#include "base/assert.h"
#include "report/compare.h"
#include "report/statistics.h"

#include <math.h>
#include <string.h>

/* ---- what was moved ---- */

static void list_assumptions(struct plot_moves *moves, const struct plot_data *data)
{
    for (uint32_t s = 1; s < data->setting_count; s++) {
        const char *axis = data->settings[s].axis;
        uint32_t row = 0;
        while (row < moves->assumption_count && strcmp(moves->assumptions[row].axis, axis) != 0)
            row++;
        if (row == ASSUMPTIONS_MAX) continue;
        struct assumption *assumption = &moves->assumptions[row];
        if (row == moves->assumption_count) moves->assumption_count++;
        assumption->axis = axis;
        if (assumption->move_count < BAR_MOVES) assumption->settings[assumption->move_count++] = s;
    }
}

/* The best as written; of equals the baseline, else the first. */
static uint32_t find_reference(const struct plot_data *data)
{
    uint32_t best = 0;
    double most = -HUGE_VAL;
    for (uint32_t l = 0; l < data->layout_count; l++) {
        const struct estimate yield = estimate_of(setting_yields(data, 0, l), data->replicas, 0.95);
        if (yield.count == 0 || yield.mean < most) continue;
        if (yield.mean == most && !data->layouts[l].is_baseline) continue;
        most = yield.mean;
        best = l;
    }
    return best;
}

/* ---- differences ---- */

static struct estimate from_interval(struct interval interval)
{
    const double half = interval.n > 1 ? interval.half : 0;
    return (struct estimate){ interval.mean, interval.mean - half, interval.mean + half,
                              interval.n };
}

/* Layout minus reference under a setting. */
static struct estimate change_by(const struct plot_moves *moves, const struct plot_data *data,
                                 uint32_t setting, uint32_t layout)
{
    double written[LIMIT_REPLICAS], moved[LIMIT_REPLICAS];
    const uint32_t count = data->replicas, reference = moves->reference;
    const uint32_t pairs = data->layout_count * (data->layout_count - 1) / 2;
    ASSERT(count <= LIMIT_REPLICAS);
    for (uint32_t i = 0; i < count; i++) {
        written[i] = setting_yields(data, 0, layout)[i] - setting_yields(data, 0, reference)[i];
        moved[i] =
            setting_yields(data, setting, layout)[i] - setting_yields(data, setting, reference)[i];
    }
    const double confidence = joint_confidence(0.95, pairs * HEADLINES);
    return from_interval(moved_ci(written, moved, count, confidence));
}

/* One replica tells something only where nothing is drawn by chance. */
static bool is_known(const struct plot_data *data, const struct estimate *estimate)
{
    return estimate->count > 1 || (estimate->count == 1 && data->exact);
}

static bool is_told(const struct plot_data *data, const struct estimate *estimate)
{
    return is_known(data, estimate) && (estimate->lo > 0 || estimate->hi < 0);
}

bool fate_turns(enum fate fate)
{
    return fate == FATE_UNTOLD || fate == FATE_AHEAD;
}

/* The rule of moves.h: what can no longer be told turns the verdict where as many replicas say so. */
static enum fate fate_of(const struct plot_data *data, const struct plot_moved *layout,
                         const struct estimate *moved)
{
    if (moved->count == 0) return FATE_NOT_RUN;
    if (!is_known(data, moved) || !is_known(data, &layout->as_written)) return FATE_UNKNOWN;
    if (!layout->told) return is_told(data, moved) ? FATE_TOLD : FATE_HOLDS;
    if (!is_told(data, moved))
        return moved->count < layout->as_written.count ? FATE_UNKNOWN : FATE_UNTOLD;
    return moved->mean > 0 ? FATE_AHEAD : FATE_HOLDS;
}

static void fill_bar(struct plot_moves *moves, const struct plot_data *data,
                     const struct plot_moved *layout, uint32_t row, struct plot_bar *bar)
{
    const struct assumption *assumption = &moves->assumptions[row];
    *bar = (struct plot_bar){ .assumption = row,
                              .lo = layout->as_written.mean,
                              .hi = layout->as_written.mean };
    for (uint32_t m = 0; m < assumption->move_count; m++) {
        bar->moved[m] = change_by(moves, data, assumption->settings[m], layout->layout);
        bar->fate[m] = fate_of(data, layout, &bar->moved[m]);
        if (bar->fate[m] == FATE_NOT_RUN) continue;
        if (bar->moved[m].count > moves->replicas) moves->replicas = bar->moved[m].count;
        bar->known = true;
        bar->lo = fmin(bar->lo, bar->moved[m].mean);
        bar->hi = fmax(bar->hi, bar->moved[m].mean);
    }
}

/* Puts the bar where it belongs among the `count` before it; equal ones stay in order. */
static void insert_bar(struct plot_bar *bars, uint32_t count, const struct plot_bar *bar)
{
    uint32_t at = count;
    for (; at > 0 && bar->hi - bar->lo > bars[at - 1].hi - bars[at - 1].lo; at--)
        bars[at] = bars[at - 1];
    bars[at] = *bar;
}

static void fill_layout(struct plot_moves *moves, const struct plot_data *data, uint32_t l)
{
    struct plot_moved *layout = &moves->layouts[moves->layout_count++];
    layout->layout = l;
    layout->as_written = change_by(moves, data, 0, l);
    layout->told = is_told(data, &layout->as_written);
    moves->any_told = moves->any_told || layout->told;
    for (uint32_t row = 0; row < moves->assumption_count; row++) {
        struct plot_bar bar;
        fill_bar(moves, data, layout, row, &bar);
        insert_bar(layout->bars, row, &bar);
    }
}

static void find_rival(struct plot_moves *moves)
{
    double nearest = -HUGE_VAL;
    for (uint32_t i = 0; i < moves->layout_count; i++) {
        const struct plot_moved *layout = &moves->layouts[i];
        if (layout->told != moves->any_told || !(layout->as_written.mean > nearest)) continue;
        nearest = layout->as_written.mean;
        moves->rival = i;
    }
}

/* What a verdict rests on is what turns it, on the layout nearest to the best; where nothing does, what
 * moves its closest call most. */
static void find_main(struct plot_moves *moves)
{
    enum fate worst = FATE_NOT_RUN;
    double nearest = 0, most = 0;
    for (uint32_t i = 0; i < moves->layout_count; i++)
        for (uint32_t b = 0; b < moves->assumption_count; b++)
            for (uint32_t m = 0; m < BAR_MOVES; m++) {
                const struct plot_bar *bar = &moves->layouts[i].bars[b];
                const double written = moves->layouts[i].as_written.mean;
                const double shift = fabs(bar->moved[m].mean - written);
                const enum fate fate = fate_turns(bar->fate[m]) ? bar->fate[m] : FATE_HOLDS;
                if (bar->fate[m] == FATE_NOT_RUN || fate < worst) continue;
                if (fate == FATE_HOLDS && i != moves->rival) continue;
                if (fate == worst && (written < nearest || (written == nearest && shift <= most)))
                    continue;
                worst = fate;
                nearest = written;
                most = shift;
                moves->main = bar->assumption;
                moves->shown = i;
            }
}

void plot_moves_make(struct plot_moves *moves, const struct plot_data *data)
{
    memset(moves, 0, sizeof *moves);
    if (data->setting_count < 2 || data->layout_count < 2) return;
    list_assumptions(moves, data);
    moves->reference = find_reference(data);
    for (uint32_t l = 0; l < data->layout_count; l++)
        if (l != moves->reference) fill_layout(moves, data, l);
    find_rival(moves);
    find_main(moves);
}
