/* oracle_cases.c - the published cases of FOLDER/validation.csv that a model alone can answer.
 *
 * usage: oracle_cases FOLDER. Each case of the table below says what the model gives and between which bounds it
 * must lie; the bounds come from the file's text, which is quoted and must still stand there. Every row of the
 * file is printed as passed, failed, or not built (needs a run, a server that is not in the catalog, or a model
 * that is not there). A failed case is a limit of the model, not of the build: the exit code is 0 all the same, 1
 * when the file cannot be read or no longer says what is quoted. Last line: N passed, N failed, N not built. */
#include "base/exactmath.h"
#include "io/csv.h"
#include "io/input.h"
#include "io/inventory.h"
#include "models/binomial.h"
#include "models/blast.h"
#include "models/checkpoint.h"
#include "models/cost.h"
#include "models/failure.h"
#include "models/hardware.h"
#include "models/jobstep.h"
#include "models/power.h"
#include "models/queueing.h"
#include "models/straggler.h"
#include "tests/case_reasons.h"
#include "tests/fgd_runs.h"
#include "tests/measured.h"
#include "tests/training_cases.h"

#include <unistd.h>

#define HOUR_S 3600.0
#define DAY_S  86400.0
#define LARGE  "16G" /* a size whose start-up no longer shows */
#define H100   "--server dgx-h100 --gpus-per-node 8"
#define A100   "--server dgx-a100 --gpus-per-node 8"
#define B200   "--server dgx-b200 --gpus-per-node 8"
#define PAIRS  "--server pcie-4xa100 --gpus-per-node "
#define H20    "--server hgx-h20-8 --gpus-per-node 8"
#define V100   "--server dgx-1-v100 --gpus-per-node 8 --nics 1"

static struct catalog catalog;
static const char *cases_folder;

/* --- collectives: `what` is a row as in measured.h -------------------------------------------------- */

static double time_us(const char *what)
{
    double time_s;
    measured_bus(&catalog, what, &time_s);
    return time_s * 1e6;
}

static double bus_gb(const char *what)
{
    double time_s;
    return measured_bus(&catalog, what, &time_s) / 1e9;
}

static double share_of_388(const char *what)
{
    return bus_gb(what) / 388;
}
static double bus_gbits(const char *what)
{
    return bus_gb(what) * 8;
}

/* --- steps -------------------------------------------------------------------------------------------- */

/* T01: a trillion parameters; the model's count of FLOPs at the published rate per GPU. */
static double trillion_step_s(const char *what)
{
    (void)what;
    const double layers = 128, hidden = 25600, words = 51200, sequence = 2048, batch = 3072;
    const struct transformer model = {
        .parameters = 12 * layers * hidden * hidden + words * hidden,
        .tokens = batch * sequence,
        .layers = layers,
        .hidden = hidden,
        .sequence = sequence,
        .recompute = true,
    };
    return compute_s(step_flops(&model), 3072, 163e12, 1);
}

static double bubble(const char *what)
{
    struct pipeline pipeline = { .microbatches = 64, .stages = 8, .chunks = 1 };
    if (strcmp(what, "interleaved by 4") == 0) pipeline.chunks = 4;
    return bubble_ratio(&pipeline);
}

/* T26: one host in 200 is a tenth slower. */
static double slow_host(const char *what)
{
    (void)what;
    double factor[200];
    for (int i = 0; i < 200; i++) factor[i] = i == 77 ? 1.1 : 1.0;
    const struct whole_step step = { 1, 0, 0, 0, slowest_factor(factor, 200), 1, 1 };
    return whole_step_s(&step);
}

/* --- failures and checkpoints ------------------------------------------------------------------------ */

/* `what` is "nodes rate-per-1000-node-days". */
static struct ettr_terms terms_of(const char *what)
{
    char *end;
    const double nodes = strtod(what, &end);
    return (struct ettr_terms){ nodes, strtod(end, NULL) / 1000 / DAY_S, 300, 3600, 0 };
}

static double mttf_h(const char *what)
{
    const struct ettr_terms terms = terms_of(what);
    return nodes_mttf_s(&terms) / HOUR_S;
}

static double interrupts_in_54_days(const char *what)
{
    const struct ettr_terms terms = terms_of(what);
    return 54 * DAY_S / nodes_mttf_s(&terms);
}

static double ettr(const char *what)
{
    const struct ettr_terms terms = terms_of(what);
    return ettr_expected(&terms);
}

static double young_min(const char *what)
{
    const struct ettr_terms terms = terms_of(what);
    return young_interval_s(300, nodes_mttf_s(&terms)) / 60;
}

/* R09: a share of 1 % per GPU and year; that at least one of `what` fails in 30 days, in percent. */
static double any_failure_percent(const char *what)
{
    const double one = 1 - exact_pow(0.99, 30.0 / 365);
    return 100 * binomial_at_least((uint32_t)strtoul(what, NULL, 10), one, 1);
}

/* R10: FIT is failures per 1e9 hours. */
static double fit_mtbf_h(const char *what)
{
    const struct ettr_terms terms = { strtod(what, NULL), 41900 / 1e9 / HOUR_S, 0, 1, 0 };
    return nodes_mttf_s(&terms) / HOUR_S;
}

static double etr_analytic(const char *what)
{
    (void)what;
    const double rate = 4096 * 0.01 / 1440, repair = 20; /* per minute, minutes */
    return availability(&rate, &repair, 1);
}

static double repair_quantile(const char *what) /* "mu sigma u" */
{
    char *end;
    const double mu = strtod(what, &end), sigma = strtod(end, &end);
    return inv_lognormal(strtod(end, NULL), mu, sigma);
}

static double repair_mean(const char *what)
{
    (void)what;
    return lognormal_mean_s((struct lognormal){ 4.15, 1.40 });
}

static double weibull_gap(const char *what)
{
    const double shape = 0.62, scale = weibull_scale_from_mean_s(shape, 15.7);
    if (strcmp(what, "scale") == 0) return scale;
    if (strcmp(what, "cv") == 0) return sqrt(weibull_cv2(shape));
    return 1 - exact_exp(-exact_pow(1 / scale, shape)); /* share of gaps below one hour */
}

static double switch_failures(const char *what)
{
    (void)what;
    return infant_failures(1024 * 0.02 / 90, 0, 1, 90);
}

static double checkpoint_1t(const char *what)
{
    const double bytes = checkpoint_bytes(1e12, 16);
    return strcmp(what, "TB") == 0 ? bytes / 1e12 : checkpoint_write_s(bytes, 384, 25e9, 273e9);
}

static double write_overhead_percent(const char *what)
{
    (void)what;
    const struct checkpoint_plan plan = { 3 * HOUR_S, 40, 0, 0, 1e15 };
    return 100 * (1 / checkpoint_efficiency(&plan) - 1);
}

/* --- queues, power, fabric, cost --------------------------------------------------------------------- */

static double queue(const char *what) /* "c load Pw|Wq" at mu = 1 */
{
    char *end;
    const uint32_t servers = (uint32_t)strtoul(what, &end, 10);
    const struct queue_means means = queue_mmc(strtod(end, &end), 1, servers);
    return strstr(end, "Pw") ? means.wait_prob : means.wait_s;
}

static double wall_w(const char *what)
{
    const struct server_power server = { .base_w = strtod(what, NULL),
                                         .psu_efficiency = 0.96 * 0.98 };
    return server_power_w(&server);
}

static double capped_step_percent(const char *what)
{
    (void)what;
    const struct gpu_power gpu = { 72, 700, 1 }; /* idle and beta: MODELS 7.1 and 12 */
    return 100 * (clock_slowdown(capped_phi(&gpu, 600, 0.3), 0.9) - 1);
}

static double fat_tree(const char *what)
{
    const struct two_tier tree = two_tier(1024, 64, 1);
    return strcmp(what, "leaves") == 0   ? (double)tree.leaves
           : strcmp(what, "spines") == 0 ? (double)tree.spines
                                         : (double)tree.switches;
}

static double purchase(const char *what)
{
    const double cables = 1024 + fat_tree("leaves") * 32;
    const struct cost_layout layout = {
        .gpus = 1024,
        .gpus_per_server = 8,
        .nics_per_server = 8,
        .switch_ports = 64,
        .oversubscription = 1,
        .server_usd = 310e3 + 50e3,
        .switch_usd = 36e3,
        .cable_usd = 2.622e6 / cables,
        .pue = 1,
        .years = 5,
        .goodput_frac = 1,
    };
    const double all = layout_cost(&layout).purchase_usd;
    return strcmp(what, "total") == 0 ? all / 1e6 : all / 1024;
}

/* --- placements: a run of the engine on the nodes and pods beside the folder ------------------------------- */

static double share_of_openb(const char *what)
{
    char nodes[FGD_PATH], pods[FGD_PATH];
    struct fgd_row row = { .mean = NAN };
    struct diag *diag = diag_create();
    fgd_files(cases_folder, "default", nodes, pods);
    const enum status status = fgd_run(nodes, pods, what, &row, diag);
    diag_destroy(diag);
    return status == STATUS_OK ? row.mean : NAN;
}

static double openb_load(const char *what)
{
    char nodes[FGD_PATH], pods[FGD_PATH];
    static struct server_group groups[LIMIT_SERVER_GROUPS];
    uint32_t count = 0, node_count = 0, gpus = 0;
    struct jobs jobs;
    struct import_report import;
    struct diag *diag = diag_create();
    fgd_files(cases_folder, "default", nodes, pods);
    snprintf(strstr(nodes, "gpu_node.csv"), 16, "all_node.csv");
    inventory_read(nodes, groups, &count, &node_count, diag);
    for (uint32_t g = 0; g < count; g++) gpus += groups[g].count * groups[g].server.gpus;
    trace_read(pods, &(struct trace_options){ 0 }, &jobs, &import, diag);
    const double pod_count = jobs.count;
    jobs_clear(&jobs);
    diag_destroy(diag);
    return what[0] == 'n' ? node_count : what[0] == 'G' ? gpus : pod_count;
}

/* --- the table ------------------------------------------------------------------------------------------ */

#define NEAR(want, percent) (want) * (1 - (percent) / 100.0), (want) * (1 + (percent) / 100.0)
#define WITHIN(want, gap)   (want) - (gap), (want) + (gap)

static const struct check {
    const char *id, *quoted; /* part of the row's expected text */
    double (*model)(const char *what);
    const char *what;
    double low, high;
} checks[] = {
    { "C01", "8,160 us", time_us, "all_reduce " A100 " --size 1G", NEAR(8160, 5) },
    { "C01", "busbw 230", bus_gb, "all_reduce " A100 " --size 1G", NEAR(230, 5) },
    { "C02", "63.9 ms", time_us, "all_reduce " A100 " --size 8G", NEAR(63900, 3) },
    { "C04", "162 us", time_us, "all_reduce " A100 " --size 8M", NEAR(162, 20) },
    { "C06", "36 us", time_us, "all_reduce " A100 " --size 1K", NEAR(36, 20) },
    { "C07", "4,413 us", time_us, "all_gather " A100 " --size 1G", NEAR(4413, 8) },
    { "C09", "4,336 us", time_us, "alltoall " A100 " --size 1G", NEAR(4336, 6) },
    { "C10", "87 us", time_us, "alltoall " A100 " --size 1M", NEAR(87, 15) },
    { "C11", "4.03 ms", time_us, "all_reduce " H100 " --algo nvls --size 1G", NEAR(4030, 4) },
    { "C13", "13.7 us", time_us, "all_reduce " H100 " --algo nvls --size 8", NEAR(13.7, 30) },
    { "C13", "27.4 us", time_us, "all_reduce " H100 " --algo nvls --size 1M", NEAR(27.4, 30) },
    { "C14", "busbw 367", bus_gb,
      "all_reduce --server dgx-h200 --algo ring --gpus-per-node 8 --size 16G", NEAR(367, 3) },
    { "C16", "846", bus_gb, "all_reduce " B200 " --size 16G", NEAR(846, 5) },
    { "C16", "723", bus_gb, "all_reduce " B200 " --size 1G", NEAR(723, 5) },
    { "C18", "122", bus_gb, "all_reduce " V100 " --size " LARGE, NEAR(122, 8) },
    { "C20", "24", bus_gb, "all_reduce --server pcie4-8 --size " LARGE, NEAR(24, 15) },
    { "C20", "48", bus_gb, "all_reduce --server pcie5-8 --size " LARGE, NEAR(48, 15) },
    { "C21", "208", bus_gb, "all_reduce " PAIRS "2 --size " LARGE, NEAR(208, 15) },
    { "C21", "20;", bus_gb, "all_reduce " PAIRS "3 --size " LARGE, NEAR(20, 15) },
    { "C21", "25", bus_gb, "all_reduce " PAIRS "4 --size " LARGE, NEAR(25, 15) },
    { "C23", "365.8", bus_gb, "all_reduce " H100 " --nodes 4 --size " LARGE, NEAR(365.8, 5) },
    { "C26", "192", bus_gb, "all_reduce " A100 " --nodes 4 --size " LARGE, NEAR(192, 4) },
    { "C27", "12.2", bus_gb, "all_reduce " V100 " --link ib-edr100 --nodes 4 --size " LARGE,
      NEAR(12.2, 4) },
    { "C31", "470-487", bus_gb, "all_reduce " H100 " --nodes 2 --size 16G", 470 * 0.92,
      487 * 1.08 },
    { "C32", "78.3", bus_gb, "all_reduce --server aws-p4d --gpus-per-node 8 --nodes 2 --size 2G",
      NEAR(78.3, 10) },
    { "C34", "69 us", time_us, "all_reduce " H100 " --nodes 2 --size 8", NEAR(69, 25) },
    { "C34", "123 us", time_us, "all_reduce " H100 " --nodes 2 --size 1M", NEAR(123, 25) },
    { "C35", "64 /", bus_gb, "all_reduce " B200 " --nodes 4 --size 16M", NEAR(64, 15) },
    { "C35", "157", bus_gb, "all_reduce " B200 " --nodes 4 --size 64M", NEAR(157, 10) },
    { "C35", "327", bus_gb, "all_reduce " B200 " --nodes 4 --size 512M", NEAR(327, 6) },
    { "C35", "362", bus_gb, "all_reduce " B200 " --nodes 4 --size 1G", NEAR(362, 5) },
    { "C37", "0.0087", share_of_388, "all_reduce " H100 " --algo ring --nodes 128 --size 16M",
      NEAR(0.0087, 15) },
    { "C37", "0.315", share_of_388, "all_reduce " H100 " --algo ring --nodes 128 --size 1G",
      NEAR(0.315, 15) },
    { "C37", "0.919", share_of_388, "all_reduce " H100 " --algo ring --nodes 128 --size 16G",
      NEAR(0.919, 15) },
    { "C38", "230", bus_gb, "all_reduce " H100 " --algo tree --nodes 4 --size 64M", NEAR(230, 15) },
    { "C38", "107", bus_gb, "all_reduce " H100 " --algo tree --nodes 1024 --size 64M",
      NEAR(107, 15) },
    { "C38", "350", bus_gb, "all_reduce " H100 " --algo tree --nodes 4 --size 1G", NEAR(350, 15) },
    { "C38", "300", bus_gb, "all_reduce " H100 " --algo tree --nodes 1024 --size 1G",
      NEAR(300, 15) },
    { "C38", "373", bus_gb, "all_reduce " H100 " --algo tree --nodes 4 --size 16G", NEAR(373, 15) },
    { "C38", "366", bus_gb, "all_reduce " H100 " --algo tree --nodes 1024 --size 16G",
      NEAR(366, 15) },
    { "C39", "64*0.95", bus_gb, "alltoall " H100 " --nodes 4 --size " LARGE, NEAR(64 * 0.95, 12) },
    { "C39", "54.9*0.94", bus_gb, "alltoall " H100 " --nodes 8 --size " LARGE,
      NEAR(54.9 * 0.94, 12) },
    { "C39", "51.2*0.90", bus_gb, "alltoall " H100 " --nodes 16 --size " LARGE,
      NEAR(51.2 * 0.90, 12) },
    { "C40", "6 /", bus_gb, "alltoall " A100 " --nics 2 --nodes 4 --size " LARGE, NEAR(6, 10) },
    { "C40", "12 /", bus_gb, "alltoall " H100 " --nics 2 --nodes 4 --size " LARGE, NEAR(12, 10) },
    { "C40", "24", bus_gb, "alltoall " A100 " --nodes 4 --size " LARGE, NEAR(24, 10) },
    { "C41", "4-6", bus_gb, "all_reduce " V100 " --link tcp-100 --nodes 4 --size " LARGE, 4, 6 },
    { "C43", "122 /", time_us, "all_reduce " H20 " --nodes 2 --size 1M", NEAR(122, 30) },
    { "C43", "203", time_us, "all_reduce " H20 " --nodes 2 --size 16M", NEAR(203, 30) },
    { "C43", "468", time_us, "all_reduce " H20 " --nodes 2 --size 64M", NEAR(468, 30) },
    { "C43", "3,219", time_us, "all_reduce " H20 " --nodes 2 --size 512M", NEAR(3219, 30) },
    { "C44", "3,723", bus_gbits, "all_reduce --server dgx-h200 --gpus-per-node 8 --size 4G",
      NEAR(3723, 20) },
    { "C44", "1,146", bus_gbits, "all_reduce --server dgx-h200 --gpus-per-node 8 --size 4M",
      NEAR(1146, 20) },
    { "T01", "102.6 s", trillion_step_s, "FLOPs at 163 TFLOP/s per GPU", NEAR(102.6, 6) },
    TRAINING_CHECKS,
    { "T07", "(p-1)/m;", bubble, "8 stages, 64 microbatches", WITHIN(7.0 / 64, 1e-15) },
    { "T07", "(p-1)/(m v)", bubble, "interleaved by 4", WITHIN(7.0 / 256, 1e-15) },
    { "T26", "10 % slow", slow_host, "one host in 200, 10 % slow", WITHIN(1.1, 1e-12) },
    { "R01", "1.80 h", mttf_h, "2048 6.50", NEAR(1.80, 1) },
    { "R01", "0.225 h", mttf_h, "16384 6.50", NEAR(0.225, 1) },
    { "R02", "419 interrupts", interrupts_in_54_days, "2048 3.79", WITHIN(419, 40) },
    { "R02", "3.09 h", mttf_h, "2048 3.79", NEAR(3.09, 10) },
    { "R04", "0.960", ettr, "256 6.5", WITHIN(0.960, 0.005) },
    { "R04", "0.919", ettr, "512 6.5", WITHIN(0.919, 0.005) },
    { "R07", "65.8 min", young_min, "512 6.5", NEAR(65.8, 0.5) },
    { "R09", "57.1 %", any_failure_percent, "1024", WITHIN(57.1, 0.2) },
    { "R09", "19.1 %", any_failure_percent, "256", WITHIN(19.1, 0.2) },
    { "R10", "23,866 h", fit_mtbf_h, "1", NEAR(23866, 0.5) },
    { "R10", "23.3 h", fit_mtbf_h, "1024", NEAR(23.3, 0.5) },
    { "R12", "ETR 0.637", etr_analytic, "4096 GPUs", WITHIN(0.637, 0.003) },
    { "R13", "median 15.0 h", repair_quantile, "2.71 2.52 0.5", NEAR(15.0, 1) },
    { "R13", "p90 380 h", repair_quantile, "2.71 2.52 0.9", NEAR(380, 1) },
    { "R14", "median 63 min", repair_quantile, "4.15 1.40 0.5", NEAR(63, 1) },
    { "R14", "mean 169 min", repair_mean, "the law's mean", NEAR(169, 1) },
    { "R15", "CV 1.69", weibull_gap, "cv", NEAR(1.69, 5) },
    { "R15", "20 %", weibull_gap, "share of gaps below 1 h", NEAR(0.20, 5) },
    { "R18", "20.5 failures", switch_failures, "1,024 switches, a quarter", WITHIN(20.5, 9) },
    { "R19", "16 TB", checkpoint_1t, "TB", NEAR(16, 10) },
    { "R19", "~59 s", checkpoint_1t, "write time", NEAR(59, 10) },
    { "R20", "0.37 %", write_overhead_percent, "40 s every 3 h", WITHIN(0.37, 0.02) },
    { "S03", "87.5", share_of_openb, "random", WITHIN(87.47, 0.6) },
    { "S03", "90.9", share_of_openb, "dot_product", WITHIN(90.85, 0.6) },
    { "S03", "91.9", share_of_openb, "clustering", WITHIN(91.88, 0.6) },
    { "S03", "92.0", share_of_openb, "packing", WITHIN(92.00, 0.6) },
    { "S03", "93.1", share_of_openb, "best_fit", WITHIN(93.08, 0.6) },
    { "S03", "95.4", share_of_openb, "fgd", WITHIN(95.39, 0.6) },
    { "S18", "0.8000", queue, "1 0.8 Pw", NEAR(0.8, 1) },
    { "S18", "0.4576", queue, "8 6.4 Pw", NEAR(0.4576, 1) },
    { "S18", "0.3107", queue, "64 57.6 Pw", NEAR(0.3107, 1) },
    { "S18", "4.0000", queue, "1 0.8 Wq", NEAR(4, 1) },
    { "S18", "0.2860", queue, "8 6.4 Wq", NEAR(0.2860, 1) },
    { "S18", "0.0485", queue, "64 57.6 Wq", NEAR(0.0485, 1) },
    { "S21", "1,523 nodes", openb_load, "nodes", WITHIN(1523, 0) },
    { "S21", "6,212 GPUs", openb_load, "GPUs", WITHIN(6212, 0) },
    { "S21", "8,152 pods", openb_load, "pods", WITHIN(8152, 0) },
    { "P04", "697 W", wall_w, "656", NEAR(697, 2) },
    { "P04", "2,906 W", wall_w, "2734", NEAR(2906, 2) },
    { "P05", "+10-15 %", capped_step_percent, "700 to 600 W", 10, 15 },
    { "P09", "32 leaf", fat_tree, "leaves", WITHIN(32, 0) },
    { "P09", "16 spine", fat_tree, "spines", WITHIN(16, 0) },
    { "P09", "48 switches", fat_tree, "switches", WITHIN(48, 0) },
    { "P11", "50.43 M$", purchase, "total", NEAR(50.43, 0.1) },
    { "P11", "49,248 $", purchase, "per GPU", NEAR(49248, 0.1) },
};

/* --- the file --------------------------------------------------------------------------------------------- */
enum { ID, INPUTS, EXPECTED, TOLERANCE, COLUMNS };
static const char *const column_names[COLUMNS] = { "id", "inputs", "expected", "tolerance" };
static struct {
    unsigned passed, failed, not_built, changed, used;
} counts;

static void row(char text[COLUMNS][512])
{
    char nodes[FGD_PATH], pods[FGD_PATH];
    bool built = false;
    fgd_files(cases_folder, "default", nodes, pods);
    const bool has_openb = access(pods, R_OK) == 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct check *check = &checks[i];
        if (strcmp(check->id, text[ID]) != 0) continue;
        counts.used++;
        if ((check->model == share_of_openb || check->model == openb_load) && !has_openb) continue;
        built = true;
        if (strstr(text[EXPECTED], check->quoted) == NULL) {
            printf("CHANGED   %-4s no longer says \"%s\": %s\n", check->id, check->quoted,
                   text[EXPECTED]);
            counts.changed++;
            continue;
        }
        const double got = check->model(check->what);
        const bool good = got >= check->low && got <= check->high;
        counts.passed += good;
        counts.failed += !good;
        printf("%-9s %-4s %s: model %.5g, published %s (%s), bounds %.5g to %.5g%s%s\n",
               good ? "passed" : "FAILED", check->id, check->what, got, check->quoted,
               text[TOLERANCE], check->low, check->high,
               good || !reason_of(check->id)[0] ? "" : "; ", good ? "" : reason_of(check->id));
    }
    if (built) return;
    counts.not_built++;
    const char *why = training_reason(text[ID]);
    printf("not built %-4s %s: %s%s%s\n", text[ID], text[INPUTS], text[EXPECTED],
           why[0] ? "; " : "", why);
}

static enum status read_cases(const char *folder, struct diag *diag)
{
    char path[4096];
    static struct csv csv;
    struct input input = { 0 };
    uint32_t columns[COLUMNS];
    bool found = false;
    snprintf(path, sizeof path, "%s/validation.csv", folder);
    enum status status = input_read(path, &input, diag);
    if (status == STATUS_OK) status = csv_begin(&csv, path, input.bytes, input.byte_count, diag);
    if (status == STATUS_OK) status = csv_next(&csv, &found);
    for (int i = 0; i < COLUMNS && found; i++) columns[i] = csv_column(&csv, column_names[i]);
    while (status == STATUS_OK && found && (status = csv_next(&csv, &found)) == STATUS_OK &&
           found) {
        char text[COLUMNS][512] = { { 0 } };
        for (int i = 0; i < COLUMNS; i++)
            if (columns[i] < csv.field_count && csv.fields[columns[i]].byte_count < sizeof text[i])
                text[i][csv_copy(&csv.fields[columns[i]], text[i])] = '\0';
        row(text);
    }
    input_clear(&input);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle_cases FOLDER\n");
        return 2;
    }
    struct diag *diag = diag_create();
    if (diag == NULL) return 1;
    cases_folder = argv[1];
    training_catalog = &catalog;
    enum status status = catalog_open(&catalog, diag);
    if (status == STATUS_OK) status = read_cases(argv[1], diag);
    diag_print(diag, stderr);
    diag_destroy(diag);
    catalog_close(&catalog);
    const size_t unread = sizeof checks / sizeof *checks - counts.used;
    if (unread) printf("CHANGED   %zu cases are no longer in the file\n", unread);
    printf("%u passed, %u failed, %u not built\n", counts.passed, counts.failed, counts.not_built);
    return status != STATUS_OK || counts.changed || unread;
}
