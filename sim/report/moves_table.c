/* moves_table.c - what moves the verdict, as a table: see moves_text.h. */
#include "report/moves_text.h"

#include "base/text.h"
#include "report/prose.h"
#include "report/short_names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    LABEL_COLUMNS = 19,
    MARK_COLUMNS = 10,
    TURN_COLUMNS = 12,
    BASE_COLUMNS = 6,
    CELL_COLUMNS = 19,
    CELLS = 2, /* layouts beside the baseline in one line                                       */
};

/* The layouts of one block of lines. */
struct block {
    const struct moves *m;
    FILE *out;
    uint32_t base, rows[CELLS], count; /* base: LAYOUT_NONE without a baseline                   */
    bool large;                        /* completion, else yield                                 */
};

static const char *label_of(const struct move *move, char out[48])
{
    const char *name = strcmp(move->axis, "server_growth") == 0 ? "server growth "
                       : strcmp(move->axis, "nics") == 0        ? "NICs x"
                       : strcmp(move->axis, "load") == 0        ? "job length x"
                                                                : NULL;
    if (name != NULL)
        snprintf(out, 48, "%s%.3g", name, move->factor);
    else
        snprintf(out, 48, "%.15s x%.2g", move->axis, move->factor);
    return out;
}

static void write_cell(const struct block *block, const char *text)
{
    char cell[128];
    prose_shorten(text, CELL_COLUMNS - 1, 0, cell, sizeof cell);
    fprintf(block->out, "%*s%s", CELL_COLUMNS - (int)prose_columns(cell), "", cell);
}

static void write_yield(const struct block *block, struct interval yield, struct interval apart)
{
    char text[64];
    if (yield.n == 0)
        snprintf(text, sizeof text, "none");
    else if (apart.n == 0)
        snprintf(text, sizeof text, "%.3f", yield.mean);
    else if (isnan(apart.half) || block->m->c->exact)
        snprintf(text, sizeof text, "%.3f %+.3f", yield.mean, apart.mean);
    else
        snprintf(text, sizeof text, "%.3f %+.3f±%.3f", yield.mean, apart.mean, apart.half);
    write_cell(block, text);
}

static void write_later(const struct block *block, struct interval later, bool saturated)
{
    char text[64];
    const double mean = 100 * later.mean, half = 100 * later.half;
    if (saturated)
        snprintf(text, sizeof text, "saturated");
    else if (later.n == 0)
        snprintf(text, sizeof text, "none");
    else if (isnan(half) || block->m->c->exact)
        snprintf(text, sizeof text, "%+.1f", mean);
    else
        snprintf(text, sizeof text, "%+.1f±%.1f", mean, half);
    write_cell(block, text);
}

static const char *turn_text(enum turn turn)
{
    if (turn_turns(turn)) return "TURNS";
    return turn == TURN_NONE ? "no jobs" : turn_name(turn);
}

static void write_head(const struct block *block, const char *label, const char *mark,
                       const char *turn)
{
    prose_pad(block->out, label, LABEL_COLUMNS);
    prose_pad(block->out, mark, MARK_COLUMNS);
    if (block->count > 0 || *turn != '\0') prose_pad(block->out, turn, TURN_COLUMNS);
}

/* Without its slack: a table of moves has one. */
static const char *layout_text(const struct comparison *c, uint32_t layout, char out[LABEL_BYTES])
{
    const char *name = c->stored->layouts[layout].name;
    return text_escape(name, strlen(name), out, LABEL_BYTES);
}

static void write_names(const struct block *block)
{
    const struct comparison *c = block->m->c;
    char name[LABEL_BYTES];
    write_head(block, "assumption", "mark", "verdict");
    if (block->base != LAYOUT_NONE && !block->large) {
        layout_text(c, block->base, name);
        fprintf(block->out, "%*s", BASE_COLUMNS,
                prose_columns(name) <= BASE_COLUMNS ? name : "base");
    }
    struct short_names names;
    short_names_make(c, CELL_COLUMNS - 1, &names);
    for (uint32_t i = 0; i < block->count; i++)
        write_cell(block, strlen(layout_text(c, block->rows[i], name)) < CELL_COLUMNS
                              ? name
                              : names.name[block->rows[i]]);
    fputc('\n', block->out);
}

/* As written: what the moves are held against. */
static void write_written(const struct block *block)
{
    const struct comparison *c = block->m->c;
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    write_head(block, "as written", "", "");
    if (block->base != LAYOUT_NONE && !block->large)
        fprintf(block->out, "%*.3f", BASE_COLUMNS, yield->cells[block->base].value.mean);
    for (uint32_t i = 0; i < block->count; i++) {
        const uint32_t row = block->rows[i];
        const struct cell *cell = &yield->cells[row];
        if (!block->large)
            write_yield(block, cell->value, cell->pair.difference);
        else
            write_later(block, comparison_large(c, row, block->base, c->conf_difference),
                        comparison_saturated(c, row) || comparison_saturated(c, block->base));
    }
    fputc('\n', block->out);
}

static void write_move(const struct block *block, const struct move *move)
{
    const struct comparison *c = block->m->c;
    char label[48];
    write_head(block, label_of(move, label), move->mark,
               turn_text(block->large ? move->large.turn : move->yield.turn));
    if (block->base != LAYOUT_NONE && !block->large)
        fprintf(block->out, "%*.3f", BASE_COLUMNS, move->layouts[block->base].yield.mean);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct moved_layout *layout = &move->layouts[block->rows[i]];
        if (!block->large)
            write_yield(block, layout->yield, layout->difference);
        else
            write_later(block, layout->later,
                        comparison_saturated(c, block->rows[i]) || layout->needs > 1 ||
                            move->layouts[block->base].needs > 1);
    }
    fputc('\n', block->out);
}

static void write_block(const struct block *block)
{
    write_names(block);
    write_written(block);
    for (uint32_t i = 0; i < block->m->count; i++)
        if (block->m->rows[i].pairs > 0) write_move(block, &block->m->rows[i]);
}

/* The layouts of the first slack beside the baseline, two at a time. */
static void write_blocks(const struct moves *m, FILE *out, bool large)
{
    const struct stored_layout *layouts = m->c->stored->layouts;
    struct block block = { .m = m, .out = out, .base = m->c->baseline[0], .large = large };
    for (uint32_t i = 0; i < m->c->layout_count; i++) {
        if (layouts[i].slack != layouts[0].slack || i == block.base) continue;
        block.rows[block.count++] = i;
        if (block.count < CELLS) continue;
        write_block(&block);
        block.count = 0;
    }
    if (block.count > 0) write_block(&block);
}

static bool has_turn(const struct moves *m, enum turn turn)
{
    bool any = false;
    for (uint32_t i = 0; i < m->count; i++)
        any |= m->rows[i].pairs > 0 &&
               (m->rows[i].yield.turn == turn || m->rows[i].large.turn == turn);
    return any;
}

/* Whether "saturated" stands somewhere in the table of completion. */
static bool has_saturated(const struct moves *m)
{
    const struct stored_layout *layouts = m->c->stored->layouts;
    bool any = false;
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t row = 0; row < m->c->layout_count; row++)
            any |= m->rows[i].pairs > 0 && layouts[row].slack == layouts[0].slack &&
                   (comparison_saturated(m->c, row) || m->rows[i].layouts[row].needs > 1);
    return any;
}

/* What the labels of the table mean, those that stand in it. */
static void write_labels(const struct moves *m, bool with_completion, FILE *out)
{
    char text[800];
    snprintf(
        text, sizeof text, "%s%s%s%s%s",
        has_turn(m, TURN_HOLDS) ? "holds: the differences that are told keep their sign. " : "",
        has_turn(m, TURN_TOLD) ? "told: as written no layout could be told from the best, now one "
                                 "can. "
                               : "",
        has_turn(m, TURN_OTHER) || has_turn(m, TURN_UNTOLD)
            ? "TURNS: one is told with the other sign, or over as many replicas is told no more. "
            : "",
        has_turn(m, TURN_UNKNOWN)
            ? "cannot tell: one is told no more, over fewer replicas than as written. "
            : "",
        with_completion && has_saturated(m) ? "saturated: a layout is asked for more than it has."
                                            : "");
    prose_wrap(out, text, PROSE_COLUMNS);
}

void moves_table(const struct moves *m, FILE *out)
{
    bool ran = false, judged = false;
    char label[LABEL_BYTES];
    for (uint32_t i = 0; i < m->count; i++) {
        ran |= m->rows[i].pairs > 0;
        judged |= m->rows[i].large.turn != TURN_NONE;
    }
    if (!ran) return;
    const uint32_t base = m->c->baseline[0];
    fputs("\nwhat moves it: useful hours per held GPU-hour", out);
    if (base != LAYOUT_NONE) fprintf(out, ", and minus %s", layout_text(m->c, base, label));
    fputc('\n', out);
    write_blocks(m, out, false);
    if (judged) {
        fprintf(out, "completion of %s, %% later than %s\n", comparison_large_words(m->c),
                layout_text(m->c, base, label));
        write_blocks(m, out, true);
    }
    write_labels(m, judged, out);
}
