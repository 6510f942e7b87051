/* oracle_training.c - measured training steps against models/train_step.
 *
 * usage: oracle_training FOLDER. Reads FOLDER/training.csv. A row is used when the model, the server and the framework are in the
 * catalog, its plan is whole (gpus, tp, pp, dp, a batch) and its metric is a rate of steps; the rest is counted by reason,
 * which its columns give. Per framework (or model whose compute was measured) one efficiency is fitted to the first, third, ... of its rows, so that the mean
 * logarithm of model/measured is 0, and the rows between are judged with the number of the catalog:
 *
 *     GROUP: N rows, median E %, p90 F %       E, F of |model time / measured time - 1|
 *
 * Scaling: throughput per GPU over that of the first row of the same model, in points. */
#include "cli/step_catalog.h"
#include "io/csv.h"
#include "io/input.h"
#include "models/statistics.h"
#include "models/train_memory.h"
#include "models/train_step.h"
#include "tests/training_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512, GROUPS = 24, CELL = 160, REASONS = 64 };

enum {
    ID,
    SYSTEM,
    MODEL,
    HARDWARE,
    NEEDED,
    GPUS = NEEDED,
    TP,
    PP,
    DP,
    BATCH,
    METRIC,
    VALUE,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "id",           "system", "model", "hardware",
                                              "gpus",         "tp",     "pp",    "dp",
                                              "global_batch", "metric", "value" };

struct row {
    char cell[COLUMNS][CELL];
    const struct training_series *series;
    struct step_inputs inputs; /* efficiency as in the catalog, not yet at the model's width */
    double measured_s;
    size_t group;
    double error; /* of a judged row; NAN when it was fitted */
};
static struct row rows[ROWS];
static size_t row_count;

static struct {
    const char *name;
    size_t rows;
} groups[GROUPS];
static size_t group_count;

static struct {
    char text[CELL];
    char ids[512];
    unsigned rows;
} reasons[REASONS];

static void leave_out(const struct row *row, const char *why, const char *what)
{
    char text[CELL];
    snprintf(text, sizeof text, "%.70s %.70s", why, what);
    for (size_t i = 0; i < REASONS; i++) {
        if (reasons[i].rows && strcmp(reasons[i].text, text) != 0) continue;
        memcpy(reasons[i].text, text, sizeof text);
        const size_t used = strlen(reasons[i].ids);
        snprintf(reasons[i].ids + used, sizeof reasons[i].ids - used, " %.10s", row->cell[ID]);
        reasons[i].rows++;
        return;
    }
}

/* ---- a row -> a plan ---- */

static bool matches(const char *wanted, const char *text)
{
    return wanted[0] == '\0' || strcmp(wanted, text) == 0;
}

static const struct training_series *series_of(const struct row *row)
{
    const unsigned gpus = (unsigned)strtoul(row->cell[GPUS], NULL, 10);
    for (size_t i = 0; i < sizeof training_series / sizeof *training_series; i++) {
        const struct training_series *series = &training_series[i];
        if (matches(series->system, row->cell[SYSTEM]) &&
            matches(series->model, row->cell[MODEL]) &&
            strstr(row->cell[HARDWARE], series->hardware) != NULL &&
            (series->gpus == 0 || series->gpus == gpus))
            return series;
    }
    return NULL;
}

/* Samples of a step: the row's, "16M tokens" of it, or what its source says of each GPU. */
static double batch_of(const struct row *row, double sequence)
{
    char *unit;
    const double count = strtod(row->cell[BATCH], &unit);
    if (strcmp(unit, "M tokens") == 0) return count * 1048576 / sequence;
    if (count > 0) return count;
    return row->series->microbatch * row->series->passes * strtod(row->cell[DP], NULL);
}

/* The first column that the row or its series leaves empty, or NULL. */
static const char *gap_of(const struct row *row)
{
    for (size_t i = NEEDED; i <= BATCH; i++)
        if (row->cell[i][0] == '\0' &&
            (i != BATCH || row->series == NULL || row->series->passes == 0))
            return columns[i];
    return NULL;
}

static enum status take_entries(struct catalog *catalog, struct row *row, struct diag *diag)
{
    const struct training_series *series = row->series;
    struct step_inputs *inputs = &row->inputs;
    inputs->plan = train_plan_plain();
    inputs->plan.overlap_data = 0.5;
    inputs->bucket_bytes = 25e6;
    TRY(step_take_server(catalog, series->server, NULL, 0, inputs, diag));
    if (series->stack[0]) TRY(step_take_stack(catalog, series->stack, inputs, diag));
    return step_take_model(catalog, series->entry, inputs, diag);
}

static enum status take_plan(struct catalog *catalog, struct row *row, struct diag *diag)
{
    const struct training_series *series = row->series;
    struct train_plan *plan = &row->inputs.plan;
    TRY(take_entries(catalog, row, diag));
    row->inputs.machine.gpus = (uint32_t)strtoul(row->cell[GPUS], NULL, 10);
    plan->tensor = (uint32_t)strtoul(row->cell[TP], NULL, 10);
    plan->pipeline = (uint32_t)strtoul(row->cell[PP], NULL, 10);
    plan->data = (uint32_t)strtoul(row->cell[DP], NULL, 10);
    plan->interleave = series->interleave;
    plan->batch = batch_of(row, row->inputs.model.sequence);
    plan->microbatch = series->microbatch > 0 ? series->microbatch : plan->batch / plan->data;
    if (series->zero != AS_STACK) plan->zero = (uint32_t)series->zero;
    if (series->recompute != AS_STACK) plan->recompute = (enum recompute)series->recompute;
    return STATUS_OK;
}

/* ---- what was measured and what the model says ---- */

static double model_s(const struct row *row, double efficiency)
{
    struct step_inputs inputs = row->inputs;
    inputs.machine.efficiency = efficiency;
    step_settle(&inputs);
    return train_step(&inputs.model, &inputs.plan, &inputs.machine).step_s;
}

/* Seconds of a step; NAN for a metric that is none. */
static double measured_s(const struct row *row)
{
    const struct train_machine *machine = &row->inputs.machine;
    const struct train_plan *plan = &row->inputs.plan;
    const double value = strtod(row->cell[VALUE], NULL), all = machine->gpus;
    const char *metric = row->cell[METRIC];
    struct step_inputs inputs = row->inputs;
    inputs.machine.efficiency = 0.5;
    double flops = train_step(&inputs.model, &inputs.plan, &inputs.machine).flops;
    if (row->series->counts_recomputed) flops *= 4.0 / 3.0;
    if (strcmp(metric, "MFU %") == 0)
        return flops / (all * machine->peak_flops_per_s * value / 100);
    if (strcmp(metric, "TFLOP/s per GPU") == 0) return flops / (all * value * 1e12);
    if (strcmp(metric, "iterations/s") == 0) return 1 / value;
    if (strcmp(metric, "seq/s") == 0 || strcmp(metric, "img/s") == 0) return plan->batch / value;
    return NAN;
}

static size_t group_of(const struct row *row)
{
    const char *name = row->series->stack[0] ? row->series->stack : row->series->entry;
    size_t i = 0;
    while (i < group_count && strcmp(groups[i].name, name) != 0) i++;
    if (i == group_count && group_count < GROUPS) groups[group_count++].name = name;
    return i;
}

static void read_row(struct catalog *catalog, struct row *row)
{
    row->series = series_of(row);
    const char *gap = gap_of(row);
    if (gap != NULL) {
        leave_out(row, "nothing in the column", gap);
        return;
    }
    if (row->series == NULL) {
        char what[CELL];
        snprintf(what, sizeof what, "%.60s, %.60s", row->cell[SYSTEM], row->cell[MODEL]);
        leave_out(row, "not in the catalog:", what);
        return;
    }
    struct diag *diag = diag_create();
    const enum status status = take_plan(catalog, row, diag);
    diag_print(diag, stderr);
    diag_destroy(diag);
    if (status != STATUS_OK) exit(1);
    const struct train_fault_at at =
        train_plan_check(&row->inputs.model, &row->inputs.plan, &row->inputs.machine);
    row->measured_s = measured_s(row);
    if (at.fault == TRAIN_GPUS)
        leave_out(row, "tp x pp x dp is not the number of GPUs:", row->cell[MODEL]);
    else if (at.fault != TRAIN_FITS)
        leave_out(row, "does not divide:", row->cell[MODEL]);
    else if (isnan(row->measured_s))
        leave_out(row, "no rate of steps:", row->cell[METRIC]);
    else {
        row->group = group_of(row);
        row_count++;
    }
}

static enum status read_table(const char *folder, struct catalog *catalog, struct diag *diag)
{
    char path[4096];
    bool found = false;
    static struct csv csv;
    uint32_t at[COLUMNS];
    struct input input = { 0 };
    snprintf(path, sizeof path, "%s/training.csv", folder);
    enum status status = input_read(path, &input, diag);
    if (status == STATUS_OK) status = csv_begin(&csv, path, input.bytes, input.byte_count, diag);
    if (status == STATUS_OK) status = csv_next(&csv, &found);
    for (size_t i = 0; i < COLUMNS && found; i++) at[i] = csv_column(&csv, columns[i]);
    while (status == STATUS_OK && found && row_count < ROWS &&
           (status = csv_next(&csv, &found)) == STATUS_OK && found) {
        struct row *row = &rows[row_count];
        *row = (struct row){ .measured_s = 0 };
        for (size_t i = 0; i < COLUMNS; i++)
            if (at[i] < csv.field_count && csv.fields[at[i]].byte_count < CELL)
                row->cell[i][csv_copy(&csv.fields[at[i]], row->cell[i])] = '\0';
        read_row(catalog, row);
    }
    input_clear(&input);
    return status;
}

/* ---- fitting and judging ---- */

/* Calls visit for every second row of a group, from the first: those that are fitted. */
static void each_fitted(size_t group, void (*visit)(const struct row *row, void *context),
                        void *context)
{
    size_t place = 0;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].group == group && place++ % 2 == 0) visit(&rows[i], context);
}

struct mean {
    double efficiency, sum, count;
};

static void add_log(const struct row *row, void *context)
{
    struct mean *mean = context;
    mean->sum += log(model_s(row, mean->efficiency) / row->measured_s);
    mean->count++;
}

/* The efficiency at which the mean logarithm of model/measured is 0. */
static double fit(size_t group)
{
    double low = 0.01, high = 2;
    for (int i = 0; i < 60; i++) {
        struct mean mean = { 0.5 * (low + high), 0, 0 };
        each_fitted(group, add_log, &mean);
        *(mean.sum > 0 ? &low : &high) = mean.efficiency;
    }
    return low;
}

/* sample_s, fixed_s and server_s by least squares of the relative error, none below 0. */
struct normal {
    double parameter[3]; /* where the model is made straight */
    double matrix[3][4];
};

static double with_parameters(const struct row *row, const double parameter[3])
{
    struct row changed = *row;
    changed.inputs.model.sample_s = parameter[0];
    changed.inputs.plan.fixed_s = parameter[1];
    changed.inputs.plan.server_s = parameter[2];
    return model_s(&changed, 1) / row->measured_s;
}

static void add_normal(const struct row *row, void *context)
{
    struct normal *normal = context;
    const double *at = normal->parameter;
    const double base = with_parameters(row, at), step = 1e-7;
    double slope[4] = { 0, 0, 0, 1 - base };
    for (int i = 0; i < 3; i++) {
        double moved[3] = { at[0], at[1], at[2] };
        moved[i] += step;
        slope[i] = (with_parameters(row, moved) - base) / step;
        slope[3] += slope[i] * at[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) normal->matrix[i][j] += slope[i] * slope[j];
}

/* Gauss-Jordan on the first `size` unknowns; the others are 0. False when one of them would be negative. */
static bool solve(struct normal normal, int size, double out[3])
{
    double(*m)[4] = normal.matrix;
    for (int i = 0; i < size; i++)
        for (int row = 0; row < size; row++) {
            const double factor = m[row][i] / m[i][i];
            for (int j = 0; row != i && j < 4; j++) m[row][j] -= factor * m[i][j];
        }
    for (int i = 0; i < 3; i++) out[i] = i < size ? m[i][3] / m[i][i] : 0;
    return out[0] > 0 && out[1] >= 0 && out[2] >= 0;
}

static void fit_measured(size_t group, double parameter[3])
{
    for (int i = 0; i < 40; i++) {
        struct normal normal = { { parameter[0], parameter[1], parameter[2] }, { { 0 } } };
        each_fitted(group, add_normal, &normal);
        for (int size = 3; size > 0 && !solve(normal, size, parameter);) size--;
    }
}

static void print_fit(size_t group)
{
    const struct row *row = rows;
    while (row->group != group) row++;
    const struct step_inputs *inputs = &row->inputs;
    if (inputs->model.sample_s <= 0) {
        printf("training, %s: efficiency %.4f fitted, %.4f in the catalog\n", groups[group].name,
               fit(group), inputs->machine.efficiency);
        return;
    }
    double parameter[3] = { inputs->model.sample_s, inputs->plan.fixed_s, inputs->plan.server_s };
    fit_measured(group, parameter);
    printf("training, %s: sample %.4g, fixed %.4g, per server %.3g ms fitted, %.4g, %.4g, %.3g in "
           "the catalog\n",
           groups[group].name, 1e3 * parameter[0], 1e3 * parameter[1], 1e3 * parameter[2],
           1e3 * inputs->model.sample_s, 1e3 * inputs->plan.fixed_s, 1e3 * inputs->plan.server_s);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_errors(const char *name, double *error, size_t count, const char *unit)
{
    if (count == 0) return;
    qsort(error, count, sizeof *error, by_value);
    printf("%s: %zu rows, median %.1f %s, p90 %.1f %s\n", name, count,
           100 * quantile7(error, count, 0.5), unit, 100 * quantile7(error, count, 0.9), unit);
}

/* Prints the rows of a group; errors of the judged ones go to error[], returns how many. */
static size_t judge(size_t group, double *error)
{
    size_t place = 0, judged = 0;
    for (size_t i = 0; i < row_count; i++) {
        struct row *row = &rows[i];
        if (row->group != group) continue;
        const bool is_fitted = place++ % 2 == 0;
        const double model = model_s(row, row->inputs.machine.efficiency);
        printf("%-5s %-22s %-10s %6s GPUs  measured %10.4f s, model %10.4f s, %+6.1f %%%s\n",
               row->cell[ID], row->cell[SYSTEM], row->cell[MODEL], row->cell[GPUS], row->measured_s,
               model, 100 * (model / row->measured_s - 1), is_fitted ? "  (fitted)" : "");
        row->error = is_fitted ? NAN : fabs(model / row->measured_s - 1);
        if (!is_fitted) error[judged++] = row->error;
    }
    return judged;
}

/* Samples per GPU and second over those of the first row of the same model and hardware, of weak and strong series alike. */
static void print_scaling(void)
{
    static double error[ROWS];
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        size_t first = 0;
        const struct row *row = &rows[i];
        while (strcmp(rows[first].cell[SYSTEM], row->cell[SYSTEM]) != 0 ||
               strcmp(rows[first].cell[MODEL], row->cell[MODEL]) != 0 ||
               strcmp(rows[first].cell[HARDWARE], row->cell[HARDWARE]) != 0)
            first++;
        if (first == i || row->series->entry != rows[first].series->entry) continue;
        const struct row *from = &rows[first];
        const double share = row->inputs.plan.batch / from->inputs.plan.batch *
                             from->inputs.machine.gpus / row->inputs.machine.gpus;
        const double measured = share * from->measured_s / row->measured_s;
        const double model = share * model_s(from, from->inputs.machine.efficiency) /
                             model_s(row, row->inputs.machine.efficiency);
        error[count++] = fabs(model - measured);
    }
    print_errors("training, scaling ratios", error, count, "points");
}

/* One strategy may be right and another wrong (C120): errors of judged rows by how a plan splits the model. */
static const char *strategy_of(const struct row *row)
{
    const struct train_plan *plan = &row->inputs.plan;
    if (plan->pipeline > 1) return "pipelines of tensor groups";
    if (plan->tensor > 1) return "tensor groups";
    if (plan->zero >= 2) return "sharded";
    return row->inputs.model.sample_s > 0 ? "data parallel, fixed batch" : "data parallel";
}

static void print_strategies(void)
{
    static const char *const names[] = { "data parallel", "data parallel, fixed batch", "sharded",
                                         "tensor groups", "pipelines of tensor groups" };
    static double error[ROWS];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[CELL];
        size_t count = 0;
        for (size_t j = 0; j < row_count; j++)
            if (strcmp(strategy_of(&rows[j]), names[i]) == 0 && !isnan(rows[j].error))
                error[count++] = rows[j].error;
        snprintf(name, sizeof name, "training by strategy, %s", names[i]);
        print_errors(name, error, count, "%");
    }
}

static void print_memory(void)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        struct step_inputs inputs = row->inputs;
        step_settle(&inputs);
        const double held = train_memory(&inputs.model, &inputs.plan).total_bytes;
        if (held > inputs.machine.memory_bytes)
            printf("%s %s on %s GPUs ran, and would be refused: %.1f GB of %.0f\n", row->cell[ID],
                   row->cell[MODEL], row->cell[GPUS], held / 1e9,
                   inputs.machine.memory_bytes / 1e9);
    }
}

static void print_groups(void)
{
    static double error[ROWS], all[ROWS];
    size_t total = 0;
    for (size_t group = 0; group < group_count; group++) {
        char name[CELL];
        const size_t judged = judge(group, error);
        print_fit(group);
        memcpy(all + total, error, judged * sizeof *error);
        total += judged;
        snprintf(name, sizeof name, "training, %s, judged rows", groups[group].name);
        print_errors(name, error, judged, "%");
    }
    for (size_t i = 0; i < REASONS && reasons[i].rows; i++)
        printf("left out: %s (%u rows:%s)\n", reasons[i].text, reasons[i].rows, reasons[i].ids);
    print_memory();
    print_strategies();
    printf("training rows used: %zu\n", row_count);
    print_errors("training, all judged rows", all, total, "%");
    print_scaling();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle_training FOLDER\n");
        return 2;
    }
    static struct catalog catalog;
    struct diag *diag = diag_create();
    if (diag == NULL) return 1;
    enum status status = catalog_open(&catalog, diag);
    if (status == STATUS_OK) status = read_table(argv[1], &catalog, diag);
    if (status == STATUS_OK) print_groups();
    diag_print(diag, stderr);
    diag_destroy(diag);
    catalog_close(&catalog);
    return status == STATUS_OK ? 0 : 1;
}
