/* oracle_placement.c - measured speed of jobs on dense and sparse placements, and of growing jobs.
 *
 * usage: oracle_placement FOLDER. FOLDER holds the tables of traces/gpu-throughputs:
 *
 *   pollux_MODEL_placements.csv   placement (a digit a server: its GPUs), batch of a GPU, step. Placements that differ in the order of
 *       servers are one, at their geometric mean. A job has three numbers, fitted to every second placement and batch: seconds that its
 *       gradients take between two ranks, the overlap gamma of MODELS 3.6, what each further GPU of a server costs the others. Compute
 *       is that of one GPU at the same batch, the rest is models/staging.
 *   elasticflow_A100_MODEL.csv    iterations/s by GPUs and batch: the catalog's ddp models, fitted to one batch of each model;
 *       all rows of other batches are judged.
 * FOLDER/../../figures/locality.csv: its rows of the ImageNet job by the same fit; the others state too little.
 *
 * Of what is judged: the error of the time, and of all pairs of one model and batch that differ by more than 10 % the share
 * that the model puts in the right order. Of cifar10 and imagenet half of the pairs that were measured twice stand in the other
 * order the second time, so that 95 % cannot be reached there. */
#include "cli/step_catalog.h"
#include "io/csv.h"
#include "io/input.h"
#include "models/jobstep.h"
#include "models/staging.h"
#include "models/statistics.h"
#include "models/train_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 2048, TEXT = 64, FIELDS = 16 };

struct point {
    char placement[TEXT];
    double batch;
    double log_sum, count; /* of measured steps */
    struct staged_group group;
    double measured_s, compute_s, model_s;
    bool is_judged;
};
static struct point points[POINTS];
static size_t point_count;

struct pair_order {
    double right, pairs;
};

static struct {
    double error[POINTS];
    size_t errors;
    struct pair_order order;
} total;

/* ---- judging ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, double *error, size_t count, const struct pair_order *order)
{
    if (count == 0) return;
    qsort(error, count, sizeof *error, by_value);
    printf("%s: %zu rows, median %.1f %%, p90 %.1f %%; of %.0f pairs more than 10 %% apart %.1f %% "
           "in order\n",
           name, count, 100 * quantile7(error, count, 0.5), 100 * quantile7(error, count, 0.9),
           order->pairs, 100 * order->right / order->pairs);
}

static void add_pair(struct pair_order *order, const struct point *a, const struct point *b)
{
    const double apart = a->measured_s / b->measured_s;
    if (!b->is_judged || a->batch != b->batch || (apart < 1.1 && 1 / apart < 1.1)) return;
    const bool is_right = (a->model_s > b->model_s) == (apart > 1);
    order->pairs++;
    order->right += is_right;
}

static void judge(const char *name)
{
    static double error[POINTS];
    size_t errors = 0;
    struct pair_order order = { 0 };
    for (size_t i = 0; i < point_count; i++) {
        if (!points[i].is_judged) continue;
        error[errors++] = fabs(points[i].model_s / points[i].measured_s - 1);
        for (size_t j = 0; j < i; j++) add_pair(&order, &points[i], &points[j]);
    }
    memcpy(total.error + total.errors, error, errors * sizeof *error);
    total.errors += errors;
    total.order.right += order.right;
    total.order.pairs += order.pairs;
    print(name, error, errors, &order);
}

/* ---- reading ---- */

/* Calls row for each record of a table; fields[0] to fields[count - 1] as numbers and `first` as text. false: no such file. */
static bool read_table(const char *path,
                       void (*row)(const char *first, const double *fields, size_t count))
{
    static struct csv csv;
    struct input input = { 0 };
    bool found = false;
    struct diag *diag = diag_create();
    enum status status = input_read(path, &input, diag);
    if (status == STATUS_OK) status = csv_begin(&csv, path, input.bytes, input.byte_count, diag);
    while (status == STATUS_OK && (status = csv_next(&csv, &found)) == STATUS_OK && found) {
        char first[TEXT] = "", text[TEXT];
        double fields[FIELDS] = { 0 };
        const size_t count = csv.field_count < FIELDS ? csv.field_count : FIELDS;
        for (size_t i = 0; i < count; i++) {
            if (csv.fields[i].byte_count >= TEXT) continue;
            text[csv_copy(&csv.fields[i], text)] = '\0';
            if (i == 0) memcpy(first, text, TEXT);
            fields[i] = strtod(text, NULL);
        }
        row(first, fields, count);
    }
    input_clear(&input);
    diag_destroy(diag);
    return status == STATUS_OK;
}

static int by_character(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

/* The point of a placement and batch; a new one when there is none. */
static struct point *point_of(const char *placement, double batch)
{
    for (size_t i = 0; i < point_count; i++)
        if (points[i].batch == batch && strcmp(points[i].placement, placement) == 0)
            return &points[i];
    if (point_count == POINTS) return NULL;
    struct point *point = &points[point_count++];
    *point = (struct point){ .batch = batch };
    memcpy(point->placement, placement, TEXT);
    point->group.servers = (uint32_t)strlen(placement);
    for (const char *digit = placement; *digit; digit++) {
        const uint32_t here = (uint32_t)(*digit - '0');
        point->group.gpus += here;
        if (here > point->group.gpus_most) point->group.gpus_most = here;
    }
    return point;
}

static void pollux_row(const char *first, const double *fields, size_t count)
{
    char placement[TEXT];
    if (count < 3 || fields[2] <= 0) return; /* the header */
    memcpy(placement, first, TEXT);
    qsort(placement, strlen(placement), 1, by_character);
    struct point *point = point_of(placement, fields[1]);
    if (point == NULL) return;
    point->log_sum += log(fields[2]);
    point->count++;
}

/* ---- placements ---- */

enum { SYNC_S, GAMMA, INSIDE, PARAMETERS };

static double placed_s(const struct point *point, const double parameter[PARAMETERS])
{
    const double compute =
        point->compute_s * (1 + parameter[INSIDE] * (point->group.gpus_most - 1));
    const double network = staged_allreduce_s(&point->group, parameter[SYNC_S], 1.0);
    return network > 0 ? overlapped_s(compute, network, parameter[GAMMA]) : compute;
}

static double loss(const double parameter[PARAMETERS])
{
    double sum = 0;
    for (size_t i = 0; i < point_count; i++) {
        const double off = log(placed_s(&points[i], parameter) / points[i].measured_s);
        if (!points[i].is_judged && points[i].group.gpus > 1) sum += off * off;
    }
    return sum;
}

/* Least squares of the logarithm, one number after the other, in steps that shrink. */
static void fit(double parameter[PARAMETERS])
{
    double best = loss(parameter);
    for (double step = 0.5; step > 0.001; step *= 0.6)
        for (int round = 0; round < 40; round++) {
            const double before = best;
            for (int i = 0; i < 2 * PARAMETERS; i++) {
                double moved[PARAMETERS];
                memcpy(moved, parameter, sizeof moved);
                moved[i / 2] *= i % 2 ? 1 + step : 1 / (1 + step);
                if (moved[GAMMA] < 1 || moved[GAMMA] > 10) continue;
                const double tried = loss(moved);
                if (tried >= best) continue;
                best = tried;
                memcpy(parameter, moved, sizeof moved);
            }
            if (best == before) break;
        }
}

static void settle_points(void)
{
    size_t kept = 0, place = 0;
    for (size_t i = 0; i < point_count; i++)
        points[i].measured_s = exp(points[i].log_sum / points[i].count);
    for (size_t i = 0; i < point_count; i++) {
        const struct point *alone = point_of("1", points[i].batch);
        if (alone == NULL || alone->count == 0) continue;
        points[i].compute_s = alone->measured_s;
        points[i].is_judged = points[i].group.gpus > 1 && place++ % 2 == 1;
        points[kept++] = points[i];
    }
    point_count = kept;
}

static double imagenet[PARAMETERS]; /* as fitted to its placements */

static void pollux(const char *folder, const char *model)
{
    char path[4096], name[128];
    double parameter[PARAMETERS] = { 0.1, 2, 0.03 };
    point_count = 0;
    snprintf(path, sizeof path, "%s/pollux_%s_placements.csv", folder, model);
    if (!read_table(path, pollux_row)) {
        printf("left out: %s cannot be read\n", path);
        return;
    }
    settle_points();
    fit(parameter);
    for (size_t i = 0; i < point_count; i++) points[i].model_s = placed_s(&points[i], parameter);
    if (strcmp(model, "imagenet") == 0) memcpy(imagenet, parameter, sizeof imagenet);
    printf("%s: gradients %.0f ms between two ranks, gamma %.2f, %.1f %% for each GPU beside\n",
           model, 1e3 * parameter[SYNC_S], parameter[GAMMA], 100 * parameter[INSIDE]);
    const double batch = points[0].batch; /* the smallest stands first */
    const struct point *dense = point_of("22", batch), *sparse = point_of("1111", batch);
    printf("%s at %g: 2 + 2 GPUs %.3f s, model %.3f; 1 + 1 + 1 + 1 %.3f s, model %.3f\n", model,
           batch, dense->measured_s, dense->model_s, sparse->measured_s, sparse->model_s);
    snprintf(name, sizeof name, "placements, %s, judged rows", model);
    judge(name);
}

/* ---- the table of localities ---- */

static unsigned locality_used, locality_left;

/* Rows of the ImageNet job on one GPU a server; the others state neither network nor compute. */
static void locality_row(const char *first, const double *fields, size_t count)
{
    if (count < 7 || fields[2] <= 0) return; /* the header */
    const double batch = fields[1], packed_s = fields[4], spread_s = fields[5];
    if (strncmp(first, "ImageNet", 8) != 0 || packed_s <= 0) {
        locality_left++;
        return;
    }
    const uint32_t gpus = (uint32_t)fields[2];
    const struct point point = { .group = { gpus, gpus, 1 }, .compute_s = packed_s };
    const double model = packed_s / placed_s(&point, imagenet);
    locality_used++;
    printf("locality.csv, ImageNet at %g, %u servers of one T4: %.2f of the speed of one, model "
           "%.2f\n",
           batch, gpus, packed_s / spread_s, model);
}

static void locality(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/../../figures/locality.csv", folder);
    if (!read_table(path, locality_row)) printf("left out: %s cannot be read\n", path);
    printf("locality.csv: %u rows used; left out: %u rows, neither network nor compute of the "
           "spread jobs stated, or "
           "no placements of the model\n",
           locality_used, locality_left);
}

/* ---- growing jobs ---- */

static struct {
    struct step_inputs inputs;
    double fitted_batch;
} growing;

static void elastic_row(const char *first, const double *fields, size_t count)
{
    (void)first;
    if (fields[0] <= 0 || fields[0] == growing.fitted_batch) return;
    uint32_t gpus = 1;
    for (size_t i = 1; i < count; i++, gpus *= 2) {
        if (fields[i] <= 0 || point_count == POINTS) continue;
        struct step_inputs inputs = growing.inputs;
        inputs.machine.gpus = inputs.plan.data = gpus;
        inputs.plan.batch = fields[0];
        inputs.plan.microbatch = fields[0] / gpus;
        points[point_count++] = (struct point){
            .batch = fields[0],
            .measured_s = 1 / fields[i],
            .model_s = train_step(&inputs.model, &inputs.plan, &inputs.machine).step_s,
            .is_judged = true,
        };
    }
}

static void elastic(struct catalog *catalog, const char *folder, const char *file,
                    const char *entry, double fitted_batch)
{
    char path[4096], name[128];
    struct step_inputs *inputs = &growing.inputs;
    struct diag *diag = diag_create();
    *inputs = (struct step_inputs){ .bucket_bytes = 25e6 };
    inputs->plan = train_plan_plain();
    inputs->plan.overlap_data = 0.5;
    enum status status = step_take_server(catalog, "azure-nd96asr", NULL, 0, inputs, diag);
    if (status == STATUS_OK) status = step_take_model(catalog, entry, inputs, diag);
    diag_print(diag, stderr);
    diag_destroy(diag);
    if (status != STATUS_OK) return;
    step_settle(inputs);
    growing.fitted_batch = fitted_batch;
    point_count = 0;
    snprintf(path, sizeof path, "%s/elasticflow_A100_%s.csv", folder, file);
    if (!read_table(path, elastic_row)) printf("left out: %s cannot be read\n", path);
    snprintf(name, sizeof name, "curves, %s, other batches", entry);
    judge(name);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle_placement FOLDER\n");
        return 2;
    }
    static const char *const models[] = { "cifar10", "yolov3", "deepspeech2", "imagenet" };
    static struct catalog catalog;
    struct diag *diag = diag_create();
    if (catalog_open(&catalog, diag) != STATUS_OK) return 1;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) pollux(argv[1], models[i]);
    locality(argv[1]);
    elastic(&catalog, argv[1], "resnet50", "ddp-resnet50", 256);
    elastic(&catalog, argv[1], "vgg16", "ddp-vgg16", 256);
    elastic(&catalog, argv[1], "gpt2", "ddp-gpt2", 256);
    elastic(&catalog, argv[1], "deepspeech2", "ddp-deepspeech2", 64);
    print("placements and curves, all judged rows", total.error, total.errors, &total.order);
    catalog_close(&catalog);
    diag_destroy(diag);
    return 0;
}
