/* oracle_sched.c - start times of recorded schedules (oracles/sched), by the real engine.
 *
 * usage: oracle_sched FOLDER. For each NAME_pP.swf: P one-GPU nodes, shape free, jobs cut at their
 * estimate; columns fcfs, easy_batch_derived, easy_single and cons_set of NAME.starts.csv, where present,
 * must be met job by job. One line per log and column; last line "N passed, N failed" counts jobs. */
#include "fixture.h"
#include "io/trace_read.h"

#include <dirent.h>
#include <inttypes.h>

static const struct {
    const char *column;
    enum order order;
} columns[] = { { "fcfs", ORDER_FCFS },
                { "easy_batch_derived", ORDER_EASY },
                { "easy_single", ORDER_EASY_EVENT },
                { "cons_set", ORDER_CONSERVATIVE } };

static uint64_t passed, failed;

/* Number of the column in the header line, or -1. */
static int column_of(const char *header, const char *name)
{
    int column = 0;
    const size_t length = strlen(name);
    for (const char *at = header;; column++) {
        if (!strncmp(at, name, length) &&
            (at[length] == ',' || at[length] == '\n' || at[length] == '\r'))
            return column;
        at = strchr(at, ',');
        if (!at) return -1;
        at++;
    }
}

/* Start times in s by job number from one column of NAME.starts.csv. */
static bool read_starts(const char *path, const char *column, int64_t *start_s, uint32_t jobs)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[4096];
    const int wanted = fgets(line, sizeof line, file) ? column_of(line, column) : -1;
    while (wanted >= 0 && fgets(line, sizeof line, file)) {
        const unsigned long job = strtoul(line, NULL, 10);
        const char *at = line;
        for (int c = 0; c < wanted && at; c++) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
        if (at && job >= 1 && job <= jobs) start_s[job - 1] = strtoll(at, NULL, 10);
    }
    fclose(file);
    return wanted >= 0;
}

static bool has_column(const char *path, const char *column)
{
    int64_t none;
    return read_starts(path, column, &none, 0);
}

/* The submit time of the first job: the reader moves it to 0. */
static int64_t origin_s(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    char line[4096];
    long long number = 0, submit = 0;
    while (fgets(line, sizeof line, file)) {
        char *end;
        if (line[0] == ';') continue;
        number = strtoll(line, &end, 10);
        submit = strtoll(end, NULL, 10);
        break;
    }
    fclose(file);
    (void)number;
    return submit;
}

static void compare_log(const char *folder, const char *name, uint32_t processors)
{
    char path[4096], starts[4096];
    snprintf(path, sizeof path, "%s/%s.swf", folder, name);
    snprintf(starts, sizeof starts, "%s/%s.starts.csv", folder, name);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        if (!has_column(starts, columns[c].column)) continue;
        struct fixture fixture;
        fixture_init(&fixture, 0);
        jobs_clear(&fixture.jobs);
        const struct trace_options options = { .format = TRACE_SWF, .kill_at_limit = true };
        if (trace_read(path, &options, &fixture.jobs, &fixture.import, fixture.diag) != STATUS_OK) {
            diag_print(fixture.diag, stderr);
            failed++;
            fixture_clear(&fixture);
            return;
        }
        fixture.scenario.kill_at_limit = true;
        fixture.scenario.shape = SHAPE_FREE;
        fixture.scenario.order = columns[c].order;
        fixture_layout(&fixture, "pool", processors, 1);
        fixture_ready(&fixture);
        int64_t *want_s = calloc(fixture.jobs.count, sizeof *want_s);
        struct replica_result result;
        uint64_t good = 0, bad = 0;
        if (read_starts(starts, columns[c].column, want_s, fixture.jobs.count) &&
            fixture_run(&fixture, 0, 0, &result) == STATUS_OK) {
            const int64_t origin_ns = origin_s(path) * NS_PER_S;
            const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
            for (uint64_t i = 0; i < result.jobs.count; i++) {
                const int64_t want_ns = want_s[rows[i].trace_row] * NS_PER_S;
                const bool same = rows[i].first_start_ns + origin_ns == want_ns;
                good += same;
                bad += !same;
                if (!same && bad == 1)
                    printf("  %s %s job %u: start %" PRId64 " ns, want %" PRId64 " ns\n", name,
                           columns[c].column, rows[i].trace_row + 1,
                           rows[i].first_start_ns + origin_ns, want_ns);
            }
            bad += fixture.jobs.count - result.jobs.count;
            replica_result_clear(&result);
        } else
            bad = fixture.jobs.count;
        printf("%s %-18s %" PRIu64 " of %u starts equal\n", name, columns[c].column, good,
               fixture.jobs.count);
        passed += good;
        failed += bad;
        free(want_s);
        fixture_clear(&fixture);
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    const int count = argc == 2 ? scandir(argv[1], &entries, NULL, by_name) : -1;
    if (count < 0) {
        fprintf(stderr, "usage: oracle_sched FOLDER (with NAME_pN.swf and NAME_pN.starts.csv)\n");
        return 2;
    }
    for (int i = 0; i < count; i++) {
        char *dot = strstr(entries[i]->d_name, ".swf"), *p = strstr(entries[i]->d_name, "_p");
        if (dot && p && !strcmp(dot, ".swf")) {
            const unsigned long processors = strtoul(p + 2, NULL, 10);
            *dot = 0;
            compare_log(argv[1], entries[i]->d_name, (uint32_t)processors);
        }
        free(entries[i]);
    }
    free(entries);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed > 0;
}
