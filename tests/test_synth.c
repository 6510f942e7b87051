/* test_synth.c - single jobs worked out apart, the law in closed form, and the project's own month
 * made again by the command in its header. */
#include "models/synth.h"

#include "cli/commands.h"

#include "trace_files.h"

#include <math.h>

/* Worked out by a program of its own (Philox, SplitMix64 and FNV-1a from their papers, the normal
 * quantile of Python's statistics module), default parameters. */
static const struct {
    uint64_t seed;
    uint32_t number;
    struct synth_job want;
} known[] = {
    { 1, 0, { 560942, 2151, 2, 2 } },       { 1, 1, { 800118, 11488, 1, 4 } },
    { 1, 2, { 2026570, 149, 1, 7 } },       { 1, 1000, { 2438600, 154, 1, 6 } },
    { 1, 54321, { 2571829, 27237, 1, 5 } }, { 42, 0, { 1904690, 30, 1, 4 } },
    { 42, 1, { 589349, 59858, 8, 1 } },     { 42, 7, { 1197259, 7680, 1, 0 } },
};

static void known_jobs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct synth synth;
        static struct synth_law law;
        synth_defaults(&synth);
        synth.seed = known[i].seed;
        synth_law_init(&law, &synth);
        const struct synth_job got = synth_job_at(&law, known[i].number);
        assert_int_equal(got.submit_s, known[i].want.submit_s);
        assert_int_equal(got.duration_s, known[i].want.duration_s);
        assert_int_equal(got.gpus, known[i].want.gpus);
        assert_int_equal(got.user, known[i].want.user);
    }
}

/* ---- the law over many jobs ----------------------------------------------------------------- */

enum { SAMPLE = 400000 };

static double phi(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* E min(X, cap)^power of a lognormal, power 1 or 2. */
static double capped_moment(double median, double sigma, double cap, int power)
{
    const double mu = log(median), at = (log(cap) - mu) / sigma;
    return exp(power * mu + power * power * sigma * sigma / 2) * phi(at - power * sigma) +
           pow(cap, power) * (1 - phi(at));
}

static struct synth_job *sample(const struct synth *synth)
{
    static struct synth_law law;
    struct synth_job *jobs = malloc(SAMPLE * sizeof *jobs);
    synth_law_init(&law, synth);
    for (uint32_t i = 0; i < SAMPLE; i++) jobs[i] = synth_job_at(&law, i);
    return jobs;
}

/* |sum / n - mean| within 4.5 standard errors: one of 150,000 true rows would fail. */
static void expect_mean(const char *what, double sum, double n, double mean, double sd)
{
    const double error = fabs(sum / n - mean), allowed = 4.5 * sd / sqrt(n);
    if (error > allowed) fail_msg("%s: %g, expected %g within %g", what, sum / n, mean, allowed);
}

static void sizes_have_their_shares(void **state)
{
    (void)state;
    struct synth synth;
    synth_defaults(&synth);
    struct synth_job *jobs = sample(&synth);
    double whole = 0;
    for (uint32_t row = 0; row < synth.size_count; row++) whole += synth.sizes[row].share;
    for (uint32_t row = 0; row < synth.size_count; row++) {
        const double share = synth.sizes[row].share / whole;
        double count = 0;
        for (uint32_t i = 0; i < SAMPLE; i++) count += jobs[i].gpus == synth.sizes[row].gpus;
        expect_mean("share", count, SAMPLE, share, sqrt(share * (1 - share)));
    }
    free(jobs);
}

static void durations_have_their_means(void **state)
{
    (void)state;
    struct synth synth;
    synth_defaults(&synth);
    struct synth_job *jobs = sample(&synth);
    const double cap = (double)synth.longest_s, q = synth.short_share;
    for (uint32_t row = 0; row < synth.size_count; row++) {
        const struct synth_size *size = &synth.sizes[row];
        double sum = 0, n = 0, moment[3];
        for (int power = 1; power <= 2; power++)
            moment[power] = q * capped_moment(synth.short_median_s, synth.short_sigma, cap, power) +
                            (1 - q) * capped_moment(size->median_s, synth.long_sigma, cap, power);
        for (uint32_t i = 0; i < SAMPLE; i++) {
            if (jobs[i].gpus != size->gpus) continue;
            assert_true(jobs[i].duration_s >= 1 && jobs[i].duration_s <= synth.longest_s);
            sum += (double)jobs[i].duration_s, n++;
        }
        expect_mean("mean run time", sum, n, moment[1], sqrt(moment[2] - moment[1] * moment[1]));
    }
    free(jobs);
}

/* What the header of synth.h promises of the defaults, from the closed form. */
static void defaults_meet_the_published_figures(void **state)
{
    (void)state;
    struct synth synth;
    synth_defaults(&synth);
    struct synth_job *jobs = sample(&synth);
    double below = 0, gpu_s = 0, large_gpu_s = 0, gpus = 0, run_s = 0, first_users = 0;
    for (uint32_t i = 0; i < SAMPLE; i++) {
        const double job_gpu_s = (double)jobs[i].gpus * (double)jobs[i].duration_s;
        below += jobs[i].duration_s < 870;
        gpu_s += job_gpu_s;
        large_gpu_s += jobs[i].gpus >= 8 ? job_gpu_s : 0;
        gpus += jobs[i].gpus;
        run_s += (double)jobs[i].duration_s;
        first_users += jobs[i].user < 3;
    }
    expect_mean("jobs below 870 s", below, SAMPLE, 0.5, 0.5);
    assert_true(fabs(run_s / SAMPLE - 12544) < 300);
    assert_true(fabs(gpus / SAMPLE - 2.668) < 0.04);
    assert_true(fabs(gpu_s / SAMPLE - 74959) < 3500);
    assert_true(fabs(large_gpu_s / gpu_s - 0.778) < 0.01);
    double harmonic = 0;
    for (int k = 1; k <= 60; k++) harmonic += 1.0 / k;
    const double share = (1 + 1 / 2.0 + 1 / 3.0) / harmonic;
    expect_mean("jobs of the first three users", first_users, SAMPLE, share,
                sqrt(share * (1 - share)));
    free(jobs);
}

/* 17 days: two weeks and a Monday, Tuesday, Wednesday more. */
static void arrivals_have_their_rhythm(void **state)
{
    (void)state;
    struct synth synth;
    synth_defaults(&synth);
    synth.days = 17;
    struct synth_job *jobs = sample(&synth);
    static double count[17 * 24];
    double rate[17 * 24], all = 0;
    memset(count, 0, sizeof count);
    for (uint32_t i = 0; i < SAMPLE; i++) {
        assert_true(jobs[i].submit_s >= 0 && jobs[i].submit_s < 17 * 86400);
        count[jobs[i].submit_s / 3600]++;
    }
    for (int hour = 0; hour < 17 * 24; hour++) {
        const int of_day = hour % 24;
        rate[hour] = of_day <= 7 ? 0.4 : of_day == 8 || of_day > 20 ? 0.7 : 1;
        if (hour / 24 % 7 > 4) rate[hour] *= 0.6;
        all += rate[hour];
    }
    double chi_square = 0;
    for (int hour = 0; hour < 17 * 24; hour++) {
        const double expected = SAMPLE * rate[hour] / all;
        chi_square += (count[hour] - expected) * (count[hour] - expected) / expected;
    }
    /* 407 degrees of freedom: mean 407, sd 28.5; 4.5 sd above is 535. */
    assert_true(chi_square < 535);
    assert_true(chi_square > 279);
    free(jobs);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Reads a whole text file; owned by the caller. */
static char *slurp(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL) fail_msg("%s is missing", path);
    char *text = calloc(1, 1 << 21);
    assert_true(fread(text, 1, (1 << 21) - 1, in) > 0);
    fclose(in);
    return text;
}

/* Runs "gpuplan trace synth ..." with -o out. */
static enum status run_line(char *line, const char *out)
{
    static struct cli cli;
    char *words[CLI_OPERANDS] = { 0 };
    int count = 0;
    enum cli_request request;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    words[count++] = (char[]){ "-o" };
    words[count++] = (char *)(uintptr_t)out;
    memset(&cli, 0, sizeof cli);
    cli.diag = diag_create();
    enum status status = cli_parse(&cli, count, words, &request);
    if (status == STATUS_OK) status = cli.command->run(&cli);
    diag_print(cli.diag, stdout);
    diag_destroy(cli.diag);
    return status;
}

/* The first line names the version; all others are made again byte for byte. */
static void the_month_is_made_again(void **state)
{
    (void)state;
    char *ours = slurp("scenarios/traces/lab_256gpu.csv");
    char *const second = strchr(ours, '\n') + 1;
    char line[2048], path[FILE_PATH_BYTES];
    const size_t bytes = strcspn(second, "\n");
    assert_true(bytes > 2 && bytes < sizeof line);
    memcpy(line, second + 2, bytes - 2);
    line[bytes - 2] = '\0';
    assert_int_equal(run_line(line, file_with(path, "", 0)), STATUS_OK);
    char *made = slurp(path);
    unlink(path);
    assert_string_equal(strchr(made, '\n') + 1, second);
    assert_int_equal(strncmp(made, "# synthetic job log", 19), 0);
    free(made);
    free(ours);
}

static void wrong_parameters_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "gpuplan trace synth --days 0",
        "gpuplan trace synth --gpus 0",
        "gpuplan trace synth --load -1",
        "gpuplan trace synth --load 8x",
        "gpuplan trace synth --sizes 1:0.7",
        "gpuplan trace synth --sizes 1:0.7:60",
        "gpuplan trace synth --sizes 0:0.7:1h",
        "gpuplan trace synth --sizes 1:0:1h",
        "gpuplan trace synth --sizes 1:1:1h,",
        "gpuplan trace synth --short 1.5:2m:1",
        "gpuplan trace synth --rhythm 0:1",
        "gpuplan trace synth --users 0:1",
        "gpuplan trace synth --users 5000:1",
        "gpuplan trace synth --longest 10ms",
        "gpuplan trace synth scenarios",
        "gpuplan trace sinth",
        "gpuplan trace info",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s", lines[i]);
        if (run_line(line, "no-such-folder/x.csv") != STATUS_INPUT)
            fail_msg("'%s' is not refused", lines[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_jobs),
        cmocka_unit_test(sizes_have_their_shares),
        cmocka_unit_test(durations_have_their_means),
        cmocka_unit_test(defaults_meet_the_published_figures),
        cmocka_unit_test(arrivals_have_their_rhythm),
        cmocka_unit_test(the_month_is_made_again),
        cmocka_unit_test(wrong_parameters_are_refused),
    };
    return cmocka_run_group_tests_name("synth", tests, NULL, NULL);
}
