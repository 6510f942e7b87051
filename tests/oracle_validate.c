/* oracle_validate.c - measured collectives against what the simulator's models say.
 *
 * usage: oracle_validate FOLDER [TABLE]. Reads FOLDER/collectives.csv and FOLDER/ring_ratio.csv;
 * servers and links are those of models/catalog, the algorithm is the one that the simulator would
 * use by default (the flat ring). One line per row, then one per group:
 *
 *     GROUP: N rows, median E %, p90 F %       E, F of |model time / measured time - 1|
 *
 * Rows whose server is not in the catalog, or that force an algorithm without a model, are
 * counted by reason. TABLE gets a line "group<tab>measured<tab>model" per row, in GB/s, to plot. */
#include "io/csv.h"
#include "io/input.h"
#include "models/statistics.h"
#include "tests/measured.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_ROWS = 512, REASONS = 32 };

enum group {
    REDUCE_ONE,
    REDUCE_MANY,
    GATHER,
    ALL_TO_ALL_ONE,
    ALL_TO_ALL_MANY,
    RING_RATIO,
    REDUCE_MANY_FLAT,
    RING_RATIO_FLAT,
    REDUCE_NVLS,
    GROUPS
};
static const char *const group_names[GROUPS] = {
    [REDUCE_ONE] = "all_reduce in one server",
    [REDUCE_MANY] = "all_reduce between servers",
    [GATHER] = "all_gather and reduce_scatter in one server",
    [ALL_TO_ALL_ONE] = "alltoall in one server",
    [ALL_TO_ALL_MANY] = "alltoall between servers",
    [RING_RATIO] = "all_reduce, 2 to 128 servers of 8 (SimAI ratios)",
    [REDUCE_MANY_FLAT] = "all_reduce between servers, flat ring alone",
    [RING_RATIO_FLAT] = "SimAI ratios, flat ring alone",
    [REDUCE_NVLS] = "all_reduce in one server, NVLS (no run takes it)",
};

static struct {
    double error[GROUP_ROWS];
    size_t rows;
} groups[GROUPS];
static struct {
    char text[2 * WORD];
    unsigned rows;
} reasons[REASONS];
static FILE *table;

static void skip_row(const char *why, const char *what)
{
    char text[2 * WORD];
    snprintf(text, sizeof text, "%.60s %.60s", why, what);
    for (size_t i = 0; i < REASONS; i++) {
        if (reasons[i].rows && strcmp(reasons[i].text, text) != 0) continue;
        memcpy(reasons[i].text, text, sizeof text);
        reasons[i].rows++;
        return;
    }
}

static enum group group_of(const struct question *question, const struct collective_place *place)
{
    const bool one = place->servers == 1;
    if (strcmp(question->op, "alltoall") == 0) return one ? ALL_TO_ALL_ONE : ALL_TO_ALL_MANY;
    if (strcmp(question->op, "all_reduce") != 0) return GATHER;
    if (strcmp(question->algorithm, "nvls") == 0) return REDUCE_NVLS;
    return one ? REDUCE_ONE : REDUCE_MANY;
}

static void take_row(enum group group, const char *id, const char *what, double measured_s,
                     double model_s, double bus_bytes) /* bus_bytes: bus bandwidth times time */
{
    const double error = model_s / measured_s - 1;
    printf("%-6s %-78s measured %10.1f us, model %10.1f us, %+6.1f %%\n", id, what,
           measured_s * 1e6, model_s * 1e6, error * 100);
    if (groups[group].rows < GROUP_ROWS) groups[group].error[groups[group].rows++] = fabs(error);
    if (table)
        fprintf(table, "%d\t%.6g\t%.6g\n", (int)group, bus_bytes / measured_s / 1e9,
                bus_bytes / model_s / 1e9);
}

/* The error of the flat ring, whichever algorithm the simulator would take: for comparison. */
static void note_flat(enum group group, const struct collective_place *place, double size_bytes,
                      double measured_s)
{
    if (groups[group].rows == GROUP_ROWS) return;
    groups[group].error[groups[group].rows++] =
        fabs(flat_allreduce_s(place, size_bytes) / measured_s - 1);
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

enum { ID, RUN, TIME, BUS, COLLECTIVE_COLUMNS };
static const char *const collective_columns[] = { "id", "run", "time_us", "busbw_gb_s" };

static void collective_row(struct catalog *catalog, const struct csv *csv, const uint32_t *columns)
{
    char id[WORD], run[512], what[512], number[WORD];
    struct question question;
    struct collective_place place;
    text_of(csv, columns, ID, id, sizeof id);
    text_of(csv, columns, RUN, run, sizeof run);
    memcpy(what, run, sizeof what);
    if (!parse_question(run, &question)) {
        skip_row("no command given for", "the row");
        return;
    }
    struct diag *lookup = diag_create(); /* an unknown id is a reason here, not a problem */
    const bool is_fitted =
        lookup && strcmp(note_of(catalog, lookup, question.server, "fitted_to"), id) == 0;
    const bool is_domain = lookup && crosses_domain(catalog, lookup, &question);
    const bool placed = lookup && place_of(catalog, lookup, &question, &place);
    diag_destroy(lookup);
    if (!placed || is_fitted) {
        skip_row(is_fitted   ? "its own number went into the catalog:"
                 : is_domain ? "NVLink over several servers is not built:"
                             : "not in the catalog:",
                 question.server);
        return;
    }
    enum collective_kind kind;
    const enum group group = group_of(&question, &place);
    const double model_s = model_time_s(&question, &place, &kind);
    if (isnan(model_s)) {
        skip_row("not built:", question.algorithm[0] ? question.algorithm : question.op);
        return;
    }
    const double bus_bytes = bus_bytes_per_s(kind, place.gpus, question.size_bytes, 1.0);
    double measured_s = strtod(text_of(csv, columns, TIME, number, sizeof number), NULL) * 1e-6;
    const double bus_gb = strtod(text_of(csv, columns, BUS, number, sizeof number), NULL);
    if (measured_s <= 0 && bus_gb > 0) measured_s = bus_bytes / (bus_gb * 1e9);
    if (measured_s <= 0) {
        skip_row("no time and no bandwidth in", "the row");
        return;
    }
    take_row(group, id, what, measured_s, model_s, bus_bytes);
    if (group == REDUCE_MANY) note_flat(REDUCE_MANY_FLAT, &place, question.size_bytes, measured_s);
}

enum { NODES, GPUS, BYTES, SHARE, RATIO_COLUMNS };
static const char *const ratio_columns[] = { "nodes", "gpus", "bytes",
                                             "measured_share_of_388_gb_s" };

static void ratio_row(struct catalog *catalog, const struct csv *csv, const uint32_t *columns)
{
    char number[RATIO_COLUMNS][WORD], what[4 * WORD];
    double value[RATIO_COLUMNS];
    for (size_t i = 0; i < RATIO_COLUMNS; i++)
        value[i] = strtod(text_of(csv, columns, i, number[i], WORD), NULL);
    struct question question = { .op = "all_reduce", .server = "hgx-h100-8", .gpus_per_node = 8 };
    question.nodes = (uint32_t)value[NODES];
    question.size_bytes = value[BYTES];
    struct collective_place place;
    struct diag *lookup = diag_create();
    const bool placed = lookup && question.nodes > 0 && value[SHARE] > 0 &&
                        place_of(catalog, lookup, &question, &place);
    diag_destroy(lookup);
    if (!placed) {
        skip_row("not readable:", "a row of ring_ratio.csv");
        return;
    }
    const double bus_bytes =
        bus_bytes_per_s(COLLECTIVE_ALLREDUCE, place.gpus, question.size_bytes, 1.0);
    const double measured_s = bus_bytes / (value[SHARE] * 388e9);
    snprintf(what, sizeof what, "%s nodes of 8, %s bytes", number[NODES], number[BYTES]);
    take_row(RING_RATIO, "ratio", what, measured_s,
             allreduce_of(&place, question.size_bytes, 1u << ALLREDUCE_FLAT_RING).total_s,
             bus_bytes);
    note_flat(RING_RATIO_FLAT, &place, question.size_bytes, measured_s);
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

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_groups(void)
{
    for (size_t i = 0; i < REASONS && reasons[i].rows; i++)
        printf("left out: %s (%u rows)\n", reasons[i].text, reasons[i].rows);
    for (size_t i = 0; i < GROUPS; i++) {
        const size_t rows = groups[i].rows;
        if (rows == 0) continue;
        qsort(groups[i].error, rows, sizeof *groups[i].error, by_value);
        printf("%s: %zu rows, median %.1f %%, p90 %.1f %%\n", group_names[i], rows,
               100 * quantile7(groups[i].error, rows, 0.5),
               100 * quantile7(groups[i].error, rows, 0.9));
    }
}

int main(int argc, char **argv)
{
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
    if (status == STATUS_OK) print_groups();
    diag_print(diag, stderr);
    diag_destroy(diag);
    catalog_close(&catalog);
    if (table && fclose(table) != 0) return 1;
    return status == STATUS_OK ? 0 : 1;
}
