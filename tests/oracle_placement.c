/* oracle_placement.c - measured speed of jobs on dense and sparse placements, and of growing jobs.
 *
 * usage: oracle_placement FOLDER. FOLDER holds the tables of traces/gpu-throughputs:
 *
 *   pollux_MODEL_placements.csv   placement (a digit a server: its GPUs), batch of a GPU, step. Placements that differ in the order of
 *       servers are one, at their geometric mean. A job has four numbers, fitted to every second placement and batch: seconds that its
 *       gradients take between ranks alone on their servers, the overlap gamma of MODELS 3.6, what each further GPU of a server costs
 *       the others, the scatter of its ranks (the slowest sets the pace, 3.8). Compute is that of one GPU at the same batch, the
 *       rest is models/staging.
 *   elasticflow_A100_MODEL.csv    iterations/s by GPUs and batch: the catalog's ddp models, fitted to one batch of each model;
 *       all rows of other batches are judged.
 * FOLDER/../../figures/locality.csv: its rows of the ImageNet job by the same fit; the others state too little.
 *
 * Of what is judged: the error of the time, and of all pairs of one model and batch that differ by more than 10 % the share
 * that the model puts in the right order: by the speed of the job in samples per second, as the curves have it; of placements also by
 * the time of a step, in which the number of GPUs hardly shows, and of these the pairs of as many GPUs. Beside each the same of
 * the pairs that differ by more than the scatter of repeated measurements explains (two-sided 95 %), and the share that the model
 * would reach if it were the truth and nothing but this scatter came on top.
 *
 * The scatter is that of whole runs: of one placement all batches are off together, which no other model of the same placement shares, so
 * that no form of the model follows it. Of cifar10 and imagenet half of the pairs that were measured twice stand in the other order
 * the second time. By the time of a step Pollux's own form, T^gamma = (a + b m)^gamma + (c + d (n - 2))^gamma with c and d for one
 * server and for more, fitted to all rows, puts 73 % of all 30,681 pairs in order; this one 93 %. Tried and left: the fullest
 * server in place of the mean, a cost of three servers, another power of f, start-up by rank, gradients inside a server as a term of
 * their own; all stay within half a per cent of the pairs. */
#include "cli/step_catalog.h"
#include "io/csv.h"
#include "io/input.h"
#include "models/jobstep.h"
#include "models/staging.h"
#include "models/statistics.h"
#include "models/straggler.h"
#include "models/train_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 2048, TEXT = 64, FIELDS = 16 };

struct point {
    char placement[TEXT];
    double batch;
    double samples;                     /* of one step, of all GPUs */
    double log_sum, log_squares, count; /* of measured steps        */
    double times_s[2];                  /* the first two of them   */
    double log_sd; /* of their mean, as repeats of the batch scatter; 0: none known */
    uint32_t servers, gpus, gpus_most;
    double measured_s, compute_s, model_s;
    bool is_judged;
};
static struct point points[POINTS];
static size_t point_count;

struct pair_order {
    double right, pairs;
    double certain_right, certain;   /* beyond the scatter                          */
    double expected_right, expected; /* if the model were the truth                 */
};

enum { SPEED, STEP, PLACE, PAIRINGS };
static const char *const pairing_words[PAIRINGS] = {
    "samples per second", "time of a step", "time of a step, as many GPUs in other places"
};

static struct {
    double error[POINTS];
    size_t errors;
    struct pair_order orders[PAIRINGS];
} total;

/* ---- judging ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_order(const char *of, const struct pair_order *order)
{
    printf("  %s: of %.0f pairs more than 10 %% apart %.1f %% in order; of the %.0f beyond the "
           "scatter of repeats %.1f %%; a true model would reach %.1f %% of all\n",
           of, order->pairs, 100 * order->right / order->pairs, order->certain,
           100 * order->certain_right / order->certain,
           100 * order->expected_right / order->expected);
}

static void print(const char *name, double *error, size_t count,
                  const struct pair_order orders[PAIRINGS])
{
    if (count == 0) return;
    qsort(error, count, sizeof *error, by_value);
    printf("%s: %zu rows, median %.1f %%, p90 %.1f %%\n", name, count,
           100 * quantile7(error, count, 0.5), 100 * quantile7(error, count, 0.9));
    for (int i = 0; i < PAIRINGS; i++)
        if (orders[i].pairs > 0) print_order(pairing_words[i], &orders[i]);
}

/* P(x > at) of a normal x. */
static double normal_above(double at, double mean, double sd)
{
    return 0.5 * erfc((at - mean) / (sd * sqrt(2)));
}

static const double APART = 1.1, SURE = 1.96;

/* `samples`: how many times the samples of b's step stand in a's, to judge the time of a sample; 1: the time of a step. */
static void add_pair(struct pair_order *order, const struct point *a, const struct point *b,
                     double samples)
{
    const double sd = hypot(a->log_sd, b->log_sd) + 1e-9;
    const double signed_model = log(a->model_s / b->model_s / samples);
    const double model = fabs(signed_model);
    const double right = normal_above(log(APART), model, sd);
    order->expected_right += right;
    order->expected += right + normal_above(log(APART), -model, sd);

    const double apart = log(a->measured_s / b->measured_s / samples);
    if (fabs(apart) < log(APART)) return;
    const bool is_right = (signed_model > 0) == (apart > 0);
    const bool is_certain = fabs(apart) > SURE * sd;
    order->pairs++;
    order->right += is_right;
    order->certain += is_certain;
    order->certain_right += is_right && is_certain;
}

static void add_order(struct pair_order *sum, const struct pair_order *order)
{
    sum->right += order->right;
    sum->pairs += order->pairs;
    sum->certain_right += order->certain_right;
    sum->certain += order->certain;
    sum->expected_right += order->expected_right;
    sum->expected += order->expected;
}

/* is_placed: the points are placements, of which the time of a step is judged as well. */
static void judge(const char *name, bool is_placed)
{
    static double error[POINTS];
    size_t errors = 0;
    struct pair_order orders[PAIRINGS] = { 0 };
    for (size_t i = 0; i < point_count; i++) {
        const struct point *a = &points[i];
        if (!a->is_judged) continue;
        error[errors++] = fabs(a->model_s / a->measured_s - 1);
        for (const struct point *b = points; b < a; b++) {
            if (!b->is_judged || a->batch != b->batch) continue;
            add_pair(&orders[SPEED], a, b, a->samples / b->samples);
            if (is_placed) add_pair(&orders[STEP], a, b, 1);
            if (is_placed && a->gpus == b->gpus) add_pair(&orders[PLACE], a, b, 1);
        }
    }
    memcpy(total.error + total.errors, error, errors * sizeof *error);
    total.errors += errors;
    for (int i = 0; i < PAIRINGS; i++) add_order(&total.orders[i], &orders[i]);
    print(name, error, errors, orders);
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
    point->servers = (uint32_t)strlen(placement);
    for (const char *digit = placement; *digit; digit++) {
        const uint32_t here = (uint32_t)(*digit - '0');
        point->gpus += here;
        if (here > point->gpus_most) point->gpus_most = here;
    }
    point->samples = batch * point->gpus;
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
    const double logarithm = log(fields[2]);
    if (point->count < 2) point->times_s[(int)point->count] = fields[2];
    point->log_sum += logarithm;
    point->log_squares += logarithm * logarithm;
    point->count++;
}

/* ---- placements ---- */

enum { SYNC_S, GAMMA, INSIDE, SCATTER, PARAMETERS };

static double placed_s(const struct point *point, const double parameter[PARAMETERS])
{
    const double n = point->gpus;
    const double compute = point->compute_s * (1 + parameter[INSIDE] * (point->gpus_most - 1)) *
                           straggler_factor_blom(n, parameter[SCATTER]);
    if (point->servers == 1) return compute;
    const double network =
        2 * (n - 1) / n * parameter[SYNC_S] / staged_share(point->servers, point->gpus);
    return overlapped_s(compute, network, parameter[GAMMA]);
}

static double loss(const double parameter[PARAMETERS])
{
    double sum = 0;
    for (size_t i = 0; i < point_count; i++) {
        const double off = log(placed_s(&points[i], parameter) / points[i].measured_s);
        if (!points[i].is_judged && points[i].gpus > 1) sum += off * off;
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
                if (moved[GAMMA] < 1 || moved[GAMMA] > 10 || moved[SCATTER] > 1) continue;
                const double tried = loss(moved);
                if (tried >= best) continue;
                best = tried;
                memcpy(parameter, moved, sizeof moved);
            }
            if (best == before) break;
        }
}

/* Standard deviation of the logarithm of one measurement, of all that were repeated at this batch. */
static double scatter_at(double batch)
{
    double squares = 0, freedom = 0;
    for (size_t i = 0; i < point_count; i++) {
        const struct point *point = &points[i];
        if (point->batch != batch) continue;
        squares += point->log_squares - point->log_sum * point->log_sum / point->count;
        freedom += point->count - 1;
    }
    return freedom > 0 ? sqrt(squares / freedom) : 0;
}

/* Of pairs of which both were measured twice: whether the second time agrees with the first. */
static void print_repeats(const char *model)
{
    double pairs = 0, same = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < point_count; i++) {
        const double sd = scatter_at(points[i].batch);
        least = sd < least ? sd : least;
        most = sd > most ? sd : most;
        for (size_t j = 0; j < i; j++) {
            const struct point *a = &points[i], *b = &points[j];
            if (a->batch != b->batch || a->count < 2 || b->count < 2) continue;
            const double apart = log(a->times_s[0] / b->times_s[0]);
            if (fabs(apart) < log(APART)) continue;
            pairs++;
            same += (a->times_s[1] > b->times_s[1]) == (apart > 0);
        }
    }
    printf("%s: repeats scatter by %.1f to %.1f %%; of %.0f pairs measured twice, more than 10 %% "
           "apart the first time, %.1f %% are in that order the second time\n",
           model, 100 * least, 100 * most, pairs, 100 * same / pairs);
}

static void settle_points(void)
{
    size_t kept = 0, place = 0;
    for (size_t i = 0; i < point_count; i++) {
        points[i].measured_s = exp(points[i].log_sum / points[i].count);
        points[i].log_sd = scatter_at(points[i].batch) / sqrt(points[i].count);
    }
    for (size_t i = 0; i < point_count; i++) {
        const struct point *alone = point_of("1", points[i].batch);
        if (alone == NULL || alone->count == 0) continue;
        points[i].compute_s = alone->measured_s;
        points[i].is_judged = points[i].gpus > 1 && place++ % 2 == 1;
        points[kept++] = points[i];
    }
    point_count = kept;
}

static double imagenet[PARAMETERS]; /* as fitted to its placements */

static void pollux(const char *folder, const char *model)
{
    char path[4096], name[128];
    double parameter[PARAMETERS] = { 0.1, 2, 0.03, 0.02 };
    point_count = 0;
    snprintf(path, sizeof path, "%s/pollux_%s_placements.csv", folder, model);
    if (!read_table(path, pollux_row)) {
        printf("left out: %s cannot be read\n", path);
        return;
    }
    settle_points();
    print_repeats(model);
    fit(parameter);
    for (size_t i = 0; i < point_count; i++) points[i].model_s = placed_s(&points[i], parameter);
    if (strcmp(model, "imagenet") == 0) memcpy(imagenet, parameter, sizeof imagenet);
    printf("%s: gradients %.0f ms between ranks, gamma %.2f, %.1f %% for each GPU beside, ranks "
           "scatter by %.1f %%\n",
           model, 1e3 * parameter[SYNC_S], parameter[GAMMA], 100 * parameter[INSIDE],
           100 * parameter[SCATTER]);
    const double batch = points[0].batch; /* the smallest stands first */
    const struct point *dense = point_of("22", batch), *sparse = point_of("1111", batch);
    printf("%s at %g: 2 + 2 GPUs %.3f s, model %.3f; 1 + 1 + 1 + 1 %.3f s, model %.3f\n", model,
           batch, dense->measured_s, dense->model_s, sparse->measured_s, sparse->model_s);
    snprintf(name, sizeof name, "placements, %s, judged rows", model);
    judge(name, true);
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
    const struct point point = {
        .servers = gpus, .gpus = gpus, .gpus_most = 1, .compute_s = packed_s
    };
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
            .samples = fields[0],
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
    judge(name, false);
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
    print("placements and curves, all judged rows", total.error, total.errors, total.orders);
    catalog_close(&catalog);
    diag_destroy(diag);
    return 0;
}
