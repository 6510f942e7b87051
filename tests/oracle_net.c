/* oracle_net.c - finish times of transfers by another simulator (oracles/net), by the program itself.
 *
 * usage: oracle_net FOLDER. Each NAME.txt is given to `gpuplan flows`; its answer must hold the flows of
 * NAME.expected.csv in their order, with start, size and finish within 1e-9 relative or absolute. Last line "N passed,
 * N failed" counts flows. */
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, SHOWN_MOST = 5 };
static const double TOLERANCE = 1e-9;

struct line {
    char text[LINE_BYTES]; /* cut at the first comma: the name */
    double number[3];      /* start, size, finish */
};

static bool next_line(FILE *file, struct line *line)
{
    if (!fgets(line->text, sizeof line->text, file)) return false;
    char *at = strchr(line->text, ',');
    for (int i = 0; i < 3; i++) {
        line->number[i] = at ? strtod(at + 1, NULL) : NAN;
        char *next = at ? strchr(at + 1, ',') : NULL;
        if (i == 0 && at) *at = '\0';
        at = next;
    }
    return true;
}

/* The relative difference, or the absolute one where that is less. */
static double apart(double got, double want)
{
    const double gap = fabs(got - want);
    return fabs(want) > 1 ? gap / fabs(want) : gap;
}

static double compare(const struct line *got, const struct line *want)
{
    double worst = strcmp(got->text, want->text) == 0 ? 0 : INFINITY;
    for (int i = 0; i < 3; i++) {
        const double gap = apart(got->number[i], want->number[i]);
        if (!(gap <= worst)) worst = gap;
    }
    return worst;
}

struct count {
    unsigned passed, failed;
};

static struct count run_case(const char *program, const char *path, const char *expected)
{
    struct count count = { 0 };
    char command[8192];
    snprintf(command, sizeof command, "%s flows '%s'", program, path);
    FILE *got_file = popen(command, "r"), *want_file = fopen(expected, "r");
    struct line got = { 0 }, want;
    double worst = 0;
    bool more = got_file && next_line(got_file, &got); /* the headers */
    if (want_file) next_line(want_file, &want);
    while (want_file && next_line(want_file, &want)) {
        more = more && next_line(got_file, &got);
        const double gap = more ? compare(&got, &want) : INFINITY;
        if (gap <= TOLERANCE) {
            count.passed++;
        } else if (++count.failed <= SHOWN_MOST) {
            printf("FAILED %s: %s ends at %.15g, want %s at %.15g\n", strrchr(path, '/') + 1,
                   more ? got.text : "nothing", more ? got.number[2] : NAN, want.text,
                   want.number[2]);
        }
        if (!(gap <= worst)) worst = gap;
    }
    if (!want_file || (more && next_line(got_file, &got))) count.failed++;
    if (want_file) fclose(want_file);
    if (got_file && pclose(got_file) != 0) count.failed++;
    printf("%-32s %5u passed %5u failed, worst %.1e\n", strrchr(path, '/') + 1, count.passed,
           count.failed, worst);
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle_net FOLDER\n");
        return 2;
    }
    const char *build = getenv("BUILD");
    char program[4096], pattern[4096];
    snprintf(program, sizeof program, "%s/gpuplan", build ? build : "build");
    snprintf(pattern, sizeof pattern, "%s/*.txt", argv[1]);
    glob_t files;
    if (glob(pattern, 0, NULL, &files) != 0) {
        fprintf(stderr, "%s: no *.txt there\n", argv[1]);
        return 2;
    }
    struct count all = { 0 };
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char expected[8192];
        const char *path = files.gl_pathv[i];
        snprintf(expected, sizeof expected, "%.*s.expected.csv", (int)(strlen(path) - 4), path);
        const struct count count = run_case(program, path, expected);
        all.passed += count.passed;
        all.failed += count.failed;
    }
    globfree(&files);
    printf("%u passed, %u failed\n", all.passed, all.failed);
    return all.failed > 0;
}
