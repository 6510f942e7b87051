/* oracle_fgd.c - how full six placements make the openb cluster, against what was published (Weng et al., USENIX ATC 2023).
 *
 *     oracle_fgd TRACES FIGURES      folders with alibaba-openb-2023/, and with fgd.csv
 *
 * scenarios/shared_gpus.yaml on the published nodes, for every whole list of pods that is there: the share of GPUs that is given
 * out when 130 % have been asked for, mean and sd of ten draws. A row passes within 0.6 points. An order passes when
 * placements whose published means differ by more than three standard errors stand in the published order.
 * Last line: N passed, N failed. */
#include "io/csv.h"
#include "io/input.h"

#include "fgd_runs.h"

#include <stdlib.h>
#include <unistd.h>

enum { POLICIES = 6 };
static const double POINTS = 0.6;

static const struct {
    const char *published, *word;
} policies[POLICIES] = {
    { "Random", "random" },      { "DotProd", "dot_product" }, { "GpuClustering", "clustering" },
    { "GpuPacking", "packing" }, { "BestFit", "best_fit" },    { "FGD", "fgd" },
};

static unsigned passed, failed;

/* ---- what was published ------------------------------------------------------------------------ */

static double number(const struct csv *csv, uint32_t column)
{
    char text[64] = "";
    const struct csv_field *const field = &csv->fields[column];
    snprintf(text, sizeof text, "%.*s", (int)field->byte_count, field->bytes);
    return strtod(text, NULL);
}

/* The rows of one workload; false when it has none. */
static bool published(const struct input *figures, const char *workload,
                      struct fgd_row rows[POLICIES], struct diag *diag)
{
    static struct csv csv;
    bool found, any = false;
    memset(rows, 0, POLICIES * sizeof *rows);
    if (csv_begin(&csv, figures->name, figures->bytes, figures->byte_count, diag) != STATUS_OK ||
        csv_next(&csv, &found) != STATUS_OK)
        return false;
    const uint32_t name = csv_column(&csv, "workload"), policy = csv_column(&csv, "policy");
    const uint32_t mean = csv_column(&csv, "gpu_alloc_pct_at_130pct_arrival"),
                   sd = csv_column(&csv, "sd_130");
    if (name == UINT32_MAX || policy == UINT32_MAX || mean == UINT32_MAX || sd == UINT32_MAX)
        return false;
    while (csv_next(&csv, &found) == STATUS_OK && found)
        for (int p = 0; p < POLICIES; p++)
            if (csv_is(&csv.fields[name], workload) &&
                csv_is(&csv.fields[policy], policies[p].published)) {
                rows[p] = (struct fgd_row){ number(&csv, mean), number(&csv, sd), true };
                any = true;
            }
    return any;
}

/* ---- one workload ------------------------------------------------------------------------------ */

static void judge_order(const char *workload, const struct fgd_row *want, const struct fgd_row *got)
{
    unsigned pairs = 0, wrong = 0;
    for (int a = 0; a < POLICIES; a++)
        for (int b = 0; b < a; b++) {
            if (!want[a].there || !want[b].there) continue;
            const double se =
                sqrt((want[a].sd * want[a].sd + want[b].sd * want[b].sd) / FGD_REPLICAS);
            if (fabs(want[a].mean - want[b].mean) <= 3 * se) continue;
            pairs++;
            wrong += (want[a].mean > want[b].mean) != (got[a].mean > got[b].mean);
        }
    passed += wrong == 0;
    failed += wrong != 0;
    printf("%s %s: order of %u pairs that differ by more than 3 standard errors, %u turned round\n",
           wrong ? "FAILED" : "ok    ", workload, pairs, wrong);
}

static enum status one_workload(const char *traces, const struct input *figures,
                                const char *workload, struct diag *diag)
{
    char nodes[FGD_PATH], pods[FGD_PATH];
    struct fgd_row want[POLICIES], got[POLICIES];
    snprintf(nodes, sizeof nodes, "%s/alibaba-openb-2023/openb_node_list_gpu_node.csv", traces);
    snprintf(pods, sizeof pods, "%s/alibaba-openb-2023/openb_pod_list_%s.csv", traces, workload);
    if (access(pods, R_OK) != 0 || !published(figures, workload, want, diag)) return STATUS_OK;
    printf("%-7s%-14s %-14s   mean     sd   published     sd   difference\n", "", "list",
           "placement");
    for (int p = 0; p < POLICIES; p++) {
        const enum status status = fgd_run(nodes, pods, policies[p].word, &got[p], diag);
        if (status != STATUS_OK) return status;
        const double difference = got[p].mean - want[p].mean;
        const bool good = fabs(difference) <= POINTS;
        passed += good;
        failed += !good;
        printf("%s %-14s %-14s %6.2f  %5.2f      %6.2f  %5.2f       %+6.2f\n",
               good ? "ok    " : "FAILED", workload, policies[p].word, got[p].mean, got[p].sd,
               want[p].mean, want[p].sd, difference);
    }
    judge_order(workload, want, got);
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    static const char *const workloads[] = {
        "default",    "cpu050",      "cpu100",     "cpu200",    "gpushare60",
        "gpushare80", "gpushare100", "gpuspec10",  "gpuspec20", "gpuspec25",
        "multigpu30", "multigpu40",  "multigpu50",
    };
    if (argc != 3) {
        fprintf(stderr, "usage: oracle_fgd TRACES FIGURES\n");
        return 2;
    }
    char path[FGD_PATH];
    struct input figures;
    struct diag *diag = diag_create();
    snprintf(path, sizeof path, "%s/fgd.csv", argv[2]);
    enum status status = input_read(path, &figures, diag);
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads && status == STATUS_OK; w++)
        status = one_workload(argv[1], &figures, workloads[w], diag);
    if (status != STATUS_OK) diag_print(diag, stderr);
    input_clear(&figures);
    diag_destroy(diag);
    printf("%u passed, %u failed\n", passed, failed);
    return status != STATUS_OK || failed || !passed;
}
