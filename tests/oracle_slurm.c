/* oracle_slurm.c - recordings of a real Slurm (oracles/slurm) against the Slurm policy in the real engine.
 *
 * usage: oracle_slurm FOLDER [RELEASE/SCENARIO]. Each recording is written as a scenario, read by the reader of
 * scenarios and run to its end. Every run of a job in observed.csv must start on the same nodes, with the same GPUs, within
 * 3 s of the recorded second, and end in the same state; starts that the recording tells apart by more than 1 s must come in
 * its order. A list that differs with the run times of the jobs' scripts is replayed with recorded ends (a job's nodes
 * become free at its end + 1 s), as the recordings' README says. One line per recording; last line "N passed, N failed"
 * counts runs of jobs. With one scenario named, the scenario text and all runs are shown. */
#include "tests/slurm_replay.h"

#include <dirent.h>

static uint64_t passed, failed;
static bool verbose;

/* ---- one recording --------------------------------------------------------------------------- */

/* What the recordings' own README leaves out. */
static const struct {
    const char *release, *name, *why;
} left_out[] = {
    { "", "s50-accounting-dump", "for importers" },
    { "", "s17-priority-fairtree", "usage is booked by the minute: its tables are the data" },
    { "22.", "s37-shard", "22.05 gave out GPUs with shards in use" },
};

static const char *why_left_out(const char *folder)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        const char *at = strstr(folder, left_out[i].name);
        char release[64];
        snprintf(release, sizeof release, "/%s", left_out[i].release);
        if (at && !strcmp(at, left_out[i].name) && strstr(folder, release)) return left_out[i].why;
    }
    return NULL;
}

/* What is tried in turn, until everything is as recorded. */
static const char *const ways[REPLAY_WAYS] = {
    [REPLAY_RUN_TIMES] = "",
    [REPLAY_ENDS] = ", with recorded ends",
    [REPLAY_STARTS] = ", with recorded ends, nodes free by the next start",
};

static uint32_t count_good(const struct verdict *verdicts, uint32_t count)
{
    uint32_t good = 0;
    for (uint32_t i = 0; i < count; i++) good += verdicts[i].wrong[0] == 0;
    return good;
}

static void show(const struct replay *replay, const struct verdict *verdicts)
{
    for (uint32_t i = 0; i < replay->recording->run_count; i++) {
        const struct recorded_run *want = &replay->recording->runs[i];
        if (!verbose && verdicts[i].wrong[0] == 0) continue;
        printf("    %-6s run %s: recorded %s on %s (%s) %s..%s; %s\n", want->job, want->run,
               want->state, want->nodes,
               strchr(want->placement, '(') ? strchr(want->placement, '(') : "", want->start,
               want->end, verdicts[i].wrong[0] ? verdicts[i].wrong : "as recorded");
    }
}

/* Refusals, --test-only and words of waiting jobs, in the replay that fits best. */
static struct tally compare_details(struct recording *recording, enum replay_way way)
{
    struct replay replay;
    struct tally tally = { 0 };
    if (recording->has_details && replay_run(&replay, recording, way)) {
        compare_refused(recording, replay.scenario.jobs, &replay.result, &tally);
        compare_tests(recording, &replay.seen, &tally);
        compare_words(recording, replay.scenario.jobs, &replay.result, &replay.seen, &tally);
        replay_clear(&replay);
    }
    if (tally.good + tally.bad > 0)
        printf("    %u of %u refusals, answers and words as recorded\n", tally.good,
               tally.good + tally.bad);
    return tally;
}

/* The exception that a replay of another way avoids: the first run that differs, and its second. */
static void first_wrong(const struct recording *recording, const struct verdict *verdicts,
                        char *text, size_t size)
{
    for (uint32_t i = 0; i < recording->run_count; i++)
        if (verdicts[i].wrong[0]) {
            snprintf(text, size, "%s, recorded in second %s on %s: %s", recording->runs[i].job,
                     recording->runs[i].start, recording->runs[i].nodes, verdicts[i].wrong);
            return;
        }
}

static void compare_recording(const char *folder)
{
    struct recording recording;
    struct replay replay;
    if (!recording_read(&recording, folder)) {
        printf("%s: cannot be read\n", folder);
        diag_print(recording.diag, stdout);
        failed++;
        recording_clear(&recording);
        return;
    }
    struct verdict *verdicts = calloc(RECORDED_RUNS, sizeof *verdicts);
    char first[REPLAY_WAYS][1024] = { "" };
    uint32_t good = 0, best = 0;
    int way = 0, best_way = 0;
    if (verbose) write_scenario(stdout, &recording);
    for (; way < REPLAY_WAYS && good < recording.run_count; way++) {
        if (replay_run(&replay, &recording, (enum replay_way)way)) {
            replay_compare(&replay, verdicts);
            good = count_good(verdicts, recording.run_count);
            first_wrong(&recording, verdicts, first[way], sizeof first[way]);
            if (good > best) best = good, best_way = way;
            if (verbose) {
                printf("  replay%s:\n", ways[way]);
                show(&replay, verdicts);
            }
        } else
            printf("%s %s: no replay\n", recording.release, recording.name);
        replay_clear(&replay);
    }
    printf("%s %-28s %u of %u runs as recorded%s\n", recording.release, recording.name, best,
           recording.run_count, ways[best_way]);
    for (way = 0; way < best_way; way++)
        printf("    not%s: first %s\n",
               way == REPLAY_RUN_TIMES ? " with the scripts' run times" : ways[way], first[way]);
    const struct tally details = compare_details(&recording, (enum replay_way)best_way);
    passed += details.good;
    failed += details.bad;
    if (!verbose && best < recording.run_count &&
        replay_run(&replay, &recording, (enum replay_way)best_way)) {
        replay_compare(&replay, verdicts);
        show(&replay, verdicts);
        replay_clear(&replay);
    }
    passed += best;
    failed += recording.run_count - best;
    free(verdicts);
    recording_clear(&recording);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void compare_folder(const char *folder, int depth)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char path[4096], file[4200];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        snprintf(file, sizeof file, "%s/observed.csv", path);
        if (entries[i]->d_name[0] != '.') {
            if (depth == 1 && why_left_out(path))
                printf("%s left out: %s\n", entries[i]->d_name, why_left_out(path));
            else if (depth == 1 && access(file, R_OK) == 0)
                compare_recording(path);
            else if (depth == 0)
                compare_folder(path, 1);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: oracle_slurm FOLDER [RELEASE/SCENARIO]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3) {
        verbose = true;
        snprintf(path, sizeof path, "%s/%s", argv[1], argv[2]);
        compare_recording(path);
    } else
        compare_folder(argv[1], 0);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed > 0;
}
