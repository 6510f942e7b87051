/* test_trace_openb.c - pod lists of openb: small ones by hand, one quirk each, and the shared ones whole. */
#include "io/trace_read.h"

#include "trace_files.h"

#define POD   "name,cpu_milli,memory_mib,num_gpu,gpu_milli"
#define TIMES ",gpu_spec,creation_time,deletion_time,scheduled_time"
#define FULL  POD TIMES "\n"

/* jobs are flattened to "id:submit s:duration s:gpus+milli:cores milli:GiB:types", with blanks between. */
static const struct {
    const char *name, *text;
    const char *want;   /* flattened jobs, NULL = the list is refused                            */
    const char *reason; /* one that must be counted (skip or repair), or part of the refusal     */
    uint64_t rows;      /* of that reason                                                        */
    bool strict;
} cases[] = {
    { "a whole GPU, a share, none",
      FULL "a,12000,16384,1,1000,,5,105,8\nb,6500,1024,1,460,,7,20,7\nc,4000,2048,0,0,,9,10,9\n",
      "a:0:97:1+0:12000:16: b:2:13:0+460:6500:1: c:4:1:0+0:4000:2:", NULL, 0, false },
    { "eight GPUs of two types", FULL "a,88000,1024,8,1000,V100M16|V100M32,0,9,0\n",
      "a:0:9:8+0:88000:1:V100M16|V100M32", NULL, 0, false },
    { "gpu_milli counts for one GPU only", FULL "a,8000,1024,2,500,,0,9,0\n",
      "a:0:9:2+0:8000:1:", NULL, 0, false },
    { "types of a pod without GPUs mean nothing", FULL "a,8000,1024,0,0,T4,0,9,0\n",
      "a:0:9:0+0:8000:1:", NULL, 0, false },
    { "never scheduled", FULL "a,1000,1024,1,1000,,100,160,\nb,1000,1024,1,1000,,101,102,101\n",
      "a:0:60:1+0:1000:1: b:1:1:1+0:1000:1:",
      "the pod never got a node: its lifetime is taken as its duration", 1, false },
    { "never scheduled, strict", FULL "a,1000,1024,1,1000,,100,160,\n", NULL,
      "the pod never got a node", 0, true },
    { "a list without times", POD "\na,1000,1024,1,1000\nb,1000,1024,1,250\n",
      "a:0:0:1+0:1000:1: b:1:0:0+250:1000:1:",
      "the list has no times: it can fill a cluster, not be replayed", 2, false },
    { "columns in another order and one more",
      "qos,gpu_milli,num_gpu,memory_mib,cpu_milli,name\nLS,250,1,1024,3000,a\n",
      "a:0:0:0+250:3000:1:", NULL, 0, false },
    { "a share of nothing", FULL "a,1,1,1,0,,0,9,0\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "gpu_milli is 0 where num_gpu is 1", 1, false },
    { "a share above one", FULL "a,1,1,1,1001,,0,9,0\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "gpu_milli is not a whole number from 1 to 1000", 1, false },
    { "half a pod's GPUs", FULL "a,1,1,0.5,1000,,0,9,0\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "num_gpu is not a whole number from 0 to 32", 1, false },
    { "more GPUs than a node can have", FULL "a,1,1,33,1000,,0,9,0\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "num_gpu is not a whole number from 0 to 32", 1, false },
    { "negative cores", FULL "a,-1,1,1,1000,,0,9,0\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "cpu_milli is not a whole number in range", 1, false },
    { "gone before it came", FULL "a,1,1,1,1000,,9,8,\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "deletion_time is before the pod began", 1, false },
    { "scheduled before it came", FULL "a,1,1,1,1000,,9,20,8\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "scheduled_time is before creation_time", 1, false },
    { "no time of creation", FULL "a,1,1,1,1000,,,20,8\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "creation_time is missing", 1, false },
    { "short and long rows", FULL "a,1,1\nb,1,1024,1,1000,,0,9,0\nc,1,1,1,1000,,0,9,0,7\n",
      "b:0:9:1+0:1:1:", "row has more or fewer fields than the header", 2, false },
    { "no name", FULL ",1,1,1,1000,,0,9,0\nb,1,1024,1,1000,,0,9,0\n",
      "b:0:9:1+0:1:1:", "name is missing", 1, false },
    { "a column missing", "name,cpu_milli,num_gpu,gpu_milli\na,1,1,1000\n", NULL,
      "column 'memory_mib' is missing from this header (format openb)", 0, false },
    { "a column twice", POD ",num_gpu\na,1,1,1,1000,1\n", NULL,
      "column 'num_gpu' stands here twice", 0, false },
    { "id twice", FULL "a,1,1,1,1000,,0,9,0\na,1,1,1,1000,,0,9,0\n", NULL,
      "job id 'a' stands in the log twice", 0, false },
};

static void flatten(const struct jobs *jobs, char *out, size_t bytes)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct ask *const ask = &jobs->asks[jobs->ask[i]];
        assert_int_equal(ask->pods, 1);
        assert_int_equal(ask->pod_gpus, jobs->gpus[i]);
        at += (size_t)snprintf(out + at, bytes - at, "%s%s:%ld:%ld:%u+%u:%u:%lu:%s", i ? " " : "",
                               jobs->text + jobs->id[i], (long)(jobs->submit_ns[i] / 1000000000),
                               (long)(jobs->duration_ns[i] / 1000000000), jobs->gpus[i],
                               ask->gpu_milli, ask->pod_cpu_milli,
                               (unsigned long)(ask->pod_memory_bytes >> 30),
                               jobs->text + ask->gpu_type);
    }
}

static uint64_t rows_of_reason(const struct import_report *report, const char *reason)
{
    for (uint32_t i = 0; i < report->skipped_count; i++)
        if (strcmp(report->skipped[i].reason, reason) == 0) return report->skipped[i].rows;
    for (uint32_t i = 0; i < report->repaired_count; i++)
        if (strcmp(report->repaired[i].reason, reason) == 0) return report->repaired[i].rows;
    return 0;
}

static bool is_said(struct diag *diag, const char *part)
{
    char *said = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&said, &bytes);
    diag_print(diag, out);
    fclose(out);
    const bool found = strstr(said, part) != NULL;
    free(said);
    return found;
}

static void pod_list(void **state)
{
    const size_t row = *(const size_t *)*state;
    char path[FILE_PATH_BYTES], got[1024];
    file_with(path, cases[row].text, strlen(cases[row].text));
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    const struct trace_options options = { .strict = cases[row].strict };
    const enum status status = trace_read(path, &options, &jobs, &report, diag);
    assert_string_equal(report.format, "openb");
    if (cases[row].want == NULL) {
        assert_int_equal(status, STATUS_INPUT);
        assert_true(is_said(diag, cases[row].reason));
    } else {
        assert_int_equal(status, STATUS_OK);
        flatten(&jobs, got, sizeof got);
        assert_string_equal(got, cases[row].want);
        if (cases[row].reason)
            assert_int_equal(rows_of_reason(&report, cases[row].reason), cases[row].rows);
    }
    jobs_clear(&jobs);
    diag_destroy(diag);
    unlink(path);
}

/* Pods that ask for the same share one row. */
static void equal_asks_are_one(void **state)
{
    (void)state;
    static const char text[] =
        POD "\na,1000,1,1,1000\nb,1000,1,1,500\nc,1000,1,1,1000\nd,1000,1,1,500\n";
    char path[FILE_PATH_BYTES];
    file_with(path, text, sizeof text - 1);
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(path, &(struct trace_options){ 0 }, &jobs, &report, diag),
                     STATUS_OK);
    assert_int_equal(jobs.ask_count, 2);
    assert_int_equal(jobs.ask[0], jobs.ask[2]);
    assert_int_equal(jobs.ask[1], jobs.ask[3]);
    assert_int_equal(jobs_gpu_milli(&jobs, 0), 1000);
    assert_int_equal(jobs_gpu_milli(&jobs, 1), 500);
    /* They cannot be written in the form of the project. */
    assert_int_equal(trace_write("-", &jobs, &(struct trace_form){ 0 }, diag), STATUS_INPUT);
    assert_true(is_said(diag, "the form has no columns for parts of a GPU"));
    jobs_clear(&jobs);
    diag_destroy(diag);
    unlink(path);
}

/* The default list as CASES.md counts it: 8,152 pods, 3,078 shares, 75 of several GPUs, 1,088 without. */
static void the_default_list(void **state)
{
    (void)state;
    char path[FILE_PATH_BYTES];
    if (!shared_file(path, "traces/alibaba-openb-2023/openb_pod_list_default.csv")) skip();
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(path, &(struct trace_options){ 0 }, &jobs, &report, diag),
                     STATUS_OK);
    uint32_t shares = 0, several = 0, none = 0;
    for (uint32_t i = 0; i < jobs.count; i++) {
        shares += jobs.asks[jobs.ask[i]].gpu_milli > 0;
        several += jobs.gpus[i] > 1;
        none += jobs_gpu_milli(&jobs, i) == 0;
    }
    assert_int_equal(jobs.count, 8152);
    assert_int_equal(shares, 3078);
    assert_int_equal(several, 75);
    assert_int_equal(none, 1088);
    assert_int_equal(
        rows_of_reason(&report, "the pod never got a node: its lifetime is taken as its duration"),
        897);
    jobs_clear(&jobs);
    diag_destroy(diag);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases };
    static size_t rows[CASES];
    struct CMUnitTest tests[CASES + 2] = { cmocka_unit_test(equal_asks_are_one),
                                           cmocka_unit_test(the_default_list) };
    for (size_t i = 0; i < CASES; i++) {
        rows[i] = i;
        tests[i + 2] = (struct CMUnitTest){ .name = cases[i].name,
                                            .test_func = pod_list,
                                            .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_openb", tests, NULL, NULL);
}
