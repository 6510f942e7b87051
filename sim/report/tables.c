/* tables.c - see tables.h. Names are made safe for a terminal (P95). */
#include "report/tables.h"

#include "base/text.h"
#include "report/prose.h"
#include "report/short_names.h"
#include "report/table_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Rows of a layout's table, in order; the accounts and the times stand between the two lists. Useful work is the account
 * "compute", and rolled-back work "lost". */
struct row {
    const char *metric, *label;
    enum cell_kind kind;
    bool
        always; /* stands there when it is 0 on all layouts, too: readers look for it             */
};
static const struct row first_rows[] = {
    { "yield", "yield: useful part of held GPU-hours", CELL_RATIO, true },
    { "effective_load", "needed at its own speed, of capacity", CELL_RATIO, false },
    { "utilization", "allocated, of capacity", CELL_PERCENT, true },
};
static const struct row last_rows[] = {
    { "incidents", "faults in the window (incidents)", CELL_COUNT, true },
    { "gpus_stopped_mean", "GPUs a fault stops, mean", CELL_COUNT, false },
    { "lost_frac", "lost, of held hours", CELL_SMALL_PERCENT, true },
    { "lost_gpu_h", "rolled back (lost), GPU-hours", CELL_GPU_H, true },
    { "restart_gpu_h", "restarting, GPU-hours", CELL_GPU_H, false },
    { "down_gpu_h", "out of service for faults, GPU-hours", CELL_GPU_H, false },
    { "unserved_gpu_h", "unserved in the window, GPU-hours", CELL_GPU_H, true },
    { "at_risk_gpu_h", "at risk at the end, GPU-hours", CELL_GPU_H, false },
};

enum {
    NAME_COLUMNS = 18,
    OVERVIEW_COLUMNS = 16,
    OVERVIEW_COLUMNS_MOST = 31, /* without the last column, which the block of a layout has too */
    LABEL_COLUMNS = 40,
    VALUE_COLUMNS = 22,
    APART_COLUMNS = PROSE_COLUMNS - LABEL_COLUMNS - VALUE_COLUMNS,
    MEAN_COLUMNS = 18, /* of the blast radius */
    MEAN_APART_COLUMNS = 27,
};

/* ---- one row ---- */

static void print_row(const struct comparison *c, FILE *out, uint32_t layout,
                      const struct quantity *quantity, const char *label, enum cell_kind kind)
{
    const struct cell *cell = &quantity->cells[layout];
    const struct cell_scale scale = cell_scale(c, cell_largest(c, quantity), kind);
    char text[128], without[32] = "";
    if (cell->missing > 0 && cell->value.n > 0)
        snprintf(without, sizeof without, " (%" PRIu32 " of %" PRIu32 ")", cell->value.n,
                 c->replicas[layout]);
    snprintf(text, sizeof text, "  %s%s%s%s", label, *scale.unit != '\0' ? "," : "", scale.unit,
             without);
    prose_pad(out, text, LABEL_COLUMNS);
    cell_value(text, sizeof text, &cell->value, &scale);
    if (cell_is_compared(c, layout)) {
        prose_pad(out, text, VALUE_COLUMNS);
        cell_difference(text, sizeof text, &cell->pair.difference, &scale,
                        (struct cell_room){ 12, APART_COLUMNS });
    }
    fprintf(out, "%s\n", text);
}

/* Whether the quantity shows more than zeros on some layout. */
static bool is_used(const struct comparison *c, const struct quantity *quantity,
                    enum cell_kind kind)
{
    const double largest = cell_largest(c, quantity);
    const struct cell_scale scale = cell_scale(c, largest, kind);
    return cell_shown(largest, &scale) > 0;
}

static void print_rows(const struct comparison *c, FILE *out, uint32_t layout,
                       const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct quantity *quantity = comparison_find(c, rows[i].metric, CLASS_NONE);
        if (quantity != NULL && (rows[i].always || is_used(c, quantity, rows[i].kind)))
            print_row(c, out, layout, quantity, rows[i].label, rows[i].kind);
    }
}

/* What of contention the extreme estimates would make. */
static void print_bounds(const struct comparison *c, FILE *out, uint32_t layout)
{
    static const struct row rows[] = {
        { "share_stall_contention_lower", "    at least", CELL_PERCENT, true },
        { "share_stall_contention_upper", "    at most", CELL_PERCENT, true },
    };
    print_rows(c, out, layout, rows, sizeof rows / sizeof *rows);
}

/* Accounts that hold something on some layout. */
static void print_accounts(const struct comparison *c, FILE *out, uint32_t layout)
{
    char name[48], label[48];
    fputs("  shares of capacity\n", out);
    for (int account = 0; account < ACCOUNTS; account++) {
        snprintf(name, sizeof name, "share_%s", account_names[account]);
        const struct quantity *quantity = comparison_find(c, name, CLASS_NONE);
        if (!is_used(c, quantity, CELL_PERCENT)) continue;
        snprintf(label, sizeof label, "  %s", account_names[account]);
        print_row(c, out, layout, quantity, label, CELL_PERCENT);
        if (account == ACC_STALL_CONTENTION) print_bounds(c, out, layout);
    }
}

/* ---- blast radius ---- */

static void print_blast_header(const struct comparison *c, FILE *out, uint32_t layout, double years)
{
    char label[LABEL_BYTES], text[LABEL_BYTES + 16];
    fprintf(out, "  blast radius: GPUs taken by one fault, over %.4g simulated years of failures\n",
            years);
    prose_pad(out, "", NAME_COLUMNS);
    fprintf(out, "%9s %9s %5s %5s %5s", "incidents", "a year", "p50", "p95", "max");
    if (!cell_is_compared(c, layout)) {
        fputs("    mean ± half\n", out);
        return;
    }
    prose_pad(out, "    mean ± half", MEAN_COLUMNS);
    snprintf(text, sizeof text, "minus %s", comparison_label(c, c->baseline[layout], label));
    prose_cut(out, text, MEAN_APART_COLUMNS);
    fputc('\n', out);
}

static void print_blast_row(const struct comparison *c, FILE *out, uint32_t layout, uint32_t part)
{
    static const struct cell_scale scale = { .factor = 1, .decimals = 2, .unit = "" };
    const struct blast *blast = &c->blasts[layout * BLAST_ROWS + part];
    const struct interval apart = comparison_blast_apart(c, layout, part);
    char text[128];
    snprintf(text, sizeof text, "    %s",
             part == BLAST_PARTS ? "all hardware" : stored_component_name(part));
    prose_pad(out, text, NAME_COLUMNS);
    fprintf(out, "%9" PRIu32 " %9.2f %5.4g %5.4g %5.4g", blast->incidents, blast->per_year,
            blast->p50, blast->p95, blast->max);
    if (blast->mean.n > 1)
        snprintf(text, sizeof text, "%8.2f ± %.2f", blast->mean.mean, blast->mean.half);
    else
        snprintf(text, sizeof text, "%8.2f", blast->mean.mean);
    if (apart.n > 0) {
        prose_pad(out, text, MEAN_COLUMNS);
        cell_difference(text, sizeof text, &apart, &scale,
                        (struct cell_room){ 0, MEAN_APART_COLUMNS });
    }
    fprintf(out, "%s\n", text);
}

static void print_blast(const struct comparison *c, FILE *out, uint32_t layout)
{
    const struct blast *blasts = &c->blasts[layout * BLAST_ROWS];
    if (!(blasts[0].years > 0)) return;
    print_blast_header(c, out, layout, blasts[0].years);
    for (uint32_t i = 0; i < BLAST_ROWS; i++)
        if (blasts[i].incidents > 0) print_blast_row(c, out, layout, i);
    if (blasts[BLAST_PARTS].took_none > 0)
        fprintf(out,
                "    left out: %" PRIu32
                " faults of hardware that took no GPU, for it was out of service already\n",
                blasts[BLAST_PARTS].took_none);
}

/* ---- one layout ---- */

static void print_title(const struct comparison *c, FILE *out, uint32_t layout)
{
    const struct stored_layout *row = &c->stored->layouts[layout];
    char label[LABEL_BYTES], type[LABEL_BYTES], link[LABEL_BYTES], kind[LABEL_BYTES],
        text[5 * LABEL_BYTES];
    const bool two_tier = strcmp(row->fabric_type, "two-tier") == 0; /* the usual: not said */
    snprintf(
        text, sizeof text,
        "\n%s%s: %" PRIu32 " server%s %s %" PRIu32 " = %" PRIu32 " GPUs, %s%s, %s%s%s, %" PRIu32
        " NIC%s a server",
        comparison_label(c, layout, label), c->baseline[layout] == layout ? " (baseline)" : "",
        row->servers, row->servers == 1 ? "" : "s",
        (uint64_t)row->servers * row->gpus_per_server == row->gpus ? "x" : "of up to",
        row->gpus_per_server, row->gpus,
        text_escape(row->server_type, strlen(row->server_type), type, sizeof type),
        row->hypothetical ? " (hypothetical)" : "",
        text_escape(row->link_type, strlen(row->link_type), link, sizeof link), two_tier ? "" : " ",
        two_tier ? "" : text_escape(row->fabric_type, strlen(row->fabric_type), kind, sizeof kind),
        row->nics_per_server, row->nics_per_server == 1 ? "" : "s");
    prose_wrap(out, text, PROSE_COLUMNS);
}

static void print_header(const struct comparison *c, FILE *out, uint32_t layout)
{
    char label[LABEL_BYTES], text[LABEL_BYTES + 16];
    const char *value = c->replica_count > 1 && !c->exact ? "        mean ± half" : "       value";
    prose_pad(out, "", LABEL_COLUMNS);
    if (!cell_is_compared(c, layout)) {
        fprintf(out, "%s\n", value);
        return;
    }
    prose_pad(out, value, VALUE_COLUMNS);
    snprintf(text, sizeof text, "minus %s", comparison_label(c, c->baseline[layout], label));
    prose_cut(out, text, APART_COLUMNS);
    fputc('\n', out);
}

static void print_luck(const struct comparison *c, FILE *out, uint32_t layout)
{
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    if (yield == NULL || c->exact || !cell_is_compared(c, layout)) return;
    const double ratio = yield->cells[layout].pair.var_ratio;
    if (isinf(ratio))
        fprintf(out, "  shared luck: the yields of all pairs are equally far apart\n");
    else if (!isnan(ratio))
        fprintf(out,
                "  shared luck: variance ratio of the pairs' yields %.3g (1 and less: no help)\n",
                ratio);
}

void tables_layouts(const struct comparison *c, FILE *out)
{
    for (uint32_t i = 0; i < c->layout_count; i++) {
        const uint32_t layout = c->order[i];
        print_title(c, out, layout);
        print_header(c, out, layout);
        print_rows(c, out, layout, first_rows, sizeof first_rows / sizeof *first_rows);
        print_accounts(c, out, layout);
        tables_times(c, out, layout);
        print_rows(c, out, layout, last_rows, sizeof last_rows / sizeof *last_rows);
        print_blast(c, out, layout);
        print_luck(c, out, layout);
    }
}

/* What (14 of 20) beside a row means. */
static void write_note_of_gaps(const struct comparison *c, FILE *out)
{
    const struct quantity *stopped = comparison_find(c, "gpus_stopped_mean", CLASS_NONE);
    bool any = false;
    for (uint32_t i = 0; i < c->quantity_count && !any; i++)
        for (uint32_t layout = 0; layout < c->layout_count; layout++)
            any |= c->quantities[i].cells[layout].missing > 0 &&
                   c->quantities[i].cells[layout].value.n > 0;
    if (stopped != NULL && is_used(c, stopped, CELL_COUNT))
        fputs("GPUs a fault stops: those of the jobs that end with it, the mean over a replica's "
              "faults.\n",
              out);
    if (any) fputs("(n of m): only n of the m replicas have such a number.\n", out);
}

void tables_notes(const struct comparison *c, FILE *out)
{
    if (c->exact)
        fputs("\nNothing is drawn by chance: the numbers are exact.\n", out);
    else if (c->replica_count > 1)
        fprintf(out,
                "\n± is the half width of the 95 %% interval of a mean. Differences are means over "
                "pairs of replicas;\n"
                "each bracket holds at %.2f %%, so that the headline differences hold jointly at "
                "95 %%.\n"
                "Blast radii are compared over all their faults, as of independent runs.\n",
                100 * c->conf_difference);
    else
        fputs("\n1 replica: no interval exists.\n", out);
    write_note_of_gaps(c, out);
    if (c->common)
        fputs("Differences of waits and completion are over the jobs that every layout can hold.\n",
              out);
}

/* ---- overview ---- */

/* Mean of a quantity as text, or "-". */
static const char *mean_text(const struct quantity *quantity, uint32_t layout, double factor,
                             int decimals, char out[32])
{
    if (quantity == NULL || quantity->cells[layout].value.n == 0) return "-";
    snprintf(out, 32, "%.*f", decimals, factor * quantity->cells[layout].value.mean);
    return out;
}

static const char *named_text(const struct comparison *c, const char *name, uint32_t layout,
                              double factor, int decimals, char out[32])
{
    return mean_text(comparison_find(c, name, CLASS_NONE), layout, factor, decimals, out);
}

static const char *later_text(const struct comparison *c, uint32_t layout, char out[32])
{
    const uint32_t base = c->baseline[layout];
    if (!cell_is_compared(c, layout) || comparison_saturated(c, layout) ||
        comparison_saturated(c, base))
        return "-";
    const struct interval ratio = comparison_large(c, layout, base, c->conf_difference);
    if (ratio.n == 0) return "-";
    snprintf(out, 32, "%+.1f", 100 * ratio.mean);
    return out;
}

static const char *wait_text(const struct comparison *c, uint32_t layout, char out[32])
{
    if (comparison_saturated(c, layout)) return "-";
    return mean_text(comparison_find_common(c, "wait_s_p95", CLASS_NONE), layout, 1.0 / 3600, 2,
                     out);
}

/* LAYOUT/SCHEDULER is often longer than a layout's name; two of them cut at the same place would look alike. */
static unsigned overview_columns(const struct comparison *c)
{
    unsigned columns = OVERVIEW_COLUMNS;
    for (uint32_t i = 0; i < c->layout_count; i++) {
        char label[LABEL_BYTES];
        const size_t bytes = strlen(comparison_label(c, i, label));
        if (bytes > columns) columns = (unsigned)bytes;
    }
    return columns < OVERVIEW_COLUMNS_MOST ? columns : OVERVIEW_COLUMNS_MOST;
}

static void print_overview_row(const struct comparison *c, FILE *out, uint32_t layout,
                               const char *name, unsigned columns)
{
    char yield[32], held[32], wait[32], later[32], unserved[32];
    char load[32] = "-", needs[32] = "-", lost[32] = "-", blast[32] = "-";
    const struct blast *parts = &c->blasts[layout * BLAST_ROWS + BLAST_PARTS];
    const double lost_share = comparison_lost_share(c, layout);
    if (!isnan(c->load[layout])) snprintf(load, sizeof load, "%.2f", c->load[layout]);
    if (!isnan(c->needs[layout])) snprintf(needs, sizeof needs, "%.2f", c->needs[layout]);
    if (!isnan(lost_share)) snprintf(lost, sizeof lost, "%.2f", 100 * lost_share);
    if (parts->incidents > 0) snprintf(blast, sizeof blast, "%.3g", parts->mean.mean);
    prose_pad(out, name, columns);
    fprintf(out, " %6" PRIu32 " %5s %5s %6s %7s %10s %10s %5s %6s", c->stored->layouts[layout].gpus,
            load, needs, named_text(c, "yield", layout, 1, 4, yield),
            named_text(c, "utilization", layout, 100, 2, held), wait_text(c, layout, wait),
            later_text(c, layout, later), blast, lost);
    if (columns == OVERVIEW_COLUMNS)
        fprintf(out, " %14s", named_text(c, "unserved_gpu_h", layout, 1, 0, unserved));
    fputc('\n', out);
}

void tables_overview(const struct comparison *c, FILE *out)
{
    const unsigned columns = overview_columns(c);
    struct short_names names;
    short_names_make(c, columns, &names);
    prose_pad(out, "layout", columns);
    fprintf(out, " %6s %5s %5s %6s %7s %10s %10s %5s %6s", "GPUs", "load", "needs", "yield",
            "alloc %", "wait p95 h", c->large ? "16+ later%" : "later %", "blast", "lost %");
    fputs(columns == OVERVIEW_COLUMNS ? " unserved GPU-h\n" : "\n", out);
    for (uint32_t i = 0; i < c->layout_count; i++)
        print_overview_row(c, out, c->order[i], names.name[c->order[i]], columns);
    if (names.numbered)
        fputs("Names are cut: the numbers count the layouts as the scenario has them.\n", out);
    if (c->common)
        fputs("Wait and completion here are over the jobs that every layout can hold.\n", out);
}
