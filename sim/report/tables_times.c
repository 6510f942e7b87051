/* tables_times.c - wait and completion of one layout, a line per size class: see tables.h. */
#include "report/tables.h"

#include "report/prose.h"
#include "report/table_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    LABEL_COLUMNS = 19,
    WAIT_COLUMNS = 9,
    DONE_COLUMNS = 10,
    P95_COLUMNS = 9,
    APART_COLUMNS = 22, /* two blanks in front                                                 */
};

/* Times of one class. */
struct times {
    const struct quantity *p50, *p95, *apart; /* apart: whose difference is shown              */
};

static struct times times_of(const struct comparison *c, const char *stem, uint8_t class_)
{
    char p50[40], p95[40];
    snprintf(p50, sizeof p50, "%s_p50", stem);
    snprintf(p95, sizeof p95, "%s_p95", stem);
    return (struct times){ .p50 = comparison_find(c, p50, class_),
                           .p95 = comparison_find(c, p95, class_),
                           .apart = comparison_find_common(c, p95, class_) };
}

/* Largest mean over the layouts whose times are quoted. */
static double largest_s(const struct comparison *c, const struct quantity *quantity)
{
    double largest = 0;
    for (uint32_t i = 0; quantity != NULL && i < c->layout_count; i++)
        if (!comparison_saturated(c, i) && quantity->cells[i].value.mean > largest)
            largest = quantity->cells[i].value.mean;
    return largest;
}

static void print_number(FILE *out, const struct quantity *quantity, uint32_t layout,
                         const struct cell_scale *scale, int columns)
{
    if (quantity == NULL || quantity->cells[layout].value.n == 0)
        fprintf(out, "%*s", columns, "none");
    else
        fprintf(out, "%*.*f", columns, scale->decimals,
                cell_shown(quantity->cells[layout].value.mean, scale));
}

/* What stands beside a p95: its half width on the baseline, else its difference to it. */
static void apart_text(const struct comparison *c, uint32_t layout, const struct times *times,
                       const struct cell_scale *scale, char out[128])
{
    out[0] = '\0';
    if (!cell_is_compared(c, layout)) {
        if (times->p95 != NULL && times->p95->cells[layout].value.n > 1 && !scale->exact)
            snprintf(out, 128, "± %.*f", scale->decimals,
                     cell_shown(times->p95->cells[layout].value.half, scale));
    } else if (!comparison_saturated(c, c->baseline[layout]) && times->apart != NULL) {
        cell_difference(out, 128, &times->apart->cells[layout].pair.difference, scale,
                        (struct cell_room){ 0, APART_COLUMNS - 2 });
    }
}

static void print_times(const struct comparison *c, FILE *out, uint32_t layout,
                        const struct times *times, const struct cell_scale *scale, int columns,
                        bool last)
{
    char text[128];
    print_number(out, times->p50, layout, scale, columns);
    print_number(out, times->p95, layout, scale, P95_COLUMNS);
    apart_text(c, layout, times, scale, text);
    if (last && text[0] == '\0') return;
    fputs("  ", out);
    if (last)
        prose_cut(out, text, APART_COLUMNS - 2);
    else
        prose_pad(out, text, APART_COLUMNS - 2);
}

static void print_class(const struct comparison *c, FILE *out, uint32_t layout, uint8_t class_)
{
    const struct times wait = times_of(c, "wait_s", class_);
    const struct times done = times_of(c, "completion_s", class_);
    if (wait.p50 == NULL && done.p50 == NULL) return;
    const struct cell_scale scale =
        cell_scale(c, fmax(largest_s(c, wait.p95), largest_s(c, done.p95)), CELL_TIME);
    char label[64];
    if (class_ == CLASS_NONE)
        snprintf(label, sizeof label, "   all jobs,%s", scale.unit);
    else
        snprintf(label, sizeof label, "   %s GPU%s,%s", class_names[class_],
                 class_ == CLASS_1 ? "" : "s", scale.unit);
    prose_pad(out, label, LABEL_COLUMNS);
    print_times(c, out, layout, &wait, &scale, WAIT_COLUMNS, false);
    print_times(c, out, layout, &done, &scale, DONE_COLUMNS, true);
    fputc('\n', out);
}

static void print_header(const struct comparison *c, FILE *out, uint32_t layout)
{
    char label[LABEL_BYTES], text[LABEL_BYTES + 8] = "";
    if (cell_is_compared(c, layout))
        snprintf(text, sizeof text, "minus %s", comparison_label(c, c->baseline[layout], label));
    prose_pad(out, "  times", LABEL_COLUMNS);
    fprintf(out, "%*s%*s  ", WAIT_COLUMNS, "wait p50", P95_COLUMNS, "p95");
    prose_pad(out, text, APART_COLUMNS - 2);
    fprintf(out, "%*s%*s", DONE_COLUMNS, "compl. p50", P95_COLUMNS, "p95");
    if (text[0] != '\0') {
        fputs("  ", out);
        prose_cut(out, text, APART_COLUMNS - 2);
    }
    fputc('\n', out);
}

/* Classes that some replicas have no times of: their means are over fewer. */
static void print_gaps(const struct comparison *c, FILE *out, uint32_t layout)
{
    uint32_t listed = 0;
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++) {
        const struct times done = times_of(c, "completion_s", class);
        if (done.p95 == NULL || done.p95->cells[layout].missing == 0) continue;
        const struct cell *cell = &done.p95->cells[layout];
        fputs(listed++ == 0 ? "   (p95 of completion in some replicas only: " : ", ", out);
        if (class == CLASS_NONE)
            fputs("all jobs", out);
        else
            fprintf(out, "%s", class_names[class]);
        fprintf(out, " in %" PRIu32 " of %" PRIu32, cell->value.n, cell->value.n + cell->missing);
    }
    if (listed > 0) fputs(")\n", out);
}

void tables_times(const struct comparison *c, FILE *out, uint32_t layout)
{
    bool any = false;
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++)
        any |= times_of(c, "wait_s", class).p50 != NULL ||
               times_of(c, "completion_s", class).p50 != NULL;
    if (!any) return;
    if (comparison_saturated(c, layout)) {
        const double needs = c->needs[layout];
        fprintf(out, "  times: not quoted, it is %s %.2f of what it has\n",
                isnan(needs) ? "offered" : "asked for", isnan(needs) ? c->load[layout] : needs);
        return;
    }
    print_header(c, out, layout);
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++) print_class(c, out, layout, class);
    print_gaps(c, out, layout);
}
