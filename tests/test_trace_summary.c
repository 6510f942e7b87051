/* test_trace_summary.c - five jobs by hand; the peaks that the README of the ITP logs states. */
#include "cli/trace_summary.h"

#include "io/trace_read.h"

#include "trace_files.h"

static void read_text(const char *text, struct jobs *jobs, struct trace_summary *summary)
{
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct import_report report;
    assert_int_equal(trace_read(file_with(path, text, strlen(text)), &(struct trace_options){ 0 },
                                jobs, &report, diag),
                     STATUS_OK);
    unlink(path);
    assert_int_equal(trace_summarize(jobs, summary, diag), STATUS_OK);
    diag_destroy(diag);
}

static void by_hand(void **state)
{
    (void)state;
    struct jobs jobs;
    struct trace_summary summary;
    read_text("job_id,submit_s,duration_s,gpus,limit_s,user,model\n"
              "a,0,100,1,50,x,m\n"
              "b,10,90,8,90,y,\n"    /* a and b end at 100: peak 9 until then           */
              "c,100,300,4,,x,m\n"   /* starts as they end                              */
              "d,100,0,64,,z,n\n"    /* ends at once: uses nothing                      */
              "e,172800,200,1,,,\n", /* two days later                                  */
              &jobs, &summary);
    assert_int_equal(summary.peak_gpus, 9);
    assert_int_equal(summary.gpus_most, 64);
    assert_int_equal(summary.size[0].jobs, 2);
    assert_int_equal(summary.size[1].jobs, 1);
    assert_int_equal(summary.size[2].jobs, 1);
    assert_int_equal(summary.size[3].jobs, 0);
    assert_int_equal(summary.size[4].jobs, 1);
    assert_int_equal(summary.size[SIZE_ALL].jobs, 5);
    assert_true(summary.size[SIZE_ALL].gpu_s == 100 + 720 + 1200 + 0 + 200);
    assert_true(summary.size[0].p50_s == 150 && summary.size[0].p90_s == 190);
    assert_true(summary.size[SIZE_ALL].p50_s == 100);
    assert_true(summary.span_s == 172800);
    assert_true(summary.load_gpus == 2220.0 / 172800);
    assert_int_equal(summary.limits, 2);
    assert_int_equal(summary.over_limit, 1);
    assert_int_equal(summary.users, 3);
    assert_int_equal(summary.models, 2);
    assert_int_equal(summary.day_count, 3);
    assert_int_equal(summary.day[0].jobs, 4);
    assert_int_equal(summary.day_jobs_least, 0);
    assert_int_equal(summary.day_jobs_most, 4);
    assert_true(summary.day[2].gpu_s == 200);
    trace_summary_clear(&summary);
    jobs_clear(&jobs);
}

static void header_alone(void **state)
{
    (void)state;
    struct jobs jobs;
    struct trace_summary summary;
    read_text("job_id,submit_s,duration_s,gpus\n", &jobs, &summary);
    assert_int_equal(summary.size[SIZE_ALL].jobs, 0);
    assert_int_equal(summary.day_count, 0);
    trace_summary_clear(&summary);
    jobs_clear(&jobs);
}

/* A last job of no length ends when it comes: nobody is left to end behind it. */
static void last_job_of_no_length(void **state)
{
    (void)state;
    struct jobs jobs;
    struct trace_summary summary;
    read_text("job_id,submit_s,duration_s,gpus\na,0,5,2\nb,20,0,3\n", &jobs, &summary);
    assert_int_equal(summary.peak_gpus, 2);
    trace_summary_clear(&summary);
    jobs_clear(&jobs);
}

static const struct {
    const char *file;
    uint32_t peak_gpus, eight, median_s;
} peaks[] = {
    { "01", 330, 5, 8287 },  { "02", 346, 352, 6182 },  { "03", 1379, 1777, 9856 },
    { "05", 341, 77, 7699 }, { "06", 516, 1082, 4321 }, { "08", 282, 1, 13677 },
    { "09", 118, 0, 11764 },
};

static void stated_peak(void **state)
{
    const size_t row = *(const size_t *)*state;
    char path[FILE_PATH_BYTES], name[64];
    snprintf(name, sizeof name, "traces/microsoft-itp-2021/cluster%s.csv.gz", peaks[row].file);
    if (shared_file(path, name) == NULL) skip();
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    struct trace_summary summary;
    assert_int_equal(trace_read(path, &(struct trace_options){ 0 }, &jobs, &report, diag),
                     STATUS_OK);
    assert_int_equal(trace_summarize(&jobs, &summary, diag), STATUS_OK);
    assert_int_equal(summary.peak_gpus, peaks[row].peak_gpus);
    assert_int_equal(summary.size[2].jobs, peaks[row].eight);
    /* The table gives whole seconds; of an even count either middle value may be meant. */
    assert_true(summary.size[SIZE_ALL].p50_s > peaks[row].median_s - 1 &&
                summary.size[SIZE_ALL].p50_s < peaks[row].median_s + 1);
    trace_summary_clear(&summary);
    jobs_clear(&jobs);
    diag_destroy(diag);
}

int main(void)
{
    enum { PEAKS = sizeof peaks / sizeof *peaks, OTHERS = 3 };
    static size_t rows[PEAKS];
    struct CMUnitTest tests[PEAKS + OTHERS] = {
        [PEAKS] = cmocka_unit_test(by_hand),
        [PEAKS + 1] = cmocka_unit_test(header_alone),
        [PEAKS + 2] = cmocka_unit_test(last_job_of_no_length),
    };
    for (size_t i = 0; i < PEAKS; i++) {
        rows[i] = i;
        tests[i] = (struct CMUnitTest){ .name = peaks[i].file,
                                        .test_func = stated_peak,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_summary", tests, NULL, NULL);
}
