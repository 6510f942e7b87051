/* test_trace_shared.c - real logs, whole: counts and totals as their README states them or as
 * awk adds them up (sum of duration * GPUs / 3600). */
#include "io/trace_read.h"

#include "trace_files.h"

static const struct {
    const char *file, *format;
    uint64_t rows, imported;
    double gpu_hours; /* 0 = not checked */
    uint32_t one_gpu; /* jobs of one GPU; 0 = not checked */
    const char *repaired;
    uint64_t repaired_rows;
} cases[] = {
    { "traces/microsoft-itp-2021/cluster01.csv.gz", "itp", 1595, 1595, 22740.12583333333, 1530,
      NULL, 0 },
    { "traces/microsoft-itp-2021/cluster02.csv.gz", "itp", 5778, 5778, 123748.36277777777, 4937,
      NULL, 0 },
    { "traces/microsoft-itp-2021/cluster03.csv.gz", "itp", 3011, 3011, 165442.52138888888, 1014,
      NULL, 0 },
    { "traces/microsoft-itp-2021/cluster05.csv.gz", "itp", 3629, 3629, 14303.141944444444, 3465,
      NULL, 0 },
    { "traces/microsoft-itp-2021/cluster06.csv.gz", "itp", 2396, 2396, 123878.65638888889, 1073,
      NULL, 0 },
    { "traces/microsoft-itp-2021/cluster08.csv.gz", "itp", 13047, 13047, 67099.98222222223, 12558,
      NULL, 0 },
    { "traces/microsoft-itp-2021/cluster09.csv.gz", "itp", 11134, 11134, 39000.76027777778, 11134,
      NULL, 0 },
    { "traces/philly-2017/philly_jobs_2017-09-04_2017-10-31.csv.gz", "philly", 52849, 52849, 642409,
      50188, "says exactly the same as an earlier row", 37 },
    { "traces/swf/NASA-iPSC-1993-3.1-cln.swf.gz", "swf", 18239, 18239, 0, 0, NULL, 0 },
    { "oracles/sched/s01_p64.swf", "swf", 2000, 2000, 0, 0, NULL, 0 },
    { "oracles/sched/s02_p256.swf", "swf", 5000, 5000, 0, 0, NULL, 0 },
    { "oracles/sched/s04_p128.swf", "swf", 3000, 3000, 0, 0, NULL, 0 },
    { "oracles/sched/s05_p128.swf", "swf", 3000, 3000, 0, 0, NULL, 0 },
    { "oracles/sched/s06_p512.swf", "swf", 20000, 20000, 0, 0, NULL, 0 },
    { "oracles/sched/s08_p128.swf", "swf", 4000, 4000, 0, 0, NULL, 0 },
    { "oracles/sched/s11_p128.swf", "swf", 1000, 1000, 0, 0, NULL, 0 },
};

static void real_log(void **state)
{
    const size_t row = *(const size_t *)*state;
    char path[FILE_PATH_BYTES];
    if (shared_file(path, cases[row].file) == NULL) skip();
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(path, &(struct trace_options){ 0 }, &jobs, &report, diag),
                     STATUS_OK);
    assert_string_equal(report.format, cases[row].format);
    assert_int_equal(report.rows_read, cases[row].rows);
    assert_int_equal(report.imported, cases[row].imported);
    assert_int_equal(jobs.count, cases[row].imported);
    if (cases[row].gpu_hours > 0) {
        const double got = report.gpu_s / 3600;
        assert_true(got > cases[row].gpu_hours - 0.6 && got < cases[row].gpu_hours + 0.6);
    }
    uint32_t one_gpu = 0;
    for (uint32_t i = 0; i < jobs.count; i++) {
        one_gpu += jobs.gpus[i] == 1;
        if (i > 0) assert_true(jobs.submit_ns[i] >= jobs.submit_ns[i - 1]);
    }
    assert_true(jobs.submit_ns[0] == 0);
    if (cases[row].one_gpu > 0) assert_int_equal(one_gpu, cases[row].one_gpu);
    assert_int_equal(report.repaired_count, cases[row].repaired != NULL);
    if (cases[row].repaired) {
        assert_string_equal(report.repaired[0].reason, cases[row].repaired);
        assert_int_equal(report.repaired[0].rows, cases[row].repaired_rows);
    }
    jobs_clear(&jobs);
    diag_destroy(diag);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases };
    static size_t rows[CASES];
    struct CMUnitTest tests[CASES];
    for (size_t i = 0; i < CASES; i++) {
        rows[i] = i;
        tests[i] = (struct CMUnitTest){ .name = cases[i].file,
                                        .test_func = real_log,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_shared", tests, NULL, NULL);
}
