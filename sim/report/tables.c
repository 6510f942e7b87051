/* tables.c - see tables.h. At most 100 columns; names are made safe for a terminal (P95). */
#include "report/tables.h"

#include "base/text.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum kind { KIND_RATIO, KIND_PERCENT, KIND_TIME, KIND_GPU_H, KIND_COUNT };

/* Rows of a layout's table, in order. waits: not quoted at an offered load of 1 and more. */
static const struct row {
    const char *metric, *label;
    enum kind kind;
    bool by_class, waits;
} rows[] = {
    { "yield", "yield: useful part of held GPU-hours", KIND_RATIO, false, false },
    { "utilization", "allocated, of capacity", KIND_PERCENT, false, false },
    { "goodput", "useful, of capacity", KIND_PERCENT, false, false },
    { "wait_s_p50", "wait p50", KIND_TIME, true, true },
    { "wait_s_p95", "wait p95", KIND_TIME, true, true },
    { "completion_s_p50", "completion p50", KIND_TIME, true, true },
    { "completion_s_p95", "completion p95", KIND_TIME, true, true },
    { "incidents", "faults in the window", KIND_COUNT, false, false },
    { "gpus_stopped_mean", "GPUs stopped by a fault, mean", KIND_COUNT, false, false },
    { "lost_gpu_h", "rolled back, GPU-hours", KIND_GPU_H, false, false },
    { "lost_frac", "rolled back, of held hours", KIND_PERCENT, false, false },
    { "restart_gpu_h", "restarting, GPU-hours", KIND_GPU_H, false, false },
    { "down_gpu_h", "broken or in repair, GPU-hours", KIND_GPU_H, false, false },
    { "unserved_gpu_h", "unserved, GPU-hours", KIND_GPU_H, false, false },
    { "at_risk_gpu_h", "at risk at the end, GPU-hours", KIND_GPU_H, false, false },
};

enum {
    NAME_COLUMNS = 18,
    LABEL_COLUMNS = 40,
    VALUE_COLUMNS = 22,
    ACCOUNT_ROW = 3, /* the accounts stand in front of this row */
};

/* How the numbers of a row are shown, on all layouts alike. */
struct scale {
    double factor;
    int decimals;
    const char *unit;
};

static double largest_of(const struct comparison *c, const struct quantity *quantity)
{
    double largest = 0;
    for (uint32_t i = 0; i < c->layout_count; i++)
        if (quantity->cells[i].value.mean > largest) largest = quantity->cells[i].value.mean;
    return largest;
}

static struct scale scale_of(const struct comparison *c, const struct quantity *quantity,
                             enum kind kind)
{
    const double largest = largest_of(c, quantity);
    const int decimals = largest < 10000 ? 1 : 0;
    switch (kind) {
    case KIND_RATIO:
        return (struct scale){ 1, 4, "" };
    case KIND_PERCENT:
        return (struct scale){ 100, 2, " %" };
    case KIND_GPU_H:
    case KIND_COUNT:
        return (struct scale){ 1, decimals, "" };
    case KIND_TIME:
        break;
    }
    if (largest >= 7200) return (struct scale){ 1.0 / 3600, 2, " h" };
    if (largest >= 120) return (struct scale){ 1.0 / 60, 1, " min" };
    return (struct scale){ 1, 1, " s" };
}

/* A difference that rounds to zero is printed without a sign. */
static double shown(double value, const struct scale *scale)
{
    const double scaled = value * scale->factor;
    return fabs(scaled) < 0.5 * pow(10, -scale->decimals) ? 0 : scaled;
}

static void print_value(FILE *out, const struct interval *value, const struct scale *scale,
                        bool alone)
{
    char text[96];
    if (value->n == 0)
        snprintf(text, sizeof text, "%12s", "none");
    else if (value->n == 1)
        snprintf(text, sizeof text, "%12.*f", scale->decimals, shown(value->mean, scale));
    else
        snprintf(text, sizeof text, "%12.*f ± %.*f", scale->decimals, shown(value->mean, scale),
                 scale->decimals, shown(value->half, scale));
    if (alone)
        fputs(text, out);
    else
        prose_pad(out, text, VALUE_COLUMNS);
}

static void print_difference(FILE *out, const struct cell *cell, const struct scale *scale)
{
    const struct interval *d = &cell->pair.difference;
    if (d->n == 0)
        fprintf(out, "%12s", "no pair");
    else if (d->n == 1)
        fprintf(out, "%+12.*f [no interval]", scale->decimals, shown(d->mean, scale));
    else
        fprintf(out, "%+12.*f [%+.*f, %+.*f]", scale->decimals, shown(d->mean, scale),
                scale->decimals, shown(d->mean - d->half, scale), scale->decimals,
                shown(d->mean + d->half, scale));
}

/* Whether the layout has a baseline other than itself. */
static bool is_compared(const struct comparison *c, uint32_t layout)
{
    return c->baseline[layout] != layout && c->baseline[layout] != LAYOUT_NONE;
}

static void print_row(const struct comparison *c, FILE *out, uint32_t layout,
                      const struct quantity *quantity, const char *label, enum kind kind)
{
    const struct cell *cell = &quantity->cells[layout];
    const struct scale scale = scale_of(c, quantity, kind);
    char text[96];
    snprintf(text, sizeof text, "  %s%s%s", label, *scale.unit != '\0' ? "," : "", scale.unit);
    prose_pad(out, text, LABEL_COLUMNS);
    print_value(out, &cell->value, &scale, !is_compared(c, layout));
    if (is_compared(c, layout)) print_difference(out, cell, &scale);
    if (cell->missing > 0 && cell->value.n > 0)
        fprintf(out, " (%" PRIu32 " without)", cell->missing);
    fputc('\n', out);
}

/* Accounts that hold something on some layout. */
static void print_accounts(const struct comparison *c, FILE *out, uint32_t layout)
{
    char name[48], label[48];
    fputs("  shares of capacity\n", out);
    for (int account = 0; account < ACCOUNTS; account++) {
        snprintf(name, sizeof name, "share_%s", account_names[account]);
        const struct quantity *quantity = comparison_find(c, name, CLASS_NONE);
        bool used = false;
        for (uint32_t i = 0; quantity != NULL && i < c->layout_count; i++)
            used |= quantity->cells[i].value.mean > 0;
        if (!used) continue;
        snprintf(label, sizeof label, "  %s", account_names[account]);
        print_row(c, out, layout, quantity, label, KIND_PERCENT);
    }
}

static void print_classes(const struct comparison *c, FILE *out, uint32_t layout,
                          const struct row *row)
{
    char label[96];
    for (uint8_t class = CLASS_NONE; class < CLASSES; class ++) {
        const struct quantity *quantity = comparison_find(c, row->metric, class);
        if (quantity == NULL) continue;
        if (class == CLASS_NONE)
            snprintf(label, sizeof label, "%s, all jobs", row->label);
        else
            snprintf(label, sizeof label, "  %s GPU%s", class_names[class],
                     class == CLASS_1 ? "" : "s");
        print_row(c, out, layout, quantity, label, row->kind);
    }
}

static void print_rows(const struct comparison *c, FILE *out, uint32_t layout)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (i == ACCOUNT_ROW) print_accounts(c, out, layout);
        if (rows[i].waits && c->load[layout] >= 1) {
            if (strcmp(rows[i].metric, "wait_s_p50") == 0)
                fprintf(out, "  wait and completion: not quoted, the offered load is %.2f\n",
                        c->load[layout]);
            continue;
        }
        if (rows[i].by_class) {
            print_classes(c, out, layout, &rows[i]);
            continue;
        }
        const struct quantity *quantity = comparison_find(c, rows[i].metric, CLASS_NONE);
        if (quantity != NULL) print_row(c, out, layout, quantity, rows[i].label, rows[i].kind);
    }
}

/* ---- blast radius ---- */

static void print_blast(const struct comparison *c, FILE *out, uint32_t layout)
{
    const struct blast *blasts = &c->blasts[layout * BLAST_ROWS];
    if (!(blasts[0].years > 0)) return;
    fprintf(out, "  blast radius: GPUs taken by one fault, over %.4g simulated years of failures\n",
            blasts[0].years);
    for (uint32_t i = 0; i < BLAST_ROWS; i++) {
        if (blasts[i].incidents == 0) continue;
        const char *name = i == BLAST_PARTS ? "all hardware" : stored_component_name(i);
        fprintf(out,
                "    %-14s %10.2f faults a year   p50 %4.4g   p95 %4.4g   max %4.4g   (%" PRIu32
                ")\n",
                name, blasts[i].per_year, blasts[i].p50, blasts[i].p95, blasts[i].max,
                blasts[i].incidents);
    }
}

/* ---- public ---- */

static void print_title(const struct comparison *c, FILE *out, uint32_t layout)
{
    const struct stored_layout *row = &c->stored->layouts[layout];
    char label[LABEL_BYTES], type[LABEL_BYTES], link[LABEL_BYTES], text[4 * LABEL_BYTES];
    snprintf(text, sizeof text,
             "\n%s%s: %" PRIu32 " servers x %" PRIu32 " = %" PRIu32 " GPUs, %s%s, %s, %" PRIu32
             " NIC%s a server",
             comparison_label(c, layout, label), c->baseline[layout] == layout ? " (baseline)" : "",
             row->servers, row->gpus_per_server, row->gpus,
             text_escape(row->server_type, strlen(row->server_type), type, sizeof type),
             row->hypothetical ? " (hypothetical)" : "",
             text_escape(row->link_type, strlen(row->link_type), link, sizeof link),
             row->nics_per_server, row->nics_per_server == 1 ? "" : "s");
    prose_wrap(out, text, PROSE_COLUMNS);
}

static void print_header(const struct comparison *c, FILE *out, uint32_t layout)
{
    char label[LABEL_BYTES], text[LABEL_BYTES + 16];
    const char *value = c->replica_count > 1 ? "        mean ± half" : "       value";
    prose_pad(out, "", LABEL_COLUMNS);
    if (!is_compared(c, layout)) {
        fprintf(out, "%s\n", value);
        return;
    }
    prose_pad(out, value, VALUE_COLUMNS);
    snprintf(text, sizeof text, "minus %s", comparison_label(c, c->baseline[layout], label));
    prose_cut(out, text, PROSE_COLUMNS - LABEL_COLUMNS - VALUE_COLUMNS);
    fputc('\n', out);
}

static void print_luck(const struct comparison *c, FILE *out, uint32_t layout)
{
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    if (yield == NULL || c->baseline[layout] == layout || c->baseline[layout] == LAYOUT_NONE)
        return;
    const double ratio = yield->cells[layout].pair.var_ratio;
    if (!isnan(ratio))
        fprintf(out,
                "  shared luck: variance ratio of the pairs' yields %.3g (2 and less: no help)\n",
                ratio);
}

void tables_layouts(const struct comparison *c, FILE *out)
{
    for (uint32_t i = 0; i < c->layout_count; i++) {
        const uint32_t layout = c->order[i];
        print_title(c, out, layout);
        print_header(c, out, layout);
        print_rows(c, out, layout);
        print_blast(c, out, layout);
        print_luck(c, out, layout);
    }
    if (c->replica_count > 1)
        fprintf(out,
                "\n± is the half width of the 95 %% interval of a mean. Differences are means over "
                "pairs of replicas;\n"
                "each bracket holds at %.2f %%, so that the headline differences hold jointly at "
                "95 %%.\n",
                100 * c->conf_difference);
    else
        fputs("\n1 replica: no interval exists.\n", out);
}

/* Mean of a quantity as text, or "-". */
static const char *mean_text(const struct comparison *c, const char *name, uint32_t layout,
                             double factor, int decimals, char out[32])
{
    const struct quantity *quantity = comparison_find(c, name, CLASS_NONE);
    if (quantity == NULL || quantity->cells[layout].value.n == 0) return "-";
    snprintf(out, 32, "%.*f", decimals, factor * quantity->cells[layout].value.mean);
    return out;
}

static void print_overview_row(const struct comparison *c, FILE *out, uint32_t layout)
{
    char label[LABEL_BYTES], a[32], b[32], w[32], l[32] = "-", u[32], later[32] = "-",
                                                  blast[32] = "-";
    const bool quoted = c->load[layout] < 1;
    const uint32_t base = c->baseline[layout];
    const struct blast *parts = &c->blasts[layout * BLAST_ROWS + BLAST_PARTS];
    if (quoted && base != LAYOUT_NONE && base != layout && c->load[base] < 1) {
        const struct interval ratio = comparison_large(c, layout, base, c->conf_difference);
        if (ratio.n > 0) snprintf(later, sizeof later, "%+.1f", 100 * ratio.mean);
    }
    const double lost = comparison_lost_share(c, layout);
    if (!isnan(lost)) snprintf(l, sizeof l, "%.2f", 100 * lost);
    if (parts->incidents > 0) snprintf(blast, sizeof blast, "%.4g", parts->p50);
    prose_pad(out, comparison_label(c, layout, label), NAME_COLUMNS);
    fprintf(out, " %7" PRIu32 " %6.2f %8s %8s %10s %10s %8s %8s %8s\n",
            c->stored->layouts[layout].gpus, c->load[layout],
            mean_text(c, "yield", layout, 1, 4, a), mean_text(c, "utilization", layout, 100, 2, b),
            quoted ? mean_text(c, "wait_s_p95", layout, 1.0 / 3600, 2, w) : "-", later, blast, l,
            mean_text(c, "unserved_gpu_h", layout, 1, 0, u));
}

void tables_overview(const struct comparison *c, FILE *out)
{
    prose_pad(out, "layout", NAME_COLUMNS);
    fprintf(out, " %7s %6s %8s %8s %10s %10s %8s %8s %8s\n", "GPUs", "load", "yield", "alloc %",
            "wait p95 h", "16+ later%", "blast", "lost %", "unserved");
    for (uint32_t i = 0; i < c->layout_count; i++) print_overview_row(c, out, c->order[i]);
}
