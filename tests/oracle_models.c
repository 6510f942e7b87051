/* oracle_models.c - runs every row of the csv files in FOLDER against the models (MODELS 0.6).
 *
 * Rows of kind `stat` are whole runs (stat_rows.h), each printed with its mean and standard error. Prints each failing row
 * with what it got and wanted, a count per file, and the functions that are not built with their rows. A row whose
 * expected value is known to be wrong is DISPUTED: it counts neither way, and our answer must meet the
 * right value, computed apart, within the row's own tolerance. Last line: N passed, N failed. Exit 1
 * when any failed, 2 when the folder holds no rows. */
#include "tests/model_table.h"
#include "tests/stat_rows.h"

#include <glob.h>

enum { ABSENT_MAX = 64 };

struct counts {
    unsigned passed, failed, stat, not_built, disputed;
    struct {
        char name[32];
        unsigned rows;
    } absent[ABSENT_MAX];
    unsigned absent_count;
};

static void note_absent(struct counts *counts, const char *func)
{
    counts->not_built++;
    unsigned i = 0;
    while (i < counts->absent_count && strcmp(counts->absent[i].name, func) != 0) i++;
    if (i == ABSENT_MAX) return;
    if (i == counts->absent_count) {
        snprintf(counts->absent[i].name, sizeof counts->absent[i].name, "%s", func);
        counts->absent_count++;
    }
    counts->absent[i].rows++;
}

/* Rows that are wrong, settled by the source that MODELS names for them. */
static const struct {
    const char *id, *output, *expected;
    double right;
    const char *why;
} disputes[] = {
    /* Student's t with 3 degrees of freedom has a closed form: F(t) = 1/2 + (x/(1 + x^2) + atan x)/pi, x = t/sqrt 3.
     * F(5.840909309733348) = 0.995; times s/sqrt n = sqrt(5/12). GSL's quantile, which MODELS 6.5 names, is the same. */
    { "ME-023", "half", "3.7702907407774466", 3.7702907472175196,
      "its t quantile is off by 1.7e-9; closed form and GSL agree to 1e-15" },
};

static bool is_disputed(const struct query *query)
{
    for (size_t i = 0; i < sizeof disputes / sizeof *disputes; i++) {
        if (strcmp(query->row->id, disputes[i].id) != 0 ||
            strcmp(query->row->output, disputes[i].output) != 0 ||
            strcmp(query->row->expected, disputes[i].expected) != 0)
            continue;
        if (!query->answered ||
            fabs(query->number - disputes[i].right) > query->row->rtol * disputes[i].right)
            return false;
        printf("DISPUTED %s %s(%s) %s: got %.17g, the row says %s: %s\n", query->row->id,
               query->row->func, query->row->inputs, query->row->output, query->number,
               query->row->expected, disputes[i].why);
        return true;
    }
    return false;
}

/* A whole run, twenty times and more. */
static void run_stat(const struct row *row, struct counts *counts)
{
    const struct stat_func *func = stat_func_find(row->func);
    if (!func) {
        note_absent(counts, row->func);
        return;
    }
    struct query query = { .row = row };
    struct stat_answer answer = { NAN, NAN, 0 };
    const bool right = stat_answer(func, &query, &answer) && stat_is_right(row, &answer);
    counts->stat++;
    counts->passed += right;
    counts->failed += !right;
    printf("%s %s %s(%s) %s: %.6g +- %.2g over %u runs, want %s (rtol %g)%s%s\n",
           right ? "stat  " : "FAILED", row->id, row->func, row->inputs, row->output, answer.mean,
           answer.error, answer.replicates, row->expected, row->rtol, query.problem[0] ? ": " : "",
           query.problem);
}

static void run_row(const struct row *row, struct counts *counts)
{
    if (strcmp(row->kind, "stat") == 0) {
        run_stat(row, counts);
        return;
    }
    const struct model_func *func = model_func_find(row->func);
    if (!func) {
        note_absent(counts, row->func);
        return;
    }
    struct query query = { .row = row };
    func->ask(&query);
    if (answer_is_right(&query)) {
        counts->passed++;
        return;
    }
    if (is_disputed(&query)) {
        counts->disputed++;
        return;
    }
    counts->failed++;
    printf("FAILED %s %s(%s) %s: got %s, want %s (rtol %g, atol %g)\n", row->id, row->func,
           row->inputs, row->output, answer_text(&query), row->expected, row->rtol, row->atol);
}

static bool run_file(const char *path, struct counts *counts)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    static struct row row;
    for (unsigned line = 1; fgets(row.line, sizeof row.line, file); line++) {
        const bool header = line == 1 && strncmp(row.line, "id,", 3) == 0;
        const bool blank = row.line[0] == '\n' || row.line[0] == '\r' || row.line[0] == '#';
        if (header || blank) continue;
        if (row_parse(&row)) {
            run_row(&row, counts);
        } else {
            counts->failed++;
            printf("FAILED %s:%u: not a row of %d fields\n", path, line, ROW_FIELDS);
        }
    }
    fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle_models FOLDER\n");
        return 2;
    }
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/*.csv", argv[1]);
    glob_t files;
    if (glob(pattern, 0, NULL, &files) != 0) {
        fprintf(stderr, "%s: no *.csv there\n", argv[1]);
        return 2;
    }
    static struct counts all;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const struct counts before = all;
        const char *name = strrchr(files.gl_pathv[i], '/') + 1;
        if (!run_file(files.gl_pathv[i], &all)) {
            all.failed++;
            printf("FAILED %s: cannot be read\n", files.gl_pathv[i]);
        }
        printf("%-18s %4u passed %4u failed (%u are runs) %4u not built\n", name,
               all.passed - before.passed, all.failed - before.failed, all.stat - before.stat,
               all.not_built - before.not_built);
    }
    globfree(&files);
    if (all.stat) printf("%u rows of kind stat are whole runs\n", all.stat);
    if (all.not_built) {
        printf("%u rows of functions that are not built:", all.not_built);
        for (unsigned i = 0; i < all.absent_count; i++)
            printf(" %s (%u)", all.absent[i].name, all.absent[i].rows);
        printf("\n");
    }
    if (all.disputed) printf("%u disputed: the row is wrong, our answer is right\n", all.disputed);
    printf("%u passed, %u failed\n", all.passed, all.failed);
    return all.failed > 0;
}
