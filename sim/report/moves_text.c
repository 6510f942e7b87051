/* moves_text.c - see moves_text.h: the sentences. The table is in moves_table.c. */
#include "report/moves_text.h"

#include "base/text.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TURNS_TOLD = 3 }; /* sentences about turning moves; the table holds all       */

static bool is_axis(const struct move *move, const char *axis)
{
    return strcmp(move->axis, axis) == 0;
}

static bool same_axis(const struct move *a, const struct move *b)
{
    return strcmp(a->axis, b->axis) == 0;
}

static bool is_near(double value, double want)
{
    return fabs(value - want) < 1e-9;
}

/* ---- one assumption ---- */

/* "half", "twice", "a third", "0.7 times" */
static const char *times_of(double factor, char out[32])
{
    if (is_near(factor, 0.5)) return "half";
    if (is_near(factor, 2)) return "twice";
    if (is_near(factor, 1.0 / 3)) return "a third";
    if (is_near(factor, 3)) return "three times";
    snprintf(out, 32, "%.3g times", factor);
    return out;
}

/* `first`: nothing about lengths stands in front. */
static const char *length_of(double factor, bool first, char out[32])
{
    if (is_near(factor, 0.9)) return "a tenth shorter";
    if (is_near(factor, 1.1)) return first ? "a tenth longer" : "longer";
    snprintf(out, 32, "%.3g times as long", factor);
    return out;
}

/* "communication at half": the first move of its axis in a list, the next ones add their value. */
static void write_move(FILE *out, const struct move *move, bool first)
{
    char text[32];
    if (is_axis(move, "communication"))
        fprintf(out, "%s%s", first ? "communication at " : "", times_of(move->factor, text));
    else if (is_axis(move, "failures"))
        fprintf(out, "%s%s", first ? "failures at " : "", times_of(move->factor, text));
    else if (is_axis(move, "server_growth"))
        fputs("a server's failures in step with its GPUs", out);
    else if (is_axis(move, "nics"))
        fprintf(out, "%s of the NICs", times_of(move->factor, text));
    else if (is_axis(move, "load"))
        fprintf(out, "%s%s", first ? "jobs " : "", length_of(move->factor, first, text));
    else
        fprintf(out, "%s at %.3g", text_escape(move->axis, strlen(move->axis), text, sizeof text),
                move->factor);
}

/* What the assumption is called when its values follow. */
static const char *axis_word(const struct move *move)
{
    return is_axis(move, "server_growth") ? "how a server's failures grow with its GPUs"
           : is_axis(move, "nics")        ? "the number of NICs"
           : is_axis(move, "load")        ? "the length of jobs"
                                          : move->axis;
}

static void write_value(FILE *out, const struct move *move)
{
    char text[32];
    if (is_axis(move, "server_growth"))
        fputs("in step with them", out);
    else if (is_axis(move, "nics"))
        fprintf(out, "with %s of them", times_of(move->factor, text));
    else if (is_axis(move, "load"))
        fprintf(out, "for jobs %s", length_of(move->factor, true, text));
    else
        fprintf(out, "at %s", times_of(move->factor, text));
}

/* ---- lists of moves ---- */

/* Some of the moves. */
struct pick {
    bool has[MOVES_MAX];
    uint32_t count;
};

static struct pick pick_turn(const struct moves *m, bool large, enum turn turn)
{
    struct pick pick = { .count = 0 };
    for (uint32_t i = 0; i < m->count; i++) {
        const struct move *move = &m->rows[i];
        pick.has[i] = (large ? move->large.turn : move->yield.turn) == turn;
        pick.count += pick.has[i];
    }
    return pick;
}

/* Whether a picked move of the same axis stands in front of row i. */
static bool has_before(const struct moves *m, const struct pick *pick, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (pick->has[j] && same_axis(&m->rows[j], &m->rows[i])) return true;
    return false;
}

/* "communication at half and twice, half of the NICs, and jobs a tenth longer" */
static void list_moves(const struct moves *m, FILE *out, const struct pick *pick)
{
    uint32_t axes = 0, listed = 0;
    for (uint32_t i = 0; i < m->count; i++) axes += pick->has[i] && !has_before(m, pick, i);
    for (uint32_t i = 0; i < m->count; i++) {
        if (!pick->has[i] || has_before(m, pick, i)) continue;
        if (listed > 0) fputs(listed + 1 < axes ? ", " : axes > 2 ? ", and " : " and ", out);
        listed++;
        for (uint32_t j = i; j < m->count; j++) {
            if (!pick->has[j] || !same_axis(&m->rows[i], &m->rows[j])) continue;
            if (j > i) fputs(" and ", out);
            write_move(out, &m->rows[j], j == i);
        }
    }
}

/* ---- sentences ---- */

static const char *layout_name(const struct moves *m, uint32_t layout, char out[LABEL_BYTES])
{
    const char *name = m->c->stored->layouts[layout].name;
    return text_escape(name, strlen(name), out, LABEL_BYTES);
}

static const struct turned *turned_of(const struct move *move, bool large)
{
    return large ? &move->large : &move->yield;
}

/* Whether two moves turn the headline in the same way, and are known as well. */
static bool turns_alike(const struct move *a, const struct move *b, bool large)
{
    const struct turned *x = turned_of(a, large), *y = turned_of(b, large);
    return x->turn == y->turn && x->layout == y->layout && strcmp(a->mark, b->mark) == 0;
}

/* "sparse2 then finishes 4 and 6 % earlier": a sign that changed is told with its numbers, one a move. */
static void write_sign(const struct moves *m, FILE *out, const struct pick *alike, uint32_t layout)
{
    uint32_t listed = 0;
    double mean = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!alike->has[i]) continue;
        const struct interval later = m->rows[i].layouts[layout].later;
        mean = 100 * later.mean;
        fprintf(out, "%s%.*f", prose_join(listed++, alike->count), prose_decimals(fabs(mean), 0),
                fabs(mean));
    }
    fprintf(out, " %% %s", mean > 0 ? "later" : "earlier");
}

/* "sparse4 then yields more than dense8": what the moves that turn alike do. */
static void write_effect(const struct moves *m, FILE *out, const struct move *move, bool large,
                         const struct pick *alike)
{
    char name[LABEL_BYTES], other[LABEL_BYTES];
    const struct turned *turned = turned_of(move, large);
    layout_name(m, turned->layout, name);
    layout_name(m, large ? m->c->baseline[turned->layout] : m->best, other);
    if (turned->turn == TURN_OTHER && large) {
        fprintf(out, "%s then finishes ", name);
        write_sign(m, out, alike, turned->layout);
    } else if (turned->turn == TURN_OTHER)
        fprintf(out, "%s then yields more than %s", name, other);
    else if (turned->turn == TURN_TOLD)
        fprintf(out, "%s then yields the most", name);
    else
        fprintf(out, "%s can then not be told from %s", large ? name : other, large ? other : name);
}

/* A sentence for each group of moves that turn alike, the first few. Returns how many moves were said. */
static uint32_t write_turns(const struct moves *m, FILE *out, bool large, const struct pick *turns,
                            const char *first, const char *next)
{
    uint32_t said = 0, sentences = 0;
    for (uint32_t i = 0; i < m->count && sentences < TURNS_TOLD; i++) {
        struct pick alike = { .count = 0 };
        bool new = turns->has[i];
        for (uint32_t j = 0; j < m->count; j++) {
            alike.has[j] = turns->has[j] && turns_alike(&m->rows[i], &m->rows[j], large);
            alike.count += alike.has[j];
            if (j < i && alike.has[j]) new = false; /* said already */
        }
        if (!new) continue;
        fputs(sentences++ == 0 ? first : next, out);
        list_moves(m, out, &alike);
        fprintf(out, " (%s): ", m->rows[i].mark);
        write_effect(m, out, &m->rows[i], large, &alike);
        fputc('.', out);
        said += alike.count;
    }
    return said;
}

static struct pick pick_turning(const struct moves *m, bool large)
{
    struct pick pick = { .count = 0 };
    for (uint32_t i = 0; i < m->count; i++) {
        pick.has[i] = turn_turns(turned_of(&m->rows[i], large)->turn);
        pick.count += pick.has[i];
    }
    return pick;
}

static void write_yield_turns(const struct moves *m, FILE *out, const struct pick *turns)
{
    const uint32_t holds = pick_turn(m, false, TURN_HOLDS).count;
    const uint32_t said =
        write_turns(m, out, false, turns, "The verdict turns with ", " It turns with ");
    if (said < turns->count)
        fprintf(out, " So it does with %" PRIu32 " more, see below.", turns->count - said);
    if (holds > 0)
        fprintf(out, " It holds with the other %" PRIu32 " move%s tried.", holds,
                holds == 1 ? "" : "s");
}

/* As written, no layout can be told from the best. */
static void write_untold(const struct moves *m, FILE *out, const struct pick *holds)
{
    const struct pick told = pick_turn(m, false, TURN_TOLD);
    if (holds->count > 0) {
        fputs("The layouts cannot be told apart with ", out);
        list_moves(m, out, holds);
        fputs(" either.", out);
    }
    const char *first =
        holds->count > 0 ? " They can with " : "The layouts can be told apart with ";
    write_turns(m, out, false, &told, first, " They can with ");
}

static void write_yield(const struct moves *m, FILE *out)
{
    const struct pick turns = pick_turning(m, false), holds = pick_turn(m, false, TURN_HOLDS);
    if (turns.count > 0) {
        write_yield_turns(m, out, &turns);
    } else if (m->all_near) {
        write_untold(m, out, &holds);
    } else {
        const bool both = pick_turn(m, true, TURN_HOLDS).count == m->count;
        fputs(both ? "The verdict holds with " : "The verdict on yield holds with ", out);
        list_moves(m, out, &holds);
        fputc('.', out);
    }
}

static void write_large_turns(const struct moves *m, FILE *out)
{
    const struct pick turns = pick_turning(m, true);
    const uint32_t said =
        write_turns(m, out, true, &turns, " Completion turns with ", " It turns with ");
    if (said < turns.count)
        fprintf(out, " So it does with %" PRIu32 " more, see below.", turns.count - said);
}

/* How far a move shifts the lead of the best over its rival, told or not: what the table shows. */
static double shift_of(const struct moves *m, const struct move *move)
{
    return move->lead.n > 0 ? fabs(move->lead.mean - m->lead.mean) : 0;
}

/* Decimals with which no lead reads as the one as written. */
static int lead_decimals(const struct moves *m, const struct move *most)
{
    int decimals = 3;
    for (uint32_t i = 0; i < m->count; i++)
        if (same_axis(&m->rows[i], most) && m->rows[i].lead.n > 0 && shift_of(m, &m->rows[i]) > 0)
            decimals = prose_decimals_apart(m->rows[i].lead.mean, m->lead.mean, decimals);
    return decimals;
}

static void write_leads(const struct moves *m, FILE *out, const struct move *most, int decimals)
{
    uint32_t values = 1, listed = 0;
    for (uint32_t i = 0; i < m->count; i++)
        values += same_axis(&m->rows[i], most) && !isnan(m->rows[i].lead.mean);
    for (uint32_t i = 0; i < m->count; i++) {
        if (!same_axis(&m->rows[i], most) || isnan(m->rows[i].lead.mean)) continue;
        fprintf(out, "%s%.*f ", prose_join(++listed, values), decimals, m->rows[i].lead.mean);
        write_value(out, &m->rows[i]);
    }
}

static void write_most(const struct moves *m, FILE *out)
{
    char best[LABEL_BYTES], rival[LABEL_BYTES];
    const struct move *most = &m->rows[0];
    if (m->rival == LAYOUT_NONE) return;
    for (uint32_t i = 1; i < m->count; i++)
        if (shift_of(m, &m->rows[i]) > shift_of(m, most)) most = &m->rows[i];
    layout_name(m, m->best, best);
    layout_name(m, m->rival, rival);
    if (shift_of(m, most) < 0.0005) return; /* not a digit of what is printed */
    const int decimals = lead_decimals(m, most);
    fprintf(out, " It moves most with %s: %s's lead over %s is %.*f as written", axis_word(most),
            best, rival, decimals, m->lead.mean);
    write_leads(m, out, most, decimals);
    fputc('.', out);
}

static void write_not_computed(const struct moves *m, FILE *out)
{
    const char *wanted = stored_meta(m->c->stored, "tornado");
    const bool nothing =
        wanted != NULL && strcmp(wanted, "1") == 0 && m->c->stored->settings.count == 1;
    bool ran = false;
    for (uint32_t i = 0; i < m->count; i++) ran |= m->rows[i].pairs > 0;
    if (nothing)
        fputs("It rests on no assumption that could be moved.\n", out);
    else if (ran)
        fputs("How far the assumptions may move before the verdict turns cannot be told from 1 "
              "replica of each.\n",
              out);
    else
        fputs("How far the assumptions may move before the verdict turns has not been computed.\n",
              out);
}

static void write_unknown(const struct moves *m, FILE *out, const char *what, bool large)
{
    const struct pick unknown = pick_turn(m, large, TURN_UNKNOWN);
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < m->count; i++)
        if (unknown.has[i] && m->rows[i].pairs < fewest) fewest = m->rows[i].pairs;
    if (unknown.count == 0) return;
    fprintf(out, " %" PRIu32 " replica%s cannot tell %s with ", fewest, fewest == 1 ? "" : "s",
            what);
    list_moves(m, out, &unknown);
    fputc('.', out);
}

void moves_sentences(const struct moves *m, FILE *out)
{
    if (pick_turn(m, false, TURN_UNKNOWN).count == m->count) {
        write_not_computed(m, out);
        return;
    }
    write_yield(m, out);
    write_large_turns(m, out);
    write_most(m, out);
    write_unknown(m, out, "it", false);
    write_unknown(m, out, "completion", true);
    fputc('\n', out);
}
