/* oracle_validate.c - measured collectives against what the simulator's models say.
 *
 * usage: oracle_validate FOLDER [TABLE]. Reads FOLDER/collectives.csv, whose column `run` holds the arguments of
 * `gpuplan collective`, and FOLDER/ring_ratio.csv, a ring on servers of eight H100. One line per row, then one per group:
 *
 *     GROUP: N rows, median E %, p90 F %       E, F of |model time / measured time - 1|
 *
 * Two machines of one type differ up to twofold below 64 MiB: where two sources measured the same question, the one with
 * more rows of that operation and server is judged, and the other's rows are shown only. Rows that a number of the catalog
 * was taken from (fitted_to) prove little: the last two groups are without them. TABLE gets a line
 * "group<tab>measured<tab>model" per judged row, in GB/s, to plot. */
#include "io/catalog_fields.h"
#include "io/csv.h"
#include "io/input.h"
#include "models/statistics.h"
#include "tests/measured.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 1024, SMALL_BYTES = 64 << 20 };

enum group {
    REDUCE_ONE,
    REDUCE_MANY,
    GATHER,
    ALL_TO_ALL_ONE,
    ALL_TO_ALL_MANY,
    RING_RATIO,
    LARGE,
    SMALL,
    LARGE_UNSEEN,
    SMALL_UNSEEN,
    GROUPS
};
static const struct {
    const char *name;
    double median, p90; /* wanted, percent; 0 = no bound of its own */
} groups[GROUPS] = {
    [REDUCE_ONE] = { "all_reduce in one server or NVLink domain", 0, 0 },
    [REDUCE_MANY] = { "all_reduce between servers", 0, 0 },
    [GATHER] = { "all_gather and reduce_scatter", 0, 0 },
    [ALL_TO_ALL_ONE] = { "alltoall in one server or NVLink domain", 0, 0 },
    [ALL_TO_ALL_MANY] = { "alltoall between servers", 0, 0 },
    [RING_RATIO] = { "ring, 2 to 128 servers of 8 (SimAI ratios)", 7, 22 },
    [LARGE] = { "all rows of 64M and more", 5, 15 },
    [SMALL] = { "all rows below 64M", 15, 30 },
    [LARGE_UNSEEN] = { "rows of 64M and more that no fit has seen", 0, 0 },
    [SMALL_UNSEEN] = { "rows below 64M that no fit has seen", 0, 0 },
};

static struct row {
    char id[WORD], run[512], source[512];
    struct question question;
    double measured_s, model_s, bus_bytes;
    enum group group;
    bool shown_only, is_fitted;
} rows[ROWS_MOST];
static size_t row_count;

static struct {
    char text[2 * WORD];
    unsigned rows;
} reasons[32];

static void skip_row(const char *why, const char *what)
{
    char text[2 * WORD];
    snprintf(text, sizeof text, "%.60s %.60s", why, what);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].rows && strcmp(reasons[i].text, text) != 0) continue;
        memcpy(reasons[i].text, text, sizeof text);
        reasons[i].rows++;
        return;
    }
}

static double error_of(const struct row *row)
{
    return row->model_s / row->measured_s - 1;
}

static enum group group_of(const struct asked *asked)
{
    const bool one = asked->group.servers <= asked->hardware.domain_servers;
    if (asked->op == OP_ALL_TO_ALL) return one ? ALL_TO_ALL_ONE : ALL_TO_ALL_MANY;
    if (asked->op != OP_ALL_REDUCE) return GATHER;
    return one ? REDUCE_ONE : REDUCE_MANY;
}

/* Text of the column of this name in the current record; "" when it is not there. */
static const char *text_of(const struct csv *csv, const uint32_t *columns, size_t column, char *out,
                           size_t out_bytes)
{
    out[0] = '\0';
    const uint32_t at = columns[column];
    if (at >= csv->field_count || csv->fields[at].byte_count >= out_bytes) return out;
    out[csv_copy(&csv->fields[at], out)] = '\0';
    return out;
}

/* Asks the catalog and the model; NULL with the reason counted when they cannot answer. */
static struct row *take_row(struct catalog *catalog, const struct question *question,
                            struct asked *asked)
{
    struct diag *lookup = diag_create(); /* an unknown id is a reason here, not a problem */
    const bool placed = lookup && ask_catalog(catalog, lookup, question, asked);
    diag_destroy(lookup);
    if (!placed || row_count == ROWS_MOST) {
        skip_row("not in the catalog:", question->server);
        return NULL;
    }
    struct row *row = &rows[row_count];
    row->question = *question;
    row->group = group_of(asked);
    row->model_s = answer_of(question, asked).total_s;
    row->bus_bytes = bus_bytes_of(question, asked);
    return row;
}

/* Whether "B001-B020 B036" names the row. */
static bool names(const char *text, const char *id)
{
    char word[WORD];
    while (catalog_word(&text, word, sizeof word)) {
        char *dash = strchr(word, '-');
        if (dash) *dash = '\0';
        if (strcmp(word, id) <= 0 && strcmp(id, dash ? dash + 1 : word) <= 0) return true;
    }
    return false;
}

/* Whether a number of the catalog was taken from the row. */
static bool is_fitted(struct catalog *catalog, const char *id)
{
    static const enum catalog_kind kinds[] = { CATALOG_SERVERS, CATALOG_COLLECTIVES };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (const struct yaml_node *entry = catalog_first(catalog, kinds[i], NULL); entry;
             entry = entry->next) {
            const struct yaml_node *notes = yaml_child(entry, "notes");
            const struct yaml_node *text = notes ? yaml_child(notes, "fitted_to") : NULL;
            if (text != NULL && text->kind == YAML_SCALAR && names(text->text, id)) return true;
        }
    return false;
}

enum { ID, RUN, TIME, BUS, SOURCE, COLLECTIVE_COLUMNS };
static const char *const collective_columns[] = { "id", "run", "time_us", "busbw_gb_s", "source" };

static void collective_row(struct catalog *catalog, const struct csv *csv, const uint32_t *columns)
{
    char run[512], number[WORD];
    struct question question;
    struct asked asked;
    text_of(csv, columns, RUN, run, sizeof run);
    if (!parse_question(run, &question)) {
        skip_row("no command given for", "the row");
        return;
    }
    struct row *row = take_row(catalog, &question, &asked);
    if (row == NULL) return;
    text_of(csv, columns, ID, row->id, sizeof row->id);
    row->is_fitted = is_fitted(catalog, row->id);
    text_of(csv, columns, RUN, row->run, sizeof row->run);
    text_of(csv, columns, SOURCE, row->source, sizeof row->source);
    row->measured_s = strtod(text_of(csv, columns, TIME, number, sizeof number), NULL) * 1e-6;
    const double bus_gb = strtod(text_of(csv, columns, BUS, number, sizeof number), NULL);
    if (row->measured_s <= 0 && bus_gb > 0) row->measured_s = row->bus_bytes / (bus_gb * 1e9);
    if (row->measured_s > 0)
        row_count++;
    else
        skip_row("no time and no bandwidth in", "the row");
}

enum { NODES, GPUS, BYTES, SHARE, RATIO_COLUMNS };
static const char *const ratio_columns[] = { "nodes", "gpus", "bytes",
                                             "measured_share_of_388_gb_s" };

static void ratio_row(struct catalog *catalog, const struct csv *csv, const uint32_t *columns)
{
    char number[RATIO_COLUMNS][WORD];
    double value[RATIO_COLUMNS];
    struct asked asked;
    for (size_t i = 0; i < RATIO_COLUMNS; i++)
        value[i] = strtod(text_of(csv, columns, i, number[i], WORD), NULL);
    const struct question question = { .op = "all_reduce",
                                       .server = "hgx-h100-8",
                                       .algorithm = "ring",
                                       .nodes = (uint32_t)value[NODES],
                                       .gpus_per_node = 8,
                                       .size_bytes = value[BYTES] };
    struct row *row =
        question.nodes > 0 && value[SHARE] > 0 ? take_row(catalog, &question, &asked) : NULL;
    if (row == NULL) {
        skip_row("not readable:", "a row of ring_ratio.csv");
        return;
    }
    snprintf(row->id, sizeof row->id, "ratio");
    snprintf(row->run, sizeof row->run, "%s nodes of 8, %s bytes", number[NODES], number[BYTES]);
    row->group = RING_RATIO;
    row->measured_s = row->bus_bytes / (value[SHARE] * 388e9);
    row_count++;
}

static enum status read_table(const char *folder, const char *file, const char *const *names,
                              size_t name_count, struct catalog *catalog, struct diag *diag,
                              void (*row)(struct catalog *, const struct csv *, const uint32_t *))
{
    char path[4096];
    uint32_t columns[8];
    bool found = false;
    static struct csv csv;
    struct input input = { 0 };
    snprintf(path, sizeof path, "%s/%s", folder, file);
    enum status status = input_read(path, &input, diag);
    if (status == STATUS_OK) status = csv_begin(&csv, path, input.bytes, input.byte_count, diag);
    if (status == STATUS_OK) status = csv_next(&csv, &found);
    for (size_t i = 0; i < name_count && found; i++) columns[i] = csv_column(&csv, names[i]);
    while (status == STATUS_OK && found && (status = csv_next(&csv, &found)) == STATUS_OK && found)
        row(catalog, &csv, columns);
    input_clear(&input);
    return status;
}

/* ---- two sources of one question ---- */

static size_t series_rows(const struct row *like)
{
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++)
        count += strcmp(rows[i].source, like->source) == 0 &&
                 strcmp(rows[i].question.op, like->question.op) == 0 &&
                 strcmp(rows[i].question.server, like->question.server) == 0;
    return count;
}

static void judge_better_source(void)
{
    for (size_t i = 0; i < row_count; i++)
        for (size_t j = 0; j < row_count; j++) {
            if (rows[i].group == RING_RATIO || rows[i].question.size_bytes >= SMALL_BYTES ||
                strcmp(rows[i].run, rows[j].run) != 0 ||
                strcmp(rows[i].source, rows[j].source) == 0 ||
                series_rows(&rows[i]) >= series_rows(&rows[j]))
                continue;
            rows[i].shown_only = true;
            printf("%-6s of %s is not judged: %s has %s from %s\n", rows[i].id, rows[i].source,
                   rows[j].id, "the same question", rows[j].source);
        }
}

/* ---- what is printed ---- */

static bool is_in(const struct row *row, enum group group)
{
    if (row->shown_only) return false;
    const bool unseen = group == LARGE_UNSEEN || group == SMALL_UNSEEN;
    if (unseen && row->is_fitted) return false;
    if (unseen || group == LARGE || group == SMALL)
        return row->group != RING_RATIO && (row->question.size_bytes >= SMALL_BYTES) ==
                                               (group == LARGE || group == LARGE_UNSEEN);
    return row->group == group;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_groups(void)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && reasons[i].rows; i++)
        printf("left out: %s (%u rows)\n", reasons[i].text, reasons[i].rows);
    for (int g = 0; g < GROUPS; g++) {
        static double errors[ROWS_MOST];
        size_t count = 0;
        for (size_t i = 0; i < row_count; i++)
            if (is_in(&rows[i], (enum group)g)) errors[count++] = fabs(100 * error_of(&rows[i]));
        if (count == 0) continue;
        qsort(errors, count, sizeof *errors, by_value);
        const double median = quantile7(errors, count, 0.5), p90 = quantile7(errors, count, 0.9);
        printf("%s: %zu rows, median %.1f %%, p90 %.1f %%", groups[g].name, count, median, p90);
        if (groups[g].median > 0)
            printf(" (wanted %g and %g: %s)", groups[g].median, groups[g].p90,
                   median <= groups[g].median && p90 <= groups[g].p90 ? "kept" : "NOT KEPT");
        putchar('\n');
    }
}

static void print_rows(FILE *table)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        printf("%-6s %-78s measured %10.1f us, model %10.1f us, %+6.1f %%%s\n", row->id, row->run,
               row->measured_s * 1e6, row->model_s * 1e6, error_of(row) * 100,
               row->shown_only  ? " (not judged)"
               : row->is_fitted ? " (fitted)"
                                : "");
        if (table && !row->shown_only)
            fprintf(table, "%d\t%.6g\t%.6g\n", (int)row->group,
                    row->bus_bytes / row->measured_s / 1e9, row->bus_bytes / row->model_s / 1e9);
    }
}

int main(int argc, char **argv)
{
    FILE *table = NULL;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: oracle_validate FOLDER [TABLE]\n");
        return 2;
    }
    if (argc == 3 && (table = fopen(argv[2], "w")) == NULL) {
        fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    static struct catalog catalog;
    struct diag *diag = diag_create();
    if (diag == NULL) return 1;
    enum status status = catalog_open(&catalog, diag);
    if (status == STATUS_OK)
        status = read_table(argv[1], "collectives.csv", collective_columns, COLLECTIVE_COLUMNS,
                            &catalog, diag, collective_row);
    if (status == STATUS_OK)
        status = read_table(argv[1], "ring_ratio.csv", ratio_columns, RATIO_COLUMNS, &catalog, diag,
                            ratio_row);
    if (status == STATUS_OK) {
        judge_better_source();
        print_rows(table);
        print_groups();
    }
    diag_print(diag, stderr);
    diag_destroy(diag);
    catalog_close(&catalog);
    if (table && fclose(table) != 0) return 1;
    return status == STATUS_OK ? 0 : 1;
}
