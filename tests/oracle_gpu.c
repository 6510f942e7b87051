/* oracle_gpu.c - schedules of a simulator of GPU jobs (oracles/gpu), by the real engine.
 *
 * usage: oracle_gpu FOLDER. For each NAME_Ggpu.jobs.csv: G one-GPU nodes, shape free. NAME_fifo_: order fcfs;
 * NAME_las2d_: order las with thresholds of 3250 and 7200 GPU-seconds. First start, end and number of
 * preemptions of NAME.expected.csv must be met job by job, and the mean completion time within 1 %.
 * Last line "N passed, N failed" counts jobs and means. */
#include "fixture.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>

enum { JOBS_MOST = 1 << 20, FIELDS = 8 };
static const double MEAN_RTOL = 0.01;

static uint64_t passed, failed;

/* Numbers of one line of a CSV file; a field that is no number is 0. Returns how many. */
static int fields_of(char *line, long long *field)
{
    int count = 0;
    for (char *at = line; at && count < FIELDS; count++) {
        field[count] = strtoll(at, NULL, 10);
        at = strchr(at, ',');
        if (at) at++;
    }
    return count;
}

struct row {
    long long field[FIELDS];
};

/* Rows of a file behind its header; NULL when it cannot be read. */
static struct row *read_rows(const char *path, uint32_t *count)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    *count = 0;
    if (!file) return NULL;
    struct row *rows = calloc(JOBS_MOST, sizeof *rows);
    if (rows && fgets(line, sizeof line, file))
        while (*count < JOBS_MOST && fgets(line, sizeof line, file))
            if (fields_of(line, rows[*count].field) > 1) ++*count;
    fclose(file);
    return rows;
}

/* job_id, num_gpu, submit_time, iterations, model_name, duration; the engine's clock begins with the
 * first submission. */
static void fill(struct fixture *fixture, const struct row *jobs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const long long *field = jobs[i].field;
        fixture_job(fixture, i, (double)(field[2] - jobs[0].field[2]), (double)field[5], 0,
                    (uint32_t)field[1]);
    }
}

/* Attempts of a job less one are its preemptions: nothing fails here. */
static void compare(const char *name, const struct replica_result *result, const struct row *jobs,
                    const struct row *want, uint32_t count)
{
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    const int64_t origin_s = jobs[0].field[2];
    uint64_t same = 0;
    double got_sum = 0, want_sum = 0;
    for (uint64_t i = 0; i < result->jobs.count; i++) {
        const struct job_row *row = &rows[i];
        const long long *field = want[row->trace_row].field;
        const int64_t start_ns = row->first_start_ns + origin_s * NS_PER_S;
        const int64_t end_ns = row->end_ns + origin_s * NS_PER_S;
        const bool equal = start_ns == field[3] * NS_PER_S && end_ns == field[4] * NS_PER_S &&
                           row->attempts - 1 == (uint32_t)field[6];
        if (!equal && same == i)
            printf("  %s job %lld: start %" PRId64 " ns, end %" PRId64 " ns, %u preemptions; "
                   "want %lld s, %lld s, %lld\n",
                   name, field[0], start_ns, end_ns, row->attempts - 1, field[3], field[4],
                   field[6]);
        same += equal;
        got_sum += (double)end_ns / 1e9 - (double)field[2];
        want_sum += (double)(field[4] - field[2]);
    }
    const double off = fabs(got_sum - want_sum) / want_sum;
    printf("%s: %" PRIu64 " of %u jobs equal; mean completion %.3f s, want %.3f s (%.4f %%)\n",
           name, same, count, got_sum / count, want_sum / count, 100 * off);
    passed += same + (off <= MEAN_RTOL);
    failed += count - same + !(off <= MEAN_RTOL);
}

static void run(const char *folder, const char *name, uint32_t gpus)
{
    char path[4096];
    uint32_t count = 0, want_count = 0;
    snprintf(path, sizeof path, "%s/%s.jobs.csv", folder, name);
    struct row *jobs = read_rows(path, &count);
    snprintf(path, sizeof path, "%s/%s.expected.csv", folder, name);
    struct row *want = read_rows(path, &want_count);
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, count);
    fixture.scenario.shape = SHAPE_FREE;
    fixture.scenario.order = strstr(name, "las2d") ? ORDER_LAS : ORDER_FCFS;
    fixture_layout(&fixture, "pool", gpus, 1);
    fill(&fixture, jobs, count);
    fixture_ready(&fixture);
    if (count == want_count && fixture_run(&fixture, 0, 0, &result) == STATUS_OK) {
        compare(name, &result, jobs, want, count);
        replica_result_clear(&result);
    } else {
        printf("%s: not run\n", name);
        failed += count + 1;
    }
    fixture_clear(&fixture);
    free(jobs);
    free(want);
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
        fprintf(stderr,
                "usage: oracle_gpu FOLDER (with NAME_Ggpu.jobs.csv and NAME_Ggpu.expected.csv)\n");
        return 2;
    }
    for (int i = 0; i < count; i++) {
        char *dot = strstr(entries[i]->d_name, ".jobs.csv"),
             *at = strstr(entries[i]->d_name, "gpu.");
        if (dot && at) {
            *dot = 0;
            while (at > entries[i]->d_name && at[-1] >= '0' && at[-1] <= '9') at--;
            run(argv[1], entries[i]->d_name, (uint32_t)strtoul(at, NULL, 10));
        }
        free(entries[i]);
    }
    free(entries);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed > 0;
}
