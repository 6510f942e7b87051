/* tables_times.c - wait and completion of one layout, a block each and a line per size class: see tables.h. */
#include "report/tables.h"

#include "report/prose.h"
#include "report/table_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* label | p50 ± half | difference | p95 ± half | difference: 98 columns. */
enum {
    LABEL_COLUMNS = 18,
    NUMBER_COLUMNS = 7,
    VALUE_COLUMNS = 17, /* the number, " ± ", five characters, two blanks                      */
    APART_COLUMNS = 23, /* "-12.34 [-12.34, -12.34]"                                            */
    NUMBER_CHARACTERS = 5,
    BLANKS = 2,
};

/* One quantile of one class. */
struct quantile {
    const struct quantity *own;   /* of the layout's own jobs                                  */
    const struct quantity *apart; /* whose differences are shown: over the common jobs         */
};

struct times {
    struct quantile p50, p95;
};

static struct quantile quantile_of(const struct comparison *c, const char *stem, const char *suffix,
                                   uint8_t class_)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%s", stem, suffix);
    return (struct quantile){ .own = comparison_find(c, name, class_),
                              .apart = comparison_find_common(c, name, class_) };
}

static struct times times_of(const struct comparison *c, const char *stem, uint8_t class_)
{
    return (struct times){ .p50 = quantile_of(c, stem, "p50", class_),
                           .p95 = quantile_of(c, stem, "p95", class_) };
}

/* ---- scale of a line: one on all layouts ---- */

/* Whether a difference of the layout to its baseline may be quoted: neither grows with the horizon. */
static bool is_quoted_apart(const struct comparison *c, uint32_t layout)
{
    return cell_is_compared(c, layout) && !comparison_saturated(c, layout) &&
           !comparison_saturated(c, c->baseline[layout]);
}

static double largest_mean_s(const struct comparison *c, const struct quantity *quantity)
{
    double largest = 0;
    for (uint32_t i = 0; quantity != NULL && i < c->layout_count; i++)
        if (!comparison_saturated(c, i)) largest = fmax(largest, quantity->cells[i].value.mean);
    return largest;
}

/* Largest number that stands in an interval, without its sign; `seen` when there is none. */
static double reach_s(struct interval interval, double seen)
{
    if (interval.n == 0) return seen;
    return fmax(seen, fabs(interval.mean) + (isnan(interval.half) ? 0 : interval.half));
}

static double widest_s(const struct comparison *c, const struct quantile *quantile)
{
    double widest = 0;
    for (uint32_t i = 0; i < c->layout_count; i++) {
        if (quantile->own != NULL && !comparison_saturated(c, i))
            widest = reach_s(quantile->own->cells[i].value, widest);
        if (quantile->apart != NULL && is_quoted_apart(c, i))
            widest = reach_s(quantile->apart->cells[i].pair.difference, widest);
    }
    return widest;
}

/* The unit follows the means; decimals go until every number of the line has its place. */
static struct cell_scale scale_of(const struct comparison *c, const struct times *times)
{
    struct cell_scale scale = cell_scale(
        c, fmax(largest_mean_s(c, times->p50.own), largest_mean_s(c, times->p95.own)), CELL_TIME);
    const double widest = scale.factor * fmax(widest_s(c, &times->p50), widest_s(c, &times->p95));
    while (scale.decimals > 0 && widest >= pow(10, NUMBER_CHARACTERS - 1 - scale.decimals) -
                                               0.5 * pow(10, -scale.decimals))
        scale.decimals--;
    return scale;
}

/* ---- one line ---- */

static void value_text(const struct quantity *quantity, uint32_t layout,
                       const struct cell_scale *scale, char out[128])
{
    if (quantity == NULL || quantity->cells[layout].value.n == 0) {
        snprintf(out, 128, "%*s", NUMBER_COLUMNS, "none");
        return;
    }
    const struct interval *value = &quantity->cells[layout].value;
    const double mean = cell_shown(value->mean, scale);
    if (value->n == 1 || scale->exact)
        snprintf(out, 128, "%*.*f", NUMBER_COLUMNS, scale->decimals, mean);
    else
        snprintf(out, 128, "%*.*f ± %.*f", NUMBER_COLUMNS, scale->decimals, mean, scale->decimals,
                 cell_shown(value->half, scale));
}

static void apart_text(const struct comparison *c, uint32_t layout, const struct quantity *quantity,
                       const struct cell_scale *scale, char out[128])
{
    out[0] = '\0';
    if (!cell_is_compared(c, layout)) return;
    if (!is_quoted_apart(c, layout))
        snprintf(out, 128, "not quoted");
    else if (quantity != NULL)
        cell_difference(out, 128, &quantity->cells[layout].pair.difference, scale,
                        (struct cell_room){ NUMBER_CHARACTERS + 1, APART_COLUMNS });
}

/* Prints texts in their columns, without blanks at the end of the line. */
static void print_columns(FILE *out, char texts[4][128])
{
    static const unsigned columns[] = { VALUE_COLUMNS, APART_COLUMNS + BLANKS, VALUE_COLUMNS,
                                        APART_COLUMNS };
    const int last = texts[3][0] != '\0' ? 3 : 2;
    for (int i = 0; i < last; i++) prose_pad(out, texts[i], columns[i]);
    prose_cut(out, texts[last], columns[last]);
    fputc('\n', out);
}

static bool has_gap(const struct quantity *quantity, uint32_t layout)
{
    return quantity != NULL && quantity->cells[layout].missing > 0 &&
           quantity->cells[layout].value.n > 0; /* known nowhere reads "none" */
}

static void print_class(const struct comparison *c, FILE *out, uint32_t layout, const char *stem,
                        uint8_t class_)
{
    const struct times times = times_of(c, stem, class_);
    if (times.p50.own == NULL && times.p95.own == NULL) return;
    const struct cell_scale scale = scale_of(c, &times);
    const char *mark = has_gap(times.p50.own, layout) || has_gap(times.p95.own, layout) ? "*" : "";
    char label[64], texts[4][128];
    if (class_ == CLASS_NONE)
        snprintf(label, sizeof label, "  all jobs%s,%s", mark, scale.unit);
    else
        snprintf(label, sizeof label, "  %s GPU%s%s,%s", class_names[class_],
                 class_ == CLASS_1 ? "" : "s", mark, scale.unit);
    prose_pad(out, label, LABEL_COLUMNS);
    value_text(times.p50.own, layout, &scale, texts[0]);
    apart_text(c, layout, times.p50.apart, &scale, texts[1]);
    value_text(times.p95.own, layout, &scale, texts[2]);
    apart_text(c, layout, times.p95.apart, &scale, texts[3]);
    print_columns(out, texts);
}

/* ---- one block ---- */

static void print_header(const struct comparison *c, FILE *out, uint32_t layout, const char *title)
{
    const char *half = c->replica_count > 1 && !c->exact ? " ± half" : "";
    char label[LABEL_BYTES], texts[4][128] = { "" };
    prose_pad(out, title, LABEL_COLUMNS);
    snprintf(texts[0], sizeof texts[0], "%*s%s", NUMBER_COLUMNS, "p50", half);
    snprintf(texts[2], sizeof texts[2], "%*s%s", NUMBER_COLUMNS, "p95", half);
    if (cell_is_compared(c, layout)) {
        snprintf(texts[1], sizeof texts[1], "minus %.100s",
                 comparison_label(c, c->baseline[layout], label));
        memcpy(texts[3], texts[1], sizeof texts[3]);
    }
    print_columns(out, texts);
}

/* What * marks: quantiles that some replicas do not have, so that their means are over fewer. */
static void print_gaps(const struct comparison *c, FILE *out, uint32_t layout, const char *stem)
{
    char text[512] = "";
    size_t used = 0;
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++) {
        const struct times times = times_of(c, stem, class);
        const struct quantity *const quantities[] = { times.p50.own, times.p95.own };
        for (size_t i = 0; i < 2 && used < sizeof text; i++) {
            if (!has_gap(quantities[i], layout)) continue;
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%s of %s%s in %" PRIu32,
                used > 0 ? ", " : "* known in some replicas only: ", i == 0 ? "p50" : "p95",
                class == CLASS_NONE ? "all jobs" : class_names[class],
                class == CLASS_NONE ? ""
                : class == CLASS_1  ? " GPU"
                                    : " GPUs",
                quantities[i]->cells[layout].value.n);
        }
    }
    if (used == 0 || used >= sizeof text) return;
    snprintf(text + used, sizeof text - used, " of %" PRIu32, c->replicas[layout]);
    fputs("  ", out);
    prose_wrap(out, text, PROSE_COLUMNS - 2);
}

static bool has_times(const struct comparison *c, const char *stem)
{
    bool any = false;
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++) {
        const struct times times = times_of(c, stem, class);
        any |= times.p50.own != NULL || times.p95.own != NULL;
    }
    return any;
}

static void print_block(const struct comparison *c, FILE *out, uint32_t layout, const char *stem,
                        const char *title)
{
    if (!has_times(c, stem)) return;
    print_header(c, out, layout, title);
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++)
        print_class(c, out, layout, stem, class);
    print_gaps(c, out, layout, stem);
}

void tables_times(const struct comparison *c, FILE *out, uint32_t layout)
{
    if (!has_times(c, "wait_s") && !has_times(c, "completion_s")) return;
    if (comparison_saturated(c, layout)) {
        const double needs = c->needs[layout], stuck = comparison_stuck(c, layout);
        if (stuck > 0) {
            fprintf(out, "  wait, completion: not quoted, %.*f job%s can never end\n",
                    stuck == floor(stuck) ? 0 : 1, stuck, stuck == 1 ? "" : "s");
            return;
        }
        fprintf(out,
                "  wait, completion: not quoted, they grow with the horizon (%s %.2f of what %s)\n",
                isnan(needs) ? "offered" : "asked for", isnan(needs) ? c->load[layout] : needs,
                isnan(needs) ? "it has" : "is in service");
        return;
    }
    print_block(c, out, layout, "wait_s", "  wait");
    print_block(c, out, layout, "completion_s", "  completion");
}
