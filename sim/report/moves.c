/* moves.c - see moves.h. */
#include "report/moves.h"

#include "base/assert.h"
#include "report/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One move at work. */
struct judge {
    const struct comparison *c, *moved;
    double *base, *shifted; /* [replica_count] scratch                                     */
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count; /* layouts of the first slack      */
};

static const double *yields_of(const struct comparison *c, uint32_t layout)
{
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    return yield != NULL ? comparison_values(c, yield, layout) : NULL;
}

/* Yield of x minus yield of y in one replica; y = LAYOUT_NONE: of x alone. */
static double yield_at(const struct comparison *c, uint32_t x, uint32_t y, uint32_t replica)
{
    const double *on_x = yields_of(c, x);
    if (on_x == NULL) return NAN;
    return y == LAYOUT_NONE ? on_x[replica] : on_x[replica] - yields_of(c, y)[replica];
}

typedef double value_at(const struct comparison *c, uint32_t x, uint32_t y, uint32_t replica);

static struct interval shifted_of(const struct judge *judge, value_at *at, uint32_t x, uint32_t y,
                                  double conf)
{
    const uint32_t count = judge->c->replica_count;
    for (uint32_t replica = 0; replica < count; replica++) {
        judge->base[replica] = at(judge->c, x, y, replica);
        judge->shifted[replica] = at(judge->moved, x, y, replica);
    }
    const struct interval interval = moved_ci(judge->base, judge->shifted, count, conf);
    return comparison_settle(judge->c, x, y == LAYOUT_NONE ? x : y, interval);
}

/* What a move does to one difference: the rule of moves.h. A difference that is not told as written holds: what the
 * move makes of it, the headline does not say. */
static enum turn turn_of(struct interval written, struct interval moved)
{
    const bool told = interval_excludes_zero(moved);
    if (isnan(moved.half)) return TURN_UNKNOWN;
    if (!interval_excludes_zero(written)) return TURN_HOLDS;
    if (told) return (moved.mean > 0) == (written.mean > 0) ? TURN_HOLDS : TURN_OTHER;
    return moved.n < written.n ? TURN_UNKNOWN : TURN_UNTOLD;
}

/* ---- as written ---- */

static struct interval lead_of(const struct comparison *c, uint32_t x, uint32_t y)
{
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    return comparison_pair(c, yield, x, y, c->conf_any).difference;
}

/* The next best of those that can be told from the best, else of all. */
static void find_rival(struct moves *m, const struct judge *judge)
{
    m->rival = LAYOUT_NONE;
    m->all_near = true;
    for (uint32_t i = 0; i < judge->count; i++) {
        const uint32_t row = judge->rows[i];
        if (row == m->best) continue;
        const struct interval lead = lead_of(m->c, m->best, row);
        const bool told = interval_excludes_zero(lead);
        const bool first = m->rival == LAYOUT_NONE || (told && m->all_near);
        if (lead.n > 0 && (first || (told == !m->all_near && lead.mean < m->lead.mean))) {
            m->rival = row;
            m->lead = lead;
        }
        m->all_near &= !told;
    }
}

/* ---- yield under a move ---- */

/* Rows of the judge, the highest yield under the move first. */
static void sort_by_yield(const struct judge *judge, const struct move *move, uint32_t *rows)
{
    for (uint32_t i = 0; i < judge->count; i++) {
        const uint32_t row = judge->rows[i];
        uint32_t at = i;
        while (at > 0 && move->layouts[row].yield.mean > move->layouts[rows[at - 1]].yield.mean) {
            rows[at] = rows[at - 1];
            at--;
        }
        rows[at] = row;
    }
}

static void weigh(struct turned *turned, enum turn turn, uint32_t layout)
{
    if (turn > turned->turn) *turned = (struct turned){ .turn = turn, .layout = layout };
}

/* Where no layout can be told from the best there is no winner that could be replaced: a difference that is told under
 * the move is said, and turns nothing. */
static struct turned judge_yield(const struct moves *m, const struct judge *judge,
                                 const struct move *move)
{
    struct turned turned = { .turn = TURN_HOLDS, .layout = LAYOUT_NONE };
    uint32_t by_yield[LIMIT_LAYOUTS * LIMIT_SLACKS]; /* the one furthest ahead is named          */
    sort_by_yield(judge, move, by_yield);
    for (uint32_t i = 0; i < judge->count; i++) {
        const uint32_t row = by_yield[i];
        if (row == m->best) continue;
        const struct interval lead = shifted_of(judge, yield_at, m->best, row, judge->c->conf_any);
        enum turn turn = turn_of(lead_of(m->c, m->best, row), lead);
        if (interval_excludes_zero(lead) && m->all_near)
            turn = TURN_TOLD;
        else if (interval_excludes_zero(lead) && lead.mean < 0)
            turn = TURN_OTHER;
        weigh(&turned, turn, turn == TURN_TOLD ? by_yield[0] : row);
    }
    return turned;
}

/* ---- completion of large jobs under a move ---- */

static bool is_saturated(const struct comparison *c, const struct move *move, uint32_t layout)
{
    return comparison_saturated(c, layout) || move->layouts[layout].needs > 1;
}

static void fill_later(const struct judge *judge, struct move *move)
{
    const struct comparison *c = judge->c;
    for (uint32_t i = 0; i < judge->count; i++) {
        const uint32_t row = judge->rows[i], base = c->baseline[row];
        if (base == LAYOUT_NONE || base == row || is_saturated(c, move, row) ||
            is_saturated(c, move, base))
            continue;
        move->layouts[row].later =
            shifted_of(judge, comparison_later, row, base, c->conf_difference);
    }
}

static struct turned judge_large(const struct judge *judge, const struct move *move)
{
    const struct comparison *c = judge->c;
    struct turned turned = { .turn = TURN_NONE, .layout = LAYOUT_NONE };
    for (uint32_t i = 0; i < judge->count; i++) {
        const uint32_t row = judge->rows[i], base = c->baseline[row];
        const struct interval later = move->layouts[row].later;
        if (base == LAYOUT_NONE || base == row) continue;
        if (is_saturated(c, move, row) || is_saturated(c, move, base))
            weigh(&turned, TURN_SATURATED, LAYOUT_NONE);
        else if (later.n > 0)
            weigh(&turned, turn_of(comparison_large(c, row, base, c->conf_difference), later), row);
    }
    return turned;
}

/* ---- marks ---- */

/* The least known of the assumptions about a subject: a chain is as strong as its weakest link. */
static const char *weakest_mark(const struct stored *stored, const char *subject)
{
    static const struct {
        const char *stored, *said;
    } marks[] = {
        { "confirmed", "published" },  { "published", "published" }, { "stated", "stated" },
        { "derived", "derived" },      { "memory", "assumed" },      { "assumed", "assumed" },
        { "hypothetical", "assumed" },
    };
    const struct stored_assumption *rows =
        LOG_ITEMS(&stored->assumptions, const struct stored_assumption);
    size_t weakest = 0;
    bool any = false;
    for (uint64_t i = 0; i < stored->assumptions.count; i++) {
        if (strcmp(rows[i].subject, subject) != 0) continue;
        any = true;
        for (size_t mark = weakest; mark < sizeof marks / sizeof *marks; mark++)
            if (strcmp(rows[i].mark, marks[mark].stored) == 0) weakest = mark;
    }
    return any ? marks[weakest].said : "assumed";
}

static const char *mark_of(const struct stored *stored, const char *axis)
{
    if (strcmp(axis, "communication") == 0) return weakest_mark(stored, "communication");
    if (strcmp(axis, "failures") == 0) return weakest_mark(stored, "failures");
    if (strcmp(axis, "nics") == 0) return weakest_mark(stored, "server");
    if (strcmp(axis, "load") == 0) return "trace";
    return "assumed";
}

/* ---- all of it ---- */

static double needs_at(const struct comparison *c, uint32_t x, uint32_t y, uint32_t replica)
{
    (void)y;
    return comparison_needs(c, x, replica);
}

static void judge_move(struct moves *m, const struct judge *judge, struct move *move)
{
    const struct comparison *c = judge->c;
    move->pairs = shifted_of(judge, yield_at, m->best, LAYOUT_NONE, c->conf).n;
    for (uint32_t i = 0; i < judge->count; i++) {
        const uint32_t row = judge->rows[i], base = c->baseline[row];
        struct moved_layout *layout = &move->layouts[row];
        layout->yield = shifted_of(judge, yield_at, row, LAYOUT_NONE, c->conf);
        if (base != LAYOUT_NONE)
            layout->difference = shifted_of(judge, yield_at, row, base, c->conf_difference);
        layout->needs = shifted_of(judge, needs_at, row, LAYOUT_NONE, c->conf).mean;
    }
    move->lead = (struct interval){ .mean = NAN, .half = NAN };
    if (m->rival != LAYOUT_NONE)
        move->lead = shifted_of(judge, yield_at, m->best, m->rival, c->conf_any);
    move->yield = judge_yield(m, judge, move);
    fill_later(judge, move);
    move->large = judge_large(judge, move);
}

static enum status build_row(struct moves *m, const struct judge *judge, uint32_t setting,
                             struct diag *diag)
{
    const struct stored_setting *settings =
        LOG_ITEMS(&m->c->stored->settings, const struct stored_setting);
    struct move *move = &m->rows[m->count++];
    *move = (struct move){ .factor = settings[setting].factor };
    memcpy(move->axis, settings[setting].axis, sizeof move->axis);
    move->mark = mark_of(m->c->stored, move->axis);
    move->layouts = calloc(m->c->layout_count, sizeof *move->layouts);
    if (move->layouts == NULL) return diag_world(diag, "out of memory while comparing layouts");
    struct comparison moved;
    const enum status status = comparison_build_moved(m->c, setting, &moved, diag);
    struct judge with = *judge;
    with.moved = &moved;
    if (status == STATUS_OK) judge_move(m, &with, move);
    comparison_clear(&moved);
    return status;
}

enum status moves_build(const struct comparison *c, struct moves *m, struct diag *diag)
{
    *m = (struct moves){ .c = c, .rival = LAYOUT_NONE };
    m->best = group_best(c, c->stored->layouts[0].slack);
    const uint64_t settings = c->stored->settings.count;
    if (settings < 2 || m->best == LAYOUT_NONE) return STATUS_OK;
    struct judge judge = { .c = c };
    for (uint32_t i = 0; i < c->layout_count; i++)
        if (c->stored->layouts[i].slack == c->stored->layouts[0].slack)
            judge.rows[judge.count++] = i;
    ASSERT(settings <= MOVES_MAX);
    find_rival(m, &judge);
    m->rows = calloc(settings, sizeof *m->rows);
    judge.base = calloc((size_t)c->replica_count + 1, sizeof *judge.base);
    judge.shifted = calloc((size_t)c->replica_count + 1, sizeof *judge.shifted);
    enum status status = STATUS_OK;
    if (m->rows == NULL || judge.base == NULL || judge.shifted == NULL)
        status = diag_world(diag, "out of memory while comparing layouts");
    for (uint32_t setting = 1; status == STATUS_OK && setting < settings; setting++)
        status = build_row(m, &judge, setting, diag);
    free(judge.base);
    free(judge.shifted);
    return status;
}

void moves_clear(struct moves *m)
{
    for (uint32_t i = 0; i < m->count; i++) free(m->rows[i].layouts);
    free(m->rows);
    memset(m, 0, sizeof *m);
}

bool turn_turns(enum turn turn)
{
    return turn >= TURN_UNTOLD;
}

const char *turn_name(enum turn turn)
{
    static const char *const names[] = {
        [TURN_NONE] = "not judged", [TURN_SATURATED] = "saturated", [TURN_HOLDS] = "holds",
        [TURN_TOLD] = "told",       [TURN_UNKNOWN] = "cannot tell", [TURN_UNTOLD] = "not told",
        [TURN_OTHER] = "turns",
    };
    ASSERT((size_t)turn < sizeof names / sizeof *names);
    return names[turn];
}
