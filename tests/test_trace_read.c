/* test_trace_read.c - small logs by hand, one quirk each; then what is written reads back. */
#include "io/trace_read.h"

#include "trace_files.h"

#define OURS     "job_id,submit_s,duration_s,gpus"
#define SWF_TAIL " -1 1 7 1 1 1 1 -1 -1\n" /* fields 10 to 18 */

/* jobs are flattened to "id:submit:duration:gpus" in ms, with blanks between. */
static const struct {
    const char *name, *text;
    const char *want;   /* flattened jobs, NULL = the log is refused                             */
    const char *reason; /* one that must be counted (skip or repair), or part of the refusal      */
    uint64_t rows;      /* of that reason                                                         */
    uint64_t rows_read;
    bool strict, renumber;
    enum trace_format format;
    const char *zone;
} cases[] = {
    /* ---- our own CSV */
    { "ours", OURS "\na,0,10,1\nb,5.5,20,8\n", "a:0:10000:1 b:5500:20000:8", NULL, 0,
      .rows_read = 2 },
    { "comments on top", "# made by hand\n#\n" OURS "\na,0,1,1\n", "a:0:1000:1", NULL, 0,
      .rows_read = 1 },
    { "columns in another order", "gpus,duration_s,job_id,submit_s\n4,7,z,1\n", "z:0:7000:4", NULL,
      0, .rows_read = 1 },
    { "byte-order mark and CR LF", "\xef\xbb\xbf" OURS "\r\na,0,1,1\r\n", "a:0:1000:1", NULL, 0,
      .rows_read = 1 },
    { "unnamed first column", "," OURS "\n0,a,0,1,1\n", "a:0:1000:1", NULL, 0, .rows_read = 1 },
    { "trailing comma", OURS ",\na,0,1,1,\nb,0,1,1\n", "a:0:1000:1 b:0:1000:1", NULL, 0,
      .rows_read = 2 },
    { "comma behind the rows alone", OURS "\na,0,1,1,\n", "a:0:1000:1", NULL, 0, .rows_read = 1 },
    { "quoted id with a comma", OURS "\n\"a,\"\"b\",0,1,1\n", "a,\"b:0:1000:1", NULL, 0,
      .rows_read = 1 },
    { "first submission becomes 0", OURS "\na,1356996147,1,1\nb,1356996150,1,1\n",
      "a:0:1000:1 b:3000:1000:1", NULL, 0, .rows_read = 2 },
    { "sorted, ties in file order", OURS "\na,9,1,1\nb,3,1,1\nc,9,1,1\nd,3,1,1\n",
      "b:0:1000:1 d:0:1000:1 a:6000:1000:1 c:6000:1000:1", NULL, 0, .rows_read = 4 },
    { "whole GPUs as floats", OURS "\na,0,1,8.0\n", "a:0:1000:8", NULL, 0, .rows_read = 1 },
    { "run time 0 is legal", OURS "\na,0,0,1\n", "a:0:0:1", NULL, 0, .rows_read = 1 },
    { "no GPU", OURS "\na,0,1,0\nb,0,1,1\n", "b:0:1000:1", "gpus asks for no GPU", 1,
      .rows_read = 2 },
    { "a part of a GPU", OURS "\na,0,1,0.5\nb,0,1,1\n", "b:0:1000:1", "gpus is not a whole number",
      1, .rows_read = 2 },
    { "too many GPUs", OURS "\na,0,1,99999999\nb,0,1,1\n", "b:0:1000:1", "gpus is out of range", 1,
      .rows_read = 2 },
    { "negative run time", OURS "\na,0,-1,1\nb,0,1,1\n", "b:0:1000:1", "duration_s is negative", 1,
      .rows_read = 2 },
    { "negative submission", OURS "\na,-3,1,1\nb,0,1,1\n", "b:0:1000:1", "submit_s is negative", 1,
      .rows_read = 2 },
    { "missing values are not 0", OURS "\na,,1,1\nb,0,NA,1\nc,0,1,\nd,0,1,1\n", "d:0:1000:1",
      "duration_s is missing", 1, .rows_read = 4 },
    { "id missing", OURS "\n,0,1,1\nb,0,1,1\n", "b:0:1000:1", "job_id is missing", 1,
      .rows_read = 2 },
    { "short and long rows", OURS "\na,0,1\nb,0,1,1,9\nc,0,1,1\n", "c:0:1000:1",
      "row has fewer fields than the header", 1, .rows_read = 3 },
    { "words in number cells", OURS "\na,x,1,1\nb,x,1,1\nc,0,1,1\n", "c:0:1000:1",
      "submit_s is not a number", 2, .rows_read = 3 },
    { "limit 0", OURS ",limit_s\na,0,1,1,0\nb,0,1,1,5\n", "b:0:1000:1",
      "limit_s is not above 0; leave it empty for none", 1, .rows_read = 2 },
    { "more nodes than GPUs", OURS ",nodes\na,0,1,1,2\nb,0,1,2,2\n", "b:0:1000:2",
      "nodes is more than the job's GPUs", 1, .rows_read = 2 },
    { "header alone", OURS "\n", "", NULL, 0, .rows_read = 0 },
    { "empty file", "", NULL, "is empty", 0, .rows_read = 0 },
    { "comments alone", "# nothing\n", NULL, "is empty: not even a header", 0, .rows_read = 0 },
    { "nothing usable", OURS "\na,0,1,0\n", NULL, "none of its 1 rows can be used", 0,
      .rows_read = 1 },
    { "a near miss in the header", "job_id,submit_s,duration_s,gpu\na,0,1,1\n", NULL,
      "unknown column 'gpu'; did you mean 'gpus'?", 0, .rows_read = 0 },
    { "a column missing", "job_id,submit_s,gpus\na,0,1\n", NULL, "column 'duration_s' is missing",
      0, .rows_read = 0 },
    { "a column twice", OURS ",gpus\na,0,1,1,1\n", NULL, "column 'gpus' stands here twice", 0,
      .rows_read = 0 },
    { "an extra column", OURS ",queue\na,0,1,1,short\n", "a:0:1000:1", NULL, 0, .rows_read = 1 },
    { "unknown header", "x,y\n1,2\n", NULL, "no known job log has this header", 0, .rows_read = 0 },
    { "id twice", OURS "\na,0,1,1\nb,0,1,1\na,1,1,1\n", NULL,
      "4:1: error: job id 'a' stands in the log twice", 0, .rows_read = 3 },
    { "id twice, renumbered", OURS "\na,9,1,1\na,0,1,1\n", "2:0:1000:1 1:9000:1000:1", NULL, 0, 2,
      .renumber = true },
    { "strict refuses a skip", OURS "\nb,0,1,1\na,0,1,0\n", NULL,
      "3:7: error: gpus asks for no GPU", 0, 2, .strict = true },
    { "strict takes a clean log", OURS "\nb,0,1,1\n", "b:0:1000:1", NULL, 0, 1, .strict = true },
    { "unclosed quote", OURS "\na,0,1,1\n\"b,0,1,1\n", NULL,
      "3:1: error: the record that begins here does not end", 0, .rows_read = 1 },
    { "milliseconds as seconds", OURS "\na,0,1,1\nb,2000000000,1,1\n", NULL,
      "are these milliseconds?", 0, .rows_read = 2 },
    /* ---- Microsoft ITP */
    { "itp", "job_id,submission_time,duration,num_gpu\nu-1,5010,1265,1\nu-2,5016,2066,8",
      "u-1:0:1265000:1 u-2:6000:2066000:8", NULL, 0, .rows_read = 2 },
    /* ---- Philly */
    { "philly",
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 "
      "07:01:55,66.0,1,66.0,11cb48\n2017-10-09 06:13:03,2951.0,2,5902.0,6214e9\n\n",
      "2:0:2951000:2 1:2932000:66000:1", NULL, 0, .rows_read = 2 },
    { "philly across the change of hours",
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-11-05 00:30:00,1,1,1,c\n2017-11-05 "
      "02:30:00,1,1,1,c\n",
      "1:0:1000:1 2:10800000:1000:1", NULL, 0, .rows_read = 2 },
    { "philly in the double hour",
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-11-05 01:30:00,1,1,1,c\n2017-11-05 "
      "02:30:00,1,1,1,c\n",
      "1:0:1000:1", "timestamp exists twice in this time zone", 1, .rows_read = 2 },
    { "philly in a zone of its own",
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-11-05 01:30:00,1,1,1,c\n", "1:0:1000:1",
      NULL, 0, 1, .zone = "-08:00" },
    { "philly says one row twice",
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,6,1,6,c\n2017-10-09 "
      "07:01:55,6,1,6,d\n2017-10-09 07:01:55,6,1,6,c\n",
      "1:0:6000:1 2:0:6000:1 3:0:6000:1", "says exactly the same as an earlier row", 1,
      .rows_read = 3 },
    { "philly in an unknown zone", "timestamp,duration,num_gpus\n2017-11-05 01:30:00,1,1\n", NULL,
      "time zone 'Mars' is not known here", 0, 0, .zone = "Mars" },
    /* ---- SWF */
    { "swf", "; MaxProcs: 8\n 1 0 -1 10 4 -1 -1 8 60" SWF_TAIL "2 7.5 -1 20 4 -1 -1 -1 -1" SWF_TAIL,
      "1:0:10000:8 2:7500:20000:4", NULL, 0, .rows_read = 2 },
    { "swf without comments", "1 0 -1 10 4 -1 -1 8 60" SWF_TAIL, "1:0:10000:8", NULL, 0,
      .rows_read = 1 },
    { "swf run time unknown", ";\n1 0 -1 -1 4 -1 -1 8 60" SWF_TAIL "2 0 -1 1 4 -1 -1 8 60" SWF_TAIL,
      "2:0:1000:8", "run time is unknown (-1)", 1, .rows_read = 2 },
    { "swf 0 processors", ";\n1 0 -1 1 4 -1 -1 0 60" SWF_TAIL "2 0 -1 1 0 -1 -1 8 60" SWF_TAIL,
      "2:0:1000:8", "asks for 0 processors", 1, .rows_read = 2 },
    { "swf processors unknown",
      ";\n1 0 -1 1 -1 -1 -1 -1 60" SWF_TAIL "2 0 -1 1 0 -1 -1 8 60" SWF_TAIL, "2:0:1000:8",
      "processors are unknown (-1)", 1, .rows_read = 2 },
    { "swf parts of a job",
      ";\n1 0 -1 9 4 -1 -1 8 60 -1 1 1 1 1 1 1 -1 -1\n1 0 -1 5 4 -1 -1 8 60 -1 2 1 1 1 1 1 -1 "
      "-1\n1 5 -1 4 4 -1 -1 8 60 -1 3 1 1 1 1 1 -1 -1\n",
      "1:0:9000:8", "part of a checkpointed job (status 2, 3 or 4)", 2, .rows_read = 3 },
    { "swf with too few fields", ";\n1 0 -1 1 4 -1 -1 8 60\n", NULL,
      "2:1: error: a line of SWF has 18 fields, this one has 9", 0, .rows_read = 0 },
    { "swf with too many fields", ";\n1 0 -1 1 4 -1 -1 8 60 -1 1 7 1 1 1 1 -1 -1 99\n",
      "1:0:1000:8", "more than 18 fields, the rest is not read", 1, .rows_read = 1 },
    { "swf out of order", ";\n1 9 -1 1 4 -1 -1 8 60" SWF_TAIL "2 3 -1 1 4 -1 -1 8 60" SWF_TAIL,
      "2:0:1000:8 1:6000:1000:8", NULL, 0, .rows_read = 2 },
    { "swf id twice", ";\n1 9 -1 1 4 -1 -1 8 60" SWF_TAIL "1 3 -1 1 4 -1 -1 8 60" SWF_TAIL, NULL,
      "job id '1' stands in the log twice", 0, .rows_read = 2 },
    { "a format that it is not", "x\n", NULL, "a line of SWF has 18 fields", 0, 0,
      .format = TRACE_SWF },
};

static void flatten(const struct jobs *jobs, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < jobs->count; i++)
        used +=
            (size_t)snprintf(out + used, out_bytes - used, "%s%s:%lld:%lld:%u", i ? " " : "",
                             jobs->text + jobs->id[i], (long long)(jobs->submit_ns[i] / 1000000),
                             (long long)(jobs->duration_ns[i] / 1000000), jobs->gpus[i]);
}

static uint64_t rows_of_reason(const struct import_report *report, const char *reason)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < report->skipped_count; i++)
        if (strcmp(report->skipped[i].reason, reason) == 0) rows += report->skipped[i].rows;
    for (uint32_t i = 0; i < report->repaired_count; i++)
        if (strcmp(report->repaired[i].reason, reason) == 0) rows += report->repaired[i].rows;
    return rows;
}

static void check_conservation(const struct import_report *report, const struct jobs *jobs)
{
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < report->skipped_count; i++) skipped += report->skipped[i].rows;
    assert_int_equal(report->rows_read, report->imported + skipped);
    if (jobs->count > 0) assert_int_equal(report->imported, jobs->count);
}

static void check_refusal(struct diag *diag, const char *want)
{
    char *printed = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&printed, &bytes);
    diag_print(diag, stream);
    fclose(stream);
    if (strstr(printed, want) == NULL) fail_msg("got '%s', want '%s'", printed, want);
    free(printed);
}

static void log_row(void **state)
{
    const size_t row = *(const size_t *)*state;
    const struct trace_options options = { .format = cases[row].format,
                                           .zone = cases[row].zone,
                                           .strict = cases[row].strict,
                                           .renumber = cases[row].renumber };
    char path[FILE_PATH_BYTES], got[1024];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    file_with(path, cases[row].text, strlen(cases[row].text));
    const enum status status = trace_read(path, &options, &jobs, &report, diag);
    unlink(path);
    if (cases[row].want != NULL) {
        if (status != STATUS_OK) diag_print(diag, stdout);
        assert_int_equal(status, STATUS_OK);
        flatten(&jobs, got, sizeof got);
        assert_string_equal(got, cases[row].want);
        if (cases[row].reason)
            assert_int_equal(rows_of_reason(&report, cases[row].reason), cases[row].rows);
    } else {
        assert_int_equal(status, STATUS_INPUT);
        check_refusal(diag, cases[row].reason);
    }
    assert_int_equal(report.rows_read, cases[row].rows_read);
    check_conservation(&report, &jobs);
    jobs_clear(&jobs);
    diag_destroy(diag);
}

/* ---- columns and report -------------------------------------------------------------------- */

static void optional_columns_are_read(void **state)
{
    (void)state;
    static const char text[] = OURS ",limit_s,nodes,cores,memory_gib,user,model\n"
                                    "a,10,3600,16,7200,2,128,0.0009765625,ann,gpt\n"
                                    "b,20,60.5,1,,,,,,\n"
                                    "c,30,1,1,90.25,1,4,2,ann,bert\n";
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(file_with(path, text, strlen(text)), &(struct trace_options){ 0 },
                                &jobs, &report, diag),
                     STATUS_OK);
    unlink(path);
    assert_int_equal(jobs.count, 3);
    assert_true(jobs.limit_ns[0] == 7200000000000 && jobs.limit_ns[1] == JOB_NO_LIMIT &&
                jobs.limit_ns[2] == 90250000000);
    assert_true(jobs.nodes[0] == 2 && jobs.nodes[1] == 0 && jobs.nodes[2] == 1);
    assert_true(jobs.cores[0] == 128 && jobs.cores[1] == 0 && jobs.cores[2] == 4);
    assert_true(jobs.memory_bytes[0] == 1u << 20 && jobs.memory_bytes[1] == 0 &&
                jobs.memory_bytes[2] == (uint64_t)2 << 30);
    assert_true(jobs.user[0] == jobs.user[2] && jobs.user[1] == TEXT_NONE);
    assert_string_equal(jobs.text + jobs.user[0], "ann");
    assert_string_equal(jobs.text + jobs.model[2], "bert");
    assert_string_equal(jobs.text + TEXT_NONE, "");
    assert_string_equal(report.format, "gpuplan");
    assert_string_equal(report.origin, "10");
    assert_string_equal(report.zone, "");
    assert_true(report.span_s == 20.0);
    assert_true(report.gpu_s == 16 * 3600 + 60.5 + 1);
    jobs_clear(&jobs);
    diag_destroy(diag);
}

static void absent_columns_are_null(void **state)
{
    (void)state;
    static const char text[] = OURS ",user\na,0,1,1,\n";
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(file_with(path, text, strlen(text)), &(struct trace_options){ 0 },
                                &jobs, &report, diag),
                     STATUS_OK);
    unlink(path);
    assert_null(jobs.nodes);
    assert_null(jobs.cores);
    assert_null(jobs.memory_bytes);
    assert_null(jobs.user);
    assert_null(jobs.model);
    assert_true(jobs.limit_ns[0] == JOB_NO_LIMIT);
    jobs_clear(&jobs);
    diag_destroy(diag);
}

static void swf_limits_and_users(void **state)
{
    (void)state;
    static const char text[] =
        ";\n1 0 -1 10 4 -1 -1 8 60" SWF_TAIL "2 1 -1 1 4 -1 -1 8 0 -1 1 -1 1 1 1 1 -1 -1\n";
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(file_with(path, text, strlen(text)), &(struct trace_options){ 0 },
                                &jobs, &report, diag),
                     STATUS_OK);
    unlink(path);
    assert_true(jobs.limit_ns[0] == 60000000000 && jobs.limit_ns[1] == JOB_NO_LIMIT);
    assert_string_equal(jobs.text + jobs.user[0], "7");
    assert_true(jobs.user[1] == TEXT_NONE);
    assert_string_equal(report.format, "swf");
    jobs_clear(&jobs);
    diag_destroy(diag);
}

static void zone_is_reported(void **state)
{
    (void)state;
    static const char text[] = "timestamp,duration,num_gpus\n2017-10-09 07:01:55,66.0,1\n";
    char path[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    assert_int_equal(trace_read(file_with(path, text, strlen(text)), &(struct trace_options){ 0 },
                                &jobs, &report, diag),
                     STATUS_OK);
    unlink(path);
    assert_string_equal(report.zone, "America/Los_Angeles (default of the format)");
    assert_string_equal(report.origin, "2017-10-09 07:01:55");
    jobs_clear(&jobs);
    diag_destroy(diag);
}

/* ---- written and read again ---------------------------------------------------------------- */

static void written_jobs_read_back(void **state)
{
    (void)state;
    static const char text[] =
        OURS ",limit_s,nodes,cores,memory_gib,user,model\n"
             "\"a,1\",0,3600.000000001,16,7200,2,128,0.25,\"x \"\"y\"\"\",gpt\n"
             "\"#b\",0.5,60.5,1,,,,,,\n"
             "c,30,1,1,90.25,1,4,2,\"two\nlines\",bert\n";
    char path[FILE_PATH_BYTES], path_2[FILE_PATH_BYTES];
    struct diag *diag = diag_create();
    struct jobs a, b;
    struct import_report report_a, report_b;
    const struct trace_options strict = { .strict = true };
    assert_int_equal(trace_read(file_with(path, text, strlen(text)), &strict, &a, &report_a, diag),
                     STATUS_OK);
    assert_int_equal(trace_write(file_with(path_2, "", 0), &a,
                                 &(struct trace_form){ .header = "two lines\nof header" }, diag),
                     STATUS_OK);
    assert_int_equal(trace_read(path_2, &strict, &b, &report_b, diag), STATUS_OK);
    unlink(path);
    unlink(path_2);
    assert_int_equal(b.count, a.count);
    assert_int_equal(b.text_bytes, a.text_bytes);
    assert_memory_equal(b.text, a.text, a.text_bytes);
    const size_t rows = a.count;
    assert_memory_equal(b.submit_ns, a.submit_ns, rows * sizeof *a.submit_ns);
    assert_memory_equal(b.duration_ns, a.duration_ns, rows * sizeof *a.duration_ns);
    assert_memory_equal(b.limit_ns, a.limit_ns, rows * sizeof *a.limit_ns);
    assert_memory_equal(b.gpus, a.gpus, rows * sizeof *a.gpus);
    assert_memory_equal(b.nodes, a.nodes, rows * sizeof *a.nodes);
    assert_memory_equal(b.cores, a.cores, rows * sizeof *a.cores);
    assert_memory_equal(b.memory_bytes, a.memory_bytes, rows * sizeof *a.memory_bytes);
    assert_memory_equal(b.id, a.id, rows * sizeof *a.id);
    assert_memory_equal(b.user, a.user, rows * sizeof *a.user);
    assert_memory_equal(b.model, a.model, rows * sizeof *a.model);
    jobs_clear(&a);
    jobs_clear(&b);
    diag_destroy(diag);
}

static void nothing_is_left_of_a_failed_write(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    struct jobs none = { 0 };
    assert_int_equal(trace_write("no/such/folder/out.csv", &none, &(struct trace_form){ 0 }, diag),
                     STATUS_WORLD);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(trace_write("/dev/full", &none, &(struct trace_form){ 0 }, diag),
                         STATUS_WORLD);
        assert_int_equal(access("/dev/full", F_OK), 0);
    }
    diag_destroy(diag);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases, OTHERS = 6 };
    static size_t rows[CASES];
    struct CMUnitTest tests[CASES + OTHERS] = {
        [CASES] = cmocka_unit_test(optional_columns_are_read),
        [CASES + 1] = cmocka_unit_test(absent_columns_are_null),
        [CASES + 2] = cmocka_unit_test(swf_limits_and_users),
        [CASES + 3] = cmocka_unit_test(zone_is_reported),
        [CASES + 4] = cmocka_unit_test(written_jobs_read_back),
        [CASES + 5] = cmocka_unit_test(nothing_is_left_of_a_failed_write),
    };
    for (size_t i = 0; i < CASES; i++) {
        rows[i] = i;
        tests[i] = (struct CMUnitTest){ .name = cases[i].name,
                                        .test_func = log_row,
                                        .initial_state = &rows[i] };
    }
    return cmocka_run_group_tests_name("trace_read", tests, NULL, NULL);
}
