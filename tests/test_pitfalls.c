/* test_pitfalls.c - job logs as they are found, named by the items of the list of pitfalls.
 *
 * What the program says is fixed here to the letter: file, line, column, the text, and what to do.
 * Items of YAML, numbers and outputs stand beside their modules; tests/README.md says which are not built. */
#include "io/trace_read.h"

#include "spec/keys.h"
#include "tests/rows.h"
#include "trace_files.h"

#define OURS          "job_id,submit_s,duration_s,gpus"
#define PHILLY        "timestamp,duration,num_gpus"
#define TAIL          " -1 1 7 1 1 1 1 -1 -1\n"
#define ROW           "ok,0,1,1\n"
#define TEXT(literal) literal, sizeof literal - 1

struct pitfall {
    const char *name, *text;
    size_t bytes;
    uint64_t imported;
    const char *want; /* what is printed, F = the file; "" = nothing; imported 0 = refused */
    struct trace_options options;
};

static const struct pitfall pitfalls[] = {
    { "P48 an hour that does not exist",
      TEXT(PHILLY "\n2017-03-12 02:30:00,1,1\n2017-10-09 07:01:55,1,1\n"),
      1,
      "F:2:1: warning: 1 row skipped: timestamp does not exist in this time zone (the first is "
      "here)\n"
      "    2 | 2017-03-12 02:30:00,1,1\n"
      "      | ^~~~~~~~~~~~~~~~~~~\n",
      { 0 } },
    { "P48 an hour that exists twice",
      TEXT(PHILLY "\n2017-11-05 01:30:00,1,1\n2017-10-09 07:01:55,1,1\n"),
      1,
      "F:2:1: warning: 1 row skipped: timestamp exists twice in this time zone (the first is "
      "here)\n",
      { 0 } },
    { "P48 an unknown zone",
      TEXT(PHILLY "\n2017-11-05 01:30:00,1,1\n"),
      0,
      "time zone 'Mars' is not known here",
      { .zone = "Mars" } },
    { "P49 mixed offsets",
      TEXT(PHILLY "\n2017-10-09T08:00:00+08:00,1,1\n2017-10-09T00:00:00+00:00,1,1\n"),
      2,
      "F:3:1: warning: 1 row kept: says exactly the same as an earlier row (the first is here)\n",
      { 0 } },
    { "P50 milliseconds taken for seconds",
      TEXT(OURS "\na,0,1,1\nb,2000000000,1,1\n"),
      0,
      "F:3:1: error: this submission is 63 years after the first one; are these milliseconds? A "
      "log covers at most 50 years\n"
      "    3 | b,2000000000,1,1\n"
      "      | ^\n",
      { 0 } },
    { "P51 a leap second, Z, a fraction, 24:00",
      TEXT(PHILLY "\n2016-12-31T23:59:60.5Z,1,1\n2017-01-02 24:00:00,1,1\n"),
      2,
      "F:2:1: warning: 1 row kept: leap second read as :59 (the first is here)\n",
      { 0 } },
    { "P52 day and month in doubt",
      TEXT(PHILLY "\n01/02/2017 07:01:55,1,1\n2017-10-09 07:01:55,1,1\n"),
      1,
      "F:2:1: warning: 1 row skipped: timestamp is not a date and time like 2017-10-09 07:01:55 "
      "(the first is here)\n"
      "    2 | 01/02/2017 07:01:55,1,1\n"
      "      | ^~~~~~~~~~~~~~~~~~~\n",
      { 0 } },
    { "P52 strict",
      TEXT(PHILLY "\n01/02/2017 07:01:55,1,1\n2017-10-09 07:01:55,1,1\n"),
      0,
      "F:2:1: error: timestamp is not a date and time like 2017-10-09 07:01:55\n",
      { .strict = true } },
    { "P53 the first submission is time 0", TEXT(OURS "\na,1356996147,1,1\n"), 1, "", { 0 } },
    { "P54 run time 0 is legal", TEXT(OURS "\na,5,0,1\n"), 1, "", { 0 } },
    { "P54 a negative run time",
      TEXT(OURS "\na,5,-1,1\n" ROW),
      1,
      "F:2:5: warning: 1 row skipped: duration_s is negative (the first is here)\n"
      "    2 | a,5,-1,1\n"
      "      |     ^~\n",
      { 0 } },
    { "P65 a header alone is a valid log", TEXT(OURS "\n"), 0, "", { 0 } },
    { "P65 an empty file is none", TEXT(""), 0, "F: error: is empty\n", { 0 } },
    { "P65 no header",
      TEXT("a,0,1,1\n"),
      0,
      "F:1:1: error: no known job log has this header. Known are: job_id,submit_s",
      { 0 } },
    { "P69 header keys, blanks in front, floats",
      TEXT("; UnixStartTime: 5\n; TimeZone: 3600\n  1 0.5 -1 10.25 4 -1 -1 8 60" TAIL),
      1,
      "",
      { 0 } },
    { "P69 fewer fields",
      TEXT(";\n1 0 -1 10 4 -1 -1 8 60\n"),
      0,
      "F:2:1: error: a line of SWF has 18 fields, this one has 9\n"
      "    2 | 1 0 -1 10 4 -1 -1 8 60\n"
      "      | ^\n",
      { 0 } },
    { "P69 more fields",
      TEXT(";\n1 0 -1 10 4 -1 -1 8 60 -1 1 7 1 1 1 1 -1 -1 99\n"),
      1,
      "F:2:1: warning: 1 row kept: more than 18 fields, the rest is not read (the first is here)\n",
      { 0 } },
    { "P70 requested -1 falls back to allocated",
      TEXT(";\n1 0 -1 10 4 -1 -1 -1 60" TAIL),
      1,
      "",
      { 0 } },
    { "P70 0 processors",
      TEXT(";\n1 0 -1 10 4 -1 -1 0 60" TAIL "2 0 -1 10 4 -1 -1 8 60" TAIL),
      1,
      "F:2:19: warning: 1 row skipped: asks for 0 processors (the first is here)\n",
      { 0 } },
    { "P71 out of order",
      TEXT(";\n1 9 -1 1 4 -1 -1 8 60" TAIL "2 3 -1 1 4 -1 -1 8 60" TAIL),
      2,
      "",
      { 0 } },
    { "P71 a number twice",
      TEXT(";\n1 9 -1 1 4 -1 -1 8 60" TAIL "1 3 -1 1 4 -1 -1 8 60" TAIL),
      0,
      "F:3:1: error: job id '1' stands in the log twice; --renumber numbers the jobs anew\n",
      { 0 } },
    { "P71 a number twice, renumbered",
      TEXT(";\n1 9 -1 1 4 -1 -1 8 60" TAIL "1 3 -1 1 4 -1 -1 8 60" TAIL),
      2,
      "",
      { .renumber = true } },
    { "P72 parts of a checkpointed job",
      TEXT(";\n1 9 -1 10 4 -1 -1 8 60 -1 2 1 1 1 1 1 -1 -1\n2 3 -1 1 4 -1 -1 8 60" TAIL),
      1,
      "F:2:27: warning: 1 row skipped: part of a checkpointed job (status 2, 3 or 4) (the first is "
      "here)\n",
      { 0 } },
    { "P79 mark, CRLF, unnamed index, other order, quotes, no final line end",
      TEXT("\xef\xbb\xbf,gpus,duration_s,job_id,submit_s\r\n0,1,1,\"a,\"\"\nb\",0\r\n1,2,1,c,0"),
      2,
      "",
      { 0 } },
    { "P79 short and long rows",
      TEXT(OURS "\na,0,1\nb,0,1,1,9\n" ROW),
      1,
      "F:2:1: warning: 1 row skipped: row has fewer fields than the header (the first is here)\n"
      "    2 | a,0,1\n"
      "      | ^\n"
      "F:3:1: warning: 1 row skipped: row has more fields than the header (the first is here)\n",
      { 0 } },
    { "P79 a near miss in the header",
      TEXT("job_id,submit_s,duration_s,gpu\na,0,1,1\n"),
      0,
      "F:1:28: error: unknown column 'gpu'; did you mean 'gpus'?\n",
      { 0 } },
    { "P80 an unclosed quote",
      TEXT(OURS "\na,0,1,1\n\"b,0,1,1\n"),
      0,
      "F:3:1: error: the record that begins here does not end: is a closing quote missing?\n"
      "    3 | \"b,0,1,1\n"
      "      | ^\n",
      { 0 } },
    { "P80 a NUL byte",
      TEXT(OURS "\na,0,1,1\nb\0c,0,1,1\n"),
      0,
      "F:3:2: error: holds a NUL byte: not a text\n"
      "    3 | b\\x00c,0,1,1\n",
      { 0 } },
    { "P81 missing values are never 0",
      TEXT(OURS "\na,NA,1,1\nb,\\N,1,1\nc,-,1,1\nd,nan,1,1\ne,NaN,1,1\nf,null,1,1\ng,None,1,1\nh,,"
                "1,1\n" ROW),
      1,
      "F:2:3: warning: 8 rows skipped: submit_s is missing (the first is here)\n"
      "    2 | a,NA,1,1\n"
      "      |   ^~\n",
      { 0 } },
    { "P82 a comma behind the last column", TEXT(OURS ",\na,0,1,1,\nb,0,1,1,\n"), 2, "", { 0 } },
    { "P83 a share of a GPU",
      TEXT(OURS "\na,0,1,0.5\n" ROW),
      1,
      "F:2:7: warning: 1 row skipped: gpus is not a whole number (the first is here)\n",
      { 0 } },
    { "P84 integers as floats", TEXT(OURS "\na,0,1.0,8.0\n"), 1, "", { 0 } },
    { "P84 jobs of CPUs alone",
      TEXT(OURS "\na,0,1,0\nb,0,1,0.0\n" ROW),
      1,
      "F:2:7: warning: 2 rows skipped: gpus asks for no GPU (the first is here)\n",
      { 0 } },
    { "P95 hostile cells in a message",
      TEXT(OURS "\n\x1b[2J,0,1,x\n" ROW),
      1,
      "    2 | \\x1b[2J,0,1,x\n",
      { 0 } },
};

/* The printed problems with F for the file's name. */
static void print_problems(struct diag *diag, const char *path, char *out, size_t out_bytes)
{
    char *printed = NULL;
    size_t bytes = 0, used = 0;
    FILE *stream = open_memstream(&printed, &bytes);
    diag_print(diag, stream);
    fclose(stream);
    const size_t path_bytes = strlen(path);
    for (const char *at = printed; *at && used + 1 < out_bytes;) {
        const bool is_path = strncmp(at, path, path_bytes) == 0;
        out[used++] = is_path ? 'F' : *at;
        at += is_path ? path_bytes : 1;
    }
    out[used] = '\0';
    free(printed);
}

static void check_pitfall(void **state)
{
    const struct pitfall *row = *state;
    char path[FILE_PATH_BYTES];
    static char shown[65536];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    const enum status status =
        trace_read(file_with(path, row->text, row->bytes), &row->options, &jobs, &report, diag);
    unlink(path);
    print_problems(diag, path, shown, sizeof shown);
    if (strstr(shown, row->want) == NULL || (row->want[0] == '\0' && shown[0] != '\0'))
        fail_msg("'%s' is not in:\n%s", row->want, shown);
    const bool is_refused = row->imported == 0 && row->want[0] != '\0';
    assert_int_equal(status, is_refused ? STATUS_INPUT : STATUS_OK);
    if (!is_refused) {
        uint64_t skipped = 0;
        for (uint32_t i = 0; i < report.skipped_count; i++) skipped += report.skipped[i].rows;
        assert_int_equal(report.imported, row->imported);
        assert_int_equal(report.rows_read, report.imported + skipped);
        if (jobs.count > 0) assert_int_equal(jobs.submit_ns[0], 0);
    }
    jobs_clear(&jobs);
    diag_destroy(diag);
}

/* P37: which direction a bandwidth of hardware counts stands in its help. */
static void P37_directions_are_said(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t i = 0; i < key_count; i++) {
        const struct key_row *row = &keys[i];
        if (row->type != KEY_BANDWIDTH || strncmp(row->path, "checkpoint.", 11) == 0) continue;
        count++;
        if (!strstr(row->help, "one direction") && !strstr(row->help, "both directions") &&
            !strstr(row->help, "bus bandwidth") && !strstr(row->help, "memory"))
            fail_msg("%s does not say which direction it counts: %s", row->path, row->help);
    }
    assert_true(count >= 4);
}

/* P86: what is neither a file nor a pipe is refused before anything is read. */
static void P86_odd_paths(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum status status;
        const char *want;
    } rows[] = {
        { "/", STATUS_WORLD, "/: error: is a folder, not a file\n" },
        { "/dev/zero", STATUS_WORLD,
          "/dev/zero: error: is a device; give a file, a pipe, or - for standard input\n" },
        { "no/such.csv", STATUS_WORLD,
          "no/such.csv: cannot be opened: No such file or directory\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[4096];
        struct diag *diag = diag_create();
        struct jobs jobs;
        struct import_report report;
        const struct trace_options options = { 0 };
        assert_int_equal(trace_read(rows[i].path, &options, &jobs, &report, diag), rows[i].status);
        print_problems(diag, "\n\n", shown, sizeof shown);
        if (strstr(shown, rows[i].want) == NULL) fail_msg("got: %s", shown);
        jobs_clear(&jobs);
        diag_destroy(diag);
    }
}

/* P94: texts that spreadsheets run get a ' in front, numbers are left alone; only on request. */
static void P94_formulas(void **state)
{
    const bool csv_safe = (uintptr_t)*state == 1;
    static const char text[] = OURS ",user\n=1+1,0,1,1,@SUM(A1)\n-2,1,1,1,a=b\n+3,2,1,1,\"=a,b\"\n";
    const char *want =
        csv_safe ? OURS ",user\n'=1+1,0,1,1,'@SUM(A1)\n'-2,1,1,1,a=b\n'+3,2,1,1,\"'=a,b\"\n" : text;
    char path[FILE_PATH_BYTES], out_path[FILE_PATH_BYTES], got[1024];
    struct diag *diag = diag_create();
    struct jobs jobs;
    struct import_report report;
    const struct trace_options options = { 0 };
    assert_int_equal(
        trace_read(file_with(path, text, strlen(text)), &options, &jobs, &report, diag), STATUS_OK);
    const struct trace_form form = { .csv_safe = csv_safe };
    assert_int_equal(trace_write(file_with(out_path, "", 0), &jobs, &form, diag), STATUS_OK);
    FILE *file = fopen(out_path, "r");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    unlink(out_path);
    assert_string_equal(got, want);
    jobs_clear(&jobs);
    diag_destroy(diag);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof pitfalls / sizeof *pitfalls; i++)
        rows_add(&rows, check_pitfall, &pitfalls[i], "%s", pitfalls[i].name);
    rows_add(&rows, P37_directions_are_said, NULL, "P37 directions are said");
    rows_add(&rows, P94_formulas, (const void *)(uintptr_t)0, "P94 formulas as they are");
    rows_add(&rows, P94_formulas, (const void *)(uintptr_t)1, "P94 formulas for spreadsheets");
    rows_add(&rows, P86_odd_paths, NULL, "P86 odd paths");
    return rows_run("pitfalls", &rows);
}
