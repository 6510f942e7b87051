/* oracle_models.c - runs every row of the csv files in FOLDER against the models (MODELS 0.6).
 *
 * Prints each failing row with what it got and wanted, a count per file, how many rows of kind
 * `stat` are left to whole runs, and the functions that are not built with their rows. Last line: N
 * passed, N failed. Exit 1 when any failed, 2 when the folder holds no rows. */
#include "tests/model_table.h"

#include <glob.h>

enum { ABSENT_MAX = 64 };

struct counts {
    unsigned passed, failed, stat, not_built;
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

static void run_row(const struct row *row, struct counts *counts)
{
    if (strcmp(row->kind, "stat") == 0) {
        counts->stat++;
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
        printf("%-18s %4u passed %4u failed %4u stat %4u not built\n", name,
               all.passed - before.passed, all.failed - before.failed, all.stat - before.stat,
               all.not_built - before.not_built);
    }
    globfree(&files);
    if (all.stat) printf("%u rows of kind stat: whole runs, not run here\n", all.stat);
    if (all.not_built) {
        printf("%u rows of functions that are not built:", all.not_built);
        for (unsigned i = 0; i < all.absent_count; i++)
            printf(" %s (%u)", all.absent[i].name, all.absent[i].rows);
        printf("\n");
    }
    printf("%u passed, %u failed\n", all.passed, all.failed);
    return all.failed > 0;
}
